import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from checks import (
    equal_weights_are_the_same_as_none,
    is_the_same_for_any_number_of_jobs_under_models,
    is_valid_wherever_it_is_interrupted_under_models,
    keeps_the_models,
    passes_scikit_learns_checks,
    progress_rises_under_models,
    reports_progress_without_changing_the_groups,
    ruled_table,
    weighted_optima_found,
    weights_change_the_groups_and_the_weighted_loss_falls,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from clocks import run_on
from promises import demanding
from samples import points, weighted_points
from shoal import MDAV, TFRP, Optimal, Refined, lower_bound
from shoal.engines import in_order
from shoal.errors import ShoalError, ShoalWarning
from shoal.methods import refined
from shoal.methods.refined import Refining, noisy_groups
from shoal.partition import Partition, sse_of
from shoal.search.annealing import Annealing
from shoal.search.deadline import NEVER, Looks, Stops, within
from shoal.search.improvement import Improvement
from shoal.search.promised import repaired
from shoal.search.tuning import Tuning
from shoal.search.weighted import alike


def refining(X, k, seconds, rounds=None, tuning=None, progress=None):
    """The steps of Refined from the groups of MDAV on."""
    improvement = Improvement(X, MDAV(k=k).fit(X).labels_, seconds, progress, rounds is not None)
    return Refining(improvement, k, rounds, 1, 0, tuning or Tuning())


@settings(max_examples=20, deadline=None)
@given(points(most=24), st.sampled_from(["mdav", "tfrp", "one group", "vmdav"]), st.integers(0, 2))
def test_it_is_never_worse_than_its_start_and_always_valid(sample, start, rounds):
    X, k = sample
    first = np.zeros(len(X), int) if start == "one group" else start
    model = Refined(k=k, start=first, rounds=rounds).fit(X)
    assert model.sizes_.min() >= k
    assert model.sizes_.max() <= 2 * k - 1
    begun = {"mdav": MDAV, "tfrp": TFRP}.get(start)
    if begun is not None:
        assert model.sse_ <= begun(k=k).fit(X).sse_
    assert np.array_equal(model.labels_, Refined(k=k, start=first, rounds=rounds, n_jobs=1).fit(X).labels_)
    losses = [sse for _, sse, _ in model.history_]
    assert losses == sorted(losses, reverse=True)


@settings(max_examples=25, deadline=None)
@given(weighted_points(most=24), st.sampled_from(["mdav", "tfrp", "one group"]), st.integers(0, 1))
def test_with_weights_it_is_never_worse_than_its_start_and_always_valid(sample, start, rounds):
    X, k, weights = sample
    first = np.zeros(len(X), int) if start == "one group" else start
    model = Refined(k=k, start=first, rounds=rounds).fit(X, sample_weight=weights)
    assert model.sizes_.min() >= k
    own = None if (weights == weights[0]).all() else weights
    begun = {
        "mdav": MDAV(k=k).fit(X, sample_weight=weights).labels_,
        "tfrp": TFRP(k=k).fit(X).labels_,  # it takes no weights, so the start is the plain one
        "one group": np.zeros(len(X), int),
    }[start]
    assert model.sse_ <= Partition(X, begun, k, own).sse * (1 + 1e-9)
    again = Refined(k=k, start=first, rounds=rounds, n_jobs=1).fit(X, sample_weight=weights)
    assert np.array_equal(model.labels_, again.labels_)
    losses = [sse for _, sse, _ in model.history_]
    assert losses == sorted(losses, reverse=True)


def test_with_weights_small_tables_get_the_best_of_all_partitions():
    assert weighted_optima_found(lambda k: Refined(k=k, rounds=2, n_jobs=1)) == 20


def test_weights_change_the_groups():
    equal_weights_are_the_same_as_none(Refined(k=4, rounds=0))
    weights_change_the_groups_and_the_weighted_loss_falls(Refined(k=4, rounds=0))


def small_tables(count):
    """Random tables of up to 20 records, with ties and duplicates among them."""
    rng = np.random.default_rng(7)
    for number in range(count):
        n, k, m = int(rng.integers(4, 21)), int(rng.integers(2, 6)), int(rng.integers(1, 5))
        X = rng.normal(size=(n, m))
        X = [X, np.round(X), X[rng.integers(0, n, n)]][number % 3]
        yield X, min(k, n)


def test_small_tables_come_to_their_optimum():
    missed = sum(
        Refined(k=k).fit(X).sse_ > Optimal(k=k).fit(X).sse_ * (1 + 1e-9) + 1e-12 for X, k in small_tables(24)
    )
    assert missed == 0


def test_a_table_is_the_same_on_any_number_of_threads_and_by_regions(monkeypatch):
    X = np.random.default_rng(2).normal(size=(240, 3))
    for region in (5000, 90):
        monkeypatch.setattr(Refined, "_tuning", Tuning(region=region))
        labels = [Refined(k=4, rounds=1 + (region < 240), n_jobs=jobs).fit(X).labels_ for jobs in (1, 2, 3)]
        assert np.array_equal(labels[0], labels[1])
        assert np.array_equal(labels[0], labels[2])


def test_more_rounds_and_another_seed_are_another_search():
    X = np.random.default_rng(2).normal(size=(150, 2))
    swept, once, twice = (Refined(k=3, rounds=rounds).fit(X).sse_ for rounds in (0, 1, 2))
    assert twice <= once < swept < MDAV(k=3).fit(X).sse_
    assert len({stage for _, _, stage in Refined(k=3).fit(X).history_} & {"start", "exchanges", "annealing"}) == 3
    X = np.random.default_rng(2).normal(size=(600, 5))
    one, other = Refined(k=10).fit(X), Refined(k=10, random_state=1).fit(X)
    assert not np.array_equal(one.labels_, other.labels_)


class Clock:
    """Goes on by a hundredth of a second at every look, and takes no more looks than it should."""

    def __init__(self, most):
        self.looks, self.most = 0, most

    def __call__(self):
        self.looks += 1
        assert self.looks <= self.most, "the deadline is ignored"
        return self.looks / 100


@pytest.mark.parametrize("k", [3, 12, 40])
def test_it_stops_in_time(k, monkeypatch):
    X = np.random.default_rng(2).normal(size=(500, 3))
    start = MDAV(k=k).fit(X)
    clock = Clock(most=330)
    run_on(clock, monkeypatch)
    model = Refined(k=k, start=start.labels_, seconds=3.0, n_jobs=1).fit(X)
    assert clock.looks > 250
    assert model.sse_ < start.sse_
    assert model.history_[-1][0] < 3.3
    assert not model.interrupted_


@pytest.mark.parametrize("region", [5000, 120])
@pytest.mark.parametrize(("k", "seconds"), [(3, 0.2), (3, 4.0), (12, 1.0), (40, 4.5)])
def test_steps_of_an_earlier_fit_give_the_same_groups_without_a_clock(k, seconds, region, monkeypatch):
    monkeypatch.setattr(Refined, "_tuning", Tuning(region=region, rebuilds=40, least_rebuilds=20))
    X = np.random.default_rng(2).normal(size=(400, 3))
    with monkeypatch.context() as clocked:
        run_on(Clock(most=2000), clocked)
        model = Refined(k=k, seconds=seconds, n_jobs=1).fit(X)
    steps = json.loads(json.dumps(model.steps_))  # as a manifest holds them
    assert any("stopped" in step for step in steps) or k == 40
    again = Refined(k=k, seconds=0.0, steps=steps, n_jobs=2).fit(X)
    assert np.array_equal(again.labels_, model.labels_)
    assert again.sse_ < MDAV(k=k).fit(X).sse_
    assert Refined(k=k, rounds=1).fit(X[:90]).steps_ is None


@pytest.mark.parametrize("ruled", [False, True])
def test_steps_with_weights_and_under_models_give_the_same_groups(ruled, monkeypatch):
    X, rules = ruled_table(400)
    weights = np.random.default_rng(1).uniform(1, 9, len(X))
    asked = {"rules": rules} if ruled else {}
    with monkeypatch.context() as clocked:
        run_on(Clock(most=2000), clocked)
        model = Refined(k=4, seconds=2.0, n_jobs=1).fit(X, sample_weight=weights, **asked)
    assert any("annealing" in step for step in model.steps_)
    again = Refined(k=4, seconds=0.0, steps=model.steps_, n_jobs=2).fit(X, sample_weight=weights, **asked)
    assert np.array_equal(again.labels_, model.labels_)


def test_steps_that_are_none_are_refused():
    for steps in ("all", [1], [{"rounds": 3}]):
        with pytest.raises(ShoalError, match="steps must be the steps_ of a fitted method"):
            Refined(k=3, steps=steps).fit(np.zeros((9, 2)))


def test_a_start_that_takes_longer_than_the_time_is_the_result():
    X = np.random.default_rng(2).normal(size=(300, 3))
    model = Refined(k=3, seconds=1e-9).fit(X)
    assert model.steps_ == []
    assert model.sse_ == pytest.approx(MDAV(k=3).fit(X).sse_)


def test_rounds_stop_in_time_too(monkeypatch):
    X = np.random.default_rng(2).normal(size=(500, 3))
    run_on(Clock(most=100), monkeypatch)
    model = Refined(k=3, seconds=0.5, rounds=10**6, n_jobs=1).fit(X)
    assert model.history_[-1][0] < 1.0


def test_without_time_the_start_is_improved_by_one_round_at_most():
    X = np.random.default_rng(2).normal(size=(500, 3))
    assert [stage for _, _, stage in Refined(k=3, seconds=0).fit(X).history_] == ["start"]
    assert [stage for _, _, stage in Refined(k=3, rounds=0).fit(X).history_].count("exchanges") > 1


def test_large_groups_begin_with_the_noisy_rounds_of_pcl_too(monkeypatch):
    X = np.random.default_rng(3).normal(size=(400, 3))
    begun = []

    def noted(work, tasks, n_jobs, heard):
        begun.append([task.begin for task in tasks])
        return in_order(work, tasks, n_jobs, heard)

    monkeypatch.setattr(refined, "in_order", noted)
    one = Refined(k=40, rounds=2, n_jobs=1).fit(X)
    two = Refined(k=40, rounds=2, n_jobs=2).fit(X)
    assert begun == 2 * [[None, None], [None, noisy_groups]]
    assert np.array_equal(one.labels_, two.labels_)
    assert one.sse_ <= Refined(k=40, rounds=1).fit(X).sse_


def test_when_time_is_up_pcl_is_left():
    X = np.random.default_rng(3).normal(size=(400, 3))
    labels = MDAV(k=40).fit(X).labels_
    work = Annealing(X, 40, labels, 0.3, Stops(NEVER), Tuning())
    assert noisy_groups(work, 0, Looks(within(0.0))) is labels
    found = noisy_groups(work, 0, Looks(NEVER))
    assert 40 <= np.bincount(found).min() <= np.bincount(found).max() <= 79
    assert sse_of(X, found) < sse_of(X, labels)


def test_with_less_effort_annealing_is_shorter_and_still_lowers_the_loss():
    X = np.random.default_rng(0).normal(size=(1500, 3))
    losses = [Refined(k=5, rounds=1, effort=effort, n_jobs=1).fit(X).sse_ for effort in (0.0, 0.05, 0.3)]
    assert losses[0] == Refined(k=5, rounds=0).fit(X).sse_ > losses[1] > losses[2]
    short = Refined(k=5, rounds=1, effort=0.3, n_jobs=1).fit(X)
    assert np.array_equal(short.labels_, Refined(k=5, rounds=1, effort=0.3, n_jobs=2).fit(X).labels_)
    with pytest.raises(ShoalError, match="effort must be a number from 0 to 1"):
        Refined(effort=2).fit(X)


def test_rounds_of_pcl_come_between_exchanges_and_annealing():
    X = np.random.default_rng(0).normal(size=(1200, 3))
    before = Refined(k=30, rounds=0, n_jobs=1).fit(X)
    model = Refined(k=30, rounds=0, cell_rounds=4, n_jobs=1).fit(X)
    assert model.sse_ < 0.995 * before.sse_
    assert [stage for _, _, stage in model.history_][: len(before.history_) + 1] == [
        *(stage for _, _, stage in before.history_), "cells"
    ]  # fmt: skip
    weights = np.random.default_rng(1).uniform(1, 2, 1200)
    plain = Refined(k=30, rounds=0, n_jobs=1).fit(X, sample_weight=weights)
    moved = Refined(k=30, rounds=0, cell_rounds=4, n_jobs=1).fit(X, sample_weight=weights)
    assert np.array_equal(moved.labels_, plain.labels_)


@pytest.mark.parametrize(
    ("k", "effort", "ending"),
    [(5, 1.0, (None, None)), (5, 0.5, (4, 7)), (5, 0.05, (1, 0)), (20, 0.9, (4, 0)), (19, 0.9, (4, 17))],
)
def test_a_search_cut_short_ends_with_fewer_chains(k, effort, ending):
    assert Tuning().ending(k, effort) == ending


def test_groups_too_large_to_be_rebuilt_are_exchanged():
    X = np.random.default_rng(4).normal(size=(2100, 2))
    model = Refined(k=1001).fit(X)
    assert {stage for _, _, stage in model.history_} == {"start", "exchanges"}
    assert model.sizes_.min() >= 1001


@pytest.mark.parametrize("after", [0.02, 0.1, 0.3, 0.7])
@pytest.mark.parametrize("k", [3, 10])
def test_an_interrupt_at_any_moment_leaves_the_best_so_far(after, k):
    X = np.random.default_rng(2).normal(size=(900, 4))
    start = MDAV(k=k).fit(X)
    Refined(k=k).fit(X[:50])  # compiled before the clock runs
    timer = threading.Timer(after, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.warns(ShoalWarning, match="interrupted: these are the best groups found so far"):
        model = Refined(k=k, start=start.labels_, seconds=60).fit(X)
    timer.join()
    assert model.interrupted_
    assert model.sizes_.min() >= k
    assert model.sse_ <= start.sse_


def test_a_signal_from_outside_ends_a_process_with_its_result():
    code = (
        "import numpy as np, shoal\n"
        "X = np.random.default_rng(0).normal(size=(600, 3))\n"
        "told = lambda done, total: print('on', flush=True)\n"
        "model = shoal.Refined(k=3, seconds=120).fit(X, progress=told)\n"
        "print('sizes', model.sizes_.min(), model.interrupted_, flush=True)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        last = process.stdout.read().splitlines()[-1]
    assert last.split()[0] == "sizes"
    assert int(last.split()[1]) >= 3
    assert last.split()[2] == "True"


def test_an_error_in_the_progress_callback_comes_out():
    def broken(done, total):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        Refined(k=3).fit(np.random.default_rng(0).normal(size=(300, 3)), progress=broken)


def test_a_start_that_is_none_is_refused():
    X = np.zeros((9, 2))
    with pytest.raises(ShoalError, match="start must be a method"):
        Refined(k=3, start="mdave").fit(X)
    with pytest.raises(ShoalError, match="fewer than k=3"):
        Refined(k=3, start=[0, 0, 1, 1, 1, 1, 1, 1, 1]).fit(X)
    with pytest.raises(ShoalError, match="rounds must be"):
        Refined(k=3, rounds=-1).fit(X)


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(Refined(k=3))


@pytest.mark.parametrize(("rounds", "exchanged"), [(0, 1.0), (2, 0.3)])
def test_progress_is_by_exchanges_and_by_rounds_and_regions(rounds, exchanged, monkeypatch):
    monkeypatch.setattr(Refined, "_tuning", Tuning(region=300, rebuilds=2, least_rebuilds=1))
    calls = []
    X = np.random.default_rng(2).normal(size=(700, 3))
    Refined(k=3, rounds=rounds, n_jobs=1).fit(X, progress=lambda *call: calls.append(call))
    assert {total for _, total in calls} == {700}
    regions = [0.3 + 0.7 * (number + done / 4) / 2 for number in range(rounds) for done in (1, 2, 3, 4)]
    sweeps = [exchanged * done / 4 for done in range(1, len(calls))]
    wanted = [min(int(700 * share), 699) for share in [*sweeps, *regions]]
    done = [done for done, _ in calls]
    assert done == sorted(done)
    assert done[-1] == 700
    assert set(done[:-1]) <= set(wanted)
    assert set(wanted[len(sweeps) :]) <= set(done)
    assert wanted[0] == done[0]


def test_progress():
    reports_progress_without_changing_the_groups(Refined(k=4))


def test_prices_prove_a_bound_and_their_groups_make_a_better_partition():
    X = np.random.default_rng(5).normal(size=(45, 2))
    work = refining(X, 3, 60.0)
    best, start = work.improvement, work.improvement.labels
    work.price()  # it ends long before when nothing is left to prove
    bounds = [bound for _, bound in best.bounds]
    assert bounds == sorted(bounds)
    assert bounds[-1] <= Optimal(k=3, seconds=20).fit(X).sse_ * (1 + 1e-9)
    assert 0.9 * best.sse < bounds[-1] <= best.sse < sse_of(X, start)
    assert np.bincount(best.labels).min() >= 3
    assert best.history[-1][2] == "prices"
    assert work.hot == work.tuning.hot * work.tuning.cooler
    assert sse_of(X, work.combined(start, [], 0)) == pytest.approx(best.sse)


def test_a_table_of_several_regions_is_priced_region_by_region():
    X = np.random.default_rng(5).normal(size=(700, 2))
    lower_bound(X[:100], 3, 60)  # compiled before the clock runs
    work = refining(X, 3, 20.0, tuning=Tuning(region=300))
    best, start = work.improvement, work.improvement.sse
    work.price()
    assert len([stage for _, _, stage in best.history if stage == "prices"]) >= 2
    assert best.bounds == []  # that of a region says nothing of the table
    assert np.bincount(best.labels).min() >= 3
    assert best.sse == pytest.approx(sse_of(X, best.labels))
    assert best.sse < start


def test_prices_are_for_small_k_with_time_and_not_for_rounds():
    X = np.random.default_rng(6).normal(size=(45, 2))
    assert refining(X, 3, 60.0).is_priced()
    assert not refining(X, 3, 5.0).is_priced()
    assert not refining(X, 3, 60.0, rounds=1).is_priced()
    assert not refining(X, 8, 60.0).is_priced()
    many = np.random.default_rng(6).normal(size=(12_000, 1))
    assert not refining(many, 3, 59.0).is_priced()
    assert refining(many, 3, 60.0).is_priced()
    assert Refined(k=3, rounds=1).fit(X).bounds_ == []


# Under privacy models.


@settings(max_examples=60, deadline=None)
@given(demanding(most=24), st.sampled_from(["mdav", "one group"]), st.integers(0, 1))
def test_under_models_it_is_never_worse_than_its_start_put_right_and_always_valid(case, start, rounds):
    X, k, rules = case.X, case.demands.least_count, case.demands.rules
    n, weights = len(X), case.weights
    first = np.zeros(n, int) if start == "one group" else start
    model = Refined(k=k, start=first, rounds=rounds, n_jobs=1).fit(X, sample_weight=weights, rules=rules)
    assert model.sizes_.min() >= k
    assert case.sample.keeps(case.models, model.labels_.tolist())
    own = None if (weights == weights[0]).all() else weights
    begun = np.zeros(n, int) if start == "one group" else MDAV(k=k).fit(X, sample_weight=weights).labels_
    if start != "one group":
        begun = repaired(X, begun, own, alike(n, k, rules))
    assert model.sse_ <= Partition(X, begun, k, own).sse * (1 + 1e-9)
    again = Refined(k=k, start=first, rounds=rounds, n_jobs=2).fit(X, sample_weight=weights, rules=rules)
    assert np.array_equal(model.labels_, again.labels_)
    losses = [sse for _, sse, _ in model.history_]
    assert losses == sorted(losses, reverse=True)
    plain = Refined(k=k, start=first, rounds=rounds, n_jobs=1).fit(X, sample_weight=weights)
    assert model.unruled_sse_ == pytest.approx(plain.sse_, rel=1e-9)


@pytest.mark.parametrize("region", [5000, 90])
def test_under_models_the_groups_are_the_same_for_any_number_of_jobs_and_by_regions(monkeypatch, region):
    monkeypatch.setattr(Refined, "_tuning", Tuning(region=region))
    is_the_same_for_any_number_of_jobs_under_models(lambda jobs: Refined(k=4, rounds=1, n_jobs=jobs))


def test_under_models_more_rounds_and_another_seed_are_another_search():
    X, rules = ruled_table()
    models = [Refined(k=4, rounds=rounds).fit(X, rules=rules) for rounds in (0, 1, 2)]
    losses = [model.sse_ for model in models]
    assert losses == sorted(losses, reverse=True)
    assert losses[2] < losses[0]
    other = Refined(k=4, rounds=1, random_state=1).fit(X, rules=rules)
    assert not np.array_equal(other.labels_, models[1].labels_)
    assert all(model.unruled_sse_ < model.sse_ for model in models)


def test_annealing_under_models_gains_beyond_exchanges():
    X, rules = ruled_table()
    model = Refined(k=4, rounds=1, n_jobs=1).fit(X, rules=rules)
    assert {stage for _, _, stage in model.history_} == {"start", "exchanges", "annealing"}


def test_under_models_an_interruption_leaves_the_best_so_far():
    X, rules = ruled_table()
    start = MDAV(k=4).fit(X).labels_
    begun = sse_of(X, repaired(X, start, None, alike(len(X), 4, rules)))
    tried = is_valid_wherever_it_is_interrupted_under_models(
        lambda: Refined(k=4, start=start, rounds=1, n_jobs=1), X, rules, begun
    )
    assert tried >= 3


def test_an_interruption_before_the_models_ends_the_work_too(monkeypatch):
    X, rules = ruled_table()

    def stopped(self, deadline):
        raise KeyboardInterrupt

    monkeypatch.setattr(Refining, "anneal", stopped)  # of the groups without models
    with pytest.warns(ShoalWarning, match="interrupted"):
        model = Refined(k=4, rounds=1, n_jobs=1).fit(X, rules=rules)
    keeps_the_models(model, rules)
    assert model.interrupted_


def test_under_models_it_stops_in_time(monkeypatch):
    X, rules = ruled_table(400)
    clock = Clock(most=330)
    run_on(clock, monkeypatch)
    model = Refined(k=4, seconds=3.0, n_jobs=1).fit(X, rules=rules)
    keeps_the_models(model, rules)
    assert clock.looks > 250
    assert model.unruled_sse_ == pytest.approx(MDAV(k=4).fit(X).sse_)


def test_progress_under_models():
    progress_rises_under_models(lambda: Refined(k=4, rounds=1))


def test_models_and_weights_at_once():
    X, rules = ruled_table()
    weights = np.random.default_rng(1).choice([1.0, 1000.0], len(X))
    weighed, plain = (Refined(k=4, rounds=0).fit(X, sample_weight=own, rules=rules) for own in (weights, None))
    keeps_the_models(weighed, rules)
    assert weighed.sse_ < 0.8 * sse_of(X, plain.labels_, weights)


@pytest.mark.parametrize(
    "steps",
    [
        [{"exchanges": "0"}],
        [{"exchanges": -1}],
        [{"exchanges": 0, "stopped": 3}],
        [{"exchanges": 0, "other": 1}],
        [{"annealing": 0}],
        [{"annealing": 0, "factor": "1", "combined": False}],
        ["exchanges"],
        3,
    ],
)
def test_steps_that_no_fit_has_made_are_refused(steps):
    with pytest.raises(ShoalError, match="steps_ of a fitted method"):
        Refined(k=3, steps=steps).fit(np.arange(20.0).reshape(-1, 2))


@pytest.mark.parametrize("much", [{"effort": 0.5}, {"cell_rounds": 3}])
@pytest.mark.parametrize("limit", [{"seconds": 1.0}, {"steps": [{"exchanges": 0}]}])
def test_how_much_is_done_is_said_once(much, limit):
    with pytest.raises(ShoalError, match="leave it out"):
        Refined(k=3, **much, **limit).fit(np.arange(20.0).reshape(-1, 2))
