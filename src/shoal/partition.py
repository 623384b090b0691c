"""A partition of n records into groups of at least k.

The one place where the promise of k-anonymity is enforced on groups: a `Partition` with a group below k,
a gap in its labels or a record left out cannot be built, whatever method asked for it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.cards import Card, counted, span
from shoal.errors import ShoalError, some

Float = NDArray[np.float64]
Int = NDArray[np.int64]

LARGEST = 1e150
"""Coordinates beyond this have squared distances that overflow."""

_MANY = 100_000  # records from which counting is so much faster than sorting that SciPy is loaded for it
_CHUNK = 100_000  # records whose errors are held at a time


@dataclass(frozen=True, eq=False, repr=False)
class Partition:
    """Records in groups of at least k; it does not keep the points it was built from.

    Parameters
    ----------
    points : array of shape (n, m)
        The points of the records.
    labels : array of shape (n,)
        The group of each record: whole numbers from 0 to the number of groups - 1, none left out.
    k : int
        The least number of records in a group.
    weights : array of shape (n,), optional
        What each record counts for in centroids and errors, finite and not negative. A group still needs k
        records, whatever they weigh.

    Attributes
    ----------
    sizes : the number of records of each group
    centroids : the mean of each group, from an exact sum rounded once; weighted where there are weights, and plain
        where those of a group are all 0
    sse : the sum of squared distances from the records to their centroids, each times its weight
    sst : the sum of squared distances from the records to the mean of all, likewise
    """

    labels: Int
    k: int
    sizes: Int
    centroids: Float
    sse: float
    sst: float

    def __init__(self, points: Float, labels: ArrayLike, k: int, weights: ArrayLike | None = None) -> None:
        checked = checked_labels(labels, len(points))
        sizes = np.bincount(checked)
        small = np.flatnonzero(sizes < k)
        if len(small):
            raise ShoalError(
                f"groups of fewer than k={k} records: {some(f'group {g} has {sizes[g]}' for g in small)}"
            )
        points = np.ascontiguousarray(points, dtype=np.float64)
        counted = None if weights is None else checked_weights(weights, points)
        centroids, one = means_of(points, checked, counted), np.zeros_like(checked)
        everything = means_of(points, one, counted)
        for array in (checked, sizes, centroids):
            array.flags.writeable = False
        object.__setattr__(self, "labels", checked)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "centroids", centroids)
        object.__setattr__(self, "sse", squared_error(points, centroids, checked, counted))
        object.__setattr__(self, "sst", squared_error(points, everything, one, counted))

    def __repr__(self) -> str:
        return (
            f"Partition(k={self.k}, records={len(self.labels)}, groups={self.n_groups}, "
            f"information_loss={self.information_loss:.2f} %)"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        figures = [
            (f"k = {self.k}", "at least so many in a group"),
            (counted(len(self.labels)), "records"),
            (counted(self.n_groups), f"groups of {span(int(self.sizes.min()), int(self.sizes.max()))}"),
            (f"{self.information_loss:.2f} %", "information loss, not rounded"),
        ]
        steps = [("partition.labels", "is the group of each record"), ("partition.centroids", "are their means")]
        return Card("Partition", figures, steps=steps).html()

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return len(self.sizes)

    @property
    def information_loss(self) -> float:
        """100 * SSE / SST, and 0 where all records coincide."""
        return 100.0 * self.sse / self.sst if self.sst > 0 else 0.0


def checked_labels(labels: ArrayLike, n: int) -> Int:
    """A fresh copy of the labels as int64, if they name every group from 0 on and every record."""
    given = np.asarray(labels)
    if given.shape != (n,):
        raise ShoalError(f"labels have the shape {given.shape}, but there are {n} records")
    if n == 0:
        raise ShoalError("a partition needs at least one record")
    if given.dtype.kind not in "iu":
        raise ShoalError(f"labels must be whole numbers, not {given.dtype}")
    if given.min() < 0:
        raise ShoalError(f"records in no group (label {given.min()}), first: {int(given.argmin())}")
    if given.max() >= n:
        raise ShoalError(f"label {given.max()} is too large for {n} records; number the groups from 0")
    empty = np.flatnonzero(np.bincount(given) == 0)
    if len(empty):
        raise ShoalError(f"groups without a record: {some(empty)}; number the groups without gaps")
    return given.astype(np.int64)


def checked_weights(weights: ArrayLike, points: Float) -> Float:
    """The weights as float64, if there is one for each point, finite, not negative and not too large."""
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ShoalError(f"weights of records must be numbers: {error}") from None
    if given.shape != (len(points),):
        raise ShoalError(
            f"weights of records have the shape {given.shape}, but there are {len(points)} records; "
            "give one number for each"
        )
    wrong = np.flatnonzero(~(np.isfinite(given) & (given >= 0.0)))
    if len(wrong):
        raise ShoalError(
            f"weights of records must be finite and not negative; that of record {wrong[0]} is {given[wrong[0]]}"
        )
    if given.max() > 1.0 and given.max() > (LARGEST / max(float(np.abs(points).max()), 1.0)) ** 2:
        raise ShoalError(
            f"a weight of {given.max():g} is so large that the weighted errors overflow; divide all weights by it"
        )
    return given


def below_one(weights: Float) -> Float:
    """The weights divided by a power of two, so that the largest is below 1 and no product with one overflows."""
    return np.ldexp(weights, -int(np.frexp(weights.max())[1]))


def squared_error(points: Float, centroids: Float, labels: Int, weights: Float | None = None) -> float:
    """The sum of squared distances from the points to the centroids of their groups, times their weights."""
    total = 0.0
    for start in range(0, len(points), _CHUNK):
        difference = points[start : start + _CHUNK] - centroids[labels[start : start + _CHUNK]]
        if weights is None:
            total += float(np.einsum("ij,ij->", difference, difference))
        else:
            errors = np.einsum("ij,ij->i", difference, difference)
            total += float((errors * weights[start : start + _CHUNK]).sum())
    return total


def means_of(points: Float, labels: Int, weights: Float | None = None) -> Float:
    """The centroid of each group; labels and weights as in a `Partition`."""
    from shoal.kernels.sums.exact import group_means, weighted_group_means

    order, starts = by_group(labels)
    if weights is None:
        return group_means(points, order, starts)
    return weighted_group_means(points, below_one(weights), order, starts)


def by_group(labels: Int) -> tuple[Int, Int]:
    """The records of each group by rising index, one group after the other, and where each group starts."""
    n = len(labels)
    if n < _MANY:
        return np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(labels))])
    from scipy.sparse import csr_array

    of_group = csr_array((np.ones(n, np.bool_), (labels, np.arange(n))))
    return of_group.indices.astype(np.int64), of_group.indptr.astype(np.int64)


def sse_of(points: Float, labels: Int, weights: Float | None = None) -> float:
    """The sum of squared distances to the centroids, times the weights."""
    return squared_error(points, means_of(points, labels, weights), labels, weights)


def sse_of_differences(points: Float, labels: Int) -> float:
    """The same from the differences to one record of each group, for groups numbered without gaps.

    A mean that is a double may be far from the true one where all values are far from 0. Then the sum of squared
    distances to it is not the least of the group, as a proof needs it.
    """
    first = np.unique(labels, return_index=True)[1]
    return sse_of(points - points[first[labels]], labels)


def compact(labels: Int) -> Int:
    """The same groups, numbered from 0 without gaps, in the order of their numbers."""
    if len(labels) and labels.min() >= 0 and labels.max() < 2 * len(labels):  # counting is faster than sorting
        return (np.cumsum(np.bincount(labels) > 0) - 1)[labels]
    return np.unique(labels, return_inverse=True)[1]


def renumbered(labels: Int) -> Int:
    """The same groups, numbered in the order of their first records."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])
