"""Records in a row: how to line them up, and how to cut the row into groups at the least SSE."""

import numpy as np

from shoal.kernels.compiled import Array, kernel
from shoal.kernels.search_tree.tree import Tree, k_nearest, remove
from shoal.kernels.sums.exact import squared_distance


@kernel
def cut_row(rows: Array, row: Array, k: int, cost: Array, start: Array) -> None:
    """The cheapest cut of a row of records (at least k) into groups of k to 2k - 1 neighbours.

    cost[j] becomes the SSE of the first j records, start[j] where the last group of those begins (-1 where
    j records cannot be cut); of equally cheap cuts the one whose last group is larger. Every group grows
    record by record, centroid and SSE with it, so nothing drifts along the row.
    """
    n, m = row.size, rows.shape[1]
    shares = np.empty(2 * k)
    for size in range(1, 2 * k):
        shares[size] = 1.0 / size
    centre = np.empty(m)
    start[:] = -1
    cost[0] = 0.0
    for i in range(n - k + 1):
        if i > 0 and start[i] < 0:
            continue
        centre[:] = 0.0
        sse = 0.0
        for size in range(1, min(2 * k - 1, n - i) + 1):
            record = row[i + size - 1]
            share = shares[size]
            for j in range(m):
                away = rows[record, j] - centre[j]
                centre[j] = centre[j] + away * share if size > 1 else rows[record, j]
                sse += away * (rows[record, j] - centre[j])
            if size >= k:
                end = i + size
                if start[end] < 0 or cost[i] + sse < cost[end]:
                    cost[end] = cost[i] + sse
                    start[end] = i


@kernel
def label_cut(row: Array, start: Array, labels: Array) -> int:
    """Number the groups of the cut from the head of the row on; returns how many there are."""
    groups, end = 0, row.size
    while end > 0:
        groups += 1
        end = start[end]
    label, end = groups, row.size
    while end > 0:
        label -= 1
        for position in range(start[end], end):
            labels[row[position]] = label
        end = start[end]
    return groups


@kernel
def chain_groups(
    rows: Array,
    tree: Tree,
    centroids: Array,
    members: Array,
    starts: Array,
    group: int,
    by_records: bool,
    row: Array,
) -> None:
    """Line up group after group: from `group` on, always the one whose centroid is nearest.

    Nearest to any record of the group (by_records) or to its centroid. Inside a group the record farthest from
    the next centroid comes first; in the last group the one nearest to the centroid before. The tree holds the
    centroids of all groups but the first; it is emptied on the way.
    """
    place, before = 0, group
    d2, ids, slots = np.empty(1), np.empty(1, np.int64), np.empty(1, np.int64)
    for left in range(starts.size - 2, -1, -1):
        own = members[starts[group] : starts[group + 1]]
        following, slot, reach = -1, -1, np.inf
        if left > 0:
            for i in range(own.size if by_records else 1):
                k_nearest(tree, rows[own[i]] if by_records else centroids[group], 1, d2, ids, slots)
                if following < 0 or d2[0] < reach or (d2[0] == reach and ids[0] < following):
                    following, slot, reach = ids[0], slots[0], d2[0]
            remove(tree, slot)
        distances = np.empty(own.size)
        for i in range(own.size):
            if left > 0:
                distances[i] = -squared_distance(rows, own[i], centroids[following])
            else:
                distances[i] = squared_distance(rows, own[i], centroids[before])
        for i in np.argsort(distances, kind="mergesort"):
            row[place] = own[i]
            place += 1
        before, group = group, following


@kernel
def walk_to_nearest(rows: Array, tree: Tree, row: Array) -> None:
    """Fill the row from its first record on, always with the nearest record that is not yet in it.

    The tree holds all records but the first; it is emptied on the way.
    """
    d2, ids, slots = np.empty(1), np.empty(1, np.int64), np.empty(1, np.int64)
    for place in range(1, row.size):
        k_nearest(tree, rows[row[place - 1]], 1, d2, ids, slots)
        row[place] = ids[0]
        remove(tree, slots[0])
