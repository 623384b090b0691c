import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal.kernels.local import LARGE, empty, enter, measure_pairs, new_local, put
from shoal.kernels.polish import polish_by_centroids, polish_by_pairs


@numba.njit
def by_pairs(local, labels, groups, k, least):
    measure_pairs(local, labels.size)
    for g in range(groups):
        empty(local, g, labels.size)
    for x in range(labels.size):
        put(local, x, labels[x], labels.size)
    polish_by_pairs(local, labels.size, groups, k, least)


@numba.njit
def by_centroids(local, labels, groups, k, least):
    for g in range(groups):
        empty(local, g, labels.size)
    for x in range(labels.size):
        enter(local, x, labels[x])
    polish_by_centroids(local, labels.size, groups, k, least)


def polished(X, labels, k, least, polish):
    groups = labels.max() + 1
    local = new_local(X.shape[1], max(k, LARGE), groups)
    if polish is by_pairs:
        local = local._replace(pairwise=np.zeros((len(X), len(X))))
    local.columns[:, : len(X)] = X.T
    polish(local, labels, groups, k, least)
    found = local.label[: len(X)].copy()
    assert np.array_equal(np.bincount(found, minlength=groups), local.size[:groups])
    return found


def sse(X, labels):
    return naive.sse(X.tolist(), [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)])


@st.composite
def partitions(draw, values):
    """Points in two to four groups of k to 2k - 1, in no order."""
    k = draw(st.integers(1, 6))
    sizes = draw(st.lists(st.integers(k, 2 * k - 1), min_size=2, max_size=4))
    labels = np.array(draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist())))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    m = draw(st.integers(1, 3))
    X = rng.normal(size=(len(labels), m)) if values == "random" else rng.integers(0, 3, (len(labels), m))
    return X.astype(float), labels, k


@pytest.mark.parametrize("polish", [by_pairs, by_centroids])
@settings(max_examples=60, deadline=None)
@given(partitions("random"))
def test_the_same_moves_and_swaps_as_by_the_sse_anew(polish, sample):
    X, labels, k = sample
    assert polished(X, labels, k, 1e-9, polish).tolist() == naive.polished(X, labels.tolist(), k, 1e-9)


@pytest.mark.parametrize("polish", [by_pairs, by_centroids])
@settings(max_examples=60, deadline=None)
@given(partitions("tied"))
def test_with_ties_nothing_is_left_to_gain(polish, sample):
    X, labels, k = sample
    found = polished(X, labels, k, 1e-9, polish)
    sizes = np.bincount(found)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert sse(X, found) <= sse(X, labels) + 1e-9
    assert naive.polished(X, found.tolist(), k, 1e-8) == found.tolist()


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_large_groups_end_as_by_pairs(shift):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(240, 4)) + shift
    labels = rng.permutation(np.repeat(np.arange(6), 40))
    ends = [polished(X, labels, 30, 1e-6, polish) for polish in (by_pairs, by_centroids)]
    assert np.array_equal(*ends)
    assert sse(X, ends[0]) < 0.8 * sse(X, labels)
