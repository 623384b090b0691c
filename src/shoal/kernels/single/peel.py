"""Groups peeled off the records that are still free: the steps that MDAV, CBFS, V-MDAV and TFRP share.

A step function forms groups while at least `floor` records are free and at most `most` times, and returns
(free records, next label). All other state is in its arguments, so that the caller can come back for more.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.shell import Shell, farthest_from_moving
from shoal.kernels.search_tree.tree import Tree, farthest, k_nearest, lowest_id, remove
from shoal.kernels.sums.exact import Sums, add_row, centroid, rounded_sum, squared_distance


@inner
def take(tree: Tree, sums: Sums, slot: int, label: int, labels: Array) -> None:
    """The slot's lowest record gets its label and leaves the tree and the sums."""
    labels[lowest_id(tree, slot)] = label
    add_row(sums, tree.rows.view(np.int64), slot, -1)
    remove(tree, slot)


@inner
def take_group(
    tree: Tree, sums: Sums, seed: int, k: int, label: int, labels: Array, d2: Array, ids: Array, slots: Array
) -> None:
    """The seed and its k - 1 nearest free records; their slots are left in slots[:k], the seed's last."""
    take(tree, sums, seed, label, labels)
    count = k_nearest(tree, tree.rows[seed], k - 1, d2, ids, slots) if k > 1 else 0
    for h in range(count):
        take(tree, sums, slots[h], label, labels)
    slots[count] = seed


@kernel
def centroid_steps(
    tree: Tree,
    shell: Shell,
    sums: Sums,
    labels: Array,
    free: int,
    label: int,
    k: int,
    floor: int,
    most: int,
    in_pairs: bool,
) -> tuple[int, int]:
    """A group around P, the free record farthest from the centroid of all free ones; in pairs (MDAV) another
    around Q, the record farthest from P of those then free.
    """
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    centre, word = np.empty(tree.rows.shape[1]), np.empty(1, np.int64)
    for _ in range(most):
        if free < floor:
            break
        centroid(sums, free, centre, word)
        p = farthest_from_moving(shell, tree, centre)
        take_group(tree, sums, p, k, label, labels, d2, ids, slots)
        free -= k
        label += 1
        if in_pairs:
            q = farthest(tree, tree.rows[p])
            take_group(tree, sums, q, k, label, labels, d2, ids, slots)
            free -= k
            label += 1
    return free, label


@inner
def take_weighed(tree: Tree, sums: Sums, products: Array, slot: int, label: int, labels: Array) -> None:
    """As `take`; twins share a slot and not a weight, so it is the record that leaves the sums."""
    record = lowest_id(tree, slot)
    labels[record] = label
    add_row(sums, products.view(np.int64), record, -1)
    remove(tree, slot)


@inner
def take_weighed_group(
    tree: Tree,
    sums: Sums,
    products: Array,
    seed: int,
    k: int,
    label: int,
    labels: Array,
    d2: Array,
    ids: Array,
    slots: Array,
) -> None:
    """As `take_group`."""
    take_weighed(tree, sums, products, seed, label, labels)
    count = k_nearest(tree, tree.rows[seed], k - 1, d2, ids, slots) if k > 1 else 0
    for h in range(count):
        take_weighed(tree, sums, products, slots[h], label, labels)


@kernel
def weighted_centroid_steps(
    tree: Tree,
    shell: Shell,
    sums: Sums,
    products: Array,
    labels: Array,
    free: int,
    label: int,
    k: int,
    floor: int,
    most: int,
    in_pairs: bool,
) -> tuple[int, int]:
    """As `centroid_steps`, around the weighted centroid; ends early when what is free has no weight.

    `products` and `sums` are as in `weighted_products`.
    """
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    m, word = tree.rows.shape[1], np.empty(1, np.int64)
    centre = np.empty(m)
    for _ in range(most):
        if free < floor:
            break
        weight = rounded_sum(sums, m, word)
        if weight == 0.0:
            break
        for j in range(m):
            centre[j] = rounded_sum(sums, j, word) / weight
        p = farthest_from_moving(shell, tree, centre)
        take_weighed_group(tree, sums, products, p, k, label, labels, d2, ids, slots)
        free -= k
        label += 1
        if in_pairs:
            q = farthest(tree, tree.rows[p])
            take_weighed_group(tree, sums, products, q, k, label, labels, d2, ids, slots)
            free -= k
            label += 1
    return free, label


