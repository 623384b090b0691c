from dataclasses import replace

import numpy as np
import pytest

from clocks import run_on
from shoal import MDAV
from shoal.engines.worker import heard_by
from shoal.partition import sse_of
from shoal.search.annealing import Annealing, Effort, Schedule, Search, swept_through
from shoal.search.deadline import NEVER, Deadline, Looks, Stops, within
from shoal.search.tuning import Tuning

X = np.random.default_rng(2).normal(size=(90, 3))
ALL = np.arange(90)
LABELS = MDAV(k=3).fit(X).labels_
WORK = Annealing(X, 3, LABELS, 0.3, Stops(NEVER), Tuning())


def test_a_search_is_valid_and_better_and_the_same_for_the_same_seed():
    search = Search(0, ALL, 7, Effort(1, False))
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
        found = WORK(Search(0, ALL, 7, Effort(1, False)))
    errors = [sse_of(X, labels) for labels in told if labels is not None]
    assert errors == sorted(errors, reverse=True)
    assert sse_of(X, found.labels) <= errors[-1] < sse_of(X, LABELS)
    region, told = np.flatnonzero(LABELS < 15), []
    with heard_by(told.append):
        part = WORK(Search(0, region, 7, Effort(1, False)))
    assert len(part.labels) == len(region)
    assert set(told) == {None}


def test_a_search_may_begin_elsewhere():
    begun = []

    def begin(work, seed, looks):
        begun.append((work, seed))
        return np.arange(90) % 30

    found = replace(WORK, stops=Stops(within(0.0)))(Search(0, ALL, 7, Effort(1, False), begin))
    assert [seed for _, seed in begun] == [7]
    assert np.array_equal(found.labels, np.arange(90) % 30)
    assert found.stopped == 1


def test_equal_records_are_left_as_they_are():
    found = replace(WORK, X=np.zeros((90, 3)))(Search(0, ALL, 7, Effort(1, False)))
    assert np.array_equal(found.labels, LABELS)
    assert found.snapshots == []


def test_when_time_is_up_no_step_is_made(monkeypatch):
    """A clock that goes on by a second at every look: each step looks at least once, a pass of chains too."""
    looks = iter(range(200))
    run_on(lambda: float(next(looks)), monkeypatch)
    told = []

    def hear(labels):
        told.append(labels)
        assert len(told) < 100, "the deadline is ignored"

    with heard_by(hear):
        found = replace(WORK, stops=Stops(Deadline(20.0)))(Search(0, ALL, 7, Effort(10**6, True)))
    assert 5 < len(told) <= 21
    assert next(looks) <= 23
    monkeypatch.undo()
    again = replace(WORK, stops=Stops(NEVER, (found.stopped,)))(Search(0, ALL, 7, Effort(10**6, True)))
    assert np.array_equal(again.labels, found.labels)
    assert again.stopped == found.stopped


def test_when_time_is_up_there_are_no_chains():
    corners = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]])
    points = np.concatenate([corners + offset for offset in ([0, 0], [0.1, 0], [0, 0.1])])
    labels = np.concatenate([np.arange(4), np.arange(4), (np.arange(4) + 1) % 4])
    work = Annealing(points, 3, labels, 0.3, Stops(NEVER), Tuning())
    assert sse_of(points, work.chained(points, labels, 6, Looks(NEVER))) < sse_of(points, labels)
    assert np.array_equal(work.chained(points, labels, 6, Looks(within(0.0))), labels)
    assert np.array_equal(work.chained(points, labels, 6, Looks(within(1e-4))), labels)  # too short for a pass


def test_a_schedule_of_steps_cools_from_hot_to_cold_and_does_them_all():
    schedule = Schedule(90, 3, Effort(2, False), 0.3, Tuning())
    assert schedule.heat == 0.3
    heats, steps = [], 0
    while schedule.share < 1.0:
        steps += schedule.next_steps()
        heats.append(schedule.heat)
    assert heats == sorted(heats, reverse=True)
    assert heats[-1] == pytest.approx(0.3 * 0.02)
    assert 1.0 <= steps / (2 * 1500 * 90 / 9) < 1.05


def test_where_time_is_limited_the_clock_is_looked_at_more_often():
    usual, timed = (Schedule(5000, 3, Effort(1, timed), 0.3, Tuning()).next_steps() for timed in (False, True))
    assert timed <= usual / 7
    assert Schedule(5000, 300, Effort(1, True), 0.3, Tuning()).next_steps() <= 2


def test_rounds_of_exchanges_end_where_time_is_up():
    labels = np.arange(90) % 30
    assert swept_through(X, 3, labels, 4, Looks(within(0.0))) is labels
    looks = Looks(NEVER, 6)
    some = swept_through(X, 3, labels, 4, looks)
    assert looks.stopped == 6
    assert sse_of(X, swept_through(X, 3, labels, 4)) < sse_of(X, some) < sse_of(X, labels)
