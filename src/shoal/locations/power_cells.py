"""The outlines of cells on the sphere: each is where |x - c|² + cost is least, with x and c unit vectors.

The border between two cells lies in a plane, because |x|² and |c|² are the same for all: x.(c' - c) = (cost' -
cost)/2. So a cell is what half-spaces leave of the sphere, and each piece of its border is an arc of a circle. The
other constraints forbid intervals of each circle; what is free is the border. This finds any cell: around a pole,
in several parts, with holes. A cell is first cut by its nearest neighbours only; then the rule itself is asked,
through a search tree, who wins along the outline, and a winner that was missing becomes a neighbour too. The work
is near linear in the number of cells.

A cell at the rim has no end of its own. No cell is drawn farther from its centroid than twice the widest spacing
of itself and the cells that it borders on; the spacing is the distance to the sixth nearest centroid. A cell that
is all alone is drawn `ALONE` wide. Outlines come from centroids and costs only, never from homes.
"""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.spatial import KDTree

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

ALONE = 50 / 6371.0088
"""The reach of a cell without any other, in radians: 50 kilometres."""

_FARTHEST = np.deg2rad(60)  # no cell is drawn farther than this from its centroid
_LEAST = 1e-5  # nor nearer than this, about 64 metres
_FIRST = 12  # neighbours that are tried at first
_SPACED = 6  # the spacing is the distance to so many other centroids
_SAME = 12  # decimals of unit vectors that are told apart
_NEAR = 2e-9  # radians, about a centimetre: less is no border, and no breach of one
_STEP = np.pi / 8  # arcs are looked at in steps that are no longer
_ROOM = 1 << 18  # constraints on constraints that are looked at together
_COARSE = 1e-4  # how far a drawn border may be from the true one, as a share of the extent of a cell
_FINE = 2e-8  # and how far always, in radians: about ten centimetres
_TURN = 2 * np.pi


@dataclass(frozen=True)
class Arcs:
    """Pieces of borders: middle + cos(t) across + sin(t) along for t from start to start + length.

    The cell is on the left; `other` is whose cell is on the right, -1 where it is the reach that ends the cell.
    """

    cell: Int
    other: Int
    middle: Float
    across: Float
    along: Float
    start: Float
    length: Float

    def at(self, rows: Int, angles: Float) -> Float:
        """Points of arcs."""
        turned = np.cos(angles)[:, None] * self.across[rows] + np.sin(angles)[:, None] * self.along[rows]
        return np.asarray(self.middle[rows] + turned)

    def take(self, rows: Int) -> "Arcs":
        """Some of them, in this order."""
        return Arcs(*(getattr(self, name)[rows] for name in Arcs.__dataclass_fields__))

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.cell)

    @property
    def ends(self) -> Float:
        """Where each of them ends."""
        return self.at(np.arange(self.size), self.start + self.length)

    @property
    def starts(self) -> Float:
        """Where each of them starts."""
        return self.at(np.arange(self.size), self.start)


@dataclass(frozen=True)
class Outlines:
    """The drawn borders of cells: ring r is `points[starts[r]:starts[r + 1]]`, of the cell `cells[r]`.

    Points are unit vectors; the first of a ring is not repeated, and the cell is on the left. A cell without a
    ring is nowhere. `reach` has the radius in radians that each cell was limited to, `open` whether that cut it.
    """

    points: Float
    starts: Int
    cells: Int
    reach: Float
    open: Bool


def outlines(centroids: Float, costs: Float, wanted: Int | None = None) -> Outlines:
    """The outlines of cells, all or those wanted; of equal centroids with equal costs, the first has the cell."""
    sites = _Sites(centroids, costs)
    chosen = np.arange(len(costs)) if wanted is None else np.asarray(wanted, np.int64)
    drawn = sites.alive[chosen]
    arcs = _found(sites, chosen[drawn])
    reach = np.full(len(costs), sites.widest)
    reach[chosen] = _reaches(sites, arcs)[chosen]
    arcs = _limited(sites, arcs, reach)
    cut = np.zeros(len(costs), bool)
    cut[arcs.cell[arcs.other < 0]] = True
    points, starts, cells = _drawn(*_rings(arcs))
    return Outlines(points, starts, cells, reach, cut)


