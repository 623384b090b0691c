"""Records to cells whose sizes are measured in weights: prices, and what whole records need beyond them.

A record x costs costs[x, q] + weight[x] * price[q] in cell q. Prices alone give each cell its measure only up to
the records that cannot be divided; moves and swaps of records put right what is left.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.transport.paths import enter, leave

LEAST = 1e-12  # a change gains at least this share of everything, so that rounding cannot go in circles
_PASSES = 100


@inner
def two_least(row: Array, weight: float, price: Array) -> tuple[int, float, float]:
    """The cell that costs a record least, what it costs there and in the next best one."""
    first, least, second = 0, np.inf, np.inf
    for q in range(price.size):
        value = row[q] + weight * price[q]
        if value < least:
            first, least, second = q, value, least
        elif value < second:
            second = value
    return first, least, second


@inner
def price_for(limits: Array, weight: Array, wanted: float) -> float:
    """The price at which a cell has its measure as nearly as may be; record x stays up to the price limits[x]."""
    order = np.argsort(-limits)
    total = 0.0
    for i in range(order.size - 1):
        total += weight[order[i]]
        if total + weight[order[i + 1]] / 2 > wanted:
            return limits[order[i]] / 2 + limits[order[i + 1]] / 2
    return limits[order[-1]]


@kernel
def fit_prices(costs: Array, weight: Array, wanted: Array, price: Array, sweeps: int) -> None:
    """Give one cell after the other the price that fits its measure, in place; all weights are above 0."""
    n, cells = costs.shape
    first, least, second = np.empty(n, np.int64), np.empty(n), np.empty(n)
    for x in range(n):
        first[x], least[x], second[x] = two_least(costs[x], weight[x], price)
    limits = np.empty(n)
    for _ in range(sweeps if cells > 1 else 0):
        moved = False
        for q in range(cells):
            for x in range(n):
                elsewhere = second[x] if first[x] == q else least[x]
                limits[x] = (elsewhere - costs[x, q]) / weight[x]
            before, price[q] = price[q], price_for(limits, weight, wanted[q])
            if price[q] == before:
                continue
            moved = True
            for x in range(n):
                then, now = costs[x, q] + weight[x] * before, costs[x, q] + weight[x] * price[q]
                if first[x] == q and now <= second[x]:
                    least[x] = now
                elif then <= second[x]:
                    first[x], least[x], second[x] = two_least(costs[x], weight[x], price)
                elif now < least[x]:
                    first[x], least[x], second[x] = q, now, least[x]
                else:
                    second[x] = min(second[x], now)
        if not moved:
            return


@inner
def excess(off: float, slack: float) -> float:
    """How far a cell is off beyond what is let pass."""
    return max(abs(off) - slack, 0.0)


@inner
def mended(a: int, b: int, amount: float, off: Array, slack: float) -> float:
    """By how much two cells are less far off when an amount goes from one to the other."""
    before = excess(off[a], slack) + excess(off[b], slack)
    return before - excess(off[a] - amount, slack) - excess(off[b] + amount, slack)


@inner
def best_move(
    costs: Array, weight: Array, off: Array, labels: Array, counts: Array, low: Array, slack: float, least: float
) -> tuple[int, int]:
    """The move (record, cell) that costs least for what it mends; (-1, -1) if none mends anything."""
    rate, record, to = np.inf, -1, -1
    for x in range(labels.size):
        a = labels[x]
        if counts[a] <= low[a]:
            continue
        for b in range(off.size):
            if b != a and (abs(off[a]) > slack or abs(off[b]) > slack):
                gain = mended(a, b, weight[x], off, slack)
                if gain > least and (costs[x, b] - costs[x, a]) / gain < rate:
                    rate, record, to = (costs[x, b] - costs[x, a]) / gain, x, b
    return record, to


@inner
def best_partner(
    x: int, costs: Array, weight: Array, off: Array, labels: Array, slack: float, least: float
) -> int:
    """The record that x should change places with, at the least cost for what that mends; -1 if there is none."""
    a, rate, partner = labels[x], np.inf, -1
    for y in range(labels.size):
        b = labels[y]
        gain = mended(a, b, weight[x] - weight[y], off, slack) if b != a else 0.0
        if gain > least:
            cost = (costs[x, b] - costs[x, a] + costs[y, a] - costs[y, b]) / gain
            if cost < rate:
                rate, partner = cost, y
    return partner


@kernel
def mend(costs: Array, weight: Array, off: Array, labels: Array, counts: Array, low: Array, slack: float) -> None:
    """Move or swap records until no move and no swap brings the measures nearer; changes off, labels and counts.

    First moves, each time the cheapest for what it mends; then swaps, record by record. Cells keep `low` records.
    """
    least = LEAST * weight.sum()
    while True:
        record, to = best_move(costs, weight, off, labels, counts, low, slack, least)
        if record >= 0:
            a = labels[record]
            labels[record] = to
            counts[a] -= 1
            counts[to] += 1
            off[a] -= weight[record]
            off[to] += weight[record]
            continue
        swaps = 0
        for x in range(labels.size):
            a = labels[x]
            y = best_partner(x, costs, weight, off, labels, slack, least) if abs(off[a]) > slack else -1
            if y >= 0:
                b = labels[y]
                labels[x], labels[y] = b, a
                off[a] -= weight[x] - weight[y]
                off[b] += weight[x] - weight[y]
                swaps += 1
        if swaps == 0:
            return


@kernel
def improve(
    costs: Array, weight: Array, off: Array, labels: Array, counts: Array, low: Array, slack: float
) -> None:
    """Moves and swaps that cost less and bring no measure farther off, as long as there are any."""
    n, cells = costs.shape
    worst = -LEAST * weight.sum()
    head = np.full(cells, -1, np.int64)
    after, before = np.empty(n, np.int64), np.empty(n, np.int64)
    for x in range(n):
        enter(x, labels[x], head, after, before)
    for _ in range(_PASSES):
        changes = 0
        for x in range(n):
            a = labels[x]
            best, to, other = LEAST * abs(costs[x, a]), -1, -1
            for b in range(cells):
                gain = costs[x, a] - costs[x, b]
                if b == a or gain <= 0.0:
                    continue
                if gain > best and counts[a] > low[a] and mended(a, b, weight[x], off, slack) >= worst:
                    best, to, other = gain, b, -1
                y = head[b]
                while y >= 0:
                    swapped = gain + costs[y, b] - costs[y, a]
                    if swapped > best and mended(a, b, weight[x] - weight[y], off, slack) >= worst:
                        best, to, other = swapped, b, y
                    y = after[y]
            if to < 0:
                continue
            changes += 1
            amount = weight[x]
            leave(x, a, head, after, before)
            enter(x, to, head, after, before)
            labels[x] = to
            if other >= 0:
                leave(other, to, head, after, before)
                enter(other, a, head, after, before)
                labels[other] = a
                amount -= weight[other]
            else:
                counts[a] -= 1
                counts[to] += 1
            off[a] -= amount
            off[to] += amount
        if changes == 0:
            return
