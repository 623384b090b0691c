"""Homes of a city that does not exist: a dense centre, suburbs around it, villages, and farms between them.

Many homes share a building, most of all in the centre. The same seed gives the same city.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.sphere import RADIUS

Float = NDArray[np.float64]

BARCELONA = (41.39, 2.17)
"""Where the city lies if nothing else is said: latitude and longitude."""

_SHARES = {"centre": 0.45, "suburbs": 0.35, "villages": 0.15, "farms": 0.05}
_SHARED = {
    "centre": 0.7,
    "suburbs": 0.3,
    "villages": 0.1,
    "farms": 0.0,
}  # homes that are in a building with others
_CENTRE = 2.0  # kilometres
_SUBURBS, _VILLAGES = 9, 24
_FARTHEST = 35.0  # kilometres from the middle to the last village


class City:
    """A city of homes; each call of `homes` draws others.

    Parameters
    ----------
    seed : int
        What everything depends on.
    middle : pair of float
        Latitude and longitude of the centre.
    """

    def __init__(self, seed: int = 0, middle: tuple[float, float] = BARCELONA) -> None:
        self.middle = middle
        self._random = np.random.default_rng(seed)
        self._suburbs = self._places(_SUBURBS, 4.0, 12.0)
        self._villages = self._places(_VILLAGES, 12.0, _FARTHEST)
        self._wide = {"suburbs": self._random.uniform(0.6, 1.5, _SUBURBS)}
        self._wide["villages"] = self._random.uniform(0.15, 0.5, _VILLAGES)
        self._buildings: dict[str, list[Float]] = {name: [] for name in _SHARES}

    def homes(self, count: int) -> Float:
        """So many homes, rows of latitude and longitude in degrees."""
        names = list(_SHARES)
        kinds = self._random.choice(len(names), count, p=list(_SHARES.values()))
        return self._degrees(np.array([self._home(names[kind]) for kind in kinds]).reshape(-1, 2))

    def _home(self, kind: str) -> Float:
        """A home in kilometres east and north of the middle: in a building that is there, or in a new one."""
        known = self._buildings[kind]
        if known and self._random.random() < _SHARED[kind]:
            return known[int(self._random.integers(len(known)))]
        place = self._new(kind)
        known.append(place)
        return place

    def _new(self, kind: str) -> Float:
        if kind == "centre":
            return np.asarray(self._random.normal(0.0, _CENTRE, 2))
        if kind == "farms":
            return np.asarray(self._places(1, 0.0, _FARTHEST + 5)[0])
        towns = self._suburbs if kind == "suburbs" else self._villages
        town = int(self._random.integers(len(towns)))
        return np.asarray(towns[town] + self._random.normal(0.0, self._wide[kind][town], 2))

    def _places(self, count: int, nearest: float, farthest: float) -> Float:
        """Points spread evenly over a ring around the middle."""
        far = np.sqrt(self._random.uniform(nearest**2, farthest**2, count))
        way = self._random.uniform(0, 2 * np.pi, count)
        return np.column_stack([far * np.cos(way), far * np.sin(way)])

    def _degrees(self, places: Float) -> Float:
        """Latitudes and longitudes of points in kilometres east and north of the middle, wherever that is."""
        far, way = np.hypot(*places.T) / RADIUS, np.arctan2(places[:, 0], places[:, 1])
        up = np.deg2rad(self.middle[0])
        latitude = np.arcsin(np.clip(np.sin(up) * np.cos(far) + np.cos(up) * np.sin(far) * np.cos(way), -1, 1))
        turn = np.arctan2(np.sin(way) * np.sin(far) * np.cos(up), np.cos(far) - np.sin(up) * np.sin(latitude))
        longitude = (self.middle[1] + np.rad2deg(turn) + 180) % 360 - 180
        return np.round(np.column_stack([np.rad2deg(latitude), longitude]), 6) + 0.0


def city_homes(count: int, seed: int = 0) -> list[tuple[float, float]]:
    """So many homes of the city of that seed, as pairs of latitude and longitude."""
    return [(float(latitude), float(longitude)) for latitude, longitude in City(seed).homes(count)]
