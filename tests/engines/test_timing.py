import threading
import time

import numba
import numpy as np
from numba.core import event

from shoal.engines.timing import Stopwatch

LOCK = "numba:compiler_lock"


def test_compiling_is_told_apart_from_work():
    def grown(x):
        return np.cumsum(x)[::2] + x.mean()

    heard = []
    with Stopwatch(heard.append) as watch:
        began = time.perf_counter()
        numba.njit(grown)(np.arange(6.0))
        whole = time.perf_counter() - began
        time.sleep(0.05)
    assert watch.compiling > 0.5 * whole
    assert 0.05 <= watch.seconds < 0.05 + whole
    assert heard[:1] == [True]
    assert heard[-1:] == [False]


def test_compiling_inside_of_compiling_counts_once():
    heard = []
    with Stopwatch(heard.append) as watch:
        event.start_event(LOCK)
        event.start_event(LOCK)
        time.sleep(0.03)
        event.end_event(LOCK)
        event.end_event(LOCK)
    assert heard == [True, False]
    assert watch.compiling >= 0.03
    assert watch.seconds < watch.compiling


def test_threads_that_compile_at_the_same_time_count_once():
    def compiling():
        event.start_event(LOCK)
        time.sleep(0.05)
        event.end_event(LOCK)

    with Stopwatch() as watch:
        began = time.perf_counter()
        threads = [threading.Thread(target=compiling) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        whole = time.perf_counter() - began
    assert 0.05 <= watch.compiling <= whole


def test_outside_of_the_block_nothing_is_heard():
    heard = []
    with Stopwatch(heard.append):
        pass
    event.start_event(LOCK)
    event.end_event(LOCK)
    assert heard == []
