"""MSTPartition: the minimum spanning tree of the records, cut at its longest edges.

Every edge of the tree, the longest first, is removed if both sides keep k records. What is left in one piece with
2k records or more is split by a method of fixed-size groups.

Guarantee: every group has k to 2k - 1 records. Ties are broken by the lowest record index.
Cost: the tree takes a few nearest-neighbour searches per record, about n^1.3 time on data with structure, its cuts
n log n; O(n) memory beside the data.

Reference: M. Laszlo and S. Mukherjee, Minimum spanning tree partitioning algorithm for microaggregation, IEEE
Transactions on Knowledge and Data Engineering 17 (2005) 902-911.
"""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.mdav import pairs_of_groups
from shoal.methods.mu_approx import numbered_by_first_record
from shoal.parameters import OneOf, Rule, Whole
from shoal.steps.peeling import Peeling
from shoal.steps.rows import maximum_distance

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_BATCH = 2_000  # search tree slots between two reports
_SMALL = 200  # records in a group up to which scans beat a search tree


class MSTPartition(Microaggregator):
    """Minimum spanning tree partitioning (Laszlo and Mukherjee 2005).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    split : {"d", "mdav"}
        How to split what cannot be cut and has 2k records or more: "d" forms groups of k around the two records
        farthest from each other, again and again (Domingo-Ferrer and Mateo-Sanz 2002), which makes the method M-d;
        "mdav" takes MDAV.

    Notes
    -----
    Edges are ordered by (squared distance, lower index, higher index), so there is one minimum spanning tree, and
    they are removed from the last to the first. In a split, k to 2k - 1 records left over are the last group;
    fewer join, in file order, the nearest of the groups just formed, whose centroid is updated at once. Groups are
    numbered by their first record.
    """

    name = "mst-partition"
    idea = "the minimum spanning tree cut at its longest edges"
    cost = "several neighbour searches per record, O(n) memory"
    reference = "Laszlo and Mukherjee 2005"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "split": OneOf(("d", "mdav"))}

    def __init__(self, k: int = 5, split: Literal["d", "mdav"] = "d") -> None:
        self.k = k
        self.split = split

    def _group(self, X: Float, progress: Progress | None) -> Int:
        from shoal.kernels.forests.spanning import remove_edges

        edges = spanning_tree(X, progress)[0]
        pieces = np.empty(len(X), np.int64)
        remove_edges(edges, self.k, pieces)
        labels = numbered_by_first_record(pieces)
        self._split_large(X, labels)
        if progress is not None:
            progress(len(X), len(X))
        return numbered_by_first_record(labels)

    def _split_large(self, X: Float, labels: Int) -> None:
        """Split the groups of 2k records and more, in place."""
        from shoal.kernels.single.diameter import split_small
        from shoal.kernels.sums.exact import new_sums

        sizes = np.bincount(labels)
        order = np.argsort(labels, kind="stable")
        starts = np.cumsum(sizes) - sizes
        label = len(sizes)
        small = (sizes >= 2 * self.k) & (sizes <= _SMALL)
        members = order[np.repeat(small, sizes)]
        bounds = np.concatenate([[0], np.cumsum(sizes[small])])
        label = split_small(X, new_sums(X), members, bounds, self.k, self.split == "d", labels, label)
        for group in np.flatnonzero((sizes >= 2 * self.k) & (sizes > _SMALL)):
            records = order[starts[group] : starts[group] + sizes[group]]
            parts = self._split_one(X[records])
            labels[records] = label + parts
            label += parts.max() + 1

    def _split_one(self, X: Float) -> Int:
        """The parts of one large group, as split_small would find them."""
        if self.split == "d":
            return maximum_distance(X, self.k, None)
        peeling = Peeling(X, self.k, None)
        peeling.run(pairs_of_groups, floor=2 * self.k)
        return peeling.group_the_rest()


def spanning_tree(X: Float, progress: Progress | None = None) -> tuple[Int, Float]:
    """The edges of the minimum spanning tree, as Kruskal takes them, and their squared lengths."""
    from shoal.kernels.forests.spanning import begin_round, end_round, new_growth, search_round
    from shoal.kernels.search_tree.tree import build_tree

    n = len(X)
    tree = build_tree(X, np.arange(n, dtype=np.int32))
    growth = new_growth(tree)
    leader, size = np.arange(n), np.ones(n, np.int64)
    edges, lengths = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    count = 0
    while count < n - 1:
        begin_round(tree, growth, leader)
        largest = int(np.bincount(growth.component).argmax())
        for first in range(0, len(tree.rows), _BATCH):
            if progress is not None:
                progress(count, n)
            search_round(tree, growth, largest, first, min(first + _BATCH, len(tree.rows)))
        count = end_round(growth, largest, leader, size, edges, lengths, count)
    order = np.lexsort((edges[:, 1], edges[:, 0], lengths))
    return edges[order], lengths[order]
