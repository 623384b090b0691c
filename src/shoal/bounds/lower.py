"""A lower bound on the SSE of every partition into groups of at least k, better the longer it may take.

    bound = shoal.lower_bound(X, k=3, seconds=60)
    bound, bound.stage, bound.seconds

Stages: each record's share ("shares"), distances divided unequally ("splitting"), prices of the records
("prices"), with cuts ("cuts"); from k = 7 on a relaxation of the whole partition ("semidefinite"); above 6000
records prices proven from neighbours ("market"). Fewer than 2k records, k = 1, one varying attribute: the optimum
itself ("exact").
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from math import inf, isfinite
from time import monotonic
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.bounds.generation import MARGIN, Generation
from shoal.bounds.market import Market, fits
from shoal.bounds.points import Points
from shoal.bounds.semidefinite import Semidefinite
from shoal.bounds.shares import halved, neighbours_to_split, split
from shoal.errors import ShoalError
from shoal.parameters import Number, Whole
from shoal.partition import sse_of, sse_of_differences
from shoal.search.exchanges import Exchanges
from shoal.steps.line import optimal_groups

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Report = Callable[["LowerBound"], None]

_LARGEST = 1e140
_MATRIX = 6000  # up to so many records the distances of all pairs are held, twice, 0.6 GB at most
_LINE = 1e9  # the most n * k for which one attribute is cut by dynamic programming
_ROUNDS = 20  # of exchanges for a first partition, at most,
_EXCHANGES = 1.0  # and the seconds after which no other begins
_SMALLEST = 1e-290  # below this squares are not exact
_SPLITTING = 0.1  # part of the time for dividing distances where a spectrum follows,
_LEAST_SPLITTING = 2.0  # and the seconds at least
_LOCAL = 7  # for k below this prices prove more than a spectrum,
_GLOBAL = 20  # from here on less; in between both take turns


class LowerBound(float):
    """A number that no SSE is below, and where it comes from."""

    stage: str
    seconds: float

    def __new__(cls, value: float, stage: str = "none", seconds: float = 0.0) -> Self:
        """The value is what counts; a float in every respect."""
        bound = super().__new__(cls, value)
        bound.stage, bound.seconds = stage, seconds
        return bound

    def __repr__(self) -> str:
        return f"LowerBound({float(self)!r}, stage={self.stage!r}, seconds={self.seconds:.3g})"

    def __getnewargs__(self) -> tuple[float, str, float]:  # type: ignore[override]
        return float(self), self.stage, self.seconds


def lower_bound(
    X: ArrayLike,
    k: int,
    seconds: float = 10.0,
    *,
    partition: ArrayLike | None = None,
    n_jobs: int = 1,
    progress: Report | None = None,
) -> LowerBound:
    """A number that the SSE of no partition of the records into groups of at least k is below.

    Parameters
    ----------
    X : array of shape (n, m)
        One point per record, finite, not changed.
    k : int
        The least number of records in a group.
    seconds : float
        When to stop. The bound rises with time; 0 gives what can be had at once.
    partition : array of labels, optional
        A good partition, if one is known. It changes only how fast the bound rises, not what is valid.
    n_jobs : int
        On how many cores the search for groups runs.
    progress : callable, optional
        Called now and then with the bound so far.

    Returns
    -------
    LowerBound
        A float with `stage` (what gave it) and `seconds` (when). Interrupted (Ctrl-C), the best so far.
    """
    bounding = Bounding(X, k, n_jobs=n_jobs)
    if partition is not None:
        bounding.learn(partition)
    try:
        return bounding.run(seconds, progress)
    finally:
        bounding.close()


class Bounding:
    """The same in slices of time: each `run` goes on where the last one stopped.

    Parameters
    ----------
    X, k, n_jobs : as for `lower_bound`

    Attributes
    ----------
    bound : LowerBound, the best so far
    done : whether more time would not help
    interrupted : whether Ctrl-C ended it
    """

    def __init__(self, X: ArrayLike, k: int, *, n_jobs: int = 1) -> None:
        self.k = Whole(1).check("k", k)
        self.n_jobs = Whole(1).check("n_jobs", n_jobs)
        points = checked(X, self.k)
        self._n = len(points)
        varying = points[:, points.min(axis=0) < points.max(axis=0)]
        self._exponent = exponent_of(varying)
        self._X = np.ascontiguousarray(np.ldexp(varying, -self._exponent) + 0.0)
        self._high = min(2 * self.k - 1, self._n - self.k)
        self._labels: Int | None = None
        self._extra: list[list[int]] = []
        self._generation: Generation | None = None
        self._prices_of_all: Market | None = None
        self._spent, self._until = 0.0, inf
        self.bound = LowerBound(0.0)
        self.done = self.interrupted = False
        self._steps = self._stages()

    def learn(self, partition: ArrayLike) -> None:
        """Take the labels of a good partition; its SSE and its groups help later stages."""
        labels = np.unique(np.asarray(partition), return_inverse=True)[1].reshape(-1)
        if len(labels) != self._n or np.bincount(labels).min() < self.k:
            raise ShoalError(
                f"a partition must have a label for each of the {self._n} records and groups of k or more"
            )
        self._labels = labels
        self.learn_groups(np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1))

    def learn_groups(self, groups: Iterable[Iterable[int]]) -> None:
        """Take good groups, such as a search has met; sizes from k to 2k - 1, others are passed over."""
        fitting = [group for group in map(sorted, groups) if self.k <= len(group) <= self._high]
        if self._generation is not None:
            self._generation.add(self._priced(self._generation, fitting))
        else:
            self._extra += fitting

    def groups(self) -> list[tuple[list[int], float, float]]:
        """The groups of the linear program: records, SSE, and what they cost more than their prices; lowest first.

        Empty before the stage of prices. Equal records are not told apart: a group names the first of them.
        """
        if self._generation is None:
            return []
        points = self._generation.points
        by_point = np.split(points.records, np.cumsum(points.weights)[:-1])
        reduced = self._generation.reduced()
        unit = 2 * self._exponent
        listed = []
        for number in np.argsort(reduced, kind="stable").tolist():
            members = self._generation.members[number].tolist()
            records = [int(by_point[p][members[:i].count(p)]) for i, p in enumerate(members)]
            cost = float(np.ldexp(self._generation.costs[number], unit))
            listed.append((sorted(records), cost, float(np.ldexp(reduced[number], unit))))
        return listed

    def partition(self) -> Int | None:
        """The groups behind the bound of a large table, made into a partition: a good start for `Refined`.

        Below 6001 records, and before the stage "market", the best partition known so far, or None.
        """
        groups = self._prices_of_all.partition() if self._prices_of_all is not None else None
        if groups is None:
            return self._labels
        labels = np.empty(self._n, np.int64)
        labels[self._order] = groups
        return labels

    def run(self, seconds: float, progress: Report | None = None) -> LowerBound:
        """Go on for so many seconds; the best bound so far."""
        start = monotonic()
        until = self._until = start + Number(0).check("seconds", seconds)
        before = self._spent
        try:
            while not self.done:
                self.done = next(self._steps, "end") == "end"
                self._spent = before + monotonic() - start
                if progress is not None:
                    progress(self.bound)
                if monotonic() >= until:
                    break
        except KeyboardInterrupt:
            self._steps.close()
            self.done = self.interrupted = True
        return self.bound

    def close(self) -> None:
        """Let go of the workers, whose tasks would otherwise be waited for at the end of the program."""
        self._steps.close()
        self.done = True

    def _raise(self, value: float, prices: float, stage: str) -> None:
        """A bound in units of the scaled points; `prices` is the sum that its rounding depends on."""
        safe = value - MARGIN * prices - self._n * _SMALLEST
        if not (isfinite(safe) and safe > 0):
            return
        bound = lower_ldexp(safe, 2 * self._exponent)
        if bound > self.bound:
            self.bound = LowerBound(bound, stage, self._spent)

    def _stages(self) -> Generator[None, None, None]:
        """From the simple cases to the hard one; a step at a time."""
        n, m = self._X.shape
        if self.k == 1 or m == 0:
            self.bound = LowerBound(0.0, "exact")
            return
        if n < 2 * self.k or (m == 1 and n * self.k <= _LINE):
            self._exact()
            return
        shares = yield from self._shares()
        if n <= _MATRIX:
            yield from self._both(shares)
        elif self._is_market() and shares.sum() > 0:
            yield from self._market(shares)

    def _is_market(self) -> bool:
        """Whether prices of a large table are looked for."""
        return self._n > _MATRIX and self.k < _GLOBAL and fits(self._n, self._high)

    def _both(self, shares: Float) -> Generator[None, None, None]:
        """Prices, a semidefinite relaxation, or one after the other by the time they have had."""
        yield from self._first_partition()
        if not self._upper() > _SMALLEST:
            return
        if self.k < _LOCAL:
            yield from self._prices(shares)
        elif self.k >= _GLOBAL:
            yield from self._semidefinite()
            yield from self._prices(shares)
        else:
            yield from in_turn(self._prices(shares), self._semidefinite())

    def _exact(self) -> None:
        n = len(self._X)
        labels = np.zeros(n, np.int64) if n < 2 * self.k else optimal_groups(self._X[:, 0], self.k, None)
        sse = sse_of_differences(self._X, labels)
        self._raise(sse * (1 - 1e-9), sse, "exact")
        self.bound = LowerBound(self.bound, "exact", self._spent)

    def _shares(self) -> Generator[None, None, Float]:
        """Each record's share, then with the distances divided ever better."""
        shares = np.zeros(self._n)
        for shares in halved(self._X, self.k, self._high):
            self._raise(float(shares.sum()), float(shares.sum()), "shares")
            yield
        if neighbours_to_split(self._n, self.k) == 0 or not shares.sum() > 0:
            return shares
        until = inf
        if (self._n <= _MATRIX and self.k >= _LOCAL) or self._is_market():
            until = monotonic() + max(_LEAST_SPLITTING, _SPLITTING * (self._until - monotonic()))
        goal = self._upper() if self._labels is not None else 1.4 * float(shares.sum())
        for better in split(self._X, self.k, self._high, goal):
            if better is not None:
                shares = better
                self._raise(float(shares.sum()), float(np.abs(shares).sum()), "splitting")
            yield
            if monotonic() > until:
                break
        return shares

    def _prices(self, shares: Float) -> Iterator[None]:
        """Column generation and cuts."""
        points = Points(self._X, self.k, self._high)
        yield
        generation = Generation(points, points.mean_of_equals(shares), self._upper(), self.n_jobs)
        self._generation = generation
        generation.add(self._priced(generation, self._extra))
        for _ in generation.steps():
            generation.until = self._until
            self._raise(generation.bound, generation.size, generation.stage)
            yield
        self._raise(generation.bound, generation.size, generation.stage)

    def _market(self, shares: Float) -> Iterator[None]:
        """Prices of a large table."""
        order = self._order = in_blocks(self._X, len(self._X) // self.k)[0]
        stage = Market(self._X[order], self.k, self._high, shares[order], self.n_jobs, self._until)
        self._prices_of_all = stage
        for _ in stage.steps():
            stage.until = self._until
            self._raise(stage.bound, stage.size, "market")
            yield

    def _semidefinite(self) -> Iterator[None]:
        """The spectrum of the table and of a multiplier."""
        assert self._labels is not None
        stage = Semidefinite(self._X, self.k, self._high, self._labels, self.n_jobs)
        stage.until = self._until
        yield
        for _ in stage.steps():
            stage.until = self._until
            self._raise(stage.bound, stage.bound, "semidefinite")
            yield

    def _first_partition(self) -> Iterator[None]:
        """Blocks of neighbouring records after some exchanges, unless a partition is known."""
        if self._labels is not None:
            return
        until = monotonic() + _EXCHANGES
        for labels, _ in Exchanges(self.k).rounds(self._X, blocks(self._X, self.k), _ROUNDS):
            self.learn(labels)
            yield
            if monotonic() > until:
                break

    def _upper(self) -> float:
        return float(sse_of(self._X, self._labels)) if self._labels is not None else inf

    def _priced(self, generation: Generation, groups: Iterable[list[int]]) -> list[tuple[Int, float]]:
        rows = [np.sort(generation.points.kinds[group]) for group in groups]
        return [(row, generation.points.sse(row)) for row in rows]


def in_turn(*stages: Iterator[None]) -> Iterator[None]:
    """Steps of several stages: always one of that which has had the least time."""
    spent = dict.fromkeys(stages, 0.0)
    while spent:
        stage = min(spent, key=lambda each: spent[each])
        start = monotonic()
        if next(stage, "end") == "end":
            del spent[stage]
        else:
            spent[stage] += monotonic() - start
            yield


def blocks(X: Float, k: int) -> Int:
    """The labels of n // k blocks of about the same size, by cuts across the widest direction."""
    order, ends = in_blocks(X, len(X) // k)
    labels = np.empty(len(X), np.int64)
    labels[order] = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
    return labels


def in_blocks(X: Float, count: int) -> tuple[Int, Int]:
    """The records in an order in which neighbours are close together, and where each block ends."""
    from shoal.kernels.search_tree.order import halve

    order = np.arange(len(X))
    return order, halve(X, order, count)


def checked(X: ArrayLike, k: int) -> Float:
    """The points as they must be."""
    points = np.ascontiguousarray(X, dtype=np.float64)
    if points.ndim != 2 or points.size == 0:
        raise ShoalError("X must be a table of points, one row per record, with at least one record and attribute")
    if not np.isfinite(points).all():
        raise ShoalError("X holds NaN or infinity; remove or replace these records")
    if k > len(points):
        raise ShoalError(f"k={k} is more than there are records (n={len(points)}); choose a smaller k")
    if np.abs(points).max() > _LARGEST:
        raise ShoalError(f"X holds values above {_LARGEST:g}, whose squares overflow; scale it first")
    return points


def exponent_of(X: Float) -> int:
    """The power of two that brings the widest attribute to about 1."""
    return int(np.frexp((X.max(axis=0) - X.min(axis=0)).max())[1]) if X.size else 0


def lower_ldexp(value: float, exponent: int) -> float:
    """A value of at least 0 times a power of two, rounded down where the smallest numbers cannot hold it."""
    scaled = float(np.ldexp(value, exponent))
    return float(np.nextafter(scaled, 0.0)) if np.ldexp(scaled, -exponent) > value else scaled
