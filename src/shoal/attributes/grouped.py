"""What groups have in common, from the numbers of their values: how often each occurs, and which most often.

Group g holds the records order[starts[g]:starts[g + 1]].
"""

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]


def counted(codes: Int, order: Int, starts: Int, levels: int) -> tuple[Int, Int, Int]:
    """For each group and each level in it: the group, the level, and how often; by groups, then by levels."""
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    pairs, counts = np.unique(group * levels + codes[order], return_counts=True)
    return pairs // levels, pairs % levels, counts


def modes(codes: Int, order: Int, starts: Int, levels: int) -> Int:
    """The most frequent level of each group, the lowest one of several."""
    group, level, count = counted(codes, order, starts, levels)
    ranked = np.lexsort((level, -count, group))
    first = ranked[np.searchsorted(group[ranked], np.arange(len(starts) - 1))]
    return np.asarray(level[first], np.int64)


def lower_medians(ranks: Int, order: Int, starts: Int) -> Int:
    """The middle rank of each group, the lower one of two."""
    sizes = np.diff(starts)
    group = np.repeat(np.arange(len(sizes)), sizes)
    ranked = ranks[order][np.lexsort((ranks[order], group))]
    return np.asarray(ranked[starts[:-1] + (sizes - 1) // 2])


def whole_percents(records: Int, begins: Int) -> Int:
    """Shares of records in whole percents that add up to 100 in each group: largest remainders are rounded up."""
    groups = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    sizes = np.add.reduceat(records, begins[:-1])[groups]
    percents, rest = np.divmod(100 * records, sizes)
    ranked = np.lexsort((np.arange(len(records)), -rest / sizes, groups))
    missing = 100 - np.add.reduceat(percents, begins[:-1])
    percents[ranked] += np.arange(len(records)) - begins[groups] < missing[groups]
    return np.asarray(percents)
