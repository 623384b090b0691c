"""By how much any group of a record's can undercut its prices, wherever the records are.

A group belongs to its dearest record, the anchor. Seen from there, the SSE of s records is at least the sum, over
the others y, of (d(anchor, y) + half of y's s - 2 smallest distances) / s. Less y's price, that is y's value. So
the anchor's price and the s - 1 lowest values bound all its groups, and y can only be in one that undercuts its
prices where the s - 2 lowest values and its own leave room for that.

Of groups that are larger than the smallest allowed, only those matter whose records can all be near their mean:
at a squared distance of at least (s - 1) / s of its price, a record may be taken away. The SSE falls by
s / (s - 1) of that distance, and the group that is left is allowed and undercuts its prices at least as much. So
any two members y and z are nearer than sqrt((s - 1) / s) (sqrt(price of y) + sqrt(price of z)).

Records are in the order of a tree: blocks of neighbours, and boxes around them in pairs, pairs of pairs, ...
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.proofs.subsets import least_sum

_PARTS = (0.0, 0.25, 0.5, 1.0)  # of what a look at the candidates leaves open: where a search is too long
_STEPS = 16  # of distance
_MANY = 150  # candidates that are worth a look at who is far away
_SAFE = 1.0 + 1e-12


class Market(NamedTuple):
    """All records with prices, in the order of the tree: node 1 is the root, i has the nodes 2i and 2i + 1."""

    rows: Array
    prices: Array
    rank: Array  # int64: 0 for the dearest record
    halves: Array  # (n, high): half the sum of the t smallest distances to others, t from 0
    starts: Array  # of each block, and the end of the last one
    boxes: Array  # (nodes, 2, m): the least and the greatest coordinates of a node
    dearest: Array  # the greatest price of a node,
    greedy: Array  # the greatest price less half of the k - 2 smallest distances / k,
    last: Array  # and the last rank


class Room(NamedTuple):
    """Where a search works: of c candidates and groups of up to `high`."""

    d2: Array  # (c, c): the squared distances of candidates
    halves: Array  # (c, high): as in Market, among candidates where that is more
    values: Array  # (more than c,)
    best: Array  # (high,)
    lists: Array  # (high, c): who is left to choose from, by level
    sums: Array  # (high, c): the distances of each to all chosen
    counts: Array
    cursor: Array
    cost: Array
    chosen: Array  # the candidate that was taken, by level


def new_room(gathered: int, candidates: int, high: int) -> Room:
    """Room for so many records that are gathered, and candidates among them."""
    h = high + 1
    return Room(
        np.empty((candidates, candidates)),
        np.empty((candidates, h)),
        np.empty(gathered),
        np.empty(h),
        np.empty((h, candidates), np.int64),
        np.empty((h, candidates)),
        np.zeros(h, np.int64),
        np.zeros(h, np.int64),
        np.zeros(h),
        np.zeros(h, np.int64),
    )


@inner
def distance_to_box(market: Market, a: int, node: int) -> float:
    """The squared distance of a record from a node's box."""
    total = 0.0
    for j in range(market.rows.shape[1]):
        x = market.rows[a, j]
        gap = max(market.boxes[node, 0, j] - x, x - market.boxes[node, 1, j], 0.0)
        total += gap * gap
    return total


@inner
def apart(first: float, second: float, near: float) -> float:
    """The squared distance from which on records of such prices are too far apart."""
    both = near * (np.sqrt(max(first, 0.0)) + np.sqrt(max(second, 0.0)))
    return both * both * _SAFE


@inner
def distance(rows: Array, a: int, b: int) -> float:
    """The squared distance of two records."""
    total = 0.0
    for j in range(rows.shape[1]):
        difference = rows[a, j] - rows[b, j]
        total += difference * difference
    return total


@inner
def lowest_values(market: Market, a: int, s: int, wanted: int, best: Array, stack: Array) -> int:
    """The lowest values, in groups of s, of all records that come after the anchor; returns how many there are."""
    leaves, listed, top = market.starts.size - 1, 0, 1
    stack[0] = 1
    while top > 0:
        top -= 1
        node = stack[top]
        least = distance_to_box(market, a, node) / s - market.greedy[node]
        if market.last[node] < market.rank[a] or (listed == wanted and not least < best[wanted - 1]):
            continue
        if node < leaves:
            left, right = 2 * node, 2 * node + 1
            nearer = distance_to_box(market, a, left) < distance_to_box(market, a, right)
            stack[top], stack[top + 1] = (right, left) if nearer else (left, right)
            top += 2
            continue
        for y in range(market.starts[node - leaves], market.starts[node - leaves + 1]):
            if market.rank[y] > market.rank[a]:
                value = (distance(market.rows, a, y) + market.halves[y, s - 2]) / s - market.prices[y]
                if listed < wanted:
                    place = listed
                    listed += 1
                elif value < best[wanted - 1]:
                    place = wanted - 1
                else:
                    continue
                while place > 0 and best[place - 1] > value:
                    best[place] = best[place - 1]
                    place -= 1
                best[place] = value
    return listed


