"""Records that count by weights: which count at all, how often each does, and what groups have in the middle then.

A weight is a whole number, so every sum is exact and nothing depends on the order of the records. A record of the
weight 3 counts as three records; one of the weight 0 does not count. Only proportions within a group matter, so
weights are divided by the greatest common divisor of those of their group. Equal weights become 1, and all is as
if there were none.

Group g holds the records order[starts[g]:starts[g + 1]]. Weights are given for the records of a table; `counts`
are for the places in `order`, and None where every record counts once.
"""

from fractions import Fraction
from itertools import pairwise
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.rounding import SAFE

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Weights = NDArray[Any]
"""A whole number for each record, not below 0: int64, or Python integers where they are large."""

_PIECE = 26  # bits: the product of two such pieces of numbers is exact in a double
_LIGHT = 2 ** (2 * _PIECE)  # a whole number below this has two pieces, and is exact in a double


def counting(order: Int, starts: Int, weights: Weights | None) -> tuple[Int, Int, Weights | None]:
    """The records that count, where each group starts among them, and how often each of them counts.

    Every group has a record that counts.
    """
    if weights is None:
        return order, starts, None
    counts = weights[order]
    there = counts > 0
    if not there.all():
        order, counts = order[there], counts[there]
        starts = np.concatenate([[0], np.cumsum(np.add.reduceat(there.astype(np.int64), starts[:-1]))])
    counts = counts // np.repeat(np.gcd.reduceat(counts, starts[:-1]), np.diff(starts))
    if (counts == 1).all():
        return order, starts, None
    return order, starts, counts.astype(np.int64) if int(counts.max()) < SAFE else counts


def never_all_zero(weights: Weights, order: Int, starts: Int) -> Weights:
    """The weights, and 1 for every record of a group none of whose records would count."""
    empty = ~np.logical_or.reduceat(weights[order] > 0, starts[:-1])
    if not empty.any():
        return weights
    filled = weights.copy()
    filled[order[np.repeat(empty, np.diff(starts))]] = 1
    return filled


def sums(values: NDArray[Any], starts: Int) -> NDArray[Any]:
    """The exact sum of each stretch values[starts[g]:starts[g + 1]] of non-negative whole numbers."""
    if values.dtype != object and int(values.max()) * int(np.diff(starts).max()) >= SAFE:
        values = values.astype(object)
    return np.asarray(np.add.reduceat(values, starts[:-1]))


def products(values: NDArray[Any], counts: Weights) -> NDArray[Any]:
    """The exact products of non-negative whole numbers."""
    if object not in (values.dtype, counts.dtype) and int(values.max()) * int(counts.max()) >= SAFE:
        values = values.astype(object)
    return np.asarray(values * counts)


def summed(values: NDArray[Any], starts: Int, counts: Weights | None) -> NDArray[Any]:
    """The exact sum of each stretch of non-negative whole numbers, each of which counts so often."""
    return sums(values if counts is None else products(values, counts), starts)


def sizes_of(starts: Int, counts: Weights | None) -> NDArray[Any]:
    """How many records each group has, if each counts so often."""
    return np.diff(starts) if counts is None else sums(counts, starts)


def running(counts: Weights) -> NDArray[Any]:
    """The exact sum of all counts before each place, and of all in the end."""
    wide = counts.dtype == object or int(counts.max(initial=0)) * len(counts) >= SAFE
    return np.concatenate([[0], np.cumsum(counts.astype(object) if wide else counts)])


def middle_places(starts: Int, counts: Weights | None) -> tuple[Int, Int]:
    """Where the middle records of each group are, the lower one and the upper one, if the records rise in it.

    At the lower one, the count so far first reaches half of the whole; at the upper one it first exceeds it.
    """
    first, sizes = starts[:-1], np.diff(starts)
    if counts is None:
        return first + (sizes - 1) // 2, first + sizes // 2
    before = running(counts)
    double = 2 * (before[1:] - np.repeat(before[first], sizes))
    whole = np.repeat(before[starts[1:]] - before[first], sizes)
    below, not_above = (
        np.add.reduceat(found.astype(np.int64), first) for found in (double < whole, double <= whole)
    )
    return first + below, first + not_above


def means(rows: Float, order: Int, starts: Int, counts: Weights | None) -> Float:
    """The mean of each group of rows: each sum is exact, rounded once, and divided by the whole count.

    A whole count of 2^52 or more is not divided by as a double: there the mean is exact, and rounded once.
    """
    from shoal.kernels.sums.exact import group_means

    if counts is None:
        return group_means(rows, order, starts)
    whole = sums(counts, starts)
    heavy = np.asarray(whole >= _LIGHT)
    light = np.where(np.repeat(heavy, np.diff(starts)), 0, counts).astype(np.int64)
    divisors = np.where(heavy, 1, whole).astype(np.float64)
    found = np.column_stack([rounded_sums(column[order], light, starts) for column in rows.T])
    found /= divisors[:, None]
    for group in np.flatnonzero(heavy).tolist():
        own = slice(starts[group], starts[group + 1])
        found[group] = [exact_mean(column, counts[own].tolist()) for column in rows[order[own]].T.tolist()]
    return found


def rounded_sums(values: Float, counts: Int, starts: Int) -> Float:
    """The sum of each stretch of doubles, each of which counts so often (below 2^52), correctly rounded."""
    parts = exact_products(values, counts)
    listed = parts.T.ravel().tolist()
    return np.array([fsum(listed[a:b]) for a, b in pairwise((starts * len(parts)).tolist())]) + 0.0


def exact_products(values: Float, counts: Int) -> Float:
    """Doubles times whole numbers below 2^52 as the sums of a few doubles, one row for each summand."""
    high = (values.view(np.int64) & -(1 << (_PIECE + 1))).view(np.float64)
    lower = counts & ((1 << _PIECE) - 1)
    factors = [lower] if (lower == counts).all() else [lower, counts - lower]
    return np.stack([part * factor for part in (high, values - high) for factor in factors])


def exact_mean(values: list[float], counts: list[int]) -> float:
    """The mean of doubles that count so often, rounded once."""
    total = sum((Fraction(value) * count for value, count in zip(values, counts, strict=True)), Fraction(0))
    return float(total / sum(counts))


def weighted_squares(errors: Float, weights: Weights | None) -> float:
    """The sum of all squares, one row for each record, each row times the weight of its record."""
    squared = np.square(errors)
    return float((squared if weights is None else weights.astype(np.float64)[:, None] * squared).sum())
