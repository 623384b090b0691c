"""Optimal microaggregation: the partition with the least SSE, and the proof that there is no better one.

A good partition comes from MDAV and a local search. Prices of the records, the dual of set partitioning, bound
every partition from below; what the two leave open is searched through. The proof is complete for small
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
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import comb, inf
from time import monotonic
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.cuts import sharpen
from shoal.bounds.pricing import Columns, Generation, Prices, Problem, Stopped, collect, shares, whole_solution
from shoal.errors import ShoalError, ShoalWarning
from shoal.estimator import Microaggregator, Progress
from shoal.methods.cbfs import CBFS
from shoal.methods.mdav import MDAV
from shoal.methods.univariate_optimal import optimal_groups
from shoal.parameters import Maybe, Number, Rule, Whole
from shoal.partition import Partition, renumbered
from shoal.search.axes import on_fewer_axes
from shoal.steps.projections import first_component

if TYPE_CHECKING:
    from shoal.kernels.proofs.cover import Groups

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
_ROUNDS = 2000  # how often parts of the partition are formed anew before the proof
_ROUND_OFF = 10.0  # seconds for a good partition into a few groups
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
        beyond = max(0, int(np.frexp(np.abs(X).max())[1]) - 464)  # 2^464 is about 1e140
        points = np.ascontiguousarray(np.ldexp(varying, -beyond) + 0.0)
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
        self.lower_bound_ = float(np.ldexp(sse * (1 - TOLERANCE), 2 * beyond))
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
        self.upper = self.lower = Partition(self.X, labels, self.k).sse

    def report(self) -> None:
        """Progress is how much of the gap has been closed."""
        if self.progress is not None:
            closed = min(self.lower / self.upper, 1.0) if self.upper > 0 else 1.0
            self.done = max(self.done, min(int(len(self.X) * closed), len(self.X) - 1))
            self.progress(self.done, len(self.X))

    def prove(self) -> None:
        """Up to _MATRIX records: local search, then prices, then a search through what they leave open."""
        self.order = side_by_side(self.X)
        rows = np.ascontiguousarray(self.X[self.order])
        problem = new_problem(rows, self.k)
        self.improve(rows, problem)
        n, k = len(rows), self.k
        if n <= min(_HALVE, 4 * k - 2):
            self.halve(problem)
            if n < 3 * k:
                self.lower = self.upper
                return
            problem.high = min(problem.high, n - 2 * k)
        self.generate(problem)

    def accept(self, labels: Int, sse: float) -> None:
        """A better partition, in search order."""
        self.upper = sse
        self.labels = np.empty(len(labels), np.int64)
        self.labels[self.order] = labels

    def improve(self, rows: Float, problem: Problem) -> None:
        """MDAV or CBFS, then moves and swaps, then parts formed anew again and again."""
        from shoal.kernels.exchanges.exchange import iterate, sse_of_labels

        starts = [kind(k=self.k).fit(rows).labels_.copy() for kind in (MDAV, CBFS)]
        values = [sse_of_labels(problem.d2, labels, labels.max() + 1) for labels in starts]
        labels, sse = starts[int(np.argmin(values))], min(values)
        self.accept(labels, sse)
        self.lower = min(shares(problem).bound, self.upper)
        rows = on_fewer_axes(rows)  # they guide the search; the distances in `problem` decide
        sse = min(sse, descend(rows, labels, self.k, self.stopped, problem.d2))
        self.accept(labels, sse)
        state = np.array([88172645463325252], np.uint64)
        batch = max(1, 200_000 // len(rows) ** 2)
        rounds = min(_ROUNDS, _ROUNDS * 10_000 // len(rows) ** 2)  # about as long for any n above 100
        for _ in range(0, rounds, batch):
            if self.proven or self.stopped():
                break
            sse = iterate(rows, problem.d2, labels, self.k, batch, state)
            if sse < self.upper:
                self.accept(labels, sse)

    def halve(self, problem: Problem) -> None:
        """All divisions into two groups."""
        from shoal.kernels.proofs.subsets import halve

        ends = np.argsort(-np.abs(np.arange(problem.n) - (problem.n - 1) / 2), kind="stable")
        first = np.zeros(problem.n, np.bool_)
        sse = halve(problem.d2, ends, self.k, self.upper * (1 - TOLERANCE), first)
        if first.any():
            self.accept(first.astype(np.int64), sse)

    def generate(self, problem: Problem) -> None:
        """Better and better prices, and as soon as they leave little open, the search through that."""
        patient = self.deadline == inf
        columns = first_columns(problem, self.labels[self.order])
        generation = Generation(
            problem, columns, self.upper, shares(problem), _NODES_AT_MOST if patient else _NODES_IN_HASTE
        )
        tried = 0.1 * self.upper
        while not (self.proven or self.stopped() or generation.converged or generation.stuck):
            generation.upper = self.upper
            generation.round(self.stopped)
            self.lower = max(self.lower, min(generation.best.bound, self.upper))
            self.report()
            if self.upper - generation.best.bound < tried / 2:
                tried = self.upper - generation.best.bound
                self.finish(problem, generation.best, tried, 20_000, 100_000, 10_000_000)
        if problem.n > _ANY_K and not (self.proven or self.stopped()):
            self.round_off(problem, generation.best, columns)
        whole = self.upper - generation.best.bound
        for part in (1 / 16, 1 / 4, 1 / 2, 1.0):
            if self.proven or self.stopped():
                break
            steps = None if part == 1.0 else 20_000_000
            self.finish(problem, generation.best, part * whole, _MOST_COLUMNS, generation.most_nodes, steps)

    def round_off(self, problem: Problem, prices: Prices, columns: Columns) -> None:
        """A good partition into groups of low reduced cost, few of them, or else of the linear program."""
        whole = self.upper - prices.bound
        for part in (2.0**-i for i in range(10, -1, -1)):
            groups = collect(
                problem, prices, part * whole, self.upper, 10 * problem.n, _NODES_IN_HASTE, self.stopped
            )
            if groups is None:
                break
            if len(groups.sizes) >= 2 * problem.n and self.combine(problem, groups):
                return
        self.combine(problem, columns.as_groups())

    def combine(self, problem: Problem, groups: "Groups") -> bool:
        """Whether integer programming finds a better partition into some of the groups."""
        from shoal.kernels.exchanges.exchange import sse_of_labels

        seconds = max(min(_ROUND_OFF, (self.deadline - monotonic()) / 4), 0.01)
        numbers = whole_solution(problem, groups, self.upper / problem.n, seconds)
        if len(numbers) == 0:
            return False
        labels = labels_of(groups.masks[numbers], problem)
        sse = float(sse_of_labels(problem.d2, labels, len(numbers)))
        if sse < self.upper:
            self.accept(labels, sse)
            return True
        return False

    def finish(
        self, problem: Problem, prices: Prices, open_part: float, groups: int, nodes: int, steps: int | None
    ) -> None:
        """Search through all partitions up to `open_part` above the prices' bound.

        If there is one, the best of them is the optimum; if there is none, the bound rises by that much.
        """
        from shoal.kernels.proofs.cover import cover, new_stack

        goal = min(prices.bound + open_part, self.upper * (1 - TOLERANCE / 2))
        chosen = collect(problem, prices, goal - prices.bound, goal, groups, nodes, self.stopped)
        if chosen is None:
            return
        toll, base = prices.toll, float(prices.record.sum())
        if problem.n > _ANY_K and 0 < len(chosen.sizes) <= _CUT_COLUMNS:
            chosen, toll, base, bound = sharpen(
                problem, chosen, prices, goal, self.upper / problem.n, self.stopped
            )
            self.lower = max(self.lower, min(bound, goal))
            self.report()
        stack = new_stack(problem.n, base, problem.most_groups)
        best, found = np.array([goal]), np.zeros((problem.most_groups + 1, stack.rest.shape[1]), np.uint64)
        twins = equal_ranges(problem.twin)
        chunk, seen = 5_000_000, 0
        while stack.depth[0] >= 0:
            count = cover(problem.d2, chosen, toll, self.k, twins, stack, best, found, chunk)
            if count > 0:
                self.accept(labels_of(found[:count], problem), float(best[0]))
            seen += chunk
            self.report()
            if self.stopped() or (steps is not None and seen >= steps):
                return
        self.lower = max(self.lower, float(best[0]))

    def bound_large(self) -> None:
        """A large table: moves and swaps while there is time, and a bound from each record's neighbours."""
        model = MDAV(k=self.k).fit(self.X)
        self.labels, self.upper = model.labels_.copy(), model.sse_
        self.lower = min(self.neighbour_bound(), self.upper)
        self.report()
        labels = self.labels.copy()
        descend(on_fewer_axes(self.X), labels, self.k, self.stopped, None, self.report)
        sse = Partition(self.X, labels, self.k).sse
        if sse < self.upper:
            self.labels, self.upper = labels, sse

    def neighbour_bound(self) -> float:
        """Each record's share, chunk by chunk; what time does not allow counts as zero."""
        from shoal.bounds.shares import halved

        total = 0.0
        for found in halved(self.X, self.k, 2 * self.k - 1) if self.k > 1 else ():
            total = float(found.sum())
            if self.stopped():
                break
        return total


