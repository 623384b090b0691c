"""A static tree over records with deletion: k nearest alive, farthest alive.

Records sit in kd order, sixteen to a leaf, sixteen children to a node, so one vector pass bounds all of a
node's children. The index copy is float32 in principal axes; it only ever rules records out. What it
cannot rule out is measured by `exact.squared_distance` on the original coordinates, and that decides.
With few records for so many attributes the index is one attribute, and nearly every record is measured.
Node numbers: leaves first, then the levels above, the root last.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.heap import offer
from shoal.kernels.search_tree.order import (
    group_twins,
    kd_order,
    principal_frame,
    project,
    project_all,
    widest_attribute,
)
from shoal.kernels.sums.exact import squared_distance
from shoal.kernels.sums.lanes import LANES, far_boxes, far_points, lowest_bit, near_boxes, near_points, prefetch

UNIT32 = 2.0**-24
LARGEST = np.float32(3e38)  # finite, so that a child that is not there (infinite bound) never passes
FAR_OUT = 1e15  # in units of the tree's own reach; beyond it squares leave float32
WORTH_AXES = 2  # records for each attribute from which principal axes are worth their time
FRAME_ERROR = 1e-11  # relative: axes not quite orthonormal, float64 rounding of distances and projections


class Tree(NamedTuple):
    """The tree, as arrays, with room for one search at a time."""

    rows: Array  # float64 (slots, m): original coordinates, one slot for each distinct row
    ids: Array  # int32 (n,): record numbers, those with identical rows ("twins") side by side and ascending
    who: Array  # int32 (slots, 3): lowest alive record, and where in ids its further twins begin and end
    points: Array  # float32 (leaves, a, 16): index coordinates, NaN where dead
    norms: Array  # float32 (leaves, 16): squared norms of the index coordinates
    boxes: Array  # float32 (nodes, a, 2, 16): low and high ends of the sixteen children
    reach: Array  # float32 (nodes, 16): largest squared norm in each child
    first_child: Array  # int32 (nodes,): node number of the first child
    parent: Array  # int32 (leaves + nodes,): parent's place in boxes, -1 at the root
    centre: Array  # float64 (m,)
    axes: Array  # float64 (m, a): as many axes as attributes, or one in a wide table
    scale: float
    head: int  # axes looked at before the first early exit
    query: Array  # float32 (a,): scratch
    bounds: Array  # float32 (16,): scratch, a node's children
    lanes: Array  # float32 (16,): scratch, a leaf's points
    stack_node: Array  # int32: scratch
    stack_bound: Array  # float32: scratch


def level_sizes(leaves: int) -> list[int]:
    """How many nodes each level has, from the leaves up to the root."""
    sizes = [leaves]
    while len(sizes) == 1 or sizes[-1] > 1:
        sizes.append((sizes[-1] + LANES - 1) // LANES)
    return sizes


def family(sizes: list[int]) -> tuple[Array, Array]:
    """The first child of each node, and the parent of each leaf and node."""
    starts = np.concatenate(([0], np.cumsum(sizes)))
    leaves, total = sizes[0], int(starts[-1])
    first_child = np.empty(total - leaves, np.int32)
    parent = np.full(total, -1, np.int32)
    for level in range(1, len(sizes)):
        inside = np.arange(sizes[level])
        first_child[starts[level] - leaves + inside] = starts[level - 1] + LANES * inside
        below = np.arange(sizes[level - 1])
        parent[starts[level - 1] + below] = starts[level] - leaves + below // LANES
    return first_child, parent


@kernel
def fill_points(coords: Array, order: Array, points: Array, norms: Array) -> None:
    """Store the points leaf by leaf, with their squared norms."""
    for s in range(order.size):
        norm2 = 0.0
        for a in range(coords.shape[1]):
            value = coords[order[s], a]
            points[s // LANES, a, s % LANES] = value
            norm2 += np.float64(value) * value
        norms[s // LANES, s % LANES] = norm2


@inner
def smallest_lane(lanes: Array) -> np.float32:
    """NaN lanes do not count, here and in largest_lane."""
    low = np.float32(np.inf)
    for lane in range(LANES):
        low = lanes[lane] if lanes[lane] < low else low
    return low


@inner
def largest_lane(lanes: Array) -> np.float32:
    """The largest number in the lanes."""
    high = np.float32(-np.inf)
    for lane in range(LANES):
        high = lanes[lane] if lanes[lane] > high else high
    return high


@kernel
def fit_all(tree: Tree) -> None:
    """Every box and reach, bottom up; children that do not exist keep their empty boxes."""
    leaves, m = tree.points.shape[0], tree.points.shape[1]
    for child in range(tree.parent.size - 1):
        node = tree.parent[child]
        place = child - tree.first_child[node]
        inner = child - leaves
        for a in range(m):
            tree.boxes[node, a, 0, place] = smallest_lane(
                tree.points[child, a] if inner < 0 else tree.boxes[inner, a, 0]
            )
            tree.boxes[node, a, 1, place] = largest_lane(
                tree.points[child, a] if inner < 0 else tree.boxes[inner, a, 1]
            )
        tree.reach[node, place] = largest_lane(tree.norms[child] if inner < 0 else tree.reach[inner])


def place_points(
    rows: Array, twins: Array, starts: Array, norms: Array, who: Array
) -> tuple[Array, tuple[Array, float, Array]]:
    """The leaves, filled in kd order, and the frame (centre, scale, axes); writes who stands in each slot."""
    distinct = twins[starts[:-1]]
    few = len(distinct) < WORTH_AXES * rows.shape[1]
    centre, scale, axes = (widest_attribute if few else principal_frame)(rows, distinct)
    coords = np.empty((len(distinct), axes.shape[1]), np.float32)
    points = np.full((len(norms), axes.shape[1], LANES), np.nan, np.float32)
    project_all(rows, distinct, centre, scale, axes, coords)
    order = np.arange(len(distinct), dtype=np.int32)
    kd_order(coords, order, np.empty(len(distinct), np.float32))
    fill_points(coords, order, points, norms)
    who[:, 0] = distinct[order]
    who[:, 1] = starts[order] + 1
    who[:, 2] = starts[order + 1]
    return points, (centre, scale, axes)


@kernel
def copy_rows(rows: Array, records: Array, out: Array) -> None:
    """The rows of the records, side by side."""
    for slot in range(records.size):
        for j in range(rows.shape[1]):
            out[slot, j] = rows[records[slot], j]


def build_tree(rows: Array, records: Array) -> Tree:
    """A tree over the given records (int32, ascending, at least one) of rows, float64 in C order.

    Keeps its own copy of those rows, in slot order.
    """
    twins, starts = group_twins(rows, records)
    n, m = len(starts) - 1, rows.shape[1]
    leaves = (n + LANES - 1) // LANES
    norms = np.full((leaves, LANES), np.nan, np.float32)
    who = np.empty((n, 3), np.int32)
    points, frame = place_points(rows, twins, starts, norms, who)
    axes = points.shape[1]
    del starts  # what is no longer needed makes room for the copy of the rows
    own = np.empty((n, m))
    copy_rows(rows, who[:, 0], own)
    sizes = level_sizes(leaves)
    first_child, parent = family(sizes)
    nodes = len(first_child)
    tree = Tree(
        rows=own,
        ids=twins,
        who=who,
        points=points,
        norms=norms,
        boxes=np.empty((nodes, axes, 2, LANES), np.float32),
        reach=np.full((nodes, LANES), -np.inf, np.float32),
        first_child=first_child,
        parent=parent,
        centre=frame[0],
        axes=frame[2],
        scale=frame[1],
        head=(axes + 1) // 2,
        query=np.empty(axes, np.float32),
        bounds=np.empty(LANES, np.float32),
        lanes=np.empty(LANES, np.float32),
        stack_node=np.empty(LANES * len(sizes) + 1, np.int32),
        stack_bound=np.empty(LANES * len(sizes) + 1, np.float32),
    )
    tree.boxes[:, :, 0, :] = np.inf
    tree.boxes[:, :, 1, :] = -np.inf
    fit_all(tree)
    return tree


@inner
def raise_low(tree: Tree, leaf: int, a: int) -> None:
    """The leaf's lowest point on axis a has gone: lifts the low ends above it, as far up as they rested on it."""
    low = smallest_lane(tree.points[leaf, a])
    child = leaf
    while True:
        node = tree.parent[child]
        place = child - tree.first_child[node]
        old = tree.boxes[node, a, 0, place]
        tree.boxes[node, a, 0, place] = low
        child = tree.points.shape[0] + node
        above = tree.parent[child]
        if low == old or above < 0 or tree.boxes[above, a, 0, child - tree.first_child[above]] != old:
            return
        low = smallest_lane(tree.boxes[node, a, 0])


