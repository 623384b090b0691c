import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ShoalError
from shoal.locations.errors import RefusedError
from shoal.locations.homes import checked, opened, points, published, rounded_costs, row, seal
from shoal.locations.keys import KeyRing


@pytest.mark.parametrize(
    ("latitude", "longitude", "name"),
    [
        (95, 0, "latitude"),
        (-90.1, 0, "latitude"),
        (0, 180.5, "longitude"),
        (math.nan, 0, "latitude"),
        (0, math.inf, "longitude"),
        ("51", 0, "latitude"),
        (True, 0, "latitude"),
        (None, 0, "latitude"),
        (0, 10**400, "longitude"),
    ],
)
def test_what_is_no_place_on_earth_is_refused_by_its_name_and_not_repeated(latitude, longitude, name):
    with pytest.raises(RefusedError, match=name) as refused:
        checked(latitude, longitude)
    assert "95" not in str(refused.value)
    assert "51" not in str(refused.value)


@given(st.floats(-89.9, 89.9), st.floats(-179.9, 179.9))
def test_a_point_is_published_where_it_is(latitude, longitude):
    found = published(points(row((latitude, longitude)))[0], 6)
    assert found == pytest.approx((latitude, longitude), abs=6e-7)


def test_a_pole_is_one_point_and_the_date_line_one_meridian():
    assert np.array_equal(points(row((90.0, 12.0))), points(row((90.0, -70.0))))
    assert published(points(row((90.0, 12.0)))[0], 3) == (90.0, 0.0)
    assert published(points(row((0.0, -180.0)))[0], 3) == (0.0, 180.0)
    middle = points(np.array([[0.0, 179.0], [0.0, -179.0]])).mean(axis=0)
    assert published(middle, 3) == (0.0, 180.0)


def test_opposite_homes_have_no_middle():
    assert published(points(np.array([[10.0, 20.0], [-10.0, -160.0]])).mean(axis=0), 3) is None


def test_a_sealed_home_opens_for_its_device_alone():
    ring = KeyRing.fresh()
    sealed = seal(ring, 51.5, -0.1, b"x" * 32)
    assert np.allclose(opened(ring, [(sealed, 1, b"x" * 32)]), points(row((51.5, -0.1))))
    assert opened(ring, []).shape == (0, 3)
    with pytest.raises(ShoalError, match="cannot be opened"):
        opened(ring, [(sealed, 1, b"y" * 32)])


def test_costs_are_as_coarse_as_centroids():
    centres = points(np.array([[51.0, 0.0], [51.0, 0.1], [51.1, 0.0], [51.1, 0.1]]))
    exact = np.array([1.23456789e-8, -2.3456789e-8, 0.0, 1.1e-8])
    coarse = rounded_costs(exact, centres, 3)
    unit = np.diff(np.unique(np.append(coarse, 0.0))).min()
    assert not np.array_equal(coarse, exact)
    assert np.allclose(coarse / unit, np.rint(coarse / unit))
    spacing = np.sqrt(np.square(centres[0] - centres[1]).sum())
    moved = np.abs(coarse - exact).max() / (2 * spacing)  # of a border, as a chord
    assert moved < np.deg2rad(0.001)
    assert rounded_costs(np.array([3.0]), centres[:1], 3).tolist() == [0.0]
    assert rounded_costs(np.zeros(2), centres[[0, 0]], 3).tolist() == [0.0, 0.0]
