"""TFRP, two fixed reference points: groups from two opposite corners, then badly fitting groups dissolved.

Phase 1 takes the record farthest from the minimum vector, then the one farthest from the maximum vector, each
with its k - 1 nearest neighbours, in turn. Phase 2 looks at the groups by falling SSE and gives the records of
a group to the nearest other groups wherever that lowers the SSE.

Guarantee: every group has at least k records; after phase 2 there is no upper limit. Ties are broken by the
lowest record index.
Cost: phase 1 as MDAV without its farthest-record searches; phase 2 one nearest-centroid search per record.

Reference: C.-C. Chang, Y.-C. Li and W.-H. Huang, TFRP: an efficient microaggregation algorithm for statistical
disclosure control, Journal of Systems and Software 80 (2007) 1866-1878.
"""

from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.vmdav import ordered_groups
from shoal.parameters import Rule, Whole
from shoal.steps.peeling import Peeling, orders_from

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class TFRP(Microaggregator):
    """Two fixed reference points (Chang, Li and Huang 2007).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    phases : {1, 2}
        1 stops after the groups are formed; 2 then dissolves groups where that lowers the SSE.

    Notes
    -----
    The reference points are the minimum and the maximum of each attribute. While at least k records are free, the
    one farthest from the first point (next time from the second, and so on in turn) and its k - 1 nearest free
    records form a group. Fewer than k left over join, in file order, the groups with the nearest centroids, each
    of which is updated at once. In phase 2 the groups are visited once by falling SSE; each record of a group is
    given to the other group with the nearest centroid, and if the SSE of the groups concerned falls, so it stays.
    Ties go to the lowest record index or group number.
    """

    name = "tfrp"
    idea = "groups from two opposite corners; ill-fitting ones dissolved"
    cost = "about n^1.3 time on data with structure, O(n) memory"
    reference = "Chang, Li and Huang 2007"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "phases": Whole(1, 2)}

    def __init__(self, k: int = 5, phases: int = 2) -> None:
        self.k = k
        self.phases = phases

    def _group(self, X: Float, progress: Progress | None) -> Int:
        peeling = Peeling(X, self.k, progress)
        orders, cursors = orders_from(X, np.array([X.min(axis=0), X.max(axis=0)]))
        peeling.run(partial(ordered_groups, orders, cursors, -1.0), floor=self.k)
        labels = peeling.group_the_rest()
        return dissolve(X, labels, progress) if self.phases == 2 else labels


def dissolve(X: Float, labels: Int, progress: Progress | None) -> Int:
    """Phase 2: the groups by falling SSE, each given to the nearest other groups if that lowers the SSE."""
    from shoal.kernels.search_tree.tree import build_tree
    from shoal.kernels.single.dissolve import GONE, dissolve_steps, fill_labels, fill_sse
    from shoal.kernels.sums.exact import new_sums

    first, following, centroids = chains(X, labels)
    groups = len(first)
    sums, sse = new_sums(X), np.empty(groups)
    fill_sse(X, first, following, sums, sse)
    order = np.argsort(-sse, kind="stable")
    stale = np.zeros(groups, np.int8)
    # Looking at moved groups one by one is cheap while they are few; building the tree anew is not.
    limit, batch = max(512, groups // 128), max(1000, groups // 20)
    moved = np.empty(limit + groups + 1, np.int64)
    position = 0
    while position < groups and groups > 1:
        alive = np.flatnonzero(stale != GONE)
        stale[alive] = 0
        tree = build_tree(centroids, alive.astype(np.int32))
        position = dissolve_steps(
            X, tree, sums, order, position, batch, first, following, centroids, stale, moved, limit
        )
        if progress is not None:
            progress(len(X), len(X))
    fill_labels(first, following, labels)
    return labels


def chains(X: Float, labels: Int) -> tuple[Int, Int, Float]:
    """The first record of each group, the record that follows each in its group (or -1), the centroids."""
    from shoal.kernels.sums.exact import group_means

    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    following = np.full(len(labels), -1)
    following[order[:-1]] = np.where(labels[order[:-1]] == labels[order[1:]], order[1:], -1)
    return order[starts[:-1]], following, group_means(X, order, starts)
