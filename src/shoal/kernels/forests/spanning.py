"""The minimum spanning tree of the records, and which of its edges go.

Edges are ordered by (d2, lower index, higher index); no two are equal, so there is one minimum spanning tree. It
grows in rounds (Boruvka): every component but the largest takes the first edge that leaves it. A record remembers
the nearest record outside its component, which stays that until it is inside; parts of the search tree that lie in
one component are passed over by its own records.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.forests.components import find, join
from shoal.kernels.search_tree.order import project
from shoal.kernels.search_tree.tree import (
    LARGEST,
    Tree,
    near_limit,
    push_by_bound,
    rounding_of_points,
    start_at_root,
)
from shoal.kernels.sums.exact import squared_distance
from shoal.kernels.sums.lanes import LANES, lowest_bit, near_boxes, near_points

MIXED = -1


class Growth(NamedTuple):
    """The state of the tree while it grows; a component is known by its leader."""

    slot_of: Array  # int32 (n,): where each record stands in the search tree
    component: Array  # int64 (n,): as of the beginning of the round, as the next two
    slot_component: Array  # int64 (slots,): of all its records, or MIXED
    node_component: Array  # int64 (leaves + nodes,): of all records below, or MIXED
    near: Array  # int64 (n,): the nearest record outside, if still outside; -1 if unknown
    near_d2: Array  # float64 (n,): nobody outside is nearer than this
    best: Array  # int64 (n, 2): of each leader, the ends of its first edge, the lower first; -1 if unknown
    best_d2: Array  # float64 (n,)


def new_growth(tree: Tree) -> Growth:
    """Every record on its own."""
    n, slots = len(tree.ids), len(tree.rows)
    begin, end = tree.who[:, 1] - 1, tree.who[:, 2]
    order = np.argsort(begin)
    slot_of = np.empty(n, np.int32)
    slot_of[tree.ids] = np.repeat(order, (end - begin)[order])
    return Growth(
        slot_of=slot_of,
        component=np.arange(n),
        slot_component=np.empty(slots, np.int64),
        node_component=np.empty(len(tree.parent), np.int64),
        near=np.full(n, -1),
        near_d2=np.zeros(n),
        best=np.empty((n, 2), np.int64),
        best_d2=np.empty(n),
    )


@kernel
def begin_round(tree: Tree, growth: Growth, leader: Array) -> None:
    """Find the components anew, of records, slots and nodes, and the best edge that is already known of each."""
    component, slot_component, node_component = growth.component, growth.slot_component, growth.node_component
    for i in range(component.size):
        component[i] = find(leader, i)
        growth.best[i, 0] = -1
        growth.best_d2[i] = np.inf
    for slot in range(slot_component.size):
        slot_component[slot] = component[tree.who[slot, 0]]
        for twin in range(tree.who[slot, 1], tree.who[slot, 2]):
            if component[tree.ids[twin]] != slot_component[slot]:
                slot_component[slot] = MIXED
                break
    leaves = tree.points.shape[0]
    for leaf in range(leaves):
        node_component[leaf] = slot_component[leaf * LANES]
        for slot in range(leaf * LANES + 1, min(leaf * LANES + LANES, slot_component.size)):
            if slot_component[slot] != node_component[leaf]:
                node_component[leaf] = MIXED
                break
    for node in range(leaves, node_component.size):
        node_component[node] = node_component[tree.first_child[node - leaves]]
    for child in range(node_component.size - 1):
        above = leaves + tree.parent[child]
        if node_component[child] != node_component[above]:
            node_component[above] = MIXED
    for i in range(component.size):
        if growth.near[i] >= 0:
            if component[growth.near[i]] == component[i]:
                growth.near[i] = -1
            else:
                improve(growth, i)


@inner
def improve(growth: Growth, i: int) -> None:
    """Take the edge from i to its nearest if it comes before the best one of the component."""
    own, d2 = growth.component[i], growth.near_d2[i]
    low, high = min(i, growth.near[i]), max(i, growth.near[i])
    best, best_d2 = growth.best, growth.best_d2
    if d2 < best_d2[own] or (
        d2 == best_d2[own] and (low < best[own, 0] or (low == best[own, 0] and high < best[own, 1]))
    ):
        best_d2[own] = d2
        best[own, 0], best[own, 1] = low, high


@inner
def outsider(tree: Tree, growth: Growth, slot: int, own: int) -> int:
    """The lowest record of a slot that is not of this component, -1 if all are."""
    if growth.slot_component[slot] == own:
        return -1
    if growth.slot_component[slot] != MIXED:
        return tree.who[slot, 0]
    for twin in range(tree.who[slot, 1] - 1, tree.who[slot, 2]):
        if growth.component[tree.ids[twin]] != own:
            return tree.ids[twin]
    return -1


@inner
def outside_nodes(node_component: Array, first: int, children: int, own: int) -> int:
    """Those of a node's children, as bits, that are not wholly of this component."""
    mask, left = children, children
    while left:
        lane = lowest_bit(left)
        left &= left - 1
        if node_component[first + lane] == own:
            mask &= ~(1 << lane)
    return mask


