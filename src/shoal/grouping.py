"""From points to groups: the one step between the points of a table and the values of its release.

Whatever is demanded of groups beside their size is met here, for every method, for a table in memory and for the
blocks of a stream: groups that never cross a border (strata), and constraints that every group must satisfy. A
method itself knows of k only.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator
from shoal.parameters import Progress
from shoal.partition import Partition, means_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Constraint(Protocol):
    """What a group must satisfy beside its size. What holds for a group must hold for every larger one."""

    def holds(self, records: Int) -> bool:
        """Whether a group of these records may be released."""

    def __str__(self) -> str:
        """The demand in words, after "every group must have": "two different diagnoses"."""


def grouped(
    model: Microaggregator,
    points: Float,
    *,
    strata: Int | None = None,
    record_weights: Float | None = None,
    constraints: Sequence[Constraint] = (),
    progress: Progress | None = None,
) -> Partition:
    """Fit a method to the points and see to what else is demanded of its groups.

    Parameters
    ----------
    model : the method, whose k is that of the groups; fitted afterwards, unless there are strata
    points : array of shape (n, m)
    strata : the part of the table that each record belongs to, numbered from 0; no group has records of two
    record_weights : how many people each record stands for
    constraints : what every group must satisfy; a group that does not is joined with the nearest one
    progress : called now and then with (records grouped so far, records in all)
    """
    if record_weights is not None:
        raise ShoalError("records cannot have weights yet; leave record_weights out")
    if strata is None:
        partition = model.fit(points, progress=progress).partition_
        return joined(points, partition, constraints, np.arange(len(points))) if constraints else partition
    labels, groups = np.empty(len(points), np.int64), 0
    for stratum in range(int(strata.max()) + 1):
        own = np.flatnonzero(strata == stratum)
        if len(own) < model.k:
            few = f"stratum {stratum} has {len(own)} records, fewer than k={model.k}"
            raise ShoalError(f"{few}; join it with another")
        part = clone(model).fit(points[own]).partition_
        part = joined(points[own], part, constraints, own) if constraints else part
        labels[own] = part.labels + groups
        groups += part.n_groups
        if progress is not None:
            progress(int((strata <= stratum).sum()), len(points))
    return Partition(points, labels, model.k)


def joined(points: Float, partition: Partition, constraints: Sequence[Constraint], rows: Int) -> Partition:
    """The partition in which every group satisfies the constraints; `rows` are the numbers of the records.

    The first group that does not is joined with the group whose centroid is nearest, again and again.
    """
    labels = partition.labels.copy()
    group = 0
    while group <= labels.max():
        own = rows[labels == group]
        broken = next((each for each in constraints if not each.holds(own)), None)
        if broken is None:
            group += 1
            continue
        if labels.max() == 0:
            raise ShoalError(f"every group must have {broken}, and not even all records together have")
        centroids = means_of(points, labels)
        distances = ((centroids - centroids[group]) ** 2).sum(axis=1)
        distances[group] = np.inf
        nearest = int(distances.argmin())
        labels[labels == group] = nearest
        labels[labels > group] -= 1
        group = min(group, nearest - (nearest > group))
    return Partition(points, labels, partition.k)
