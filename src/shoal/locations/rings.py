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
    """Longitudes and latitudes of the unit vectors of a ring, with the shortest way from each to the next.

    A point on the antimeridian is moved beside it, by a tenth of a millimetre. A ring that leads through a pole
    gets a piece of the pole's edge of the map, as wide as its inside is there.
    """
    across = np.hypot(points[:, 0], points[:, 1])
    longitude = np.rad2deg(np.arctan2(points[:, 1], points[:, 0]))
    longitude[np.abs(longitude) > 180 - _SEAM] = _SEAM - 180
    ring = np.column_stack([longitude, np.rad2deg(np.arctan2(points[:, 2], across))])
    at_pole = across < _POLE
    turn = np.abs(np.roll(longitude, -1) - longitude)
    through = (np.abs(turn - 180) < 1) & (across < 0.5)  # how near it comes is less than what is drawn
    if at_pole.all() or not (at_pole | through).any():
        return ring
    return _with_poles(ring, at_pole)


def _with_poles(ring: Float, at_pole: NDArray[np.bool_]) -> Float:
    """A ring with pieces of the edge of the map wherever it leads through a pole."""
    rows = ring[~at_pole]
    places = np.flatnonzero(~at_pole)
    found: list[tuple[float, float]] = []
    for number, (x, y) in enumerate(rows.tolist()):
        after_x, after_y = rows[(number + 1) % len(rows)].tolist()
        found.append((x, y))
        gap = (places[(number + 1) % len(rows)] - places[number] - 1) % len(ring)
        if gap or (abs(abs(after_x - x) - 180) < 1 and y * after_y > 0 and abs(y) > 60):
            pole = 90.0 if y > 0 else -90.0
            wide = (x - after_x) % 360 if pole > 0 else (after_x - x) % 360
            steps = max(1, int(np.ceil(wide / 90)))
            for step in range(steps + 1):
                there = x - np.sign(pole) * wide * step / steps
                found.append((float((there + 180) % 360 - 180), pole))
    return np.array(found)


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
