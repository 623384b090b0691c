"""Prices under which cells hold nearly the records they should: Newton's method on the dual problem.

The dual of the transport problem, the sum of every record's least squared distance + price less the sum of
size * price, is concave; its slope at a price is what the cell holds more than it should. Raising a price drives
records over the borders of the cell; how many each border lets pass is estimated from the gaps between best and
second best cell, over as many records of each cell as it has to lose or win. That makes the Hessian, a weighted
graph of neighbouring cells. Within this width of a border a record counts partly on either side: heavy points on
a border would else throw all their weight over it at each step.
"""

import numpy as np

from shoal.kernels.compiled import Array, kernel
from shoal.kernels.transport.blocks import BLOCK, Nearest, Plan, measure, nearest

_SAMPLE = 32  # records at the borders of a cell that its bandwidth takes in, at least
_DISTINCT = 8  # and points
_BINS = 128  # for gaps, two to each factor of 2; below them a gap is nothing but rounding
_ROUNDS = 40
_TRIALS = 12  # points along one direction
_GROUND = 1e-4  # what keeps parts of the graph without a border between them from drifting apart


@kernel
def gap_at_rank(near: Nearest, weights: Array, ranks: Array, distinct: int, widths: Array, widest: Array) -> None:
    """For each cell a gap not exceeded by ranks[q] of its records and `distinct` points, or by all it has.

    It may be too wide by a factor of 1.5; 0 for an empty cell. `widest` gets the same for all records.
    """
    cells = ranks.size
    top = np.zeros(cells, np.int64)
    bits = near.gap.view(np.int64)
    for x in range(weights.size):
        top[near.best[x]] = max(top[near.best[x]], bits[x] >> 51)
    held, points = np.zeros((cells, _BINS), np.int64), np.zeros((cells, _BINS), np.int32)
    for x in range(weights.size):
        if weights[x] > 0:
            q = near.best[x]
            rung = min(top[q] - (bits[x] >> 51), _BINS - 1)
            held[q, rung] += weights[x]
            points[q, rung] += 1
    edge = np.empty(1, np.int64)
    for q in range(cells):
        records, different, rung = 0, 0, _BINS
        while rung > 0 and (records < ranks[q] or different < distinct):
            rung -= 1
            records += held[q, rung]
            different += points[q, rung]
        edge[0] = (top[q] + 1) << 51
        widest[q] = edge.view(np.float64)[0]
        edge[0] = (max(top[q] - rung, 0) + 1) << 51
        widths[q] = edge.view(np.float64)[0] if records > 0 else 0.0


@kernel
def soft_counts(near: Nearest, weights: Array, widths: Array) -> Array:
    """The records in each cell, those near a border shared between both sides."""
    counts = np.zeros(widths.size)
    for x in range(weights.size):
        q, r = near.best[x], near.second[x]
        width = 0.5 * (widths[q] + widths[r])
        share = 0.5 * weights[x] * (1.0 - near.gap[x] / width) if near.gap[x] < width else 0.0
        counts[q] += weights[x] - share
        counts[r] += share
    return counts


@kernel
def border_graph(near: Nearest, weights: Array, widths: Array) -> tuple[Array, Array, Array, Array]:
    """(starts, neighbours, rates, totals): records that pass each border for a unit of price, row by row."""
    cells = widths.size
    starts = np.zeros(cells + 2, np.int64)
    for x in range(weights.size):
        q, r = near.best[x], near.second[x]
        if weights[x] > 0 and near.gap[x] < 0.5 * (widths[q] + widths[r]):
            starts[q + 2] += 1
            starts[r + 2] += 1
    starts = np.cumsum(starts)
    to, rate = np.empty(starts[-1], np.int64), np.empty(starts[-1])
    for x in range(weights.size):
        q, r = near.best[x], near.second[x]
        if weights[x] > 0 and near.gap[x] < 0.5 * (widths[q] + widths[r]):
            amount = weights[x] / (widths[q] + widths[r])
            to[starts[q + 1]], rate[starts[q + 1]] = r, amount
            to[starts[r + 1]], rate[starts[r + 1]] = q, amount
            starts[q + 1] += 1
            starts[r + 1] += 1
    place = np.full(cells, -1)
    totals = np.zeros(cells)
    size, first = 0, 0
    for q in range(cells):  # one entry for each neighbour
        begin, last = size, starts[q + 1]
        for e in range(first, last):
            r, amount = to[e], rate[e]
            if place[r] < begin:
                place[r] = size
                to[size], rate[size] = r, 0.0
                size += 1
            rate[place[r]] += amount
            totals[q] += amount
        first = last
        starts[q + 1] = size
        for e in range(begin, size):
            place[to[e]] = -1
    return starts[: cells + 1], to[:size], rate[:size], totals


