"""Good partitions combined: the best one into groups that are known, by set partitioning.

Each group is a column with its SSE as cost, each record must be covered once; integer programming chooses. It
proves nothing; it only finds.
"""

from collections import deque
from collections.abc import Iterable
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.partition import sse_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Group = tuple[int, ...]

NODES = 100
"""Branches of an integer program, where these limit it and not time."""


class Pool:
    """Groups, each once, with their SSE."""

    def __init__(self, X: Float) -> None:
        self.X = X
        self.groups: list[Group] = []
        self.costs = np.empty(0)
        self._marks = np.random.default_rng(0).integers(0, 2**64, len(X), np.uint64)
        self._known: set[int] = set()

    def add_labels(self, labels: Int) -> None:
        """The groups of a partition."""
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels)
        ends = np.cumsum(sizes[sizes > 0])
        starts = np.concatenate([[0], ends[:-1]])
        keys = np.add.reduceat(self._marks[order], starts).tolist()
        self._add((key, order[start:end]) for key, start, end in zip(keys, starts, ends, strict=True))

    def add(self, groups: Iterable[Iterable[int]]) -> None:
        """Some groups."""
        rows = (np.sort(np.fromiter(group, np.int64)) for group in groups)
        self._add((int(self._marks[row].sum()), row) for row in rows)

    def _add(self, keyed: Iterable[tuple[int, Int]]) -> None:
        new: list[Int] = []
        for key, row in keyed:
            if key not in self._known:
                self._known.add(key)
                new.append(row)
        costs = np.empty(len(new))
        by_size: dict[int, list[int]] = {}
        for place, row in enumerate(new):
            by_size.setdefault(len(row), []).append(place)
        for places in by_size.values():
            points = self.X[np.stack([new[place] for place in places])]
            costs[places] = ((points - points.mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
        self.groups += [tuple(row.tolist()) for row in new]
        self.costs = np.concatenate([self.costs, costs])

    def table(self) -> Any:
        """Which records (rows) are in which groups (columns), sparse."""
        from scipy.sparse import csc_array

        sizes = np.array([len(group) for group in self.groups])
        rows = np.fromiter((record for group in self.groups for record in group), np.int32, int(sizes.sum()))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return csc_array((np.ones(len(rows)), rows, starts), shape=(len(self.X), len(sizes)))


class Recombination:
    """Groups that may go together: of the partitions that came last, and others that are known to be good."""

    def __init__(self, X: Float, recent: int) -> None:
        self.X = X
        self.known: list[Group] = []
        self._recent: deque[Int] = deque(maxlen=recent)

    def best(
        self, labels: Int, ended: Iterable[Int], passed: Iterable[Int], seconds: float, nodes: int | None = NODES
    ) -> Int:
        """The best partition into all of these; `ended` come last from now on, `passed` count this time only."""
        self._recent.extend(ended)
        pool = Pool(self.X)
        for partition in [*self._recent, *passed]:
            pool.add_labels(partition)
        pool.add(self.known)
        return best_of(pool, labels, seconds, nodes)


def best_of(pool: Pool, labels: Int, seconds: float, nodes: int | None = NODES) -> Int:
    """The best partition into groups of a pool that integer programming finds, or the one given.

    With infinite seconds, or where it ends before these, the result does not depend on time.
    """
    pool.add_labels(labels)
    found = chosen_of(pool.table(), pool.costs, seconds, nodes)
    return found if found is not None and sse_of(pool.X, found) < sse_of(pool.X, labels) else labels


def chosen_of(table: Any, costs: Float, seconds: float, nodes: int | None = NODES) -> Int | None:
    """The best partition into some of the groups that was found."""
    from scipy.optimize import LinearConstraint, milp

    limit: dict[str, float] = {"time_limit": seconds} if seconds < inf else {}
    if nodes is not None:
        limit["node_limit"] = nodes
    result = milp(
        costs / max(float(costs.mean()), 1e-300),
        integrality=np.ones(len(costs)),
        constraints=LinearConstraint(table, 1.0, 1.0),
        options={"mip_rel_gap": 1e-7, **limit},
    )
    if result.x is None:
        return None
    taken = np.flatnonzero(result.x > 0.5)
    if not np.array_equal(table[:, taken].sum(axis=1), np.ones(table.shape[0])):
        return None
    labels: Int = np.rint(table[:, taken] @ np.arange(len(taken))).astype(np.int64)
    return labels
