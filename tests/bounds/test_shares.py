import numpy as np
import pytest

import naive
from shoal.bounds.shares import halved, neighbours_to_split, split


@pytest.mark.parametrize("k", [2, 3, 5])
def test_halved_shares_are_those_of_the_slow_twin(k):
    X = np.random.default_rng(k).normal(size=(16, 3))
    *_, shares = halved(X, k, 2 * k - 1)
    assert shares == pytest.approx(naive.shares(X, k, 2 * k - 1, 2 * k - 2), rel=1e-12)


def test_what_is_still_to_come_counts_as_nothing():
    X = np.random.default_rng(0).normal(size=(2500, 2))
    sums = [float(shares.sum()) for shares in halved(X, 3, 5)]
    assert len(sums) == 3
    assert sums == sorted(sums)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("tied", [False, True])
def test_split_shares_rise_and_every_one_is_below_the_optimum(k, tied):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (11, 2)).astype(float) if tied else rng.normal(size=(11, 3))
        optimum = naive.optimum_by_subsets(X, k)
        *_, first = halved(X, k, min(2 * k - 1, 11 - k))
        steps = [step for step in split(X, k, min(2 * k - 1, 11 - k), 1.3 * first.sum()) if step is not None]
        sums = [float(step.sum()) for step in steps]
        assert sums == sorted(sums)
        assert sums[0] == pytest.approx(first.sum(), abs=1e-12)
        assert sums[-1] <= optimum + 1e-12


def test_memory_limits_how_many_distances_are_divided():
    assert neighbours_to_split(1000, 3) == 24
    assert neighbours_to_split(10, 3) == 9
    assert neighbours_to_split(1_000_000, 3) == 20
    assert neighbours_to_split(100_000_000, 3) == 0
