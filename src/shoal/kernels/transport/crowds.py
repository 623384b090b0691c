"""The transport problem for groups of many records: who leaves first is kept in a heap for each pair of groups.

Like `transport.settle`, one chain of moves after the other. But there a chain looks at every record of a group on
its way; here, for groups g and h, the record of g that loses least by going to h lies on top of a pairing heap.
A chain then costs a step for each pair of groups, however many records they have, and a record that moves leaves
the heaps of one group for those of the other.

The node of record x for its arc a has the number x * width + a, so that it needs no memory of its own.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.transport.flow import leave_pool, raise_prices, relax, take_nearest, weigh


@inner
def meld(one: int, other: int, key: Array, child: Array, after: Array, before: Array) -> int:
    """Two heaps become one, under the lower key; of equal keys under the lower number. -1 is an empty heap."""
    if one < 0:
        return other
    if other < 0:
        return one
    if key[other] < key[one] or (key[other] == key[one] and other < one):
        one, other = other, one
    after[other] = child[one]
    before[other] = one
    if child[one] >= 0:
        before[child[one]] = other
    child[one] = other
    after[one] = -1
    return one


@inner
def gather(first: int, key: Array, child: Array, after: Array, before: Array) -> int:
    """A row of heaps becomes one: in pairs from the left, then all from the right."""
    done = -1
    while first >= 0:
        second = int(after[first])
        rest = -1
        after[first] = -1
        if second >= 0:
            rest = int(after[second])
            after[second] = -1
        pair = meld(first, second, key, child, after, before)
        after[pair] = done
        done = pair
        first = rest
    root = -1
    while done >= 0:
        rest = int(after[done])
        after[done] = -1
        root = meld(root, done, key, child, after, before)
        done = rest
    return root


@inner
def take_out(node: int, root: int, key: Array, child: Array, after: Array, before: Array) -> int:
    """A heap without one of its nodes."""
    below = gather(child[node], key, child, after, before)
    child[node] = -1
    if node == root:
        return below
    if child[before[node]] == node:
        child[before[node]] = after[node]
    else:
        after[before[node]] = after[node]
    if after[node] >= 0:
        before[after[node]] = before[node]
    after[node] = -1
    return meld(root, below, key, child, after, before)


@inner
def join_group(
    x: int, group: int, arcs: Array, costs: Array, used: Array, labels: Array, paid: Array, roots: Array,
    key: Array, child: Array, after: Array, before: Array,
) -> None:  # fmt: skip
    """Put a record into a group and into the heaps towards all others that it has an arc to."""
    labels[x] = group
    for a in range(used[x]):
        if arcs[x, a] == group:
            paid[x] = costs[x, a]
    for a in range(used[x]):
        to = arcs[x, a]
        if to != group:
            node = x * arcs.shape[1] + a
            key[node] = costs[x, a] - paid[x]
            child[node] = after[node] = -1
            roots[group, to] = meld(roots[group, to], node, key, child, after, before)


@inner
def leave_group(
    x: int,
    group: int,
    arcs: Array,
    used: Array,
    roots: Array,
    key: Array,
    child: Array,
    after: Array,
    before: Array,
) -> None:
    """Take a record out of the heaps of its group."""
    for a in range(used[x]):
        to = arcs[x, a]
        if to != group:
            node = x * arcs.shape[1] + a
            roots[group, to] = take_out(node, roots[group, to], key, child, after, before)


@kernel
def settle_crowds(
    arcs: Array, costs: Array, used: Array, low: Array, high: Array, price: Array, labels: Array, paid: Array
) -> bool:
    """Solve on the given arcs as `transport.settle` does, which says what the arguments are."""
    n, groups, width = used.size, low.size, arcs.shape[1]
    pool = groups
    key = np.empty(n * width)
    child, after, before = (
        np.empty(n * width, np.int32),
        np.empty(n * width, np.int32),
        np.empty(n * width, np.int32),
    )
    roots = np.full((groups, groups), -1, np.int32)
    for x in range(n):
        best = 0
        for a in range(1, used[x]):
            if costs[x, a] + price[arcs[x, a]] < costs[x, best] + price[arcs[x, best]]:
                best = a
        join_group(x, arcs[x, best], arcs, costs, used, labels, paid, roots, key, child, after, before)
    surplus, held = weigh(labels, low, high, price)
    distance = np.full(groups + 1, np.inf)
    final = np.zeros(groups + 1, np.bool_)
    origin, via = np.empty(groups + 1, np.int64), np.empty(groups + 1, np.int64)
    heap, place = np.empty(groups + 1, np.int64), np.empty(groups + 1, np.int64)
    visited = np.empty(groups + 1, np.int64)
    for source in range(groups + 1):
        while surplus[source] > 0:
            count, target = 0, -1
            distance[source] = 0.0
            heap[0], place[source] = source, 0
            size = 1
            while size > 0:
                node = int(take_nearest(heap, place, distance, size))
                size -= 1
                final[node] = True
                visited[count] = node
                count += 1
                reach = distance[node]
                if surplus[node] < 0:
                    target = node
                    break
                if node == pool:
                    size = leave_pool(reach, held, low, price, final, distance, origin, via, heap, place, size)
                    continue
                if held[node] < high[node] and not final[pool]:  # it may keep one more
                    new = reach + max(price[pool] - price[node], 0.0)
                    size = relax(pool, new, node, -1, distance, origin, via, heap, place, size)
                for to in range(groups):
                    top = roots[node, to]
                    if top >= 0 and not final[to]:
                        x, a = top // width, top % width
                        new = reach + max(costs[x, a] + price[to] - paid[x] - price[node], 0.0)
                        size = relax(to, new, node, x, distance, origin, via, heap, place, size)
            if target < 0:
                return False
            raise_prices(target, visited, count, heap, size, price, distance, final)
            node = int(target)
            while node != source:
                back = int(origin[node])
                if back == pool:
                    held[node] -= 1
                elif node == pool:
                    held[back] += 1
                else:
                    x = via[node]
                    leave_group(x, back, arcs, used, roots, key, child, after, before)
                    join_group(x, node, arcs, costs, used, labels, paid, roots, key, child, after, before)
                node = back
            surplus[source] -= 1
            surplus[target] += 1
    return True
