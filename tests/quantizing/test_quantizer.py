import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import naive
from shoal import Quantizer, ShoalError
from shoal.quantizing.assignment import assign_by_costs
from shoal.quantizing.distortions import distortion_of

BOX = ((-4.0, 4.0), (-3.0, 5.0))


@st.composite
def quantizers(draw, dimensions=2):
    """Centroids and costs, some of them alike."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells = draw(st.integers(1, 25))
    centroids = rng.normal(size=(cells, dimensions))
    costs = rng.normal(size=cells) * draw(st.sampled_from([0.0, 0.1, 1.0, 10.0]))
    if draw(st.booleans()):
        centroids, costs = np.round(centroids), np.round(costs)
    return Quantizer(centroids, costs)


def area(corners):
    if not len(corners):
        return 0.0
    x, y = corners.T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum() / 2)


def depth(corners, points):
    """How far each point is inside a convex polygon, negative outside: the least distance to its sides."""
    if not len(corners):
        return np.full(len(points), -np.inf)
    sides = np.roll(corners, -1, axis=0) - corners
    lengths = np.hypot(*sides.T)
    sides, starts = sides[lengths > 1e-9], corners[lengths > 1e-9]
    to = points[:, None, :] - starts
    return ((sides[:, 0] * to[..., 1] - sides[:, 1] * to[..., 0]) / np.hypot(*sides.T)).min(axis=1)


# Theorem 3


@settings(max_examples=150)
@given(quantizers())
def test_cells_are_convex_and_fill_the_box(quantizer):
    polygons = quantizer.cells(BOX)
    assert sum(map(area, polygons)) == pytest.approx(64)
    for corners in polygons:
        sides = np.roll(corners, -1, axis=0) - corners
        onward = np.roll(sides, -1, axis=0)
        assert (sides[:, 0] * onward[:, 1] - sides[:, 1] * onward[:, 0] >= -1e-9).all()


@settings(max_examples=150)
@given(quantizers(), st.integers(0, 2**32))
def test_a_cell_holds_exactly_its_points(quantizer, seed):
    points = np.random.default_rng(seed).uniform((-4, -3), (4, 5), (300, 2))
    cells = quantizer.predict(points)
    for cell, corners in enumerate(quantizer.cells(BOX)):
        if area(corners) < 1e-7:  # a sliver has no inside to speak of
            continue
        inside = depth(corners, points)
        assert (cells[inside > 1e-7] == cell).all()
        assert (inside[cells == cell] > -1e-7).all()


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_cells_of_given_sizes_hold_their_points(seed):
    rng = np.random.default_rng(seed)
    points, centroids = rng.normal(size=(200, 2)), rng.normal(size=(8, 2))
    labels, costs = assign_by_costs(distortion_of("squared"), points, centroids, np.full(8, 25))
    bounds = tuple((low - 1, high + 1) for low, high in zip(points.min(axis=0), points.max(axis=0), strict=True))
    for cell, corners in enumerate(Quantizer(centroids, costs).cells(bounds)):
        inside = depth(corners, points)
        assert (inside > -1e-7)[labels == cell].all()
        assert (inside < 1e-7)[labels != cell].all()


# Points to cells


@settings(max_examples=50)
@given(quantizers(dimensions=3), st.integers(0, 2**32), st.booleans())
def test_points_go_where_the_sum_is_least(quantizer, seed, rounded):
    points = np.random.default_rng(seed).normal(size=(50, 3))
    points = np.round(points) if rounded else points
    cells = quantizer.predict(points)
    twin = [
        naive.cheapest_cell(p, quantizer.centroids.tolist(), quantizer.costs.tolist()) for p in points.tolist()
    ]
    assert cells.tolist() == twin
    assert np.array_equal(quantizer.transform(points), quantizer.centroids[cells])


def chessboard(x, y):
    return float(np.abs(x - y).max())


@pytest.mark.parametrize("kind", ["squared", "euclidean", "manhattan", "great-circle", chessboard])
def test_any_distortion(kind, monkeypatch):
    monkeypatch.setattr("shoal.quantizing.distortions._ENTRIES", 50)  # several chunks
    rng = np.random.default_rng(1)
    points, centroids, costs = rng.normal(size=(40, 2)), rng.normal(size=(7, 2)), rng.random(7)
    matrix = distortion_of(kind).costs(points, centroids) + costs
    assert Quantizer(centroids, costs, kind).predict(points).tolist() == matrix.argmin(axis=1).tolist()


def test_categories():
    quantizer = Quantizer([[0], [2]], [0.0, 0.0], [[0, 1, 5], [1, 0, 5], [5, 5, 0]])
    assert quantizer.predict([[0], [1], [2]]).tolist() == [0, 0, 1]
    assert quantizer.transform([[1]]).tolist() == [[0.0]]


def test_ties_go_to_the_first_cell():
    assert Quantizer([[1.0], [-1.0]], [0, 0]).predict([[0.0]]).tolist() == [0]
    assert Quantizer([[1.0], [-1.0]], [0, 0], "euclidean").predict([[0.0]]).tolist() == [0]


def test_arrays_are_copied_and_cannot_be_changed():
    centroids, costs = np.zeros((1, 2)), np.zeros(1)
    quantizer = Quantizer(centroids, costs)
    centroids[:], costs[:] = 1, 1
    assert not quantizer.centroids.any()
    with pytest.raises(ValueError, match="read-only"):
        quantizer.costs[0] = 1


# JSON

ODD = [0.1, -0.0, 5e-324, 1e140, -1 / 3, 2**53 + 1.0, 1e-300]


@given(st.lists(st.sampled_from(ODD) | st.floats(-1e150, 1e150), min_size=2, max_size=20))
def test_json_gives_every_bit_back(values):
    quantizer = Quantizer(np.array(values)[:, None], values[::-1])
    again = Quantizer.from_json(quantizer.to_json())
    assert again.centroids.tobytes() == quantizer.centroids.tobytes()
    assert again.costs.tobytes() == quantizer.costs.tobytes()
    assert again == quantizer
    assert hash(again) == hash(quantizer)
    assert again.to_json() == quantizer.to_json()


@pytest.mark.parametrize("kind", ["squared", "euclidean", "manhattan", "great-circle", [[0, 0.1], [0.1, 0]]])
def test_files_give_every_distortion_back(kind, tmp_path):
    width = 1 if isinstance(kind, list) else 2
    quantizer = Quantizer(np.ones((2, width)), [0.1, 0.2], kind)
    quantizer.save(tmp_path / "q.json")
    assert Quantizer.load(tmp_path / "q.json") == quantizer
    with pytest.raises(ShoalError, match="exists already"):
        quantizer.save(tmp_path / "q.json")
    quantizer.save(str(tmp_path / "q.json"), overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["q.json"]


def test_quantizers_differ_by_centroids_costs_or_distortion():
    one = Quantizer([[1.0, 2.0]], [0.0])
    assert one == Quantizer([[1.0, 2.0]], [-0.0])
    assert one != Quantizer([[1.0, 2.5]], [0.0])
    assert one != Quantizer([[1.0, 2.0]], [1.0])
    assert one != Quantizer([[1.0, 2.0]], [0.0], "euclidean")
    assert one != "squared"


def test_a_function_cannot_be_saved(tmp_path):
    with pytest.raises(ShoalError, match="cannot be written down"):
        Quantizer([[1.0]], [0.0], chessboard).save(tmp_path / "q.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "it needs quantizer, distortion"),
        ('{"quantizer":2,"distortion":"squared","costs":[0],"centroids":[[0]]}', "has the form 2"),
        ('{"quantizer":1,"distortion":"squared","costs":[0,1],"centroids":[[0]]}', "costs have the shape"),
        ('{"quantizer":1,"distortion":"squared","costs":["a"],"centroids":[[0]]}', "no quantizer"),
        ('{"quantizer":1,"distortion":"squared","costs":null,"centroids":{}}', "no quantizer"),
        ('{"quantizer":1,"distortion":"square","costs":[0],"centroids":[[0]]}', "did you mean 'squared'"),
    ],
)
def test_what_is_no_quantizer_is_an_error(text, message):
    with pytest.raises(ShoalError, match=message):
        Quantizer.from_json(text)


def test_a_file_that_is_not_there_or_not_text_is_an_error(tmp_path):
    with pytest.raises(ShoalError, match="cannot read .*: No such file"):
        Quantizer.load(tmp_path / "none.json")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ShoalError, match="cannot read"):
        Quantizer.load(tmp_path / "bytes")


def test_the_form_is_compact():
    form = json.loads(Quantizer([[1.5, 2.0]], [0.25]).to_json())
    assert form == {"quantizer": 1, "distortion": "squared", "costs": [0.25], "centroids": [[1.5, 2.0]]}


# Pictures


def test_a_plot_has_a_polygon_for_each_cell_and_the_points():
    rng = np.random.default_rng(2)
    quantizer = Quantizer(rng.normal(size=(5, 2)), np.zeros(5))
    axes = quantizer.plot(rng.normal(size=(30, 2)))
    assert len(axes.patches) == 5
    assert len(axes.collections[0].get_offsets()) == 30
    given_axes = Figure().subplots()
    assert quantizer.plot(ax=given_axes) is given_axes
    quantizer.plot([[0.0, 0.0]], labels=[3], ax=given_axes)
    assert len(Quantizer([[1.0, 1.0]], [0.0]).plot().patches) == 1


# Bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[np.nan]], [0.0]), "finite numbers"),
        (([1.0], [0.0]), "shape"),
        (([[1.0]], [0.0, 1.0]), "costs have the shape \\(2,\\), but there are 1 centroids"),
        (([[1.0]], [np.nan]), "costs must be finite, not nan"),
        (([[1.0]], ["a"]), "costs must be numbers"),
        (([[1.0]], [0.0], "cosine"), "distortion must be one of"),
        (([[1.0]], [0.0], lambda x, y: np.nan), "returned nan"),
    ],
)
def test_what_cannot_be_a_quantizer_is_an_error(arguments, message):
    with pytest.raises(ShoalError, match=message):
        Quantizer(*arguments)


def test_points_of_another_shape_are_an_error():
    quantizer = Quantizer([[1.0, 2.0]], [0.0])
    for points, message in (
        ([[1.0]], "points have 1 columns, but the centroids have 2"),
        ([[1.0, np.nan]], "finite"),
        ([1.0, 2.0], "shape"),
    ):
        with pytest.raises(ShoalError, match=message):
            quantizer.predict(points)


def test_what_cannot_be_drawn_is_an_error():
    with pytest.raises(ShoalError, match="straight borders, not 'euclidean'"):
        Quantizer([[1.0, 2.0]], [0.0], "euclidean").plot()
    with pytest.raises(ShoalError, match="only two dimensions can be drawn, and the centroids have 1"):
        Quantizer([[1.0]], [0.0]).plot()
    for bounds in (((0, 0), (0, 1)), ((0, 1),), ((0, np.inf), (0, 1))):
        with pytest.raises(ShoalError, match="bounds must be"):
            Quantizer([[1.0, 2.0]], [0.0]).cells(bounds)
    with pytest.raises(ShoalError, match="labels"):
        Quantizer([[1.0, 2.0]], [0.0]).plot([[1.0, 2.0]], labels=[0, 1])
