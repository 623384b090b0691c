"""CBFS, centroid-based fixed-size microaggregation: one group at a time from the rim inwards.

Like MDAV, but only the record farthest from the centroid gathers its nearest neighbours; the centroid is
computed anew after every group.

Guarantee: every group has k to 2k - 1 records. Ties are broken by the lowest record index.
Cost: as MDAV, with twice as many centroids.

Reference: footnote 1 of R. Mortazavi, S. Jalili and H. Gohargazi, Multivariate microaggregation by iterative
optimization, Applied Intelligence 39 (2013) 529-544; introduced by M. Laszlo and S. Mukherjee, Minimum spanning
tree partitioning algorithm for microaggregation, IEEE TKDE 17 (2005) 902-911.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.mdav import one_group
from shoal.parameters import Rule, Whole
from shoal.steps.peeling import Peeling

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class CBFS(Microaggregator):
    """Centroid-based fixed-size microaggregation (Laszlo and Mukherjee 2005).

    Parameters
    ----------
    k : int
        The least number of records in a group.

    Notes
    -----
    While at least k records are free, the one farthest from their centroid and its k - 1 nearest free
    records form a group. Fewer than k left over join, in file order, the groups with the nearest centroids,
    each of which is updated at once. Ties go to the lowest record index. Where records have weights, all centroids
    are weighted, as in MDAV.
    """

    name = "cbfs"
    idea = "as MDAV, one group at a time"
    cost = "about n^1.3 time on data with structure, O(n) memory"
    reference = "Laszlo and Mukherjee 2005; Mortazavi et al. 2013, footnote 1"
    weighted = True

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1)}

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return peeled(Peeling(X, self.k, progress))

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        return peeled(Peeling(X, self.k, progress, weights))


def peeled(peeling: Peeling) -> Int:
    """One group after the other, then what is left over."""
    peeling.run(one_group, floor=peeling.k)
    return peeling.group_the_rest()
