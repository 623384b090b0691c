from itertools import pairwise

import numpy as np
import pytest

from shoal.quantizing.distortions import Squared, distortion_of
from shoal.quantizing.lloyd import (
    Cells,
    centroids_of,
    distortion_to,
    drawn_anew,
    exact_solver,
    first_cells,
    lloyd_rounds,
    noisy_rounds,
    numeric_solver,
    revived,
    shaken_solver,
    shared_out,
    solver_for,
)

RNG = np.random.default_rng(0)


def test_records_are_shared_out_in_whole_numbers():
    assert shared_out(11, np.ones(3)).tolist() == [4, 4, 3]
    assert shared_out(10, np.array([0.5, 0.25, 0.25])).tolist() == [5, 3, 2]
    assert shared_out(7, np.array([1.0])).tolist() == [7]


@pytest.mark.parametrize("name", ["squared", "euclidean", "manhattan"])
def test_exact_rounds_never_lose(name):
    distortion = distortion_of(name)
    X = RNG.normal(size=(120, 2))
    sizes = shared_out(120, np.ones(7))
    found = list(
        lloyd_rounds(X, sizes, first_cells(X[:7], 120), distortion, solver_for(distortion), 1.0, 50, 1e-9)
    )
    history = found[-1].history
    assert len(history) == len(found) > 2
    assert all(b <= a * (1 + 1e-9) for a, b in pairwise(history))
    for cells in found:
        assert np.array_equal(np.bincount(cells.labels), sizes)
    last = found[-1]
    places = centroids_of(distortion, X, last.labels, 7)
    assert distortion_to(distortion, X, places, last.labels) == pytest.approx(history[-1])
    costs = distortion.costs(X, last.centres) + last.costs
    assert costs[np.arange(120), last.labels] == pytest.approx(costs.min(axis=1))


def test_the_speed_holds_back():
    X = RNG.normal(size=(60, 2))
    sizes = np.full(6, 10)
    start = first_cells(X[:6], 60)
    fast, slow = (
        list(lloyd_rounds(X, sizes, start, Squared(), exact_solver, speed, 2, 0))[1].centres
        for speed in (1.0, 0.5)
    )
    assert slow == pytest.approx((fast + X[:6]) / 2)


def test_the_numeric_way_comes_near_the_exact_one():
    X = RNG.normal(size=(4000, 2))
    sizes, centres = np.full(8, 500), X[:8]
    labels, _ = numeric_solver(X)(centres, sizes, np.zeros(8))
    exact, _ = exact_solver(X)(centres, sizes, np.zeros(8))
    assert np.abs(np.bincount(labels, minlength=8) - sizes).max() <= 5
    assert (labels == exact).mean() > 0.99


@pytest.mark.parametrize("size", [3, 20])
def test_shaken_points_are_assigned_as_well_as_others(size):
    X = RNG.normal(size=(8 * size, 2))
    sizes = np.full(8, size)
    shaken, costs = shaken_solver(X)(X[:8], sizes, np.zeros(8))
    exact, _ = exact_solver(X)(X[:8], sizes, np.zeros(8))
    assert np.array_equal(shaken, exact)
    assert np.array_equal(shaken_solver(X)(X[:8], sizes, costs)[0], exact)


@pytest.mark.parametrize("copies", [1, 20])
def test_noise_falls_and_sizes_hold_on_the_cloud(copies):
    X = np.concatenate([RNG.normal(centre, 0.1, (10, 2)) for centre in (0.0, 5.0, 10.0)])
    sizes = np.full(3, 10)
    found = list(
        noisy_rounds(X, sizes, first_cells(X[:3], 30), exact_solver, 30, copies, np.random.default_rng(1))
    )
    assert len(found) == 30
    assert sorted(found[-1].centres[:, 0]) == pytest.approx([0, 5, 10], abs=0.3)


def test_an_empty_cell_splits_the_largest():
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    cells = Cells(np.array([[1.0], [9.0], [50.0]]), np.array([0.5, 0.0, 7.0]), np.array([0, 0, 0, 1]), [])
    places = centroids_of(Squared(), X, cells.labels, 3)
    assert np.isnan(places[2]).all()
    again = revived(cells, places, X)
    assert again.centres.tolist() == [[1.0], [9.0], [0.0]]
    assert again.costs.tolist() == [0.5, 0.0, 0.5]


def test_an_empty_cell_is_drawn_anew_at_the_lowest_cost():
    X = np.array([[0.0], [1.0], [2.0], [9.0]])
    cells = Cells(np.array([[1.0], [9.0], [50.0]]), np.array([0.5, 0.25, 0.0]), np.array([0, 0, 0, 1]), [])
    places = centroids_of(Squared(), X, cells.labels, 3)
    seen = set()
    for seed in range(40):
        again = drawn_anew(cells, places, X, np.random.default_rng(seed))
        assert again.centres[:2].tolist() == [[1.0], [9.0]]
        assert again.costs.tolist() == [0.5, 0.25, 0.25]
        seen.add(float(again.centres[2, 0]))
    assert seen == {0.0, 1.0, 2.0, 9.0}
    full = Cells(cells.centres[:2], cells.costs[:2], cells.labels, [])
    assert drawn_anew(full, places[:2], X, np.random.default_rng(0)) is full
