"""From points to groups: the one step between the points of a table and the values of its release.

Whatever is demanded of groups beside their size is met here, for every method, for a table in memory and for the
blocks of a stream: records that stay together because they are of one person or household (units), groups that
never cross a border (strata), and constraints that every group must satisfy. A method itself knows of k only: it
groups units by the means of their records.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator
from shoal.parameters import Progress
from shoal.partition import Partition, means_of
from shoal.search.weighted import exchanged
from shoal.wrapper import Wrapper

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_ROUNDS = 3  # of exchanges after groups of households were made large enough


class Constraint(Protocol):
    """What a group must satisfy beside its size. What holds for a group must hold for every larger one."""

    def holds(self, records: Int) -> bool:
        """Whether a group of these records may be released."""

    def __str__(self) -> str:
        """The demand in words, after "every group must have": "two different diagnoses"."""


@dataclass(frozen=True, eq=False)
class Units:
    """Records that stay together, such as those of a person.

    Attributes
    ----------
    of : the unit of each record, by number from 0 on
    counts : how much each unit counts towards k, such as the persons of a household; 1 each where it is None
    least : the least number of units in a group
    """

    of: Int
    counts: Int | None = None
    least: int = 1


def grouped(
    model: Microaggregator,
    points: Float,
    *,
    rows: Int | None = None,
    strata: Int | None = None,
    record_weights: Float | None = None,
    units: Units | None = None,
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
    record_weights : how many people each record stands for; a method without a weighted form does not see them
    units : records that stay together, and what k counts; the records of a unit must be of one stratum
    constraints : what every group must satisfy; a group that does not is joined with the nearest one
    progress : called now and then with (records grouped so far, records in all)
    """
    rows = np.arange(len(points)) if rows is None else rows
    if units is None:
        own = [Rows(each, rows) for each in constraints]
        labels = labels_of(model, points, strata, record_weights, None, own, progress)
        return Partition(points, labels, model.k)
    order = np.argsort(units.of, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(units.of))])
    first = order[starts[:-1]]
    labels = labels_of(
        model,
        *gathered(points, record_weights, units.of, None if strata is None else strata[first]),
        units,
        [UnitRows(each, rows, order, starts) for each in constraints],
        progress,
    )
    return Partition(points, labels[units.of], model.k)


def gathered(
    points: Float, weights: Float | None, units: Int, strata: Int | None
) -> tuple[Float, Int | None, Float]:
    """The points of units, which are the weighted means of those of their records, their strata and weights."""
    totals: Float
    if weights is None:
        totals = np.bincount(units).astype(np.float64)
        return means_of(points, units), strata, totals
    totals = np.bincount(units, weights).astype(np.float64)
    shares = np.where(totals[units] > 0, weights, 1.0)  # records of a unit without any weight count alike
    sums = np.column_stack([np.bincount(units, shares * column) for column in points.T])
    return np.ascontiguousarray(sums / np.bincount(units, shares)[:, None]), strata, totals


@dataclass(frozen=True, eq=False)
class Rows:
    """A constraint on records that have other numbers in the whole table."""

    constraint: Constraint
    rows: Int

    def holds(self, records: Int) -> bool:
        """Whether it holds for these records."""
        return self.constraint.holds(self.rows[records])

    def __str__(self) -> str:
        return str(self.constraint)


@dataclass(frozen=True, eq=False)
class UnitRows(Rows):
    """A constraint on the records of units; unit u has the records order[starts[u]:starts[u + 1]]."""

    order: Int
    starts: Int

    def holds(self, records: Int) -> bool:
        """Whether it holds for the records of these units."""
        own = [self.order[self.starts[unit] : self.starts[unit + 1]] for unit in records.tolist()]
        return super().holds(np.concatenate(own))


@dataclass(frozen=True, eq=False)
class Enough:
    """So many persons in so many households."""

    counts: Int
    k: int
    least: int

    def holds(self, records: Int) -> bool:
        """Whether these households have as many persons."""
        return len(records) >= self.least and int(self.counts[records].sum()) >= self.k

    def __str__(self) -> str:
        return f"{self.k} persons in {self.least} households"


