"""The nearest neighbours of every record, all at once."""

import numpy as np

from shoal.kernels.compiled import Array, kernel
from shoal.kernels.search_tree.heap import sort_heap
from shoal.kernels.search_tree.tree import Tree, build_tree, k_nearest


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


def nearest_neighbours(rows: Array, count: int) -> tuple[Array, Array]:
    """For each record its `count` (below n) nearest others: their numbers, int32, and squared distances.

    The nearest first, ties by the lowest index; a record with twins has those as its nearest.
    """
    n = len(rows)
    ids, d2 = np.empty((n, count), np.int32), np.empty((n, count))
    if count:
        fill_neighbours(build_tree(rows, np.arange(n, dtype=np.int32)), rows, 0, ids, d2)
    return ids, d2
