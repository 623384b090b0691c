"""Records to groups at the least total cost, every group within its limits: an exact transport problem.

A price stands at every group; each record sits where cost + price is least among its arcs. What is too much in
one group goes along the cheapest chain of moves (record by record from group to group) to where something is
missing, and the prices follow, so that at every step nobody could do better alone: successive shortest paths.
One more node, the pool, stands for the freedom between the least and the largest size of a group.

At the end the total is the least possible: moving a record off its place costs at least what prices allow
(the dual problem), and both sides are equal up to rounding.
"""

from collections.abc import Callable

import numpy as np

from shoal.kernels.compiled import Array, folded, inner, kernel
from shoal.kernels.search_tree.heap import sort_heap
from shoal.kernels.search_tree.tree import Tree, build_tree, k_nearest
from shoal.kernels.sums.exact import squared_distance
from shoal.kernels.transport.crowds import join_crowd, leave_crowd, new_crowds, quit_crowd
from shoal.kernels.transport.paths import Ways, begin, enter, forget, leave, new_ways, relax, visit

_ARCS = 12  # nearest centres that a record may go to at first
_FEW = 1 << 18  # records times groups up to which all distances are faster than a tree
_PUSHES = 2  # times that a group may push out what is too much, on average


@inner
def sit_down(
    arcs: Array,
    costs: Array,
    used: Array,
    price: Array,
    labels: Array,
    paid: Array,
    head: Array,
    after: Array,
    before: Array,
) -> None:
    """Every record to the arc where cost + price is least, the first of equals."""
    for x in range(used.size):
        best = 0
        for a in range(1, used[x]):
            if costs[x, a] + price[arcs[x, a]] < costs[x, best] + price[arcs[x, best]]:
                best = a
        labels[x] = arcs[x, best]
        paid[x] = costs[x, best]
        enter(x, labels[x], head, after, before)


@inner
def weigh(labels: Array, low: Array, high: Array, price: Array) -> tuple[Array, Array]:
    """How many records each node has too many, the pool last, and how many each group is to keep.

    A group keeps `low` where it is dear to fill and `high` where it is sought after.
    """
    groups = low.size
    pool = groups
    surplus, held = np.zeros(groups + 1, np.int64), np.empty(groups, np.int64)
    for label in labels:
        surplus[label] += 1
    surplus[pool] = -labels.size
    for g in range(groups):
        held[g] = min(max(surplus[g], low[g]), high[g])
        if price[g] > price[pool]:
            held[g] = high[g]
        elif price[g] < price[pool]:
            held[g] = low[g]
        surplus[g] -= held[g]
        surplus[pool] += held[g]
    return surplus, held


@folded
def leave_pool(ways: Ways, held: Array, low: Array, price: Array, size: int) -> int:
    """The ways from the pool to any group that may keep one less; returns the size of the heap."""
    pool = low.size
    for to in range(pool):
        if held[to] > low[to] and not ways.final[to]:
            new = ways.distance[pool] + max(price[to] - price[pool], 0.0)
            size = relax(ways, to, new, pool, -1, size)
    return size


@folded
def leave_group(
    ways: Ways, node: int, arcs: Array, costs: Array, used: Array, price: Array, paid: Array, head: Array,
    after: Array, size: int,
) -> int:  # fmt: skip
    """The ways from a group to others, by any of its records; returns the size of the heap."""
    record = head[node]
    distance, final = ways.distance, ways.final
    reach = distance[node]
    while record >= 0:
        here = paid[record] + price[node]
        for a in range(used[record]):
            to = int(arcs[record, a])
            if not final[to]:
                new = reach + max(costs[record, a] + price[to] - here, 0.0)
                if new < distance[to]:  # asked here: most ways are no shorter, and a call takes longer
                    size = relax(ways, to, new, node, record, size)
        record = after[record]
    return size


@inner
def raise_prices(ways: Ways, target: int, price: Array, size: int, count: int) -> None:
    """The prices after a chain was found: all of it costs nothing more; clears the search for the next one."""
    reach = ways.distance[target]
    for i in range(count):
        price[ways.visited[i]] += reach - ways.distance[ways.visited[i]]
    forget(ways, size, count)


