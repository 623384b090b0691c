"""Places on the earth as a sphere: packed into one integer, as unit vectors, and what lies between them.

The straight line through the earth between two places (the chord) is the longer, the longer the way over its
surface (the great circle) is. So ordinary distances between unit vectors have the order of the true ones, and
neither the date line nor the poles are special.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.rounding import nearest_even
from shoal.attributes.weighing import Weights, means

Float = NDArray[np.float64]
Int = NDArray[np.int64]

RADIUS = 6371.0088
"""Kilometres from the centre of the earth to its surface, on average (IUGG)."""

PLACES = 7
"""The decimals of a degree that are stored: about a centimetre."""

UNIT = 10**PLACES
"""A degree."""

TURN = 360 * UNIT
POLE = 90 * UNIT
_HALF = 32  # bits
_NOWHERE = 1e-6  # a mean of unit vectors that is shorter than this has no direction
_ALIKE = 12  # decimals of sums of squared distances that are told apart


def packed(latitude: Int, longitude: Int) -> Int:
    """Both in units: the latitude in the upper half of an integer, so that integers rise with it."""
    return np.asarray((latitude << _HALF) + longitude % TURN)


def unpacked(places: Int) -> tuple[Int, Int]:
    """Latitudes, and longitudes from 0 to 360 degrees, in units."""
    return places >> _HALF, places & ((1 << _HALF) - 1)


def unit_vectors(places: Int) -> Float:
    """Places as points of a sphere of radius 1; a pole is one point whatever its longitude is."""
    units = unpacked(places)
    latitude, longitude = (np.deg2rad(part / UNIT) for part in units)
    across = np.where(np.abs(units[0]) == POLE, 0.0, np.cos(latitude))
    return np.column_stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)])


def nearest_place(vectors: Float) -> Int:
    """The places below vectors of any length but 0."""
    x, y, z = vectors.T
    latitude, longitude = np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)
    units = (np.rint(np.rad2deg(angle) * UNIT).astype(np.int64) for angle in (latitude, longitude))
    return packed(*units)


def degrees_between(first: Float, second: Float) -> Float:
    """The great circle between unit vectors, in degrees; as exact for neighbours as for antipodes."""
    apart, along = first - second, first + second
    return np.asarray(np.rad2deg(2 * np.arctan2(lengths(apart), lengths(along))))


def lengths(vectors: Float) -> Float:
    """Of each vector."""
    return np.asarray(np.sqrt(np.square(vectors).sum(axis=1)))


def towards(middle: Float) -> Float:
    """The unit vector of a mean of unit vectors; the centre of the earth where these cancel out."""
    length = float(np.sqrt(np.square(middle).sum()))
    return middle / length if length >= _NOWHERE else np.zeros(3)


def mean_directions(
    vectors: Float, order: Int, starts: Int, counts: Weights | None = None
) -> tuple[Float, NDArray[np.bool_]]:
    """The normalised sum of the unit vectors of each group, and where there is one.

    Group g holds order[starts[g]:starts[g + 1]]; `counts` says how often each place in `order` counts, once where
    it is None.
    """
    middles = means(vectors, order, starts, counts)
    long = lengths(middles)
    somewhere = long >= _NOWHERE
    return middles / np.where(somewhere, long, 1.0)[:, None], somewhere


def medoids(vectors: Float, order: Int, starts: Int, counts: Weights | None = None) -> Int:
    """The record of each group whose squared chords to all others have the least sum; the first of several.

    This is the record that is nearest to the mean of the group's vectors.
    """
    sizes = np.diff(starts)
    middles = np.repeat(means(vectors, order, starts, counts), sizes, axis=0)
    near = np.round((vectors[order] * middles).sum(axis=1), _ALIKE)
    best = np.repeat(np.maximum.reduceat(near, starts[:-1]), sizes)
    return firsts_where(near == best, order, starts)


def firsts_where(chosen: NDArray[np.bool_], order: Int, starts: Int) -> Int:
    """The first record of each group that is chosen; `chosen` is in the order of the groups."""
    place = np.where(chosen, np.arange(len(order)), len(order))
    return np.asarray(order[np.minimum.reduceat(place, starts[:-1])])


def rounded(places: Int, decimals: int) -> Int:
    """Places to so many decimals of a degree, at least -1; ties to even. They stay on the earth."""
    step = np.array(10 ** (PLACES - decimals))
    latitude, longitude = (nearest_even(part, step, 0) * step for part in unpacked(places))
    return packed(latitude, longitude)
