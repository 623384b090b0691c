import numpy as np
import pytest
from hypothesis import given

import naive
from samples import points
from shoal.kernels import scan


@given(points())
def test_farthest_is_the_twins(sample):
    X, _ = sample
    free = np.arange(0, len(X), 2)
    assert scan.farthest(X, free, X[-1]) == naive.farthest(X.tolist(), free.tolist(), X[-1].tolist())


@given(points())
def test_a_group_is_the_seed_and_its_nearest(sample):
    X, k = sample
    n = len(X)
    seed = n // 2
    free, labels, digits = np.arange(n), np.full(n, -1), scan.sums_of(X)
    scan.take_group(X, k, free, n, seed, 3, labels, digits)
    expected = {seed, *naive.nearest(X.tolist(), range(n), seed, k - 1)}
    assert set(np.flatnonzero(labels == 3)) == expected
    assert free[: n - k].tolist() == [i for i in range(n) if i not in expected]


@given(points())
def test_the_sums_follow_what_is_left(sample):
    X, k = sample
    n = len(X)
    free, labels, digits = np.arange(n), np.full(n, -1), scan.sums_of(X)
    scan.take_group(X, k, free, n, 0, 0, labels, digits)
    if n > k:
        mean = np.empty(X.shape[1])
        scan.mean_from(digits, n - k, mean)
        assert mean.tolist() == pytest.approx(naive.mean(X[free[: n - k]].tolist()), rel=0, abs=0)