@inner
def push_out(
    arcs: Array,
    costs: Array,
    used: Array,
    high: Array,
    price: Array,
    labels: Array,
    paid: Array,
    head: Array,
    after: Array,
    before: Array,
) -> None:
    """Raise the price of a group with too many until they leave, each for its next best, again and again.

    Every record stays where cost + price is least. What this cannot bring to its place, chains of moves do.
    """
    n, groups = used.size, high.size
    counts = np.zeros(groups, np.int64)
    for label in labels:
        counts[label] += 1
    queue, waits = np.empty(groups, np.int64), counts > high
    first, waiting = 0, 0
    for g in range(groups):
        if waits[g]:
            queue[waiting] = g
            waiting += 1
    leavers, ways, gaps = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for _ in range(_PUSHES * groups):
        if waiting == 0:
            return
        g = queue[first]
        first = (first + 1) % groups
        waiting -= 1
        waits[g] = False
        members = 0
        record = head[g]
        while record >= 0:
            least, way = np.inf, -1
            for a in range(used[record]):
                if arcs[record, a] != g:
                    there = costs[record, a] + price[arcs[record, a]]
                    if there < least:
                        least, way = there, a
            leavers[members], ways[members] = record, way
            gaps[members] = max(least - paid[record] - price[g], 0.0)
            members += 1
            record = after[record]
        excess = counts[g] - high[g]
        limit = np.sort(gaps[:members])[excess - 1]
        if limit == np.inf:
            continue
        price[g] += limit
        for equal in (False, True):
            for i in range(members):
                if excess > 0 and (gaps[i] == limit if equal else gaps[i] < limit):
                    record, to = leavers[i], int(arcs[leavers[i], ways[i]])
                    leave(record, g, head, after, before)
                    enter(record, to, head, after, before)
                    labels[record], paid[record] = to, costs[record, ways[i]]
                    counts[g] -= 1
                    counts[to] += 1
                    excess -= 1
                    if counts[to] > high[to] and not waits[to]:
                        queue[(first + waiting) % groups] = to
                        waits[to] = True
                        waiting += 1


@kernel
def settle(
    arcs: Array, costs: Array, used: Array, low: Array, high: Array, price: Array, labels: Array, paid: Array,
    crowded: bool,
) -> bool:  # fmt: skip
    """Solve on the given arcs: record x may go to arcs[x, a] at costs[x, a] for a < used[x].

    Starts from the prices (one for each group, then the pool's) and leaves the final ones, the labels and what
    each record pays; False if the arcs cannot fill every group to its least size. `crowded` says that groups have
    so many records that the way out of each is better kept in heaps; see `crowds`.
    """
    n, groups = used.size, low.size
    pool = groups
    head = np.full(groups, -1, np.int32)
    after, before = np.empty(n, np.int32), np.empty(n, np.int32)
    crowds = new_crowds(arcs.size if crowded else 0, groups if crowded else 0)
    sit_down(arcs, costs, used, price, labels, paid, head, after, before)
    if crowded:
        for x in range(n):
            join_crowd(crowds, x, labels[x], arcs, costs, used, paid)
    elif (low == high).all():
        push_out(arcs, costs, used, high, price, labels, paid, head, after, before)
    surplus, held = weigh(labels, low, high, price)
    ways = new_ways(groups + 1)
    for source in range(groups + 1):
        while surplus[source] > 0:
            # The cheapest chain of moves from the source to a node where something is missing.
            target, count, size = -1, 0, begin(ways, source)
            while size > 0:
                node = visit(ways, size, count)
                size -= 1
                count += 1
                if surplus[node] < 0:
                    target = node
                    break
                if node == pool:
                    size = leave_pool(ways, held, low, price, size)
                    continue
                if held[node] < high[node] and not ways.final[pool]:  # it may keep one more
                    new = ways.distance[node] + max(price[pool] - price[node], 0.0)
                    size = relax(ways, pool, new, node, -1, size)
                if crowded:
                    size = leave_crowd(crowds, ways, node, arcs.shape[1], costs, price, paid, size)
                else:
                    size = leave_group(ways, node, arcs, costs, used, price, paid, head, after, size)
            if target < 0:
                return False
            raise_prices(ways, target, price, size, count)
            node = int(target)
            while node != source:
                back = int(ways.origin[node])
                if back == pool:
                    held[node] -= 1
                elif node == pool:
                    held[back] += 1
                else:
                    record = ways.via[node]
                    if crowded:
                        quit_crowd(crowds, record, back, arcs, used)
                    for a in range(used[record]):
                        if arcs[record, a] == node:
                            paid[record] = costs[record, a]
                    labels[record] = node
                    if crowded:
                        join_crowd(crowds, record, node, arcs, costs, used, paid)
                    else:
                        leave(record, back, head, after, before)
                        enter(record, node, head, after, before)
                node = back
            surplus[source] -= 1
            surplus[target] += 1
    return True


