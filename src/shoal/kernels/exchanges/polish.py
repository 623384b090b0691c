"""Moves and swaps of the records of a few groups until none gains.

With d(g, x) the squared distance of x to the centroid of g, a swap of x of group h and y of group g, of a and b
records, changes the SSE by

    d(g, x) - d(h, x) + d(h, y) - d(g, y) - w |x - y|^2   with w = 1 / a + 1 / b.

Since |x - y|^2 is at most (1 + t) d(g, x) + (1 + 1 / t) d(g, y) for any t > 0, this is at least

    d(g, x) - d(h, x) - w (1 + t) d(g, x)  +  d(h, y) - d(g, y) - w (1 + 1 / t) d(g, y),

a part of x and one of y: with the least part of all y of g known, most x need one comparison.

Where groups are told by pairs (see `local`), d(g, x) is S[g, x] / b - P[g] / b^2.
"""

import numpy as np

from shoal.kernels.compiled import folded, inner
from shoal.kernels.exchanges.local import LARGE, Local, drop, enter, leave, measure, put

_T = 0.75  # at k = 3 less rules out more, from k = 10 on more does
_OF_X, _OF_Y = 1.0 + _T, 1.0 + 1.0 / _T
_CHANGES = 40  # for each record, at most


@inner
def polish(local: Local, records: int, groups: int, k: int, least: float) -> None:
    """Pair after pair of groups the best move or swap, until none gains more than `least`."""
    for g in range(groups):
        local.size[g] = 0
        local.changed[g] = 0
        for h in range(g):
            local.settled[h, g] = -1
        if k >= LARGE:
            measure(local, g, records)
    for x in range(records):
        g = local.label[x]
        local.members[g, local.size[g]] = x
        local.size[g] += 1
    changes, again = 0, True
    while again and changes < _CHANGES * records:
        again = False
        for h in range(groups):
            for g in range(h + 1, groups):
                if local.settled[h, g] >= max(local.changed[h], local.changed[g]):
                    continue
                p, q = best_change(local, h, g, k, least)
                if p < 0 and q < 0:
                    local.settled[h, g] = changes
                    continue
                again = True
                changes += 1
                local.changed[h] = local.changed[g] = changes
                if p >= 0 and q >= 0:
                    x, y = local.members[h, p], local.members[g, q]
                    local.members[h, p], local.members[g, q] = y, x
                    local.label[x], local.label[y] = g, h
                    if k < LARGE:
                        swap_by_pairs(local, x, y, h, g, records)
                    else:
                        swap_by_centroids(local, x, y, h, g, records)
                    continue
                source, to, place = (h, g, p) if p >= 0 else (g, h, q)
                x = local.members[source, place]
                local.members[source, place] = local.members[source, local.size[source] - 1]
                local.members[to, local.size[to]] = x
                if k < LARGE:
                    drop(local, x, source, records)
                    put(local, x, to, records)
                else:
                    move_by_centroids(local, x, source, to, records)


@folded
def best_change(local: Local, h: int, g: int, k: int, least: float) -> tuple[int, int]:
    """The places of those of h and of g who should change groups to gain most; -1 for nobody."""
    a, b = local.size[h], local.size[g]
    w, by_h, by_g, less_h, less_g = 1.0 / a + 1.0 / b, 1.0, 1.0, 0.0, 0.0
    if k < LARGE:
        by_h, by_g = 1.0 / a, 1.0 / b
        less_h, less_g = local.pairs[h] * by_h * by_h, local.pairs[g] * by_g * by_g
    delta, one, two = -least, -1, -1
    if a > k and b < 2 * k - 1:
        out, into = a / (a - 1.0), b / (b + 1.0)
        for p in range(a):
            x = local.members[h, p]
            change = (local.sums[g, x] * by_g - less_g) * into - (local.sums[h, x] * by_h - less_h) * out
            if change < delta:
                delta, one = change, p
    if b > k and a < 2 * k - 1:
        out, into = b / (b - 1.0), a / (a + 1.0)
        for q in range(b):
            y = local.members[g, q]
            change = (local.sums[h, y] * by_h - less_h) * into - (local.sums[g, y] * by_g - less_g) * out
            if change < delta:
                delta, one, two = change, -1, q
    lowest = np.inf
    for q in range(b):
        y = local.members[g, q]
        own = local.sums[g, y] * by_g - less_g
        local.reach[q] = local.sums[h, y] * by_h - less_h - own
        local.bound[q] = local.reach[q] - _OF_Y * w * own
        lowest = min(lowest, local.bound[q])
    for p in range(a):
        x = local.members[h, p]
        there = local.sums[g, x] * by_g - less_g
        part = there - (local.sums[h, x] * by_h - less_h)
        bound = part - _OF_X * w * there
        if bound + lowest >= delta:
            continue
        for q in range(b):
            y = local.members[g, q]
            if k < LARGE:
                d2 = local.pairwise[x, y]
            elif bound + local.bound[q] < delta:
                d2 = 0.0
                for j in range(local.columns.shape[0]):
                    difference = local.columns[j, x] - local.columns[j, y]
                    d2 += difference * difference
            else:
                continue
            change = part + local.reach[q] - w * d2
            if change < delta:
                delta, one, two = change, p, q
    return one, two


@folded
def swap_by_pairs(local: Local, x: int, y: int, h: int, g: int, records: int) -> None:
    """Records x of h and y of g change places."""
    d2 = local.pairwise[x, y]
    local.pairs[h] += local.sums[h, y] - local.sums[h, x] - d2
    local.pairs[g] += local.sums[g, x] - local.sums[g, y] - d2
    from_x, from_y, of_h, of_g = local.pairwise[x], local.pairwise[y], local.sums[h], local.sums[g]
    for z in range(records):
        difference = from_x[z] - from_y[z]
        of_h[z] -= difference
        of_g[z] += difference


@inner
def swap_by_centroids(local: Local, x: int, y: int, h: int, g: int, records: int) -> None:
    """Records x of h and y of g change places."""
    for j in range(local.centre.shape[1]):
        difference = local.columns[j, x] - local.columns[j, y]
        local.centre[h, j] -= difference / local.size[h]
        local.centre[g, j] += difference / local.size[g]
    measure(local, h, records)
    measure(local, g, records)


@inner
def move_by_centroids(local: Local, x: int, h: int, g: int, records: int) -> None:
    """Record x of h enters g."""
    leave(local, x, h)
    enter(local, x, g)
    measure(local, h, records)
    measure(local, g, records)
