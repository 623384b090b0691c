"""The nearest neighbours of every record, all at once.

Records of a leaf have much the same neighbours. So the nodes that can hold these are found once for a leaf, and
then each of its records looks into them, nearest first. What it meets within its limit is listed with its float32
sum; when the list is full, only the smallest of these stay, and they say what the limit is from now on. The few
that are left at the end are measured exactly, and that decides.
"""

import numpy as np

from shoal.kernels.borrowing import borrowing
from shoal.kernels.compiled import Array, folded, kernel
from shoal.kernels.search_tree.heap import sort_heap
from shoal.kernels.search_tree.tree import (
    FRAME_ERROR,
    LARGEST,
    UNIT32,
    Tree,
    build_tree,
    k_nearest,
    near_limit,
    rounding_of_points,
)
from shoal.kernels.sums.exact import squared_distance
from shoal.kernels.sums.lanes import LANES, lowest_bit, near_boxes, near_points

_LISTED = 3  # times as many as are wanted are listed before the list is cut
_SPARE = 2  # more than wanted that may stay in it
_HALVINGS = 40  # of a range of keys, at most


@kernel
def fill_neighbours(tree: Tree, rows: Array, first: int, ids: Array, d2: Array) -> None:
    """The neighbours of the records from `first` on, as many records as ids and d2 have rows."""
    count = ids.shape[1]
    near_d2, near_id = np.empty(count + 1), np.empty(count + 1, np.int64)
    near_slot = np.empty(count + 1, np.int64)
    for i in range(ids.shape[0]):
        found = k_nearest(tree, rows[first + i], count + 1, near_d2, near_id, near_slot)
        sort_heap(near_d2, near_id, near_slot, found)
        place = 0
        for h in range(found):
            if near_id[h] != first + i and place < count:
                ids[i, place] = near_id[h]
                d2[i, place] = near_d2[h]
                place += 1


@borrowing
def near_quantile(keys: Array, r: int, count: int, k: int) -> np.float32:
    """A number that at least k keys of list r do not exceed, and few more than k, if keys differ.

    Halving a range of numbers and counting takes no branch that depends on a key, unlike sorting.
    """
    low, high = keys[r, 0], keys[r, 0]
    for p in range(1, count):
        low, high = min(low, keys[r, p]), max(high, keys[r, p])
    for _ in range(_HALVINGS):
        middle = low + (high - low) * np.float32(0.5)
        below = 0
        for p in range(count):
            below += keys[r, p] <= middle
        if below < k:
            low = middle
        else:
            high = middle
            if below <= k + _SPARE:
                break
    return high


@borrowing
def cut_list(
    keys: Array, slots: Array, r: int, count: int, k: int, m: int, scale: float, error: float
) -> tuple[np.float32, int]:
    """Leaves in list r what can be among the k nearest; returns the limit of such sums, and how many are left.

    The limit is that of a record as far away as the k-th can truly be. Sums that float32 cannot tell apart stay,
    so there may be more than k, and too many for the list: then it is given up, which a limit below 0 says.
    """
    key = np.float64(near_quantile(keys, r, count, k))
    radius = (np.sqrt(key * (1 + (2 * m + 8) * UNIT32)) + error) * scale * (1 + FRAME_ERROR)
    limit = near_limit(radius * radius * (1 + FRAME_ERROR) + m * 5e-324, m, scale, error)
    kept = 0
    for p in range(count):
        keys[r, kept], slots[r, kept] = keys[r, p], slots[r, p]
        kept += keys[r, p] <= limit
    return (limit, kept) if kept < _LISTED * k else (np.float32(-1.0), 0)


@folded
def look_into(
    points: Array,
    leaf: int,
    query: Array,
    head: int,
    limit: np.float32,
    lanes: Array,
    keys: Array,
    slots: Array,
    r: int,
    count: int,
) -> int:
    """Adds to list r what a leaf has within the limit; returns how many are listed."""
    mask = near_points(points, leaf, query, head, limit, lanes)
    while mask:
        lane = lowest_bit(mask)
        mask &= mask - 1
        keys[r, count], slots[r, count] = lanes[lane], leaf * LANES + lane
        count += 1
    return count


