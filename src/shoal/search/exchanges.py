"""Rounds of local exchanges over a partition of any size, on several workers, the same groups for any number.

A large table is cut into regions of neighbouring groups, other ones in every round so that no border stays; a
region is improved on its own by `kernels/exchanges/sweep.py`. The regions follow from the groups alone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.engines import in_order
from shoal.parameters import Progress
from shoal.partition import compact, means_of, squared_error, sse_of
from shoal.search.axes import on_fewer_axes
from shoal.search.deadline import Looks, LooksOf, Stopped

Float = NDArray[np.float64]
Int = NDArray[np.int64]

REGION = 50_000
"""Records of a region, about: what a processor's cache holds with all that is needed."""

NEIGHBOURS = 24
"""Groups that a group exchanges records with."""

_TOGETHER = 32  # groups whose order does not matter
_LEAST = 1e-10  # of the mean error of a record: what a change has to gain


@dataclass(frozen=True)
class Region:
    """Neighbouring groups and their records, both by number."""

    groups: Int
    records: Int
    number: int = 0


class Improved(NamedTuple):
    """A region after its exchanges."""

    records: Int
    part: Int  # the group of each, from 0 on without gaps
    centroids: Float  # of these groups
    stopped: int | None  # the look at which time was up


@dataclass(frozen=True)
class Exchanges:
    """One round after the other; `round` tells which, so that its regions have their own borders.

    Where there are `looks` at a clock, a region stays as it is from the moment when its time is up.
    """

    k: int
    n_jobs: int = 1
    region: int = REGION
    looks: LooksOf | None = None

    def rounds(
        self, X: Float, labels: Int, most: int, progress: Progress | None = None
    ) -> Iterator[tuple[Int, float]]:
        """The labels and their SSE at the start and after each round; ends when a round brings nothing."""
        points = on_fewer_axes(X)  # the search sees these; the SSE is that of the points as given
        centroids = means_of(points, labels)
        error = self._error(X, labels, centroids if points is X else None)
        yield labels, error
        for number in range(most):

            def report(done: int, total: int, begun: int = number) -> None:
                if progress is not None:
                    progress((begun * total + done) // most, total)

            new, centroids = self._round(points, labels, centroids, error, number, report)
            new_error = self._error(X, new, centroids if points is X else None)
            if not new_error < error:
                return
            labels, error = new, new_error
            yield labels, error

    def round(
        self,
        X: Float,
        labels: Int,
        error: float,
        number: int,
        progress: Progress | None = None,
        stopped: Stopped | None = None,
    ) -> Int:
        """The labels after one round over all regions; the groups are numbered anew.

        `stopped` gets the look of each region at which its time was up.
        """
        return self._round(X, labels, means_of(X, labels), error, number, progress, stopped)[0]

    def _round(
        self,
        X: Float,
        labels: Int,
        centroids: Float,
        error: float,
        number: int,
        progress: Progress | None,
        stopped: Stopped | None = None,
    ) -> tuple[Int, Float]:
        """The same with the centroids before and after."""
        seen = turned(centroids, number)
        work = self._work(X, labels, seen, _LEAST * error / len(X))
        new, means = np.empty(len(X), np.int64), []
        groups = done = 0
        for improved in in_order(work, self._regions(seen, labels), self.n_jobs):
            if stopped is not None:
                stopped.append(improved.stopped)
            new[improved.records] = improved.part + groups
            means.append(improved.centroids)
            groups += len(improved.centroids)
            done += len(improved.records)
            if progress is not None:
                progress(done, len(X))
        return new, np.concatenate(means)

    def _error(self, X: Float, labels: Int, centroids: Float | None) -> float:
        """What rounds are to lower; where these are the centroids of X, they are not computed again."""
        return sse_of(X, labels) if centroids is None else squared_error(X, centroids, labels)

    def _work(self, X: Float, labels: Int, centroids: Float, least: float) -> Callable[[Region], Improved]:
        """What improves a region."""
        return Sweeping(X, labels, centroids, self.k, least, self.looks)

    def regions(self, X: Float, labels: Int, number: int) -> list[Int]:
        """The records of each region, by rising index."""
        return [region.records for region in self._regions(turned(means_of(X, labels), number), labels)]

    def _regions(self, centroids: Float, labels: Int) -> list[Region]:
        """The regions that centroids make which are turned already."""
        count = -(-len(labels) // max(self.region, 100 * self.k))
        count = min(count + (count % 2 if count > 1 else 0), len(centroids))  # even: no thread waits for another
        parts = halved(centroids, count, self.n_jobs)
        region = np.empty(len(centroids), np.uint16 if count < 1 << 16 else np.int64)  # short numbers sort faster
        for part, groups in enumerate(parts):
            region[groups] = part
        of_record = region[labels]
        records = np.split(np.argsort(of_record, kind="stable"), np.cumsum(np.bincount(of_record))[:-1])
        return [Region(*each) for each in zip(parts, records, range(len(parts)), strict=True)]


@dataclass(frozen=True)
class Sweeping:
    """The work of improving a region."""

    X: Float
    labels: Int
    centroids: Float
    k: int
    least: float
    looks: LooksOf | None = None

    def __call__(self, region: Region) -> Improved:
        """The region's records and their groups, neighbouring groups side by side so that they share the cache."""
        from shoal.kernels.exchanges.sweep import sweep

        looks = None if self.looks is None else self.looks(region.number)
        if looks is not None and looks.over():
            return unswept(self.X, region, self.labels, looks)
        records, own = side_by_side(region, self.labels, self.centroids)
        rows, over = self.X[records], None if looks is None else looks.over
        return improved(records, rows, sweep(rows, own, self.k, NEIGHBOURS, self.least, over), looks)


def improved(records: Int, rows: Float, part: Int, looks: Looks | None) -> Improved:
    """The records of a region, their rows and groups, which may have gaps, as what a round takes."""
    part = compact(part)
    return Improved(records, part, means_of(rows, part), None if looks is None else looks.stopped)


def unswept(X: Float, region: Region, labels: Int, looks: Looks) -> Improved:
    """A region as it is."""
    return improved(region.records, X[region.records], labels[region.records], looks)


def side_by_side(region: Region, labels: Int, centroids: Float) -> tuple[Int, Int]:
    """The records of a region and their groups, numbered anew so that neighbouring ones are side by side."""
    from shoal.kernels.search_tree.order import halve

    order, place = region.groups.copy(), np.empty(len(centroids), np.int64)
    halve(centroids, order, max(1, len(order) // _TOGETHER))
    place[order] = np.arange(len(order))
    own = place[labels[region.records]]
    row = np.argsort(own, kind="stable")
    return region.records[row], own[row]


def turned(points: Float, number: int) -> Float:
    """The points as they are in round 0, in other rounds turned by an angle of its own."""
    if number == 0:
        return points
    m = points.shape[1]
    axes = np.linalg.qr(np.random.default_rng(number).normal(size=(m, m)))[0]
    return np.asarray(points @ axes)


def halved(points: Float, parts: int, n_jobs: int = 1) -> list[Int]:
    """The points in so many parts of about the same size, cut across the widest direction in turn."""
    from shoal.kernels.search_tree.order import cut_across

    points, order = np.ascontiguousarray(points), np.arange(len(points))
    if parts == 1:
        return [order]
    middle = cut_across(points, order, parts)
    halves = [(order[:middle], parts // 2), (order[middle:], parts - parts // 2)]

    return [part for half in in_order(Halving(points), halves, n_jobs) for part in half]


@dataclass(frozen=True)
class Halving:
    """The work of cutting some of the points, in any order, into parts."""

    points: Float

    def __call__(self, half: tuple[Int, int]) -> list[Int]:
        """The points of each part."""
        from shoal.kernels.search_tree.order import halve

        order, parts = half
        return np.split(order, halve(self.points, order, parts)[:-1])
