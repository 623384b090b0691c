"""DBA: the free record whose k-neighbourhood has the smallest SSE, or the largest, again and again.

Each slot of the tree has a key, the SSE of its neighbourhood or its negative; each leaf and node knows the slot
with the lowest key below it, so a changed key is a short walk up to the root.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.tree import Tree, is_alive
from shoal.kernels.search_tree.watch import Watch, find_all_touched, neighbourhood
from shoal.kernels.single.dissolve import sse_of
from shoal.kernels.single.peel import take_group
from shoal.kernels.sums.exact import Sums
from shoal.kernels.sums.lanes import LANES


@inner
def ahead(tree: Tree, keys: Array, a: int, b: int) -> int:
    """Of two slots the one with the lower key, the lower record among equals; -1 is no slot."""
    if a < 0 or b < 0:
        return max(a, b)
    if keys[a] < keys[b] or (keys[a] == keys[b] and tree.who[a, 0] < tree.who[b, 0]):
        return a
    return b


@inner
def best_in_leaf(tree: Tree, keys: Array, leaf: int) -> int:
    """The first alive slot of a leaf by key, -1 if there is none."""
    best = -1
    for slot in range(leaf * LANES, min((leaf + 1) * LANES, keys.size)):
        if is_alive(tree, slot):
            best = ahead(tree, keys, best, slot)
    return best


@inner
def best_in_node(tree: Tree, keys: Array, best: Array, node: int) -> int:
    """The same below a node."""
    first = tree.first_child[node]
    found = -1
    for child in range(first, min(first + LANES, tree.points.shape[0] + node)):
        if tree.parent[child] == node:
            found = ahead(tree, keys, found, best[child])
    return found


@inner
def climb(tree: Tree, keys: Array, best: Array, slot: int) -> None:
    """A slot's key has changed, or the slot has gone."""
    child = slot // LANES
    best[child] = best_in_leaf(tree, keys, child)
    while tree.parent[child] >= 0:
        node = tree.parent[child]
        child = tree.points.shape[0] + node
        best[child] = best_in_node(tree, keys, best, node)


@kernel
def rank(tree: Tree, keys: Array, best: Array) -> None:
    """The best slot of every leaf and node."""
    leaves = tree.points.shape[0]
    for leaf in range(leaves):
        best[leaf] = best_in_leaf(tree, keys, leaf)
    for node in range(tree.boxes.shape[0]):
        best[leaves + node] = best_in_node(tree, keys, best, node)


@kernel
def fill_keys(
    rows: Array, tree: Tree, watch: Watch, sums: Sums, k: int, sign: float, first: int, last: int, keys: Array
) -> None:
    """The keys of the alive slots from `first` to before `last`."""
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    centre, word = np.empty(rows.shape[1]), np.empty(1, np.int64)
    for slot in range(first, last):
        if not is_alive(tree, slot):
            continue
        neighbourhood(tree, watch, slot, k, d2, ids, slots)
        keys[slot] = sign * sse_of(rows, ids, k, sums, centre, word)


@kernel
def density_steps(
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
    sign: float,
    keys: Array,
    best: Array,
) -> tuple[int, int]:
    """Up to `most` groups, each the k-neighbourhood with the lowest key; returns (free records, next label)."""
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    near_slot = np.empty(k, np.int64)
    centre, word = np.empty(rows.shape[1]), np.empty(1, np.int64)
    for _ in range(most):
        if free < k:
            break
        take_group(tree, sums, best[best.size - 1], k, label, labels, d2, ids, slots)
        free -= k
        label += 1
        if free < k:
            break
        found = find_all_touched(tree, watch, slots, k)
        for h in range(k):
            climb(tree, keys, best, slots[h])
        for position in range(found):
            slot = watch.found[position]
            neighbourhood(tree, watch, slot, k, d2, ids, near_slot)
            keys[slot] = sign * sse_of(rows, ids, k, own, centre, word)
            climb(tree, keys, best, slot)
    return free, label
