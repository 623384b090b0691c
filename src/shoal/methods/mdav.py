"""MDAV, maximum distance to average vector: groups of k from the rim of the data inwards.

The record farthest from the centroid of all free records gathers its k - 1 nearest neighbours; so does
the record farthest from it, at the other end of the data; then again with what is left.

Guarantee: every group has k to 2k - 1 records. Ties are broken by the lowest record index.
Cost: about n^1.3 time on data with structure, O(n^2 m / k) at worst; O(n) memory beside the data.

Reference: Algorithm A of D. Rebollo-Monedero, A. M. Mezher, X. Casanova Colome, J. Forne and M. Soriano,
Efficient k-anonymous microaggregation of multivariate numerical data via principal component analysis,
Information Sciences 503 (2019) 417-443; MDAV-generic: J. Domingo-Ferrer and V. Torra, Ordinal, continuous and
heterogeneous k-anonymity through microaggregation, Data Mining and Knowledge Discovery 11 (2005) 195-212.
"""

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.parameters import OneOf, Rule, Whole
from shoal.steps.peeling import Peeling

if TYPE_CHECKING:
    from shoal.kernels.single.scan import Columns

Float = NDArray[np.float64]
Int = NDArray[np.int64]


_LARGE = 50  # records of a group from which,
_FEW = 100  # and groups up to which looking at all free records is faster than a search tree


class MDAV(Microaggregator):
    """Maximum distance to average vector, as Algorithm A of Rebollo-Monedero et al. (2019).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    until : {"2k", "3k"}
        Form pairs of groups while so many records are free: 2k as in Algorithm A, or 3k as in the
        MDAV-generic of Domingo-Ferrer and Torra (2005), which then, with 2k to 3k - 1 records left, forms
        one group around the record farthest from their centroid and one of the rest.

    Notes
    -----
    While at least 2k records are free, two groups are formed: one around the free record P farthest from
    their centroid, one around the free record Q farthest from P. If k to 2k - 1 records are left, they
    form the last group; if fewer, each joins, in file order, the group with the nearest centroid, and
    that centroid is updated at once. Centroids come from exact sums, distances are summed attribute by
    attribute, and ties go to the lowest record index, so the groups depend on the input alone. Where records have
    weights, all centroids are weighted; the plain one stands for records that all have the weight 0.
    """

    name = "mdav"
    family = "everyday"
    idea = "groups of k from the rim of the data inwards"
    cost = "about n^1.3 time on data with structure, O(n) memory"
    reference = "Rebollo-Monedero et al. 2019, Algorithm A; Domingo-Ferrer and Torra 2005"
    weighted = True

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "until": OneOf(("2k", "3k"))}

    def __init__(self, k: int = 5, until: Literal["2k", "3k"] = "2k") -> None:
        self.k = k
        self.until = until

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return self._peeled(Peeling(X, self.k, progress, scanned=is_scanned(len(X), self.k)))

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        return self._peeled(Peeling(X, self.k, progress, weights))

    def _peeled(self, peeling: Peeling) -> Int:
        """The steps of the method."""
        peeling.run(pairs_of_groups, floor=(2 if self.until == "2k" else 3) * self.k)
        if peeling.free >= 2 * self.k:
            peeling.run(one_group, floor=2 * self.k, most=1)
        return peeling.group_the_rest()


def is_scanned(n: int, k: int) -> bool:
    """Whether groups are found by a look at all free records; they are the same either way."""
    return k >= _LARGE and n <= _FEW * k


def pairs_of_groups(peeling: Peeling, floor: int, most: int) -> tuple[int, int]:
    """Steps 1 to 5: a group around P and one around Q, and again."""
    return centroid_groups(peeling, floor, most, in_pairs=True)


def one_group(peeling: Peeling, floor: int, most: int) -> tuple[int, int]:
    """A group around P alone."""
    return centroid_groups(peeling, floor, most, in_pairs=False)


def centroid_groups(peeling: Peeling, floor: int, most: int, in_pairs: bool) -> tuple[int, int]:
    """Groups around the record farthest from the centroid of the free ones, weighted if they have weights."""
    from shoal.kernels.single.peel import centroid_steps, weighted_centroid_steps

    if peeling.columns is not None:
        return scanned_groups(peeling, peeling.columns, floor, most, in_pairs)
    weighing = peeling.weighing_of_free()
    if weighing is not None:
        return weighted_centroid_steps(
            peeling.tree,
            peeling.shell,
            weighing.sums,
            weighing.products,
            peeling.labels,
            peeling.free,
            peeling.label,
            peeling.k,
            floor,
            most,
            in_pairs,
        )
    return centroid_steps(
        peeling.tree,
        peeling.shell,
        peeling.sums,
        peeling.labels,
        peeling.free,
        peeling.label,
        peeling.k,
        floor,
        most,
        in_pairs,
    )


def scanned_groups(peeling: Peeling, columns: "Columns", floor: int, most: int, in_pairs: bool) -> tuple[int, int]:
    """The same groups by a look at all free records."""
    from shoal.kernels.single.scan import scan_steps

    return scan_steps(
        columns, peeling.sums, peeling.labels, peeling.free, peeling.label, peeling.k, floor, most, in_pairs
    )
