"""Power cells: which centre is nearest to each point when a price is added to the squared distance.

Points alike are merged and keep their number as a weight. The rest lies in kd order, in blocks of 64 with boxes
around blocks, around 8 and around 128 of them. A centre whose least possible value over a box is above what
others can promise is out for the whole box, so that a point is compared with a handful of centres. Bounds are
rounded as the distances are (every step of the sum is monotone), so nothing is lost to rounding.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.order import group_twins, kd_order

BLOCK = 64  # points
LEVELS = np.array([1, 8, 128])  # blocks in a box


class Plan(NamedTuple):
    """A table made ready for many assignments."""

    points: Array  # float64 (blocks, m, BLOCK): distinct points; the last one fills up the last block
    weights: Array  # int64 (blocks * BLOCK,): how many records are there, 0 for what only fills up
    records: Array  # int32 (n,): the records of the first point, ascending, then of the second, ...
    starts: Array  # int64 (points + 1,): where the records of each point start
    low: Array  # float64 (boxes, m): the boxes of single blocks, then of 8, then of 128
    high: Array
    first: Array  # int64 (4,): where the boxes of each level start


class Nearest(NamedTuple):
    """The nearest and second nearest cell of each point of a plan."""

    best: Array  # int32: argmin of squared distance + price, the lowest of equals
    second: Array  # int32: the next one, -1 if there is no other
    value: Array  # float64: squared distance + price at the best
    gap: Array  # float64: how much more the second costs
    counts: Array  # int64 (c,): records in each cell


@kernel
def lay_out(rows: Array, order: Array, points: Array) -> None:
    """Write the rows in order into blocks, attribute by attribute."""
    blocks, m, size = points.shape
    for b in range(blocks):
        for lane in range(size):
            i = order[min(b * size + lane, order.size - 1)]
            for j in range(m):
                points[b, j, lane] = rows[i, j]


@kernel
def draw_boxes(points: Array, span: int, low: Array, high: Array) -> None:
    """Boxes around every `span` blocks."""
    low[:] = np.inf
    high[:] = -np.inf
    for b in range(points.shape[0]):
        for j in range(points.shape[1]):
            for lane in range(points.shape[2]):
                low[b // span, j] = min(low[b // span, j], points[b, j, lane])
                high[b // span, j] = max(high[b // span, j], points[b, j, lane])


@kernel
def gather_records(twins: Array, runs: Array, order: Array, records: Array, starts: Array, weights: Array) -> None:
    """The records of each point in the order of the points."""
    at = 0
    weights[:] = 0
    for i in range(order.size):
        starts[i] = at
        weights[i] = runs[order[i] + 1] - runs[order[i]]
        for t in range(runs[order[i]], runs[order[i] + 1]):
            records[at] = twins[t]
            at += 1
    starts[order.size] = at


def prepare(rows: Array) -> Plan:
    """The plan of a table (float64, C order), for any number of assignments."""
    n, m = rows.shape
    twins, runs = group_twins(rows, np.arange(n, dtype=np.int32))
    distinct = rows[twins[runs[:-1]]]
    # The order needs no precision, but its sums of squares must not overflow.
    span = np.abs(distinct).max(initial=0.0)
    coords = distinct / span if span > 0 else distinct
    order = np.arange(len(distinct), dtype=np.int32)
    kd_order(coords, order, np.empty(len(distinct)))
    blocks = -(-len(distinct) // BLOCK)
    points = np.empty((blocks, m, BLOCK))
    lay_out(distinct, order, points)
    first = np.concatenate([[0], np.cumsum(-(-blocks // LEVELS))])
    low, high = np.empty((2, first[-1], m))
    for level, boxes in enumerate(LEVELS):
        part = slice(first[level], first[level + 1])
        draw_boxes(points, boxes, low[part], high[part])
    records, starts = np.empty(n, np.int32), np.empty(len(distinct) + 1, np.int64)
    weights = np.empty(blocks * BLOCK, np.int64)
    gather_records(twins, runs, order, records, starts, weights)
    return Plan(points, weights, records, starts, low, high, first)


@inner
def nearest_in_box(low: Array, high: Array, box: int, centre: Array) -> float:
    """The squared distance from a centre to a box, never above that of a point inside."""
    total = 0.0
    for j in range(centre.size):
        away = max(low[box, j] - centre[j], centre[j] - high[box, j], 0.0)
        total += away * away
    return total


@inner
def farthest_in_box(low: Array, high: Array, box: int, centre: Array) -> float:
    """The squared distance from a centre to the far corner of a box, never below that of a point inside."""
    total = 0.0
    for j in range(centre.size):
        away = max(abs(low[box, j] - centre[j]), abs(high[box, j] - centre[j]))
        total += away * away
    return total


@inner
def sift(
    plan: Plan,
    box: int,
    centres: Array,
    prices: Array,
    reach: Array,
    given: Array,
    count: int,
    kept: Array,
    near: Array,
) -> int:
    """Keep those of the given cells that may matter to a point in the box; returns how many.

    With `reach` empty: any that may be best or second best. Else: any that may be within reach[best] of the best.
    """
    best, second = np.inf, np.inf
    for i in range(count):
        q = given[i]
        near[i] = nearest_in_box(plan.low, plan.high, box, centres[q]) + prices[q]
        if near[i] < second:
            far = farthest_in_box(plan.low, plan.high, box, centres[q]) + prices[q]
            if far < best:
                best, second = far, best
            elif far < second:
                second = far
    limit = second
    if reach.size > 0:
        widest = 0.0
        for i in range(count):
            if near[i] <= best:
                widest = max(widest, reach[given[i]])
        limit = best + widest
    size = 0
    for i in range(count):
        if near[i] <= limit:
            kept[size] = given[i]
            size += 1
    return size


@inner
def measure(points: Array, b: int, centre: Array, price: float, values: Array) -> None:
    """Squared distance + price from every point of a block to one centre."""
    for lane in range(BLOCK):
        values[lane] = 0.0
    for j in range(centre.size):
        place = centre[j]
        for lane in range(BLOCK):
            away = points[b, j, lane] - place
            values[lane] += away * away
    for lane in range(BLOCK):
        values[lane] += price


@inner
def rank(values: Array, q: int, board: Array) -> None:
    """Enter one cell's values into the board of a block: least values, next ones, then the cells of both.

    One array and no branches, so that lanes go side by side.
    """
    cell = float(q)
    for lane in range(BLOCK):
        new, old, worse = values[lane], board[lane], board[BLOCK + lane]
        first, other = board[2 * BLOCK + lane], board[3 * BLOCK + lane]
        wins = new < old
        beaten = old if wins else new
        loser = first if wins else cell
        places = wins | (beaten < worse)
        board[lane] = new if wins else old
        board[BLOCK + lane] = beaten if places else worse
        board[2 * BLOCK + lane] = cell if wins else first
        board[3 * BLOCK + lane] = loser if places else other


@kernel
def sweep(plan: Plan, centres: Array, prices: Array, out: Nearest) -> None:
    """Find the nearest and second nearest cell of every point."""
    blocks, cells = plan.points.shape[0], centres.shape[0]
    everyone, anything = np.arange(cells), np.empty(0)
    top, middle, few = np.empty(cells, np.int64), np.empty(cells, np.int64), np.empty(cells, np.int64)
    near = np.empty(cells)
    values, board = np.empty(BLOCK), np.empty(4 * BLOCK)
    tops, middles = 0, 0
    out.counts[:] = 0
    for b in range(blocks):
        if b % 128 == 0:
            tops = sift(plan, plan.first[2] + b // 128, centres, prices, anything, everyone, cells, top, near)
        if b % 8 == 0:
            middles = sift(plan, plan.first[1] + b // 8, centres, prices, anything, top, tops, middle, near)
        count = sift(plan, b, centres, prices, anything, middle, middles, few, near)
        board[: 2 * BLOCK] = np.inf
        board[2 * BLOCK :] = -1.0
        for i in range(count):
            measure(plan.points, b, centres[few[i]], prices[few[i]], values)
            rank(values, few[i], board)
        for lane in range(BLOCK):
            x = b * BLOCK + lane
            best = int(board[2 * BLOCK + lane])
            out.best[x], out.second[x] = best, int(board[3 * BLOCK + lane])
            out.value[x], out.gap[x] = board[lane], board[BLOCK + lane] - board[lane]
            out.counts[best] += plan.weights[x]


def nearest(plan: Plan, centres: Array, prices: Array) -> Nearest:
    """The nearest and second nearest cell of every point, squared distance + price."""
    size = len(plan.weights)
    best, second = np.empty((2, size), np.int32)
    value, gap = np.empty((2, size))
    out = Nearest(best, second, value, gap, np.empty(len(centres), np.int64))
    sweep(plan, centres, prices, out)
    return out
