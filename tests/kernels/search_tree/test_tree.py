import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.compiled import kernel
from shoal.kernels.search_tree.tree import build_tree, far_limit, far_query, farthest, k_nearest, lowest_id, remove
from shoal.kernels.sums.lanes import far_points


@kernel
def take(tree, slot):
    """Remove the record that stands for a slot; returns its number."""
    record = lowest_id(tree, slot)
    remove(tree, slot)
    return record


def nearest_records(tree, point, k):
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    count = k_nearest(tree, point, k, d2, ids, slots)
    return sorted(zip(d2[:count].tolist(), ids[:count].tolist(), strict=True)), slots[:count]


def expected_nearest(X, free, point, k):
    return sorted((naive.squared_distance(X[i].tolist(), point.tolist()), i) for i in free)[:k]


@settings(max_examples=200)
@given(points(most=60, widest=8), st.integers(0, 2**32))
def test_searches_find_what_the_twin_finds_while_records_go(sample, seed):
    X, k = sample
    rng = np.random.default_rng(seed)
    free = set(range(len(X)))
    tree = build_tree(X, np.arange(len(X), dtype=np.int32))
    while free:
        point = X[rng.integers(len(X))] if rng.random() < 0.7 else rng.normal(size=X.shape[1]) * np.abs(X).max()
        found, slots = nearest_records(tree, point, k)
        assert found == expected_nearest(X, free, point, k)
        far = take(tree, farthest(tree, point))
        assert far == naive.farthest(X.tolist(), free, point.tolist())
        free.remove(far)
        if len(free) > 3:
            closest, slots = nearest_records(tree, point, 1)
            assert take(tree, slots[0]) == closest[0][1]
            free.remove(closest[0][1])


@pytest.mark.parametrize("m", [1, 2, 13, 20])
@pytest.mark.parametrize("shape", ["round", "grid", "outliers", "far", "line", "underflow"])
def test_larger_trees_of_any_shape(m, shape):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(3000, m))
    if shape == "grid":
        X = np.round(X)
    elif shape == "outliers":
        X[:5] *= 1e12
    elif shape == "far":
        X += 1e9
    elif shape == "line":
        X = np.outer(X[:, 0], np.ones(m))
    elif shape == "underflow":
        X *= 1e-161
    tree = build_tree(X, np.arange(1, 3000, dtype=np.int32))
    free = np.arange(1, 3000)
    for trial in range(40):
        point = X[rng.integers(3000)] if trial % 2 else X.mean(axis=0)
        d2 = np.zeros(len(free))
        for j in range(m):
            d2 += (X[free, j] - point[j]) ** 2
        order = np.lexsort((free, d2))[:25]
        found, slots = nearest_records(tree, point, 25)
        assert found == list(zip(d2[order].tolist(), free[order].tolist(), strict=True))
        gone = [take(tree, farthest(tree, point)), *(take(tree, slot) for slot in slots[:10])]
        assert gone[0] == free[np.lexsort((free, -d2))[0]]
        free = np.setdiff1d(free, gone)


def test_an_empty_tree_finds_nothing():
    X = np.zeros((2, 3))
    tree = build_tree(X, np.arange(2, dtype=np.int32))
    assert [take(tree, 0), take(tree, 0)] == [0, 1]
    assert farthest(tree, X[0]) == -1
    assert nearest_records(tree, X[0], 3)[0] == []


def test_the_rows_given_are_not_changed():
    X = np.random.default_rng(0).normal(size=(100, 3))
    before = X.copy()
    X.flags.writeable = False
    take(build_tree(X, np.arange(100, dtype=np.int32)), 5)
    assert np.array_equal(X, before)


@kernel
def not_ruled_out(tree, point, d2):
    """How many records of the first leaf may be as far from a point as d2, as the index says."""
    offset, error, sum_error = far_query(tree, point)
    limit = far_limit(d2, tree.points.shape[1], tree.scale, error, sum_error)
    mask, count = far_points(tree.points, 0, tree.query, tree.norms, offset, limit, tree.lanes), 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


@pytest.mark.parametrize("m", [2, 13, 400])
def test_the_index_of_a_wide_table_rules_nobody_out_as_not_far(m):
    X = np.random.default_rng(m).normal(size=(3, m))
    tree = build_tree(X, np.arange(3, dtype=np.int32))
    assert tree.axes.shape == (m, 1)
    assert tree.query.shape == (1,)
    for d2 in (0.0, 1.0, 1e300):
        assert not_ruled_out(tree, X[0] * 1e3, d2) == 3
    take(tree, 0)
    assert not_ruled_out(tree, X[0], 1.0) == 2
