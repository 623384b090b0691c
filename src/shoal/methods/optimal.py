"""Optimal microaggregation: the partition with the least SSE, and the proof that there is no better one.

A good partition comes from MDAV, exchanges and annealing. Prices of the records, the dual of set partitioning,
bound every partition from below; what the two leave open is searched through. The proof is complete for small
tables; otherwise what was found is returned with the bound and the gap between them.

Guarantee: the SSE is the least possible, up to a relative 1e-9, where `proven_` is true; else at most
`gap_` of it could be saved. Groups have k to 2k - 1 records.
Cost: exponential at worst; optimal microaggregation is NP-hard in more than one dimension.

Reference: the size of optimal groups: J. Domingo-Ferrer and J. M. Mateo-Sanz, Practical data-oriented
microaggregation for statistical disclosure control, IEEE Transactions on Knowledge and Data Engineering 14 (2002)
189-201. One attribute: S. L. Hansen and S. Mukherjee, A polynomial algorithm for optimal univariate
microaggregation, same journal 15 (2003) 1043-1044.
"""

import warnings
from dataclasses import dataclass
from itertools import pairwise
from math import comb, inf
from time import monotonic
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.closing import collect, sharpen, through
from shoal.bounds.generation import MARGIN, Generation
from shoal.bounds.lower import exponent_of, lower_ldexp
from shoal.bounds.master import Duals
from shoal.bounds.points import Points
from shoal.bounds.shares import halved
from shoal.errors import ShoalError, ShoalWarning
from shoal.estimator import Microaggregator, Progress
from shoal.methods.cbfs import CBFS
from shoal.methods.mdav import MDAV
from shoal.parameters import Maybe, Number, Rule, Whole
from shoal.partition import renumbered, sse_of_differences
from shoal.search.axes import on_fewer_axes
from shoal.search.exchanges import Exchanges
from shoal.steps.line import optimal_groups

Float = NDArray[np.float64]
Int = NDArray[np.int64]

TOLERANCE = 1e-9
"""Partitions whose SSE differs by less than this part of it count as equally good."""

_ANY_K = 28  # up to so many records every k is proven in seconds
_MOST_RECORDS = 100  # above _ANY_K, a problem without a time limit has at most so many records
_MOST_GROUPS = 10_000_000  # and so many groups of k
_MATRIX = 1500  # up to so many records the distances of all pairs are held, 18 MB at most
_LINE = 1e9  # the most n * k for which one attribute is cut by dynamic programming
_HALVE = 28  # up to so many records the divisions into two are all looked at
_SWEEPS = 20  # rounds of exchanges, at most
_REBUILDS = 1500  # how often groups are formed anew before the proof, per record, divided by the square of k
_REBUILT = 8  # neighbouring groups that are formed anew together, at most
_ROOM = 2_400  # records of those, at most, unless two groups have more
_LARGEST = 1_000  # the largest k whose groups are formed anew
_BATCHES = 20  # of that, between two looks at the clock
_HOT, _COLD = 0.3, 0.003  # of what a group costs: the heat at first and in the end
_MOST_COLUMNS = 1_000_000  # groups that a search can choose from
_CUT_COLUMNS = 30_000  # groups that can be told apart by cuts
_NODES_IN_HASTE = 5_000_000  # steps of the search for the groups of one record, half a second
_NODES_AT_MOST = 10**9
_TINY = 1e-290  # an SSE below this is zero


class Optimal(Microaggregator):
    """The optimum, with its proof (set partitioning with prices).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    seconds : float, optional
        When to stop; the best partition found by then is returned with the proven bound. None goes on to the
        proof, and is an error where that may be hopeless: above 28 records, if they are more than 100 or have more
        than ten million groups of k. With fewer than 2k records or one varying attribute there is no limit.

    Attributes
    ----------
    lower_bound_ : no partition has a lower SSE
    gap_ : what could still be saved, (SSE - bound) / SSE; 0.0 where the optimum is proven
    proven_ : whether the SSE is the least possible, up to a relative 1e-9

    Notes
    -----
    Without `seconds`, or where the proof is complete before, the groups do not depend on time. Interrupted
    (Ctrl-C), it returns the best partition found so far. Among partitions whose SSE differs by less than 1e-9
    of it, the one found first is kept. Groups are numbered in the order of their first records.
    """

    name = "optimal"
    family = "everyday"
    idea = "the least possible SSE, with its proof; small tables"
    cost = "exponential; seconds for 28 records at any k, for 100 at k = 3"
    reference = "Domingo-Ferrer and Mateo-Sanz 2002; Hansen and Mukherjee 2003"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "seconds": Maybe(Number(0))}

    def __init__(self, k: int = 3, seconds: float | None = None) -> None:
        self.k = k
        self.seconds = seconds

    def _group(self, X: Float, progress: Progress | None) -> Int:
        deadline = inf if self.seconds is None else monotonic() + self.seconds
        varying = X[:, X.min(axis=0) < X.max(axis=0)]
        exponent = exponent_of(varying)
        points = np.ascontiguousarray(np.ldexp(varying, -exponent) + 0.0)
        if self.seconds is None:
            refuse_hopeless(len(X), points.shape[1], self.k)
        search = Search(points, self.k, deadline, progress)
        self.interrupted_ = False
        try:
            search.run()
        except KeyboardInterrupt:
            if search.upper == inf:
                raise
            self.interrupted_ = True
            warnings.warn("interrupted: these are the best groups found so far", ShoalWarning, stacklevel=4)
        self.proven_ = search.proven
        self.gap_ = 0.0 if self.proven_ else (search.upper - search.lower) / search.upper
        sse = search.upper if self.proven_ else search.lower
        self.lower_bound_ = lower_ldexp(sse * (1 - TOLERANCE), 2 * exponent)
        if progress is not None:
            progress(len(X), len(X))
        return renumbered(search.labels)


