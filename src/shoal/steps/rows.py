"""Records lined up in a row, and the row cut into groups: what PathMHM and IMHM share.

A row is an array of all record numbers. `cut` finds the groups of k to 2k - 1 neighbours in it that leave the
least SSE (the shortest path of Hansen and Mukherjee, as ImprovedMHM of Mortazavi et al. computes it).
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Progress
from shoal.steps.peeling import Peeling

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_NEIGHBOURS = 10  # of a record that a round trip may newly connect it with


def cut(X: Float, row: Int, k: int) -> Int:
    """The labels of the cheapest groups of k to 2k - 1 neighbours in the row, numbered along it."""
    return cut_with_cost(X, row, k)[0]


def cut_with_cost(X: Float, row: Int, k: int) -> tuple[Int, float]:
    """The same, and the SSE they leave."""
    from shoal.kernels.rows.path import cut_row, label_cut

    cost, start = np.empty(len(row) + 1), np.empty(len(row) + 1, np.int64)
    cut_row(X, row, k, cost, start)
    labels = np.empty(len(row), np.int64)
    label_cut(row, start, labels)
    return labels, float(cost[-1])


def cut_round_trip(X: Float, tour: Int, k: int) -> Int:
    """The labels of the cheapest groups of neighbours on a round trip.

    Of any 2k - 1 places in a row one is the head of a group, so that opening the trip at each of these finds them.
    """
    if len(tour) < 2 * k:
        return np.zeros(len(tour), np.int64)
    cuts = (cut_with_cost(X, np.roll(tour, -place), k) for place in range(2 * k - 1))
    return min(cuts, key=lambda found: found[1])[0]


def row_through_groups(X: Float, labels: Int, by_records: bool) -> Int:
    """Group after group: from that of the record farthest from the middle always to the nearest centroid.

    Nearest to the centroid of the group before, or to any of its records (by_records, as Construct_Path of
    Mortazavi et al. 2013 has it). Inside a group the records come by falling distance to the next centroid.
    """
    from shoal.kernels.rows.path import chain_groups
    from shoal.kernels.search_tree.tree import build_tree
    from shoal.kernels.sums.exact import group_means

    members = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    groups = len(starts) - 1
    if groups == 1:
        return members
    centroids = group_means(X, members, starts)
    first = labels[rim(X)]
    others = np.delete(np.arange(groups, dtype=np.int32), first)
    row = np.empty(len(X), np.int64)
    chain_groups(X, build_tree(centroids, others), centroids, members, starts, first, by_records, row)
    return row


def nearest_point_next(X: Float) -> Int:
    """From the record farthest from the middle always to the nearest record not yet in the row."""
    from shoal.kernels.rows.path import walk_to_nearest
    from shoal.kernels.search_tree.tree import build_tree

    row = np.empty(len(X), np.int64)
    row[0] = rim(X)
    if len(X) > 1:
        others = np.delete(np.arange(len(X), dtype=np.int32), row[0])
        walk_to_nearest(X, build_tree(X, others), row)
    return row


def rim(X: Float) -> int:
    """The record farthest from the centroid of all, the lowest index among equals."""
    from shoal.kernels.single.peel import squared_distances
    from shoal.kernels.sums.exact import group_means

    distances = np.empty(len(X))
    squared_distances(X, group_means(X, np.arange(len(X)), np.array([0, len(X)]))[0], distances)
    return int(distances.argmax())


def round_trip(X: Float, progress: Progress | None) -> Int:
    """A short round trip: nearest point next, then 2-opt and Or-opt moves until none helps."""
    from shoal.kernels.rows.tour import shorten
    from shoal.kernels.search_tree.neighbours import nearest_neighbours

    n = len(X)
    tour = nearest_point_next(X)
    if n < 5:
        return tour
    near, _ = nearest_neighbours(X, min(_NEIGHBOURS, n - 1))
    place = np.empty(n, np.int64)
    place[tour] = np.arange(n)
    waiting, queued = tour.copy(), np.ones(n + 2, np.int64)
    queued[n:] = 0, n
    while shorten(X, near, tour, place, waiting, queued, 10_000):
        if progress is not None:
            progress(0, n)
    return tour


def maximum_distance(X: Float, k: int, progress: Progress | None) -> Int:
    """The groups of the maximum-distance method (Domingo-Ferrer and Mateo-Sanz 2002).

    While 2k records are free, the two that are farthest apart are each grouped with their k - 1 nearest.
    """
    peeling = Peeling(X, k, progress)
    reach, partner = np.full(len(X), np.inf), np.full(len(X), -1, np.int64)
    peeling.run(partial(_pair_groups, reach, partner), floor=2 * k)
    return peeling.group_the_rest()


def _pair_groups(reach: Float, partner: Int, peeling: Peeling, floor: int, most: int) -> tuple[int, int]:
    from shoal.kernels.single.pairs import pair_steps

    return pair_steps(
        peeling.tree,
        peeling.sums,
        peeling.labels,
        peeling.free,
        peeling.label,
        peeling.k,
        floor,
        most,
        peeling.X,
        peeling.slots(),
        reach,
        partner,
    )
