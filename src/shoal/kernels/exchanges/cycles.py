"""Chains and cycles of up to six records between as many groups, found as negative paths.

Record x takes the place of y in the group g of y, of b records, at the cost

    d(g, x) - d(g, y) - |x - y|^2 / b

with d the squared distance to the centroid. A cycle is a sequence of records, each taking the place of the next
and the last that of the first, all of different groups: its costs add up to the change of the SSE. A chain begins
with a record that leaves a group of more than k and ends in a group of fewer than 2k - 1.

If a cycle gains, one of its records can begin so that every part of the sum up to some record gains (S. Lin and
B. W. Kernighan, An effective heuristic algorithm for the traveling-salesman problem, Operations Research 21 (1973)
498-516): nothing else is followed, and of each record only the cheapest places in near groups.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, folded, inner, kernel
from shoal.kernels.exchanges.groups import distances, file_in, fill, room_for
from shoal.kernels.sums.exact import squared_distance

LENGTH = 6  # records of a chain or cycle
GROUPS = 16  # near groups of a record, whose places are looked at
ARCS = 16  # places for a record, the cheapest
VISITS = 2000  # steps of the search from one record


class Graph(NamedTuple):
    """Groups, and what each record would cost in whose place."""

    rows: Array
    label: Array
    members: Array
    size: Array
    centre: Array
    own: Array  # float64 (n,): d to the own centroid
    near: Array  # int64 (n, GROUPS): other groups, nearest first, -1 at the end
    reach: Array  # float64 (n, GROUPS): d to these
    place: Array  # int64 (n, ARCS): whose place, cheapest first
    cost: Array  # float64 (n, ARCS): at what cost, infinite at the end


class Found(NamedTuple):
    """The best chain or cycle that begins with each record."""

    change: Array  # float64 (n,): of the SSE
    path: Array  # int64 (n, LENGTH)
    length: Array  # int64 (n,): 0 for none
    end: Array  # int64 (n,): the group that the last enters, -1 where it takes the place of the first


def new_graph(rows: Array, labels: Array, k: int) -> Graph:
    """Room for the groups of labels from 0 on, each of fewer than 2k records."""
    n = len(rows)
    return Graph(
        *room_for(rows, labels, int(labels.max()) + 1, 2 * k - 1),
        np.zeros(n),
        np.zeros((n, GROUPS), np.int64),
        np.zeros((n, GROUPS)),
        np.zeros((n, ARCS), np.int64),
        np.zeros((n, ARCS)),
    )


def new_found(n: int) -> Found:
    """Room for what n records find."""
    return Found(np.zeros(n), np.zeros((n, LENGTH), np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64))


@inner
def prepare(graph: Graph) -> None:
    """Members, centroids, near groups and arcs from the labels."""
    n, groups = graph.label.size, graph.size.size
    fill(graph)
    distances(graph, graph.own)
    for i in range(n):
        graph.near[i] = -1
        graph.reach[i] = np.inf
        for g in range(groups):
            if g != graph.label[i]:
                file_in(graph.near[i], graph.reach[i], g, squared_distance(graph.rows, i, graph.centre[g]))
    for i in range(n):
        list_arcs(graph, i)


@inner
def list_arcs(graph: Graph, x: int) -> None:
    """The cheapest places for x."""
    graph.cost[x] = np.inf
    for c in range(GROUPS):
        g = graph.near[x, c]
        if g < 0:
            break
        for slot in range(graph.size[g]):
            y = graph.members[g, slot]
            apart = squared_distance(graph.rows, x, graph.rows[y])
            change = graph.reach[x, c] - graph.own[y] - apart / graph.size[g]
            file_in(graph.place[x], graph.cost[x], y, change)


@folded
def uses(graph: Graph, path: Array, length: int, g: int) -> bool:
    """Whether a record of the path is of group g."""
    used = False
    for p in range(length):
        used |= graph.label[path[p]] == g
    return used


@inner
def follow(graph: Graph, found: Found, s: int, k: int, least: float) -> None:
    """The best chain or cycle that begins with s and gains more than `least`."""
    path = np.zeros(LENGTH, np.int64)
    total = np.zeros(LENGTH)
    following = np.zeros(LENGTH, np.int64)
    home = graph.label[s]
    size = graph.size[home]
    found.change[s] = -least
    found.length[s] = 0
    visits = 0
    for leaving in range(2 if size > k else 1):
        path[0], following[0] = s, 0
        total[0] = -graph.own[s] * size / (size - 1) if leaving else 0.0
        length = 1
        while length > 0:
            x, sofar = path[length - 1], total[length - 1]
            if following[length - 1] == 0:
                visits += 1
                if leaving:
                    for c in range(GROUPS):
                        g = graph.near[x, c]
                        if g >= 0 and graph.size[g] < 2 * k - 1 and not uses(graph, path, length, g):
                            change = sofar + graph.reach[x, c] * graph.size[g] / (graph.size[g] + 1)
                            note(found, s, path, length, g, change)
                elif length > 1:
                    apart = squared_distance(graph.rows, x, graph.rows[s])
                    change = sofar + squared_distance(graph.rows, x, graph.centre[home]) - graph.own[s]
                    note(found, s, path, length, -1, change - apart / size)
            p = following[length - 1]
            if length == LENGTH or p == ARCS or sofar + graph.cost[x, p] >= -least or visits > VISITS:
                length -= 1
                continue
            following[length - 1] = p + 1
            y = graph.place[x, p]
            if not uses(graph, path, length, graph.label[y]):
                path[length], total[length], following[length] = y, sofar + graph.cost[x, p], 0
                length += 1


@folded
def note(found: Found, s: int, path: Array, length: int, end: int, change: float) -> None:
    """Keep the best that begins with s."""
    if change < found.change[s]:
        found.change[s], found.length[s], found.end[s] = change, length, end
        for p in range(length):
            found.path[s, p] = path[p]


@inner
def carry_out(graph: Graph, found: Found) -> int:
    """The chains and cycles that gain most, of groups that have not changed before; how many."""
    touched = np.zeros(graph.size.size, np.bool_)
    target = np.zeros(LENGTH, np.int64)
    done = 0
    for s in np.argsort(found.change, kind="mergesort"):
        length = found.length[s]
        if length == 0:
            continue
        free = found.end[s] < 0 or not touched[found.end[s]]
        for p in range(length):
            free &= not touched[graph.label[found.path[s, p]]]
            last = graph.label[s] if found.end[s] < 0 else found.end[s]
            target[p] = graph.label[found.path[s, p + 1]] if p + 1 < length else last
        if not free:
            continue
        done += 1
        for p in range(length):
            touched[graph.label[found.path[s, p]]] = True
            touched[target[p]] = True
        for p in range(length):
            graph.label[found.path[s, p]] = target[p]
    return done


@kernel
def close_cycles(graph: Graph, found: Found, k: int, least: float) -> int:
    """Chains and cycles that gain more than `least` carried out; how many these were."""
    prepare(graph)
    for s in range(graph.label.size):
        follow(graph, found, s, k, least)
    return carry_out(graph, found)
