"""Sums of floating-point numbers without any rounding, from which terms can be taken away again.

A double is an integer of 53 bits times a power of two, so every sum of doubles is a fixed-point number
of about 2100 bits. It is kept here as 68 signed digits of 32 bits, each in an int64, so that adding or
removing a value touches three digits and no carry has to travel until the sum is read. The sum read is
rounded once, to the nearest double, ties to even: what `math.fsum` gives, whatever the order of the
terms and however many were removed in between.
"""

import math

import numba as nb
import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]

DIGITS = 68
_LOW = 0xFFFFFFFF
_FRACTION = (1 << 52) - 1
_IMPLICIT = 1 << 52
_LOWEST = -1074  # the exponent of the smallest subnormal, the unit of the fixed-point number


@nb.njit(cache=True)
def add_record(digits: Int, bits: Int, sign: int) -> None:
    """Add (sign = 1) or remove (sign = -1) one record, given as the bit patterns of its attributes."""
    for j in range(bits.shape[0]):
        exponent = (bits[j] >> 52) & 0x7FF
        mantissa = bits[j] & _FRACTION
        if exponent == 0:
            place = 0
        else:
            mantissa |= _IMPLICIT
            place = exponent - 1
        signed = -sign if bits[j] < 0 else sign
        first = place >> 5
        shift = place & 31
        low = (mantissa & _LOW) << shift
        high = (mantissa >> 32) << shift
        digits[j, first] += signed * (low & _LOW)
        digits[j, first + 1] += signed * ((low >> 32) + (high & _LOW))
        digits[j, first + 2] += signed * (high >> 32)


@nb.njit(cache=True)
def rounded(digits: Int) -> float:
    """The double nearest to a sum, ties to even."""
    work = np.empty(digits.shape[0], np.int64)
    carry = 0
    for i in range(digits.shape[0]):
        value = digits[i] + carry
        work[i] = value & _LOW
        carry = value >> 32
    negative = carry < 0
    if negative:
        carry = 1
        for i in range(work.shape[0]):
            value = (work[i] ^ _LOW) + carry
            work[i] = value & _LOW
            carry = value >> 32
    top = work.shape[0] - 1
    while top >= 0 and work[top] == 0:
        top -= 1
    if top < 0:
        return 0.0
    # The leading 60 bits of the number, and whether anything but zeros follows them.
    a = work[top]
    b = work[top - 1] if top >= 1 else 0
    c = work[top - 2] if top >= 2 else 0
    length = 0
    while a >> length:
        length += 1
    dropped = length + 4  # of the 64 + length bits of (a, b, c)
    window = a << (60 - length)
    rest = False
    if dropped <= 32:
        window |= b << (32 - dropped)
        window |= c >> dropped
        rest = (c & ((1 << dropped) - 1)) != 0
    else:
        window |= b >> (dropped - 32)
        rest = (b & ((1 << (dropped - 32)) - 1)) != 0 or c != 0
    for i in range(top - 2):
        if work[i] != 0:
            rest = True
            break
    mantissa = window >> 7
    tail = window & 127
    if tail > 64 or (tail == 64 and (rest or mantissa & 1)):
        mantissa += 1
    value = math.ldexp(float(mantissa), 7 + dropped + 32 * (top - 2) + _LOWEST)
    return -value if negative else value


@nb.njit(cache=True)
def mean_from(digits: Int, count: int, out: Float) -> None:
    """The mean of `count` records per attribute: the rounded sum, divided once."""
    for j in range(digits.shape[0]):
        out[j] = rounded(digits[j]) / count


@nb.njit(cache=True)
def group_means(X: Float, order: Int, starts: Int) -> Float:
    """The mean of each group; group g holds the records order[starts[g]:starts[g + 1]]."""
    bits = X.view(np.int64)
    n_groups = starts.shape[0] - 1
    means = np.empty((n_groups, X.shape[1]))
    digits = np.zeros((X.shape[1], DIGITS), np.int64)
    for g in range(n_groups):
        digits[:] = 0
        for position in range(starts[g], starts[g + 1]):
            add_record(digits, bits[order[position]], 1)
        mean_from(digits, starts[g + 1] - starts[g], means[g])
    return means
