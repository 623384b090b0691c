from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from samples import earthly
from shoal import ShoalError, ShoalWarning
from shoal.attributes import sphere
from shoal.attributes.place_attribute import PlaceAttribute, as_text
from shoal.attributes.place_values import Form

FORM = Form(("lat", "lon"))


def attribute(places, form=FORM, spread=1.0):
    stored = sphere.packed(*np.array(places, np.int64).T)
    return PlaceAttribute("lat, lon", 1.0, form, stored, np.zeros(3), spread, False)


def at(*degrees):
    return [(round(north * 1e7), round(east * 1e7)) for north, east in degrees]


@st.composite
def grouped(draw):
    places = draw(earthly())
    labels = draw(st.lists(st.integers(0, 2), min_size=len(places), max_size=len(places)))
    return places, np.unique(labels, return_inverse=True)[1]


def cut(labels):
    return np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(labels))])


def members_of(places, labels):
    degrees = [(north / 1e7, east / 1e7) for north, east in places]
    return [[degrees[i] for i in np.flatnonzero(labels == label)] for label in range(max(labels) + 1)]


def released(common):
    return list(zip(common.of("lat").floats(), common.of("lon").floats(), strict=True))


def one(made, aggregate="mean", digits=None):
    """The common place of all records."""
    n = len(made.places)
    return released(made.common_values(np.arange(n), np.array([0, n]), aggregate, False, digits))[0]


@given(grouped())
def test_the_mean_is_the_mean_direction_or_else_the_medoid(case):
    places, labels = case
    found = released(attribute(places).common_values(*cut(labels), "mean", False, None))
    for place, members in zip(found, members_of(places, labels), strict=True):
        if naive.mean_direction(members) is not None:
            assert naive.haversine(place, naive.common_place(members)) < 1e-7
        else:
            assert any(naive.haversine(place, member) < 1e-7 for member in members)


@given(grouped())
def test_the_median_is_the_medoid_and_the_mode_the_most_frequent_place(case):
    places, labels = case
    made, groups = attribute(places), members_of(places, labels)
    for place, members in zip(
        released(made.common_values(*cut(labels), "median", False, None)), groups, strict=True
    ):
        total, best = (
            sum(naive.chord(each, other) ** 2 for other in members) for each in (place, naive.medoid(members))
        )
        assert total <= best + 1e-6
    for place, members in zip(
        released(made.common_values(*cut(labels), "mode", False, None)), groups, strict=True
    ):
        turned = [(north, east % 360) for north, east in members]
        here = turned.count(min(turned, key=lambda each: (naive.haversine(each, place), -turned.count(each))))
        assert here == max(map(turned.count, turned)) or abs(place[0]) == 90


@given(grouped(), st.integers(-1, 7))
def test_the_loss_is_that_of_squared_chords_to_the_released_places(case, digits):
    places, labels = case
    made = attribute(places, spread=0.5)
    common = made.common_values(*cut(labels), "mean", False, digits)
    groups = [np.flatnonzero(labels == label) for label in range(max(labels) + 1)]
    degrees = [(north / 1e7, east / 1e7) for north, east in places]
    expected = naive.place_loss(degrees, groups, released(common))
    # Where the mean direction of all places hangs by a hair, so does the second number.
    length = np.linalg.norm(made.vectors.mean(axis=0))
    found = made.squared_errors(common, labels)
    assert found[0] / 4 == pytest.approx(expected[0], abs=1e-6)
    if not 1e-9 < length < 1e-3:
        assert found[1] / 4 == pytest.approx(expected[1], abs=1e-6)
    placed = made.placed(common)[labels]
    assert np.square(made.coordinates() - placed).sum() == pytest.approx(found[0])


@given(grouped())
def test_kilometres_are_those_of_the_twin(case):
    places, labels = case
    made = attribute(places)
    common = made.common_values(*cut(labels), "mean", False, 1)
    moved = [
        naive.kilometres((north / 1e7, east / 1e7), released(common)[label])
        for (north, east), label in zip(places, labels, strict=True)
    ]
    found = made.kilometres(common, labels)
    assert found == pytest.approx((np.mean(moved), np.median(moved), max(moved)), abs=0.001)


def test_the_mean_of_neighbours_across_the_date_line_is_between_them():
    assert one(attribute(at((10, 179), (10, -179)))) == (pytest.approx(10.0015, abs=1e-4), 180)
    assert one(attribute(at((10, 179), (10, -178)))) == (pytest.approx(10.0034, abs=1e-4), -179.5)


def test_the_mean_of_places_around_a_pole_is_the_pole_at_longitude_0():
    assert one(attribute(at((89, 10), (89, 130), (89, 250)))) == (90, 0)
    assert one(attribute(at((-89.9, 30), (-89.9, 30))), digits=0) == (-90, 30)  # the longitude that all have
    assert one(attribute(at((90, 10), (90, 20)))) == (90, 0)
    assert one(attribute(at((90, 12.5), (90, 12.5)))) == (90, 12.5)


def test_antipodes_have_their_first_member_in_common():
    assert one(attribute(at((10, 20), (-10, -160)))) == (10, 20)
    assert one(attribute(at((90, 0), (-90, 0)))) == (90, 0)
    assert one(attribute(at((0, 0), (0, 90), (0, 180), (0, -90)))) == (0, 0)


