"""GSMS: the k-neighbourhood whose centroid is farthest from the mean of all free records, again and again.

Each slot of the tree has the centroid of its neighbourhood; each leaf and node has the box around the centroids
below it, so most of them are ruled out by the farthest corner of a box. A box's bound is summed as a distance
is, attribute by attribute, so rounding cannot put it below the distance of any centroid inside.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.tree import Tree, is_alive
from shoal.kernels.search_tree.watch import Watch, find_all_touched, neighbourhood
from shoal.kernels.single.peel import take_group
from shoal.kernels.sums.exact import Sums, add_row, centroid, clear, squared_distance
from shoal.kernels.sums.lanes import LANES


@inner
def widen(low: Array, high: Array, other_low: Array, other_high: Array) -> None:
    """Stretch a box over another one."""
    for j in range(low.size):
        low[j] = min(low[j], other_low[j])
        high[j] = max(high[j], other_high[j])


@inner
def fit_leaf(tree: Tree, centres: Array, boxes: Array, leaf: int) -> None:
    """The box around the centroids of a leaf's alive slots."""
    boxes[leaf, 0, :] = np.inf
    boxes[leaf, 1, :] = -np.inf
    for slot in range(leaf * LANES, min((leaf + 1) * LANES, centres.shape[0])):
        if is_alive(tree, slot):
            widen(boxes[leaf, 0], boxes[leaf, 1], centres[slot], centres[slot])


@inner
def fit_node(tree: Tree, boxes: Array, node: int) -> None:
    """The box around the boxes of a node's children."""
    own, first = tree.points.shape[0] + node, tree.first_child[node]
    boxes[own, 0, :] = np.inf
    boxes[own, 1, :] = -np.inf
    for child in range(first, min(first + LANES, own)):
        if tree.parent[child] == node:
            widen(boxes[own, 0], boxes[own, 1], boxes[child, 0], boxes[child, 1])


@inner
def refit(tree: Tree, centres: Array, boxes: Array, slot: int) -> None:
    """A slot's centroid has moved, or the slot has gone."""
    child = slot // LANES
    fit_leaf(tree, centres, boxes, child)
    while tree.parent[child] >= 0:
        node = tree.parent[child]
        fit_node(tree, boxes, node)
        child = tree.points.shape[0] + node


@kernel
def fit_all_boxes(tree: Tree, centres: Array, boxes: Array) -> None:
    """The boxes of all leaves and nodes."""
    for leaf in range(tree.points.shape[0]):
        fit_leaf(tree, centres, boxes, leaf)
    for node in range(tree.boxes.shape[0]):
        fit_node(tree, boxes, node)


@inner
def farthest_corner(boxes: Array, place: int, point: Array) -> float:
    """No centroid in the box is farther from the point than this; negative if the box is empty."""
    if boxes[place, 0, 0] > boxes[place, 1, 0]:
        return -1.0
    total = 0.0
    for j in range(point.size):
        gap = max(abs(boxes[place, 0, j] - point[j]), abs(boxes[place, 1, j] - point[j]))
        total += gap * gap
    return total


@inner
def farthest_centre(tree: Tree, centres: Array, boxes: Array, point: Array) -> int:
    """The alive slot whose centroid is farthest from the point, the lowest record among equals."""
    leaves = tree.points.shape[0]
    best, reach = -1, -1.0
    top = 1
    tree.stack_node[0] = boxes.shape[0] - 1
    while top > 0:
        top -= 1
        place = np.int64(tree.stack_node[top])
        bound = farthest_corner(boxes, place, point)
        if bound < reach or bound < 0.0:
            continue
        if place < leaves:
            for slot in range(place * LANES, min((place + 1) * LANES, centres.shape[0])):
                if not is_alive(tree, slot):
                    continue
                d2 = squared_distance(centres, slot, point)
                if d2 > reach or (d2 == reach and tree.who[slot, 0] < tree.who[best, 0]):
                    best, reach = slot, d2
            continue
        top = push_farthest_last(tree, boxes, point, place - leaves, reach, top)
    return best


@inner
def push_farthest_last(tree: Tree, boxes: Array, point: Array, node: int, reach: float, top: int) -> int:
    """Push a node's children that can still win, so that the one that reaches farthest pops first."""
    first = np.int64(tree.first_child[node])
    highest, at = -1.0, -1
    for child in range(first, min(first + LANES, tree.points.shape[0] + node)):
        if tree.parent[child] != node:
            continue
        bound = farthest_corner(boxes, child, point)
        if bound < reach or bound < 0.0:
            continue
        if bound > highest:
            highest, at = bound, top
        tree.stack_node[top] = child
        top += 1
    if at >= 0:
        last = top - 1
        tree.stack_node[at], tree.stack_node[last] = tree.stack_node[last], tree.stack_node[at]
    return top


@inner
def centre_of(rows: Array, ids: Array, k: int, sums: Sums, out: Array, word: Array) -> None:
    """The centroid of some records."""
    bits = rows.view(np.int64)
    clear(sums)
    for h in range(k):
        add_row(sums, bits, ids[h], 1)
    centroid(sums, k, out, word)


@kernel
def fill_centres(
    rows: Array, tree: Tree, watch: Watch, sums: Sums, k: int, first: int, last: int, centres: Array
) -> None:
    """The centroids of the neighbourhoods of the alive slots from `first` to before `last`."""
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    word = np.empty(1, np.int64)
    for slot in range(first, last):
        if is_alive(tree, slot):
            neighbourhood(tree, watch, slot, k, d2, ids, slots)
            centre_of(rows, ids, k, sums, centres[slot], word)


@kernel
def selection_steps(
    rows: Array,
    tree: Tree,
    watch: Watch,
    sums: Sums,
    own: Sums,
    labels: Array,
    free: int,
    label: int,
    k: int,
    most: int,
    centres: Array,
    boxes: Array,
) -> tuple[int, int]:
    """Up to `most` groups, each the k-neighbourhood farthest out; returns (free records, next label)."""
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    near_slot = np.empty(k, np.int64)
    mean, word = np.empty(rows.shape[1]), np.empty(1, np.int64)
    for _ in range(most):
        if free < k:
            break
        centroid(sums, free, mean, word)
        seed = farthest_centre(tree, centres, boxes, mean)
        take_group(tree, sums, seed, k, label, labels, d2, ids, slots)
        free -= k
        label += 1
        if free < k:
            break
        found = find_all_touched(tree, watch, slots, k)
        for h in range(k):
            refit(tree, centres, boxes, slots[h])
        for position in range(found):
            slot = watch.found[position]
            neighbourhood(tree, watch, slot, k, d2, ids, near_slot)
            centre_of(rows, ids, k, own, centres[slot], word)
            refit(tree, centres, boxes, slot)
    return free, label
