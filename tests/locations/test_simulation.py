"""A small city uses the service; what the simulation says of it is true, and a broken service is found out."""

import csv
import json
import math
from dataclasses import replace
from itertools import pairwise

import pytest

pytest.importorskip("sqlalchemy", reason="the extra shoal[locations] is not installed")

from shoal.errors import ShoalError
from shoal.locations import curves, simulation
from shoal.locations.observer import Hidden
from shoal.locations.policy import Policy
from shoal.locations.service import Centroid, Service
from shoal.locations.simulation import Simulation, Step, broken_outside, simulate

POLICY = Policy(classes=(3, 6), start=10, distinct_places=2, region=60)
CHURN = {"leaving": 0.08, "arriving": 0.08, "moving": 0.04, "redraw_every": 2}


@pytest.fixture(scope="module")
def small():
    return simulate(110, 5, policy=POLICY, seed=5, **CHURN)


def test_every_promise_holds_after_every_step(small):
    assert small.holds
    assert [(each.step, each.k) for each in small.steps] == [(step, k) for step in range(6) for k in (3, 6)]
    assert all(each.answered for each in small.steps)
    assert all(each.smallest_cell >= each.k for each in small.steps)
    assert any(each.redrawn for each in small.steps[2:])


def test_devices_are_those_who_came_less_those_who_left(small):
    for k in (3, 6):
        own = [each for each in small.steps if each.k == k]
        assert own[0].arrived + sum(each.arrived for each in small.steps if each.step == 0 and each.k != k) == 110
        for before, after in pairwise(own):
            assert after.devices == before.devices + after.arrived - after.left
        assert sum(each.moved for each in own) > 0


def test_the_same_seed_gives_the_same_simulation(small):
    again = simulate(110, 5, policy=POLICY, seed=5, **CHURN)
    assert again.to_csv() == small.to_csv()
    assert simulate(110, 1, policy=POLICY, seed=6, **CHURN).steps[:2] != small.steps[:2]


def test_without_the_promise_of_history_devices_are_followed_to_fewer_than_k(small):
    free = simulate(110, 5, policy=replace(POLICY, history=False), seed=5, **CHURN)
    assert free.holds
    assert "The promise of history is switched off." in free.sentences
    followed = [sum(each.below_k for each in every.steps) for every in (small, free)]
    assert followed[1] > 3 * followed[0]
    assert min(each.smallest_followed for each in free.steps) < 3


def test_cohorts_hide_newcomers_also_from_who_knows_when_they_came():
    found = simulate(90, 4, policy=replace(POLICY, admission="cohort", classes=(3,)), seed=2, **CHURN)
    assert found.holds
    assert any(each.answered < each.devices for each in found.steps)


def test_a_centroid_told_to_too_few_is_found_from_outside(monkeypatch):
    asked, locate = [], Service.locate

    def wrong(self, credential):
        asked.append(credential)
        told = locate(self, credential)
        return told and (Centroid(1.0, 2.0, told.k) if credential == asked[0] else told)

    monkeypatch.setattr(Service, "locate", wrong)
    found = simulate(
        40, 1, policy=replace(POLICY, classes=(6,), start=20), seed=1, leaving=0, moving=0, arriving=0
    )
    assert not found.holds
    assert "outside: a centroid was told to fewer than k principals" in found.steps[0].broken
    assert "BROKEN" in " ".join(found.sentences)


def test_a_broken_promise_of_the_database_is_found(monkeypatch):
    real = simulation.check

    def broken(database):
        return [replace(each, broken=(7,)) if each.promise.name == "places" else each for each in real(database)]

    monkeypatch.setattr(simulation, "check", broken)
    found = simulate(30, 1, policy=POLICY, seed=1)
    assert not found.holds
    assert {each.broken for each in found.steps} == {"places"}
    assert "Promises were BROKEN after 2 steps, first after step 0: places." in found.sentences


