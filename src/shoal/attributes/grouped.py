"""What groups have in common, from the numbers of their values: how often each occurs, and which most often.

Group g holds the records order[starts[g]:starts[g + 1]]. `counts` says how often each place in `order` counts,
once where it is None.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.rounding import SAFE
from shoal.attributes.weighing import Weights, middle_places, sums

Int = NDArray[np.int64]


def counted(
    codes: Int, order: Int, starts: Int, levels: int, counts: Weights | None = None
) -> tuple[Int, Int, NDArray[Any]]:
    """For each group and each level in it: the group, the level, and how often; by groups, then by levels."""
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    if counts is None:
        pairs, often = np.unique(group * levels + codes[order], return_counts=True)
        return pairs // levels, pairs % levels, often
    keys = group * levels + codes[order]
    ranked = np.argsort(keys, kind="stable")
    pairs, begins = np.unique(keys[ranked], return_index=True)
    return pairs // levels, pairs % levels, sums(counts[ranked], np.append(begins, len(keys)))


def modes(codes: Int, order: Int, starts: Int, levels: int, counts: Weights | None = None) -> Int:
    """The most frequent level of each group, the lowest one of several."""
    group, level, count = counted(codes, order, starts, levels, counts)
    ranked = np.lexsort((level, -count, group))
    first = ranked[np.searchsorted(group[ranked], np.arange(len(starts) - 1))]
    return np.asarray(level[first], np.int64)


def lower_medians(ranks: Int, order: Int, starts: Int, counts: Weights | None = None) -> Int:
    """The middle rank of each group, the lower one of two."""
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ranked = np.lexsort((ranks[order], group))
    lower, _ = middle_places(starts, None if counts is None else counts[ranked])
    return np.asarray(ranks[order][ranked][lower])


def whole_percents(records: NDArray[Any], begins: Int) -> Int:
    """Shares of records in whole percents that add up to 100 in each group: largest remainders are rounded up."""
    if records.dtype != object and int(records.max()) >= SAFE // 100:
        records = records.astype(object)
    groups = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    sizes = sums(records, begins)[groups]
    percents, rest = (100 * records // sizes).astype(np.int64), 100 * records % sizes
    ranked = np.lexsort((np.arange(len(records)), -rest, groups))
    missing = 100 - np.add.reduceat(percents, begins[:-1])
    percents[ranked] += np.arange(len(records)) - begins[groups] < missing[groups]
    return np.asarray(percents)
