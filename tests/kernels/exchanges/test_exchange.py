import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.exchanges.exchange import disturb, improve, iterate, sse_of_labels
from shoal.methods.optimal import new_problem


def sse(X, labels):
    return naive.sse(X.tolist(), [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)])


def blocks(n, k):
    return np.minimum(np.arange(n) // k, n // k - 1)


@settings(max_examples=100)
@given(points(most=25))
def test_sizes_stay_from_k_to_2k_less_1_whatever_is_done(sample):
    X, k = sample
    labels = blocks(len(X), k)
    improve(X, labels, len(X) // k, k, 0, 3 * len(X), 0.0)
    state = np.array([1234567], np.uint64)
    groups = labels.max() + 1
    for _ in range(5):
        groups = disturb(X, labels, groups, k, state)
        sizes = np.bincount(labels)
        assert len(sizes) == groups
        assert sizes.min() >= k
        assert sizes.max() <= max(2 * k - 1, k)


@given(st.integers(0, 10_000), st.integers(2, 4))
@settings(max_examples=50)
def test_every_change_gains_until_no_move_and_no_swap_does(seed, k):
    X = np.random.default_rng(seed).normal(size=(12, 3))
    labels = blocks(12, k)
    groups = labels.max() + 1
    for _ in range(200):
        before = sse(X, labels)
        if improve(X, labels, groups, k, 0, 12, 1e-12) == 0:
            break
        assert sse(X, labels) < before
    least = sse(X, labels) - 1e-9
    for i in range(12):
        for j in range(12):
            swapped = labels.copy()
            swapped[[i, j]] = labels[[j, i]]
            assert sse(X, swapped) > least
        for g in range(groups):
            moved = labels.copy()
            moved[i] = g
            sizes = np.bincount(moved, minlength=groups)
            assert sizes.min() < k or sizes.max() >= 2 * k or sse(X, moved) > least


def test_iterating_keeps_the_best_and_gives_its_sse():
    X = np.random.default_rng(1).normal(size=(20, 2))
    labels = blocks(20, 3)
    d2 = new_problem(X, 3).d2
    before = sse_of_labels(d2, labels, 6)
    assert before == pytest.approx(sse(X, labels))
    after = iterate(X, d2, labels, 3, 100, np.array([99], np.uint64))
    assert after < before
    assert after == pytest.approx(sse(X, labels))
