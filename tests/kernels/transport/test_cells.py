import numpy as np
import pytest
from hypothesis import given

import naive
import samples
from shoal.kernels.transport.cells import cheapest_cells, power_cells

SQUARE = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]])


@given(samples.points(), samples.points(most=6, widest=1))
def test_the_cheapest_cell_is_the_twins(sample, priced):
    X, k = sample
    centroids = X[::k]
    costs = np.resize(priced[0][:, 0], len(centroids))
    cells = np.empty(len(X), np.int64)
    cheapest_cells(X, np.ascontiguousarray(centroids.T), costs, cells)
    expected = [naive.cheapest_cell(x, centroids.tolist(), costs.tolist()) for x in X.tolist()]
    assert cells.tolist() == expected


def test_two_cells_share_the_square_by_a_line():
    centres = np.array([[1.0, 2.0], [3.0, 2.0]])
    left, right = power_cells(centres, np.zeros(2), SQUARE)
    assert sorted(left.tolist()) == [[0, 0], [0, 4], [2, 0], [2, 4]]
    assert sorted(right.tolist()) == [[2, 0], [2, 4], [4, 0], [4, 4]]
    dearer, _ = power_cells(centres, np.array([4.0, 0.0]), SQUARE)  # the border is at x = 1
    assert dearer[:, 0].max() == pytest.approx(1)
    nothing, whole = power_cells(centres, np.array([8.0, 0.0]), SQUARE)
    assert len(nothing) == 0
    assert whole.tolist() == SQUARE.tolist()


def test_of_equal_centroids_the_first_or_cheaper_has_the_cell():
    centres = np.array([[1.0, 1.0], [1.0, 1.0]])
    assert [len(cell) for cell in power_cells(centres, np.zeros(2), SQUARE)] == [4, 0]
    assert [len(cell) for cell in power_cells(centres, np.array([1.0, 0.0]), SQUARE)] == [0, 4]
