"""MDAV, maximum distance to average vector: groups of k from the rim of the data inwards.

The record farthest from the centroid of all free records gathers its k - 1 nearest neighbours; so does
the record farthest from it, at the other end of the data; then again with what is left.

Guarantee: every group has k to 2k - 1 records. Ties are broken by the lowest record index.
Cost: O(n^2 m / k) time, O(n) memory beside the data.

Reference: Algorithm A of D. Rebollo-Monedero, A. M. Mezher, X. Casanova Colome, J. Forne and M. Soriano,
Efficient k-anonymous microaggregation of multivariate numerical data via principal component analysis,
Information Sciences 503 (2019) 417-443.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.methods.base import Microaggregator, Progress
from shoal.parameters import Rule, Whole

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_SLICE = 20_000_000  # coordinates visited between two calls of the progress callback


class MDAV(Microaggregator):
    """Maximum distance to average vector, as Algorithm A of Rebollo-Monedero et al. (2019).

    Parameters
    ----------
    k : int
        The least number of records in a group.

    Notes
    -----
    While at least 2k records are free, two groups are formed: one around the free record P farthest from
    their centroid, one around the free record Q farthest from P. If k to 2k - 1 records are left, they
    form the last group; if fewer, each joins, in file order, the group with the nearest centroid, and
    that centroid is updated at once. Centroids come from exact sums, distances are summed attribute by
    attribute, and ties go to the lowest record index, so the groups depend on the input alone.
    """

    idea = "groups of k from the rim of the data inwards"
    cost = "O(n^2 m / k) time, O(n) memory"
    reference = "Rebollo-Monedero et al. 2019, Algorithm A; Domingo-Ferrer and Torra 2005"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1)}

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def _group(self, X: Float, progress: Progress | None) -> Int:
        labels, rest = pairs_of_groups(X, self.k, progress)
        if len(rest) >= self.k:
            labels[rest] = labels.max() + 1
        elif len(rest):
            join_nearest_groups(X, labels, rest)
        if progress is not None:
            progress(len(X), len(X))
        return labels


def pairs_of_groups(X: Float, k: int, progress: Progress | None) -> tuple[Int, Int]:
    """Steps 1 to 5: labels (-1 where free), and the fewer than 2k records that are left."""
    from shoal.kernels.scan import mdav_pairs, sums_of

    n = len(X)
    labels = np.full(n, -1, np.int64)
    free = np.arange(n)
    sums = sums_of(X)
    count, label = n, 0
    while count >= 2 * k:
        pairs = max(1, _SLICE // (4 * count * X.shape[1]))
        count, label = mdav_pairs(X, k, free, count, sums, labels, label, pairs)
        if progress is not None:
            progress(n - count, n)
    return labels, free[:count]


def join_nearest_groups(X: Float, labels: Int, rest: Int) -> None:
    """Steps 8 and 9: the last fewer-than-k records join the nearest groups, in file order."""
    from shoal.kernels.exact import group_means
    from shoal.kernels.scan import join_nearest

    order = np.argsort(labels, kind="stable")[len(rest) :]
    sizes = np.bincount(labels[order])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    join_nearest(X, rest, labels, group_means(X, order, starts), sizes)
