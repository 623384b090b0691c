"""Rounds of exchanges between groups of weighted records, as in `exchanges.py`, for other demands on groups too.

A demand is a least total of counts, a least number of records, and privacy models. Where only weights differ,
every record counts 1; where households are counted in persons, each counts its persons.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError, some
from shoal.partition import below_one, checked_labels, checked_weights, sse_of
from shoal.privacy.rules import Rules
from shoal.search.deadline import LooksOf
from shoal.search.exchanges import NEIGHBOURS, Exchanges, Improved, Region, improved, side_by_side, unswept

if TYPE_CHECKING:
    from shoal.kernels.promises.rules import Rules as Compiled

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def exchanged(X: Float, labels: Int, weights: Float, demands: "Demands", rounds: int) -> Int:
    """The labels after rounds of exchanges, which never raise the weighted SSE.

    Parameters
    ----------
    X : array of shape (n, m)
    labels : the group of each record, from 0 on without gaps; every group satisfies the demands
    weights : what each record counts for in the SSE, finite and not negative
    demands : what every group must have
    rounds : the most rounds; a round that brings nothing is the last
    """
    labels = checked_labels(labels, len(X))
    demands.check(labels)
    exchanges = WeightedExchanges(demands.least_count, weights=checked_weights(weights, X), demands=demands)
    for better, _ in exchanges.rounds(X, labels, rounds):
        labels = better
    return labels


@dataclass(frozen=True)
class Demands:
    """What every group must have."""

    counts: Int
    least_count: int
    least_records: int
    rules: Rules | None = None
    """The privacy models that it must satisfy; the records are their units."""

    def compiled_rules(self, records: Int) -> "Compiled":
        """The models of some records, as kernels take them."""
        from shoal.kernels.promises.rules import no_rules

        return no_rules(len(records)) if self.rules is None else self.rules.compiled_for(records)

    def check(self, labels: Int) -> None:
        """Raise an error if a group has less."""
        if self.least_count < 1 or self.least_records < 1:
            raise ShoalError("a group must have a count and a number of records of at least 1")
        checked_counts(self.counts, len(labels))
        totals, sizes = np.zeros(int(labels.max()) + 1, np.int64), np.bincount(labels)
        np.add.at(totals, labels, self.counts)
        small = np.flatnonzero((totals < self.least_count) | (sizes < self.least_records))
        if len(small):
            raise ShoalError(
                f"groups with less than a count of {self.least_count} and {self.least_records} records: "
                + some(f"group {g} has {totals[g]} and {sizes[g]}" for g in small)
            )


def alike(n: int, k: int, rules: Rules | None = None) -> Demands:
    """The demand of k records, all of which count alike."""
    return Demands(np.ones(n, np.int64), k, 1, rules)


def checked_counts(counts: Int, n: int) -> Int:
    """The counts as int64, if there is one for each record, a whole number of at least 0."""
    given = np.asarray(counts)
    if given.shape != (n,) or given.dtype.kind not in "iu" or (n and given.min() < 0):
        raise ShoalError(f"counts must be whole numbers of at least 0, one for each of {n} records")
    return given.astype(np.int64)


@dataclass(frozen=True)
class WeightedExchanges(Exchanges):
    """As `Exchanges`, with the weighted SSE and any demands on groups; k only says how large regions are."""

    weights: Float = field(kw_only=True)
    demands: Demands = field(kw_only=True)

    def _error(self, X: Float, labels: Int, centroids: Float | None) -> float:
        return sse_of(X, labels, self.weights)

    def _work(self, X: Float, labels: Int, centroids: Float, least: float) -> Callable[[Region], Improved]:
        exponent = int(np.frexp(self.weights.max())[1])
        weights = below_one(self.weights)
        return WeightedSweeping(
            X, labels, centroids, weights, self.demands, float(np.ldexp(least, -exponent)), self.looks
        )


def exchanges_for(k: int, n_jobs: int, weights: Float | None, demands: Demands | None = None) -> Exchanges:
    """Rounds of exchanges between groups of at least k records, weighted if they have weights.

    `demands` are those of groups beside their size.
    """
    if demands is not None:
        n = len(demands.counts)
        return WeightedExchanges(k, n_jobs, weights=np.ones(n) if weights is None else weights, demands=demands)
    if weights is None:
        return Exchanges(k, n_jobs)
    return WeightedExchanges(k, n_jobs, weights=weights, demands=alike(len(weights), k))


@dataclass(frozen=True)
class WeightedSweeping:
    """The work of improving a region."""

    X: Float
    labels: Int
    centroids: Float
    weights: Float  # below 1
    demands: Demands
    least: float
    looks: LooksOf | None = None

    def __call__(self, region: Region) -> Improved:
        """The region's records and their groups."""
        from shoal.kernels.exchanges.regroup import weighted_sweep

        looks = None if self.looks is None else self.looks(region.number)
        if looks is not None and looks.over():
            return unswept(self.X, region, self.labels, looks)
        records, own = side_by_side(region, self.labels, self.centroids)
        rows = self.X[records]
        part = weighted_sweep(
            rows,
            own,
            self.weights[records],
            self.demands.counts[records],
            self.demands.least_count,
            self.demands.least_records,
            NEIGHBOURS,
            self.least,
            self.demands.compiled_rules(records),
            None if looks is None else looks.over,
        )
        return improved(records, rows, part, looks)
