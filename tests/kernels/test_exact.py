import itertools
import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels import exact

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def digits_of(values):
    digits = np.zeros((1, exact.DIGITS), np.int64)
    for value in values:
        exact.add_record(digits, np.array([value]).view(np.int64), 1)
    return digits


@given(st.lists(finite, max_size=30))
def test_a_sum_is_the_correctly_rounded_one(values):
    assert exact.rounded(digits_of(values)[0]) == math.fsum(values)


@given(st.lists(finite, max_size=20), st.lists(finite, max_size=20))
def test_values_taken_away_leave_no_trace(kept, removed):
    digits = digits_of([*kept, *removed])
    for value in removed:
        exact.add_record(digits, np.array([value]).view(np.int64), -1)
    assert exact.rounded(digits[0]) == math.fsum(kept)


@given(st.integers(0, 2**53 - 1), st.integers(-1074, 900), st.integers(0, 2**53 - 1), st.integers(-1074, 900))
def test_ties_between_two_doubles_go_to_the_even_one(a, e, b, f):
    values = [math.ldexp(a, min(e, 900)), math.ldexp(b, f), math.ldexp(1, e - 1) if e > -1074 else 0.0]
    assert exact.rounded(digits_of(values)[0]) == math.fsum(values)


def test_subnormals_and_cancellation():
    for values in (
        [5e-324] * 3,
        [1e300, 1.0, -1e300],
        [1e16, 1.0, 1.0],
        [-1e16, -1.0, -1.0],
        [0.1] * 10,
        [-5e-324],
    ):
        assert exact.rounded(digits_of(values)[0]) == math.fsum(values)


def test_group_means_do_not_depend_on_the_order_of_the_records():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3)) * 10.0 ** rng.integers(-12, 12, (100, 3))
    order = np.arange(100)
    starts = np.array([0, 10, 60, 100])
    means = exact.group_means(X, order, starts)
    shuffled = np.concatenate([rng.permutation(order[a:b]) for a, b in itertools.pairwise(starts)])
    assert np.array_equal(means, exact.group_means(X, shuffled, starts))
    assert means[1, 2] == math.fsum(X[10:60, 2]) / 50
