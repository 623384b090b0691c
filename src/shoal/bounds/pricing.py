"""Prices of records: the dual of set partitioning, by column generation.

Write the problem with one column per group of k to 2k - 1 records, each record covered once. Any price per record
and toll per group (at most 0) under which no group costs less than its prices and toll give a lower bound: the sum
of all prices, and the toll times the most groups there can be. The linear program gives the best ones; HiGHS
only proposes prices, and a search through all groups finds out by how much they have to be lowered, so a
bound does not rest on the solver's tolerances.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from shoal.kernels.proofs.cover import Groups

Float = NDArray[np.float64]
Int = NDArray[np.int64]

Stopped = Callable[[], bool]

_ROOM = 4096  # groups of an anchor that a round of pricing can bring
_KEEP = 4000  # groups (or 8 n) that the linear program holds before those far from use are dropped
_MOST_ROUNDS = 1000  # dropped groups may come back, so that there has to be an end
_SMOOTH = 0.3  # how much of the best prices so far goes into the next


@dataclass
class Problem:
    """Records in search order, equal ones side by side, and which group sizes are allowed."""

    d2: Float  # squared distances
    near: Int  # the nearest others of each record, nearest first
    twin: NDArray[np.bool_]  # whether a record equals the one before it
    k: int
    low: int
    high: int

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.d2)

    @property
    def most_groups(self) -> int:
        """The greatest number of groups."""
        return self.n // self.k

    def kinds(self) -> Int:
        """For each record the number of its point, equal for equal records."""
        return np.cumsum(~self.twin) - 1


@dataclass(frozen=True)
class Prices:
    """A price for each record and a toll for each group; `bound` is what they prove."""

    record: Float
    toll: float
    bound: float


def shares(problem: Problem) -> Prices:
    """Prices without a search: a record's distances cost it at least half of its s - 1 smallest, over s."""
    best = np.full(problem.n, np.inf)
    for s in range(problem.low, problem.high + 1):
        best = np.minimum(best, least_sums(problem, s - 1) / (2 * s))
    return Prices(best, 0.0, float(best.sum()))


def least_sums(problem: Problem, count: int) -> Float:
    """At most the sum of the `count` smallest squared distances of each record."""
    known = problem.near[:, :count]
    if count == 0:
        return np.zeros(problem.n)
    d2 = np.take_along_axis(problem.d2, known, axis=1)
    return np.asarray(d2.sum(axis=1) + (count - d2.shape[1]) * d2[:, -1])


