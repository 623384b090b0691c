"""From points to groups: the one step between the points of a table and the values of its release.

Whatever is demanded of groups beside their size is met here, for every method, for a table in memory and for the
blocks of a stream: groups that never cross a border (strata), and constraints that every group must satisfy. A
method itself knows of k only.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator
from shoal.parameters import Progress
from shoal.partition import Partition

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
    rows: Int | None = None,
    strata: Int | None = None,
    record_weights: Float | None = None,
    constraints: Sequence[Constraint] = (),
    progress: Progress | None = None,
) -> Partition:
    """Fit a method to the points and see to what else is demanded of its groups.

    Parameters
    ----------
    model : the method, whose k is that of the groups; fitted afterwards, to the largest stratum of several
    points : array of shape (n, m)
    rows : the numbers of the records in the whole table, by which constraints know them; from 0 on where not given
    strata : the part of the table that each record belongs to, by number; no group has records of two
    record_weights : how many people each record stands for
    constraints : what every group must satisfy; a group that does not is joined with the nearest one
    progress : called now and then with (records grouped so far, records in all)
    """
    if record_weights is not None:
        raise ShoalError("records cannot have weights yet; leave record_weights out")
    rows = np.arange(len(points)) if rows is None else rows
    if strata is None:
        partition = model.fit(points, progress=progress).partition_
        return joined(points, partition, constraints, rows, "all records")
    numbers, sizes = np.unique(strata, return_counts=True)
    parts: dict[int, Partition] = {}
    interrupted, done = False, 0
    # The largest comes last: what the fitted method says of itself is then said of most records.
    for place in np.argsort(sizes, kind="stable").tolist():
        own, called = np.flatnonzero(strata == numbers[place]), f"stratum {numbers[place]}"
        if len(own) < model.k:
            raise ShoalError(f"{called} has {len(own)} records, fewer than k={model.k}; join it with another")
        parts[place] = joined(points[own], model.fit(points[own]).partition_, constraints, rows[own], called)
        interrupted |= getattr(model, "interrupted_", False)
        done += len(own)
        if progress is not None:
            progress(done, len(points))
    labels, groups = np.empty(len(points), np.int64), 0
    for place, number in enumerate(numbers):
        labels[strata == number] = parts[place].labels + groups
        groups += parts[place].n_groups
    if interrupted:
        model.interrupted_ = True
    return Partition(points, labels, model.k)


def joined(
    points: Float, partition: Partition, constraints: Sequence[Constraint], rows: Int, called: str
) -> Partition:
    """The partition in which every group satisfies the constraints; the records have these numbers and this name.

    The first group that does not is joined with the group whose centroid is nearest, again and again.
    """
    members = np.split(np.argsort(partition.labels, kind="stable"), np.cumsum(partition.sizes)[:-1])
    centroids = partition.centroids.copy()
    waiting = [group for group in range(len(members)) if broken_by(rows[members[group]], constraints)]
    if not waiting:
        return partition
    there = np.ones(len(members), bool)
    for group in waiting:
        while there[group] and (broken := broken_by(rows[members[group]], constraints)):
            if there.sum() == 1:
                raise ShoalError(f"every group must have {broken}, and not even {called} together have")
            distances = np.where(there, ((centroids - centroids[group]) ** 2).sum(axis=1), np.inf)
            distances[group] = np.inf
            nearest = int(distances.argmin())
            there[nearest] = False
            members[group] = np.concatenate([members[group], members[nearest]])
            centroids[group] = points[members[group]].mean(axis=0)
    labels = np.empty(len(points), np.int64)
    for number, group in enumerate(np.flatnonzero(there).tolist()):
        labels[members[group]] = number
    return Partition(points, labels, partition.k)


def broken_by(records: Int, constraints: Sequence[Constraint]) -> Constraint | None:
    """The first constraint that a group does not satisfy, if there is one."""
    return next((each for each in constraints if not each.holds(records)), None)
