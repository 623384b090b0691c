"""Shortest paths between groups, by Dijkstra's method, one search after the other; and who sits in which group.

A search keeps the nodes that it has reached but not settled in a binary heap, the nearest on top. What it has
touched is cleared afterwards, so that a short search costs little however many nodes there are.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, folded, inner


class Ways(NamedTuple):
    """A search: how far the nodes are and by which way; infinitely far and not final between two searches."""

    distance: Array  # float64 (nodes,)
    final: Array  # bool (nodes,): no shorter way will be found
    origin: Array  # int64 (nodes,): the node before
    via: Array  # int64 (nodes,): what moves from there
    heap: Array  # int64 (nodes,)
    place: Array  # int64 (nodes,): of each node in the heap
    visited: Array  # int64 (nodes,): the final ones, nearest first


@inner
def new_ways(nodes: int) -> Ways:
    """Before the first search."""
    return Ways(
        np.full(nodes, np.inf),
        np.zeros(nodes, np.bool_),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
        np.empty(nodes, np.int64),
    )


@inner
def lift(node: int, heap: Array, place: Array, distance: Array) -> None:
    """Move a node of the heap (the nearest on top) up to where its distance belongs."""
    at = np.int64(place[node])
    while at > 0:
        parent = (at - 1) >> 1
        if distance[heap[parent]] <= distance[node]:
            break
        heap[at] = heap[parent]
        place[heap[at]] = at
        at = parent
    heap[at] = node
    place[node] = at


@inner
def take_nearest(heap: Array, place: Array, distance: Array, size: int) -> int:
    """Take the nearest of `size` nodes out of the heap and return it."""
    nearest, node = heap[0], heap[size - 1]
    at = 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and distance[heap[child + 1]] < distance[heap[child]]:
            child += 1
        if distance[heap[child]] >= distance[node]:
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = node
    place[node] = at
    return nearest


@folded
def begin(ways: Ways, source: int) -> int:
    """A search from a node; returns the size of the heap."""
    ways.distance[source] = 0.0
    ways.heap[0], ways.place[source] = source, 0
    return 1


@folded
def visit(ways: Ways, size: int, count: int) -> int:
    """The nearest of `size` nodes leaves the heap and is final, after `count` others."""
    node = int(take_nearest(ways.heap, ways.place, ways.distance, size))
    ways.final[node] = True
    ways.visited[count] = node
    return node


@folded
def relax(ways: Ways, to: int, new: float, node: int, mover: int, size: int) -> int:
    """A way of length `new` to a node from another one, by what moves there; returns the size of the heap."""
    if not new < ways.distance[to]:
        return size
    if ways.distance[to] == np.inf:
        ways.place[to] = size
        size += 1
    ways.distance[to] = new
    ways.origin[to] = node
    ways.via[to] = mover
    lift(to, ways.heap, ways.place, ways.distance)
    return size


@folded
def forget(ways: Ways, size: int, count: int) -> None:
    """Clear a search that left `size` nodes in the heap and made `count` final."""
    for i in range(count):
        ways.distance[ways.visited[i]] = np.inf
        ways.final[ways.visited[i]] = False
    for i in range(size):
        ways.distance[ways.heap[i]] = np.inf


@inner
def leave(record: int, group: int, head: Array, after: Array, before: Array) -> None:
    """Take a record out of its group's list."""
    if before[record] >= 0:
        after[before[record]] = after[record]
    else:
        head[group] = after[record]
    if after[record] >= 0:
        before[after[record]] = before[record]


@inner
def enter(record: int, group: int, head: Array, after: Array, before: Array) -> None:
    """Put a record at the head of a group's list."""
    after[record] = head[group]
    before[record] = -1
    if head[group] >= 0:
        before[head[group]] = record
    head[group] = record