@dataclass
class Columns:
    """The groups that the linear program knows, each once."""

    problem: Problem
    members: list[tuple[int, ...]] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    known: set[tuple[int, ...]] = field(default_factory=set)

    def add(self, group: Iterable[int], cost: float) -> None:
        """One more group, if it is new; equal records are the same to it."""
        key = canonical(self.problem, group)
        if key not in self.known:
            self.known.add(key)
            self.members.append(key)
            self.costs.append(cost)

    def add_priced(self, group: list[int]) -> None:
        """One more group, with its SSE from the distances."""
        self.add(group, float(self.problem.d2[np.ix_(group, group)].sum()) / (2 * len(group)))

    def as_groups(self) -> "Groups":
        """The groups as bits, in no order and without reduced costs."""
        from shoal.kernels.proofs.cover import Groups, masks_of

        sizes = np.array([len(key) for key in self.members])
        members = np.zeros((len(sizes), sizes.max()), np.int32)
        for row, key in zip(members, self.members, strict=True):
            row[: len(key)] = key
        masks = masks_of(members, sizes, (self.problem.n + 63) // 64)
        return Groups(masks, sizes, np.array(self.costs), np.zeros(len(sizes)), np.zeros(1, np.int64))

    def keep(self, chosen: NDArray[np.bool_]) -> None:
        """Drop all others."""
        self.members = [key for key, stays in zip(self.members, chosen, strict=True) if stays]
        self.costs = [cost for cost, stays in zip(self.costs, chosen, strict=True) if stays]
        self.known = set(self.members)


def canonical(problem: Problem, group: Iterable[int]) -> tuple[int, ...]:
    """The group with, of equal records, those with the lowest numbers, rising."""
    members = sorted(group)
    for place, record in enumerate(members):
        while problem.twin[record] and (place == 0 or members[place - 1] != record - 1):
            record -= 1
        members[place] = record
    return tuple(members)


def solve(columns: Columns, scale: float) -> tuple[float, Float, float, Float] | None:
    """The linear program over the known groups: its value, prices, toll and the reduced costs."""
    from scipy.optimize import linprog
    from scipy.sparse import csc_array

    kinds = columns.problem.kinds()
    weights = np.bincount(kinds)
    sizes = np.array([len(key) for key in columns.members])
    rows = kinds[np.concatenate([np.array(key) for key in columns.members])]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    # Equal records of a group fall into one row, where their ones are added up.
    table = csc_array((np.ones(len(rows)), rows, starts), shape=(len(weights), len(sizes)))
    table.sum_duplicates()
    costs = np.array(columns.costs) / scale
    result = linprog(
        costs,
        A_eq=table,
        b_eq=weights,
        A_ub=np.ones((1, len(costs))),
        b_ub=[columns.problem.most_groups],
        method="highs-ds",
    )
    if result.status != 0:
        return None
    prices, toll = result.eqlin.marginals, min(float(result.ineqlin.marginals[0]), 0.0)
    reduced = costs - table.T @ prices - toll
    return float(result.fun) * scale, prices[kinds] * scale, toll * scale, reduced * scale


@dataclass
class Generation:
    """Column generation, one round at a time; `best` are the best prices proven so far."""

    problem: Problem
    columns: Columns
    upper: float
    best: Prices
    most_nodes: int
    converged: bool = False
    stuck: bool = False
    rounds: int = 0
    plain: bool = False  # whether the next round takes the proposed prices as they are

    def round(self, stopped: Stopped) -> None:
        """Solve, price, prove; sets `converged` or, where that is not possible, `stuck`."""
        solved = solve(self.columns, self.upper / self.problem.n)
        if solved is None:
            self.stuck = True
            return
        value, prices, toll, reduced = solved
        most = max(_KEEP, 8 * self.problem.n)
        if len(reduced) > most:
            self.columns.keep(reduced <= np.partition(reduced, most // 2)[most // 2])
        smooth = 0.0 if self.plain or value - self.best.bound < 1e-3 * self.upper else _SMOOTH
        prices = smooth * self.best.record + (1 - smooth) * prices
        prices = np.clip(prices, -10 * self.upper, 10 * self.upper)
        toll = smooth * self.best.toll + (1 - smooth) * toll
        before = len(self.columns.known)
        lowest = self.price(prices, toll, stopped)
        if lowest is None:
            self.stuck = stopped() or len(self.columns.known) == before
            return
        bound = float(prices.sum()) + self.problem.most_groups * (toll + lowest)
        idle = len(self.columns.known) == before and bound <= self.best.bound + 1e-6 * self.upper
        if bound > self.best.bound:
            self.best = Prices(prices, toll + lowest, bound)
        self.converged = value - self.best.bound <= 1e-10 * self.upper + 0.01 * max(self.upper - value, 0.0)
        self.rounds += 1
        self.stuck = not self.converged and ((idle and smooth == 0) or self.rounds == _MOST_ROUNDS)
        self.plain = idle

    def price(self, prices: Float, toll: float, stopped: Stopped) -> float | None:
        """Add groups that cost less than their prices; the lowest reduced cost (at most 0), if all were seen."""
        from shoal.kernels.proofs.subsets import groups_below, no_fines

        problem, free = self.problem, no_fines(self.problem.n)
        members = np.empty((_ROOM, problem.high), np.int32)
        sizes, costs = np.empty(_ROOM, np.int64), np.empty(_ROOM)
        least, complete = 0.0, True
        for anchor in np.flatnonzero(~problem.twin).tolist():
            found, nodes, lowest = groups_below(
                problem.d2,
                problem.near,
                problem.twin,
                prices,
                toll,
                problem.low,
                problem.high,
                anchor,
                -1e-11 * self.upper,
                self.upper,  # a group dearer than a whole partition is in no better one
                True,
                self.most_nodes,
                free,
                members,
                sizes,
                costs,
            )
            least, complete = min(least, lowest), complete and nodes >= 0
            for i in range(found):
                self.columns.add(members[i, : sizes[i]].tolist(), float(costs[i]))
            if stopped():
                return None
        # What is not added was above the limit, -1e-11 of the SSE: that much is taken off the toll.
        return least - 1e-11 * self.upper if complete else None


def collect(
    problem: Problem, prices: Prices, limit: float, dearest: float, most: int, most_nodes: int, stopped: Stopped
) -> "Groups | None":
    """All groups whose reduced cost is below the limit; None if they are more than `most` or time is up."""
    from shoal.kernels.proofs.cover import Groups, masks_of
    from shoal.kernels.proofs.subsets import groups_below, no_fines

    words, free = (problem.n + 63) // 64, no_fines(problem.n)
    room = min(most, 1 << 12)
    members = np.empty((room, problem.high), np.int32)
    sizes, costs = np.empty(room, np.int64), np.empty(room)
    parts, starts = [], np.zeros(problem.n + 1, np.int64)
    for anchor in range(problem.n):
        starts[anchor + 1] = starts[anchor]
        if problem.twin[anchor]:
            continue
        while True:
            found, nodes, _ = groups_below(
                problem.d2,
                problem.near,
                problem.twin,
                prices.record,
                prices.toll,
                problem.low,
                problem.high,
                anchor,
                limit,
                dearest,
                False,
                most_nodes,
                free,
                members,
                sizes,
                costs,
            )
            if nodes >= 0 or found < room:
                break
            room = min(4 * room, most)
            if room == len(sizes):
                return None
            members = np.empty((room, problem.high), np.int32)
            sizes, costs = np.empty(room, np.int64), np.empty(room)
        starts[anchor + 1] += found
        if nodes < 0 or starts[anchor + 1] > most or stopped():
            return None
        there = np.arange(problem.high) < sizes[:found, None]
        priced = np.where(there, prices.record[np.where(there, members[:found], 0)], 0.0).sum(axis=1)
        reduced = costs[:found] - priced - prices.toll
        order = np.argsort(reduced, kind="stable")
        masks = masks_of(members[:found], sizes[:found], words)
        parts.append((masks[order], sizes[:found][order], costs[:found][order], reduced[order]))
    masks, sizes, costs, reduced = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Groups(masks, sizes, costs, reduced, starts)


def counts_of(problem: Problem, groups: "Groups") -> tuple[Float, Int]:
    """How many records of each point each group has, one column a group, and how many there are."""
    bits = np.unpackbits(groups.masks.view(np.uint8), axis=1, bitorder="little")[:, : problem.n]
    counts = np.add.reduceat(bits, np.flatnonzero(~problem.twin), axis=1, dtype=np.float64)
    return np.ascontiguousarray(counts.T), np.bincount(problem.kinds())


def whole_solution(problem: Problem, groups: "Groups", scale: float, seconds: float) -> Int:
    """A good partition into some of the groups, by integer programming: their numbers, or none."""
    from scipy.optimize import LinearConstraint, milp
    from scipy.sparse import csc_array

    table, weights = counts_of(problem, groups)
    result = milp(
        groups.costs / scale,
        integrality=np.ones(len(groups.costs)),
        constraints=LinearConstraint(csc_array(table), weights, weights),
        options={"time_limit": seconds},
    )
    times = np.zeros(len(groups.costs), np.int64) if result.x is None else np.rint(result.x).astype(np.int64)
    if not np.array_equal(table @ times, weights):
        return np.empty(0, np.int64)
    return np.repeat(np.arange(len(times)), times)
