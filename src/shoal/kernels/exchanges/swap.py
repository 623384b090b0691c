"""Pairs of records that exchange their groups, where that lowers the SSE; all sizes stay as they are."""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.exchanges.groups import Groups, fill, room_for, swap
from shoal.kernels.search_tree.tree import Tree, k_nearest
from shoal.kernels.sums.exact import squared_distance

LEAST = 1e-12  # a swap gains at least this share of what it touches, so that rounding cannot go in circles


class Swapping(NamedTuple):
    """Groups and nothing else."""

    rows: Array
    label: Array
    members: Array
    size: Array
    centre: Array


def new_swapping(rows: Array, labels: Array) -> Swapping:
    """The groups of labels from 0 on."""
    sizes = np.bincount(labels)
    groups = Swapping(*room_for(rows, labels, len(sizes), int(sizes.max())))
    fill(groups)
    return groups


@inner
def best_swap(groups: Groups, x: int, near: Array) -> int:
    """The record of the near groups with which x gains most by trading places; -1 if none gains.

    Replacing x by y in a group of s with centroid c changes its SSE by |y - c|^2 - |x - c|^2 - |y - x|^2 / s.
    """
    rows, centre, group = groups.rows, groups.centre, groups.label[x]
    own = squared_distance(rows, x, centre[group])
    best, gain = -1, 0.0
    for other in near:
        if other == group:
            continue
        there = squared_distance(rows, x, centre[other])
        share = 1.0 / groups.size[group] + 1.0 / groups.size[other]
        for slot in range(groups.size[other]):
            y = groups.members[other, slot]
            at_home = squared_distance(rows, y, centre[other])
            here = squared_distance(rows, y, centre[group])
            change = here - own + there - at_home - share * squared_distance(rows, x, rows[y])
            if change < gain and change < -LEAST * (own + at_home):
                best, gain = y, change
    return best


@kernel
def swap_records(groups: Groups, tree: Tree, count: int) -> int:
    """Try every record once against those of the `count` groups with the nearest centroids; returns the swaps.

    The tree holds the centroids as they were; all else follows every swap.
    """
    swaps = 0
    d2, near, slots = np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
    for x in range(groups.label.size):
        found = k_nearest(tree, groups.rows[x], count, d2, near, slots)
        y = best_swap(groups, x, near[:found])
        if y >= 0:
            swap(groups, x, y)
            swaps += 1
    return swaps
