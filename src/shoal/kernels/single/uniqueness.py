"""Whoever is alone: keys that occur once, and predicates that one record fulfils."""

import numpy as np

from shoal.kernels.compiled import Array, folded, kernel

INSIDE, OUTSIDE, GAP = range(3)
"""What a condition asks of a value: that it is between two bounds, that it is not, or that there is none."""


@kernel
def alone_by(keys: Array) -> Array:
    """Whether each key is the only one of its value.

    The keys go into a table with open addressing; the second of equal keys takes the mark from the first.
    """
    n = keys.size
    size = 16
    while size < 2 * n:
        size *= 2
    first = np.full(size, -1, np.int64)
    alone = np.zeros(n, np.bool_)
    for i in range(n):
        mixed = keys[i] * np.int64(-7046029254386353131)  # 2^64 over the golden ratio: neighbours spread out
        slot = (mixed ^ (mixed >> 29)) & (size - 1)
        while first[slot] >= 0 and keys[first[slot]] != keys[i]:
            slot = (slot + 1) & (size - 1)
        if first[slot] < 0:
            first[slot] = i
            alone[i] = True
        else:
            alone[first[slot]] = False
    return alone


@folded
def fulfils(value: float, asked: int, low: float, high: float) -> bool:
    """Whether a value is what one condition asks for; a gap is so only where a gap is asked for."""
    if asked == INSIDE:
        return low <= value and value <= high
    if asked == OUTSIDE:
        return value < low or value > high
    return np.isnan(value)


@kernel
def fulfilled(table: Array, columns: Array, asked: Array, low: Array, high: Array) -> Array:
    """How many records fulfil all conditions of each predicate: 0, 1, or 2 for more than one.

    Row j of the table holds the values of column j; row q of the other arrays is predicate q.
    """
    found = np.zeros(columns.shape[0], np.int64)
    for q in range(columns.shape[0]):
        first = table[columns[q, 0]]
        for i in range(table.shape[1]):
            good = fulfils(first[i], asked[q, 0], low[q, 0], high[q, 0])
            j = 1
            while good and j < columns.shape[1]:
                good = fulfils(table[columns[q, j], i], asked[q, j], low[q, j], high[q, j])
                j += 1
            if good:
                found[q] += 1
                if found[q] == 2:
                    break
    return found