class Rule:
    """The rule as a search for the nearest: one more coordinate makes |x - c|² + cost of |x - c|² + (√cost)².

    The tree has tight boxes, unlike that of scipy: with costs that differ much from place to place this is what
    keeps a search short.
    """

    def __init__(self, centroids: Float, costs: Float) -> None:
        from sklearn.neighbors import KDTree as TightTree  # only who draws needs it

        rows = np.column_stack([centroids, np.sqrt(costs - costs.min(initial=np.inf))])
        self._tree = TightTree(rows, leaf_size=10) if len(rows) else None

    def winners(self, points: Float) -> Int:
        """Who wins each point; any one of equals."""
        if self._tree is None or not len(points):
            return np.zeros(len(points), np.int64)
        found = self._tree.query(np.column_stack([points, np.zeros(len(points))]), return_distance=False)
        return np.asarray(found[:, 0], np.int64)


class _Sites:
    """Centroids with costs, the rule among them, and how widely they are spaced."""

    def __init__(self, centroids: Float, costs: Float) -> None:
        self.centroids, self.costs = np.asarray(centroids, np.float64), np.asarray(costs, np.float64)
        count = len(self.costs)
        self.alive = np.zeros(count, bool)
        order = np.lexsort((np.arange(count), self.costs))
        _, first = np.unique(np.round(self.centroids[order], _SAME) + 0.0, axis=0, return_index=True)
        self.alive[order[first]] = True
        self.rows = np.flatnonzero(self.alive)
        places = self.centroids[self.rows]
        tree = KDTree(places)
        near = min(_FIRST + 1, len(self.rows))
        chords, found = tree.query(places, k=np.arange(1, near + 1))
        self.spacing = np.full(count, ALONE / 2)
        self.neighbours = np.zeros((count, near - 1), np.int64)
        if near > 1:
            self.spacing[self.rows] = _angles(chords[:, min(_SPACED, near - 1)])
            own = found == np.arange(len(self.rows))[:, None]
            own[~own.any(axis=1), -1] = True
            self.neighbours[self.rows] = self.rows[found[~own].reshape(len(self.rows), near - 1)]
        widest = 2 * self.spacing[self.rows].max() if len(self.rows) else ALONE
        self.widest = float(np.clip(widest, _LEAST, _FARTHEST))
        self.rule = Rule(places, self.costs[self.rows])

    def winners(self, points: Float) -> Int:
        """Whose cell each point is in."""
        return np.asarray(self.rows[self.rule.winners(points)])

    def planes(self, cells: Int, others: Int) -> tuple[Float, Float]:
        """The half-spaces x.normal <= limit that others leave to cells; -1 among the others is no half-space."""
        apart = self.centroids[others] - self.centroids[cells][:, None]
        limits = (self.costs[others] - self.costs[cells][:, None]) / 2
        long = np.sqrt(np.square(apart).sum(axis=2))
        there = (others >= 0) & (long > 0)
        scale = np.where(there, long, 1.0)
        return (
            np.where(there[:, :, None], apart / scale[:, :, None], 0.0),
            np.where(there, limits / scale, 3.0),
        )


def _angles(chords: Float) -> Float:
    """The angles between unit vectors whose distances are given."""
    return np.asarray(2 * np.arcsin(np.clip(chords / 2, 0, 1)))


def _found(sites: _Sites, wanted: Int) -> Arcs:
    """The arcs of cells, each limited to the widest reach."""
    lists = dict(zip(wanted.tolist(), sites.neighbours[wanted].tolist(), strict=True))
    reach = np.full(len(sites.costs), sites.widest)
    done: list[Arcs] = []
    told: set[tuple[int, int]] = set()
    active = wanted
    while len(active):
        found = _arcs_of(sites, active, lists, reach)
        missing = [(cell, other) for cell, other in _missing(sites, found).tolist() if (cell, other) not in told]
        told.update(missing)  # once is enough, whatever rounding does
        again = np.unique(np.array([cell for cell, _ in missing], np.int64))
        done.append(found.take(np.flatnonzero(~np.isin(found.cell, again))))
        lists = _known(found)  # an arc only gets shorter: who has none now never has one
        for cell, other in missing:
            lists[cell].append(other)
        active = again
    return _together(done)


