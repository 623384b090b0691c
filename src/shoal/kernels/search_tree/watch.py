"""Whose k-neighbourhood has lost a record: the slots of a tree, each with the reach of its neighbourhood.

The k-neighbourhood of a free record is the record and its k - 1 nearest free ones. It changes only when one of
them goes. Every node of the tree knows the longest reach below it, so those that a record belonged to are
found without lists of who has whom. Records with identical rows share a slot and its neighbourhood. Reaches
are float32 and rounded up: a slot may be found that need not be, never the other way round.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner
from shoal.kernels.search_tree.order import project
from shoal.kernels.search_tree.tree import (
    Tree,
    is_alive,
    k_nearest,
    largest_lane,
    lowest_id,
    near_limit,
    rounding_of_points,
    start_at_root,
)
from shoal.kernels.sums.lanes import LANES, lowest_bit, near_boxes, near_points

NOTHING = np.float32(-1)  # below every sum of squares


class Watch(NamedTuple):
    """The reach of each slot's neighbourhood, in the units of the tree's sums, and the longest below each node."""

    slots: Array  # float32 (leaves, 16)
    nodes: Array  # float32 (nodes, 16)
    flags: Array  # uint8 (slots,): scratch, who has been found
    found: Array  # int64 (slots,): scratch


def new_watch(tree: Tree) -> Watch:
    """Nobody watched yet."""
    slots = len(tree.rows)
    return Watch(
        np.full((len(tree.points), LANES), NOTHING),
        np.full((len(tree.boxes), LANES), NOTHING),
        np.zeros(slots, np.uint8),
        np.empty(slots, np.int64),
    )


@inner
def set_reach(tree: Tree, watch: Watch, slot: int, reach: np.float32) -> None:
    """Write down a slot's reach, and the longest above it as far up as that changes."""
    leaves = tree.points.shape[0]
    watch.slots[slot // LANES, slot % LANES] = reach
    child = slot // LANES
    longest = largest_lane(watch.slots[child])
    while tree.parent[child] >= 0:
        node = tree.parent[child]
        place = child - tree.first_child[node]
        if watch.nodes[node, place] == longest:
            return
        watch.nodes[node, place] = longest
        child = leaves + node
        longest = largest_lane(watch.nodes[node])


@inner
def neighbourhood(tree: Tree, watch: Watch, slot: int, k: int, d2: Array, ids: Array, slots: Array) -> None:
    """The slot's lowest record and its k - 1 nearest alive ones into ids[:k], ascending; at least k are alive."""
    k_nearest(tree, tree.rows[slot], k, d2, ids, slots)
    reach = near_limit(d2[0], tree.axes.shape[1], tree.scale, rounding_of_points(1.0))
    set_reach(tree, watch, slot, reach)
    record = lowest_id(tree, slot)
    own = False
    for h in range(k):
        own = own or ids[h] == record
    if not own:  # k others are at distance zero
        ids[0] = record
    ids[:k].sort()


@inner
def find_touched(tree: Tree, watch: Watch, point: Array, count: int) -> int:
    """Add to watch.found the alive slots whose neighbourhood reaches the point; returns how many there are."""
    leaves = tree.points.shape[0]
    project(point, tree.centre, tree.scale, tree.axes, tree.query)
    top = start_at_root(tree, np.float32(0))
    while top > 0:
        top -= 1
        node = np.int64(tree.stack_node[top]) - leaves
        first = np.int64(tree.first_child[node])
        longest = largest_lane(watch.nodes[node])
        children = near_boxes(tree.boxes, node, tree.query, tree.head, longest, tree.bounds)
        while children:
            place = lowest_bit(children)
            children &= children - 1
            if tree.bounds[place] > watch.nodes[node, place]:
                continue
            if first >= leaves:
                tree.stack_node[top] = first + place
                top += 1
            else:
                count = find_in_leaf(tree, watch, first + place, watch.nodes[node, place], count)
    return count


@inner
def find_in_leaf(tree: Tree, watch: Watch, leaf: int, longest: np.float32, count: int) -> int:
    """The same for the slots of one leaf."""
    lanes = near_points(tree.points, leaf, tree.query, tree.head, longest, tree.lanes)
    while lanes:
        lane = lowest_bit(lanes)
        lanes &= lanes - 1
        slot = leaf * LANES + lane
        if tree.lanes[lane] <= watch.slots[leaf, lane] and watch.flags[slot] == 0:
            watch.flags[slot] = 1
            watch.found[count] = slot
            count += 1
    return count


@inner
def find_all_touched(tree: Tree, watch: Watch, gone: Array, count: int) -> int:
    """The alive slots whose neighbourhood had one of the slots gone[:count], into watch.found; how many."""
    found = 0
    for h in range(count):
        if not is_alive(tree, gone[h]):
            set_reach(tree, watch, gone[h], NOTHING)
        found = find_touched(tree, watch, tree.rows[gone[h]], found)
    for position in range(found):
        watch.flags[watch.found[position]] = 0
    return found
