"""What it costs to stand for a point by another one, and the point that stands for many at the least cost.

A distortion is a distance, or a function of one, that a quantizer adds up. Its `centroid` is the generalised
centroid: the point whose costs to the points of a cell have the least sum (the centroid condition, Proposition 1
of Rebollo-Monedero, Forné, Pallarès and Parra-Arnau 2013). Points are rows of float64.

| name | cost of x at y | centroid |
|---|---|---|
| `"squared"` | squared Euclidean distance | mean, from an exact sum |
| `"euclidean"` | Euclidean distance | geometric median |
| `"manhattan"` | sum of absolute differences | median of each coordinate |
| `"great-circle"` | kilometres between (latitude, longitude) in degrees | median on the globe |
| a square table | the entry for two categories, whose codes are the points | the category with the least sum |
| a function d(x, y) | what it returns | the member with the least sum |
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import fsum
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError, nearest_name
from shoal.partition import LARGEST

Float = NDArray[np.float64]

EARTH_KM = 6371.0088
"""The mean radius of the Earth."""

_ENTRIES = 1 << 20  # costs that are held at a time
_TRIED = 32  # points that a function is tried on before any work
_ROUNDS = 1000  # steps towards a median; a few are enough, but where points lie on a line
_PRECISE = 1e-13  # relative step at which a median is found


@runtime_checkable
class Distortion(Protocol):
    """What a quantizer needs to know of a distortion."""

    name: ClassVar[str]

    def check(self, points: ArrayLike) -> Float:
        """The points as rows of float64, if this distortion can be taken of them."""
        ...

    def costs(self, points: Float, centres: Float) -> Float:
        """The cost of each point at each centre, as an array of a row for each point."""
        ...

    def centroid(self, points: Float, weights: Float | None = None) -> Float:
        """The point with the least sum of costs, each times its weight."""
        ...

    def form(self) -> Any:
        """What `distortion_of` makes this distortion from, as JSON has it."""
        ...


def checked_points(points: ArrayLike, name: str = "points") -> Float:
    """Rows of finite float64; a fresh or read-only view is fine, they are not changed."""
    try:
        rows = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ShoalError(f"{name} must be numbers: {error}") from error
    if rows.ndim != 2 or 0 in rows.shape:
        raise ShoalError(f"{name} must be rows of numbers, at least one, not an array of the shape {rows.shape}")
    wrong = np.flatnonzero(~(np.abs(rows) <= LARGEST).all(axis=1))
    if len(wrong):
        raise ShoalError(
            f"{name} must be finite numbers up to {LARGEST:g}, and row {wrong[0]} is {rows[wrong[0]].tolist()}"
        )
    return np.ascontiguousarray(rows)


def checked_weights(weights: ArrayLike | None, n: int) -> Float:
    """A weight for each of n points, 1 where none are given."""
    if weights is None:
        return np.ones(n)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (n,) or not (np.isfinite(given) & (given >= 0)).all() or not given.any():
        raise ShoalError(f"weights must be {n} numbers of at least 0, one for each point, not all 0")
    return given


class Plain:
    """What distortions of any vectors share."""

    name: ClassVar[str]

    def check(self, points: ArrayLike) -> Float:
        """Any finite numbers will do."""
        return checked_points(points)

    def form(self) -> Any:
        """Its name."""
        return self.name


@dataclass(frozen=True)
class Squared(Plain):
    """The squared Euclidean distance."""

    name: ClassVar[str] = "squared"

    def costs(self, points: Float, centres: Float) -> Float:
        """Summed attribute by attribute, as the kernels do."""
        total = np.zeros((len(points), len(centres)))
        for column, place in zip(points.T, centres.T, strict=True):
            difference = column[:, None] - place
            difference *= difference
            total += difference
        return total

    def centroid(self, points: Float, weights: Float | None = None) -> Float:
        """The mean: an exact sum, divided once."""
        if weights is None:
            from shoal.kernels.sums.exact import group_means

            rows = np.ascontiguousarray(points)
            return np.asarray(group_means(rows, np.arange(len(rows)), np.array([0, len(rows)]))[0])
        mass = fsum(weights)
        return np.array([fsum(column * weights) / mass for column in points.T])


@dataclass(frozen=True)
class Euclidean(Plain):
    """The Euclidean distance."""

    name: ClassVar[str] = "euclidean"

    def costs(self, points: Float, centres: Float) -> Float:
        """Roots of squared distances."""
        squares = Squared().costs(points, centres)
        return np.sqrt(squares, out=squares)

    def centroid(self, points: Float, weights: Float | None = None) -> Float:
        """The geometric median."""
        mass = checked_weights(weights, len(points))
        if points.shape[1] == 1:
            return np.array([weighted_median(points[:, 0], mass)])
        return geometric_median(points, mass)


@dataclass(frozen=True)
class Manhattan(Plain):
    """The sum of absolute differences."""

    name: ClassVar[str] = "manhattan"

    def costs(self, points: Float, centres: Float) -> Float:
        """Summed attribute by attribute."""
        total = np.zeros((len(points), len(centres)))
        for column, place in zip(points.T, centres.T, strict=True):
            total += np.abs(column[:, None] - place)
        return total

    def centroid(self, points: Float, weights: Float | None = None) -> Float:
        """The median of each coordinate; between the two middle ones where there are two."""
        mass = checked_weights(weights, len(points))
        return np.array([weighted_median(column, mass) for column in points.T])


@dataclass(frozen=True)
class GreatCircle(Plain):
    """Kilometres along the globe between (latitude, longitude) in degrees."""

    name: ClassVar[str] = "great-circle"

    def check(self, points: ArrayLike) -> Float:
        """Two columns: latitudes from -90 to 90, longitudes from -180 to 360."""
        rows = checked_points(points)
        if rows.shape[1] != 2:
            raise ShoalError(
                f"great-circle points are (latitude, longitude) in degrees, not {rows.shape[1]} columns"
            )
        wrong = np.flatnonzero((np.abs(rows[:, 0]) > 90) | (rows[:, 1] < -180) | (rows[:, 1] > 360))
        if len(wrong):
            raise ShoalError(
                f"row {wrong[0]} is {rows[wrong[0]].tolist()}, which is no (latitude, longitude) in degrees; "
                "latitudes go from -90 to 90, longitudes from -180 to 360"
            )
        return rows

    def costs(self, points: Float, centres: Float) -> Float:
        """By haversines, which are precise for near points and, to about a metre, for opposite ones."""
        latitudes, longitudes = np.radians(points).T
        to_latitudes, to_longitudes = np.radians(centres).T
        across = np.sin((longitudes[:, None] - to_longitudes) / 2) ** 2
        across *= np.cos(latitudes)[:, None] * np.cos(to_latitudes)
        across += np.sin((latitudes[:, None] - to_latitudes) / 2) ** 2
        return np.asarray(2 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(across, 1.0))))

    def centroid(self, points: Float, weights: Float | None = None) -> Float:
        """The point with the least sum of distances, by Weiszfeld's steps in the tangent plane.

        The search starts from the spherical mean (the mean vector, normalised) and from the best of the points,
        and the better end is kept. Of points within an eighth of the globe's circumference of each other the sum
        has one minimum; of points all over the globe this may be a local one.
        """
        mass = checked_weights(weights, len(points))
        vectors = on_sphere(points)
        tried = np.linspace(0, len(points) - 1, min(len(points), 256)).astype(int)
        sums = [total_cost(self, points, mass, place) for place in points[tried]]
        best = int(tried[np.argmin(sums)])
        ends = [spherical_median(vectors, mass, vectors[best])]
        mean = mass @ vectors
        if np.linalg.norm(mean) > 1e-9 * mass.sum():
            ends.append(spherical_median(vectors, mass, mean / np.linalg.norm(mean)))
        members = points[[best, *(int(np.argmax(vectors @ end)) for end in ends)]]
        places = [*members, *map(from_sphere, ends)]
        return np.array(places[int(np.argmin([total_cost(self, points, mass, place) for place in places]))])


@dataclass(frozen=True, eq=False)
class Table:
    """Distances between categories; points are their codes, from 0 on, in one column."""

    entries: Float
    name: ClassVar[str] = "table"

    @classmethod
    def of(cls, value: ArrayLike) -> "Table":
        """A table, if it is one of distances."""
        entries = np.array(value, dtype=np.float64)
        if entries.ndim != 2 or entries.shape[0] != entries.shape[1] or not entries.size:
            raise ShoalError(f"a table of distances has as many rows as columns, not the shape {entries.shape}")
        if not np.isfinite(entries).all() or entries.min() < 0:
            a, b = np.argwhere(~(np.isfinite(entries) & (entries >= 0)))[0]
            raise ShoalError(
                f"distances must be finite and at least 0; from category {a} to {b} it is {entries[a, b]}"
            )
        if not np.array_equal(entries, entries.T):
            a, b = np.argwhere(entries != entries.T)[0]
            raise ShoalError(
                f"the table is not symmetric: from category {a} to {b} it is {entries[a, b]}, back {entries[b, a]}"
            )
        if entries.diagonal().any():
            a = int(np.flatnonzero(entries.diagonal())[0])
            raise ShoalError(f"the distance of category {a} to itself is {entries[a, a]}; it must be 0")
        entries.flags.writeable = False
        return cls(entries)

    def check(self, points: ArrayLike) -> Float:
        """One column of codes."""
        rows = checked_points(points)
        if rows.shape[1] != 1:
            raise ShoalError(
                f"points for a table of distances are one column of codes, not {rows.shape[1]} columns"
            )
        wrong = np.flatnonzero(
            (rows[:, 0] != np.floor(rows[:, 0])) | (rows[:, 0] < 0) | (rows[:, 0] >= len(self.entries))
        )
        if len(wrong):
            raise ShoalError(
                f"row {wrong[0]} is {rows[wrong[0], 0]:g}, which is no code of the table's categories; "
                f"they go from 0 to {len(self.entries) - 1}"
            )
        return rows

    def costs(self, points: Float, centres: Float) -> Float:
        """Looked up."""
        return self.entries[points[:, 0].astype(np.int64)[:, None], centres[:, 0].astype(np.int64)]

    def centroid(self, points: Float, weights: Float | None = None) -> Float:
        """The category with the least sum of distances, of all in the table; the lowest code of equals."""
        mass = checked_weights(weights, len(points))
        held = np.bincount(points[:, 0].astype(np.int64), weights=mass, minlength=len(self.entries))
        return np.array([float(np.argmin(self.entries @ held))])

    def form(self) -> Any:
        """The table itself."""
        return {"table": self.entries.tolist()}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and np.array_equal(self.entries, other.entries)

    def __hash__(self) -> int:
        return hash(self.entries.tobytes())


@dataclass(frozen=True)
class Function:
    """A user's function of two vectors."""

    function: Callable[[Float, Float], float]
    name: ClassVar[str] = "function"

    def check(self, points: ArrayLike) -> Float:
        """Tries the function on some of the points, so that a bad one is found before any work."""
        rows = checked_points(points)
        tried = rows[np.linspace(0, len(rows) - 1, min(len(rows), _TRIED)).astype(int)]
        self.costs(tried, tried)
        return rows

    def costs(self, points: Float, centres: Float) -> Float:
        """One call for each point and centre."""
        total = np.empty((len(points), len(centres)))
        for i, point in enumerate(points):
            for j, centre in enumerate(centres):
                total[i, j] = self._cost(point, centre)
        return total

    def _cost(self, point: Float, centre: Float) -> float:
        value = self.function(point, centre)
        try:
            cost = float(value)
        except (TypeError, ValueError):
            cost = np.nan
        if not 0 <= cost < np.inf:
            raise ShoalError(
                f"the distance function returned {value!r} for {point.tolist()} and {centre.tolist()}; "
                "it must return finite numbers of at least 0"
            )
        return cost

    def centroid(self, points: Float, weights: Float | None = None) -> Float:
        """The member with the least sum of costs, the first of equals."""
        mass = checked_weights(weights, len(points))
        sums = [total_cost(self, points, mass, place) for place in points]
        return np.array(points[int(np.argmin(sums))])

    def form(self) -> Any:
        """There is none."""
        raise ShoalError("a distance function cannot be written down; use a distortion with a name, or a table")


