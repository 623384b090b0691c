import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure

import naive
from shoal import Allocation, ShoalError, allocate
from shoal.quantizing.distortions import distortion_of


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.sampled_from(["euclidean", "squared", "manhattan"]), st.booleans())
def test_no_allocation_within_the_capacities_is_shorter(seed, kind, tied):
    rng = np.random.default_rng(seed)
    n, sites = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    points, places = rng.normal(size=(n, 2)), rng.normal(size=(sites, 2))
    if tied:
        points, places = np.round(points), np.round(places)
    room = np.bincount(rng.integers(0, sites, n), minlength=sites) + rng.integers(0, 3, sites) * rng.integers(0, 2)
    found = allocate(points, places, room, kind)
    costs = distortion_of(kind).costs(points, places)
    least = np.zeros(sites, int)
    assert found.total == pytest.approx(naive.cheapest_assignment(costs.tolist(), least.tolist(), room.tolist()))
    assert found.bound == pytest.approx(found.total, abs=1e-9)
    assert (found.sizes <= room).all()
    assert np.array_equal(np.bincount(found.labels, minlength=sites), found.sizes)
    assert np.array_equal(found.distances, costs[np.arange(n), found.labels])


def city(rng, n=3000, sites=6):
    return rng.normal(size=(n, 2)), rng.normal(size=(sites, 2))


def test_capacities_that_add_up_are_filled_and_the_costs_give_the_sites_back():
    points, sites = city(np.random.default_rng(1))
    room = np.array([1000, 200, 300, 400, 500, 600])
    found = allocate(points, sites, room)
    assert found.sizes.tolist() == room.tolist()
    assert np.array_equal(found.quantizer.predict(points), found.labels)
    assert found.costs.min() == 0
    assert found.mean == pytest.approx(found.total / 3000)
    assert found.bound == pytest.approx(found.total, rel=1e-12)


def test_where_there_is_room_everybody_goes_to_the_nearest():
    points, sites = city(np.random.default_rng(2))
    found = allocate(points, sites, np.full(6, 10**12))
    assert not found.costs.any()
    nearest = distortion_of("euclidean").costs(points, sites).argmin(axis=1)
    assert np.array_equal(found.labels, nearest)
    assert found.capacities.tolist() == [10**12] * 6


def test_a_site_with_room_left_has_no_cost():
    points, sites = city(np.random.default_rng(3))
    found = allocate(points, sites, [300, 300, 3000, 3000, 300, 300])
    assert not found.costs[found.sizes < found.capacities].any()
    assert (found.costs >= 0).all()
    assert np.array_equal(found.quantizer.predict(points), found.labels)


def test_places_on_the_globe():
    rng = np.random.default_rng(4)
    points = np.array([52.0, 13.0]) + rng.normal(size=(200, 2)) / 10
    found = allocate(points, points[:4], np.full(4, 50), "great-circle")
    assert found.sizes.tolist() == [50] * 4
    assert 1 < found.mean < 50  # kilometres
    axes = found.plot()
    assert axes.get_xlim()[0] > 12  # longitudes go across
    assert axes.get_ylim()[0] > 51


def test_a_map_is_drawn_on_given_axes():
    found = allocate(*city(np.random.default_rng(5)), np.full(6, 500))
    axes = Figure().subplots()
    assert found.plot(axes) is axes
    assert len(axes.collections[0].get_offsets()) == 3000
    assert isinstance(found, Allocation)
    with pytest.raises(ShoalError, match="only two dimensions can be drawn, and the points have 1"):
        allocate([[1.0]], [[1.0]], [1]).plot()


@pytest.mark.parametrize(
    ("points", "sites", "capacities", "kind", "message"),
    [
        ([[1.0], [2.0]], [[1.0]], [1], "squared", "capacities add up to 1, but there are 2 points"),
        ([[1.0]], [[1.0, 2.0]], [1], "squared", "points have 1 columns, but sites have 2"),
        ([[1.0]], [[1.0]], [1, 1], "squared", "capacities have the shape \\(2,\\), but there are 1 cells"),
        ([[1.0]], [[1.0]], [1.0], "squared", "capacities must be whole numbers"),
        ([[1.0]], [[1.0]], [-1], "squared", "capacities must be at least 0"),
        ([[np.nan]], [[1.0]], [1], "squared", "finite"),
        ([[1.0]], [[np.inf]], [1], "squared", "finite"),
        ([[1.0]], [[1.0]], [1], "nearest", "distortion must be one of"),
        ([[1.0], [2.0]], [[1.0]], [2], lambda x, y: np.nan, "returned nan"),
    ],
)
def test_what_cannot_be_allocated_is_an_error(points, sites, capacities, kind, message):
    with pytest.raises(ShoalError, match=message):
        allocate(points, sites, capacities, kind)
