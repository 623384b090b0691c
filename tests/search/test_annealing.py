from dataclasses import replace
from math import inf

import numpy as np
import pytest

from shoal import MDAV
from shoal.engines.worker import heard_by
from shoal.partition import compact, sse_of
from shoal.search import deadline
from shoal.search.annealing import Annealing, Effort, Schedule, Search, swept_through
from shoal.search.deadline import Deadline, within
from shoal.search.tuning import Tuning

X = np.random.default_rng(2).normal(size=(90, 3))
ALL = np.arange(90)
LABELS = MDAV(k=3).fit(X).labels_
WORK = Annealing(X, 3, LABELS, 0.3, Deadline(inf), Tuning())


def test_a_search_is_valid_and_better_and_the_same_for_the_same_seed():
    search = Search(ALL, 7, Effort(1, inf))
    found, again, other = WORK(search), WORK(search), WORK(replace(search, seed=8))
    sizes = np.bincount(found.labels)
    assert 3 <= sizes.min() <= sizes.max() <= 5
    assert sse_of(X, found.labels) < sse_of(X, LABELS)
    assert np.array_equal(found.labels, again.labels)
    assert len(found.snapshots) >= Tuning().snapshots
    assert not all(map(np.array_equal, found.snapshots, other.snapshots))


def test_what_it_tells_is_better_every_time_and_of_the_whole_table_only():
    told = []
    with heard_by(told.append):
        found = WORK(Search(ALL, 7, Effort(1, inf)))
    errors = [sse_of(X, labels) for labels in told if labels is not None]
    assert errors == sorted(errors, reverse=True)
    assert sse_of(X, found.labels) <= errors[-1] < sse_of(X, LABELS)
    region, told = np.flatnonzero(LABELS < 15), []
    with heard_by(told.append):
        part = WORK(Search(region, 7, Effort(1, inf)))
    assert len(part.labels) == len(region)
    assert set(told) == {None}


def test_a_search_may_begin_elsewhere():
    begun = []

    def begin(work, seed):
        begun.append((work, seed))
        return np.arange(90) % 30

    found = replace(WORK, deadline=within(0.0))(Search(ALL, 7, Effort(1, inf), begin))
    assert [seed for _, seed in begun] == [7]
    assert np.array_equal(found.labels, compact(swept_through(X, 3, np.arange(90) % 30, 4)))


def test_equal_records_are_left_as_they_are():
    found = replace(WORK, X=np.zeros((90, 3)))(Search(ALL, 7, Effort(1, inf)))
    assert np.array_equal(found.labels, LABELS)
    assert found.snapshots == []


def test_when_time_is_up_no_step_is_made(monkeypatch):
    """A clock that goes on by a second at every look: each step looks at least once, a pass of chains too."""
    looks = iter(range(200))
    monkeypatch.setattr(deadline, "monotonic", lambda: float(next(looks)))
    told = []

    def hear(labels):
        told.append(labels)
        assert len(told) < 100, "the deadline is ignored"

    with heard_by(hear):
        replace(WORK, deadline=Deadline(20.0))(Search(ALL, 7, Effort(10**6, inf)))
    assert 5 < len(told) <= 21
    assert next(looks) <= 23


def test_when_time_is_up_there_are_no_chains():
    corners = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
    points = np.concatenate([corners + offset for offset in ([0, 0], [0.1, 0], [0, 0.1])])
    labels = np.concatenate([np.arange(4), np.arange(4), (np.arange(4) + 1) % 4])
    work = Annealing(points, 3, labels, 0.3, Deadline(inf), Tuning())
    assert sse_of(points, work.chained(points, labels)) < sse_of(points, labels)
    assert np.array_equal(replace(work, deadline=within(0.0)).chained(points, labels), labels)


def test_a_schedule_of_steps_cools_from_hot_to_cold_and_does_them_all():
    schedule = Schedule(90, 3, Effort(2, inf), 0.3, Tuning())
    assert schedule.heat == 0.3
    heats, steps = [], 0
    while schedule.share < 1.0:
        steps += schedule.next_steps()
        heats.append(schedule.heat)
    assert heats == sorted(heats, reverse=True)
    assert heats[-1] == pytest.approx(0.3 * 0.02)
    assert 1.0 <= steps / (2 * 1500 * 90 / 9) < 1.05


def test_a_schedule_by_time_follows_the_clock_and_ends_with_it(monkeypatch):
    clock = [50.0]
    monkeypatch.setattr(deadline, "monotonic", lambda: clock[0])
    schedule = Schedule(90, 3, Effort(1, 10.0), 0.3, Tuning())
    while schedule.share < 1.0:
        clock[0] += schedule.next_steps() / 10_000  # so many a second
        assert clock[0] < 70.0
    assert 59.0 < clock[0] < 61.0
