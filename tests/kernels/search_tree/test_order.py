from itertools import pairwise

import numpy as np
import pytest

from shoal.kernels.search_tree.order import group_twins, kd_order, principal_frame, project_all


@pytest.mark.parametrize("m", [1, 3, 20])
def test_the_frame_keeps_distances_and_puts_everything_into_the_unit_ball(m):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(500, m)) * rng.random(m) * 1e6 + 1e3
    records = np.arange(0, 500, 2, dtype=np.int32)
    centre, scale, axes = principal_frame(X, records)
    coords = np.empty((len(records), m), np.float32)
    project_all(X, records, centre, scale, axes, coords)
    assert np.linalg.norm(coords, axis=1).max() <= 1
    true = np.linalg.norm(X[records[:50], None] - X[records[None, :50]], axis=2) / scale
    seen = np.linalg.norm(coords[:50, None].astype(float) - coords[None, :50], axis=2)
    assert np.abs(true - seen).max() < 1e-6
    assert coords[:, 0].var() >= coords[:, -1].var()


def test_one_point_has_a_frame_too():
    centre, scale, axes = principal_frame(np.full((3, 2), 7.0), np.arange(3, dtype=np.int32))
    assert (centre.tolist(), scale, axes.tolist()) == ([7, 7], 1.0, [[1, 0], [0, 1]])


@pytest.mark.parametrize("n", [1, 15, 16, 17, 255, 257, 5000])
def test_the_order_is_a_permutation_into_compact_leaves(n):
    rng = np.random.default_rng(n)
    coords = rng.random((n, 2)).astype(np.float32)
    order = np.arange(n, dtype=np.int32)
    kd_order(coords, order, np.empty(n, np.float32))
    assert sorted(order.tolist()) == list(range(n))
    if n == 5000:
        leaves = coords[order][: n // 16 * 16].reshape(-1, 16, 2)
        assert np.ptp(leaves, axis=1).prod(axis=1).mean() < 5 * 16 / n


def test_twins_stand_side_by_side_in_the_order_of_their_numbers():
    X = np.array([[1.0, 0.0], [2.0, 5.0], [1.0, -0.0], [3.0, 1.0], [2.0, 5.0], [1.0, 0.0]])
    twins, starts = group_twins(X, np.arange(6, dtype=np.int32))
    runs = [twins[a:b].tolist() for a, b in pairwise(starts)]
    assert sorted(runs) == [[0, 2, 5], [1, 4], [3]]
    different, starts = group_twins(X, np.array([1, 2, 3], np.int32))
    assert (different.tolist(), starts.tolist()) == ([1, 2, 3], [0, 1, 2, 3])
