"""Groups under any demands: what breaks a promise is put right, and annealing goes on from there.

Both work with weights of records, counts of persons and privacy models at once, and with groups of any size.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.engines import tell
from shoal.partition import below_one, compact, sse_of
from shoal.search.deadline import Stops
from shoal.search.exchanges import NEIGHBOURS
from shoal.search.weighted import Demands, WeightedExchanges

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_COLD = 0.02  # of the mean error of a record: the heat at the end
STAGES = 60
"""Heats of a search."""

_LAST = 12  # rounds of exchanges at its end, at the most


def repaired(X: Float, labels: Int, weights: Float | None, demands: Demands) -> Int:
    """The groups with those put right that break a promise: by exchanges and mergers with near ones."""
    if demands.rules is None or not len(demands.rules.broken(labels)):
        return labels
    from shoal.kernels.exchanges.repair import repaired_groups

    own = np.ones(len(X)) if weights is None else below_one(weights)
    everyone = np.arange(len(X))
    made = repaired_groups(
        X, labels, own, demands.counts, demands.least_count, demands.least_records, NEIGHBOURS,
        demands.compiled_rules(everyone),
    )  # fmt: skip
    return compact(made.astype(np.int64))


class Cooled(NamedTuple):
    """The task of one search, by number: which records, a seed and the heat that it begins with."""

    number: int
    records: Int
    seed: int
    heat: float


@dataclass(frozen=True)
class Cooling:
    """The work of annealing a region, from the groups of a table.

    Attributes
    ----------
    X : the points of all records
    labels : their groups
    weights : what each record counts for in the error
    demands : what every group must have
    steps : random changes for each record
    stages : the heats of a search
    stops : when searches end, at the latest
    """

    X: Float
    labels: Int
    weights: Float
    demands: Demands
    steps: float
    stages: int
    stops: Stops

    def __call__(self, task: Cooled) -> tuple[Int, int | None]:
        """The groups of a region in its own labels, never worse, and the look at which time was up."""
        from shoal.kernels.exchanges.cooling import cool
        from shoal.kernels.exchanges.weighted import lists_of_neighbours, new_weighed

        number, records, seed, hot = task
        looks = self.stops.looks(number)
        X, own = np.ascontiguousarray(self.X[records]), compact(self.labels[records])
        weights = below_one(self.weights[records]) if self.weights[records].any() else self.weights[records]
        part = Demands(
            self.demands.counts[records], self.demands.least_count, self.demands.least_records,
            None if self.demands.rules is None else self.demands.rules.part(records),
        )  # fmt: skip
        state = new_weighed(
            X, own, weights, part.counts, part.least_count, part.least_records, NEIGHBOURS,
            part.compiled_rules(np.arange(len(records))),
        )  # fmt: skip
        best, error = own, float(state.error.sum())
        if error == 0.0 or looks.over():
            return own, looks.stopped
        mean, drawn = error / len(X), np.array([seed * 2 + 88172645463325253], np.uint64)
        chunk = max(1, int(self.steps * len(X) / self.stages))
        share = 0.0
        while share < 1.0 and not looks.over():
            found = float(cool(state, chunk, mean * hot * (_COLD / hot) ** share, drawn))
            if found < error:
                best, error = compact(state.label.astype(np.int64)), found
            near = lists_of_neighbours(state, NEIGHBOURS)[:, : state.near.shape[1]]
            state.near[:] = -1
            state.near[:, : near.shape[1]] = near
            share += 1 / self.stages
            tell()
        exchanges = WeightedExchanges(part.least_count, looks=lambda _: looks, weights=weights, demands=part)
        for better, _ in exchanges.rounds(X, best, _LAST):
            best = better
            if looks.over():
                break
        return best if sse_of(X, best, weights) < sse_of(X, own, weights) else own, looks.stopped
