"""Groups of many records: who leaves first is kept in a heap for each pair of groups.

A chain of moves (see `flow`) looks at every record of a group on its way. Here, for groups g and h, the record of
g that loses least by going to h lies on top of a pairing heap. A chain then costs a step for each pair of groups,
however many records they have, and a record that moves leaves the heaps of one group for those of the other.

The node of record x for its arc a has the number x * width + a, so that it needs no memory of its own.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, folded, inner
from shoal.kernels.transport.paths import Ways, relax


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


class Crowds(NamedTuple):
    """A heap for each pair of groups, and its nodes."""

    roots: Array  # int32 (groups, groups): -1 for an empty heap
    key: Array  # float64 (nodes,): what the record loses by going there
    child: Array  # int32 (nodes,)
    after: Array  # int32 (nodes,)
    before: Array  # int32 (nodes,)


@inner
def new_crowds(nodes: int, groups: int) -> Crowds:
    """All heaps empty."""
    child, after, before = np.empty(nodes, np.int32), np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    return Crowds(np.full((groups, groups), -1, np.int32), np.empty(nodes), child, after, before)


@inner
def join_crowd(crowds: Crowds, x: int, group: int, arcs: Array, costs: Array, used: Array, paid: Array) -> None:
    """Put a record of a group into the heaps towards all others that it has an arc to."""
    roots, key, child, after, before = crowds
    for a in range(used[x]):
        to = arcs[x, a]
        if to != group:
            node = x * arcs.shape[1] + a
            key[node] = costs[x, a] - paid[x]
            child[node] = after[node] = -1
            roots[group, to] = meld(roots[group, to], node, key, child, after, before)


@inner
def quit_crowd(crowds: Crowds, x: int, group: int, arcs: Array, used: Array) -> None:
    """Take a record out of the heaps of its group."""
    roots, key, child, after, before = crowds
    for a in range(used[x]):
        to = arcs[x, a]
        if to != group:
            node = x * arcs.shape[1] + a
            roots[group, to] = take_out(node, roots[group, to], key, child, after, before)


@folded
def leave_crowd(
    crowds: Crowds, ways: Ways, node: int, width: int, costs: Array, price: Array, paid: Array, size: int
) -> int:
    """The ways from a group to others, by the record that loses least; returns the size of the heap."""
    for to in range(crowds.roots.shape[1]):
        top = crowds.roots[node, to]
        if top >= 0 and not ways.final[to]:
            x, a = top // width, top % width
            new = ways.distance[node] + max(costs[x, a] + price[to] - paid[x] - price[node], 0.0)
            if new < ways.distance[to]:
                size = relax(ways, to, new, node, x, size)
    return size
