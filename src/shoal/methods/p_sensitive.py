"""p-sensitive microaggregation: MDAV with groups that gather p different confidential values first.

As in MDAV, the record farthest from the centroid of the free records gathers a group, then the record farthest
from it. A group takes the nearest records with values that it does not have yet, until it has p different ones,
and then the nearest records of any value up to k.

Guarantee: every group has at least k records and p different values, if the whole table has. Ties are broken by
the lowest record index.
Cost: O(n^2 (m + log n) / k) time, O(n) memory beside the data.

Reference: A. Solanas, F. Sebe and J. Domingo-Ferrer, Micro-aggregation-based heuristics for p-sensitive
k-anonymity: one step beyond, Proceedings of the International Workshop on Privacy and Anonymity in Information
Society (2008). We did not have the paper. This is the adaptation of MDAV that its abstract speaks of, with steps
of our own.
"""

from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator, Progress
from shoal.methods.mdav import MDAV
from shoal.parameters import Rule, Whole
from shoal.steps.peeling import Peeling

if TYPE_CHECKING:
    from shoal.privacy.rules import Rules

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MOST = 64  # pairs of groups in a call of the kernel


class PSensitive(Microaggregator):
    """p-sensitive k-anonymous microaggregation, after Solanas, Sebe and Domingo-Ferrer (2008).

    Parameters
    ----------
    k : int
        The least number of records in a group.

    Notes
    -----
    p and the confidential attribute are those of the first p-sensitivity or distinct l-diversity (then p is l)
    in the `rules` that `fit` is given. Without rules the groups are those of MDAV. With s the larger of k and p:
    while at least 2s records are free and p values are among them, a group is formed around the free record P
    farthest from their centroid, and one around the free record farthest from P, if s records and p values are
    still free. A group is its seed, then the nearest free records with values that it does not have, until it
    has p of them, then the nearest free records up to s. If s or more records with p values are left, they are
    the last group. If not, each joins, in file order, the group with the nearest centroid, and that centroid is
    updated at once. A missing value is no value; a person with several records counts with the value of the
    first that has one. Ties go to the lowest record index.

    The abstract of the paper says that MDAV can be adapted to p-sensitivity, and not how. The steps are ours.
    """

    name = "p-sensitive"
    idea = "MDAV; each group gathers p different confidential values first"
    cost = "about n^2 / k time, O(n) memory"
    reference = "after Solanas, Sebe and Domingo-Ferrer 2008"
    ruled = True

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1)}

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return MDAV(k=self.k)._group(X, progress)

    def _group_ruled(self, X: Float, weights: Float | None, rules: "Rules", progress: Progress | None) -> Int:
        place = diversity_in(rules, self._in_words)
        return diverse_groups(X, first_values(rules, place), int(rules.models[place].asked), self.k, progress)


def diversity_in(rules: "Rules", called: str) -> int:
    """The place of the first model that counts different values."""
    for place, model in enumerate(rules.models):
        if model.numbers().kind == "distinct":
            return place
    raise ShoalError(
        f"{called} groups records for p-sensitivity, which is not asked for; ask for it, for example by "
        "PSensitivity(3, on='diagnosis') or LDiversity(3, on='diagnosis'), or choose another method"
    )


def first_values(rules: "Rules", place: int) -> Int:
    """The first value of each unit, -1 if it has none."""
    codes = rules.values[place].codes
    records = np.flatnonzero(codes >= 0)[::-1]
    values = np.full(rules.n_units, -1, np.int64)
    values[rules.units[records]] = codes[records]
    return values


def diverse_groups(X: Float, values: Int, p: int, k: int, progress: Progress | None) -> Int:
    """Groups of k records with p different values."""
    from shoal.kernels.single.closeness import sensitive_steps
    from shoal.kernels.sums.exact import add_all_rows, new_sums

    n, size = len(X), max(k, p)
    sums, labels, ids = new_sums(X), np.full(n, -1, np.int64), np.arange(n)
    add_all_rows(sums, X)
    left = np.bincount(values[values >= 0], minlength=1)
    free, label, before = n, 0, -1
    while label != before:
        before = label
        free, label = sensitive_steps(X, sums, values, left, p, size, labels, ids, free, label, _MOST)
        if progress is not None:
            progress(n - free, n)
    if label == 0:
        return np.zeros(n, np.int64)
    rest = Peeling(X, size if np.count_nonzero(left) >= p else n + 1, progress)  # so many are a group of their own
    rest.labels, rest.free, rest.label = labels, free, label
    return rest.group_the_rest()
