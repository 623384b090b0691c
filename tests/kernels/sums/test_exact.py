import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.sums import exact

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def sum_of(values, removed=()):
    rows = np.array([*values, *removed, 0.0])[:, None]
    sums = exact.new_sums(rows)
    exact.add_all_rows(sums, rows)
    without = exact.zero_like(sums)
    exact.add_rows(without, rows, np.arange(len(values), len(rows) - 1))
    sums.digits[:] -= without.digits
    out = np.empty(1)
    exact.centroid(sums, 1, out, np.empty(1, np.int64))
    return out[0]


@given(st.lists(finite, max_size=30))
def test_a_sum_is_the_correctly_rounded_one(values):
    assert sum_of(values) == math.fsum(values)


@given(st.lists(finite, max_size=20), st.lists(finite, max_size=20))
def test_values_taken_away_leave_no_trace(kept, removed):
    assert sum_of(kept, removed) == math.fsum(kept)


@given(st.integers(0, 2**53 - 1), st.integers(-1074, 900), st.integers(0, 2**53 - 1), st.integers(-1074, 900))
def test_ties_between_two_doubles_go_to_the_even_one(a, e, b, f):
    values = [math.ldexp(a, e), math.ldexp(b, f), math.ldexp(1, e - 1) if e > -1074 else 0.0]
    assert sum_of(values) == math.fsum(values)


def test_subnormals_and_cancellation():
    for values in (
        [5e-324] * 3,
        [1e300, 1.0, -1e300],
        [1e16, 1.0, 1.0],
        [-1e16, -1.0, -1.0],
        [0.1] * 10,
        [-5e-324],
    ):
        assert sum_of(values) == math.fsum(values)


@given(st.lists(st.tuples(finite, st.integers(0, 3)), min_size=1, max_size=30), st.randoms())
def test_group_means_are_rounded_once_and_divided_once_in_any_order(rows, random):
    present = sorted({g for _, g in rows})
    groups = [[i for i, (_, g) in enumerate(rows) if g == which] for which in present]
    for group in groups:
        random.shuffle(group)
    X = np.array([[value, -value] for value, _ in rows])
    starts = np.concatenate([[0], np.cumsum([len(group) for group in groups])])
    means = exact.group_means(X, np.array([i for group in groups for i in group]), starts)
    assert means[:, 0].tolist() == [math.fsum(rows[i][0] for i in group) / len(group) for group in groups]
    assert np.array_equal(means[:, 1], -means[:, 0])


parts = st.builds(
    math.ldexp, st.integers(-(2**53), 2**53), st.sampled_from([-1074, -1000, -107, -106, -54, -53, 0, 1, 53])
)


@given(st.lists(parts, min_size=1, max_size=9))
def test_means_next_to_ties_are_rounded_like_the_exact_sum(values):
    X = np.array(values)[:, None]
    mean = exact.group_means(X, np.arange(len(X)), np.array([0, len(X)]))[0, 0]
    assert mean == math.fsum(values) / len(values)


def test_two_doubles_tell_most_sums_and_say_so_where_they_do_not():
    told = np.empty((3, 1))
    for values, known in (
        ([1.0, 2.0, 3.5], True),
        ([1.0, 2.0**-53], True),  # a tie, known as one
        ([1.0, 2.0**-53, 2.0**-110], False),  # just above a tie
        ([1.0, 2.0**-53, 2.0**-60, -(2.0**-60)], True),
        ([1.0, 2.0**-52, 2.0**-110], True),
        ([1e308, 1e308, -1e308], False),  # overflows on the way
    ):
        X = np.array(values)[:, None]
        assert exact.quick_sum(X, np.arange(len(X)), *told) == known, values
        if known:
            assert told[0, 0] == math.fsum(values)


def test_a_sum_of_many_rows_goes_over_several_stretches():
    X = np.random.default_rng(0).normal(size=(1000, 3)) * 10.0 ** np.arange(0, 9, 3)
    mean = exact.group_means(X, np.arange(1000), np.array([0, 1000]))[0]
    assert mean.tolist() == [math.fsum(column) / 1000 for column in X.T]
