import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import samples
from shoal import ShoalError
from shoal.quantizing.distortions import (
    EARTH_KM,
    NAMED,
    Distortion,
    Function,
    Table,
    checked_weights,
    cost_chunks,
    distortion_of,
    total_cost,
    weighted_median,
)

SQUARED, EUCLIDEAN, MANHATTAN, GLOBE = (NAMED[n] for n in ("squared", "euclidean", "manhattan", "great-circle"))


def chessboard(x, y):
    return float(np.abs(x - y).max())


def random_table(rng, categories=6):
    table = np.round(rng.random((categories, categories)) * 5, 1)
    table = table + table.T
    np.fill_diagonal(table, 0)
    return table


# Names, tables, functions


def test_names_tables_and_functions_become_distortions():
    for name, kind in NAMED.items():
        assert distortion_of(name) is kind
        assert distortion_of(kind) is kind
        assert distortion_of(kind.form()) is kind
        assert isinstance(kind, Distortion)
    table = distortion_of([[0, 2], [2, 0]])
    assert isinstance(table, Table)
    assert distortion_of(table.form()) == table
    assert hash(distortion_of(table.form())) == hash(table)
    assert table != distortion_of([[0, 1], [1, 0]])
    assert distortion_of(chessboard) == Function(chessboard)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("euclid", "distortion must be one of squared, .*, not 'euclid'; did you mean 'euclidean'"),
        ([[0, 1], [2, 0]], "not symmetric: from category 0 to 1 it is 1.0, back 2.0"),
        ([[0, -1], [-1, 0]], "at least 0; from category 0 to 1 it is -1.0"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([[0, 1, 2], [1, 0, 2]], "as many rows as columns"),
        ([[1, 2], [2, 0]], "category 0 to itself is 1.0"),
        ([["a"]], "distortion must be one of"),
        (None, "distortion must be one of|as many rows"),
    ],
)
def test_what_is_no_distortion_is_an_error(value, message):
    with pytest.raises(ShoalError, match=message):
        distortion_of(value)


@pytest.mark.parametrize(
    ("kind", "points", "message"),
    [
        (SQUARED, [[1.0, np.nan]], "row 0"),
        (SQUARED, [[1.0], [np.inf]], "row 1"),
        (SQUARED, [1.0, 2.0], "shape \\(2,\\)"),
        (SQUARED, np.empty((0, 2)), "at least one"),
        (SQUARED, [["a"]], "must be numbers"),
        (EUCLIDEAN, [[1e200]], "up to 1e\\+150"),
        (GLOBE, [[91.0, 0.0]], "no \\(latitude, longitude\\)"),
        (GLOBE, [[0.0, 361.0]], "no \\(latitude, longitude\\)"),
        (GLOBE, [[0.0, 1.0, 2.0]], "3 columns"),
        (Table.of([[0, 1], [1, 0]]), [[2]], "row 0 is 2, which is no code"),
        (Table.of([[0, 1], [1, 0]]), [[0.5]], "no code"),
        (Table.of([[0, 1], [1, 0]]), [[0, 1]], "one column of codes"),
        (Function(lambda x, y: math.nan), [[1.0]], "returned nan for"),
        (Function(lambda x, y: -1.0), [[1.0]], "returned -1.0 for"),
        (Function(lambda x, y: None), [[1.0]], "returned None for"),
        (Function(lambda x, y: np.inf if x[0] != y[0] else 0), [[1.0], [2.0]], "returned inf for"),
    ],
)
def test_points_that_it_cannot_be_taken_of_are_an_error(kind, points, message):
    with pytest.raises(ShoalError, match=message):
        kind.check(points)


def test_bad_weights_are_an_error():
    for weights in ([1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0]):
        with pytest.raises(ShoalError, match="weights must be 2 numbers"):
            checked_weights(weights, 2)


# Costs


def test_costs_are_the_distances():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    for i, j in np.ndindex(7, 4):
        assert SQUARED.costs(x, y)[i, j] == pytest.approx(math.dist(x[i], y[j]) ** 2)
        assert EUCLIDEAN.costs(x, y)[i, j] == pytest.approx(math.dist(x[i], y[j]))
        assert MANHATTAN.costs(x, y)[i, j] == pytest.approx(sum(abs(x[i] - y[j])))
        assert Function(chessboard).costs(x, y)[i, j] == max(abs(x[i] - y[j]))


