"""t-closeness by merging: MDAV, then groups that are too far from the table merged with their neighbours.

The groups of MDAV know nothing of confidential values. While the distribution of these in some group is farther
than t from that in the table, the group with the greatest distance and the group nearest to it become one.

Guarantee: every group has at least k records and is within t of the table, if the whole table is. Ties are
broken by the lowest record index or group number.
Cost: MDAV, then O(g m) for each of at most g - 1 merges of g groups; O(n) memory beside the data.

Reference: Algorithm 1 of J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, t-Closeness through
microaggregation: strict privacy with enhanced utility preservation, IEEE Transactions on Knowledge and Data
Engineering 27 (2015) 3098-3110.
"""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator, Progress
from shoal.methods.mdav import MDAV
from shoal.methods.tfrp import chains
from shoal.parameters import Rule, Whole

if TYPE_CHECKING:
    from shoal.privacy.rules import Rules

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MOST = 64  # merges in a call of the kernel


class TClosenessMerging(Microaggregator):
    """MDAV, then merging for t-closeness: Algorithm 1 of Soria-Comas et al. (2015).

    Parameters
    ----------
    k : int
        The least number of records in a group.

    Notes
    -----
    t, the confidential attribute and the distance are those of the first t-closeness in the `rules` that `fit`
    is given. Without rules the groups are those of MDAV. While a group is farther than t from the table, the one
    with the greatest distance is merged with the group that has the nearest centroid. Distances of distributions
    that differ by no more than 1e-9 count as equal; ties go to the lowest group number, and a merged group has
    the lower number of its two.
    """

    name = "t-closeness-merging"
    idea = "MDAV; groups too far from the table merged with their neighbours"
    cost = "as MDAV, and the square of the number of groups"
    reference = "Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, Algorithm 1"
    ruled = True

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1)}

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return MDAV(k=self.k)._group(X, progress)

    def _group_ruled(self, X: Float, weights: Float | None, rules: "Rules", progress: Progress | None) -> Int:
        place = closeness_in(rules, self._in_words)
        return merged(X, self._group(X, progress), rules, place, progress)


def closeness_in(rules: "Rules", called: str) -> int:
    """The place of the first t-closeness among the models."""
    from shoal.privacy.models import TCloseness

    for place, model in enumerate(rules.models):
        if isinstance(model, TCloseness):
            return place
    raise ShoalError(
        f"{called} groups records for t-closeness, which is not asked for; ask for it, for example by "
        "TCloseness(0.2, on='income'), or choose another method"
    )


def merged(X: Float, labels: Int, rules: "Rules", place: int, progress: Progress | None) -> Int:
    """Groups merged, the farthest from the table first, until none is too far from it."""
    values, excess = (found[place] for found in rules.judge(labels))
    if not excess.any():
        return labels
    from shoal.kernels.single.closeness import merge_steps
    from shoal.kernels.single.dissolve import fill_labels
    from shoal.kernels.sums.exact import new_sums

    first, following, centroids = chains(X, labels)
    state = new_sums(X), rules.compiled, place, first, following, centroids, values, excess
    while merge_steps(X, *state, _MOST):
        if progress is not None:
            progress(len(X), len(X))
    fill_labels(first, following, labels)
    return labels