def test_a_group_of_one_place_keeps_it():
    assert one(attribute(at((51.1234567, -0.7654321)) * 5)) == (51.1234567, -0.7654321)


def test_longitudes_are_written_as_they_came():
    places = at((10, 179), (10, -179))
    assert one(attribute(places, Form(("lat", "lon"), eastward=True)), digits=1) == (10.0, 180)
    assert one(attribute(at((10, -1)), Form(("lat", "lon"), eastward=True)), digits=1) == (10, 359)
    assert one(attribute(at((10, -0.01)), Form(("lat", "lon"), eastward=True)), digits=1) == (10, 0)
    assert one(attribute(at((10, 181))), digits=1) == (10, -179)


@pytest.mark.parametrize("aggregate", ["interval", "set", "share", "ancestor"])
def test_what_places_cannot_be_released_as_is_refused(aggregate):
    with pytest.raises(
        ShoalError, match=f"'lat, lon' is a place, which has no {aggregate}; choose one of mean, median"
    ):
        one(attribute(at((1, 2))), aggregate)


def test_digits_follow_from_the_spread_inside_groups_in_degrees():
    places = at((50, 8), (50.03, 8), (50.06, 8), (50.09, 8))
    made = attribute(places)
    total, power = made.squares(np.arange(4), np.array([0, 4]), "mean")
    squares = Fraction(total) * Fraction(4) ** power
    assert float(squares) == pytest.approx(2 * (0.045**2 + 0.015**2), rel=1e-6)
    assert made.digits_used(None, squares, 4, 4) == {"lat, lon": 2}  # 0.0335 / 2 = 0.017
    assert made.digits_used(None, squares, 4, 16) == {"lat, lon": 3}
    assert attribute(places, Form(("lat", "lon"), decimals=1)).digits_used(None, squares, 4, 4) == {"lat, lon": 1}
    assert made.digits_used(None, Fraction(0), 4, 4) == {"lat, lon": 7}
    assert made.digits_used(None, Fraction(10**6), 4, 4) == {"lat, lon": 0}
    assert made.digits_used({"lat": 1}, squares, 4, 4) == {"lat, lon": 1}
    assert made.digits_used(-1, squares, 4, 4) == {"lat, lon": -1}
    with pytest.warns(ShoalWarning, match="rounded to 5 digits, more than"):
        assert made.digits_used(5, squares, 4, 4) == {"lat, lon": 5}


def test_the_spread_across_the_date_line_is_small():
    total, power = attribute(at((0, 179.99), (0, -179.99))).squares(np.arange(2), np.array([0, 2]), "mean")
    assert total * 4.0**power == pytest.approx(2 * 0.01**2, rel=1e-6)


def test_digits_that_a_place_cannot_have_are_an_error():
    made = attribute(at((1, 2)), Form(("lat", "lon"), decimals=3))
    made.check_digits(5)  # for all columns: as many as it has
    assert made.digits_used(5, Fraction(0), 1, 1) == {"lat, lon": 3}
    for asked, words in [
        ({"lat, lon": 4}, "came with 3 decimals and cannot be released with 4"),
        ({"lat": 1, "lon": 2}, "have the same digits"),
        (-2, "cannot be rounded to -2 digits"),
    ]:
        with pytest.raises(ShoalError, match=words):
            made.check_digits(asked)


@given(grouped(), st.integers(-1, 7))
def test_released_places_have_their_decimals_and_are_on_the_globe(case, digits):
    places, labels = case
    made = attribute(places, Form(("lat", "lon"), ("float64", "float64"), 7, eastward=bool(digits % 2)))
    common = made.common_values(*cut(labels), "mean", False, digits)
    for name, low, high in (("lat", -90, 90), ("lon", 0 if digits % 2 else -180, 360 if digits % 2 else 180)):
        values = common.of(name)
        assert all(low <= float(text) <= high for text in values.text())
        assert all(len(text.partition(".")[2]) == max(0, digits) for text in values.text())
        assert [float(text) for text in values.text()] == values.floats().tolist()


def test_exact_places_have_all_digits_that_are_stored():
    made = attribute(at((50, 8), (51, 9)), Form(("lat", "lon"), ("integer", "integer"), 0))
    common = made.common_values(np.arange(2), np.array([0, 2]), "mean", True, None)
    assert (
        common.of("lat").text() == [str(round(naive.mean_direction([(50, 8), (51, 9)])[0], 7))] == ["50.5010707"]
    )


def test_a_profile_has_the_latitudes_and_the_distances():
    made = attribute(at((50, 8), (50, 8.1)))
    common = made.common_values(np.arange(2), np.array([0, 2]), "mean", False, 2)
    profile = made.profile(common, np.array([0, 0]))
    assert (profile.name, profile.before.tolist(), profile.after.tolist()) == ("lat", [50, 50], [50, 50])
    assert profile.notes == tuple(
        (f"{which} distance from original to released place", "3.57 km") for which in ("mean", "median", "largest")
    )


def test_distances_are_said_in_metres_or_kilometres():
    assert [as_text(far) for far in (0.0123, 0.9, 3.14159, 31.4159, 3141.59)] == [
        "12 m",
        "900 m",
        "3.14 km",
        "31.4 km",
        "3142 km",
    ]