@borrowing
def nodes_near(tree: Tree, leaf: int, limit: np.float32, near: Array, bounds: Array) -> int:
    """The nodes right above leaves whose boxes are within the limit of this leaf's box, nearest first; how many.

    Its own is not among them.
    """
    leaves, boxes = tree.points.shape[0], tree.boxes
    own = tree.parent[leaf]
    place = leaf - tree.first_child[own]
    found, top = 0, 1
    tree.stack_node[0], tree.stack_bound[0] = leaves + boxes.shape[0] - 1, 0.0
    while top > 0:
        top -= 1
        node, bound = np.int64(tree.stack_node[top]) - leaves, tree.stack_bound[top]
        first = np.int64(tree.first_child[node])
        if first < leaves:
            if node != own:
                at = found
                while at > 0 and bounds[at - 1] > bound:
                    bounds[at], near[at] = bounds[at - 1], near[at - 1]
                    at -= 1
                bounds[at], near[at] = bound, node
                found += 1
            continue
        tree.bounds[:] = 0.0
        for a in range(boxes.shape[1]):
            low, high = boxes[own, a, 0, place], boxes[own, a, 1, place]
            for lane in range(LANES):
                gap = max(max(boxes[node, a, 0, lane] - high, low - boxes[node, a, 1, lane]), np.float32(0.0))
                tree.bounds[lane] += gap * gap
        for lane in range(LANES):
            if tree.bounds[lane] <= limit:
                tree.stack_node[top], tree.stack_bound[top] = first + lane, tree.bounds[lane]
                top += 1
    return found


@borrowing
def rank_listed(
    tree: Tree, slot: int, slots: Array, r: int, count: int, k: int, near_d2: Array, near_id: Array, listed: Array
) -> int:
    """As `measure_listed`, for slots of one record each: its place is the number of those before it."""
    rows, who = tree.rows, tree.who
    d2, record = listed[0], listed[1]
    for p in range(count):
        d2[p] = squared_distance(rows, np.int64(slots[r, p]), rows[slot])
        record[p] = who[slots[r, p], 0]
    for p in range(count):
        own, number, place = d2[p], record[p], 0
        for q in range(count):
            place += (d2[q] < own) | ((d2[q] == own) & (record[q] < number))
        if place < k:
            near_d2[place], near_id[place] = own, np.int64(number)
    return min(count, k)


@borrowing
def measure_listed(
    tree: Tree, slot: int, slots: Array, r: int, count: int, k: int, near_d2: Array, near_id: Array
) -> int:
    """The k nearest records of list r by exact distance, ties by the lowest index; returns how many there are."""
    rows, who, ids = tree.rows, tree.who, tree.ids
    found = 0
    for p in range(count):
        other = np.int64(slots[r, p])
        d2 = squared_distance(rows, other, rows[slot])
        record, twin = np.int64(who[other, 0]), who[other, 1]
        while True:
            if found == k and (d2 > near_d2[k - 1] or (d2 == near_d2[k - 1] and record > near_id[k - 1])):
                break
            at = min(found, k - 1)
            while at > 0 and (d2 < near_d2[at - 1] or (d2 == near_d2[at - 1] and record < near_id[at - 1])):
                near_d2[at], near_id[at] = near_d2[at - 1], near_id[at - 1]
                at -= 1
            near_d2[at], near_id[at] = d2, record
            found = min(found + 1, k)
            if twin == who[other, 2]:
                break
            record = np.int64(ids[twin])
            twin += 1
    return found


@borrowing
def write_neighbours(record: int, found: int, near_d2: Array, near_id: Array, ids: Array, d2: Array) -> None:
    """What was found around a record, without itself."""
    place = 0
    for h in range(found):
        if near_id[h] != record and place < ids.shape[1]:
            ids[record, place], d2[record, place] = near_id[h], near_d2[h]
            place += 1


