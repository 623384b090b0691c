"""t-closeness first: groups with one record of each stratum of the confidential attribute.

The records are ranked by the confidential attribute and cut into as many strata as a group has records, so many
that a group with a record of each stratum is within t of the table. Among such groups, those of near records are
formed: around a seed as in MDAV, the nearest record of each stratum.

Guarantee: every group has at least k records and is within t of the table, if the whole table is. Groups have k'
or k' + 1 records. Ties are broken by the lowest record index.
Cost: O(n^2 m / k') time, more where k' has to be raised; O(n) memory beside the data.

Reference: Algorithm 3 of J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, t-Closeness through
microaggregation: strict privacy with enhanced utility preservation, IEEE Transactions on Knowledge and Data
Engineering 27 (2015) 3098-3110.
"""

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.mdav import MDAV
from shoal.methods.t_closeness_merging import closeness_in
from shoal.parameters import Rule, Whole

if TYPE_CHECKING:
    from shoal.kernels.single.closeness import Strata
    from shoal.privacy.rules import Rules

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MOST = 64  # pairs of groups in a call of the kernel


class TClosenessFirst(Microaggregator):
    """t-closeness first: Algorithm 3 of Soria-Comas et al. (2015).

    Parameters
    ----------
    k : int
        The least number of records in a group.

    Notes
    -----
    t, the confidential attribute and the distance are those of the first t-closeness in the `rules` that `fit`
    is given. Without rules the groups are those of MDAV. A group has k' = max(k, n / (2 (n - 1) t + 1)) records,
    rounded up, and then as many more as leave fewer spare records than there are groups. The records in the
    order of the confidential attribute are cut into k' strata of n / k' records, rounded down; the spare ones
    belong to the stratum in the middle, or in halves to the two there. While records are free, a group is formed
    around the free record P farthest from their centroid, and one around the free record farthest from P: the
    nearest record of each stratum, and while there are spare records, one more from the middle.

    If k' divides n, a group is at most (n - k') / (2 (n - 1) k') from the table by the distance of ranks. That
    is t at most, and it is all that is proven. In all other cases (spare records, another distance, missing
    values, persons with several records), the groups are judged, and if one is farther than t, the next larger
    k' is tried, in the end one group of all. A person who has several records is ranked by their mean; values
    without an order stand in that of their names. Ties go to the lowest record index.
    """

    name = "t-closeness-first"
    idea = "groups of near records, one of each stratum of the confidential attribute"
    cost = "about n^2 / k' time, O(n) memory"
    reference = "Soria-Comas, Domingo-Ferrer, Sanchez and Martinez 2015, Algorithm 3"
    ruled = True

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1)}

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return MDAV(k=self.k)._group(X, progress)

    def _group_ruled(self, X: Float, weights: Float | None, rules: "Rules", progress: Progress | None) -> Int:
        place = closeness_in(rules, self._in_words)
        order = np.argsort(ranked_by(rules, place), kind="stable")
        size = least_size(len(X), self.k, rules.models[place].asked)
        steps = Reported(len(X), progress)
        while (labels := stratified_groups(X, order, size, rules, place, steps)) is None:
            size = without_excess(len(X), size + 1)
        return labels


class Reported:
    """Progress that rises: a new attempt says nothing until it has come farther than the one before."""

    def __init__(self, n: int, progress: Progress | None) -> None:
        self._n = n
        self._progress = progress
        self._most = 0

    def say(self, done: int) -> None:
        """So many records have a group."""
        self._most = max(self._most, done)
        if self._progress is not None:
            self._progress(self._most, self._n)


def least_size(n: int, k: int, t: float) -> int:
    """k': the least size of groups that are within t by the distance of ranks."""
    # t is the decimal number that somebody wrote, not the double next to it
    return without_excess(n, max(k, ceil(n / (2 * (n - 1) * Fraction(repr(t)) + 1))))


def without_excess(n: int, size: int) -> int:
    """A size at least as large that leaves fewer spare records than there are groups, in as many groups."""
    return size + n % size // (n // size)


def ranked_by(rules: "Rules", place: int) -> Float:
    """What each unit is ranked by: the mean of the numbers of its values, the first where there is no order."""
    codes, units, n = rules.values[place].codes, rules.units, rules.n_units
    there = codes >= 0
    rows = np.bincount(units[there], minlength=n)
    means = np.full(n, -1.0)
    if rules.models[place].numbers().kind == "line":
        np.divide(np.bincount(units[there], codes[there], minlength=n), rows, out=means, where=rows > 0)
    else:
        records = np.flatnonzero(there)[::-1]
        means[units[records]] = codes[records]
    return means


def stratified_groups(X: Float, order: Int, size: int, rules: "Rules", place: int, steps: Reported) -> Int | None:
    """Groups of `size` records, one of each stratum; None if one of several groups is too far from the table."""
    from shoal.kernels.single.closeness import stratified_steps
    from shoal.kernels.sums.exact import add_all_rows, new_sums

    n = len(X)
    if n < 2 * size:
        steps.say(n)
        return np.zeros(n, np.int64)
    sums, strata, labels = new_sums(X), strata_of(order, size), np.full(n, -1, np.int64)
    add_all_rows(sums, X)
    free, label, near = n, 0, True
    while free and near:
        free, label, near = stratified_steps(X, sums, rules.compiled, place, strata, labels, free, label, _MOST)
        steps.say(n - free)
    return labels if near else None


def strata_of(order: Int, size: int) -> "Strata":
    """The ranked records cut into strata, the spare ones in the middle."""
    from shoal.kernels.single.closeness import Strata

    each, over = divmod(len(order), size)
    spare = np.zeros(size, np.int64)
    spare[(size - 1) // 2] = over - over // 2
    spare[size // 2] += over // 2
    counts = each + spare
    return Strata(order.copy(), np.concatenate([[0], np.cumsum(counts)[:-1]]), counts, spare)