@kernel
def solve(starts: Array, to: Array, rate: Array, totals: Array, ground: Array, surplus: Array, most: int) -> Array:
    """The price changes that let each cell's surplus flow off over its borders, by conjugate gradients."""
    cells = totals.size
    step, image = np.zeros(cells), np.zeros(cells)
    residual = surplus.astype(np.float64)
    scale = 1.0 / (totals + ground)
    ahead = residual * scale
    power = (residual * ahead).sum()
    goal = power * 1e-8
    for _ in range(most):
        if not power > goal:
            break
        for q in range(cells):
            total = (totals[q] + ground[q]) * ahead[q]
            for e in range(starts[q], starts[q + 1]):
                total -= rate[e] * ahead[to[e]]
            image[q] = total
        bend = (ahead * image).sum()
        if not bend > 0.0:  # rounding has eaten the ground
            break
        along = power / bend
        step += along * ahead
        residual -= along * image
        before = power
        power = (residual * residual * scale).sum()
        ahead = residual * scale + power / before * ahead
    return step


@kernel
def keys_to(plan: Plan, near: Nearest, centre: Array, keys: Array) -> None:
    """The price below which a cell would win each point."""
    values = np.empty(BLOCK)
    for b in range(plan.points.shape[0]):
        measure(plan.points, b, centre, 0.0, values)
        for lane in range(BLOCK):
            x = b * BLOCK + lane
            keys[x] = near.value[x] - values[lane]


def price_to_fill(plan: Plan, near: Nearest, centre: Array, size: int) -> float:
    """The price at which an empty cell wins its size from the others; they are left with what it does not take."""
    keys = np.empty(len(plan.weights))
    keys_to(plan, near, centre, keys)
    keys = keys[: len(plan.starts) - 1]
    count = min(size, len(keys))
    top = np.argpartition(-keys, count - 1)[:count]
    top = top[np.argsort(-keys[top], kind="stable")]
    enough = int(np.searchsorted(np.cumsum(plan.weights[top]), size))
    price = float(keys[top[min(enough, count - 1)]])
    near.value[: len(keys)] -= np.maximum(keys - price, 0.0)
    return price


def fill_empty(plan: Plan, centres: Array, sizes: Array, prices: Array, near: Nearest) -> Nearest:
    """Lower the prices of cells without records, one after the other, until they hold some."""
    for _ in range(5):
        empty = np.flatnonzero(near.counts == 0)
        if not len(empty):
            break
        for q in empty:
            prices[q] = price_to_fill(plan, near, centres[q], int(sizes[q]))
        near = nearest(plan, centres, prices)
    return near


def search(
    plan: Plan, centres: Array, sizes: Array, prices: Array, widths: Array, step: Array, slope: float
) -> tuple[Array, Nearest] | None:
    """(prices, cells) at a point along the step where the dual is nearly level: half the slope at most."""
    low, high, part = 0.0, np.inf, 1.0
    for _ in range(_TRIALS):
        near = nearest(plan, centres, prices + part * step)
        there = float((soft_counts(near, plan.weights, widths) - sizes) @ step)
        if abs(there) <= 0.5 * slope:
            return prices + part * step, near
        if there > 0:
            low, part = part, 2 * part if high == np.inf else (part + high) / 2
        else:
            high = part
            part = low + (part - low) * max(0.1, min(0.5, slope / (slope - there)))
    return None


def balance(plan: Plan, centres: Array, sizes: Array, prices: Array, goal: int) -> tuple[Array, Nearest]:
    """(prices, cells): prices that leave at most about `goal` records in the wrong cell, where that works."""
    prices = prices.copy()
    near = fill_empty(plan, centres, sizes, prices, nearest(plan, centres, prices))
    surplus = (near.counts - sizes).astype(np.float64)
    widths, widest = np.empty((2, len(sizes)))
    least, stalls = np.inf, 0
    for _ in range(_ROUNDS):
        wrong = np.abs(near.counts - sizes).sum() // 2
        stalls = stalls + 1 if wrong > 0.75 * least else 0
        if wrong <= goal or stalls > (5 if wrong > len(plan.records) // 16 else 1):
            break
        least = min(least, wrong)
        ranks = np.maximum(_SAMPLE, 2 * np.abs(surplus))
        gap_at_rank(near, plan.weights, ranks, _DISTINCT, widths, widest)
        surplus = soft_counts(near, plan.weights, widths) - sizes
        least_gap = max(1e-15 * widest.max(), np.finfo(float).tiny)  # below it a gap is nothing but rounding
        np.maximum(widths, least_gap, out=widths)
        ground = _GROUND * sizes / np.maximum(widest, least_gap)
        step = solve(*border_graph(near, plan.weights, widths), ground, surplus, 4 * len(sizes) + 20)
        if not np.abs(step).max() <= 1e3 * len(sizes) * widest.max():  # a graph in parts, or rounding
            break
        found = search(plan, centres, sizes, prices, widths, step, float(surplus @ step))
        if found is None:
            break
        prices, near = found
        near = fill_empty(plan, centres, sizes, prices, near)
        surplus = soft_counts(near, plan.weights, widths) - sizes
    return prices, near
