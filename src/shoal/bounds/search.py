"""Which groups cost less than their prices: a quick look, and a complete search on all cores.

The complete search takes the records by falling price. A group belongs to its dearest record, so that whoever is
left to choose from is cheaper; that order alone makes the search many times faster than others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.master import Duals
from shoal.bounds.points import NEAR, Points, nearest
from shoal.engines import in_order

if TYPE_CHECKING:
    from shoal.kernels.proofs.subsets import Fines

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Group = tuple[Int, float]  # its points, rising, a point repeated for equal records; its SSE

_SLICE = 0.25  # seconds between two chances to stop
_ROOM = 512  # groups that one search can find
_BROUGHT = 3  # of which so many are kept
_EASIER = (
    0.02,
    0.08,
    0.3,
)  # where a search is too long: what is left open, as a part of k times the anchor's price
_SIZES = 12  # how many group sizes the quick look tries at most
_MOVES = 12  # of a centre
_AROUND = 160  # neighbours that it chooses from


def quick_look(points: Points, duals: Duals, limit: float, groups: list[Int]) -> list[Group]:
    """Groups that undercut prices and toll, as far as moving centres find them; only of distinct points.

    The centres begin at every point, half way to its nearest, and in the middle of some groups.
    """
    from shoal.kernels.proofs.centres import groups_around

    low, high = points.k, points.high
    wanted = np.unique(np.linspace(low, high, _SIZES).astype(np.int64))
    rows, near = points.rows, points.near[:, : max(_AROUND, 2 * low)]
    homes = np.concatenate([np.tile(np.arange(len(rows)), 2), [group[0] for group in groups]]).astype(np.int64)
    middles = np.array([rows[group].mean(axis=0) for group in groups]).reshape(-1, rows.shape[1])
    starts = np.concatenate([rows, (rows + rows[near[:, 0]]) / 2, middles])
    room = len(homes) * len(wanted)
    members, sizes, costs = np.empty((room, high), np.int32), np.empty(room, np.int64), np.empty(room)
    limit += duals.toll
    found = groups_around(rows, near, homes, starts, duals.prices, wanted, limit, _MOVES, members, sizes, costs)
    return [(members[i, : sizes[i]].astype(np.int64), float(costs[i])) for i in range(found)]


@dataclass
class Search:
    """One complete search with given prices and fines: `lowest` of each anchor, `groups` found."""

    points: Points
    duals: Duals
    tolerance: float
    n_jobs: int = 1
    dearest: float = inf  # a group that costs as much is of no interest
    most_nodes: int = 10**9  # steps of the search for the groups of one anchor

    def __post_init__(self) -> None:
        points, prices = self.points, self.duals.prices
        by_price = np.argsort(-prices, kind="stable")
        place = np.empty(len(by_price), np.int64)
        place[by_price] = np.arange(len(by_price))
        self.places = np.argsort(place[points.places], kind="stable")  # the place of each position
        self.order = points.places[self.places]  # and its point
        self.twin = np.concatenate([[False], self.order[1:] == self.order[:-1]])
        self.d2 = points.d2[np.ix_(self.order, self.order)]
        self.prices = prices[self.order]
        first = np.searchsorted(place[self.order], np.arange(len(by_price)))  # where each point begins, by price
        self.near = self.positions_near(place, first)
        self.fines = self.fines_by_position(place, first)
        self.anchors = np.flatnonzero(~self.twin)
        self.lowest = np.full(len(self.anchors), -np.inf)
        self.groups: list[Group] = []
        self.nodes = 0

    def positions_near(self, place: Int, first: Int) -> Int:
        """The nearest positions of each position, equal records first."""
        points = self.points
        if len(points.rows) == points.n:
            return np.ascontiguousarray(place[points.near[self.order]])
        return nearest(self.d2, min(NEAR, points.n - 1))

    def fines_by_position(self, place: Int, first: Int) -> "Fines":
        """The cuts of each position."""
        from shoal.kernels.proofs.subsets import Fines, no_fines

        cuts, fines = self.duals.cuts, self.duals.fines
        active = fines > 0
        if not active.any():
            return no_fines(self.points.n)
        where = first[place[cuts[active]]]
        entries = np.concatenate([where[:, [0, 1, 2]], where[:, [1, 0, 2]], where[:, [2, 0, 1]]])
        amounts = np.tile(fines[active], 3)
        by_record = np.argsort(entries[:, 0], kind="stable")
        counts = np.bincount(entries[:, 0], minlength=self.points.n)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return Fines(starts, np.ascontiguousarray(entries[by_record, 1:]), amounts[by_record])

    def run(self, chosen: Int | None = None) -> Iterator[None]:
        """Search at the anchors (numbers of `anchors`), or at all, with a chance to stop now and then."""
        numbers = np.arange(len(self.anchors)) if chosen is None else chosen
        until = monotonic() + _SLICE
        results = in_order(self.looking, self.anchors[numbers].tolist(), self.n_jobs)
        for number, (lowest, nodes, groups) in zip(numbers, results, strict=True):
            self.lowest[number] = lowest
            self.nodes += nodes
            self.groups += [(np.sort(self.order[positions]), cost) for positions, cost in groups]
            if monotonic() >= until:
                yield
                until = monotonic() + _SLICE

    @property
    def looking(self) -> "Looking":
        """The work of searching at one anchor."""
        points, toll = self.points, self.duals.toll
        lists = self.d2, self.near, self.twin, self.prices
        return Looking(
            *lists, toll, self.fines, points.k, points.high, self.tolerance, self.dearest, self.most_nodes
        )

    @property
    def finished(self) -> int:
        """How many anchors, from the first on, have been searched at."""
        open_ones = np.isneginf(self.lowest)
        return int(np.argmax(open_ones)) if open_ones.any() else len(self.lowest)

    def bound(self, floor: "Floor") -> float:
        """What the prices prove; where the search is not finished, those of the floor.

        Groups whose anchor is still to come have only records that are still to come, so that only the prices of
        these have to be lowered. A point is the anchor of at most as many groups as it has records.
        """
        points, finished = self.points, self.finished
        prices, lowest = self.duals.prices.copy(), np.minimum(self.lowest, 0.0)
        later = self.order[self.anchors[finished:]]
        prices[later] = np.minimum(prices[later], floor.prices[later])
        lowest[finished:] = floor.lowest[later]
        worst = np.sort(np.repeat(lowest, points.weights[self.order[self.anchors]]))[: points.most_groups]
        return self.duals._replace(prices=prices).value(points) + float(worst.sum())

    def proven(self) -> Duals:
        """Of a finished search: prices, fines and a toll that no group undercuts."""
        return self.duals._replace(toll=self.duals.toll + min(float(self.lowest.min()), 0.0))

    def as_floor(self) -> "Floor":
        """A finished search, for another with higher prices in the same order."""
        lowest = np.empty(len(self.anchors))
        lowest[self.order[self.anchors]] = np.minimum(self.lowest, 0.0)
        return Floor(self.duals.prices, lowest)


@dataclass(frozen=True)
class Looking:
    """The work of searching at an anchor; everything by position."""

    d2: Float
    near: Int
    twin: NDArray[np.bool_]
    prices: Float
    toll: float
    fines: "Fines"
    low: int
    high: int
    tolerance: float
    dearest: float
    most_nodes: int

    def __call__(self, anchor: int) -> tuple[float, int, list[Group]]:
        """By how much its groups undercut their prices at most, the steps that took, and some such groups.

        It looks less closely where that takes too long.
        """
        members = np.empty((_ROOM, self.high), np.int32)
        sizes, costs = np.empty(_ROOM, np.int64), np.empty(_ROOM)
        price = max(float(self.prices[anchor]), 0.0)
        groups: list[Group] = []
        steps = 0
        for open_part in (0.0, *_EASIER):
            limit = -self.tolerance - open_part * self.low * price
            found, nodes, lowest = self.below(anchor, limit, True, members, sizes, costs)
            steps += nodes if nodes >= 0 else self.most_nodes
            groups += [
                (members[i, : sizes[i]].astype(np.int64), float(costs[i]))
                for i in range(max(0, found - _BROUGHT), found)
            ]
            if nodes >= 0:
                return min(lowest, limit), steps, groups
        return -self.high * price, steps, groups  # as if the group cost nothing

    def below(
        self, anchor: int, limit: float, tighten: bool, members: NDArray[np.int32], sizes: Int, costs: Float
    ) -> tuple[int, int, float]:
        """The groups of an anchor whose reduced cost is below a limit, by position; see `groups_below`."""
        from shoal.kernels.proofs.subsets import groups_below

        lists, limits = (self.d2, self.near, self.twin, self.prices, self.toll), (self.low, self.high)
        room = members, sizes, costs
        return groups_below(
            *lists, *limits, anchor, limit, self.dearest, tighten, self.most_nodes, self.fines, *room
        )


class Floor(NamedTuple):
    """Prices, and by how much groups of each anchor may undercut them."""

    prices: Float
    lowest: Float
