"""The record farthest from a slowly moving point, from a cached list of the outermost records.

The list holds the records farthest from an anchor (where the point was when the list was made), outermost
first, and `outside`: no alive record off the list is farther from the anchor than that. Once the point has
moved by `drift`, a record at distance r from the anchor is within r + drift of the point, so the list
alone answers as long as its best beats outside + drift. When it no longer does, it is made anew.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner
from shoal.kernels.search_tree.heap import offer, sort_heap
from shoal.kernels.search_tree.tree import (
    FRAME_ERROR,
    LARGEST,
    Tree,
    far_query,
    farthest,
    is_alive,
    is_wide,
    lowest_id,
    push_by_bound,
    start_at_root,
)
from shoal.kernels.sums.exact import squared_distance
from shoal.kernels.sums.lanes import LANES, far_boxes, far_points, lowest_bit

LENGTH = 1024


class Shell(NamedTuple):
    """The outermost records, as seen from an anchor."""

    slots: Array  # int64 (length,): outermost first
    radii: Array  # float64 (length,): upper bounds on the distance to the anchor, descending
    ids: Array  # int64 (length,): scratch
    anchor: Array  # float64 (1, m)
    outside: Array  # float64 (1,)
    held: Array  # int64 (2,): how many are listed; how often the list was made


def new_shell(n: int, m: int, k: int) -> Shell:
    """An empty list."""
    length = min(n, max(LENGTH, 16 * k))
    ints = np.zeros((2, length), np.int64)
    return Shell(ints[0], np.zeros(length), ints[1], np.zeros((1, m)), np.full(1, np.inf), np.zeros(2, np.int64))


@inner
def collect_outermost(tree: Tree, point: Array, keys: Array, ids: Array, slots: Array) -> tuple[int, float]:
    """Slots with the largest float32 sums; also how many, and a bound on the distance of all others."""
    leaves = tree.points.shape[0]
    length = slots.size
    offset, error, sum_error = far_query(tree, point)
    limit = -LARGEST
    count = 0
    top = start_at_root(tree, LARGEST)
    while top > 0:
        top -= 1
        if tree.stack_bound[top] < limit:
            continue
        node = np.int64(tree.stack_node[top]) - leaves
        first = np.int64(tree.first_child[node])
        children = far_boxes(tree.boxes, node, tree.query, tree.reach, offset, limit, tree.bounds)
        if first >= leaves:
            top = push_by_bound(
                tree.stack_node,
                tree.stack_bound,
                tree.bounds,
                tree.boxes,
                leaves,
                top,
                first,
                children,
                np.float32(-1),
            )
            continue
        while children:
            child = lowest_bit(children)
            children &= children - 1
            if tree.bounds[child] < limit:
                continue
            leaf = first + child
            mask = far_points(tree.points, leaf, tree.query, tree.norms, offset, limit, tree.lanes)
            while mask:
                lane = lowest_bit(mask)
                mask &= mask - 1
                slot = leaf * LANES + lane
                # Negated, because the heap keeps the smallest.
                count = offer(keys, ids, slots, count, length, -np.float64(tree.lanes[lane]), slot, slot)
            if count == length:
                limit = np.float32(-keys[0])
    if count < length:
        return count, -1.0
    # Both the kept sums and the bounds that ruled the others out carry an error of up to sum_error.
    widest = np.sqrt(max(-keys[0] + 3 * sum_error, 0.0)) + error
    return count, widest * tree.scale * (1 + FRAME_ERROR)


@inner
def upper_distance(d2: float, m: int) -> float:
    """Not below the true distance behind a float64 d2."""
    return (np.sqrt(d2) + np.sqrt(m * 5e-324)) * (1 + FRAME_ERROR)


@inner
def make_shell(shell: Shell, tree: Tree, point: Array) -> None:
    """List the outermost records anew, as seen from a point."""
    count, outside = collect_outermost(tree, point, shell.radii, shell.ids, shell.slots)
    for s in range(count):
        slot = shell.ids[s]
        radius = upper_distance(squared_distance(tree.rows, slot, point), point.size)
        offer(shell.radii, shell.ids, shell.slots, s, count, -radius, slot, slot)
    sort_heap(shell.radii, shell.ids, shell.slots, count)
    for s in range(count):
        shell.radii[s] = -shell.radii[s]
    for j in range(point.size):
        shell.anchor[0, j] = point[j]
    shell.outside[0] = outside
    shell.held[0] = count
    shell.held[1] += 1


@inner
def best_listed(shell: Shell, tree: Tree, point: Array, drift: float) -> tuple[int, float]:
    """The farthest listed record and a lower bound on its true distance; drops the dead it meets."""
    best, best_d2, reached = -1, -1.0, -1.0
    count, kept, s = shell.held[0], 0, 0
    while s < count:
        slot = shell.slots[s]
        if is_alive(tree, slot):
            if shell.radii[s] + drift < reached:
                break
            shell.slots[kept], shell.radii[kept] = slot, shell.radii[s]
            kept += 1
            d2 = squared_distance(tree.rows, slot, point)
            if d2 > best_d2 or (d2 == best_d2 and lowest_id(tree, slot) < lowest_id(tree, best)):
                best, best_d2 = slot, d2
                reached = np.sqrt(d2) * (1 - FRAME_ERROR) - np.sqrt(point.size * 5e-324)
        s += 1
    if kept < s:
        for rest in range(s, count):
            shell.slots[kept + rest - s], shell.radii[kept + rest - s] = shell.slots[rest], shell.radii[rest]
        shell.held[0] = count - (s - kept)
    return best, reached


@inner
def farthest_from_moving(shell: Shell, tree: Tree, point: Array) -> int:
    """As tree.farthest, for a point that is near where it was at the last call."""
    if is_wide(tree):
        return farthest(tree, point)
    drift = upper_distance(squared_distance(shell.anchor, 0, point), point.size)
    best, reached = best_listed(shell, tree, point, drift)
    if best < 0 or shell.outside[0] + drift >= reached:
        make_shell(shell, tree, point)
        best, reached = best_listed(shell, tree, point, 0.0)
        if shell.outside[0] >= reached:
            # More records tie (as far as float32 can tell) than the list has room for.
            return farthest(tree, point)
    return best
