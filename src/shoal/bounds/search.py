"""Which groups cost less than their prices: a quick look, and a complete search on all cores.

The complete search takes the records by falling price. A group belongs to its dearest record, so that whoever is
left to choose from is cheaper; that order alone makes the search many times faster than others.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.engines import in_order

if TYPE_CHECKING:
    from shoal.kernels.proofs.subsets import Fines

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Group = tuple[Int, float]  # its points, rising, a point repeated for equal records; its SSE

_SLICE = 0.25  # seconds between two chances to stop
_NODES = 200_000  # steps of one search, about a second
_ROOM = 512  # groups that one search can find
_BROUGHT = 3  # of which so many are kept
_EASIER = (
    0.02,
    0.08,
    0.3,
)  # where a search is too long: what is left open, as a part of k times the anchor's price
_NEAR = 256
_SIZES = 12  # how many group sizes the quick look tries at most
_MOVES = 12  # of a centre
_AROUND = 160  # neighbours that it chooses from


class Duals(NamedTuple):
    """A price for each point, and a fine for each cut (three points each)."""

    prices: Float
    cuts: Int
    fines: Float

    def value(self, weights: Int) -> float:
        """What they come to, if no group undercuts them."""
        return float(weights @ self.prices) - float(self.fines.sum())


@dataclass
class Points:
    """The distinct points, how many records each has, and their neighbours."""

    X: Float
    k: int
    high: int
    rows: Float = field(init=False)
    kinds: Int = field(init=False)  # the point of each record
    weights: Int = field(init=False)

    def __post_init__(self) -> None:
        self.rows, self.kinds = np.unique(self.X, axis=0, return_inverse=True)
        self.kinds = self.kinds.reshape(-1)
        self.weights = np.bincount(self.kinds)
        self.records = np.repeat(np.arange(len(self.rows)), self.weights)  # points of the records, side by side
        self.d2 = np.zeros((len(self.rows), len(self.rows)))
        for column in self.rows.T:
            self.d2 += (column[:, None] - column) ** 2
        self.near = nearest(self.d2, min(_NEAR, len(self.rows) - 1))

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.X)

    @property
    def most_groups(self) -> int:
        """The greatest number of groups."""
        return self.n // self.k

    def mean_of_equals(self, values: Float) -> Float:
        """One value for each point: the mean of its records'."""
        return np.bincount(self.kinds, values) / self.weights

    def sse(self, group: Int) -> float:
        """The SSE of a group."""
        return float(self.d2[np.ix_(group, group)].sum()) / (2 * len(group))


def nearest(d2: Float, count: int) -> Int:
    """The `count` nearest other points of each, nearest first."""
    near = np.empty((len(d2), count), np.int64)
    for i, row in enumerate(d2):
        ranked = row.copy()
        ranked[i] = np.inf
        chosen = np.argpartition(ranked, count - 1)[:count]
        near[i] = chosen[np.argsort(ranked[chosen], kind="stable")]
    return near


def quick_look(points: Points, prices: Float, limit: float, groups: list[Int]) -> list[Group]:
    """Groups that cost less than their prices, as far as moving centres find them; only of distinct points.

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
    found = groups_around(rows, near, homes, starts, prices, wanted, limit, _MOVES, members, sizes, costs)
    return [(members[i, : sizes[i]].astype(np.int64), float(costs[i])) for i in range(found)]


@dataclass
class Search:
    """One complete search with given prices and fines: `lowest` of each anchor, `groups` found."""

    points: Points
    duals: Duals
    tolerance: float
    n_jobs: int = 1

    def __post_init__(self) -> None:
        points, prices = self.points, self.duals.prices
        by_price = np.argsort(-prices, kind="stable")
        place = np.empty(len(by_price), np.int64)
        place[by_price] = np.arange(len(by_price))
        order = np.argsort(place[points.records], kind="stable")  # records as places in points.records
        self.order = points.records[order]  # the point at each position
        self.twin = np.concatenate([[False], self.order[1:] == self.order[:-1]])
        self.d2 = points.d2[np.ix_(self.order, self.order)]
        self.prices = prices[self.order]
        first = np.searchsorted(place[self.order], np.arange(len(by_price)))  # where each point begins, by price
        self.near = self.positions_near(place, first)
        self.fines = self.fines_by_position(place, first)
        self.anchors = np.flatnonzero(~self.twin)
        self.lowest = np.full(len(self.anchors), -np.inf)
        self.groups: list[Group] = []

    def positions_near(self, place: Int, first: Int) -> Int:
        """The nearest positions of each position, equal records first."""
        points = self.points
        if len(points.rows) == points.n:
            return np.ascontiguousarray(place[points.near[self.order]])
        return nearest(self.d2, min(_NEAR, points.n - 1))

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
        points, numbers = self.points, np.arange(len(self.anchors)) if chosen is None else chosen
        work = Looking(
            self.d2, self.near, self.twin, self.prices, self.fines, points.k, points.high, self.tolerance
        )
        until = monotonic() + _SLICE
        results = in_order(work, self.anchors[numbers].tolist(), self.n_jobs)
        for number, (lowest, groups) in zip(numbers, results, strict=True):
            self.lowest[number] = lowest
            self.groups += [(np.sort(self.order[positions]), cost) for positions, cost in groups]
            if monotonic() >= until:
                yield
                until = monotonic() + _SLICE

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
        return self.duals._replace(prices=prices).value(points.weights) + float(worst.sum())

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
    fines: "Fines"
    low: int
    high: int
    tolerance: float

    def __call__(self, anchor: int) -> tuple[float, list[Group]]:
        """By how much its groups undercut their prices at most, and some such groups.

        It looks less closely where that takes too long.
        """
        from shoal.kernels.proofs.subsets import groups_below

        members = np.empty((_ROOM, self.high), np.int32)
        sizes, costs = np.empty(_ROOM, np.int64), np.empty(_ROOM)
        price = max(float(self.prices[anchor]), 0.0)
        groups: list[Group] = []
        for open_part in (0.0, *_EASIER):
            limit = -self.tolerance - open_part * self.low * price
            found, nodes, lowest = groups_below(
                self.d2, self.near, self.twin, self.prices, 0.0, self.low, self.high, anchor, limit, np.inf, True,
                _NODES, self.fines, members, sizes, costs,
            )  # fmt: skip
            groups += [
                (members[i, : sizes[i]].astype(np.int64), float(costs[i]))
                for i in range(max(0, found - _BROUGHT), found)
            ]
            if nodes >= 0:
                return min(lowest, limit), groups
        return -self.high * price, groups  # as if the group cost nothing


class Floor(NamedTuple):
    """Prices, and by how much groups of each anchor may undercut them."""

    prices: Float
    lowest: Float
