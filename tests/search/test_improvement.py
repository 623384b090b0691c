from math import inf

import numpy as np
import pytest

from clocks import run_on
from shoal import MDAV
from shoal.partition import sse_of
from shoal.search.improvement import Improvement

X = np.random.default_rng(0).normal(size=(40, 2))
BAD = np.arange(40) % 10
GOOD = MDAV(k=4).fit(X).labels_


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    hands = [1000.0]
    run_on(lambda: hands[0], monkeypatch)
    return hands


def test_only_what_is_better_is_kept_and_noted(clock):
    best = Improvement(X, BAD)
    clock[0] += 2.5
    assert best.offer(GOOD, "exchanges")
    assert not best.offer(GOOD.copy(), "annealing")
    assert not best.offer(BAD, "annealing")
    assert best.labels is GOOD
    assert best.history == [(0.0, sse_of(X, BAD), "start"), (2.5, sse_of(X, GOOD), "exchanges")]


def test_an_equal_partition_is_settled_on_if_steps_from_a_worse_one_came_to_it():
    best = Improvement(X, BAD)
    before, same = best.sse, GOOD.copy()
    best.offer(GOOD, "annealing")
    best.settle(same, best.sse)
    assert best.labels is GOOD
    best.settle(same, before)
    assert best.labels is same
    assert best.sse == sse_of(X, GOOD)


def test_bounds_only_rise(clock):
    best = Improvement(X, BAD)
    for bound in (1.0, 0.5, 1.0, 2.0):
        clock[0] += 1.0
        best.prove(bound)
    assert best.bounds == [(1.0, 1.0), (4.0, 2.0)]


def test_progress_is_of_all_records_and_never_goes_back_nor_to_the_end():
    calls = []
    best = Improvement(X, BAD, inf, lambda *call: calls.append(call), counted=True)
    for share in (0.1, 0.5, 0.25, 1.0):
        best.report(share)
    assert calls == [(4, 40), (20, 40), (20, 40), (39, 40)]


def test_where_time_is_limited_progress_is_that_of_time(clock):
    calls = []
    best = Improvement(X, BAD, 10.0, lambda *call: calls.append(call))
    best.report(0.9)
    clock[0] += 5.0
    best.report()
    assert calls == [(0, 40), (20, 40)]
    counted = Improvement(X, BAD, 10.0, lambda *call: calls.append(call), counted=True)
    counted.report(0.75)
    assert calls[-1] == (30, 40)
    assert best.deadline.left() == 5.0


def test_who_can_say_more_hears_of_loss_and_gap():
    said = []

    def progress(done, total):
        pass

    progress.say = said.append
    best = Improvement(X, GOOD, inf, progress)
    best.report(0.5)
    best.prove(best.sse / 1.25)
    best.report(0.5)
    loss = f"loss {100 * best.sse / best.sst:.3f} %"
    assert said == [loss, loss + ", gap 25.00 %"]
    Improvement(X, GOOD).report(0.5)