@inner
def drop_high(tree: Tree, leaf: int, a: int) -> None:
    """The same for the high ends."""
    high = largest_lane(tree.points[leaf, a])
    child = leaf
    while True:
        node = tree.parent[child]
        place = child - tree.first_child[node]
        old = tree.boxes[node, a, 1, place]
        tree.boxes[node, a, 1, place] = high
        child = tree.points.shape[0] + node
        above = tree.parent[child]
        if high == old or above < 0 or tree.boxes[above, a, 1, child - tree.first_child[above]] != old:
            return
        high = largest_lane(tree.boxes[node, a, 1])


@inner
def shorten_reach(tree: Tree, leaf: int) -> None:
    """The same for the largest squared norm."""
    reach = largest_lane(tree.norms[leaf])
    child = leaf
    while True:
        node = tree.parent[child]
        place = child - tree.first_child[node]
        old = tree.reach[node, place]
        tree.reach[node, place] = reach
        child = tree.points.shape[0] + node
        above = tree.parent[child]
        if reach == old or above < 0 or tree.reach[above, child - tree.first_child[above]] != old:
            return
        reach = largest_lane(tree.reach[node])


@inner
def lowest_id(tree: Tree, slot: int) -> int:
    """The record that stands for the slot: ties go to the lowest index."""
    return np.int64(tree.who[slot, 0])