def refuse_hopeless(n: int, varying: int, k: int) -> None:
    """An error for a problem whose proof may take for ever."""
    if n <= max(_ANY_K, 2 * k - 1) or varying <= 1:
        return
    if n > _MOST_RECORDS or comb(n, k) > _MOST_GROUPS:
        raise ShoalError(
            f"the optimum of {n} records at k={k} may take for ever; "
            "give a time limit, such as seconds=60, or choose another method, such as mdav"
        )


@dataclass
class Search:
    """The best partition so far, `labels` with the SSE `upper`, and what is proven, `lower`."""

    X: Float
    k: int
    deadline: float
    progress: Progress | None
    upper: float = inf
    lower: float = 0.0
    done: int = 0

    @property
    def proven(self) -> bool:
        """Whether nothing is left between the two."""
        return self.upper <= _TINY or self.upper - self.lower <= TOLERANCE * self.upper

    def stopped(self) -> bool:
        """Whether time is up."""
        return monotonic() >= self.deadline

    def run(self) -> None:
        """From the simple cases to the hard one."""
        n, m = self.X.shape
        if n < 2 * self.k:
            self.settle(np.zeros(n, np.int64))
        elif m == 0:
            self.settle(np.minimum(np.arange(n) // self.k, n // self.k - 1))
        elif m == 1 and n * self.k <= _LINE:
            self.settle(optimal_groups(self.X[:, 0], self.k, self.progress))
        elif n <= _MATRIX:
            self.prove()
        else:
            self.bound_large()

    def settle(self, labels: Int) -> None:
        """An optimum that needs no further proof."""
        self.labels = labels
        self.upper = self.lower = sse_of_differences(self.X, labels)

    def report(self) -> None:
        """Progress is how much of the gap has been closed."""
        if self.progress is not None:
            closed = min(self.lower / self.upper, 1.0) if self.upper > 0 else 1.0
            self.done = max(self.done, min(int(len(self.X) * closed), len(self.X) - 1))
            self.progress(self.done, len(self.X))

    def prove(self) -> None:
        """Up to _MATRIX records: local search, then prices, then a search through what they leave open."""
        n, k = self.X.shape[0], self.k
        points = Points(self.X, k, min(2 * k - 1, n - k))
        self.improve(points)
        if self.proven:
            return
        if n <= min(_HALVE, 4 * k - 2):
            self.halve(points)
            if n < 3 * k:
                self.lower = self.upper
                return
            points.high = min(points.high, n - 2 * k)
        self.generate(points)

    def accept(self, labels: Int, points: Points) -> None:
        """A partition, if it is better."""
        members = np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])
        sse = sum(points.sse(points.kinds[group]) for group in members)
        if sse < self.upper:
            self.labels, self.upper = labels, sse

    def improve(self, points: Points) -> None:
        """MDAV and CBFS, then exchanges, then a few neighbouring groups formed anew again and again."""
        for kind in (MDAV, CBFS):
            self.accept(kind(k=self.k).fit(self.X).labels_, points)
        self.lower = min(self.neighbour_bound(points.high), self.upper)
        for labels, _ in Exchanges(self.k).rounds(self.X, self.labels, _SWEEPS):
            self.accept(labels, points)
            if self.proven or self.stopped():
                return
        self.anneal(points)

    def anneal(self, points: Points) -> None:
        """Annealed ruin and recreate, about a millisecond for each record."""
        from shoal.kernels.exchanges.local import new_local
        from shoal.kernels.exchanges.recreate import anneal, new_state

        k, rows = self.k, on_fewer_axes(self.X)  # they guide the search; the distances between points decide
        if k > _LARGEST:
            return
        most = max(2, min(_REBUILT, _ROOM // (2 * k - 1)))
        state, local = new_state(rows, self.labels, k, 0), new_local(rows.shape[1], k, most)
        steps = max(20, _REBUILDS * points.n // min(k, 20) ** 2 // _BATCHES)
        heats = np.geomspace(_HOT, _COLD, _BATCHES + 1).tolist()
        for hot, cold in pairwise(heats):
            if self.stopped():
                break
            anneal(state, local, k, most, steps, hot, cold, 1e-12 * self.upper)
        self.accept(np.unique(state.best, return_inverse=True)[1], points)

    def halve(self, points: Points) -> None:
        """All divisions into two groups."""
        from shoal.kernels.proofs.subsets import halve

        ends = np.argsort(-np.abs(np.arange(points.n) - (points.n - 1) / 2), kind="stable")
        first = np.zeros(points.n, np.bool_)
        d2 = points.d2[np.ix_(points.places, points.places)]
        halve(d2, ends, self.k, self.upper * (1 - TOLERANCE), first)
        if first.any():
            labels = np.empty(points.n, np.int64)
            labels[points.records] = first
            self.accept(labels, points)

    def generate(self, points: Points) -> None:
        """Better and better prices, and as soon as they leave little open, the search through that."""
        *_, shares = halved(self.X, self.k, points.high)
        patient = self.deadline == inf
        generation = Generation(points, points.mean_of_equals(shares), self.upper, patient=patient)
        generation.until = self.deadline
        for group in range(self.labels.max() + 1):
            row = np.sort(points.kinds[self.labels == group])
            generation.add([(row, points.sse(row))])
        tried = 0.1 * self.upper
        for _ in generation.steps():
            self.learn(generation)
            gap = self.upper - generation.proven.value(points)
            if not self.proven and gap < tried / 2:
                tried = gap
                self.finish(points, generation.proven, tried, 20_000, 100_000, 2)
                generation.upper = self.upper
            if self.proven or self.stopped():
                return
        self.learn(generation)
        whole = self.upper - generation.proven.value(points)
        nodes = _NODES_AT_MOST if patient else _NODES_IN_HASTE
        for part in (1 / 16, 1 / 4, 1 / 2, 1.0):
            if self.proven or self.stopped():
                break
            chunks = inf if part == 1.0 else 4
            self.finish(points, generation.proven, part * whole, _MOST_COLUMNS, nodes, chunks)

    def learn(self, generation: Generation) -> None:
        """Take over the bound of the prices, less what its sums may be wrong by."""
        self.lower = max(self.lower, min(generation.bound - MARGIN * generation.size, self.upper))
        self.report()

    def finish(
        self, points: Points, duals: Duals, open_part: float, groups: int, nodes: int, chunks: float
    ) -> None:
        """Search through all partitions up to `open_part` above the prices' bound.

        If there is one, the best of them is the optimum; if there is none, the bound rises by that much.
        """
        goal = min(duals.value(points) + open_part, self.upper * (1 - TOLERANCE / 2))
        chosen = collect(points, duals, goal, groups, nodes, self.stopped)
        if chosen is None:
            return
        if points.n > _ANY_K and len(chosen.costs) <= _CUT_COLUMNS:
            chosen = sharpen(chosen, goal, self.upper / points.n, self.stopped)
            self.lower = max(self.lower, min(chosen.bound, goal))
            self.report()
        best = goal
        for chunk, (labels, sse) in enumerate(through(chosen, goal), 1):
            best = sse
            if labels is not None:
                self.accept(labels, points)
            self.report()
            if self.stopped() or chunk >= chunks:
                return
        self.lower = max(self.lower, best)

    def bound_large(self) -> None:
        """A large table: exchanges while there is time, and a bound from each record's neighbours."""
        model = MDAV(k=self.k).fit(self.X)
        self.labels, self.upper = model.labels_, model.sse_
        self.lower = min(self.neighbour_bound(2 * self.k - 1), self.upper)
        self.report()
        for labels, sse in Exchanges(self.k).rounds(self.X, self.labels, _SWEEPS):
            self.labels, self.upper = labels, sse
            self.report()
            if self.stopped():
                break

    def neighbour_bound(self, high: int) -> float:
        """Each record's share, chunk by chunk; what time does not allow counts as zero."""
        total = 0.0
        for found in halved(self.X, self.k, high) if self.k > 1 else ():
            total = float(found.sum())
            if self.stopped():
                break
        return total
