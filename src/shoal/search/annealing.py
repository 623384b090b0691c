"""Annealing of a region: groups are dissolved and formed anew while it cools.

What is left is put right by exchanges, and by chains and cycles of up to six records.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.engines import tell
from shoal.partition import compact, sse_of
from shoal.search.deadline import Looks, Stops
from shoal.search.exchanges import Exchanges
from shoal.search.tuning import Tuning

if TYPE_CHECKING:
    from shoal.kernels.exchanges.recreate import State

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Begin = Callable[["Annealing", int, Looks], Int]
"""Called with the work, a seed and the looks at the clock: the labels of all records that a search begins with."""

_DISTANCE = 3e-9  # seconds for a distance along an attribute in a pass of chains and cycles, about,
_PLACE = 2e-8  # for the place of a record in another group,
_PATHS = 5e-5  # and for the paths from one record
_SHORT = 0.5  # of the usual steps: with fewer, where time is limited, there are no chains
_LEAST = 1e-12  # of the SSE: what a change has to gain


@dataclass(frozen=True)
class Effort:
    """How long a search takes: so many times the usual steps; timed, it looks at the clock more often.

    Where `sweeps` and `passes` are given, these are the most rounds of exchanges and of chains that end it.
    """

    factor: float
    timed: bool
    sweeps: int | None = None
    passes: int | None = None


@dataclass(frozen=True)
class Search:
    """One search, by number: which records, how long, and from where if not from the groups as they are."""

    number: int
    records: Int
    seed: int
    effort: Effort
    begin: Begin | None = None


@dataclass(frozen=True)
class Found:
    """What a search of a region ends with, in its own labels, partitions on the way, and when time was up."""

    labels: Int
    snapshots: list[Int]
    stopped: int | None


class Schedule:
    """How far a search is, how hot that makes it, how many steps are next."""

    def __init__(self, n: int, k: int, effort: Effort, hot: float, tuning: Tuning) -> None:
        self._hot, self._cold = hot, tuning.cold_at(k)
        self._steps = max(1, int(effort.factor * tuning.rebuilds_of(n, k)))
        self._chunk = max(20, 40_000 // k**2)
        if effort.timed:
            self._chunk = max(2, self._chunk // 8)
        else:
            self._chunk = max(1, min(self._chunk, self._steps // (2 * tuning.snapshots)))
        self._done = 0
        self.share = 0.0

    @property
    def heat(self) -> float:
        """The temperature now, as a part of what a group costs."""
        return float(self._hot * self._cold ** min(self.share, 1.0))

    def next_steps(self) -> int:
        """The steps to do next; `share` is how much will then be done."""
        self._done += self._chunk
        self.share = self._done / self._steps
        return self._chunk


@dataclass(frozen=True)
class Annealing:
    """The work of searching through a region, from the groups of a table."""

    X: Float
    k: int
    labels: Int
    hot: float
    stops: Stops
    tuning: Tuning

    def __call__(self, search: Search) -> Found:
        """Anneal the groups of a region, then put right what is left; tells of every step."""
        from shoal.kernels.exchanges.recreate import new_state

        looks = self.stops.looks(search.number)
        labels = self.labels if search.begin is None else search.begin(self, search.seed, looks)
        X, own = np.ascontiguousarray(self.X[search.records]), compact(labels[search.records])
        if looks.over():
            return Found(own, [], looks.stopped)
        state = new_state(X, own, self.k, search.seed)
        if state.value[0] == 0.0:
            return Found(own, [], None)
        schedule = Schedule(len(X), self.k, search.effort, self.hot, self.tuning)
        snapshots = self.cooled(state, schedule, looks)
        effort = search.effort
        over = looks if effort.timed else None
        sweeps = self.tuning.sweeps if effort.sweeps is None else effort.sweeps
        swept = swept_through(X, self.k, compact(state.best), sweeps, over)
        passes = self.tuning.passes if effort.passes is None else effort.passes
        if passes == 0 or (effort.timed and effort.factor < _SHORT):
            return Found(swept, snapshots, looks.stopped)
        return Found(self.chained(X, swept, passes, looks), snapshots, looks.stopped)

    def cooled(self, state: "State", schedule: Schedule, looks: Looks) -> list[Int]:
        """Anneal until the schedule or time is over; partitions on the way, if the records are few."""
        from shoal.kernels.exchanges.local import new_local
        from shoal.kernels.exchanges.recreate import anneal

        n, tuning = len(state.label), self.tuning
        most = tuning.rebuilt_at(self.k)
        local = new_local(self.X.shape[1], self.k, most)
        best = error = float(state.value[0])
        snapshots: list[Int] = []
        while schedule.share < 1.0 and not looks.over():
            heat = schedule.heat
            steps = schedule.next_steps()
            anneal(state, local, self.k, most, steps, heat, schedule.heat, _LEAST * error)
            if n <= tuning.few and schedule.share >= (1 + len(snapshots) / tuning.snapshots) / 2:
                snapshots.append(compact(state.label))
            better = n == len(self.X) and state.value[1] < best
            best = float(state.value[1])
            tell(compact(state.best) if better else None)
        return snapshots

    def chained(self, X: Float, labels: Int, passes: int, looks: Looks) -> Int:
        """The groups after chains and cycles of up to six records."""
        from shoal.kernels.exchanges.cycles import GROUPS, close_cycles, new_found, new_graph

        if looks.stopped is not None:
            return labels
        graph, found = new_graph(X, compact(labels), self.k), new_found(len(X))
        places = GROUPS * self.k
        needed = len(X) * (_DISTANCE * X.shape[1] * (len(graph.size) + places) + _PLACE * places + _PATHS)
        least = _LEAST * sse_of(X, labels)
        for _ in range(passes):
            tell()
            if looks.over(needed) or close_cycles(graph, found, self.k, least) == 0:
                break
        return graph.label.astype(np.int64)


def swept_through(X: Float, k: int, labels: Int, sweeps: int, looks: Looks | None = None) -> Int:
    """The groups after rounds of exchanges, or as far as these come in time."""
    if looks is not None and looks.over():
        return labels
    exchanges = Exchanges(k, looks=None if looks is None else lambda _: looks)
    for better, _ in exchanges.rounds(X, labels, sweeps):
        labels = better
        if looks is not None and looks.over():
            break
    return labels
