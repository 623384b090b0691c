"""Exact sums of float64 columns, from which records can be taken away again without any rounding.

A column's sum is an integer multiple of 2^-1074 held as base 2^32 digits in int64 ("superaccumulator").
Adding or subtracting a value touches three digits and never carries, so up to 2^30 operations fit
before a digit could overflow. Rounding the digits to a double gives what math.fsum gives, bit for bit.
Only the digits a column can reach are kept: digit 0 of column j stands for 2^(32*base[j] - 1074).
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel

DIGIT_BITS = 32
DIGIT_MASK = (1 << 32) - 1
FRACTION_MASK = (1 << 52) - 1
TOGETHER = 64  # rows that are summed column by column
HEADROOM_DIGITS = 2  # one for the third digit a value can touch, one for the carries of 2^30 additions


class Sums(NamedTuple):
    """Exact sums of columns, as digits."""

    digits: Array  # int64 (m, width): signed, not carried
    base: Array  # int64 (m,): the digit number that digits[j, 0] stands for
    work: Array  # int64 (width,): a carried copy while rounding


@kernel
def digit_span(rows: Array, base: Array) -> int:
    """Fills base with each column's lowest digit and returns the width that every column fits in."""
    bits = rows.view(np.int64)
    n, m = rows.shape
    low = np.full(m, 2048)
    high = np.zeros(m, np.int64)
    for i in range(n):
        for j in range(m):
            word = bits[i, j]
            exponent = (word >> 52) & 2047
            if exponent or word & FRACTION_MASK:
                low[j] = min(low[j], max(exponent, 1))
                high[j] = max(high[j], exponent)
    width = 1
    for j in range(m):
        base[j] = (min(low[j], max(high[j], 1)) - 1) // DIGIT_BITS
        width = max(width, (max(high[j], 1) - 1) // DIGIT_BITS - base[j] + 1)
    return width + 1 + HEADROOM_DIGITS


def new_sums(rows: Array) -> Sums:
    """Zero sums with room for every value in rows (C order float64)."""
    base = np.zeros(rows.shape[1], np.int64)
    width = digit_span(rows, base)
    return Sums(np.zeros((rows.shape[1], width), np.int64), base, np.zeros(width, np.int64))


def zero_like(sums: Sums) -> Sums:
    """Zero sums for rows of the same columns."""
    return Sums(np.zeros_like(sums.digits), sums.base, sums.work)


@inner
def clear(sums: Sums) -> None:
    """Back to zero."""
    for j in range(sums.digits.shape[0]):
        for d in range(sums.digits.shape[1]):
            sums.digits[j, d] = 0


@kernel
def add_row(sums: Sums, bits: Array, i: int, sign: int) -> None:
    """Adds sign (1 or -1) times row i; bits is the int64 view of the float64 rows."""
    digits, base, _ = sums
    for j in range(bits.shape[1]):
        word = bits[i, j]
        exponent = (word >> 52) & 2047
        mantissa = word & FRACTION_MASK
        position = 0
        if exponent:
            mantissa |= 1 << 52
            position = exponent - 1
        if mantissa == 0:
            continue
        direction = -sign if word < 0 else sign
        at = (position >> 5) - base[j]
        shift = position & 31
        low = np.uint64(mantissa & DIGIT_MASK) << np.uint64(shift)
        high = np.uint64(mantissa >> 32) << np.uint64(shift)
        high += low >> np.uint64(32)
        digits[j, at] += direction * np.int64(low & np.uint64(DIGIT_MASK))
        digits[j, at + 1] += direction * np.int64(high & np.uint64(DIGIT_MASK))
        digits[j, at + 2] += direction * np.int64(high >> np.uint64(32))


@kernel
def add_all_rows(sums: Sums, rows: Array) -> None:
    """Add every row."""
    bits = rows.view(np.int64)
    for i in range(rows.shape[0]):
        add_row(sums, bits, i, 1)


@kernel
def add_rows(sums: Sums, rows: Array, members: Array) -> None:
    """Add some rows."""
    bits = rows.view(np.int64)
    for i in members:
        add_row(sums, bits, i, 1)


@inner
def carry(digits: Array, j: int, work: Array) -> bool:
    """Writes |sum| of column j to work as digits in [0, 2^32); returns whether the sum is negative."""
    negative = False
    for _ in range(2):
        over = 0
        for d in range(work.size):
            value = (-digits[j, d] if negative else digits[j, d]) + over
            work[d] = value & DIGIT_MASK
            over = value >> DIGIT_BITS
        if over >= 0:
            break
        negative = True
    return negative


@inner
def bits_at(work: Array, position: int) -> np.uint64:
    """The 64 bits of work from bit `position` on."""
    d = position >> 5
    shift = np.uint64(position & 31)
    low = np.uint64(work[d])
    if d + 1 < work.size:
        low |= np.uint64(work[d + 1]) << np.uint64(32)
    if shift == 0:
        return low
    high = np.uint64(work[d + 2]) if d + 2 < work.size else np.uint64(0)
    return (low >> shift) | (high << (np.uint64(64) - shift))


@inner
def rounding_up(work: Array, cut: int, odd: bool) -> bool:
    """Whether the bits below bit `cut` round the bits from `cut` on up (to nearest, ties to even)."""
    half = cut - 1
    if half < 0 or not (work[half >> 5] >> (half & 31)) & 1:
        return False
    if odd or work[half >> 5] & ((1 << (half & 31)) - 1):
        return True
    for d in range(half >> 5):
        if work[d]:
            return True
    return False


@kernel
def rounded_sum(sums: Sums, j: int, word: Array) -> float:
    """The sum of column j, correctly rounded; word is int64 scratch of size 1."""
    digits, base, work = sums
    negative = carry(digits, j, work)
    top = work.size - 1
    while top >= 0 and work[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    length = 0
    while work[top] >> length:
        length += 1
    highest = DIGIT_BITS * top + length - 1
    # A double keeps 53 bits; below 2^-1022 fewer, because its last bit cannot go below 2^-1074.
    cut = max(highest - 52, 0)
    mantissa = np.int64(bits_at(work, cut))
    if rounding_up(work, cut, mantissa & 1 == 1):
        mantissa += 1
    last = cut + DIGIT_BITS * base[j]
    if last > 0 and highest < 52:
        # Fewer than 53 bits above a base that is not 2^-1074: shift left to a full mantissa, exactly.
        spare = min(52 - highest, last)
        mantissa <<= spare
        last -= spare
    # The leading bit of a full mantissa lands in the exponent field and raises it to last + 1.
    word[0] = (last << 52) + mantissa
    value = word.view(np.float64)[0]
    return -value if negative else value


@kernel
def centroid(sums: Sums, count: int, out: Array, word: Array) -> None:
    """The mean of `count` records: the rounded sum of each column, divided once; word is int64 scratch."""
    for j in range(out.size):
        out[j] = rounded_sum(sums, j, word) / count


@kernel
def quick_sum(rows: Array, members: Array, high: Array, low: Array, lost: Array) -> bool:
    """Writes the correctly rounded sum of some rows to `high` where two doubles tell it, several times faster.

    The rounding error of an addition is a double: those of `high` are summed in `low`, and what is lost there is
    at most `lost`, so the sum is high + low but for that. False where this leaves two doubles to choose from.
    """
    high[:] = low[:] = lost[:] = 0.0
    for first in range(0, members.size, TOGETHER):
        for j in range(high.size):
            total, rest, gone = high[j], low[j], lost[j]
            for i in members[first : first + TOGETHER]:
                value = rows[i, j]
                before, total = total, total + value
                part = total - before
                error = (before - (total - part)) + (value - part)
                before, rest = rest, rest + error
                part = rest - before
                gone += abs((before - (rest - part)) + (error - part))
            high[j], low[j], lost[j] = total, rest, gone
    for j in range(high.size):
        slack = 0.0 if lost[j] == 0.0 else 2.0 * lost[j] + 1e-15 * abs(low[j])
        least = high[j] + (low[j] - slack)
        if least != high[j] + (low[j] + slack):  # so it is too where a sum overflowed
            return False
        high[j] = least
    return True


@kernel
def fill_means(sums: Sums, rows: Array, members: Array, starts: Array, means: Array) -> None:
    """The mean of each group, one after the other through the same sums."""
    low, lost = np.empty((2, rows.shape[1]))
    word = np.empty(1, np.int64)
    for group in range(means.shape[0]):
        own = members[starts[group] : starts[group + 1]]
        if quick_sum(rows, own, means[group], low, lost):
            means[group] /= own.size
        else:
            clear(sums)
            add_rows(sums, rows, own)
            centroid(sums, own.size, means[group], word)


def group_means(rows: Array, members: Array, starts: Array) -> Array:
    """The mean of each group; group g holds the records members[starts[g]:starts[g + 1]]."""
    means = np.empty((len(starts) - 1, rows.shape[1]))
    fill_means(new_sums(rows), rows, members, starts, means)
    return means


@kernel
def fill_weighted_means(
    sums: Sums, products: Array, plain: Sums, rows: Array, members: Array, starts: Array, means: Array
) -> None:
    """The weighted mean of each group, the plain one where its weights are all 0.

    A row of `products` is the record times its weight, and the weight at the end.
    """
    m = rows.shape[1]
    high, low, lost = np.empty((3, m + 1))
    word = np.empty(1, np.int64)
    for group in range(means.shape[0]):
        own = members[starts[group] : starts[group + 1]]
        if not quick_sum(products, own, high, low, lost):
            clear(sums)
            add_rows(sums, products, own)
            centroid(sums, 1, high, word)
        if high[m] > 0.0:
            means[group] = high[:m] / high[m]
        else:
            fill_means(plain, rows, own, np.array([0, own.size]), means[group : group + 1])


def weighted_products(rows: Array, weights: Array) -> Array:
    """Each row times its weight, each product rounded once, and the weight at the end."""
    products = np.empty((rows.shape[0], rows.shape[1] + 1))
    np.multiply(rows, weights[:, None], out=products[:, :-1])
    products[:, -1] = weights
    return products


def weighted_group_means(rows: Array, weights: Array, members: Array, starts: Array) -> Array:
    """As `group_means`, with weights: the exact sum of the products, each rounded once, by that of the weights.

    Weights of 1 at most, so that no product overflows.
    """
    means = np.empty((len(starts) - 1, rows.shape[1]))
    products = weighted_products(rows, weights)
    fill_weighted_means(new_sums(products), products, new_sums(rows), rows, members, starts, means)
    return means


@inner
def squared_distance(rows: Array, i: int, point: Array) -> float:
    """One float64 sum in attribute order: every decision rests on this number alone."""
    total = 0.0
    for j in range(point.size):
        difference = rows[i, j] - point[j]
        total += difference * difference
    return total
