"""Theorem 4: no other assignment with the same sizes has lower distortion, and the costs prove it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

import samples
from shoal import ShoalError
from shoal.quantizing import assignment
from shoal.quantizing.assignment import Costs, assign_by_costs, assign_within, central_prices, least_total
from shoal.quantizing.distortions import distortion_of

ROUTES = np.array([[0, 1, 4, 4], [1, 0, 2, 3], [4, 2, 0, 1], [4, 3, 1, 0]])


def chessboard(x, y):
    return float(np.abs(x - y).max())


KINDS = {
    "squared": "squared",
    "euclidean": "euclidean",
    "manhattan": "manhattan",
    "great-circle": "great-circle",
    "table": ROUTES,
    "function": chessboard,
}


def problem(kind, rng, most=12):
    """Points, some alike, centres (often points), and sizes that add up, some of them 0."""
    n, cells = int(rng.integers(1, most * 3)), int(rng.integers(1, most))
    if kind == "table":
        return (
            rng.integers(0, 4, (n, 1)).astype(float),
            rng.integers(0, 4, (cells, 1)).astype(float),
            *split(rng, n, cells),
        )
    scale = 20 if kind == "great-circle" else 3
    points = rng.normal(size=(n, 2)) * scale
    if rng.random() < 0.4:
        points = np.round(points / scale) * scale
    if rng.random() < 0.2:
        points[:] = points[0]
    centres = points[rng.integers(0, n, cells)] if rng.random() < 0.5 else rng.normal(size=(cells, 2)) * scale
    return np.clip(points, -80, 80), np.clip(centres, -80, 80), *split(rng, n, cells)


def split(rng, n, cells):
    return (np.bincount(rng.integers(0, cells, n), minlength=cells),)


def least_of_all(costs, sizes):
    """By a dense solver, with a column for each place in a cell."""
    square = np.repeat(costs, sizes, axis=1)
    return square[linear_sum_assignment(square)].sum()


def check(kind, points, centres, sizes, labels, prices):
    costs = kind.costs(points, centres)
    assert np.array_equal(np.bincount(labels, minlength=len(sizes)), sizes)
    total = costs[np.arange(len(points)), labels].sum()
    assert total == pytest.approx(least_of_all(costs, sizes), rel=1e-9, abs=1e-9)
    everything = Costs(kind, points, centres)
    tolerance = 1e-9 * (1 + costs.max())
    assert total == pytest.approx(least_total(everything, sizes, sizes, prices), abs=tolerance * len(points))
    middle = central_prices(everything, labels, sizes, sizes, prices)
    assert total == pytest.approx(least_total(everything, sizes, sizes, middle), abs=tolerance * len(points))
    return costs, middle


@pytest.mark.parametrize("name", KINDS)
def test_no_assignment_with_these_sizes_is_better(name):
    """With few cells for a point to know at first, so that the search has to look further."""
    kind = distortion_of(KINDS[name])
    rng = np.random.default_rng(7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignment, "_KNOWN", 2)
        for _ in range(400):
            points, centres, sizes = problem(name, rng)
            labels, prices = assign_by_costs(kind, points, centres, sizes)
            check(kind, points, centres, sizes, labels, prices)


@pytest.mark.parametrize("crowds", [0, 2048])
def test_both_solvers_give_the_optimum(crowds, monkeypatch):
    monkeypatch.setattr(assignment, "_CROWD_CELLS", crowds)
    kind = distortion_of("euclidean")
    rng = np.random.default_rng(8)
    for _ in range(100):
        points, centres, sizes = problem("euclidean", rng, most=20)
        check(kind, points, centres, sizes, *assign_by_costs(kind, points, centres, sizes))


def test_costs_that_do_not_fit_into_memory_are_computed_anew(monkeypatch):
    kind = distortion_of("manhattan")
    rng = np.random.default_rng(9)
    cases = [problem("manhattan", rng) for _ in range(100)]
    kept = [assign_by_costs(kind, *case) for case in cases]
    monkeypatch.setattr(assignment, "_KEPT", 0)
    monkeypatch.setattr("shoal.quantizing.distortions._ENTRIES", 8)
    for case, (labels, prices) in zip(cases, kept, strict=True):
        again, costs = assign_by_costs(kind, *case)
        assert np.array_equal(labels, again)
        assert np.array_equal(prices, costs)


@settings(max_examples=50)
@given(st.integers(0, 2**32))
def test_the_costs_in_the_middle_give_the_assignment_back(seed):
    """Every point is where distortion + cost is least; with Manhattan distances there may be exact ties."""
    rng = np.random.default_rng(seed)
    n, cells = int(rng.integers(20, 200)), int(rng.integers(2, 9))
    points, centres = rng.random((n, 2)), rng.random((cells, 2))
    (sizes,) = split(rng, n, cells)
    for name in ("squared", "euclidean", "manhattan", "great-circle"):
        kind = distortion_of(name)
        labels, prices = assign_by_costs(kind, points, centres, sizes)
        costs, middle = check(kind, points, centres, sizes, labels, prices)
        sums = costs + middle
        if name == "manhattan":
            assert sums[np.arange(n), labels] == pytest.approx(sums.min(axis=1), rel=1e-12)
        else:
            assert np.array_equal(sums.argmin(axis=1), labels)


def test_any_prices_may_be_the_beginning():
    kind = distortion_of("euclidean")
    rng = np.random.default_rng(10)
    for _ in range(100):
        points, centres, sizes = problem("euclidean", rng)
        labels, prices = assign_by_costs(kind, points, centres, sizes, rng.normal(size=len(centres)) * 5)
        check(kind, points, centres, sizes, labels, prices)
        check(kind, points, centres, sizes, *assign_by_costs(kind, points, centres, sizes, prices))


def test_sizes_within_limits():
    kind = distortion_of("euclidean")
    rng = np.random.default_rng(11)
    for _ in range(200):
        points, centres, sizes = problem("euclidean", rng)
        low, high = np.maximum(sizes - rng.integers(0, 3, len(sizes)), 0), sizes + rng.integers(0, 3, len(sizes))
        costs = Costs(kind, points, centres)
        labels, prices = assign_within(costs, low, high)
        held = np.bincount(labels, minlength=len(sizes))
        assert (held >= low).all()
        assert (held <= high).all()
        matrix = kind.costs(points, centres)
        total = matrix[np.arange(len(points)), labels].sum()
        for proof in (prices, central_prices(costs, labels, low, high, prices)):
            assert (proof[held < high] <= 1e-12).all()
            assert (proof[held > low] >= -1e-12).all()
            assert total == pytest.approx(least_total(costs, low, high, proof), rel=1e-9, abs=1e-9)


def test_many_points_begin_with_the_costs_of_a_few():
    rng = np.random.default_rng(12)
    points, centres = rng.normal(size=(20_000, 2)), rng.normal(size=(8, 2)) * 2
    sizes = np.full(8, 2500)
    kind = distortion_of("euclidean")
    labels, prices = assign_by_costs(kind, points, centres, sizes)
    costs = kind.costs(points, centres)
    assert np.bincount(labels).tolist() == sizes.tolist()
    bound = least_total(Costs(kind, points, centres), sizes, sizes, prices)
    assert costs[np.arange(20_000), labels].sum() == pytest.approx(bound, rel=1e-12)


@given(samples.points(), st.sampled_from(["squared", "euclidean", "manhattan"]))
def test_sizes_hold_whatever_the_points(sample, name):
    """Ties, duplicates, constants, extremes, one point a cell."""
    X, k = sample
    kind = distortion_of(name)
    sizes = np.array([len(part) for part in np.array_split(X, max(1, len(X) // k))])
    centres = X[:: max(1, len(X) // len(sizes))][: len(sizes)]
    labels, prices = assign_by_costs(kind, X, centres, sizes)
    assert np.array_equal(np.bincount(labels, minlength=len(sizes)), sizes)
    costs = kind.costs(X, centres)
    total, bound = (
        costs[np.arange(len(X)), labels].sum(),
        least_total(Costs(kind, X, centres), sizes, sizes, prices),
    )
    assert total == pytest.approx(bound, rel=1e-9, abs=1e-9 * costs.max())


def test_the_same_again():
    rng = np.random.default_rng(13)
    points, centres = np.round(rng.normal(size=(500, 2))), np.round(rng.normal(size=(50, 2)))
    sizes = np.full(50, 10)
    first, second = (assign_by_costs(distortion_of("squared"), points, centres, sizes) for _ in range(2))
    assert np.array_equal(first[0], second[0])
    assert np.array_equal(first[1], second[1])


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([2, 2], "sizes add up to 4, but there are 3 points"),
        ([3], "shape \\(1,\\), but there are 2 cells"),
        ([1.5, 1.5], "whole numbers"),
        ([4, -1], "at least 0, not -1"),
    ],
)
def test_sizes_that_cannot_be_are_an_error(sizes, message):
    with pytest.raises(ShoalError, match=message):
        assign_by_costs(distortion_of("squared"), np.zeros((3, 1)), np.zeros((2, 1)), sizes)