@inner
def remove(tree: Tree, slot: int) -> None:
    """The slot's lowest record no longer answers searches; with the last of them goes the slot.

    Then every bound that rested on the slot is tightened.
    """
    if tree.who[slot, 1] < tree.who[slot, 2]:
        tree.who[slot, 0] = tree.ids[tree.who[slot, 1]]
        tree.who[slot, 1] += 1
        return
    leaf, lane = slot // LANES, slot % LANES
    node = tree.parent[leaf]
    place = leaf - tree.first_child[node]
    for a in range(tree.points.shape[1]):
        value = tree.points[leaf, a, lane]
        tree.points[leaf, a, lane] = np.nan
        if value == tree.boxes[node, a, 0, place]:
            raise_low(tree, leaf, a)
        if value == tree.boxes[node, a, 1, place]:
            drop_high(tree, leaf, a)
    norm2 = tree.norms[leaf, lane]
    tree.norms[leaf, lane] = np.nan
    if norm2 == tree.reach[node, place]:
        shorten_reach(tree, leaf)


@inner
def is_wide(tree: Tree) -> bool:
    """Whether the index knows one attribute of many: enough to say who is not near, not who is not far."""
    return tree.axes.shape[1] < tree.axes.shape[0]


@inner
def is_alive(tree: Tree, slot: int) -> bool:
    """Whether a slot still has a record."""
    norm2 = tree.norms[slot // LANES, slot % LANES]
    return norm2 == norm2


@inner
def near_limit(d2: float, m: int, scale: float, error: float) -> np.float32:
    """No record with squared distance <= d2 has a float32 sum (or box bound) above this."""
    radius = (np.sqrt(d2) + np.sqrt(m * 5e-324)) * (1 + FRAME_ERROR) / scale + error
    return np.float32(min(radius * radius * (1 + (2 * m + 8) * UNIT32), 3e38))


@inner
def far_limit(d2: float, m: int, scale: float, error: float, sum_error: float) -> np.float32:
    """No record with squared distance >= d2 has a float32 sum (or box bound) below this."""
    radius = (np.sqrt(d2) - np.sqrt(m * 5e-324)) * (1 - FRAME_ERROR) / scale - error
    square = radius * radius if radius > 0 else 0.0
    return np.float32(max(min(square, 3e38) * (1 - 4 * UNIT32) - sum_error, -3e38))


@inner
def rounding_of_points(norm: float) -> float:
    """How far float32 storage can move a record (norm <= 1) plus a query of this norm."""
    return (1 + norm) * 1.01 * UNIT32 + 1e-12


@inner
def push_by_bound(
    stack_node: Array,
    stack_bound: Array,
    bounds: Array,
    boxes: Array,
    leaves: int,
    top: int,
    first: int,
    mask: int,
    sign: np.float32,
) -> int:
    """Pushes the children in mask so that the smallest sign * bound pops first."""
    floor = top
    floats = boxes.shape[1] * 2 * LANES
    while mask:
        lane = lowest_bit(mask)
        mask &= mask - 1
        # Its boxes will be read soon: the lines come in side by side instead of one by one.
        start = (first + lane - leaves) * floats
        for line in range(start, start + floats, LANES):
            prefetch(boxes, line)
        bound = bounds[lane]
        at = top
        while at > floor and sign * stack_bound[at - 1] < sign * bound:
            stack_bound[at] = stack_bound[at - 1]
            stack_node[at] = stack_node[at - 1]
            at -= 1
        stack_bound[at] = bound
        stack_node[at] = first + lane
        top += 1
    return top


@inner
def start_at_root(tree: Tree, bound: np.float32) -> int:
    """The stack with the root alone on it."""
    tree.stack_node[0] = tree.points.shape[0] + tree.boxes.shape[0] - 1
    tree.stack_bound[0] = bound
    return 1


@inner
def offer_slot(
    rows: Array,
    who: Array,
    ids: Array,
    slot: int,
    point: Array,
    k: int,
    count: int,
    near_d2: Array,
    near_id: Array,
    near_slot: Array,
) -> int:
    """Measure a slot and offer its records, the lowest first."""
    d2 = squared_distance(rows, slot, point)
    count = offer(near_d2, near_id, near_slot, count, k, d2, np.int64(who[slot, 0]), slot)
    for twin in range(who[slot, 1], who[slot, 2]):
        record = np.int64(ids[twin])
        if count == k and (d2 > near_d2[0] or (d2 == near_d2[0] and record > near_id[0])):
            break
        count = offer(near_d2, near_id, near_slot, count, k, d2, record, slot)
    return count


@inner
def scan_nearest(tree: Tree, point: Array, k: int, near_d2: Array, near_id: Array, near_slot: Array) -> int:
    """As k_nearest, one slot after the other: for a point so far out that float32 cannot hold its distances."""
    count = 0
    for slot in range(tree.rows.shape[0]):
        if is_alive(tree, slot):
            count = offer_slot(tree.rows, tree.who, tree.ids, slot, point, k, count, near_d2, near_id, near_slot)
    return count


@inner
def scan_farthest(tree: Tree, point: Array) -> int:
    """As farthest, one slot after the other."""
    best, best_d2 = -1, -1.0
    for slot in range(tree.rows.shape[0]):
        if is_alive(tree, slot):
            d2 = squared_distance(tree.rows, slot, point)
            if d2 > best_d2 or (d2 == best_d2 and lowest_id(tree, slot) < lowest_id(tree, best)):
                best, best_d2 = slot, d2
    return best


@kernel
def k_nearest(tree: Tree, point: Array, k: int, near_d2: Array, near_id: Array, near_slot: Array) -> int:
    """The k alive records with the smallest (d2 to point, id) into the heap arrays, worst on top.

    Returns how many there are (fewer than k when fewer are alive). Of a slot's twins it names the lowest, so
    calling remove once for each entry takes exactly those records.
    """
    # Taken out of the tuple once: each look into it counts a reference, which costs more than a bound.
    points, boxes, first_child = tree.points, tree.boxes, tree.first_child
    rows, who, ids = tree.rows, tree.who, tree.ids
    query, bounds, lanes = tree.query, tree.bounds, tree.lanes
    stack_node, stack_bound = tree.stack_node, tree.stack_bound
    head, scale = tree.head, tree.scale
    leaves, m = points.shape[0], points.shape[1]
    norm = np.sqrt(project(point, tree.centre, scale, tree.axes, query))
    if not norm < FAR_OUT:
        return scan_nearest(tree, point, k, near_d2, near_id, near_slot)
    error = rounding_of_points(norm)
    limit = LARGEST
    count = 0
    top = start_at_root(tree, np.float32(0))
    while top > 0:
        top -= 1
        if stack_bound[top] > limit:
            continue
        node = np.int64(stack_node[top]) - leaves
        first = np.int64(first_child[node])
        children = near_boxes(boxes, node, query, head, limit, bounds)
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
                if lanes[lane] > limit:
                    continue
                slot = leaf * LANES + lane
                count = offer_slot(rows, who, ids, slot, point, k, count, near_d2, near_id, near_slot)
                if count == k:
                    limit = near_limit(near_d2[0], m, scale, error)
    return count


@inner
def far_query(tree: Tree, point: Array) -> tuple[np.float32, float, float]:
    """Loads -2 times the projected point as the query; returns its squared norm and the two error terms.

    Beyond what storage moves the records, the sums |x|^2 + |q|^2 - 2 q.x cancel: their rounding error
    is bounded by the size of their terms, |x| <= 1 and every |x_j| <= 1. In a wide table the sums are so
    large that they rule nobody out: one attribute cannot say who is not far.
    """
    if is_wide(tree):
        tree.query[:] = 0
        return LARGEST, 0.0, 0.0
    m = point.size
    norm2 = project(point, tree.centre, tree.scale, tree.axes, tree.query)
    norm = np.sqrt(norm2)
    for a in range(m):
        tree.query[a] *= np.float32(-2)
    sum_error = (2 * m + 8) * UNIT32 * 1.5 * (1 + norm2 + 2 * norm * np.sqrt(m))
    return np.float32(norm2), rounding_of_points(norm), sum_error


@kernel
def farthest(tree: Tree, point: Array) -> int:
    """The slot of the alive record with the largest d2 to point, lowest id on ties; -1 if none is alive.

    The record itself is lowest_id(tree, slot).
    """
    points, norms, boxes, reach = tree.points, tree.norms, tree.boxes, tree.reach
    rows, who, first_child = tree.rows, tree.who, tree.first_child
    query, bounds, lanes = tree.query, tree.bounds, tree.lanes
    stack_node, stack_bound, scale = tree.stack_node, tree.stack_bound, tree.scale
    leaves, m = points.shape[0], points.shape[1]
    offset, error, sum_error = far_query(tree, point)
    if not offset < FAR_OUT:
        return scan_farthest(tree, point)
    limit = -LARGEST
    best, best_d2 = -1, -1.0
    top = start_at_root(tree, LARGEST)
    while top > 0:
        top -= 1
        if stack_bound[top] < limit:
            continue
        node = np.int64(stack_node[top]) - leaves
        first = np.int64(first_child[node])
        children = far_boxes(boxes, node, query, reach, offset, limit, bounds)
        if first >= leaves:
            top = push_by_bound(
                stack_node, stack_bound, bounds, boxes, leaves, top, first, children, np.float32(-1)
            )
            continue
        while children:
            child = lowest_bit(children)
            children &= children - 1
            if bounds[child] < limit:
                continue
            leaf = first + child
            mask = far_points(points, leaf, query, norms, offset, limit, lanes)
            while mask:
                lane = lowest_bit(mask)
                mask &= mask - 1
                if lanes[lane] < limit:
                    continue
                slot = leaf * LANES + lane
                d2 = squared_distance(rows, slot, point)
                if d2 > best_d2 or (d2 == best_d2 and who[slot, 0] < who[best, 0]):
                    best, best_d2 = slot, d2
                    limit = far_limit(d2, m, scale, error, sum_error)
    return best
