"""mu-Approx: trees of near neighbours, cut into groups, with a proven bound on the distance from the optimum.

Every tree that is too small gets an edge from its root to the nearest record outside; trees that are too large
are cut where both parts keep k records. An edge leads to one of the k - 1 nearest neighbours, hence the bound.

Guarantee: every group has k to 2k - 1 records; the SSE is at most 2(2k - 1) max(2k - 1, 3k - 5)^2 times the
optimal one. Ties are broken by the lowest record index.
Cost: at most one nearest-neighbour search per record, about n^1.3 time on data with structure; all cuts in linear
time; O(n) memory beside the data.

Reference: J. Domingo-Ferrer, F. Sebe and A. Solanas, A polynomial-time approximation to optimal multivariate
microaggregation, Computers and Mathematics with Applications 55 (2008) 714-732.
"""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.parameters import Rule, Seed, Whole

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_BATCH = 1_000  # records between two reports


class ApproximationBound(NamedTuple):
    """How many times the optimum the groups of step 2 can cost at most, by either measure of cost."""

    euclidean: int
    """The sum of Euclidean distances to the centroids (Theorem 1)."""
    sse: int
    """The sum of squared distances to the centroids (Theorem 2); splitting groups in step 3 never raises it."""


class MuApprox(Microaggregator):
    """Approximation by a forest of near neighbours (Domingo-Ferrer, Sebé and Solanas 2008).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    random_state : int, optional
        None takes the records in file order; a whole number draws an order with that seed, as the paper did for
        its figures.
    steps : {2, 3}
        2 stops at the partition that the bounds are proven for, with groups of up to max(2k - 1, 3k - 5) records;
        3 then splits those with 2k records or more.

    Attributes
    ----------
    bound_ : how many times the optimum the groups cost at most, `(euclidean, sse)`

    Notes
    -----
    Step 1 takes the records in their order: one whose tree has fewer than k records is the root of that tree and
    gets an edge to the nearest record outside. Step 2 cuts trees of more than max(2k - 1, 3k - 5) records. Its
    candidate, which the paper leaves open, is the first record from the leaves upwards whose subtree has k
    records; subtrees are taken in the order of the records. Where a Steiner vertex has nothing but subtrees around
    it that no choice divides into two groups of k, they stay together until step 3, and `bound_` counts with the
    larger group. Step 3 splits a group of 2k or more: the record farthest from the centroid and its k - 1 nearest,
    and the rest. Groups are numbered by their first record.
    """

    name = "mu-approx"
    idea = "trees of near neighbours cut into groups, with a proven bound"
    cost = "one neighbour search per record, O(n) memory"
    reference = "Domingo-Ferrer, Sebé and Solanas 2008"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "random_state": Seed(), "steps": Whole(2, 3)}

    def __init__(self, k: int = 5, random_state: int | None = None, steps: int = 3) -> None:
        self.k = k
        self.random_state = random_state
        self.steps = steps

    def _group(self, X: Float, progress: Progress | None) -> Int:
        order = np.arange(len(X))
        if self.random_state is not None:
            order = np.random.default_rng(self.random_state).permutation(len(X))
        labels, sizes = trees_of(X, self.k, order, progress)
        self.bound_ = bound_for(self.k, int(sizes.max()))
        if self.steps == 3 and sizes.max() >= 2 * self.k:
            split(X, labels, sizes, self.k)
        if progress is not None:
            progress(len(X), len(X))
        return numbered_by_first_record(labels)


def largest_tree(k: int) -> int:
    """The largest group of step 2."""
    return max(2 * k - 1, 3 * k - 5)


def bound_for(k: int, largest: int) -> ApproximationBound:
    """The factors of Theorems 1 and 2 for groups of step 2 with at most `largest` records, if that is more."""
    most = max(largest, largest_tree(k))
    return ApproximationBound((2 * k - 1) * most, 2 * (2 * k - 1) * most**2)


def trees_of(X: Float, k: int, order: Int, progress: Progress | None) -> tuple[Int, Int]:
    """Steps 1 and 2: the tree of each record, and the sizes of the trees."""
    from shoal.kernels.forests.forest import cut_trees, grow_forest
    from shoal.kernels.search_tree.tree import build_tree

    n = len(X)
    parent, leader, size = np.full(n, -1), np.arange(n), np.ones(n, np.int64)
    tree = build_tree(X, np.arange(n, dtype=np.int32))
    position = 0
    while position < n:
        if progress is not None:
            progress(position, n)
        position = grow_forest(tree, X, k, order, position, _BATCH, parent, leader, size)
    labels = np.empty(n, np.int64)
    cut_trees(order, parent, leader, size, k, largest_tree(k), labels)
    return labels, np.bincount(labels)


def split(X: Float, labels: Int, sizes: Int, k: int) -> None:
    """Step 3, in place."""
    from shoal.kernels.forests.forest import split_groups
    from shoal.kernels.sums.exact import new_sums

    starts = np.concatenate([[0], np.cumsum(sizes)])
    split_groups(X, new_sums(X), np.argsort(labels, kind="stable"), starts, k, labels)


def numbered_by_first_record(labels: Int) -> Int:
    """The same groups, numbered in the order of their first records."""
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[group]