@pytest.mark.parametrize(
    ("policy", "hidden", "short", "said"),
    [
        (Policy(), [Hidden(5, 5, 1)], 0, []),
        (Policy(), [Hidden(4, 4, 4)], 1, ["told to fewer"]),
        (Policy(), [Hidden(5, 4, 4)], 1, []),
        (Policy(), [Hidden(5, 4, 4)] * 9, 1, ["no atom is that small"]),
        (Policy(history=False), [Hidden(5, 1, 1)] * 9, 0, []),
        (Policy(admission="cohort"), [Hidden(5, 5, 1)], 0, ["cohort"]),
    ],
)
def test_what_an_observer_may_find_and_what_not(policy, hidden, short, said):
    found = broken_outside(policy, 5, hidden, short)
    assert len(found) == len(said)
    assert all(part in line for part, line in zip(said, found, strict=True))


def test_distortion_is_that_of_the_true_homes(monkeypatch):
    homes, sign_up = [], Service.sign_up
    monkeypatch.setattr(Service, "locate", lambda *_: Centroid(41.39, 2.17, 3))
    monkeypatch.setattr(Service, "sign_up", lambda self, *given: homes.append(given[1:3]) or sign_up(self, *given))
    still = {"leaving": 0, "moving": 0, "arriving": 0}
    first, _ = simulate(25, 1, policy=replace(POLICY, classes=(3,)), seed=3, **still).steps
    far = [haversine(home, (41.39, 2.17)) for home in homes]
    assert first.mean_km == pytest.approx(sum(far) / 25, rel=1e-5)
    assert first.rms_km == pytest.approx((sum(each**2 for each in far) / 25) ** 0.5, rel=1e-5)
    assert (first.cells, first.answered) == (1, 25)


def haversine(one, other):
    """Kilometres between two places, by the textbook."""
    (a, b), (c, d) = (map(math.radians, each) for each in (one, other))
    part = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(part))


def test_files_hold_every_step_the_summary_and_the_plots(small, tmp_path):
    paths = small.write(tmp_path / "out")
    assert [path.name for path in paths] == ["steps.csv", "simulation.json", "distortion.svg", "anonymity.svg"]
    with paths[0].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["step"], row["k"], row["devices"]) for row in rows] == [
        (str(each.step), str(each.k), str(each.devices)) for each in small.steps
    ]
    whole = json.loads(paths[1].read_text())
    assert whole["holds"] is True
    assert whole["summary"] == small.sentences
    assert [Step(**each) for each in whole["steps"]] == list(small.steps)
    assert Policy.from_json(json.dumps(whole["policy"])) == POLICY
    for path in paths[2:]:
        assert path.read_text().startswith("<svg")
    assert "km from homes" in paths[2].read_text()
    with pytest.raises(ShoalError):
        small.write(tmp_path / "out")
    assert small.write(tmp_path / "out", overwrite=True) == paths


def test_the_summary_says_what_the_steps_say(small):
    said = " ".join(small.sentences)
    assert "Every promise held after every step." in said
    for k in (3, 6):
        least = min(each.smallest_cell for each in small.steps if each.k == k)
        assert f"k = {k}: every centroid was told to at least {least} principals." in said


def test_a_class_that_nobody_is_told_of_is_said_so():
    found = simulate(5, 1, policy=Policy(classes=(50,)), seed=1)
    assert found.holds
    assert found.sentences[-1] == "k = 50: no device was told anything; there were too few of them."
    assert found.steps[0].smallest_cell is None
    assert ",,," in found.to_csv()
    assert "<svg" in curves.distortion(found.steps)
    assert "<svg" in curves.anonymity(found.steps)


def test_progress_is_told_step_by_step():
    told = []
    simulate(10, 3, policy=POLICY, progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    "wrong", [{"devices": 1}, {"steps": 0}, {"leaving": 1.5}, {"moving": -1}, {"seed": -1}, {"progress": "yes"}]
)
def test_a_value_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ShoalError, match=next(iter(wrong))):
        simulate(**{"devices": 10, "steps": 1, **wrong})


def test_a_simulation_is_broken_if_one_step_is(small):
    assert Simulation(POLICY, 0, (replace(small.steps[0], broken="history"), *small.steps[1:])).holds is False
