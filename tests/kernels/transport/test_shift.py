import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import samples
from shoal.kernels.transport.shift import UNKNOWN, count_shifted, rises, shift, two_best, uncover


@st.composite
def problems(draw):
    """Points, centres (some of them points, some alike) and costs."""
    X, _ = draw(samples.points())
    cells = draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    centres = X[rng.integers(0, len(X), cells)] + draw(st.sampled_from([0.0, 0.5])) * rng.normal(size=X.shape[1])
    costs = draw(st.sampled_from([0.0, 1.0, 100.0])) * rng.integers(-2, 3, cells).astype(float)
    return X, centres, costs


def looked_at(X, centres, costs):
    n = len(X)
    best, second, gap = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
    across = np.ascontiguousarray(centres.T)
    two_best(X, across, costs, best, second, gap)
    return across, best, second, gap


@settings(max_examples=300)
@given(problems())
def test_the_pass_finds_what_its_twin_finds(problem):
    X, centres, costs = problem
    _, best, second, gap = looked_at(X, centres, costs)
    twin = naive.two_best(X, centres, costs.tolist())
    assert list(zip(best.tolist(), second.tolist(), gap.tolist(), strict=True)) == twin


@settings(max_examples=200)
@given(problems(), st.integers(0, 2**32))
def test_a_shift_ends_where_a_new_pass_would(problem, seed):
    X, centres, costs = problem
    if len(centres) == 1:
        return
    across, best, second, gap = looked_at(X, centres, costs)
    counts = np.bincount(best, minlength=len(centres))
    rng = np.random.default_rng(seed)
    scale = rng.choice([0.01, 1.0, 1000.0]) * (1.0 if np.abs(X).max() < 1e100 else 1e280)
    for _ in range(3):
        step = scale * rng.integers(-3, 4, len(centres))
        costs = costs + step
        rounding = 1e-13 * (np.square(np.abs(X).max() + np.abs(centres).max()) * X.shape[1] + np.abs(costs).max())
        rise = step - step.min() + rounding
        foreseen = count_shifted(X, across, costs, best, gap, rise)
        shift(X, across, costs, rise, best, second, gap, counts)
        _, new_best, new_second, new_gap = looked_at(X, centres, costs)
        np.testing.assert_array_equal(best, new_best)
        np.testing.assert_array_equal(counts, np.bincount(best, minlength=len(centres)))
        np.testing.assert_array_equal(counts, foreseen)
        assert (gap <= new_gap).all()
        known = second != UNKNOWN
        np.testing.assert_array_equal(second[known], new_second[known])
        np.testing.assert_array_equal(gap[known], new_gap[known])
    limit = np.full(len(centres), np.median(new_gap))
    asked = ~known & (gap < limit[best])
    assert uncover(X, across, costs, limit, best, second, gap) == asked.sum()
    np.testing.assert_array_equal(second[asked], new_second[asked])
    np.testing.assert_array_equal(gap[asked], new_gap[asked])
    assert uncover(X, across, costs, limit, best, second, gap) <= (gap < limit[best]).sum()


@settings(max_examples=200)
@given(st.integers(1, 300), st.integers(1, 5), st.floats(0.01, 1), st.integers(0, 2**32))
def test_a_rise_loses_the_share_that_is_asked_for(n, cells, change, seed):
    rng = np.random.default_rng(seed)
    best = rng.integers(0, cells, n).astype(np.int32)
    gap = rng.exponential(size=n) ** rng.integers(1, 6)
    counts = np.bincount(best, minlength=cells)
    for q, rise in enumerate(rises(best, gap, counts, change)):
        lost = (gap[best == q] < rise).sum()
        assert abs(lost - max(1, change * counts[q])) <= 0.5 if counts[q] else rise == 0


def test_a_rise_among_equal_gaps_loses_them_all_rather_than_none():
    gap = np.array([2.0, 2.0, 2.0, 2.0, 9.0, 0.0, 0.0])
    best = np.array([0, 0, 0, 0, 0, 1, 1], np.int32)
    rise = rises(best, gap, np.array([5, 2]), 0.2)
    assert 2 < rise[0] < 9
    assert rise[1] == 0
