import threading
import time

import pytest

from shoal.engines import in_order, jobs, tell, using
from shoal.engines.processes import processes
from shoal.engines.threads import threads

ENGINES = [threads, processes]


def squared(task):
    return task * task


def slower_at_first(task):
    time.sleep(0.05 * (3 - task))
    return task


def failing(task):
    if task == 2:
        raise ValueError("the third")
    return task


def talkative(task):
    for step in range(3):
        tell((task, step))
    return task


def endless(task):
    if task == 0:
        raise ValueError("the first")
    while True:
        time.sleep(0.01)
        tell()


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("engine", ENGINES)
def test_results_come_in_the_order_of_the_tasks(engine, n_jobs):
    with using(engine):
        assert list(in_order(slower_at_first, range(4), n_jobs)) == [0, 1, 2, 3]
        assert list(in_order(squared, [], n_jobs)) == []


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_error_comes_out_in_its_turn(engine, n_jobs):
    with using(engine):
        results = in_order(failing, range(4), n_jobs)
        assert [next(results), next(results)] == [0, 1]
        with pytest.raises(ValueError, match="the third"):
            next(results)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_task_tells_is_heard_here_before_its_result(engine, n_jobs):
    heard, where = [], set()

    def hear(message):
        heard.append(message)
        where.add(threading.current_thread())

    with using(engine):
        for task in in_order(talkative, range(3), n_jobs, hear):
            if engine is threads:  # a process sends its result on another line
                assert [step for other, step in heard if other == task] == [0, 1, 2]
    assert where <= {threading.current_thread()}
    assert n_jobs > 1 or len(heard) == 9


@pytest.mark.parametrize("engine", ENGINES)
def test_after_an_error_those_who_work_on_end_at_what_they_tell(engine):
    with using(engine), pytest.raises(ValueError, match="the first"):
        list(in_order(endless, range(4), 2))


def test_after_an_error_here_those_who_work_on_end_and_the_others_never_begin():
    begun = []

    def work(task):
        begun.append(task)
        while True:
            time.sleep(0.01)
            tell(task)

    def broken(message):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        list(in_order(work, range(50), 2, broken))
    assert len(begun) <= 3


def test_what_was_told_before_an_interruption_is_heard():
    heard = []

    def work(task):
        while True:
            time.sleep(0.001)
            tell("better")

    def hear(message):
        heard.append(message)
        if len(heard) == 1:
            time.sleep(0.1)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(in_order(work, range(2), 2, hear))
    assert len(heard) > 2


def test_who_needs_no_more_results_leaves_no_thread_behind():
    before = threading.active_count()
    results = in_order(squared, range(100), 3)
    assert next(results) == 0
    results.close()
    assert threading.active_count() == before


def test_one_worker_or_one_task_is_done_here():
    def thread(task):
        return threading.current_thread()

    assert set(in_order(thread, range(3), 1)) == {threading.current_thread()}
    assert set(in_order(thread, range(1), 8)) == {threading.current_thread()}
    assert threading.current_thread() not in set(in_order(thread, range(3), 2))


def test_the_engine_is_another_only_inside():
    opened = []

    def watched(work, n_jobs, messages):
        opened.append((n_jobs, messages))
        return threads(work, n_jobs, messages)

    with using(watched):
        assert list(in_order(squared, range(3), 8)) == [0, 1, 4]
        assert list(in_order(squared, range(3), 2, print)) == [0, 1, 4]
    assert list(in_order(squared, range(3), 2)) == [0, 1, 4]
    assert opened == [(3, False), (2, True)]


def test_no_number_of_workers_is_one_for_each_core():
    assert jobs(3) == 3
    assert jobs(None) >= 1
