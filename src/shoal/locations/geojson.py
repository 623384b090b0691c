"""Cells and their centroids as GeoJSON (RFC 7946), from centroids and costs only.

A cell is where the rule for newcomers sends a home: |x - c|² + cost is least there among the cells of its class.
Sizes are not said, only that they are k or more. `power_cells.py` finds the outlines and says how far a cell at
the rim is drawn; `rings.py` cuts them at the antimeridian.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.sphere import RADIUS
from shoal.locations.errors import RefusedError
from shoal.locations.homes import points
from shoal.locations.power_cells import Rule, outlines
from shoal.locations.rings import area, crosses, degrees, polygons

Float = NDArray[np.float64]
Int = NDArray[np.int64]

DIGITS = 6
"""Decimals of a degree of drawn borders: about ten centimetres."""

_GRID = 64  # a box is looked at in so many steps each way


class Cell(Protocol):
    """What is known of a cell outside the service."""

    @property
    def id(self) -> int: ...  # noqa: D102
    @property
    def k(self) -> int: ...  # noqa: D102
    @property
    def latitude(self) -> float: ...  # noqa: D102
    @property
    def longitude(self) -> float: ...  # noqa: D102
    @property
    def cost(self) -> float: ...  # noqa: D102


def feature_collection(cells: Iterable[Cell], box: Sequence[float] | None = None) -> dict[str, Any]:
    """Two features of every cell: its outline, then its centroid.

    The properties of an outline are `cell` (its number), `k`, `size` ("5 or more"), `area_km2`, `reach_km` (no
    part of the cell is drawn farther from its centroid) and `open` (the reach ends it somewhere). A cell that no
    place belongs to has no geometry. With a box (west, south, east, north; west > east where it crosses the
    antimeridian) only cells are given whose centroid is in the box, or that win at a point of a fine grid over it.
    The outlines are the same with a box and without.
    """
    classes: dict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        classes[cell.k].append(cell)
    features: list[dict[str, Any]] = []
    bounds = None if box is None else checked_box(box)
    for k in sorted(classes):
        features += _features(sorted(classes[k], key=lambda cell: cell.id), bounds)
    return {"type": "FeatureCollection", "features": features}


def checked_box(box: Sequence[float]) -> tuple[float, float, float, float]:
    """West, south, east and north in degrees."""
    if len(box) != 4 or not np.isfinite(np.asarray(box, np.float64)).all():
        raise RefusedError("a box is four numbers: west, south, east, north")
    west, south, east, north = (float(each) for each in box)
    if not (-180 <= west <= 180 and -180 <= east <= 180 and -90 <= south <= north <= 90):
        raise RefusedError("a box lies between -180 and 180 degrees east, and south of it is less than north")
    return west, south, east, north


def _features(cells: list[Cell], box: tuple[float, float, float, float] | None) -> list[dict[str, Any]]:
    """The features of one class; cells with the lowest numbers come first, and win between equals."""
    places = np.array([[cell.latitude, cell.longitude] for cell in cells])
    centroids, costs = points(places), np.array([cell.cost for cell in cells])
    wanted = np.arange(len(cells)) if box is None else _seen(places, centroids, costs, box)
    found = outlines(centroids, costs, wanted)
    drawn = _geometries(found.points, found.starts, found.cells)
    features: list[dict[str, Any]] = []
    for row in wanted.tolist():
        cell = cells[row]
        known = {"cell": cell.id, "k": cell.k, "size": f"{cell.k} or more"}
        shape, share = drawn.get(row, (None, 0.0))
        more = {
            "area_km2": _short(share * RADIUS**2),
            "reach_km": _short(float(found.reach[row]) * RADIUS),
            "open": bool(found.open[row]),
        }
        place = {"type": "Point", "coordinates": [cell.longitude, cell.latitude]}
        features.append(_feature(f"cell-{cell.id}", {**known, **more}, shape))
        features.append(_feature(f"centroid-{cell.id}", known, place))
    return features


def _feature(name: str, known: dict[str, Any], geometry: dict[str, Any] | None) -> dict[str, Any]:
    return {"type": "Feature", "id": name, "properties": known, "geometry": geometry}


def _seen(places: Float, centroids: Float, costs: Float, box: tuple[float, float, float, float]) -> Int:
    """The cells that a box shows."""
    west, south, east, north = box
    wide = (east - west) % 360 or (360.0 if east != west else 0.0)
    here = (places[:, 0] >= south) & (places[:, 0] <= north) & ((places[:, 1] - west) % 360 <= wide)
    steps = np.linspace(0, 1, _GRID + 1)
    latitude, longitude = np.meshgrid(south + steps * (north - south), west + steps * wide)
    grid = points(np.column_stack([latitude.ravel(), longitude.ravel()]))
    here[Rule(centroids, costs).winners(grid)] = True
    return np.flatnonzero(here)


def _geometries(ring_points: Float, starts: Int, owners: Int) -> dict[int, tuple[dict[str, Any], float]]:
    """The geometry and the area on the unit sphere of each cell that is somewhere."""
    rings: dict[int, list[Float]] = defaultdict(list)
    areas: dict[int, float] = defaultdict(float)
    for owner, first, last in zip(owners.tolist(), starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        ring = degrees(ring_points[first:last])
        rings[owner].append(ring)
        areas[owner] += area(ring)
    found = {}
    for owner, parts in rings.items():
        single = len(parts) == 1 and not crosses(parts[0])
        shapes = [[parts[0].tolist()]] if single else polygons(parts)
        written = [kept for kept in (_written(shape) for shape in shapes) if kept]
        if written:
            alone = len(written) == 1
            kind, coordinates = ("Polygon", written[0]) if alone else ("MultiPolygon", written)
            found[owner] = ({"type": kind, "coordinates": coordinates}, max(areas[owner], 0.0))
    return found


def _written(shape: list[Any]) -> list[list[list[float]]]:
    """A polygon with rounded coordinates and closed rings; empty where nothing is left of its exterior."""
    rings = []
    for number, ring in enumerate(shape):
        rounded = [[round(x, DIGITS) + 0.0, round(y, DIGITS) + 0.0] for x, y in ring]
        kept = [here for here, before in zip(rounded, [rounded[-1], *rounded[:-1]], strict=True) if here != before]
        if len(kept) >= 3 and abs(_doubled(kept)) > 0:
            rings.append([*kept, list(kept[0])])
        elif number == 0:
            return []
    return rings


def _doubled(ring: list[list[float]]) -> float:
    """Twice the area of a ring on a flat map."""
    x0, y0 = ring[0]
    return sum(
        (a - x0) * (d - y0) - (c - x0) * (b - y0)
        for (a, b), (c, d) in zip(ring, [*ring[1:], ring[0]], strict=True)
    )


def _short(value: float) -> float:
    """A figure with four digits."""
    return float(f"{value:.4g}")
