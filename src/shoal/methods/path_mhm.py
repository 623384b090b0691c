"""MHM on a path: the records lined up in some order, the row cut into groups at the least SSE.

On one attribute the sorted order is the right one and the cut is optimal (Hansen and Mukherjee 2003). On several,
the groups are only as good as the order: Domingo-Ferrer et al. (2006) line the records up from neighbour to
neighbour (NPN), or through the groups of a fixed-size method, which the cut can only improve.

Guarantee: every group has k to 2k - 1 records; never worse than the groups that the order went through, if these
have k to 2k - 1 records. Ties are broken by the lowest record index.
Cost: the order's, then O(nk) for the cut, O(n) memory.

Reference: J. Domingo-Ferrer, A. Martinez-Balleste, J. M. Mateo-Sanz and F. Sebe, Efficient multivariate
data-oriented microaggregation, VLDB Journal 15 (2006) 355-369; R. Mortazavi, S. Jalili and H. Gohargazi,
Multivariate microaggregation by iterative optimization, Applied Intelligence 39 (2013) 529-544, Fig. 4.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator, Progress
from shoal.methods.cbfs import CBFS
from shoal.methods.mdav import MDAV
from shoal.parameters import OneOf, Rule, Whole
from shoal.steps.projections import first_component, zscore_sum
from shoal.steps.rows import (
    cut,
    cut_round_trip,
    maximum_distance,
    nearest_point_next,
    round_trip,
    row_through_groups,
)

Float = NDArray[np.float64]
Int = NDArray[np.int64]

ORDERS = ("mdav", "cbfs", "md", "npn", "tsp", "pca", "zscore")


@dataclass(frozen=True)
class Order:
    """The name of an order, or all record numbers in some order."""

    def check(self, name: str, value: object) -> object:
        """The name, or the record numbers; whether these are all there is seen when the records are."""
        return OneOf(ORDERS).check(name, value) if value is None or isinstance(value, str) else value


class PathMHM(Microaggregator):
    """MHM on a path through all records (Domingo-Ferrer et al. 2006).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    order : {"mdav", "cbfs", "md", "npn", "tsp", "pca", "zscore"} or all record numbers
        How the records are lined up. "mdav", "cbfs" and "md" (maximum distance): group after group of that
        method, always on to the nearest centroid. "npn": always on to the nearest record not yet in the row.
        "tsp": a short round trip, opened at its best place. "pca": along the first principal component. "zscore":
        by the sum of z-scores. Or an order of your own, as an array of record numbers from 0.

    Notes
    -----
    Rows through groups begin with the group of the record farthest from the centroid of all; inside a group the
    record farthest from the next centroid comes first. The cut into groups of k to 2k - 1 neighbours with the
    least SSE is a shortest path; centroid and SSE of a group grow with each record in constant time.
    """

    name = "path-mhm"
    idea = "a row of records, cut into groups at the least SSE"
    cost = "that of the order, then O(nk) time, O(n) memory"
    reference = "Domingo-Ferrer et al. 2006; Mortazavi et al. 2013"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "order": Order()}

    def __init__(self, k: int = 5, order: str | Sequence[int] | Int = "mdav") -> None:
        self.k = k
        self.order = order

    def _group(self, X: Float, progress: Progress | None) -> Int:
        if isinstance(self.order, str) and self.order == "tsp":
            labels = cut_round_trip(X, round_trip(X, progress), self.k)
        else:
            labels = cut(X, self._row(X, progress), self.k)
        if progress is not None:
            progress(len(X), len(X))
        return labels

    def _row(self, X: Float, progress: Progress | None) -> Int:
        if not isinstance(self.order, str):
            return checked_order(self.order, len(X))
        if self.order == "npn":
            return nearest_point_next(X)
        if self.order in ("pca", "zscore"):
            return np.argsort(first_component(X) if self.order == "pca" else zscore_sum(X), kind="stable")
        if self.order == "md":
            groups = maximum_distance(X, self.k, progress)
        else:
            base = MDAV if self.order == "mdav" else CBFS
            groups = base(k=self.k).fit(X, progress=progress).labels_
        return row_through_groups(X, groups, by_records=False)


def checked_order(order: object, n: int) -> Int:
    """The record numbers as an array, if every record is there once."""
    row = np.asarray(order)
    if row.shape != (n,) or row.dtype.kind not in "iu" or not np.array_equal(np.sort(row), np.arange(n)):
        raise ShoalError(
            f"order must name one of {', '.join(ORDERS)}, or hold each record number from 0 to {n - 1} once"
        )
    return row.astype(np.int64)
