import time
from math import inf

import pytest
from numba.core import event

from clocks import run_on
from shoal.search import deadline
from shoal.search.deadline import NEVER, Deadline, Looks, Stops, compiling, now, within


def test_time_is_up_at_the_moment_itself(monkeypatch):
    run_on(lambda: 100.0, monkeypatch)
    assert now() == 100.0
    assert within(5.0) == Deadline(105.0)
    assert Deadline(105.0).left() == 5.0
    assert not Deadline(100.5).over()
    assert Deadline(100.0).over()
    assert Deadline(99.0).over()


def test_without_a_limit_time_is_never_up():
    assert within(inf).left() == pytest.approx(inf)
    assert not within(inf).over()


def test_the_clock_stands_still_while_kernels_are_compiled(monkeypatch):
    monkeypatch.setattr(deadline, "monotonic", lambda: 100.0)
    before = now()
    event.start_event("numba:compiler_lock")
    time.sleep(0.03)
    event.end_event("numba:compiler_lock")
    assert 0.03 <= before - now() < 10
    assert now() == 100.0 - compiling().compiling


def test_where_time_was_up_it_stays_so_and_is_up_again(monkeypatch):
    clock = [0.0]
    run_on(lambda: clock[0], monkeypatch)
    looks = Looks(Deadline(5.0))
    found = []
    for clock[0] in (0.0, 4.0, 5.0, 1.0):
        found.append(looks.over())
    assert found == [False, False, True, True]
    assert looks.stopped == 3
    again = Looks(NEVER, looks.stopped)
    assert [again.over() for _ in range(4)] == found
    assert again.stopped == 3
    assert Looks(NEVER).over() is False


def test_time_is_up_for_what_needs_more_than_is_left(monkeypatch):
    run_on(lambda: 3.0, monkeypatch)
    looks = Looks(Deadline(5.0))
    assert not looks.over(1.9)
    assert looks.over(2.0)
    assert looks.over()


def test_every_task_of_a_stage_has_its_own_looks():
    stops = Stops(NEVER, (2, None))
    first, second, third = (stops.looks(task) for task in range(3))
    assert [first.over(), first.over()] == [False, True]
    assert not any(each.over() for each in (second, third) for _ in range(5))