NAMED: dict[str, Distortion] = {kind.name: kind for kind in (Squared(), Euclidean(), Manhattan(), GreatCircle())}


def distortion_of(value: object) -> Distortion:
    """The distortion that a name, a table or a function stands for."""
    if isinstance(value, str):
        if value in NAMED:
            return NAMED[value]
        hint = nearest_name(value, NAMED)
        raise ShoalError(
            f"distortion must be one of {', '.join(NAMED)}, a table or a function, not {value!r}{hint}"
        )
    if isinstance(value, Distortion):
        return value
    if isinstance(value, dict) and set(value) == {"table"}:
        return distortion_of(value["table"])
    if callable(value):
        return Function(value)
    try:
        return Table.of(value)  # type: ignore[arg-type]
    except (TypeError, ValueError) as error:
        if isinstance(error, ShoalError):
            raise
        raise ShoalError(
            f"distortion must be one of {', '.join(NAMED)}, a table or a function, not {value!r}"
        ) from error


def cost_chunks(distortion: Distortion, points: Float, centres: Float) -> Iterator[tuple[slice, Float]]:
    """The costs of all points at all centres, some rows at a time."""
    step = max(1, _ENTRIES // len(centres))
    for start in range(0, len(points), step):
        rows = slice(start, min(start + step, len(points)))
        yield rows, distortion.costs(points[rows], centres)


def total_cost(distortion: Distortion, points: Float, weights: Float, place: Float) -> float:
    """The sum of the weighted costs at one place."""
    return float(weights @ distortion.costs(points, place[None, :])[:, 0])


def weighted_median(values: Float, weights: Float) -> float:
    """Half of the weight on each side; the middle where two values do as well."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    half = below[-1] / 2
    low = int(np.searchsorted(below, half, side="left"))
    high = int(np.searchsorted(below, half, side="right"))
    return float(values[order[low]] / 2 + values[order[min(high, len(values) - 1)]] / 2)


def geometric_median(points: Float, weights: Float) -> Float:
    """The point with the least weighted sum of Euclidean distances.

    Steps of Weiszfeld, with the correction of Vardi and Zhang (2000) at a data point, or of Newton where they
    lead lower. A data point is tried for itself: it is the median if the pull of all others is at most its weight.
    """
    origin = weights @ points / weights.sum()
    scale = np.abs(points - origin).max()
    if scale == 0:
        return np.array(points[0])
    rows = (points - origin) / scale
    at = np.zeros(rows.shape[1])
    for _ in range(_ROUNDS):
        distance = np.sqrt(((rows - at) ** 2).sum(axis=1))
        nearest = int(np.argmin(distance))
        own, pull, _ = pull_of(rows, weights, rows[nearest])
        if np.linalg.norm(pull) <= own:
            return np.array(points[nearest])
        own, pull, hessian = pull_of(rows, weights, at)
        strength = float(np.linalg.norm(pull))
        if strength <= max(own, _PRECISE * weights.sum()):
            break
        away = distance > 0
        steps = [pull * (1 - own / strength) / (weights[away] / distance[away]).sum()]
        if own == 0:
            steps.append(np.linalg.lstsq(hessian, pull)[0])
        sums = [weights @ np.sqrt(((rows - at - step) ** 2).sum(axis=1)) for step in steps]
        step = steps[int(np.argmin(sums))]
        at = at + step
        if np.abs(step).max() <= _PRECISE:
            break
    return np.asarray(at * scale + origin)


def pull_of(rows: Float, weights: Float, at: Float) -> tuple[float, Float, Float]:
    """At a place: the weight there, the sum of weighted unit vectors to all others, and the Hessian of the sum."""
    towards = rows - at
    distance = np.sqrt((towards**2).sum(axis=1))
    away = distance > 0
    unit = towards[away] / distance[away, None]
    ratio = weights[away] / distance[away]
    hessian = ratio.sum() * np.eye(rows.shape[1]) - (unit * ratio[:, None]).T @ unit
    return float(weights[~away].sum()), weights[away] @ unit, hessian


def spherical_median(vectors: Float, weights: Float, at: Float) -> Float:
    """Weiszfeld's steps on the unit sphere, from a start to where the weighted sum of angles stops falling."""
    best = np.inf
    for _ in range(_ROUNDS):
        cosine = vectors @ at
        towards = vectors - cosine[:, None] * at
        sine = np.sqrt((towards**2).sum(axis=1))
        angle = np.arctan2(sine, cosine)
        total = float(weights @ angle)
        away = sine > 1e-15
        if not away.any() or total > best * (1 + 1e-15):
            break
        best = total
        pull = (weights[away] / sine[away]) @ towards[away]
        strength, own = float(np.linalg.norm(pull)), float(weights[~away & (cosine > 0)].sum())
        if strength <= own:
            break
        step = pull * (1 - own / strength) / (weights[away] / angle[away]).sum()
        length = float(np.linalg.norm(step))
        at = np.cos(length) * at + np.sin(length) * step / length
        at /= np.linalg.norm(at)
        if length <= _PRECISE:
            break
    return at


def on_sphere(points: Float) -> Float:
    """Unit vectors of (latitude, longitude) in degrees."""
    latitude, longitude = np.radians(points).T
    return np.stack(
        [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)], axis=1
    )


def from_sphere(vector: Float) -> Float:
    """The (latitude, longitude) in degrees of a vector."""
    x, y, z = vector
    return np.degrees([np.arctan2(z, np.hypot(x, y)), np.arctan2(y, x)])