@inner
def look_outside(tree: Tree, growth: Growth, i: int) -> None:
    """Finds the record nearest to i outside its component, if it is no farther than the component's best edge."""
    points, boxes, first_child, rows = tree.points, tree.boxes, tree.first_child, tree.rows
    query, bounds, lanes = tree.query, tree.bounds, tree.lanes
    stack_node, stack_bound, scale = tree.stack_node, tree.stack_bound, tree.scale
    head, leaves, m = tree.head, tree.points.shape[0], tree.points.shape[1]
    slot_component, node_component = growth.slot_component, growth.node_component
    own = growth.component[i]
    point = rows[growth.slot_of[i]]
    error = rounding_of_points(np.sqrt(project(point, tree.centre, scale, tree.axes, query)))
    best, best_d2 = -1, growth.best_d2[own]
    limit = near_limit(best_d2, m, scale, error) if best_d2 < np.inf else LARGEST
    top = start_at_root(tree, np.float32(0))
    while top > 0:
        top -= 1
        if stack_bound[top] > limit:
            continue
        node = np.int64(stack_node[top]) - leaves
        first = np.int64(first_child[node])
        children = near_boxes(boxes, node, query, head, limit, bounds)
        children = outside_nodes(node_component, first, children, own)
        if first >= leaves:
            top = push_by_bound(
                stack_node, stack_bound, bounds, boxes, leaves, top, first, children, np.float32(1)
            )
            continue
        while children:
            child = lowest_bit(children)
            children &= children - 1
            if bounds[child] > limit:
                continue
            leaf = first + child
            mask = near_points(points, leaf, query, head, limit, lanes)
            while mask:
                lane = lowest_bit(mask)
                mask &= mask - 1
                slot = leaf * LANES + lane
                if lanes[lane] > limit or slot_component[slot] == own:
                    continue
                d2 = squared_distance(rows, slot, point)
                if d2 > best_d2:
                    continue
                other = outsider(tree, growth, slot, own)
                if other >= 0 and (d2 < best_d2 or best < 0 or other < best):
                    best, best_d2 = other, d2
                    limit = near_limit(d2, m, scale, error)
    growth.near[i] = best
    growth.near_d2[i] = best_d2


@kernel
def search_round(tree: Tree, growth: Growth, largest: int, first: int, last: int) -> None:
    """The first edge of each component but the largest, as far as the records of these slots know one.

    Of twins in one component the lowest has the first edge.
    """
    component = growth.component
    for slot in range(first, last):
        lowest = tree.who[slot, 0]
        for twin in range(tree.who[slot, 1] - 1, tree.who[slot, 2]):
            i = tree.ids[twin]
            if component[i] == largest or growth.near[i] >= 0:
                continue
            if (i != lowest and component[i] == component[lowest]) or growth.near_d2[i] > growth.best_d2[
                component[i]
            ]:
                continue
            look_outside(tree, growth, i)
            if growth.near[i] >= 0:
                improve(growth, i)


