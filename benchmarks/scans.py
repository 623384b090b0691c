"""What the search tree is measured against: MDAV by linear scans, in two forms.

`row_scan` walks the free records one by one in float64, kept side by side: the compiled form of the method as
it is written down, O(n^2 m / k). `lane_scan` walks them sixteen at a time in float32 and measures exactly only
what float32 cannot rule out: the best that can be done without a tree. Both form the pairs of groups only.
"""

import numpy as np

from shoal.kernels.compiled import inner, kernel
from shoal.kernels.search_tree.heap import offer
from shoal.kernels.search_tree.order import project
from shoal.kernels.search_tree.tree import (
    LARGEST,
    build_tree,
    far_limit,
    far_query,
    lowest_id,
    near_limit,
    rounding_of_points,
)
from shoal.kernels.single.peel import take
from shoal.kernels.sums.exact import add_all_rows, add_row, centroid, new_sums, squared_distance
from shoal.kernels.sums.lanes import LANES, far_points, lowest_bit, near_points


@inner
def measure(rows, free, point, d2):
    for i in range(free):
        d2[i] = squared_distance(rows, i, point)


@inner
def place_of_largest(d2, ids, free):
    best = 0
    for i in range(1, free):
        if d2[i] > d2[best] or (d2[i] == d2[best] and ids[i] < ids[best]):
            best = i
    return best


@inner
def take_rows(rows, ids, d2, free, sums, k, label, labels, heap_d2, heap_id, heap_at):
    """The k records with the smallest d2 leave; the last free ones take their places."""
    count = 0
    for i in range(free):
        if count < k or d2[i] <= heap_d2[0]:
            count = offer(heap_d2, heap_id, heap_at, count, k, d2[i], ids[i], i)
    places = np.sort(heap_at[:count])
    bits = rows.view(np.int64)
    for h in range(count - 1, -1, -1):
        at = places[h]
        labels[ids[at]] = label
        add_row(sums, bits, at, -1)
        free -= 1
        for j in range(rows.shape[1]):
            rows[at, j] = rows[free, j]
        ids[at] = ids[free]
        d2[at] = d2[free]
    return free


@kernel
def row_steps(rows, ids, sums, k, labels):
    free, label = rows.shape[0], 0
    d2 = np.empty(free)
    heap_d2, heap_id, heap_at = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    centre, seed, word = np.empty(rows.shape[1]), np.empty(rows.shape[1]), np.empty(1, np.int64)
    while free >= 2 * k:
        centroid(sums, free, centre, word)
        measure(rows, free, centre, d2)
        at = place_of_largest(d2, ids, free)
        for side in range(2):
            seed[:] = rows[at]
            measure(rows, free, seed, d2)
            d2[at] = -1.0
            free = take_rows(rows, ids, d2, free, sums, k, label, labels, heap_d2, heap_id, heap_at)
            label += 1
            if side == 0:
                at = place_of_largest(d2, ids, free)


def row_scan(X, k):
    """Labels of the pairs of groups, -1 for the rest."""
    rows, labels, sums = X.copy(), np.full(len(X), -1), new_sums(X)
    add_all_rows(sums, X)
    row_steps(rows, np.arange(len(X)), sums, k, labels)
    return labels


@inner
def lane_nearest(tree, point, k, near_d2, near_id, near_slot):
    m = tree.points.shape[1]
    error = rounding_of_points(np.sqrt(project(point, tree.centre, tree.scale, tree.axes, tree.query)))
    limit, count = LARGEST, 0
    for leaf in range(tree.points.shape[0]):
        mask = near_points(tree.points, leaf, tree.query, tree.head, limit, tree.lanes)
        while mask:
            slot = leaf * LANES + lowest_bit(mask)
            mask &= mask - 1
            d2 = squared_distance(tree.rows, slot, point)
            count = offer(near_d2, near_id, near_slot, count, k, d2, lowest_id(tree, slot), slot)
            if count == k:
                limit = near_limit(near_d2[0], m, tree.scale, error)
    return count


@inner
def lane_farthest(tree, point):
    m = tree.points.shape[1]
    offset, error, sum_error = far_query(tree, point)
    limit, best, best_d2 = -LARGEST, -1, -1.0
    for leaf in range(tree.points.shape[0]):
        mask = far_points(tree.points, leaf, tree.query, tree.norms, offset, limit, tree.lanes)
        while mask:
            slot = leaf * LANES + lowest_bit(mask)
            mask &= mask - 1
            d2 = squared_distance(tree.rows, slot, point)
            if d2 > best_d2 or (d2 == best_d2 and lowest_id(tree, slot) < lowest_id(tree, best)):
                best, best_d2 = slot, d2
                limit = far_limit(d2, m, tree.scale, error, sum_error)
    return best


@inner
def lane_take(tree, sums, seed, k, label, labels, near_d2, near_id, near_slot):
    take(tree, sums, seed, label, labels)
    count = lane_nearest(tree, tree.rows[seed], k - 1, near_d2, near_id, near_slot)
    for h in range(count):
        take(tree, sums, near_slot[h], label, labels)


@kernel
def lane_steps(tree, sums, labels, free, label, k, floor):
    near_d2, near_id, near_slot = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    centre, word = np.empty(tree.rows.shape[1]), np.empty(1, np.int64)
    while free >= floor:
        centroid(sums, free, centre, word)
        p = lane_farthest(tree, centre)
        lane_take(tree, sums, p, k, label, labels, near_d2, near_id, near_slot)
        lane_take(tree, sums, lane_farthest(tree, tree.rows[p]), k, label + 1, labels, near_d2, near_id, near_slot)
        free, label = free - 2 * k, label + 2
    return free, label


def lane_scan(X, k):
    """Labels of the pairs of groups, -1 for the rest; for distinct rows and k >= 2.

    The leaves are packed anew whenever a quarter of the records has gone.
    """
    free, label, labels, sums = len(X), 0, np.full(len(X), -1), new_sums(X)
    add_all_rows(sums, X)
    while free >= 2 * k:
        tree = build_tree(X, np.flatnonzero(labels < 0).astype(np.int32))
        free, label = lane_steps(tree, sums, labels, free, label, k, max(2 * k, int(free * 0.75)))
    return labels
