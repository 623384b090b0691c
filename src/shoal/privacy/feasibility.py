"""What a privacy model allows before any work is done: how many groups there can be at the most, and how small.

References
----------
p-sensitivity: T. M. Truta and B. Vinay, Privacy protection: p-sensitive k-anonymity property, ICDE Workshops
(2006). t-closeness on ranks: J. Soria-Comas, J. Domingo-Ferrer, D. Sanchez and S. Martinez, t-Closeness through
microaggregation, IEEE Transactions on Knowledge and Data Engineering 27 (2015) 3098-3110.
"""

from collections.abc import Iterator
from math import ceil

import numpy as np
from numpy.typing import NDArray

from shoal.privacy.models import AlphaK, DeltaDisclosure, Model, TCloseness
from shoal.privacy.rules import Rules, Values

Int = NDArray[np.int64]


def most_groups(model: Model, values: Values, k: int) -> int | None:
    """How many groups of k a model allows at the most, from the values of records that are persons; None if any.

    A group of gaps alone tells no value, so distances and shares allow it.
    """
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.part))
    filled = int(counts.sum())
    silent = (len(values.codes) - filled) // k
    if model.numbers().kind == "distinct" and not model.sensitive_values:
        return by_diversity(counts, int(model.asked))
    if isinstance(model, DeltaDisclosure) and model.absent == "infinite":
        return int(counts[values.harmful].min())
    if isinstance(model, TCloseness) and model.distance == "ranks":
        return filled // least_by_ranks(filled, model.t) + silent
    if isinstance(model, AlphaK) and not model.sensitive_values and model.alpha > 0:
        return filled // ceil(1 / model.alpha - 1e-9) + silent
    return None


def by_diversity(counts: Int, p: int) -> int:
    """How many groups of p different values there can be: the i most frequent values fill no group alone.

    Without the p - i most frequent values, every group still needs i records.
    """
    ranked = np.sort(counts)[::-1]
    below, n = np.concatenate([[0], np.cumsum(ranked)]), int(counts.sum())
    if p > np.count_nonzero(counts):
        return 0
    return min([n // p, *((n - int(below[p - i])) // i for i in range(1, p))])


def least_by_ranks(n: int, t: float) -> int:
    """The least number of records of a group within t of all n by their ranks."""
    low, high = 1, n
    while low < high:
        size = (low + high) // 2
        if (n + size) * (n - size) <= 4 * n * (n - 1) * size * (t + 1e-9):
            high = size
        else:
            low = size + 1
    return low


def outlook(rules: Rules, k: int) -> Iterator[str]:
    """A sentence for each model that allows fewer groups than k does."""
    n = len(rules.people)
    if len(np.unique(rules.people)) < n:
        return  # persons with several rows have several values, and these bounds are for one each
    for model, values in zip(rules.models, rules.values, strict=True):
        most = most_groups(model, values, k)
        if most and most < n // k:
            yield (
                f"{model} allows at most {most} groups of {n}, so a group has {n / most:.1f} on average at least, "
                f"more than k={k}"
            )