@kernel
def ordered_steps(
    tree: Tree,
    sums: Sums,
    labels: Array,
    free: int,
    label: int,
    k: int,
    most: int,
    orders: Array,
    cursors: Array,
    slot_of: Array,
    gamma: float,
) -> tuple[int, int]:
    """A group around the first free record of an order of all records, the orders taken in turn.

    With gamma >= 0 a group then grows as in V-MDAV.
    """
    d2, ids, slots = np.empty(2 * k), np.empty(2 * k, np.int64), np.empty(2 * k, np.int64)
    near_d2, near_id, near_slot = np.empty(2 * k), np.empty(2 * k, np.int64), np.empty(2 * k, np.int64)
    for _ in range(most):
        if free < k:
            break
        turn = label % orders.shape[0]
        while labels[orders[turn, cursors[turn]]] >= 0:
            cursors[turn] += 1
        seed = slot_of[orders[turn, cursors[turn]]]
        take_group(tree, sums, seed, k, label, labels, d2, ids, slots)
        free -= k
        if gamma >= 0.0:
            free = grow(tree, sums, labels, free, label, k, gamma, slots, near_d2, near_id, near_slot, d2, ids)
        label += 1
    return free, label


@inner
def grow(
    tree: Tree,
    sums: Sums,
    labels: Array,
    free: int,
    label: int,
    k: int,
    gamma: float,
    members: Array,
    near_d2: Array,
    near_id: Array,
    near_slot: Array,
    d2: Array,
    ids: Array,
) -> int:
    """Extend a group to at most 2k - 1 records; returns how many records are then free.

    The candidate e is the free record nearest to any member (d_in); it joins if d_in < gamma * d_out, its
    distance to the nearest other free record. Each member remembers its nearest free record; only those
    whose own has just joined have to look again.
    """
    slots = np.empty(2, np.int64)
    joined = -1
    for size in range(k, 2 * k - 1):
        if free == 0:
            break
        best = 0
        for h in range(size):
            if joined < 0 or near_id[h] == joined or h == size - 1:
                k_nearest(tree, tree.rows[members[h]], 1, d2, ids, slots)
                near_d2[h], near_id[h], near_slot[h] = d2[0], ids[0], slots[0]
            if near_d2[h] < near_d2[best] or (near_d2[h] == near_d2[best] and near_id[h] < near_id[best]):
                best = h
        e, e_slot, d_in = near_id[best], near_slot[best], near_d2[best]
        d_out = np.inf
        for h in range(k_nearest(tree, tree.rows[e_slot], 2, d2, ids, slots)):
            if ids[h] != e and d2[h] < d_out:
                d_out = d2[h]
        if not d_in < gamma * d_out:
            break
        take(tree, sums, e_slot, label, labels)
        members[size] = e_slot
        joined = e
        free -= 1
    return free


@kernel
def nearest_row(rows: Array, point: Array) -> int:
    """The row nearest to a point, the lowest index among equals."""
    best, reach = 0, np.inf
    for i in range(rows.shape[0]):
        d2 = squared_distance(rows, i, point)
        if d2 < reach:
            best, reach = i, d2
    return best


@kernel
def squared_distances(rows: Array, point: Array, out: Array) -> None:
    """The squared distance of every row to a point."""
    for i in range(rows.shape[0]):
        out[i] = squared_distance(rows, i, point)
