"""k-anonymity first: groups of k near records, some of which are replaced until the group is close to the table.

As in MDAV, the record farthest from the centroid of the free records gathers its nearest free records, then the
record farthest from it. A group that is farther than t from the table looks at the other free records, the
nearest to its seed first, and takes each of them for the member whose going helps most, if that helps at all.

Guarantee: every group has at least k records and is within t of the table, if the whole table is: groups that
are not are merged at the end. Ties are broken by the lowest record index.
Cost: O(n^2 (m + log n) / k) time where few groups come within t, O(n) memory beside the data.

Reference: Algorithm 2 of J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, t-Closeness through
microaggregation: strict privacy with enhanced utility preservation, IEEE Transactions on Knowledge and Data
Engineering 27 (2015) 3098-3110.
"""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.mdav import MDAV
from shoal.methods.t_closeness_merging import closeness_in, merged
from shoal.parameters import Rule, Whole

if TYPE_CHECKING:
    from shoal.privacy.rules import Rules

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MOST = 32  # pairs of groups in a call of the kernel


class KAnonymityFirst(Microaggregator):
    """k-anonymity first, aware of t-closeness: Algorithm 2 of Soria-Comas et al. (2015).

    Parameters
    ----------
    k : int
        The least number of records in a group.

    Notes
    -----
    t, the confidential attribute and the distance are those of the first t-closeness in the `rules` that `fit`
    is given. Without rules the groups are those of MDAV. While records are free, a group is formed around the
    free record P farthest from their centroid, and one around the free record farthest from P. A group begins
    with its seed and the k - 1 free records nearest to it. While it is farther than t from the table, the next
    nearest free record takes the place of the member whose going leaves the lowest distance, if that is lower
    than before; the seed may go too. Who has gone is free again, and no candidate for this group. The last k to
    2k - 1 records are a group as they are. At the end groups that are still too far are merged as in
    `TClosenessMerging`. Distances of distributions that differ by no more than 1e-9 count as equal; ties go to
    the lowest record index.
    """

    name = "k-anonymity-first"
    idea = "groups of k near records, some replaced until the group is close to the table"
    cost = "about n^2 / k time where t is small, O(n) memory"
    reference = "Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, Algorithm 2"
    ruled = True

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1)}

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return MDAV(k=self.k)._group(X, progress)

    def _group_ruled(self, X: Float, weights: Float | None, rules: "Rules", progress: Progress | None) -> Int:
        place = closeness_in(rules, self._in_words)
        return merged(X, refined_groups(X, self.k, rules, place, progress), rules, place, progress)


def refined_groups(X: Float, k: int, rules: "Rules", place: int, progress: Progress | None) -> Int:
    """Groups around the outermost records, each with some members replaced."""
    from shoal.kernels.single.closeness import refined_steps
    from shoal.kernels.sums.exact import add_all_rows, new_sums

    n, compiled = len(X), rules.compiled
    alone = bool(compiled.single[place] and np.diff(compiled.start[place]).max() <= 1)
    sums, labels, ids = new_sums(X), np.full(n, -1, np.int64), np.arange(n)
    add_all_rows(sums, X)
    free, label = n, 0
    while free:
        free, label = refined_steps(X, sums, compiled, place, alone, labels, ids, free, label, k, _MOST)
        if progress is not None:
            progress(n - free, n)
    return labels
