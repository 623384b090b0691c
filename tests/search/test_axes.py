import numpy as np
import pytest

from shoal.search.axes import on_fewer_axes


@pytest.mark.parametrize("scale", [1.0, 1e140, 1e-290])
def test_a_wide_table_is_turned_onto_one_axis_fewer_than_records(scale):
    X = np.random.default_rng(2).normal(5, 1, size=(12, 40)) * scale
    turned = on_fewer_axes(X)
    assert turned.shape == (12, 11)
    distances = [np.sqrt((((P[:, None] - P) / scale) ** 2).sum(axis=2)) for P in (X, turned)]
    assert np.allclose(*distances, rtol=1e-13)
    assert np.array_equal(turned, on_fewer_axes(X))


def test_other_tables_are_left_as_they_are():
    X = np.random.default_rng(1).normal(size=(50, 3))
    assert on_fewer_axes(X) is X
    assert on_fewer_axes(np.full((5, 9), 3.0)).tolist() == [[0.0]] * 5