def _known(arcs: Arcs) -> dict[int, list[int]]:
    """The neighbours of cells."""
    found: dict[int, list[int]] = defaultdict(list)
    inner = arcs.other >= 0
    for cell, other in np.unique(np.column_stack([arcs.cell[inner], arcs.other[inner]]), axis=0).tolist():
        found[cell].append(other)
    return found


def _arcs_of(sites: _Sites, cells: Int, lists: dict[int, list[int]], reach: Float) -> Arcs:
    """The arcs of cells that these neighbours and a reach leave."""
    counts = np.array([len(lists[cell]) for cell in cells.tolist()], np.int64)
    order = np.argsort(counts, kind="stable")
    parts, first = [], 0
    while first < len(order):
        last = first + 1
        while last < len(order) and (last + 1 - first) * (counts[order[last]] + 1) ** 2 <= _ROOM:
            last += 1
        rows = cells[order[first:last]]
        width = int(counts[order[last - 1]])
        others = np.array([lists[c] + [-1] * (width - len(lists[c])) for c in rows.tolist()], np.int64)
        parts.append(_cut(sites, rows, others.reshape(len(rows), width), reach[rows]))
        first = last
    return _together(parts)


def _cut(sites: _Sites, cells: Int, others: Int, reach: Float) -> Arcs:
    """The same for cells with equally many neighbours."""
    centres = sites.centroids[cells]
    normals, limits = sites.planes(cells, others)
    normals = np.concatenate([-centres[:, None], normals], axis=1)
    limits = np.concatenate([-np.cos(reach)[:, None], limits], axis=1)
    others = np.concatenate([np.full((len(cells), 1), -1), others], axis=1)
    across, along = _axes(normals, centres)
    radius = np.sqrt(np.clip((1 - limits) * (1 + limits), 0, None))
    here = normals.transpose(0, 2, 1)
    room = limits[:, None, :] - limits[:, :, None] * (normals @ here)
    x, y = radius[:, :, None] * (across @ here), radius[:, :, None] * (along @ here)
    start, length, row, column = _free(room, x, y, np.abs(limits) < 1, radius)
    scale = radius[row, column][:, None]
    return Arcs(
        cells[row],
        others[row, column],
        limits[row, column][:, None] * normals[row, column],
        scale * across[row, column],
        scale * along[row, column],
        start,
        length,
    )


def _axes(normals: Float, centres: Float) -> tuple[Float, Float]:
    """Two axes in the plane of each circle; the first towards the centroid, so that near angles are small ones."""
    towards = centres[:, None] - (centres[:, None] * normals).sum(axis=2)[:, :, None] * normals
    long = np.sqrt(np.square(towards).sum(axis=2))
    flat = long < 1e-9  # the circle lies around the centroid
    aside = np.zeros_like(normals)
    np.put_along_axis(aside, np.abs(normals).argmin(axis=2)[:, :, None], 1.0, axis=2)
    aside -= (aside * normals).sum(axis=2)[:, :, None] * normals
    towards = np.where(flat[:, :, None], aside, towards)
    long = np.sqrt(np.square(towards).sum(axis=2))
    across = towards / np.where(long > 0, long, 1.0)[:, :, None]
    return across, np.cross(across, normals)


