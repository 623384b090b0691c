"""Moves and swaps of the records of a few groups until none gains, by pairs and, of large groups, by centroids.

By centroids, with d(g, x) the squared distance of x to that of g, a swap of x of group h and y of group g, of a
and b records, changes the SSE by

    d(g, x) - d(h, x) + d(h, y) - d(g, y) - w |x - y|^2   with w = 1 / a + 1 / b.

Since |x - y|^2 is at most 2 d(g, x) + 2 d(g, y), this is at least

    (1 - 2w) d(g, x) - d(h, x)  +  d(h, y) - (1 + 2w) d(g, y),

a part of x and one of y: with the least part of all y of g known, most x need one comparison for each group.
"""

import numpy as np

from shoal.kernels.compiled import inner
from shoal.kernels.local import Local, drop, enter, leave, measure, put


@inner
def polish_by_pairs(local: Local, records: int, groups: int, k: int, least: float) -> None:
    """Moves and swaps until none gains more than `least`."""
    for x in range(records):
        local.own[x] = local.sums[local.label[x], x]
    for g in range(groups):
        local.inverse[g] = 1.0 / local.size[g]
    idle, x = 0, -1
    for _ in range(40 * records):
        if idle == records:
            break
        idle += 1
        x = x + 1 if x + 1 < records else 0
        home = local.label[x]
        a = local.size[home]
        delta, other, to = -least, -1, -1
        if a > k:
            leaving = local.pairs[home] / a - (local.pairs[home] - local.sums[home, x]) / (a - 1)
            for g in range(groups):
                b = local.size[g]
                if g != home and b < 2 * k - 1:
                    change = (local.pairs[g] + local.sums[g, x]) / (b + 1) - local.pairs[g] / b - leaving
                    if change < delta:
                        delta, to = change, g
        part = 1.0 / a
        own = local.own[x]
        for y in range(records):
            g = local.label[y]
            if g != home:
                d2 = local.pairwise[x, y]
                change = (local.sums[home, y] - own - d2) * part
                change += (local.sums[g, x] - local.own[y] - d2) * local.inverse[g]
                if change < delta:
                    delta, other, to = change, y, g
        if to < 0:
            continue
        idle = 0
        drop(local, x, home, records)
        put(local, x, to, records)
        if other >= 0:
            drop(local, other, to, records)
            put(local, other, home, records)
        else:
            local.inverse[home], local.inverse[to] = 1.0 / local.size[home], 1.0 / local.size[to]
        for y in range(records):
            if local.label[y] == home or local.label[y] == to:
                local.own[y] = local.sums[local.label[y], y]


@inner
def polish_by_centroids(local: Local, records: int, groups: int, k: int, least: float) -> None:
    """Moves and swaps until none gains more than `least`."""
    for g in range(groups):
        weigh(local, g, records)
    local.known[:groups] = False
    idle, x = 0, -1
    for _ in range(40 * records):
        if idle == records:
            break
        idle += 1
        x = x + 1 if x + 1 < records else 0
        home = local.label[x]
        a, own = local.size[home], local.own[x]
        delta, other, to = -least, -1, -1
        hopeful = not local.known[home]
        for g in range(groups):
            if g == home:
                local.cheapest[g] = np.inf
                continue
            b, there = local.size[g], local.sums[g, x]
            if a > k and b < 2 * k - 1:
                change = there * b / (b + 1) - own * a / (a - 1)
                if change < delta:
                    delta, to = change, g
            twice = 2.0 * (local.inverse[home] + local.inverse[g])
            local.cheapest[g] = (1.0 - twice) * there - own
            hopeful |= local.cheapest[g] + local.lowest[home, g] < delta
        if hopeful:
            other = best_swap(local, x, records, groups, delta)
        if other >= 0:
            to = local.label[other]
        if to < 0:
            continue
        idle = 0
        leave(local, x, home)
        enter(local, x, to)
        if other >= 0:
            leave(local, other, to)
            enter(local, other, home)
        weigh(local, home, records)
        weigh(local, to, records)
        local.known[:groups] = False


@inner
def weigh(local: Local, g: int, records: int) -> None:
    """What group g, which has changed, is to all records."""
    local.inverse[g] = 1.0 / local.size[g]
    measure(local, g, records)
    for y in range(records):
        if local.label[y] == g:
            local.own[y] = local.sums[g, y]
            local.share[y] = local.inverse[g]


@inner
def best_swap(local: Local, x: int, records: int, groups: int, delta: float) -> int:
    """With whom x should change places to gain more than -delta, or -1; `cheapest` holds the part of x."""
    home, other = local.label[x], -1
    for y in range(records):
        local.reach[y] = local.sums[home, y] - (1.0 + 2.0 * (local.inverse[home] + local.share[y])) * local.own[y]
    for g in range(groups):
        local.lowest[home, g] = np.inf
    local.known[home] = True
    for y in range(records):
        g, part = local.label[y], local.reach[y]
        if part < local.lowest[home, g]:
            local.lowest[home, g] = part
        if local.cheapest[g] + part >= delta:
            continue
        d2 = 0.0
        for j in range(local.centre.shape[1]):
            difference = local.columns[j, x] - local.columns[j, y]
            d2 += difference * difference
        change = local.sums[g, x] - local.own[x] + local.sums[home, y] - local.own[y]
        change -= (local.inverse[home] + local.share[y]) * d2
        if change < delta:
            delta, other = change, y
    return other
