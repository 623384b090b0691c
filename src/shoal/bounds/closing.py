"""What prices leave open: the groups that a partition below a goal can use, and the best partition into them.

No group undercuts the prices, so a partition below the goal has no group whose reduced cost is more than the goal
is above the prices' bound. For these groups alone the linear program is solved anew, with cuts: the bound rises,
and more groups turn out to be in no better partition. What is then left is searched through.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.master import Duals, cover_of, propose, violated
from shoal.bounds.points import Points
from shoal.bounds.search import Search

if TYPE_CHECKING:
    from shoal.kernels.proofs.cover import Groups

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Stopped = Callable[[], bool]

_ROOM = 1 << 12  # groups of an anchor at first
_ROUNDS = 30  # of cuts
_EXACT = 1e-8  # the relative gap to which their linear programs are solved
_CHUNK = 5_000_000  # groups looked at between two chances to stop


@dataclass(frozen=True)
class Open:
    """The groups that are left, and the prices that no group undercuts, whether it is left or not."""

    points: Points
    members: Int  # (groups, high): the places of each, rising, then n
    sizes: Int
    costs: Float
    cover: Any  # csc_array (points, groups): how many records of each point
    duals: Duals

    @property
    def bound(self) -> float:
        """No partition below the goal costs less."""
        return self.duals.value(self.points)

    def kept(self, stays: NDArray[np.bool_]) -> "Open":
        """Some of the groups."""
        lists = {name: getattr(self, name)[stays] for name in ("members", "sizes", "costs")}
        return replace(self, cover=self.cover[:, stays], **lists)

    def ranked(self) -> "Groups":
        """The groups by their lowest place, then by reduced cost."""
        from shoal.kernels.proofs.cover import Groups, masks_of

        n, anchors = self.points.n, self.members[:, 0]
        reduced = self.duals.reduced(self.cover, self.costs)
        order = np.lexsort((reduced, anchors))
        sizes, starts = self.sizes[order], np.searchsorted(anchors[order], np.arange(n + 1))
        masks = masks_of(self.members[order], sizes, (n + 63) // 64)
        return Groups(masks, sizes, self.costs[order], reduced[order], starts)


def collect(
    points: Points, duals: Duals, goal: float, most: int, most_nodes: int, stopped: Stopped
) -> Open | None:
    """All groups that a partition below the goal can have; None if they are too many or time is up."""
    search = Search(points, duals, 0.0, dearest=goal, most_nodes=most_nodes)
    room, limit = min(most, _ROOM), goal - duals.value(points)
    parts, total = [], 0
    for anchor in search.anchors.tolist():
        while True:
            members = np.zeros((room, points.high), np.int32)
            sizes, costs = np.empty(room, np.int64), np.empty(room)
            found, nodes, _ = search.looking.below(anchor, limit, False, members, sizes, costs)
            if nodes >= 0 or found < room or room == most:
                break
            room = min(4 * room, most)
        total += found
        if nodes < 0 or total > most or stopped():
            return None
        parts.append((members[:found], sizes[:found], costs[:found]))
    members, sizes, costs = (np.concatenate(part) for part in zip(*parts, strict=True))
    there = np.arange(points.high) < sizes[:, None]
    places = np.sort(np.where(there, search.places[members], points.n), axis=1)
    return Open(points, places, sizes, costs, cover_of(points.places[places[there]], sizes, points), duals)


def sharpen(given: Open, goal: float, scale: float, stopped: Stopped) -> Open:
    """Add cuts and drop groups until the bound reaches the goal or no cut is broken."""
    points, best, cuts = given.points, given, given.duals.cuts
    widest = np.full(len(points.rows), goal)
    for _ in range(_ROUNDS):
        if best.bound >= goal or len(best.costs) == 0 or stopped():
            break
        duals, used, _, _ = propose(points, best.cover, best.costs, cuts, -widest, widest, scale, _EXACT)
        reduced = duals.reduced(best.cover, best.costs)
        lowest = min(float(reduced.min()), 0.0)
        duals = duals._replace(toll=duals.toll + lowest)
        new = violated(best.cover, used, points.weights, cuts)
        if duals.value(points) > best.bound:
            best = replace(best, duals=duals)
            best = best.kept(reduced - lowest < goal - best.bound)
        if len(new) == 0:
            break
        cuts = np.concatenate([cuts, new])
    return best


def through(given: Open, goal: float) -> Iterator[tuple[Int | None, float]]:
    """Search through all partitions below the goal, a chunk at a time.

    Yields the labels of a better one, or None, and the SSE below which there may still be another. At the end
    there is none.
    """
    from shoal.kernels.proofs.cover import cover, new_stack

    points = given.points
    groups, toll = given.ranked(), given.duals.toll
    stack = new_stack(points.n, given.bound - points.most_groups * toll, points.most_groups)
    best, found = np.array([goal]), np.zeros((points.most_groups + 1, stack.rest.shape[1]), np.uint64)
    d2, twins = points.d2[np.ix_(points.places, points.places)], equal_ranges(points.places)
    while stack.depth[0] >= 0:
        count = cover(d2, groups, toll, points.k, twins, stack, best, found, _CHUNK)
        yield (labels_of(found[:count], points) if count > 0 else None), float(best[0])


def equal_ranges(places: Int) -> Int:
    """From and to (not included) of each run of two or more equal numbers."""
    ends = np.flatnonzero(np.diff(places)) + 1
    runs = np.column_stack([np.concatenate([[0], ends]), np.concatenate([ends, [len(places)]])])
    return np.ascontiguousarray(runs[np.diff(runs, axis=1)[:, 0] > 1])


def labels_of(masks: NDArray[np.uint64], points: Points) -> Int:
    """The label of each record; sets do not tell equal records apart, so these are given out in order."""
    from shoal.kernels.proofs.cover import records_of

    following = np.concatenate([[0], np.cumsum(points.weights)[:-1]])
    labels, places = np.full(points.n, -1), np.empty(points.n, np.int64)
    for label, mask in enumerate(masks):
        for point in points.places[places[: records_of(mask, places)]].tolist():
            labels[points.records[following[point]]] = label
            following[point] += 1
    return labels
