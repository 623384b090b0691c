"""Groups of records by depth-first search: all whose reduced cost, SSE less prices, is below a limit.

A group belongs to its first record, its anchor; the search goes through the sizes of the groups of one anchor.
The SSE of a group of s records is the sum of its pairs' squared distances over s, so each record that is
added costs its distances to those already there, over s, less its price. What the records still to come cost each
other is at least half their smallest distances. Where few records are left to choose from, a closer look counts
the whole rest as each of them would see it. Nothing is passed over whose bound is below the limit.

Cuts: a group that holds two or all of three given records pays a fine, on top of its SSE.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel

CLOSE = 160  # up to so many records to choose from are looked at more closely


class Fines(NamedTuple):
    """The cuts of each record; those of record y have the places from starts[y] to starts[y + 1]."""

    starts: Array  # int64 (n + 1)
    others: Array  # int64 (places, 2): the two other records of the cut
    fines: Array  # float64 (places,): at least 0


def no_fines(n: int) -> Fines:
    """No cuts at all."""
    return Fines(np.zeros(n + 1, np.int64), np.empty((0, 2), np.int64), np.empty(0))


@inner
def fine_of(fines: Fines, y: int, chosen: Array, level: int) -> float:
    """What record y adds in fines to the records chosen[1] to chosen[level]: cuts of which they hold just one."""
    total = 0.0
    for place in range(fines.starts[y], fines.starts[y + 1]):
        held = 0
        for p in range(1, level + 1):
            held += chosen[p] == fines.others[place, 0] or chosen[p] == fines.others[place, 1]
        if held == 1:
            total += fines.fines[place]
    return total


@inner
def half_sums(d2: Array, near: Array, anchor: int, most: int, out: Array) -> None:
    """out[y, t]: at most half the sum of the t smallest squared distances from y to records after the anchor.

    near[y] are the nearest records of y in order; beyond them the last one's distance is counted.
    """
    for y in range(anchor + 1, d2.shape[0]):
        out[y, 0] = 0.0
        found, total = 0, 0.0
        for position in range(near.shape[1]):
            if found == most:
                break
            if near[y, position] > anchor:
                total += 0.5 * d2[y, near[y, position]]
                found += 1
                out[y, found] = total
        for t in range(found + 1, most + 1):
            total += 0.5 * d2[y, near[y, near.shape[1] - 1]]
            out[y, t] = total


@inner
def least_sum(values: Array, count: int, t: int, best: Array) -> float:
    """The sum of the t smallest of `count` values, which go into best, rising; infinite if there are fewer."""
    for i in range(t):
        best[i] = np.inf
    for i in range(count):
        value = values[i]
        if t > 0 and value < best[t - 1]:
            place = t - 1
            while place > 0 and best[place - 1] > value:
                best[place] = best[place - 1]
                place -= 1
            best[place] = value
    total = 0.0
    for i in range(t):
        total += best[i]
    return total


@inner
def close_look(
    d2: Array, records: Array, costs: Array, count: int, t: int, s: int, views: Array, values: Array, best: Array
) -> float:
    """At least what t of the records cost in a group of s; costs are what each costs with those chosen already.

    Each of the t sees the t - 1 others: half its distances to them, and of each other's cost one of t - 1 parts.
    """
    for i in range(count):
        y = records[i]
        for j in range(count):
            values[j] = 0.5 * d2[y, records[j]] / s + costs[j] / (t - 1)
        values[i] = np.inf
        views[i] = least_sum(values, count, t - 1, best)
    return least_sum(views, count, t, best)


@kernel
def groups_below(
    d2: Array,
    near: Array,
    twin: Array,
    prices: Array,
    toll: float,
    low: int,
    high: int,
    anchor: int,
    limit: float,
    dearest: float,
    tighten: bool,
    most_nodes: int,
    fines: Fines,
    members: Array,
    sizes: Array,
    costs: Array,
) -> tuple[int, int, float]:
    """The groups of an anchor with an SSE below `dearest` whose reduced cost is below the limit.

    The reduced cost is the SSE and the fines, less prices, less toll.

    Fills members, sizes and costs (the SSE), and returns how many groups there are, the nodes visited, and the
    lowest reduced cost seen. With `tighten` a group lowers the limit for its size to its own. Where the nodes
    exceed `most_nodes` or the groups the room, the search is not complete and the nodes are returned as -1.
    """
    n = d2.shape[0]
    half = np.empty((n, high))
    half_sums(d2, near, anchor, high - 1, half)
    lists = np.empty((high + 1, n), np.int64)
    sums = np.empty((high + 1, n))
    counts, cursor = np.zeros(high + 1, np.int64), np.zeros(high + 1, np.int64)
    chosen = np.empty(high + 1, np.int64)
    pairs, cost = np.zeros(high + 1), np.zeros(high + 1)
    values, best = np.empty(n), np.empty(high + 1)
    views, alone = np.empty(CLOSE), np.empty(CLOSE)
    found, nodes, lowest = 0, 0, np.inf
    for s in range(low, high + 1):
        if n - anchor < s:
            break
        bound = limit
        if s == 1:
            reduced = -prices[anchor] - toll
            if reduced < bound:
                if found == sizes.size:
                    return found, -1, lowest
                members[found, 0], sizes[found], costs[found] = anchor, 1, 0.0
                found += 1
                lowest = min(lowest, reduced)
            continue
        level = 1
        chosen[1], pairs[1], cost[1] = anchor, 0.0, -prices[anchor] - toll
        counts[1] = n - anchor - 1
        for i in range(counts[1]):
            lists[1, i] = anchor + 1 + i
            sums[1, i] = d2[anchor, anchor + 1 + i]
        cursor[1] = -1
        while level > 0:
            t = s - level
            if cursor[level] < 0:
                nodes += 1
                if nodes > most_nodes:
                    return found, -1, lowest
                if t == 1:
                    for i in range(counts[level]):
                        y = lists[level, i]
                        if twin[y] and chosen[level] != y - 1:
                            continue
                        reduced = cost[level] + sums[level, i] / s - prices[y]
                        if reduced < bound:
                            reduced += fine_of(fines, y, chosen, level)
                        if reduced < bound and (pairs[level] + sums[level, i]) / s < dearest:
                            if found == sizes.size:
                                return found, -1, lowest
                            for p in range(1, s):
                                members[found, p - 1] = chosen[p]
                            members[found, s - 1] = y
                            sizes[found] = s
                            costs[found] = (pairs[level] + sums[level, i]) / s
                            found += 1
                            lowest = min(lowest, reduced)
                            if tighten:
                                bound = reduced
                    level -= 1
                    continue
                for i in range(counts[level]):
                    y = lists[level, i]
                    values[i] = (sums[level, i] + half[y, t - 1]) / s - prices[y]
                total = cost[level] + least_sum(values, counts[level], t, best)
                if not total < bound:
                    level -= 1
                    continue
                rest = total - best[t - 1]
                kept = 0
                for i in range(counts[level]):
                    if rest + values[i] < bound and (pairs[level] + sums[level, i]) / s < dearest:
                        lists[level, kept] = lists[level, i]
                        sums[level, kept] = sums[level, i]
                        kept += 1
                counts[level] = kept
                cursor[level] = 0
                if 3 <= t <= kept <= CLOSE:
                    for i in range(kept):
                        alone[i] = sums[level, i] / s - prices[lists[level, i]]
                    rest = close_look(d2, lists[level], alone, kept, t, s, views, values, best)
                    if not cost[level] + rest < bound:
                        level -= 1
                        continue
            i = cursor[level]
            if counts[level] - i < t:
                level -= 1
                continue
            cursor[level] += 1
            y = lists[level, i]
            if twin[y] and chosen[level] != y - 1:
                continue
            chosen[level + 1] = y
            pairs[level + 1] = pairs[level] + sums[level, i]
            cost[level + 1] = cost[level] + sums[level, i] / s - prices[y] + fine_of(fines, y, chosen, level)
            count = counts[level] - i - 1
            for j in range(count):
                z = lists[level, i + 1 + j]
                lists[level + 1, j] = z
                sums[level + 1, j] = sums[level, i + 1 + j] + d2[y, z]
            counts[level + 1] = count
            cursor[level + 1] = -1
            level += 1
    return found, nodes, lowest


@kernel
def halve(d2: Array, order: Array, k: int, below: float, first: Array) -> float:
    """The best division into two groups of at least k, if its SSE is below a limit.

    Records go to one side or the other in the order given, the first of them to the first side; the SSE of what
    a side has so far can only grow. Fills `first` with who is on the first side, and returns the SSE.
    """
    n = order.size
    side = np.zeros(n, np.int64)  # 0 to be placed, 1 on the first side, 2 on the second, 3 both tried
    pairs, counts = np.zeros((n + 1, 2)), np.zeros((n + 1, 2), np.int64)
    sums = np.zeros((n + 1, 2, n))
    side[0] = 1
    counts[1, 0] = 1
    for p in range(1, n):
        sums[1, 0, p] = d2[order[0], order[p]]
    level = 1
    while level > 0:
        if level == n:
            if counts[n, 1] >= k:
                total = pairs[n, 0] / counts[n, 0] + pairs[n, 1] / counts[n, 1]
                if total < below:
                    below = total
                    for p in range(n):
                        first[order[p]] = side[p] == 1
            level -= 1
        side[level] += 1
        if side[level] == 3 or level == 0:
            side[level] = 0
            level -= 1
            continue
        own = side[level] - 1
        if counts[level, own] == n - k:
            continue
        for other in range(2):
            pairs[level + 1, other] = pairs[level, other]
            counts[level + 1, other] = counts[level, other]
        pairs[level + 1, own] += sums[level, own, level]
        counts[level + 1, own] += 1
        sse = pairs[level + 1, 0] / counts[level + 1, 0]
        if counts[level + 1, 1] > 0:
            sse += pairs[level + 1, 1] / counts[level + 1, 1]
        if not sse < below:
            continue
        for p in range(level + 1, n):
            sums[level + 1, own, p] = sums[level, own, p] + d2[order[level], order[p]]
            sums[level + 1, 1 - own, p] = sums[level, 1 - own, p]
        level += 1
    return below