def test_a_table_is_looked_up():
    table = Table.of([[0, 1, 4], [1, 0, 2], [4, 2, 0]])
    assert table.costs(np.array([[2.0], [0.0]]), np.array([[0.0], [1.0], [2.0]])).tolist() == [
        [4, 2, 0],
        [0, 1, 4],
    ]


def test_the_globe_is_measured_along_its_surface():
    quarter = EARTH_KM * math.pi / 2
    equator, pole = np.array([[0.0, 0.0]]), np.array([[90.0, 77.0]])
    assert GLOBE.costs(equator, pole)[0, 0] == pytest.approx(quarter)
    assert GLOBE.costs(equator, np.array([[0.0, 180.0]]))[0, 0] == pytest.approx(2 * quarter)
    assert GLOBE.costs(np.array([[10.0, 179.5]]), np.array([[10.0, -179.5]]))[0, 0] < 120
    assert GLOBE.costs(np.array([[10.0, 190.0]]), np.array([[10.0, -170.0]]))[0, 0] == pytest.approx(0, abs=1e-6)
    berlin, paris = np.array([[52.5200, 13.4050]]), np.array([[48.8566, 2.3522]])
    assert GLOBE.costs(berlin, paris)[0, 0] == pytest.approx(878, abs=1)


def test_chunks_are_the_whole():
    rng = np.random.default_rng(1)
    points, centres = rng.normal(size=(4000, 2)), rng.normal(size=(600, 2))
    whole = EUCLIDEAN.costs(points, centres)
    parts = list(cost_chunks(EUCLIDEAN, points, centres))
    assert len(parts) > 2
    assert np.array_equal(np.concatenate([costs for _, costs in parts]), whole)
    assert np.array_equal(np.concatenate([np.arange(4000)[rows] for rows, _ in parts]), np.arange(4000))


# Centroids


def is_least(kind, points, weights, found, lowest_of):
    """Neither the points, nor places around the centroid, nor a numeric search from there have a lower sum."""
    mass = np.ones(len(points)) if weights is None else weights
    total = total_cost(kind, points, mass, found)
    slack = 1e-9 * total + 1e-12 * mass.sum() * (1 + np.abs(points).max())
    for place in points:
        assert total <= total_cost(kind, points, mass, place) + slack
    rng = np.random.default_rng(0)
    spread = np.ptp(points, axis=0) + 1e-9
    for scale in (1e-6, 1e-3, 0.1):
        for _ in range(10):
            place = lowest_of(found + rng.normal(size=len(found)) * spread * scale)
            assert total <= total_cost(kind, points, mass, place) + slack
    search = minimize(lambda place: total_cost(kind, points, mass, lowest_of(place)), found, method="Nelder-Mead")
    assert total <= search.fun + slack


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from(["round", "tied", "line", "outliers"]), st.booleans())
def test_the_centroid_has_the_least_sum(seed, kind_of_points, weighted):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 12)), int(rng.integers(1, 4))
    points = rng.normal(size=(n, m))
    if kind_of_points == "tied":
        points = np.round(points)
    elif kind_of_points == "line":
        points = rng.normal(size=(n, 1)) * rng.normal(size=m)
    elif kind_of_points == "outliers":
        points[::4] *= 1000
    weights = rng.integers(1, 4, n) * 0.5 if weighted else None
    for kind in (SQUARED, EUCLIDEAN, MANHATTAN):
        is_least(kind, points, weights, kind.centroid(points, weights), lambda place: place)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([0.01, 1, 20]), st.booleans())
