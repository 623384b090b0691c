"""Records to cells of given sizes at the least total squared distance, for cells of any size.

A transport problem, solved by its dual prices: each record belongs to the cell where squared distance + price is
least (a power cell). `balance` finds prices that are right up to a few records, `exchange` moves these along the
cheapest chains, and a last look at all cells proves the result: every record is where its cost is least, so the
total equals the dual value and no other assignment with these sizes is cheaper. Records alike are one point with a
weight, and so are centres alike.
"""

import numpy as np

from shoal.kernels.compiled import Array, kernel
from shoal.kernels.search_tree.order import group_twins
from shoal.kernels.transport.balance import balance, gap_at_rank
from shoal.kernels.transport.blocks import BLOCK, Nearest, Plan, nearest, prepare
from shoal.kernels.transport.chains import Arcs, carry_over, exchange, list_arcs, part_ties
from shoal.kernels.transport.flow import transport

__all__ = ["Plan", "assign", "nearest", "prepare"]

_COMPLETE = 20_000  # points times cells that are listed in full
_SMALL = 12  # records in a cell, on average, below which `transport` is faster
_ROUNDING = 1e-12
_LISTED = 64  # records of a cell that are listed at first, at least
_PATIENCE = 6  # times that a cell's list grows before it is complete


@kernel
def hand_out(plan: Plan, near: Nearest, arcs: Arcs, labels: Array) -> None:
    """The cell of each record; of a point in several cells, the lowest records go to the lowest cell."""
    for x in range(plan.starts.size - 1):
        for t in range(plan.starts[x], plan.starts[x + 1]):
            labels[plan.records[t]] = near.best[x]
    for listed in range(arcs.points.size):
        t = plan.starts[arcs.points[listed]]
        for a in range(arcs.starts[listed], arcs.starts[listed + 1]):
            for _ in range(arcs.flow[a]):
                labels[plan.records[t]] = arcs.cells[a]
                t += 1


