"""The points of a table as a proof sees them: equal records are one point, and every distance is known."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shoal.steps.projections import first_component

Float = NDArray[np.float64]
Int = NDArray[np.int64]

NEAR = 256
"""Neighbours of a point that are listed."""


@dataclass
class Points:
    """The distinct points along their first principal component, how many records each has, and their neighbours.

    The records have places, from 0 to n - 1: equal ones side by side, in the order of their points.
    """

    X: Float
    k: int
    high: int
    rows: Float = field(init=False)
    kinds: Int = field(init=False)  # the point of each record
    weights: Int = field(init=False)

    def __post_init__(self) -> None:
        rows, kinds = np.unique(self.X, axis=0, return_inverse=True)
        along = np.argsort(first_component(rows), kind="stable")
        self.rows, self.kinds = np.ascontiguousarray(rows[along]), np.argsort(along)[kinds.reshape(-1)]
        self.weights = np.bincount(self.kinds)
        self.records = np.argsort(self.kinds, kind="stable")  # the record at each place
        self.places = np.repeat(np.arange(len(rows)), self.weights)  # the point at each place
        self.d2 = np.zeros((len(self.rows), len(self.rows)))
        for column in self.rows.T:
            self.d2 += (column[:, None] - column) ** 2
        self.near = nearest(self.d2, min(NEAR, len(self.rows) - 1))

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.X)

    @property
    def most_groups(self) -> int:
        """The greatest number of groups."""
        return self.n // self.k

    def mean_of_equals(self, values: Float) -> Float:
        """One value for each point: the mean of its records'."""
        return np.bincount(self.kinds, values) / self.weights

    def sse(self, group: Int) -> float:
        """The SSE of a group."""
        return float(self.d2[np.ix_(group, group)].sum()) / (2 * len(group))


def nearest(d2: Float, count: int) -> Int:
    """The `count` nearest other points of each, nearest first."""
    near = np.empty((len(d2), count), np.int64)
    for i, row in enumerate(d2):
        ranked = row.copy()
        ranked[i] = np.inf
        chosen = np.argpartition(ranked, count - 1)[:count]
        near[i] = chosen[np.argsort(ranked[chosen], kind="stable")]
    return near