@kernel
def end_round(
    growth: Growth, largest: int, leader: Array, size: Array, edges: Array, lengths: Array, count: int
) -> int:
    """Adds the edges found; returns how many edges there are."""
    for own in range(leader.size):
        if own != largest and growth.best[own, 0] >= 0:
            a, b = find(leader, growth.best[own, 0]), find(leader, growth.best[own, 1])
            if a != b:  # else the other component has found the same edge
                join(leader, size, a, b)
                edges[count] = growth.best[own]
                lengths[count] = growth.best_d2[own]
                count += 1
    return count


@kernel
def remove_edges(edges: Array, k: int, leader: Array) -> None:
    """Removes edges from the last to the first wherever both sides keep k records; fills in each record's leader.

    The edges come as Kruskal would take them. Joined in that order they form a binary tree, in which each
    component that could be cut at an edge is a run of leaves. An edge that has fewer than k records on one side
    stays for good, and so do all edges on that side: its weight goes to the record that it hangs on.
    """
    n = edges.shape[0] + 1
    left, right = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    begin, count = np.zeros(2 * n - 1, np.int64), np.ones(2 * n - 1, np.int64)
    node_of, size = np.arange(n), np.ones(n, np.int64)
    leader[:] = np.arange(n)
    for e in range(n - 1):
        a, b = find(leader, edges[e, 0]), find(leader, edges[e, 1])
        left[e], right[e] = node_of[a], node_of[b]
        count[n + e] = count[left[e]] + count[right[e]]
        node_of[join(leader, size, a, b)] = n + e
    for e in range(n - 2, -1, -1):
        begin[left[e]] = begin[n + e]
        begin[right[e]] = begin[n + e] + count[left[e]]
    sums = np.zeros(n + 1, np.int64)
    for i in range(1, n + 1):
        sums[i] = i & -i  # every record weighs one
    whole = np.zeros(2 * n - 1, np.bool_)  # a component of what is left, not a side that hangs on another
    whole[2 * n - 2] = True
    removed = np.zeros(n - 1, np.bool_)
    for e in range(n - 2, -1, -1):
        if not whole[n + e]:
            continue
        on_left, on_right = weight_of(sums, begin, count, left[e]), weight_of(sums, begin, count, right[e])
        if on_left + on_right < 2 * k:
            continue
        whole[left[e]], whole[right[e]] = on_left >= k, on_right >= k
        removed[e] = on_left >= k and on_right >= k
        if on_left < k:
            add_weight(sums, begin[edges[e, 1]], on_left)
        elif on_right < k:
            add_weight(sums, begin[edges[e, 0]], on_right)
    leader[:] = np.arange(n)
    size[:] = 1
    for e in range(n - 1):
        if not removed[e]:
            join(leader, size, find(leader, edges[e, 0]), find(leader, edges[e, 1]))
    for i in range(n):
        leader[i] = find(leader, i)


@inner
def weight_before(sums: Array, place: int) -> int:
    """The weight of the leaves before a place, from a Fenwick tree."""
    total = 0
    while place > 0:
        total += sums[place]
        place -= place & -place
    return total


@inner
def weight_of(sums: Array, begin: Array, count: Array, node: int) -> int:
    """The weight of the leaves of a node."""
    return weight_before(sums, begin[node] + count[node]) - weight_before(sums, begin[node])


@inner
def add_weight(sums: Array, place: int, weight: int) -> None:
    """The leaf at a place gains weight."""
    place += 1
    while place < sums.size:
        sums[place] += weight
        place += place & -place