def side_by_side(X: Float) -> Int:
    """The records along their first principal component, equal ones side by side, by index."""
    _, kind = np.unique(X, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    _, first = np.unique(kind, return_index=True)
    place = np.empty(len(first), np.int64)
    place[np.argsort(first_component(X[first]), kind="stable")] = np.arange(len(first))
    return np.argsort(place[kind], kind="stable")


def new_problem(rows: Float, k: int) -> Problem:
    """Distances, neighbours and equal records, for rows in search order."""
    n = len(rows)
    d2 = np.zeros((n, n))
    for column in rows.T:
        d2 += (column[:, None] - column) ** 2
    ranked = d2.copy()
    np.fill_diagonal(ranked, -1.0)
    near = np.argsort(ranked, axis=1, kind="stable")[:, 1:257]
    twin = np.concatenate([[False], (rows[1:] == rows[:-1]).all(axis=1)])
    return Problem(d2, np.ascontiguousarray(near), twin, k, k, min(2 * k - 1, n - k))


def descend(
    X: Float, labels: Int, k: int, stopped: Stopped, d2: Float | None, report: Callable[[], None] | None = None
) -> float:
    """Moves and swaps until none gains or time is up; changes labels and returns their SSE if it has distances."""
    from shoal.kernels.exchanges.exchange import improve, sse_of_labels

    n, groups = len(X), int(labels.max()) + 1
    batch = min(n, max(1, 30_000_000 // (n * X.shape[1])))
    start = idle = 0
    for _ in range(20 * n // batch + 1):
        if stopped() or idle >= n:
            break
        changes = improve(X, labels, groups, k, start, batch, 0.0)
        idle = 0 if changes else idle + batch
        start = (start + batch) % n
        if report is not None:
            report()
    return float(sse_of_labels(d2, labels, groups)) if d2 is not None else inf


def first_columns(problem: Problem, labels: Int) -> Columns:
    """The groups of a partition, which make the linear program feasible, and each record with its nearest."""
    columns = Columns(problem)
    for group in range(labels.max() + 1):
        columns.add_priced(np.flatnonzero(labels == group).tolist())
    for s in range(problem.low, min(problem.low + 2, problem.high) + 1):
        for record in range(problem.n):
            columns.add_priced([record, *problem.near[record, : s - 1].tolist()])
    return columns


def equal_ranges(twin: NDArray[np.bool_]) -> Int:
    """From and to (not included) of each run of equal records of two or more."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], twin, [False]]).astype(np.int8)))
    return np.asarray(edges.reshape(-1, 2) - [1, 0], dtype=np.int64)


def labels_of(masks: NDArray[np.uint64], problem: Problem) -> Int:
    """The labels of a cover."""
    from shoal.kernels.proofs.cover import records_of

    members = np.empty(problem.n, np.int64)
    return handed_out([members[: records_of(mask, members)].tolist() for mask in masks], problem)


def handed_out(groups: Iterable[Iterable[int]], problem: Problem) -> Int:
    """The labels of groups that do not tell equal records apart; these are given out in order."""
    kinds = problem.kinds()
    next_of = np.flatnonzero(~problem.twin)
    labels = np.full(problem.n, -1)
    for label, group in enumerate(groups):
        for record in group:
            labels[next_of[kinds[record]]] = label
            next_of[kinds[record]] += 1
    return labels
