"""k in persons: how many different persons share a combination, and how many share all their rows.

Several rows of one person are no crowd, so they count once. Where rows of a person can be linked, by a pseudonym
that is released, the whole sequence of rows is what somebody may recognise: at least k persons must have the same
rows, each as often.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.privacy.k_anonymity import Anonymity

Int = NDArray[np.int64]


def sizes_of(groups: Int, persons: Int | None) -> Int:
    """How many different persons each group has; how many records, where it is not said whose they are."""
    return np.bincount(groups) if persons is None else persons_in(groups, persons).sizes


def persons_in(groups: Int, persons: Int) -> Anonymity:
    """How many different persons each group has; both are given by the numbers of each record."""
    pairs = np.unique(groups * (int(persons.max()) + 1) + persons)
    return Anonymity(np.bincount(pairs // (int(persons.max()) + 1)))


def linked(groups: Int, persons: Int, counted: Int | None = None) -> Anonymity:
    """How many persons have the same rows: the same groups, each as often; one number for each such set of rows.

    With `counted`, by its numbers: such as how many different households these persons are of.
    """
    order = np.lexsort((groups, persons))
    rows, sorted_groups = np.bincount(persons), groups[order]
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]])
    same, before = np.empty(len(rows), np.int64), 0
    for count in np.unique(rows):
        own = np.flatnonzero(rows == count)
        sequences = sorted_groups[starts[own][:, None] + np.arange(count)]
        same[own] = np.unique(sequences, axis=0, return_inverse=True)[1].reshape(-1) + before
        before = int(same[own].max()) + 1
    return persons_in(same[persons], persons if counted is None else counted)
