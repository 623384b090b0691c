"""Homes: checked, as points of the unit sphere, sealed for the database, and centroids as they are published."""

import struct
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from shoal.locations.errors import RefusedError
from shoal.locations.keys import KeyRing

Float = NDArray[np.float64]

_HOME = struct.Struct("<dd")
_NOWHERE = 1e-6  # a mean of unit vectors that is shorter than this has no direction


def checked(latitude: object, longitude: object) -> tuple[float, float]:
    """A latitude and a longitude in degrees. An error does not repeat them."""
    found = []
    for name, value, limit in (("latitude", latitude, 90), ("longitude", longitude, 180)):
        whole = isinstance(value, int | float) and not isinstance(value, bool)
        if not whole or not abs(value) <= limit:  # type: ignore[arg-type]  # nor NaN
            raise RefusedError(f"{name} must be a number of degrees from -{limit} to {limit}")
        found.append(float(value) + 0.0)  # type: ignore[arg-type]
    return found[0], found[1]


def points(degrees: Float) -> Float:
    """Rows of latitude and longitude as points of the unit sphere; a pole is one point."""
    latitude, longitude = np.deg2rad(degrees).T
    across = np.where(np.abs(degrees[:, 0]) == 90, 0.0, np.cos(latitude))
    return np.column_stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)])


def row(place: tuple[float, float]) -> Float:
    """One place as a table of one row."""
    return np.array([place])


def published(middle: Float, digits: int) -> tuple[float, float] | None:
    """The latitude and longitude below a mean of points, rounded; none where the mean has no direction."""
    x, y, z = (float(part) for part in middle)
    across = float(np.hypot(x, y))
    if np.hypot(across, z) < _NOWHERE:
        return None
    latitude = round(float(np.rad2deg(np.arctan2(z, across))), digits) + 0.0
    longitude = round(float(np.rad2deg(np.arctan2(y, x))), digits) + 0.0
    if abs(latitude) == 90:
        longitude = 0.0
    return latitude, 180.0 if longitude == -180 else longitude


def rounded_costs(costs: Float, centres: Float, digits: int) -> Float:
    """Costs as coarse as the centroids are published: exact ones would draw borders through single homes.

    A cost of one unit moves the border between two cells at a usual distance by one step of the last digit.
    """
    if len(centres) < 2:
        return np.zeros(len(centres))
    widest = np.sqrt(np.square(centres - centres.mean(axis=0)).sum(axis=1).mean())
    unit = 2 * np.deg2rad(10.0**-digits) * max(float(widest) / np.sqrt(len(centres)), np.deg2rad(10.0**-digits))
    return np.asarray(np.rint(costs / unit) * unit)


def seal(ring: KeyRing, latitude: float, longitude: float, digest: bytes) -> bytes:
    """A home sealed for the device of that digest."""
    return ring.seal(_HOME.pack(latitude, longitude), owner_of(digest))


def opened(ring: KeyRing, rows: Iterable[tuple[bytes, int, bytes]]) -> Float:
    """The homes of rows of (sealed, key, digest), as points of the unit sphere."""
    degrees = [_HOME.unpack(ring.open(sealed, key, owner_of(digest))) for sealed, key, digest in rows]
    return points(np.array(degrees, dtype=np.float64).reshape(-1, 2))


def owner_of(digest: bytes) -> str:
    """What a sealed home is bound to."""
    return "device:" + bytes(digest).hex()