@kernel
def fill_arcs(rows: Array, tree: Tree, count: int, squared: bool, arcs: Array, costs: Array) -> None:
    """The arcs of every record to its `count` nearest centres, nearest first."""
    d2, ids, slots = np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
    for x in range(rows.shape[0]):
        k_nearest(tree, rows[x], count, d2, ids, slots)
        sort_heap(d2, ids, slots, count)
        for a in range(count):
            arcs[x, a] = ids[a]
            costs[x, a] = d2[a] if squared else np.sqrt(d2[a])


@inner
def add_arc(x: int, group: int, cost: float, arcs: Array, costs: Array, used: Array) -> bool:
    """One more arc for a record; False if there is no room. An arc that is there already is not doubled."""
    for a in range(used[x]):
        if arcs[x, a] == group:
            return True
    if used[x] == arcs.shape[1]:
        return False
    arcs[x, used[x]] = group
    costs[x, used[x]] = cost
    used[x] += 1
    return True


@kernel
def call_nearest(
    centres: Array, tree: Tree, high: Array, squared: bool, arcs: Array, costs: Array, used: Array
) -> None:
    """Arcs to every centre from the records nearest to it, as many as it may have.

    A group far from all others gets its own without a price that draws in everybody.
    """
    most = high.max()
    d2, ids, slots = np.empty(most), np.empty(most, np.int64), np.empty(most, np.int64)
    for g in range(centres.shape[0]):
        count = k_nearest(tree, centres[g], high[g], d2, ids, slots)
        for h in range(count):
            add_arc(ids[h], g, d2[h] if squared else np.sqrt(d2[h]), arcs, costs, used)


@inner
def insert(new: float, name: int, values: Array, names: Array, held: int, most: int) -> int:
    """Keep a value among the `most` lowest, in order, the first of equals first; returns how many are held."""
    at = held if held < most else most - 1
    while at > 0 and values[at - 1] > new:
        values[at], names[at] = values[at - 1], names[at - 1]
        at -= 1
    values[at], names[at] = new, name
    return min(held + 1, most)


@kernel
def fill_from_all(
    rows: Array, centres: Array, high: Array, nearest: int, squared: bool, arcs: Array, costs: Array, used: Array
) -> None:
    """The arcs of `fill_arcs` and `call_nearest` from all distances, which is faster where there are few."""
    n, groups = rows.shape[0], centres.shape[0]
    away = np.zeros(groups)
    lowest = np.empty((groups, high.max()))
    callers = np.empty((groups, high.max()), np.int32)
    held = np.zeros(groups, np.int64)
    limit = np.where(high > 0, np.inf, -1.0)
    for x in range(n):
        away[:] = 0.0
        for j in range(rows.shape[1]):
            for g in range(groups):
                apart = centres[g, j] - rows[x, j]
                away[g] += apart * apart
        known, last = 0, np.inf
        for g in range(groups):
            if away[g] < last:
                known = insert(away[g], g, costs[x], arcs[x], known, nearest)
                if known == nearest:
                    last = costs[x, nearest - 1]
            if away[g] < limit[g]:
                held[g] = insert(away[g], x, lowest[g], callers[g], held[g], high[g])
                if held[g] == high[g]:
                    limit[g] = lowest[g, high[g] - 1]
        if not squared:
            costs[x, :nearest] = np.sqrt(costs[x, :nearest])
    for g in range(groups if nearest < groups else 0):
        for h in range(held[g]):
            add_arc(callers[g, h], g, lowest[g, h] if squared else np.sqrt(lowest[g, h]), arcs, costs, used)