@inner
def gather(
    market: Market, a: int, s: int, below: float, near: float, kept: Array, away: Array, stack: Array
) -> int:
    """The records after the anchor whose value in groups of s is below a number, or that are near enough.

    That is, nearer than near times the sum of both roots of prices. Fills kept and away, their squared distances;
    returns how many there are, or -1 where there is no room.
    """
    leaves, count, top = market.starts.size - 1, 0, 1
    stack[0] = 1
    while top > 0:
        top -= 1
        node = stack[top]
        gap = distance_to_box(market, a, node)
        wanted = gap / s - market.greedy[node] < below
        wanted |= gap < apart(market.prices[a], market.dearest[node], near)
        if market.last[node] < market.rank[a] or not wanted:
            continue
        if node < leaves:
            stack[top], stack[top + 1] = 2 * node, 2 * node + 1
            top += 2
            continue
        for y in range(market.starts[node - leaves], market.starts[node - leaves + 1]):
            if market.rank[y] > market.rank[a]:
                d2 = distance(market.rows, a, y)
                wanted = (d2 + market.halves[y, s - 2]) / s - market.prices[y] < below
                if wanted or d2 < apart(market.prices[a], market.prices[y], near):
                    if count == kept.size:
                        return -1
                    kept[count], away[count] = y, d2
                    count += 1
    return count


@inner
def fill_candidates(market: Market, kept: Array, count: int, s: int, near: float, room: Room) -> None:
    """The distances of candidates, infinite where they cannot be in one group of s that matters.

    And half the sums of the smallest ones, among them or among all records, whichever is more.
    """
    for p in range(count):
        for q in range(p):
            d2 = distance(market.rows, kept[p], kept[q])
            if d2 >= apart(market.prices[kept[p]], market.prices[kept[q]], near):
                d2 = np.inf
            room.d2[p, q] = room.d2[q, p] = d2
    for p in range(count):
        others = 0
        for q in range(count):
            if q != p:
                room.values[others] = room.d2[p, q]
                others += 1
        wanted = min(s - 2, others)
        least_sum(room.values, others, wanted, room.best)
        room.halves[p, 0] = 0.0
        total = 0.0
        for t in range(1, s - 1):
            total += 0.5 * room.best[t - 1] if t <= wanted else 0.0
            room.halves[p, t] = max(market.halves[kept[p], t], total)


@inner
def narrowed(
    market: Market, own: float, kept: Array, d2: Array, count: int, s: int, near: float, limit: float, room: Room
) -> tuple[int, float]:
    """Only the candidates that a group of s below the limit can hold, in place; and a bound on all such groups.

    own is the anchor's price, d2[p] the distance of candidate kept[p] from it. Returns how many are left; more
    than there is room for are not looked at closer.
    """
    sharp = False  # at first without the distances among candidates
    while True:
        if sharp:
            fill_candidates(market, kept, count, s, near, room)
        for p in range(count):
            half = room.halves[p, s - 2] if sharp else market.halves[kept[p], s - 2]
            room.values[p] = (d2[p] + half) / s - market.prices[kept[p]]
        total = least_sum(room.values, count, s - 1, room.best) - own
        if not total < limit:
            return 0, total
        rest = total - room.best[s - 2]
        left = 0
        for p in range(count):
            if rest + room.values[p] < limit:
                kept[left], d2[left] = kept[p], d2[p]
                left += 1
        if left == count and sharp:
            return count, total
        if left > min(_MANY, len(room.d2)) and not sharp:
            count = trimmed(market, own, kept, d2, left, s, limit, room)
            if count < left:
                continue
            if left > len(room.d2):
                return left, total
        sharp, count = True, left


@inner
def trimmed(
    market: Market, own: float, kept: Array, d2: Array, count: int, s: int, limit: float, room: Room
) -> int:
    """Without the candidates that are too far away for a group of s below the limit, in place; how many are left.

    Where y is at a squared distance D, every other member z is far from it or from the anchor: its distances d
    from the anchor and (sqrt(D) - sqrt(d))^2 from y count in full.
    """
    steps = np.sort(d2[:count])[np.linspace(0, count - 1, _STEPS).astype(np.int64)]
    others = np.empty(_STEPS)
    for step in range(_STEPS):
        root = np.sqrt(steps[step])
        for p in range(count):
            half = market.halves[kept[p], max(s - 3, 0)]
            to_far = max(root - np.sqrt(d2[p]), 0.0)
            seen = max(d2[p] + market.halves[kept[p], s - 2], d2[p] + to_far * to_far + half)
            room.values[p] = seen / s - market.prices[kept[p]]
        others[step] = least_sum(room.values, count, s - 2, room.best)
    left, step = 0, 0
    for p in range(count):
        step = np.searchsorted(steps, d2[p], side="right") - 1
        if d2[p] / s - market.prices[kept[p]] - own + others[step] < limit:
            kept[left], d2[left] = kept[p], d2[p]
            left += 1
    return left


