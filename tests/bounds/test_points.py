import numpy as np
import pytest

import naive
from shoal.bounds.points import Points, nearest


def test_equal_records_are_one_point_side_by_side():
    X = np.array([[2.0, 1.0], [0.0, 0.0], [2.0, 1.0], [5.0, 3.0], [0.0, 0.0], [2.0, 1.0]])
    points = Points(X, 2, 3)
    assert np.array_equal(points.rows[points.kinds], X)
    assert len(points.rows) == 3
    assert points.weights.tolist() == np.bincount(points.kinds).tolist()
    assert points.kinds[points.records].tolist() == points.places.tolist() == sorted(points.places)
    for kind in range(3):
        there = points.records[points.places == kind]
        assert there.tolist() == sorted(there)
    assert (points.n, points.most_groups) == (6, 3)
    assert points.mean_of_equals(np.arange(6.0))[points.kinds[0]] == (0 + 2 + 5) / 3


def test_points_stand_along_their_widest_direction():
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 50.0, 1.0]
    along = Points(X, 2, 3).rows[:, 1]
    assert (np.diff(along) > 0).all()


def test_distances_neighbours_and_the_sse_of_a_group():
    X = np.random.default_rng(4).normal(size=(10, 2))
    points = Points(X, 2, 3)
    for i in range(10):
        others = sorted((naive.squared_distance(points.rows[i], points.rows[j]), j) for j in range(10) if j != i)
        assert points.near[i].tolist() == [j for _, j in others]
        assert points.d2[i, points.near[i]] == pytest.approx([d2 for d2, _ in others])
        assert nearest(points.d2, 4)[i].tolist() == points.near[i, :4].tolist()
    group = np.array([1, 4, 7])
    assert points.sse(group) == pytest.approx(naive.group_sse(points.rows.tolist(), group.tolist()))