def labels_of(
    model: Microaggregator,
    points: Float,
    strata: Int | None,
    weights: Float | None,
    units: Units | None,
    constraints: Sequence[Constraint],
    progress: Progress | None,
) -> Int:
    """The group of each unit, in groups that do not cross the borders of strata."""
    if strata is None:
        everyone = np.arange(len(points))
        return stratum_labels(model, points, weights, units, constraints, everyone, "all records", progress)
    numbers, sizes = np.unique(strata, return_counts=True)
    parts: dict[int, Int] = {}
    interrupted, done = False, 0
    # The largest comes last: what the fitted method says of itself is then said of most records.
    for place in np.argsort(sizes, kind="stable").tolist():
        own, called = np.flatnonzero(strata == numbers[place]), f"stratum {numbers[place]}"
        if units is None and len(own) < model.k:
            raise ShoalError(f"{called} has {len(own)} records, fewer than k={model.k}; join it with another")
        parts[place] = stratum_labels(
            model, points[own], None if weights is None else weights[own], units, constraints, own, called, None
        )
        interrupted |= getattr(model, "interrupted_", False)
        done += len(own)
        if progress is not None:
            progress(done, len(points))
    labels, groups = np.empty(len(points), np.int64), 0
    for place, number in enumerate(numbers):
        labels[strata == number] = parts[place] + groups
        groups += int(parts[place].max()) + 1
    if interrupted:
        model.interrupted_ = True
    return labels


def stratum_labels(
    model: Microaggregator,
    points: Float,
    weights: Float | None,
    units: Units | None,
    constraints: Sequence[Constraint],
    own: Int,
    called: str,
    progress: Progress | None,
) -> Int:
    """The groups of one stratum, whose units have these numbers."""
    if units is None or units.counts is None:
        partition = fitted(model, points, weights, progress)
        return joined(points, partition.labels, constraints, own, called)
    counts = units.counts[own]
    fewest = max(units.least, -(-model.k * len(own) // int(counts.sum())))
    smaller = with_k(model, min(fewest, len(own)))
    labels = fitted(smaller, points, weights, progress).labels
    if getattr(smaller, "interrupted_", False):
        model.interrupted_ = True
    labels = joined(points, labels, [Enough(counts, model.k, units.least)], np.arange(len(own)), called)
    mass = np.ones(len(own)) if weights is None else weights
    labels = exchanged(points, labels, mass, counts, model.k, units.least, _ROUNDS)
    return joined(points, labels, constraints, own, called)


def fitted(model: Microaggregator, points: Float, weights: Float | None, progress: Progress | None) -> Partition:
    """The groups of a method, which sees the weights if it has a weighted form and not all of them are 0."""
    if weights is None or not weights.any() or not model.takes_weights:
        return model.fit(points, progress=progress).partition_
    return model.fit(points, sample_weight=weights, progress=progress).partition_


def with_k(model: Microaggregator, k: int) -> Microaggregator:
    """An unfitted copy of a method with another k."""
    fresh: Microaggregator = clone(model)
    inside = fresh
    while isinstance(inside, Wrapper):
        if inside.method is None:
            inside.set_params(method=clone(inside._inside))
        assert inside.method is not None
        inside = inside.method
    inside.set_params(k=k)
    return fresh


def joined(points: Float, labels: Int, constraints: Sequence[Constraint], rows: Int, called: str) -> Int:
    """The labels of groups that all satisfy the constraints; the records have these numbers and this name.

    The first group that does not is joined with the group whose centroid is nearest, again and again.
    """
    sizes = np.bincount(labels)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
    waiting = [group for group in range(len(members)) if broken_by(rows[members[group]], constraints)]
    if not waiting:
        return labels
    centroids = means_of(points, labels)
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
    new = np.empty(len(points), np.int64)
    for number, group in enumerate(np.flatnonzero(there).tolist()):
        new[members[group]] = number
    return new


def broken_by(records: Int, constraints: Sequence[Constraint]) -> Constraint | None:
    """The first constraint that a group does not satisfy, if there is one."""
    return next((each for each in constraints if not each.holds(records)), None)
