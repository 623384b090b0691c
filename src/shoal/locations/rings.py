"""Rings on the sphere as polygons of longitude and latitude (RFC 7946): cut at the antimeridian, whole at poles.

A ring has its inside on the left. On the map of the whole earth, a rectangle, a ring that crosses the antimeridian
falls apart into chains from edge to edge; the end of each is joined to the beginning of the next along the edge of
the rectangle, counterclockwise. So a ring around a pole gets that pole's edge of the rectangle.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Ring = list[tuple[float, float]]
"""Longitudes and latitudes in degrees; the first is not repeated."""

_SEAM = 1e-9  # degrees beside the antimeridian that count as its eastern side
_POLE = 1e-9  # radians
_CORNERS = [(180.0, (180.0, 90.0)), (540.0, (-180.0, 90.0)), (720.0, (-180.0, -90.0)), (1080.0, (180.0, -90.0))]


def degrees(points: Float) -> Float:
    """Longitudes and latitudes of unit vectors in the order of a ring; none lies on the antimeridian or a pole.

    A point on the antimeridian is moved beside it by a tenth of a millimetre, one at a pole to the side of the
    way.
    """
    across = np.hypot(points[:, 0], points[:, 1])
    longitude = np.rad2deg(np.arctan2(points[:, 1], points[:, 0]))
    for row in np.flatnonzero(across < _POLE).tolist():
        longitude[row] = (longitude[row - 1] + 270) % 360 - 180  # the first one comes after the last
    longitude[np.abs(longitude) > 180 - _SEAM] = _SEAM - 180
    return np.column_stack([longitude, np.rad2deg(np.arctan2(points[:, 2], across))])


def crosses(ring: Float) -> bool:
    """Whether a ring of longitudes and latitudes crosses the antimeridian."""
    return bool((np.abs(np.diff(ring[:, 0], append=ring[:1, 0])) > 180).any())


def area(ring: Float) -> float:
    """What is on the left of a ring of longitudes and latitudes on the unit sphere; negative for a hole."""
    longitude, height = np.deg2rad(ring[:, 0]), np.sin(np.deg2rad(ring[:, 1]))
    turned = np.diff(longitude, append=longitude[:1])
    turned = np.mod(turned + np.pi, 2 * np.pi) - np.pi
    after = np.roll(height, -1)
    base = height[0] if abs(turned.sum()) < 1 else 0.0  # less to cancel out in a small ring
    whole = -float((turned * ((height + after) / 2 - base)).sum())
    return whole + abs(float(turned.sum()))


def polygons(rings: Sequence[Float]) -> list[list[Ring]]:
    """The polygons that rings enclose together, each with its exterior ring first and then its holes."""
    chains, closed = [], []
    for ring in rings:
        parts = _chains(ring)
        if parts is None:
            closed.append([(float(x), float(y)) for x, y in ring])
        else:
            chains += parts
    closed += _joined(chains)
    exteriors = [ring for ring in closed if plane_area(ring) > 0]
    holes = [ring for ring in closed if plane_area(ring) < 0]
    if holes and not exteriors:
        exteriors = [[(-180.0, -90.0), (180.0, -90.0), (180.0, 90.0), (-180.0, 90.0)]]
    exteriors.sort(key=plane_area)
    found: list[list[Ring]] = [[exterior] for exterior in exteriors]
    for hole in holes:
        around = next((each for each in found if inside(hole[0], each[0])), found[-1])
        around.append(hole)
    return found


def plane_area(ring: Ring) -> float:
    """The area on a flat map, in squared degrees; positive where the ring runs counterclockwise."""
    x0, y0 = ring[0]
    total = 0.0
    for (x, y), (next_x, next_y) in zip(ring, [*ring[1:], ring[0]], strict=True):
        total += (x - x0) * (next_y - y0) - (next_x - x0) * (y - y0)
    return total / 2


def inside(point: tuple[float, float], ring: Ring) -> bool:
    """Whether a point is in a ring on a flat map."""
    x, y = point
    found = False
    for (a, b), (c, d) in zip(ring, [*ring[1:], ring[0]], strict=True):
        if (b > y) != (d > y) and x < a + (y - b) / (d - b) * (c - a):
            found = not found
    return found


def _chains(ring: Float) -> list[Ring] | None:
    """The chains from edge to edge that the antimeridian leaves of a ring; none if it does not cross it."""
    rows = [(float(x), float(y)) for x, y in ring]
    after = [*rows[1:], rows[0]]
    cuts = [i for i, (here, there) in enumerate(zip(rows, after, strict=True)) if abs(here[0] - there[0]) > 180]
    if not cuts:
        return None
    first = cuts[0] + 1
    rows = rows[first:] + rows[:first]  # begins behind a cut
    chains: list[Ring] = []
    edge = _edge(rows[-1], rows[0])
    chain = [(-edge[0], edge[1])]
    for here, there in zip(rows, [*rows[1:], rows[0]], strict=True):
        chain.append(here)
        if abs(here[0] - there[0]) > 180:
            edge = _edge(here, there)
            chains.append([*chain, edge])
            chain = [(-edge[0], edge[1])]
    return chains


def _edge(here: tuple[float, float], there: tuple[float, float]) -> tuple[float, float]:
    """Where a step leaves the map, at 180 or -180 degrees."""
    side = 180.0 if here[0] > 0 else -180.0
    left, right = abs(side - here[0]), abs(-side - there[0])
    share = left / (left + right) if left + right > 0 else 0.5
    return side, here[1] + share * (there[1] - here[1])


def _joined(chains: list[Ring]) -> list[Ring]:
    """Rings of chains, with pieces of the edge of the map between them."""
    begins = [_place(chain[0]) for chain in chains]
    left = set(range(len(chains)))
    rings = []
    while left:
        first = here = min(left)
        ring: Ring = []
        while True:
            left.discard(here)
            ring += chains[here]
            end = _place(chains[here][-1])
            ways = {other: (begins[other] - end) % 1080 for other in left | {first}}
            here = min(ways, key=lambda other: (ways[other], other))
            ring += [
                corner
                for turn in (0.0, 1080.0)
                for place, corner in _CORNERS
                if end < place + turn < end + ways[here]
            ]
            if here == first:
                break
        rings.append(ring)
    return rings


def _place(point: tuple[float, float]) -> float:
    """Where a point of the eastern or western edge is, counterclockwise from the lower right corner."""
    longitude, latitude = point
    return latitude + 90 if longitude > 0 else 540 + 90 - latitude
