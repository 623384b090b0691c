"""Groups around the two records that are farthest apart: the steps of the maximum-distance method."""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.tree import Tree, farthest, k_nearest, lowest_id
from shoal.kernels.single.peel import take
from shoal.kernels.sums.exact import Sums


@inner
def farthest_pair(tree: Tree, rows: Array, labels: Array, reach: Array, partner: Array) -> tuple[int, int]:
    """The two free records that are farthest apart, the lowest numbers among equals.

    reach[i] is the distance of i to the record farthest from it when that was last looked up, and so never too
    small; it is looked up again where it could decide and its partner has gone.
    """
    while True:
        r = -1
        for i in range(labels.size):
            if labels[i] < 0 and (r < 0 or reach[i] > reach[r]):
                r = i
        if partner[r] >= 0 and labels[partner[r]] < 0:
            return r, np.int64(partner[r])
        slot = farthest(tree, rows[r])
        partner[r] = lowest_id(tree, slot)
        total = 0.0
        for j in range(rows.shape[1]):
            total += (rows[r, j] - rows[partner[r], j]) ** 2
        reach[r] = total
        if total == 0.0:  # all free records coincide
            for i in range(labels.size):
                if labels[i] < 0 and i != r:
                    return r, i


@kernel
def pair_steps(
    tree: Tree,
    sums: Sums,
    labels: Array,
    free: int,
    label: int,
    k: int,
    floor: int,
    most: int,
    rows: Array,
    slot_of: Array,
    reach: Array,
    partner: Array,
) -> tuple[int, int]:
    """Two groups at a time, around the two free records farthest apart, each with its k - 1 nearest."""
    d2, ids, slots = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    for _ in range(most):
        if free < floor:
            break
        r, s = farthest_pair(tree, rows, labels, reach, partner)
        take(tree, sums, slot_of[r], label, labels)
        take(tree, sums, slot_of[s], label + 1, labels)
        for seed in (r, s):
            count = k_nearest(tree, rows[seed], k - 1, d2, ids, slots) if k > 1 else 0
            for h in range(count):
                take(tree, sums, slots[h], label, labels)
            label += 1
        free -= 2 * k
    return free, label
