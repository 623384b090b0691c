import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal.kernels.exchanges.local import LARGE, empty, enter, measure_pairs, new_local, put
from shoal.kernels.exchanges.polish import polish


@numba.njit
def by_pairs(local, labels, groups, k, least):
    measure_pairs(local, labels.size)
    for g in range(groups):
        empty(local, g, labels.size)
    for x in range(labels.size):
        put(local, x, labels[x], labels.size)
    polish(local, labels.size, groups, k, least)


@numba.njit
def by_centroids(local, labels, groups, k, least):
    for g in range(groups):
        empty(local, g, labels.size)
    for x in range(labels.size):
        enter(local, x, labels[x])
    polish(local, labels.size, groups, k, least)


def polished(X, labels, k, least):
    groups = labels.max() + 1
    local = new_local(X.shape[1], k, groups)
    local.columns[:, : len(X)] = X.T
    (by_pairs if k < LARGE else by_centroids)(local, labels, groups, k, least)
    found = local.label[: len(X)].copy()
    assert np.array_equal(np.bincount(found, minlength=groups), local.size[:groups])
    return found


def sse(X, labels):
    return naive.sse(X.tolist(), [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)])


@st.composite
def partitions(draw, values):
    """Points in groups of k to 2k - 1, in no order: two to four small ones or two large ones."""
    large = draw(st.booleans())
    k = LARGE if large else draw(st.integers(1, 6))
    most = k + 2 if large else 2 * k - 1
    sizes = draw(st.lists(st.integers(k, most), min_size=2, max_size=2 if large else 4))
    labels = np.array(draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist())))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    m = draw(st.integers(1, 3))
    X = rng.normal(size=(len(labels), m)) if values == "random" else rng.integers(0, 3, (len(labels), m))
    return X.astype(float), labels, k


@settings(max_examples=60, deadline=None)
@given(partitions("random"))
def test_the_same_moves_and_swaps_as_by_the_sse_anew(sample):
    X, labels, k = sample
    assert polished(X, labels, k, 1e-9).tolist() == naive.polished(X, labels.tolist(), k, 1e-9)


@settings(max_examples=60, deadline=None)
@given(partitions("tied"))
def test_with_ties_nothing_is_left_to_gain(sample):
    X, labels, k = sample
    found = polished(X, labels, k, 1e-9)
    sizes = np.bincount(found)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert sse(X, found) <= sse(X, labels) + 1e-9
    assert naive.polished(X, found.tolist(), k, 1e-8) == found.tolist()


@pytest.mark.parametrize("k", [LARGE - 1, LARGE])
def test_far_from_the_origin_the_groups_are_the_same(k):
    rng = np.random.default_rng(5)
    X = rng.integers(-1000, 1000, (6 * k, 4)).astype(float)
    labels = rng.permutation(np.repeat(np.arange(6), k))
    found = polished(X, labels, k, 1e-3)
    assert np.array_equal(polished(X + 2**20, labels, k, 1e-3), found)
    assert sse(X, found) < 0.8 * sse(X, labels)
