"""Records looked for among released ones: the nearest, all that are equally near, and the ones of the most weight.

A coordinate is a number, whose differences may be squared, or a name, where another one costs 1. Released rows
stand in the order of their first coordinate. The search goes from where a record would stand to both sides, and
ends where that coordinate alone is farther than the nearest row found. In few dimensions it sees few rows; in many
it sees most of them, and gives each up as soon as it is too far.
"""

import numpy as np

from shoal.kernels.compiled import Array, folded, kernel

_TIE = 1e-9  # squared distances that differ by less, relatively, are equal: differences of rounding
_NOTHING = 1e-20  # and what is below this is none


@folded
def apart(one: float, other: float, named: bool, squared: bool) -> float:
    """How far two values are from each other in one coordinate."""
    if named:
        return 0.0 if one == other else 1.0
    return (one - other) * (one - other) if squared else abs(one - other)


@kernel
def nearest_rows(
    records: Array,
    rows: Array,
    named: Array,
    low: Array,
    high: Array,
    sizes: Array,
    own: Array,
    names: Array,
    squared: bool,
) -> tuple[Array, Array]:
    """How probably each record is found by whoever guesses among the nearest rows, and the name of one of them.

    Record x is looked for among the rows from `low[x]` to before `high[x]`, which are in the order of their first
    coordinate. Each row stands for `sizes` records. The answer is 1 / (the records of all nearest rows) where the
    row `own[x]` is among these, else 0; the name is the lowest of theirs, and -1 where there are no rows.
    """
    count, width = records.shape
    found, first = np.zeros(count), np.full(count, -1, np.int64)
    for x in range(count):
        right = low[x] + np.searchsorted(rows[low[x] : high[x], 0], records[x, 0])
        left = right - 1
        best, limit, held, hit = np.inf, np.inf, 0.0, False
        while True:
            to_left, to_right = np.inf, np.inf
            if left >= low[x]:
                to_left = apart(records[x, 0], rows[left, 0], named[0], squared)
            if right < high[x]:
                to_right = apart(records[x, 0], rows[right, 0], named[0], squared)
            away = min(to_left, to_right)
            if away == np.inf or away > limit:
                break
            if to_right <= to_left:
                row = right
                right += 1
            else:
                row = left
                left -= 1
            for j in range(1, width):
                away += apart(records[x, j], rows[row, j], named[j], squared)
                if away > limit:
                    break
            if away > limit:
                continue
            if away < best * (1 - _TIE) - _NOTHING:
                held, hit, first[x] = 0.0, False, -1
            held += sizes[row]
            hit = hit or row == own[x]
            if first[x] < 0 or names[row] < first[x]:
                first[x] = names[row]
            best = min(best, away)
            limit = best * (1 + _TIE) + _NOTHING
        if hit:
            found[x] = 1.0 / held
    return found, first


@folded
def agrees(one: float, other: float, named: bool, tolerance: float) -> bool:
    """Whether two values are the same, or numbers so near."""
    return one == other if named else abs(one - other) <= tolerance


@kernel
def agreements(records: Array, rows: Array, named: Array, tolerance: float) -> Array:
    """The coordinates in which each record agrees with each row, as bits of a whole number; 62 at most."""
    patterns = np.zeros((records.shape[0], rows.shape[0]), np.int64)
    for x in range(records.shape[0]):
        for row in range(rows.shape[0]):
            for j in range(records.shape[1]):
                if agrees(records[x, j], rows[row, j], named[j], tolerance):
                    patterns[x, row] |= 1 << j
    return patterns


@kernel
def heaviest_rows(
    records: Array,
    rows: Array,
    named: Array,
    tolerance: float,
    agree: Array,
    differ: Array,
    sizes: Array,
    own: Array,
) -> Array:
    """How probably each record is found by whoever guesses among the rows of the largest weight.

    The weight of a row is the sum over coordinates of `agree` where it agrees with the record, else of `differ`.
    """
    found = np.zeros(records.shape[0])
    for x in range(records.shape[0]):
        best, held, hit = -np.inf, 0.0, False
        for row in range(rows.shape[0]):
            weight = 0.0
            for j in range(records.shape[1]):
                weight += agree[j] if agrees(records[x, j], rows[row, j], named[j], tolerance) else differ[j]
            if weight > best + _TIE:
                held, hit = 0.0, False
            if weight >= best - _TIE:
                best = max(best, weight)
                held += sizes[row]
                hit = hit or row == own[x]
        if hit:
            found[x] = 1.0 / held
    return found