def test_the_centroid_on_the_globe_has_the_least_sum(seed, spread, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    points = np.array([rng.uniform(-60, 60), rng.uniform(-180, 180)]) + rng.uniform(-spread, spread, (n, 2))
    points[:, 1] = (points[:, 1] + 180) % 360 - 180
    weights = rng.integers(1, 4, n) * 0.5 if weighted else None

    def valid(place):
        return np.array([np.clip(place[0], -90, 90), (place[1] + 180) % 360 - 180])

    found = GLOBE.centroid(points, weights)
    GLOBE.check(found[None, :])
    mass = np.ones(n) if weights is None else weights
    total = total_cost(GLOBE, points, mass, found)
    is_least(GLOBE, points, weights, found, valid)
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 15), np.linspace(-1, 1, 15)), axis=-1).reshape(-1, 2) * spread
    for place in points.mean(axis=0) + grid:
        assert total <= total_cost(GLOBE, points, mass, valid(place)) * (1 + 1e-9) + 1e-6


def test_the_centroid_on_the_globe_knows_the_date_line_and_the_poles():
    latitude, longitude = GLOBE.centroid(np.array([[10.0, 179.0], [10.0, -179.0], [10.5, 180.0], [9.5, 180.0]]))
    assert latitude == pytest.approx(10, abs=0.1)
    assert abs(longitude) == pytest.approx(180, abs=1e-6)
    around = np.array([[80.0, a] for a in range(-180, 180, 30)])
    assert GLOBE.centroid(around)[0] == pytest.approx(90, abs=1e-5)
    opposite = np.array([[0.0, 0.0], [0.0, 180.0]])  # the mean vector is zero: any point between will do
    assert total_cost(GLOBE, opposite, np.ones(2), GLOBE.centroid(opposite)) == pytest.approx(math.pi * EARTH_KM)


def test_the_median_of_a_crowd_at_one_point_is_that_point():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0], [3.0, 4.0], [9.0, -1.0]])
    assert EUCLIDEAN.centroid(points).tolist() == [3.0, 4.0]
    triangle = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 0.1]])  # an angle of more than 120 degrees
    assert EUCLIDEAN.centroid(triangle).tolist() == [5.0, 0.1]
    assert EUCLIDEAN.centroid(np.ones((4, 2))).tolist() == [1.0, 1.0]


def test_the_median_of_a_square_is_its_middle():
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    assert EUCLIDEAN.centroid(square) == pytest.approx([1.0, 1.0])
    assert EUCLIDEAN.centroid(square * 1e140) == pytest.approx([1e140, 1e140])


@given(samples.points(most=20))
def test_the_mean_is_exact(sample):
    X, _ = sample
    assert SQUARED.centroid(X).tolist() == [math.fsum(column) / len(X) for column in X.T]


@given(samples.points(most=20))
def test_equal_weights_are_no_weights(sample):
    X, _ = sample
    for kind in (EUCLIDEAN, MANHATTAN):
        assert np.array_equal(kind.centroid(X), kind.centroid(X, np.ones(len(X))))
    assert MANHATTAN.centroid(X) == pytest.approx(np.median(X, axis=0), rel=1e-15)


def test_a_median_by_weights():
    assert weighted_median(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, 1.0])) == 3.0
    assert weighted_median(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 1.0])) == 1.5
    assert weighted_median(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 1.0])) == 2.0


def test_a_weight_counts_as_so_many_points():
    rng = np.random.default_rng(2)
    points, times = rng.normal(size=(9, 2)), rng.integers(1, 4, 9)
    for kind in (SQUARED, EUCLIDEAN, MANHATTAN, GLOBE, Function(chessboard)):
        assert kind.centroid(points, times.astype(float)) == pytest.approx(
            kind.centroid(np.repeat(points, times, axis=0)), abs=1e-9
        )


def test_medoids():
    rng = np.random.default_rng(3)
    for _ in range(50):
        table = Table.of(random_table(rng))
        points = rng.integers(0, 6, (7, 1)).astype(float)
        sums = [sum(table.entries[int(p), c] for p in points[:, 0]) for c in range(6)]
        assert sums[int(table.centroid(points)[0])] == pytest.approx(min(sums))
        vectors = rng.normal(size=(6, 2))
        sums = [sum(chessboard(x, y) for x in vectors) for y in vectors]
        assert np.array_equal(Function(chessboard).centroid(vectors), vectors[np.argmin(sums)])


def test_a_function_has_no_form():
    with pytest.raises(ShoalError, match="cannot be written down"):
        Function(chessboard).form()
