"""From points to groups: the one step between the points of a table and the values of its release.

Whatever is demanded of groups beside their size is met here, for every method, for a table in memory and for the
blocks of a stream: records that stay together because they are of one person or household (units), groups that
never cross a border (strata), and privacy models that every group must satisfy (rules). Most methods know of k
only: they group units by the means of their records, and what then breaks a promise is put right.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator
from shoal.parameters import Progress
from shoal.partition import Partition, means_of, sse_of
from shoal.privacy.rules import Rules, check_feasible
from shoal.protocol import unfitted
from shoal.search.promised import repaired
from shoal.search.weighted import Demands, exchanged
from shoal.wrapper import Wrapper

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_ROUNDS = 3  # of exchanges after groups of households were made large enough


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
    strata: Int | None = None,
    record_weights: Float | None = None,
    units: Units | None = None,
    rules: Rules | None = None,
    parts: Sequence[str] | None = None,
    progress: Progress | None = None,
) -> Partition:
    """Fit a method to the points and see to what else is demanded of its groups.

    Parameters
    ----------
    model : the method, whose k is that of the groups; fitted afterwards, to the largest stratum of several
    points : array of shape (n, m)
    strata : the part of the table that each record belongs to, by number; no group has records of two
    record_weights : how many people each record stands for; a method without a weighted form does not see them
    units : records that stay together, and what k counts; the records of a unit must be of one stratum
    rules : the privacy models that every group must satisfy, on the same units
    parts : what errors call the strata, in the order of their numbers; by default they are called by these
    progress : called now and then with (records grouped so far, records in all)
    """
    if units is None:
        found = labels_of(model, points, strata, record_weights, None, rules, parts, progress)
    else:
        first = np.unique(units.of, return_index=True)[1]
        own = gathered(points, record_weights, units.of, None if strata is None else strata[first])
        found = labels_of(model, *own, units, rules, parts, progress).of(units.of)
    if rules is not None:
        model.__dict__.pop("unruled_sse_", None)  # that of one stratum, or of the means of units
        if found.free is not None:
            model.unruled_sse_ = sse_of(points, found.free)
    return Partition(points, found.labels, model.k)


class Labels(NamedTuple):
    """The group of each unit, and its group without privacy models, where that is known."""

    labels: Int
    free: Int | None

    def of(self, units: Int) -> "Labels":
        """The groups of the records of units."""
        return Labels(self.labels[units], None if self.free is None else self.free[units])


def gathered(
    points: Float, weights: Float | None, units: Int, strata: Int | None
) -> tuple[Float, Int | None, Float]:
    """The points of units, which are the weighted means of those of their records, their strata and weights."""
    totals = np.bincount(units, weights).astype(np.float64)
    return means_of(points, units, weights), strata, totals


def labels_of(
    model: Microaggregator,
    points: Float,
    strata: Int | None,
    weights: Float | None,
    units: Units | None,
    rules: Rules | None,
    names: Sequence[str] | None,
    progress: Progress | None,
) -> Labels:
    """The group of each unit, in groups that do not cross the borders of strata."""
    if strata is None:
        counts = None if units is None else units.counts
        return stratum_labels(model, points, weights, units, counts, rules, "the whole table", progress)
    numbers, sizes = np.unique(strata, return_counts=True)
    parts: dict[int, Labels] = {}
    steps: list[list[dict[str, Any]] | None] = []
    interrupted, done = False, 0
    # The largest comes last: what the fitted method says of itself is then said of most records.
    for place in np.argsort(sizes, kind="stable").tolist():
        own = np.flatnonzero(strata == numbers[place])
        called = f"stratum {numbers[place]}" if names is None else names[place]
        if units is None and len(own) < model.k:
            raise ShoalError(
                f"stratum {numbers[place]} has {len(own)} records, fewer than k={model.k}; join it with another"
            )
        with own_time(model, place, len(own) / len(points)):
            parts[place] = stratum_labels(
                model, points[own], None if weights is None else weights[own], units,
                None if units is None or units.counts is None else units.counts[own],
                None if rules is None else rules.part(own), called, None,
            )  # fmt: skip
        steps.append(own_steps(model, place))
        interrupted |= getattr(model, "interrupted_", False)
        done += len(own)
        if progress is not None:
            progress(done, len(points))
    if interrupted:
        model.interrupted_ = True
    if hasattr(model, "steps_"):
        model.steps_ = None if None in steps else [step for each in steps if each for step in each]
    labels = put_together([parts[place].labels for place in range(len(numbers))], strata, numbers)
    free = [each for place in range(len(numbers)) if (each := parts[place].free) is not None]
    return Labels(labels, put_together(free, strata, numbers) if len(free) == len(numbers) else None)


@contextmanager
def own_time(model: Microaggregator, part: int, share: float) -> Iterator[None]:
    """Where the time of a method is limited, a stratum has its share, or repeats its own steps."""
    limits = "seconds", "steps"  # some methods have one of them, which then means something else
    limited = all(hasattr(model, name) for name in limits)
    asked = {name: getattr(model, name) for name in limits} if limited else {}
    seconds, given = asked.get("seconds"), asked.get("steps")
    if limited:
        steps = None if given is None else [step for step in given if step.get("part") == part]
        model.set_params(seconds=None if seconds is None else seconds * share, steps=steps)
    try:
        yield
    finally:
        model.set_params(**asked)


def own_steps(model: Microaggregator, part: int) -> list[dict[str, Any]] | None:
    """What a method did in the time of a stratum."""
    steps = getattr(model, "steps_", None)
    return None if steps is None else [step | {"part": part} for step in steps]


def put_together(parts: Sequence[Int], strata: Int, numbers: Int) -> Int:
    """The groups of all strata under one numbering."""
    labels, groups = np.empty(len(strata), np.int64), 0
    for part, number in zip(parts, numbers, strict=True):
        labels[strata == number] = part + groups
        groups += int(part.max()) + 1
    return labels


def stratum_labels(
    model: Microaggregator,
    points: Float,
    weights: Float | None,
    units: Units | None,
    counts: Int | None,
    rules: Rules | None,
    called: str,
    progress: Progress | None,
) -> Labels:
    """The groups of one stratum; counts and rules are those of its units."""
    if rules is not None:
        check_feasible(rules, called)
    if counts is None:
        demands = Demands(np.ones(len(points), np.int64), model.k, 1, rules)
        made = fitted(model, points, weights, rules, progress)
        return Labels(repaired(points, made.labels, weights, demands), made.free)
    assert units is not None
    demands = Demands(counts, model.k, units.least, rules)
    fewest = max(units.least, -(-model.k * len(points) // int(counts.sum())))
    smaller = with_k(model, min(fewest, len(points)))
    made = fitted(smaller, points, weights, rules, progress)
    for name, value in vars(smaller).items():  # what it says of itself is said of the method that was asked for
        if name.endswith("_") and not name.startswith("_"):
            setattr(model, name, value)
    labels = repaired(points, joined(points, made.labels, demands, called), weights, demands)
    mass = np.ones(len(points)) if weights is None else weights
    return Labels(exchanged(points, labels, mass, demands, _ROUNDS), None)


def fitted(
    model: Microaggregator,
    points: Float,
    weights: Float | None,
    rules: Rules | None,
    progress: Progress | None,
) -> Labels:
    """The groups of a method, which sees weights and rules if it knows of them and not all weights are 0."""
    blind = weights is None or not weights.any() or not model.takes_weights
    own = rules if model.ruled else None
    model.fit(points, sample_weight=None if blind else weights, rules=own, progress=progress)
    return Labels(model.labels_, getattr(model, "unruled_labels_", None) if model.ruled else model.labels_)


def with_k(model: Microaggregator, k: int) -> Microaggregator:
    """An unfitted copy of a method with another k."""
    fresh: Microaggregator = unfitted(model)
    inside = fresh
    while isinstance(inside, Wrapper):
        if inside.method is None:
            inside.set_params(method=unfitted(inside._inside))
        assert inside.method is not None
        inside = inside.method
    inside.set_params(k=k)
    return fresh


def joined(points: Float, labels: Int, demands: Demands, called: str) -> Int:
    """The labels of groups that all have enough persons in enough households.

    The first group that has not is joined with the group whose centroid is nearest, again and again.
    """
    sizes = np.bincount(labels)
    members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])

    def lacks(group: int) -> bool:
        own = members[group]
        return len(own) < demands.least_records or int(demands.counts[own].sum()) < demands.least_count

    waiting = [group for group in range(len(members)) if lacks(group)]
    if not waiting:
        return labels
    centroids = means_of(points, labels)
    there = np.ones(len(members), bool)
    for group in waiting:
        while there[group] and lacks(group):
            if there.sum() == 1:
                raise ShoalError(
                    f"every group must have {demands.least_count} persons in {demands.least_records} households, "
                    f"and not even {called} has"
                )
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
