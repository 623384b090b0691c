import numpy as np
from hypothesis import given

import naive
from samples import points
from shoal.kernels.single.peel import nearest_row, squared_distances


@given(points())
def test_distances_are_the_twins_bit_for_bit(sample):
    X, _ = sample
    out = np.empty(len(X))
    squared_distances(X, X[0], out)
    assert out.tolist() == [naive.squared_distance(row, X[0].tolist()) for row in X.tolist()]


@given(points())
def test_the_nearest_row_is_the_first_of_equals(sample):
    X, _ = sample
    point = X.mean(axis=0) if np.abs(X).max() < 1e100 else X[0]
    distances = [naive.squared_distance(row, point.tolist()) for row in X.tolist()]
    assert nearest_row(X, point) == distances.index(min(distances))