@inner
def search(
    market: Market,
    a: int,
    kept: Array,
    d2: Array,
    count: int,
    s: int,
    limit: float,
    most: int,
    room: Room,
    members: Array,
    sizes: Array,
) -> tuple[float, bool]:
    """The lowest SSE less prices of a group of the anchor and s - 1 candidates, or the limit; whether it is done.

    The groups that were the lowest so far go into members, the last one first.
    """
    prices, lists, sums = market.prices, room.lists, room.sums
    counts, cursor, cost = room.counts, room.cursor, room.cost
    level = 1
    counts[1], cursor[1], cost[1] = count, -1, -prices[a]
    for p in range(count):
        lists[1, p], sums[1, p] = p, d2[p]
    nodes = 0
    while level > 0:
        t = s - level
        if cursor[level] < 0:
            nodes += 1
            if nodes > most:
                return limit, False
            if t == 1:
                for p in range(counts[level]):
                    total = cost[level] + sums[level, p] / s - prices[kept[lists[level, p]]]
                    if total < limit:
                        limit = total
                        for g in range(sizes.size - 1, 0, -1):
                            members[g], sizes[g] = members[g - 1], sizes[g - 1]
                        members[0, 0], members[0, s - 1], sizes[0] = a, kept[lists[level, p]], s
                        for q in range(s - 2):
                            members[0, q + 1] = kept[room.chosen[q]]
                level -= 1
                continue
            for p in range(counts[level]):
                y = lists[level, p]
                room.values[p] = (sums[level, p] + room.halves[y, t - 1]) / s - prices[kept[y]]
            total = cost[level] + least_sum(room.values, counts[level], t, room.best)
            if not total < limit:
                level -= 1
                continue
            rest = total - room.best[t - 1]
            left = 0
            for p in range(counts[level]):
                if rest + room.values[p] < limit:
                    lists[level, left], sums[level, left] = lists[level, p], sums[level, p]
                    left += 1
            counts[level], cursor[level] = left, 0
        p = cursor[level]
        if counts[level] - p < t:
            level -= 1
            continue
        cursor[level] += 1
        y = lists[level, p]
        room.chosen[level - 1] = y
        cost[level + 1] = cost[level] + sums[level, p] / s - prices[kept[y]]
        left = counts[level] - p - 1
        for q in range(left):
            z = lists[level, p + 1 + q]
            lists[level + 1, q] = z
            sums[level + 1, q] = sums[level, p + 1 + q] + room.d2[y, z]
        counts[level + 1], cursor[level + 1] = left, -1
        level += 1
    return limit, True


@inner
def least_of_size(
    market: Market,
    a: int,
    kept: Array,
    away: Array,
    count: int,
    s: int,
    near: float,
    limit: float,
    most: int,
    room: Room,
    members: Array,
    sizes: Array,
) -> float:
    """A number that groups of s do not fall below, or the limit."""
    root, own = 0.0, market.prices[a]
    for part in _PARTS:
        goal = min(limit, part * root)
        count, total = narrowed(market, own, kept, away, count, s, near, goal, room)
        if part == 0.0:
            root = total
        if count == 0:
            return goal
        if count > len(room.d2):
            continue
        least, done = search(market, a, kept, away, count, s, goal, most, room, members, sizes)
        if done:
            return least
    return min(limit, root)


@kernel
def undercuts(
    market: Market,
    anchors: Array,
    low: int,
    high: int,
    most: int,
    room: Room,
    lowest: Array,
    members: Array,
    sizes: Array,
) -> None:
    """For each anchor a number, at most 0, that SSE less prices of no group of its that matters falls below.

    Where a search takes more than `most` steps, easier questions are asked. Fills members and sizes with some
    groups that undercut their prices, the first of them most; size 0 where there are no more.
    """
    gathered = room.values.size
    kept, away = np.empty(gathered, np.int64), np.empty(gathered)
    trial, trial_away = np.empty(gathered, np.int64), np.empty(gathered)
    stack = np.empty(200, np.int64)
    for i in range(anchors.size):
        a = anchors[i]
        own = market.prices[a]
        lowest[i], sizes[i] = 0.0, 0
        if lowest_values(market, a, low, low - 1, room.best, stack) < low - 1:
            continue
        rest = -own
        for p in range(low - 2):
            rest += room.best[p]
        below = -rest if rest + room.best[low - 2] < 0.0 else -np.inf
        near = np.sqrt((high - 1.0) / high) if high > low else 0.0
        count = gather(market, a, low, below, near, kept, away, stack)
        if count < 0:
            lowest[i] = -high * max(own, 0.0)
            continue
        for s in range(low, high + 1):
            near = np.sqrt((s - 1.0) / s) if s > low else np.inf
            fitting = 0
            for p in range(count):
                y = kept[p]
                value = (away[p] + market.halves[y, s - 2]) / s - market.prices[y]
                if (s == low and value < below) or (s > low and away[p] < apart(own, market.prices[y], near)):
                    trial[fitting], trial_away[fitting] = y, away[p]
                    fitting += 1
            lowest[i] = least_of_size(
                market, a, trial, trial_away, fitting, s, near, lowest[i], most, room, members[i], sizes[i]
            )