def _free(room: Float, x: Float, y: Float, real: Bool, radius: Float) -> tuple[Float, Float, Int, Int]:
    """What constraints leave of circles: l forbids the angles t of circle j with x cos t + y sin t > room."""
    swing = np.hypot(x, y)
    count = room.shape[1]
    own = np.arange(count)
    never = room >= swing
    never[:, own, own] = True
    always = (room < -swing) & ~never
    half = np.arccos(np.clip(room / np.where(swing > 0, swing, 1.0), -1, 1))
    begins = np.where(never, np.inf, np.mod(np.arctan2(y, x) - half, _TURN))
    ends = np.where(never, -np.inf, begins + 2 * half)
    order = np.argsort(begins, axis=2)
    begins, ends = np.take_along_axis(begins, order, 2), np.take_along_axis(ends, order, 2)
    covered = np.maximum.accumulate(ends, axis=2)
    before = np.concatenate([np.full_like(covered[:, :, :1], -np.inf), covered[:, :, :-1]], axis=2)
    before = np.maximum(before, covered[:, :, -1:] - _TURN)
    real = real & ~always.any(axis=2)
    with np.errstate(invalid="ignore"):
        gaps = np.where(np.isfinite(begins), begins - before, 0.0) * radius[:, :, None] > _NEAR
    row, column, place = np.nonzero(gaps & real[:, :, None])
    whole_row, whole_column = np.nonzero(real & never.all(axis=2))
    start = np.concatenate([before[row, column, place], np.zeros(len(whole_row))])
    length = np.concatenate([(begins - before)[row, column, place], np.full(len(whole_row), _TURN)])
    return start, length, np.concatenate([row, whole_row]), np.concatenate([column, whole_column])


def _together(parts: list[Arcs]) -> Arcs:
    if not parts:
        none, nowhere = np.zeros(0, np.int64), np.zeros((0, 3))
        return Arcs(none, none, nowhere, nowhere, nowhere, np.zeros(0), np.zeros(0))
    return Arcs(*(np.concatenate([getattr(part, name) for part in parts]) for name in Arcs.__dataclass_fields__))


def _samples(arcs: Arcs) -> tuple[Int, Float]:
    """Points along arcs: which arc each is of, and its angle; where they start, and more of long ones."""
    pieces = np.maximum(1, np.ceil(arcs.length / _STEP).astype(np.int64))
    rows = np.repeat(np.arange(arcs.size), pieces)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    return rows, arcs.start[rows] + arcs.length[rows] * place / pieces[rows]


def _missing(sites: _Sites, arcs: Arcs) -> Int:
    """Pairs of a cell and whoever wins on its outline without being a neighbour."""
    rows, angles = _samples(arcs)
    points = arcs.at(rows, angles)
    # A corner is shared by three cells or more: one search for all of them.
    _, first, again = np.unique(np.round(points, _SAME - 2), axis=0, return_index=True, return_inverse=True)
    cells, winners = arcs.cell[rows], sites.winners(points[first])[again.ravel()]
    odd = np.flatnonzero(cells != winners)
    normals, limits = sites.planes(cells[odd], winners[odd][:, None])
    beyond = (normals[:, 0] * points[odd]).sum(axis=1) - limits[:, 0]
    odd = odd[beyond > _NEAR]
    return np.unique(np.column_stack([cells[odd], winners[odd]]), axis=0)


def _reaches(sites: _Sites, arcs: Arcs) -> Float:
    """How far each cell is drawn."""
    spacing = sites.spacing.copy()
    inner = arcs.other >= 0
    np.maximum.at(spacing, arcs.cell[inner], sites.spacing[arcs.other[inner]])
    return np.asarray(np.clip(2 * spacing, _LEAST, sites.widest))


def _limited(sites: _Sites, arcs: Arcs, reach: Float) -> Arcs:
    """The arcs with each cell limited to its own reach."""
    rows, angles = _samples(arcs)
    far = np.zeros(len(sites.costs))
    apart = arcs.at(rows, angles) - sites.centroids[arcs.cell[rows]]
    np.maximum.at(far, arcs.cell[rows], _angles(np.sqrt(np.square(apart).sum(axis=1))))
    again = np.flatnonzero(far > 0.8 * reach)  # a border may swing out between the points that were looked at
    touched = np.isin(arcs.cell, again)
    lists = _known(arcs.take(np.flatnonzero(touched)))
    return _together([arcs.take(np.flatnonzero(~touched)), _arcs_of(sites, again, lists, reach)])


