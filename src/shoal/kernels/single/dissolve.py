"""Phase 2 of TFRP: groups by falling SSE, each dissolved into the nearest groups if that lowers the SSE.

The members of a group are a chain through the records: first[g], then following[record], -1 at the end. The
centroids stand in a search tree that is not changed; a group that has moved or gone since the tree was
built is `stale`, passed over there, and if it moved, looked at one by one in a short list.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.tree import Tree, k_nearest
from shoal.kernels.sums.exact import Sums, add_row, centroid, clear, squared_distance

MOVED = 1
GONE = 2


@inner
def members_of(group: int, first: Array, following: Array, out: Array) -> int:
    """The records of a group by rising index into `out`; returns how many."""
    count = 0
    record = first[group]
    while record >= 0:
        out[count] = record
        count += 1
        record = following[record]
    out[:count].sort()
    return count


@inner
def sse_of(rows: Array, members: Array, count: int, sums: Sums, centre: Array, word: Array) -> float:
    """The SSE of some records, summed in their order; leaves their centroid in `centre`."""
    bits = rows.view(np.int64)
    clear(sums)
    for i in range(count):
        add_row(sums, bits, members[i], 1)
    centroid(sums, count, centre, word)
    total = 0.0
    for i in range(count):
        total += squared_distance(rows, members[i], centre)
    return total


@kernel
def fill_sse(rows: Array, first: Array, following: Array, sums: Sums, out: Array) -> None:
    """The SSE of every group."""
    members, centre, word = np.empty(rows.shape[0], np.int64), np.empty(rows.shape[1]), np.empty(1, np.int64)
    for group in range(first.size):
        count = members_of(group, first, following, members)
        out[group] = sse_of(rows, members, count, sums, centre, word)


@inner
def nearest_group(
    tree: Tree, point: Array, own: int, stale: Array, moved: Array, count: int, centroids: Array
) -> int:
    """The group other than `own` whose centroid is nearest, the lowest number among equals; -1 if none."""
    best, reach = -1, np.inf
    wanted = 4
    while True:
        d2, ids, slots = np.empty(wanted), np.empty(wanted, np.int64), np.empty(wanted, np.int64)
        found = k_nearest(tree, point, wanted, d2, ids, slots)
        for h in range(found):
            if ids[h] != own and stale[ids[h]] == 0:
                if d2[h] < reach or (d2[h] == reach and ids[h] < best):
                    best, reach = ids[h], d2[h]
        if best >= 0 or found < wanted:
            break
        wanted *= 4
    for position in range(count):
        group = moved[position]
        if group != own and stale[group] == MOVED:
            d2_moved = squared_distance(centroids, group, point)
            if d2_moved < reach or (d2_moved == reach and group < best):
                best, reach = group, d2_moved
    return best


@kernel
def dissolve_steps(
    rows: Array,
    tree: Tree,
    sums: Sums,
    order: Array,
    position: int,
    most: int,
    first: Array,
    following: Array,
    centroids: Array,
    stale: Array,
    moved: Array,
    limit: int,
) -> int:
    """Try up to `most` groups of the order from `position` on; returns the position reached.

    Stops early when `limit` groups have moved, so that the caller can build a new tree.
    """
    n, m = rows.shape
    own, merged = np.empty(n, np.int64), np.empty(n, np.int64)
    receiver = np.empty(n, np.int64)
    centre, word = np.empty(m), np.empty(1, np.int64)
    listed = 0
    for _ in range(most):
        if position == order.size or listed > limit:
            break
        group = order[position]
        count = members_of(group, first, following, own)
        position += 1
        for i in range(count):
            receiver[i] = nearest_group(tree, rows[own[i]], group, stale, moved, listed, centroids)
        if receiver[0] < 0:  # no other group is left
            return order.size
        receivers = np.unique(receiver[:count])
        before = sse_of(rows, own, count, sums, centre, word)
        after = 0.0
        grown = np.empty((receivers.size, m))
        for r in range(receivers.size):
            size = members_of(receivers[r], first, following, merged)
            before += sse_of(rows, merged, size, sums, centre, word)
            for i in range(count):
                if receiver[i] == receivers[r]:
                    merged[size] = own[i]
                    size += 1
            merged[:size].sort()
            after += sse_of(rows, merged, size, sums, centre, word)
            grown[r] = centre
        if not after < before:
            continue
        for i in range(count):
            following[own[i]] = first[receiver[i]]
            first[receiver[i]] = own[i]
        first[group] = -1
        stale[group] = GONE
        for r in range(receivers.size):
            centroids[receivers[r]] = grown[r]
            if stale[receivers[r]] == 0:
                stale[receivers[r]] = MOVED
                moved[listed] = receivers[r]
                listed += 1
    return position


@kernel
def fill_labels(first: Array, following: Array, labels: Array) -> None:
    """Number the groups that have records, in their order."""
    label = 0
    for group in range(first.size):
        record = first[group]
        if record < 0:
            continue
        while record >= 0:
            labels[record] = label
            record = following[record]
        label += 1
