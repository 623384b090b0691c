"""Groups peeled off the free records, one or two at a time: what MDAV, CBFS, V-MDAV and TFRP have in common.

The free records stand in a search tree, which is built anew when most of them have gone or when what is left
is so small against the outliers that went that its bounds tell nothing apart.

Where groups are so large that a tree rules out too little, the free records stand in columns instead, and each
step looks at all of them.

With weights the centroid of the free records is the weighted one. Records of no weight may be left at the end;
these have the plain centroid.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Progress
from shoal.kernels.search_tree.shell import Shell, new_shell
from shoal.kernels.search_tree.tree import Tree, build_tree
from shoal.kernels.single.peel import nearest_row, squared_distances
from shoal.kernels.sums.exact import (
    Sums,
    add_all_rows,
    add_rows,
    centroid,
    group_means,
    new_sums,
    weighted_group_means,
    weighted_products,
    zero_like,
)
from shoal.partition import below_one

if TYPE_CHECKING:
    from shoal.kernels.single.scan import Columns

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Steps = Callable[["Peeling", int, int], tuple[int, int]]
"""Called with (peeling, floor, most): form up to `most` groups while `floor` records are free; returns (free
records, next label)."""

_FIRST, _MOST = 32, 2_000  # steps in a call, doubled from call to call: a blurred tree is seen early
_MOSTLY_GONE = 0.1
_BLURRED = 1e-4


@dataclass(frozen=True)
class Weighing:
    """Weights below 1, the records times these, and the sums of that over the free records."""

    weights: Float
    products: Float
    sums: Sums

    @property
    def of_nothing(self) -> bool:
        """Whether the free records have no weight."""
        return not self.sums.digits[-1].any()


def weighing(X: Float, weights: Float) -> Weighing:
    """The weights of a table whose records are all free."""
    weights = below_one(weights)
    products = weighted_products(X, weights)
    sums = new_sums(products)
    add_all_rows(sums, products)
    return Weighing(weights, products, sums)


class Peeling:
    """The state of a table while groups are peeled off: labels, -1 where free, and the search structure."""

    def __init__(
        self,
        X: Float,
        k: int,
        progress: Progress | None,
        weights: Float | None = None,
        scanned: bool = False,
    ) -> None:
        self.X = X
        self.k = k
        self.weighing = None if weights is None else weighing(X, weights)
        self.labels = np.full(len(X), -1, np.int64)
        self.free = len(X)
        self.label = 0
        self.sums: Sums = new_sums(X)
        add_all_rows(self.sums, X)
        self.columns = columns_of(X) if scanned else None
        self.tree: Tree
        self.shell: Shell
        self._slots: NDArray[np.int32] | None = None
        self._progress = progress
        self._built_for = 0
        self._weightless = False

    def run(self, steps: Steps, floor: int, most: int | None = None) -> None:
        """Call `steps` while at least `floor` records are free, or for `most` steps."""
        batch = _FIRST if most is None else most
        while self.free >= floor:
            if self.columns is None and self._is_stale():
                self._build()
            self.free, self.label = steps(self, floor, batch)
            self.report()
            if most is not None:
                return
            batch = min(2 * batch, _MOST)

    def weighing_of_free(self) -> Weighing | None:
        """The weights, if a free record has one; else the plain sums are made to be those of the free records."""
        if self.weighing is None or not self.weighing.of_nothing:
            return self.weighing
        if not self._weightless:
            self._weightless = True
            self.sums = zero_like(self.sums)
            add_rows(self.sums, self.X, np.flatnonzero(self.labels < 0))
        return None

    def report(self) -> None:
        """Say how many records have a group."""
        if self._progress is not None:
            self._progress(len(self.X) - self.free, len(self.X))

    def group_the_rest(self) -> Int:
        """Give a group of their own to k records or more, let fewer join the nearest groups; the labels."""
        rest = np.flatnonzero(self.labels < 0)
        if len(rest) >= self.k:
            self.labels[rest] = self.label
        elif len(rest):
            self._join_nearest(rest)
        self.free = 0
        self.report()
        return self.labels

    def slots(self) -> NDArray[np.int32]:
        """The slot of each free record in the tree; first asked for when the tree is new."""
        if self._slots is None:
            starts, ends = self.tree.who[:, 1] - 1, self.tree.who[:, 2]  # of each slot's records in ids
            order = np.argsort(starts)
            self._slots = np.empty(len(self.X), np.int32)
            self._slots[self.tree.ids] = np.repeat(order, (ends - starts)[order])
        return self._slots

    def _is_stale(self) -> bool:
        if self._built_for == 0:
            return True
        return self.free < _MOSTLY_GONE * self._built_for or self.tree.reach[-1].max() < _BLURRED

    def _build(self) -> None:
        if self._built_for:
            del self.tree, self.shell  # the old ones go before the new ones come
        self._slots = None
        records = np.flatnonzero(self.labels < 0).astype(np.int32)
        self.tree = build_tree(self.X, records)
        self.shell = new_shell(len(records), self.X.shape[1], self.k)
        self._built_for = len(records)

    def _join_nearest(self, rest: Int) -> None:
        """Each record, in file order, joins the group with the nearest centroid, which moves at once."""
        order = np.argsort(self.labels, kind="stable")[len(rest) :]
        sizes = np.bincount(self.labels[order])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        if self.weighing is not None:
            self._join_nearest_weighed(rest, self.weighing.weights, order, starts)
            return
        centroids = group_means(self.X, order, starts)
        joined: dict[int, Sums] = {}
        for record in rest:
            group = nearest_row(centroids, self.X[record])
            if group not in joined:
                joined[group] = zero_like(self.sums)
                add_rows(joined[group], self.X, order[starts[group] : starts[group + 1]])
            add_rows(joined[group], self.X, np.array([record]))
            sizes[group] += 1
            centroid(joined[group], sizes[group], centroids[group], np.empty(1, np.int64))
            self.labels[record] = group

    def _join_nearest_weighed(self, rest: Int, weights: Float, order: Int, starts: Int) -> None:
        """The same by weighted centroids; a group has few records, so its centroid is computed anew."""
        centroids = weighted_group_means(self.X, weights, order, starts)
        joined: dict[int, Int] = {}
        for record in rest:
            group = nearest_row(centroids, self.X[record])
            members = joined.get(group, order[starts[group] : starts[group + 1]])
            joined[group] = members = np.append(members, record)
            whole = np.arange(len(members)), np.array([0, len(members)])
            centroids[group] = weighted_group_means(self.X[members], weights[members], *whole)[0]
            self.labels[record] = group


def columns_of(X: Float) -> "Columns":
    """All records in columns."""
    from shoal.kernels.single.scan import new_columns

    return new_columns(X)


def orders_from(X: Float, points: Float) -> tuple[Int, Int]:
    """For each point the records from the farthest to the nearest, and where in that order to begin."""
    distances = np.empty(len(X))
    orders = np.empty((len(points), len(X)), np.int64)
    for order, point in zip(orders, points, strict=True):
        squared_distances(X, point, distances)
        order[:] = np.argsort(-distances, kind="stable")
    return orders, np.zeros(len(points), np.int64)
