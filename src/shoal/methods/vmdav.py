"""V-MDAV, variable-size MDAV: groups that grow beyond k where the next record is close.

The record farthest from the centroid of all data gathers its k - 1 nearest neighbours; then the group takes in
the nearest free record as long as that record is closer to the group than to the other free records.

Guarantee: every group has at least k records. Ties are broken by the lowest record index.
Cost: k nearest-neighbour searches more per group than MDAV; O(n) memory beside the data.

Reference: A. Solanas and A. Martinez-Balleste, V-MDAV: a multivariate microaggregation with variable group size,
COMPSTAT 2006.
"""

from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.parameters import Number, Rule, Whole
from shoal.partition import means_of
from shoal.steps.peeling import Peeling, orders_from

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class VMDAV(Microaggregator):
    """Variable-size MDAV (Solanas and Martinez-Balleste 2006).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    gamma : float
        The gain factor, at least 0: how much closer to the group than to the other free records a record must
        be to join. Near 0.2 for scattered data, near 1.1 for clustered data; 0 lets no group grow.

    Notes
    -----
    The centroid is computed once, from all records. While at least k records are free, the one farthest from it
    and its k - 1 nearest free records form a group, which is then extended up to 2k - 1 records: the candidate is
    the free record nearest to any member, at the squared distance d_in; d_out is its squared distance to the
    nearest other free record; it joins if d_in < gamma * d_out. Fewer than k left over join, in file order, the
    groups with the nearest centroids, each of which is updated at once. Ties go to the lowest record index. Where
    records have weights, all centroids are weighted, as in MDAV; d_in and d_out are not.
    """

    name = "vmdav"
    idea = "as MDAV, groups grow where the next record is close"
    cost = "about k times that of MDAV at worst, O(n) memory"
    reference = "Solanas and Martinez-Balleste 2006"
    weighted = True

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "gamma": Number(0)}

    def __init__(self, k: int = 5, gamma: float = 0.2) -> None:
        self.k = k
        self.gamma = gamma

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return self._peeled(Peeling(X, self.k, progress), means_of(X, np.zeros(len(X), np.int64)))

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        centroid = means_of(X, np.zeros(len(X), np.int64), weights)
        return self._peeled(Peeling(X, self.k, progress, weights), centroid)

    def _peeled(self, peeling: Peeling, centroid: Float) -> Int:
        """The steps of the method around the centroid of all records."""
        orders, cursors = orders_from(peeling.X, centroid)
        peeling.run(partial(ordered_groups, orders, cursors, float(self.gamma)), floor=self.k)
        return peeling.group_the_rest()


def ordered_groups(
    orders: Int, cursors: Int, gamma: float, peeling: Peeling, floor: int, most: int
) -> tuple[int, int]:
    """Groups around the first free record of each order in turn, growing if gamma is not negative."""
    from shoal.kernels.single.peel import ordered_steps

    return ordered_steps(
        peeling.tree,
        peeling.sums,
        peeling.labels,
        peeling.free,
        peeling.label,
        peeling.k,
        most,
        orders,
        cursors,
        peeling.slots(),
        gamma,
    )