@kernel
def proves(
    plan: Plan, centres: Array, prices: Array, before: Nearest, arcs: Arcs, now: Nearest, rounding: float
) -> bool:
    """Whether every record is where squared distance + price is least, up to rounding.

    `before` says where records are that have no arcs, `now` what is best at these prices. Rounding is relative to
    the largest price, since prices are sums of differences along chains of cells.
    """
    largest = np.abs(prices).max()
    for listed in range(arcs.points.size):
        best = now.value[arcs.points[listed]]
        for a in range(arcs.starts[listed], arcs.starts[listed + 1]):
            price = prices[arcs.cells[a]]
            room = rounding * (arcs.costs[a] + abs(best) + largest)
            if arcs.flow[a] > 0 and arcs.costs[a] + price - best > room:
                return False
        before.best[arcs.points[listed]] = now.best[arcs.points[listed]]  # done with
    for x in range(plan.starts.size - 1):
        q = before.best[x]
        if q != now.best[x]:
            cost = 0.0
            for j in range(centres.shape[1]):
                away = plan.points[x // BLOCK, j, x % BLOCK] - centres[q, j]
                cost += away * away
            if cost + prices[q] - now.value[x] > rounding * (cost + abs(now.value[x]) + largest):
                return False
    return True


def rows_of(plan: Plan) -> Array:
    """The table that the plan was made from."""
    blocks, m, _ = plan.points.shape
    points = plan.points.transpose(0, 2, 1).reshape(blocks * BLOCK, m)[: len(plan.starts) - 1]
    rows = np.empty((len(plan.records), m))
    rows[plan.records] = np.repeat(points, np.diff(plan.starts), axis=0)
    return rows


def fair_start(plan: Plan, centres: Array, prices: Array | None) -> Array:
    """Prices to start from, around 0; all 0 if those given are out of all proportion."""
    if prices is None:
        return np.zeros(len(centres))
    box = slice(plan.first[2], plan.first[3])
    low, high = plan.low[box].min(axis=0), plan.high[box].max(axis=0)
    farthest = np.maximum(np.abs(centres - low), np.abs(centres - high))
    widest = (farthest**2).sum(axis=1).max()
    with np.errstate(over="ignore", invalid="ignore"):
        start = prices - prices.min()
    if not start.max() <= 4 * widest * min(len(centres), 1000):
        return np.zeros(len(centres))
    return start - start.mean()


def reach_at_rank(near: Nearest, weights: Array, ranks: Array) -> Array:
    """How far beyond the best cell points have to be listed, for each cell, so that ranks[q] records are."""
    reach, widest = np.empty((2, len(ranks)))
    gap_at_rank(near, weights, ranks, 1, reach, widest)
    return np.maximum(reach, 1e-3 * np.median(reach))  # a cell may hold nothing but ties


def settle(plan: Plan, centres: Array, sizes: Array, prices: Array) -> tuple[Array, Array]:
    """(labels, prices) for different centres."""
    cells, points = len(centres), len(plan.starts) - 1
    complete = points * cells <= _COMPLETE
    if complete:
        near = nearest(plan, centres, prices)
    elif len(plan.records) < _SMALL * cells:  # too few records at a border to estimate from
        prices = transport(rows_of(plan), centres, sizes, sizes, True, prices)[1]
        near = nearest(plan, centres, prices)
    else:
        prices, near = balance(plan, centres, sizes, prices, cells // 2 + points // 4000)
    ranks = _LISTED + 4 * np.abs(near.counts - sizes)
    reach = np.full(cells, np.inf if complete else 0.0)
    patience = np.full(cells, _PATIENCE)
    short = np.zeros(cells, np.bool_)
    labels = np.empty(len(plan.records), np.int64)
    arcs: Arcs | None = None
    rounding = _ROUNDING
    while True:
        reach = np.maximum(reach, reach_at_rank(near, plan.weights, ranks))
        before, arcs = arcs, list_arcs(plan, centres, prices, near, reach)
        held = near.counts.copy()
        if before is not None:
            carry_over(before, arcs, held)
        surplus = held - sizes
        roof = np.where(near.counts > 0, prices + reach, np.inf)
        exchange(arcs, surplus, prices, roof, short)
        if not surplus.any():
            room = float((roof - prices).min()) / 4
            if room > 0.0:
                part_ties(arcs, prices, room)
            now = nearest(plan, centres, prices)
            hand_out(plan, near, arcs, labels)
            if proves(plan, centres, prices, near, arcs, now, rounding):
                return labels, prices
            near = now
            short[:] = True
            if np.isinf(reach).all():  # then nothing else can be wrong
                rounding *= 4
        else:
            near = nearest(plan, centres, prices)
        patience[short] -= 1
        ranks = np.where(short, 8, 2) * ranks
        reach[short] *= 4
        reach[short & (patience < 0)] = np.inf


def settle_any(plan: Plan, centres: Array, sizes: Array, prices: Array) -> tuple[Array, Array]:
    """(labels, prices) for any centres: those alike are one, and its records are shared out, the lowest first."""
    twins, runs = group_twins(centres, np.arange(len(centres), dtype=np.int32))
    lowest = np.empty(len(centres), np.int64)
    lowest[twins] = np.repeat(twins[runs[:-1]], np.diff(runs))
    different, merged = np.unique(lowest, return_inverse=True)
    if len(different) == 1:
        labels, found = np.zeros(len(plan.records), np.int64), np.zeros(1)
    else:
        totals = np.bincount(merged, sizes).astype(np.int64)
        labels, found = settle(plan, centres[different], totals, prices[different])
    if len(different) < len(centres):
        members = np.argsort(merged, kind="stable")
        labels[np.argsort(labels, kind="stable")] = np.repeat(members, sizes[members])
    return labels, found[merged]


def assign(plan: Plan, centres: Array, sizes: Array, prices: Array | None = None) -> tuple[Array, Array]:
    """(labels, prices): the records in cells of exactly these sizes, at the least total squared distance.

    Prices given, one for each cell, are where the search begins. The prices returned prove the result: each record
    is where squared distance + price is least, up to rounding. One that costs the same in two cells may be in
    either; of records alike, the lowest go to the lowest cell.
    """
    n = len(plan.records)
    if sizes.sum() != n or sizes.min() < 1:
        raise ValueError(f"sizes of {sizes.sum()} records in all, each at least 1, for {n} records")
    return settle_any(plan, centres, sizes, fair_start(plan, centres, prices))
