"""Pairs of records that exchange their groups, where that lowers the SSE; all sizes stay as they are."""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.tree import Tree, k_nearest
from shoal.kernels.sums.exact import squared_distance

LEAST = 1e-12  # a swap gains at least this share of what it touches, so that rounding cannot go in circles


@inner
def shift_centre(centre: Array, rows: Array, out: int, into: int, size: int) -> None:
    """Move a centroid for one record replaced by another."""
    for j in range(centre.size):
        centre[j] += (rows[into, j] - rows[out, j]) / size


@inner
def best_swap(rows: Array, x: int, group: int, centres: Array, members: Array, starts: Array, near: Array) -> int:
    """The record of the near groups with which x gains most by trading places; -1 if none gains.

    Replacing x by y in a group of s with centroid c changes its SSE by |y - c|^2 - |x - c|^2 - |y - x|^2 / s.
    """
    own = squared_distance(rows, x, centres[group])
    size = starts[group + 1] - starts[group]
    best, gain = -1, 0.0
    for other in near:
        if other == group:
            continue
        there = squared_distance(rows, x, centres[other])
        share = 1.0 / size + 1.0 / (starts[other + 1] - starts[other])
        for position in range(starts[other], starts[other + 1]):
            y = members[position]
            at_home = squared_distance(rows, y, centres[other])
            here = squared_distance(rows, y, centres[group])
            change = here - own + there - at_home - share * squared_distance(rows, x, rows[y])
            if change < gain and change < -LEAST * (own + at_home):
                best, gain = y, change
    return best


@kernel
def swap_records(
    rows: Array, labels: Array, centres: Array, members: Array, starts: Array, place: Array, tree: Tree, count: int
) -> int:
    """Try every record once against those of the `count` groups with the nearest centroids; returns the swaps.

    members[starts[g]:starts[g + 1]] are the records of group g, place[r] says where r stands among them. The tree
    holds the centroids as they were; all else follows every swap.
    """
    swaps = 0
    d2, near, slots = np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
    for x in range(rows.shape[0]):
        found = k_nearest(tree, rows[x], count, d2, near, slots)
        group = labels[x]
        y = best_swap(rows, x, group, centres, members, starts, near[:found])
        if y < 0:
            continue
        other = labels[y]
        shift_centre(centres[group], rows, x, y, starts[group + 1] - starts[group])
        shift_centre(centres[other], rows, y, x, starts[other + 1] - starts[other])
        members[place[x]], members[place[y]] = y, x
        place[x], place[y] = place[y], place[x]
        labels[x], labels[y] = other, group
        swaps += 1
    return swaps
