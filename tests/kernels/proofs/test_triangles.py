import itertools

import numpy as np
import pytest

from shoal.kernels.proofs.triangles import add_fines, broken_triangles, move_fines


def amount(X, i, j, h):
    return X[i, j] + X[i, h] - X[i, i] - X[j, h]


def test_all_broken_triangles_are_found():
    X = np.random.default_rng(0).random((12, 12))
    near = np.tile(np.arange(12), (12, 1))
    corners, amounts = np.empty((5000, 3), np.int32), np.empty(5000)
    found = broken_triangles(X, near, 0.3, corners, amounts)
    expected = {
        (i, j, h): amount(X, i, j, h)
        for i in range(12)
        for j, h in itertools.combinations([x for x in range(12) if x != i], 2)
        if amount(X, i, j, h) > 0.3
    }
    listed = dict(zip(map(tuple, corners[:found].tolist()), amounts[:found], strict=True))
    assert len(listed) == found
    assert listed == pytest.approx(expected)
    assert broken_triangles(X, near, 0.3, corners[:5], amounts[:5]) == 5


def test_a_partition_breaks_no_triangle():
    labels = np.random.default_rng(1).integers(0, 4, 15)
    sizes = np.bincount(labels)
    X = (labels[:, None] == labels) / sizes[labels]
    corners, amounts = np.empty((5000, 3), np.int32), np.empty(5000)
    assert broken_triangles(X, np.tile(np.arange(15), (15, 1)), 1e-12, corners, amounts) == 0


def test_fines_follow_and_are_added_to_costs():
    rng = np.random.default_rng(2)
    X = rng.random((8, 8))
    X += X.T
    corners = np.array([[0, 1, 2], [3, 0, 7], [0, 1, 5]])
    fines, before = np.array([0.1, 0.5, 0.0]), np.array([0.1, 0.5, 0.0])
    steps, costs = np.array([0.2, 3.0, 1.0]), np.zeros((8, 8))
    add_fines(corners, fines, costs)
    move_fines(X, corners, steps, fines, costs)
    broken = np.array([amount(X, *corner) for corner in corners])
    assert fines == pytest.approx(np.maximum(0, before + steps * broken))
    assert (fines == 0).any()
    assert (costs == costs.T).all()
    assert (costs * X).sum() == pytest.approx(fines @ broken)
