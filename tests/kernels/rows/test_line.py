from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

import naive
from samples import points
from shoal.kernels.rows.line import longer, new_path, settle_blocks, settle_first
from shoal.steps.line import shortest_path

BOTH = pytest.mark.parametrize("scan", [True, False])


def exact_cost(values, cuts):
    return sum(naive.exact_sse(tuple(values[a:b].tolist())) for a, b in pairwise(cuts))


def vanishing(values):
    """Differences below 1e-300 of the range count as none; this is what all of them may cost."""
    return (Fraction(float(values[-1])) - Fraction(float(values[0]))) ** 2 * len(values) / 10**600


def check(values, k, scan):
    cuts, cost = shortest_path(values, k, scan)
    sizes = np.diff(cuts)
    assert (cuts[0], cuts[-1]) == (0, len(values))
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    least, found = naive.least_sse_of_runs(values.tolist(), k), exact_cost(values, cuts)
    assert least <= found <= least * (1 + Fraction(1, 10**9)) + vanishing(values)
    assert cost == pytest.approx(float(found), rel=1e-12, abs=1e-300)


@BOTH
@settings(max_examples=200)
@given(sample=points(widest=1))
def test_the_cost_is_the_least_there_is(sample, scan):
    X, k = sample
    check(np.sort(X[:, 0]), k, scan)


SHAPES = {
    "round": lambda rng, n: rng.normal(size=n),
    "tied": lambda rng, n: rng.integers(0, 6, n).astype(float),
    "far from zero": lambda rng, n: 1e9 + 1e-6 * rng.random(n),
    "all magnitudes": lambda rng, n: 10.0 ** rng.integers(-20, 20, n),
    "extreme": lambda rng, n: rng.choice([0.0, -1e140, 1e140, 1.0, 2.0, 5e-324, 1e-300], n),
    "subnormal": lambda rng, n: 5e-320 * rng.exponential(size=n) ** 5,
    "two heaps": lambda rng, n: rng.choice([-1e8, 1e8], n) + rng.choice([0.0, 1e-7, 1e-6], n),
}


@BOTH
@pytest.mark.parametrize("shape", SHAPES)
def test_thousands_of_small_cases(shape, scan):
    rng = np.random.default_rng(0)
    for _ in range(200):
        n = int(rng.integers(1, 30))
        check(np.sort(SHAPES[shape](rng, n)), int(rng.integers(1, max(2, min(n, 9)))), scan)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_scan_and_smawk_find_the_same_cost(shape):
    rng = np.random.default_rng(1)
    for trial in range(500):
        n = int(rng.integers(1, 600)) if trial else 30_000
        values = np.sort(SHAPES[shape](rng, n))
        k = int(rng.integers(1, 1 + min(n, int(rng.choice([3, 10, 100, 600])))))
        (cuts, cost), (others, other) = (shortest_path(values, k, scan) for scan in (True, False))
        assert cost == pytest.approx(other, rel=1e-13, abs=0)
        assert max(np.diff(cuts).max(), np.diff(others).max()) < 2 * k


@pytest.mark.parametrize("k", [70, 500, 1500])
def test_the_cost_of_large_groups_is_right_to_thirteen_digits(k):
    for make in SHAPES.values():
        values = np.sort(make(np.random.default_rng(k), 3000))
        cuts, cost = shortest_path(values, k, False)
        assert cost == pytest.approx(float(exact_cost(values, cuts)), rel=1e-13, abs=1e-300)


@BOTH
def test_duplicates_cost_exactly_nothing(scan):
    values = np.repeat(np.sort(np.random.default_rng(0).normal(1e9, 1e-3, 200)), 7)
    cuts, cost = shortest_path(values, 7, scan)
    assert cost == 0.0
    assert np.array_equal(cuts, np.arange(0, 1401, 7))


@BOTH
def test_a_large_group_does_not_swallow_the_small_ones_after_it(scan):
    """The first group costs 1e24, the others about 1: plain doubles would lose them."""
    rest = np.random.default_rng(3).random(30)
    values = np.sort(np.concatenate([[-1e12, 0.0], 10 + rest]))
    cuts, _ = shortest_path(values, 2, scan)
    tail = exact_cost(values, cuts[cuts >= 2])
    assert tail <= naive.least_sse_of_runs(values[2:].tolist(), 2) * (1 + Fraction(1, 10**9))


@BOTH
@pytest.mark.parametrize(
    ("values", "k", "cuts"),
    [([5.0] * 7, 3, [0, 4, 7]), ([0.0, 1.0, 2.0, 3.0, 4.0], 2, [0, 3, 5]), ([1.0] * 11, 2, [0, 3, 5, 7, 9, 11])],
)
def test_of_equal_costs_the_shorter_last_group_wins(values, k, cuts, scan):
    assert shortest_path(np.array(values), k, scan)[0].tolist() == cuts


@BOTH
def test_blocks_may_be_settled_a_few_at_a_time(scan):
    values = np.sort(np.random.default_rng(2).normal(size=1000))
    whole, parts = new_path(1000, 7), new_path(1000, 7)
    for path, step in ((whole, 1001), (parts, 1)):
        settle_first(values, 7, path)
        following = 14
        while following <= 1000:
            following = settle_blocks(values, 7, scan, path, following, following + step)
        assert following == 1001
    assert np.array_equal(whole.start, parts.start)


def test_a_pair_keeps_what_rounding_takes():
    high, low = 1e20, 0.0
    for cost in (1.0, 2.0, 1e-3):
        high, low = longer.py_func(high, low, cost)
    assert (high, low) == (1e20, 3.001)
