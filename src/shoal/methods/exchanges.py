"""Rounds of local exchanges over a partition of any size, on several threads, the same groups for any number.

A large table is cut into regions of neighbouring groups, other ones in every round so that no border stays; a
region is improved on its own by `kernels/sweep.py`. The regions follow from the groups alone.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.methods.base import Progress
from shoal.partition import means_of, sse_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]

REGION = 50_000
"""Records of a region, about: what a processor's cache holds with all that is needed."""

_TOGETHER = 32  # groups whose order does not matter
_LEAST = 1e-10  # of the mean error of a record: what a change has to gain
_NEIGHBOURS = 24  # groups that a group exchanges records with


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
        error = sse_of(X, labels)
        yield labels, error
        for number in range(most):

            def report(done: int, total: int, begun: int = number) -> None:
                if progress is not None:
                    progress((begun * total + done) // most, total)

            new = self.round(X, labels, error, number, report)
            new_error = sse_of(X, new)
            if not new_error < error:
                return
            labels, error = new, new_error
            yield labels, error

    def round(self, X: Float, labels: Int, error: float, number: int, progress: Progress | None = None) -> Int:
        """The labels after one round over all regions; the groups are numbered anew."""
        from shoal.kernels.sweep import sweep

        regions = self.regions(X, labels, number)
        least = _LEAST * error / len(X)

        def improved(region: Int) -> Int:
            own = labels[region]
            numbers = np.concatenate([[0], np.cumsum(own[1:] != own[:-1])])
            return sweep(X[region], numbers, self.k, _NEIGHBOURS, least)

        new = np.empty(len(X), np.int64)
        groups = done = 0
        for region, part in zip(regions, in_order(improved, regions, self.n_jobs), strict=True):
            there = np.cumsum(np.bincount(part) > 0)
            new[region] = there[part] - 1 + groups
            groups += int(there[-1])
            done += len(region)
            if progress is not None:
                progress(done, len(X))
        return new

    def regions(self, X: Float, labels: Int, number: int) -> list[Int]:
        """The records of each region, group after group, neighbours close to each other."""
        centroids = turned(means_of(X, labels), number)
        groups = np.arange(len(centroids))
        regions = list(halved(centroids, groups, -(-len(X) // max(self.region, 100 * self.k))))
        row = [part for region in regions for part in halved(centroids, region, max(1, len(region) // _TOGETHER))]
        rank = np.empty_like(groups)
        rank[np.concatenate(row)] = groups
        ranked = rank[labels]
        order = np.argsort(ranked, kind="stable")
        ends = np.cumsum([len(region) for region in regions])
        return np.split(order, np.searchsorted(ranked[order], ends[:-1]))


def turned(points: Float, number: int) -> Float:
    """The points as they are in round 0, in other rounds turned by an angle of its own."""
    if number == 0:
        return points
    m = points.shape[1]
    axes = np.linalg.qr(np.random.default_rng(number).normal(size=(m, m)))[0]
    return np.asarray(points @ axes)


def halved(points: Float, chosen: Int, parts: int) -> Iterator[Int]:
    """The chosen points in so many parts of about the same size, cut across the widest direction in turn."""
    if parts == 1:
        yield chosen
        return
    own = points[chosen]
    axis = int((own.max(axis=0) - own.min(axis=0)).argmax())
    order = chosen[np.argsort(own[:, axis], kind="stable")]
    first = parts // 2
    middle = len(order) * first // parts
    yield from halved(points, order[:middle], first)
    yield from halved(points, order[middle:], parts - first)


def in_order(work: Callable[[Int], Int], tasks: list[Int], n_jobs: int) -> Iterator[Int]:
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