def _rings(arcs: Arcs) -> tuple[Arcs, Int]:
    """The arcs in the order in which they follow each other, and where the rings of each cell start."""
    arcs = arcs.take(np.lexsort((arcs.start, arcs.other, arcs.cell)))
    bounds = np.flatnonzero(np.concatenate([[True], arcs.cell[1:] != arcs.cell[:-1], [True]]))
    if not arcs.size:
        return arcs, np.zeros(1, np.int64)
    follower = _followers(arcs, bounds).tolist()
    order: list[int] = []
    starts: list[int] = []
    seen = bytearray(arcs.size)
    for first in range(arcs.size):
        if seen[first]:
            continue
        starts.append(len(order))
        here = first
        while not seen[here]:
            seen[here] = 1
            order.append(here)
            here = follower[here]
    return arcs.take(np.array(order, np.int64)), np.array([*starts, arcs.size], np.int64)


def _followers(arcs: Arcs, bounds: Int) -> Int:
    """The arc of the same cell that begins where each one ends."""
    begins, ends = arcs.starts, arcs.ends
    whole = arcs.length >= _TURN
    counts = np.diff(bounds)
    follower = np.zeros(arcs.size, np.int64)
    for count in np.unique(counts).tolist():
        firsts = bounds[:-1][counts == count]
        rows = firsts[:, None] + np.arange(count)
        apart = np.square(ends[rows][:, :, None] - begins[rows][:, None, :]).sum(axis=3)
        own = np.arange(count)
        apart[:, own, own] = np.where(whole[rows], -1.0, np.inf if count > 1 else 0.0)
        nearest = apart.argmin(axis=2)
        for odd in np.flatnonzero((np.sort(nearest, axis=1) != own).any(axis=1)).tolist():
            costs = np.where(np.isfinite(apart[odd]), apart[odd], 1e6)
            nearest[odd] = linear_sum_assignment(costs)[1]
        follower[rows] = firsts[:, None] + nearest
    return follower


def _drawn(arcs: Arcs, starts: Int) -> tuple[Float, Int, Int]:
    """The points of rings, so dense that straight lines between them on a map are near the arcs."""
    rows, low = _samples(arcs)
    high = low + (arcs.length / np.maximum(1, np.bincount(rows, minlength=arcs.size)))[rows]
    allowed = _allowed(arcs, starts, rows, low)
    done: list[tuple[Int, Float]] = []
    while len(rows):
        middle = (low + high) / 2
        off = _off(arcs.at(rows, low), arcs.at(rows, middle), arcs.at(rows, high))
        fine = off <= allowed[rows]
        done.append((rows[fine], low[fine]))
        rows, low, middle, high = rows[~fine], low[~fine], middle[~fine], high[~fine]
        rows, low, high = np.tile(rows, 2), np.concatenate([low, middle]), np.concatenate([middle, high])
    rows = np.concatenate([rows, *(each for each, _ in done)])
    low = np.concatenate([low, *(each for _, each in done)])
    order = np.lexsort((low, rows))
    rows, low = rows[order], low[order]
    return arcs.at(rows, low), np.searchsorted(rows, starts), arcs.cell[starts[:-1]]


def _allowed(arcs: Arcs, starts: Int, rows: Int, angles: Float) -> Float:
    """How far from each arc a drawn border may be."""
    if not arcs.size:
        return np.zeros(0)
    ring = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    points = arcs.at(rows, angles)
    firsts = np.searchsorted(rows, starts[:-1])
    apart = np.sqrt(np.square(points - points[firsts][ring[rows]]).sum(axis=1))
    return np.asarray(np.maximum(_COARSE * np.maximum.reduceat(apart, firsts), _FINE)[ring])


def _off(first: Float, middle: Float, last: Float) -> Float:
    """How far the middle of a straight line of latitude and longitude is from that of the arc."""
    latitudes = (
        np.arctan2(first[:, 2], np.hypot(*first[:, :2].T)),
        np.arctan2(last[:, 2], np.hypot(*last[:, :2].T)),
    )
    longitudes = np.arctan2(first[:, 1], first[:, 0]), np.arctan2(last[:, 1], last[:, 0])
    around = np.mod(longitudes[1] - longitudes[0] + np.pi, _TURN) - np.pi
    latitude, longitude = (latitudes[0] + latitudes[1]) / 2, longitudes[0] + around / 2
    across = np.cos(latitude)
    drawn = np.column_stack([across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)])
    return np.asarray(np.sqrt(np.square(drawn - middle).sum(axis=1)))
