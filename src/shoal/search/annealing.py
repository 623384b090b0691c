"""Annealing of a region: groups are dissolved and formed anew while it cools.

What is left is put right by exchanges, and by chains and cycles of up to six records.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.engines import tell
from shoal.partition import compact, sse_of
from shoal.search.deadline import Deadline, now
from shoal.search.exchanges import Exchanges
from shoal.search.tuning import Tuning

if TYPE_CHECKING:
    from shoal.kernels.exchanges.recreate import State

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Begin = Callable[["Annealing", int], Int]
"""Called with the work and a seed: the labels of all records that a search begins with."""

_LEAST = 1e-12  # of the SSE: what a change has to gain


@dataclass(frozen=True)
class Effort:
    """How long a search takes: so many times the usual steps, or so many seconds if these are not infinite."""

    factor: float
    seconds: float


@dataclass(frozen=True)
class Search:
    """The task of one search: which records, how long, and from where if not from the groups as they are."""

    records: Int
    seed: int
    effort: Effort
    begin: Begin | None = None


@dataclass(frozen=True)
class Found:
    """What a search of a region ends with, in the region's own labels, and partitions on the way."""

    labels: Int
    snapshots: list[Int]


class Schedule:
    """How far a search is, how hot that makes it, how many steps are next."""

    def __init__(self, n: int, k: int, effort: Effort, hot: float, tuning: Tuning) -> None:
        self._hot, self._cold = hot, tuning.cold_at(k)
        self._steps = int(effort.factor * tuning.rebuilds_of(n, k))
        self._chunk = max(20, 40_000 // k**2)
        if effort.seconds < inf:
            self._chunk = max(2, self._chunk // 8)
        else:
            self._chunk = max(1, min(self._chunk, self._steps // (2 * tuning.snapshots)))
        self._seconds = effort.seconds
        self._began, self._done = now(), 0
        self.share = 0.0

    @property
    def heat(self) -> float:
        """The temperature now, as a part of what a group costs."""
        return float(self._hot * self._cold ** min(self.share, 1.0))

    def next_steps(self) -> int:
        """The steps to do next; `share` is how much will then be done, by time as it looks now."""
        if self._seconds == inf:
            self._done += self._chunk
            self.share = self._done / self._steps
        elif self._done == 0:
            self._done = self._chunk
            self.share = 1e-3
        else:
            spent = now() - self._began
            speed = self._done / max(spent, 1e-6)
            self._chunk = int(np.clip(speed * min(0.1, self._seconds / 100), 1, 1_000_000))
            self._done += self._chunk
            self.share = max(self.share, (spent + self._chunk / speed) / max(self._seconds, 1e-6))
        return self._chunk


@dataclass(frozen=True)
class Annealing:
    """The work of searching through a region, from the groups of a table."""

    X: Float
    k: int
    labels: Int
    hot: float
    deadline: Deadline
    tuning: Tuning

    def __call__(self, search: Search) -> Found:
        """Anneal the groups of a region, then put right what is left; tells of every step."""
        from shoal.kernels.exchanges.recreate import new_state

        labels = self.labels if search.begin is None else search.begin(self, search.seed)
        X, own = np.ascontiguousarray(self.X[search.records]), compact(labels[search.records])
        state = new_state(X, own, self.k, search.seed)
        if state.value[0] == 0.0:
            return Found(own, [])
        snapshots = self.cooled(state, Schedule(len(X), self.k, search.effort, self.hot, self.tuning))
        swept = swept_through(X, self.k, compact(state.best), self.tuning.sweeps)
        return Found(self.chained(X, swept), snapshots)

    def cooled(self, state: "State", schedule: Schedule) -> list[Int]:
        """Anneal until the schedule or time is over; partitions on the way, if the records are few."""
        from shoal.kernels.exchanges.local import new_local
        from shoal.kernels.exchanges.recreate import anneal

        n, tuning = len(state.label), self.tuning
        most = tuning.rebuilt_at(self.k)
        local = new_local(self.X.shape[1], self.k, most)
        best = error = float(state.value[0])
        snapshots: list[Int] = []
        while schedule.share < 1.0 and not self.deadline.over():
            heat = schedule.heat
            steps = schedule.next_steps()
            anneal(state, local, self.k, most, steps, heat, schedule.heat, _LEAST * error)
            if n <= tuning.few and schedule.share >= (1 + len(snapshots) / tuning.snapshots) / 2:
                snapshots.append(compact(state.label))
            better = n == len(self.X) and state.value[1] < best
            best = float(state.value[1])
            tell(compact(state.best) if better else None)
        return snapshots

    def chained(self, X: Float, labels: Int) -> Int:
        """The groups after chains and cycles of up to six records."""
        from shoal.kernels.exchanges.cycles import close_cycles, new_found, new_graph

        graph, found = new_graph(X, compact(labels), self.k), new_found(len(X))
        least = _LEAST * sse_of(X, labels)
        for _ in range(self.tuning.passes):
            tell()
            if self.deadline.over() or close_cycles(graph, found, self.k, least) == 0:
                break
        return graph.label.astype(np.int64)


def swept_through(X: Float, k: int, labels: Int, sweeps: int) -> Int:
    """The groups after rounds of exchanges."""
    for better, _ in Exchanges(k).rounds(X, labels, sweeps):
        labels = better
    return labels