@kernel
def fill_all_neighbours(tree: Tree, ids: Array, d2: Array) -> None:
    """The neighbours of all records of a tree from which none was removed; their numbers are 0 to n - 1."""
    points, boxes, query, lanes, bounds = tree.points, tree.boxes, tree.query, tree.lanes, tree.bounds
    leaves, m, k = points.shape[0], tree.rows.shape[1], ids.shape[1] + 1
    full = _LISTED * k
    room = max(full, LANES * LANES) + LANES
    keys, slots = np.empty((LANES, room), np.float32), np.empty((LANES, room), np.int32)
    counts, limits, errors = np.empty(LANES, np.int64), np.empty(LANES, np.float32), np.empty(LANES)
    near, near_bounds = np.empty(boxes.shape[0], np.int64), np.empty(boxes.shape[0], np.float32)
    near_d2, near_id, near_slot = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    listed = np.empty((2, room))
    twins = tree.ids.size > tree.rows.shape[0]
    for leaf in range(leaves):
        node = tree.parent[leaf]
        first = np.int64(tree.first_child[node])
        here, widest = min(LANES, tree.rows.shape[0] - leaf * LANES), np.float32(0.0)
        for r in range(here):
            for a in range(query.size):
                query[a] = points[leaf, a, r]
            errors[r] = rounding_of_points(np.sqrt(np.float64(tree.norms[leaf, r])))
            limit, count = LARGEST, 0
            for other in range(first, first + LANES):
                if other < leaves:  # nothing is beyond a limit that is not there
                    near_points(points, other, query, tree.head, LARGEST, lanes)
                    for lane in range(min(LANES, tree.rows.shape[0] - other * LANES)):
                        keys[r, count], slots[r, count] = lanes[lane], other * LANES + lane
                        count += 1
            if count >= k:
                limit, count = cut_list(keys, slots, r, count, k, m, tree.scale, errors[r])
            counts[r], limits[r] = count, limit
            widest = max(widest, limit)
        around = nodes_near(tree, leaf, widest, near, near_bounds)
        for r in range(here):
            for a in range(query.size):
                query[a] = points[leaf, a, r]
            limit, count = limits[r], counts[r]
            for p in range(around):
                if near_bounds[p] > limit:
                    break
                children = near_boxes(boxes, near[p], query, tree.head, limit, bounds)
                while children:
                    child = lowest_bit(children)
                    children &= children - 1
                    if bounds[child] > limit:
                        continue
                    other = np.int64(tree.first_child[near[p]]) + child
                    count = look_into(points, other, query, tree.head, limit, lanes, keys, slots, r, count)
                    if count >= full:
                        limit, count = cut_list(keys, slots, r, count, k, m, tree.scale, errors[r])
            if count > k:
                limit, count = cut_list(keys, slots, r, count, k, m, tree.scale, errors[r])
            slot = leaf * LANES + r
            if limit < 0.0:
                found = k_nearest(tree, tree.rows[slot], k, near_d2, near_id, near_slot)
                sort_heap(near_d2, near_id, near_slot, found)
            elif twins:
                found = measure_listed(tree, slot, slots, r, count, k, near_d2, near_id)
            else:
                found = rank_listed(tree, slot, slots, r, count, k, near_d2, near_id, listed)
            write_neighbours(np.int64(tree.who[slot, 0]), found, near_d2, near_id, ids, d2)
            for twin in range(tree.who[slot, 1], tree.who[slot, 2]):
                write_neighbours(np.int64(tree.ids[twin]), found, near_d2, near_id, ids, d2)


def nearest_neighbours(rows: Array, count: int) -> tuple[Array, Array]:
    """For each record its `count` (below n) nearest others: their numbers, int32, and squared distances.

    The nearest first, ties by the lowest index; a record with twins has those as its nearest.
    """
    n = len(rows)
    ids, d2 = np.empty((n, count), np.int32), np.empty((n, count))
    if count:
        tree = build_tree(rows, np.arange(n, dtype=np.int32))
        if tree.axes.shape[1] < tree.axes.shape[0]:  # one axis of many tells too little
            fill_neighbours(tree, rows, 0, ids, d2)
        else:
            fill_all_neighbours(tree, ids, d2)
    return ids, d2
