import re
import sys
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core.errors import NumbaError

from shoal.kernels.borrowing import borrowing, counting
from shoal.kernels.compiled import Array, kernel


class Pair(NamedTuple):
    low: Array
    high: Array


def middle(pair, i):
    if i < 0:
        return 0.0
    row = pair.low[i]
    total = 0.0
    for j in range(row.size):
        total += (row[j] + pair.high[i, j]) / 2
    return total


@counting
def ranked(values):
    return np.argsort(values, kind="mergesort")[0]


@borrowing
def lowest(pair, i):
    return ranked(pair.low[i])


@kernel
def lowest_of_all(pair):
    total = 0
    for i in range(len(pair.low)):
        total += lowest(pair, i)
    return total


@borrowing
def made(n):
    return np.empty(n).size


@kernel
def whole(n):
    return made(n)


def test_a_step_that_borrows_counts_no_references():
    step = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, _nrt=False)(middle)

    @njit
    def both(pair):
        return step(pair, -1) + step(pair, 0)

    assert both(Pair(np.ones((3, 2)), np.ones((3, 2)))) == 2.0
    assert not re.search(r"NRT_(inc|dec)ref", "".join(step.inspect_llvm().values()))


def test_a_step_that_borrows_may_call_one_that_makes_arrays_and_nothing_is_lost():
    pair = Pair(np.array([[2.0, 1.0], [1.0, 2.0]]), np.ones((2, 2)))
    before = [sys.getrefcount(each) for each in pair]
    assert lowest_of_all(pair) == 1
    assert [sys.getrefcount(each) for each in pair] == before


def test_a_step_that_borrows_and_makes_an_array_is_refused_when_it_is_compiled():
    with pytest.raises(NumbaError):
        whole(3)
