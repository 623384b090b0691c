"""Rounds of local exchanges over a partition of any size, on several threads, the same groups for any number.

A large table is cut into regions of neighbouring groups, other ones in every round so that no border stays; a
region is improved on its own by `kernels/sweep.py`. The regions follow from the groups alone.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Progress, on_fewer_axes
from shoal.partition import means_of, sse_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Task = TypeVar("Task")
Result = TypeVar("Result")

REGION = 50_000
"""Records of a region, about: what a processor's cache holds with all that is needed."""

_TOGETHER = 32  # groups whose order does not matter
_LEAST = 1e-10  # of the mean error of a record: what a change has to gain
_NEIGHBOURS = 24  # groups that a group exchanges records with


@dataclass(frozen=True)
class Region:
    """Neighbouring groups and their records, both by number."""

    groups: Int
    records: Int


@dataclass(frozen=True)
class Exchanges:
    """One round after the other; `round` tells which, so that its regions have their own borders."""

    k: int
    n_jobs: int = 1
    region: int = REGION

    def rounds(
        self, X: Float, labels: Int, most: int, progress: Progress | None = None
    ) -> Iterator[tuple[Int, float]]:
        """The labels and their SSE at the start and after each round; ends when a round brings nothing."""
        turned = on_fewer_axes(X)  # the search sees these; the SSE is that of the points as given
        error = sse_of(X, labels)
        yield labels, error
        for number in range(most):

            def report(done: int, total: int, begun: int = number) -> None:
                if progress is not None:
                    progress((begun * total + done) // most, total)

            new = self.round(turned, labels, error, number, report)
            new_error = sse_of(X, new)
            if not new_error < error:
                return
            labels, error = new, new_error
            yield labels, error

    def round(self, X: Float, labels: Int, error: float, number: int, progress: Progress | None = None) -> Int:
        """The labels after one round over all regions; the groups are numbered anew."""
        from shoal.kernels.exchanges.sweep import sweep
        from shoal.kernels.search_tree.order import halve

        centroids, regions = self._regions(X, labels, number)
        least = _LEAST * error / len(X)
        place = np.empty(len(centroids), np.int64)

        def improved(region: Region) -> tuple[Int, Int]:
            order = region.groups.copy()
            halve(centroids, order, max(1, len(order) // _TOGETHER))
            place[order] = np.arange(len(order))
            own = place[labels[region.records]]
            row = np.argsort(own, kind="stable")
            records = region.records[row]
            return records, sweep(X[records], own[row], self.k, _NEIGHBOURS, least)

        new = np.empty(len(X), np.int64)
        groups = done = 0
        for records, part in in_order(improved, regions, self.n_jobs):
            there = np.cumsum(np.bincount(part) > 0)
            new[records] = there[part] - 1 + groups
            groups += int(there[-1])
            done += len(records)
            if progress is not None:
                progress(done, len(X))
        return new

    def regions(self, X: Float, labels: Int, number: int) -> list[Int]:
        """The records of each region, by rising index."""
        return [region.records for region in self._regions(X, labels, number)[1]]

    def _regions(self, X: Float, labels: Int, number: int) -> tuple[Float, list[Region]]:
        """The centroids, turned, and the regions that they make."""
        centroids = turned(means_of(X, labels), number)
        count = -(-len(X) // max(self.region, 100 * self.k))
        count = min(count + (count % 2 if count > 1 else 0), len(centroids))  # even: no thread waits for another
        parts = halved(centroids, count, self.n_jobs)
        region = np.empty(len(centroids), np.uint16 if count < 1 << 16 else np.int64)  # short numbers sort faster
        for part, groups in enumerate(parts):
            region[groups] = part
        of_record = region[labels]
        records = np.split(np.argsort(of_record, kind="stable"), np.cumsum(np.bincount(of_record))[:-1])
        return centroids, [Region(*both) for both in zip(parts, records, strict=True)]


def turned(points: Float, number: int) -> Float:
    """The points as they are in round 0, in other rounds turned by an angle of its own."""
    if number == 0:
        return points
    m = points.shape[1]
    axes = np.linalg.qr(np.random.default_rng(number).normal(size=(m, m)))[0]
    return np.asarray(points @ axes)


def halved(points: Float, parts: int, n_jobs: int = 1) -> list[Int]:
    """The points in so many parts of about the same size, cut across the widest direction in turn."""
    from shoal.kernels.search_tree.order import cut_across, halve

    points, order = np.ascontiguousarray(points), np.arange(len(points))
    if parts == 1:
        return [order]
    middle = cut_across(points, order, parts)
    halves = [(order[:middle], parts // 2), (order[middle:], parts - parts // 2)]

    def cut(half: tuple[Int, int]) -> list[Int]:
        return np.split(half[0], halve(points, *half)[:-1])

    return [part for half in in_order(cut, halves, n_jobs) for part in half]


def in_order(work: Callable[[Task], Result], tasks: list[Task], n_jobs: int) -> Iterator[Result]:
    """The results in the order of the tasks, from so many threads."""
    if n_jobs == 1 or len(tasks) == 1:
        yield from map(work, tasks)
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        try:
            yield from pool.map(work, tasks)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
