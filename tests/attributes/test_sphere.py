import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from samples import earthly
from shoal.attributes import sphere


def stored(places):
    return sphere.packed(*np.array(places, np.int64).T)


def in_degrees(places):
    return [(north / 1e7, east / 1e7) for north, east in places]


@given(earthly())
def test_places_are_packed_without_loss_and_rise_with_the_latitude(places):
    packed = stored(places)
    north, east = sphere.unpacked(packed)
    assert packed.dtype == np.int64
    assert north.tolist() == [first for first, _ in places]
    assert east.tolist() == [second % (360 * 10**7) for _, second in places]
    assert np.array_equal(north[np.argsort(packed, kind="stable")], np.sort(north))


@given(earthly())
def test_vectors_have_the_length_1_and_the_place_below_them_is_the_place(places):
    packed = stored(places)
    vectors = sphere.unit_vectors(packed)
    assert np.allclose(sphere.lengths(vectors), 1)
    north, east = sphere.unpacked(sphere.nearest_place(vectors * 3))
    assert np.array_equal(north, sphere.unpacked(packed)[0])
    elsewhere = np.abs(north) < sphere.POLE - 1000  # nearer to a pole a longitude has fewer digits than a double
    assert np.array_equal(east[elsewhere], sphere.unpacked(packed)[1][elsewhere])
    assert np.allclose(vectors, [naive.on_sphere(place) for place in in_degrees(places)], atol=1e-12)


@given(earthly(), earthly())
def test_the_great_circle_is_the_haversine_and_the_chord_rises_with_it(some, others):
    pairs = list(zip(some, others, strict=False))
    first, second = (sphere.unit_vectors(stored(part)) for part in zip(*pairs, strict=True))
    expected = [naive.haversine(*in_degrees(pair)) for pair in pairs]
    assert np.deg2rad(sphere.degrees_between(first, second)) == pytest.approx(expected, abs=5e-8)
    assert sphere.lengths(first - second) == pytest.approx(
        [naive.chord(*in_degrees(pair)) for pair in pairs], abs=1e-7
    )


def test_a_pole_is_one_point_whatever_its_longitude_is():
    poles = sphere.unit_vectors(stored([(90 * 10**7, 0), (90 * 10**7, 123 * 10**7), (90 * 10**7, -5)]))
    assert np.array_equal(np.abs(poles), [[0, 0, 1]] * 3)


@st.composite
def grouped(draw):
    """Places in groups."""
    places = draw(earthly())
    labels = draw(st.lists(st.integers(0, 2), min_size=len(places), max_size=len(places)))
    labels = np.unique(labels, return_inverse=True)[1]
    return places, labels


def cut(labels):
    return np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(labels))])


@given(grouped())
def test_mean_directions_are_those_of_the_twin(case):
    places, labels = case
    directions, somewhere = sphere.mean_directions(sphere.unit_vectors(stored(places)), *cut(labels))
    for label, (direction, known) in enumerate(zip(directions, somewhere, strict=True)):
        members = [place for place, group in zip(in_degrees(places), labels, strict=True) if group == label]
        expected = naive.mean_direction(members)
        assert known == (expected is not None)
        if expected is not None:
            assert math.dist(direction, naive.on_sphere(expected)) < 1e-6


@given(grouped())
def test_medoids_are_those_of_the_twin(case):
    places, labels = case
    found = sphere.medoids(sphere.unit_vectors(stored(places)), *cut(labels))
    for label, record in enumerate(found):
        members = [place for place, group in zip(in_degrees(places), labels, strict=True) if group == label]
        best = sum(naive.chord(naive.medoid(members), other) ** 2 for other in members)
        assert labels[record] == label
        assert sum(naive.chord(in_degrees(places)[record], other) ** 2 for other in members) <= best + 1e-9


def test_of_medoids_that_are_as_good_the_first_one_counts():
    places = stored([(10**7, 0), (-(10**7), 180 * 10**7), (0, 50 * 10**7), (0, 51 * 10**7)])
    found = sphere.medoids(sphere.unit_vectors(places), np.array([0, 1, 2, 3]), np.array([0, 2, 4]))
    assert found.tolist() == [0, 2]


@given(earthly(), st.integers(-1, 7))
def test_rounding_moves_by_half_a_unit_at_most_and_stays_on_the_earth(places, decimals):
    packed = stored(places)
    rounded = sphere.rounded(packed, decimals)
    step = 10 ** (7 - decimals)
    for new, old in zip(sphere.unpacked(rounded), sphere.unpacked(packed), strict=True):
        apart = np.abs(new - old)
        assert (np.minimum(apart, sphere.TURN - apart) * 2 <= step).all()
        assert (new % step == 0).all()
    assert (np.abs(sphere.unpacked(rounded)[0]) <= sphere.POLE).all()
    assert (sphere.unpacked(rounded)[1] < sphere.TURN).all()
    assert np.array_equal(sphere.rounded(rounded, decimals), rounded)


def test_longitudes_are_rounded_across_the_zero_meridian():
    north, east = sphere.unpacked(sphere.rounded(stored([(0, -4), (0, 3_599_999_999)]), 1))
    assert north.tolist() == east.tolist() == [0, 0]