@kernel
def price_out(
    rows: Array,
    centres: Array,
    squared: bool,
    nearest: int,
    arcs: Array,
    costs: Array,
    used: Array,
    price: Array,
    labels: Array,
    paid: Array,
) -> int:
    """Look for arcs not yet there on which a record would do better than where it is, and add them.

    The first `nearest` arcs lead to the nearest centres, so anything else costs at least as much as the last of
    these. Returns how many arcs were wanted; those beyond the width of `arcs` are left out for the next time.
    """
    n, groups = used.size, centres.shape[0]
    lowest = price[:groups].min()
    wanted = 0
    for x in range(n):
        here = paid[x] + price[labels[x]]
        if nearest == groups or costs[x, nearest - 1] + lowest >= here:
            continue
        slack = 1e-13 * (abs(here) + abs(paid[x]))
        for g in range(groups):
            if price[g] + costs[x, nearest - 1] >= here:
                continue
            d2 = squared_distance(centres, g, rows[x])
            cost = d2 if squared else np.sqrt(d2)
            if cost + price[g] < here - slack:
                before = used[x]
                if not add_arc(x, g, cost, arcs, costs, used) or used[x] > before:
                    wanted += 1
    return wanted


def transport(
    rows: Array, centres: Array, low: Array, high: Array, squared: bool, price: Array | None = None
) -> tuple[Array, Array]:
    """The group of each record and the price of each group, at the least total cost.

    The cost of a record in a group is its distance (or squared distance) to the group's centre; every group
    gets between low and high records, which must be possible. Prices given, one for each group, are where the
    search begins. The prices returned prove the result: each record is where cost + price is least, a group with
    fewer than `high` records has no price above 0, one with more than `low` none below 0.
    """
    n, groups = len(rows), len(centres)
    few = n * groups <= _FEW
    if not few:
        tree = build_tree(centres, np.arange(groups, dtype=np.int32))
        records = build_tree(rows, np.arange(n, dtype=np.int32))

    def fill(nearest: int, arcs: Array, costs: Array, used: Array) -> None:
        if few:
            fill_from_all(rows, centres, high, nearest, squared, arcs, costs, used)
            return
        fill_arcs(rows, tree, nearest, squared, arcs, costs)
        if nearest < groups:
            call_nearest(centres, records, high, squared, arcs, costs, used)

    def look_further(nearest: int, arcs: Array, costs: Array, used: Array, *solution: Array) -> int:
        return price_out(rows, centres, squared, nearest, arcs, costs, used, *solution)

    return solve_on_arcs(n, low, high, price, fill, look_further, min(groups, _ARCS), False)


def solve_on_arcs(
    n: int,
    low: Array,
    high: Array,
    price: Array | None,
    fill: Callable[..., None],
    look_further: Callable[..., int],
    nearest: int,
    crowded: bool,
) -> tuple[Array, Array]:
    """Solve on few arcs and look for better ones, until there are none: then the result holds for all arcs.

    `fill(nearest, arcs, costs, used)` writes the first arcs of each record; `look_further`, called with these and
    with prices, labels and paid, adds those on which a record would do better and returns how many it wanted.
    """
    groups = len(low)
    if not low.sum() <= n <= high.sum():
        raise ValueError(f"{n} records do not fit into groups of {low.sum()} to {high.sum()} in all")
    prices = np.zeros(groups + 1)
    if price is not None:
        prices[:-1] = price
    labels, paid = np.empty(n, np.int64), np.empty(n)
    while True:
        arcs, costs = np.empty((n, min(groups, 2 * nearest)), np.int32), np.empty((n, min(groups, 2 * nearest)))
        used = np.full(n, nearest, np.int32)
        fill(nearest, arcs, costs, used)
        while settle(arcs, costs, used, low, high, prices, labels, paid, crowded):
            if not look_further(nearest, arcs, costs, used, prices, labels, paid):
                return labels, prices[:-1] - prices[-1]
            if used.max() == arcs.shape[1]:
                arcs, costs = np.concatenate([arcs, arcs], axis=1), np.concatenate([costs, costs], axis=1)
        nearest = min(groups, 2 * nearest)  # too few arcs to fill every group
