"""Rounding to a number of decimals, exactly: whole numbers in units, and doubles; ties go to the even one.

So many decimals as R's `round` means them: 2 are hundredths, -2 hundreds. A value that rounding would
carry out of the range of its column is rounded to the last one inside it, so that a column can hold what it
is given. Where there is none inside, all values get the one beside the range that is nearer to zero.
"""

from decimal import Decimal
from fractions import Fraction
from math import ceil, copysign, floor, fsum, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]

SAFE = 2**62
"""Whole numbers below this can be added once without overflowing an int64."""

_PLAIN = 20  # beyond so many decimals, or zeros before the point, a number is written such as 12e-30
_SURE = 2.0**40  # a product below this is less than a thousandth away from what it should be
_POWERS = 22  # powers of ten up to here are exact in a double
_SHOWN = 1e15  # below this, in units of the last decimal, a double shows its decimals


def nearest_even(numerator: NDArray[Any], denominator: NDArray[Any], origin: int) -> NDArray[Any]:
    """The whole numbers nearest to fractions, a tie going where the number plus the origin is even."""
    whole, rest = numerator // denominator, numerator % denominator
    odd = (whole + origin % 2) % 2 == 1
    up = (2 * rest > denominator) | ((2 * rest == denominator) & odd)
    return np.asarray(whole + up.astype(np.int64))


def round_units(total: NDArray[Any], parts: NDArray[Any], origin: int, highest: int, step: int) -> NDArray[Any]:
    """The multiples of `step` nearest to origin + total / parts, given above the origin.

    The column has numbers from the origin to `highest` above it.
    """
    base, above = divmod(origin, step)  # counted in steps from `base` on, nothing exceeds the range of the column
    divisor: NDArray[Any] = parts
    if total.dtype == object or int(total.max()) + step * int(parts.max()) >= SAFE:
        total, divisor = total.astype(object), parts.astype(object)
    steps = nearest_even(total + above * divisor, divisor * step, base)
    low, high = (1 if above else 0), (above + highest) // step
    steps = np.clip(steps, low, high) if low <= high else np.full_like(steps, 0 if base >= 0 else 1)
    found = steps * step - above
    return np.asarray(found.astype(np.int64) if highest + step < SAFE else found)


def round_floats(values: Float, digits: int, ends: tuple[float, float]) -> Float:
    """Doubles to so many decimals; the column has numbers from one of the ends to the other."""
    found = np.empty_like(values)
    sure = np.zeros(len(values), bool)
    if abs(digits) <= _POWERS:
        scale = 10.0 ** abs(digits)
        with np.errstate(over="ignore"):
            scaled = values * scale if digits >= 0 else values / scale
        near = np.rint(scaled)
        with np.errstate(invalid="ignore"):
            sure = (np.abs(scaled) < _SURE) & (np.abs(np.abs(scaled - near) - 0.5) > 1e-3)
        found[sure] = (near / scale if digits >= 0 else near * scale)[sure]
    found[~sure] = [rounded(value, digits) for value in values[~sure].tolist()]
    unit = Fraction(10) ** -digits
    low, high = ceil(Fraction(ends[0]) / unit), floor(Fraction(ends[1]) / unit)
    if low > high:
        low = high = high if high >= 0 else low
    return np.clip(found, float(low * unit), float(high * unit)) + 0.0  # -0.0 becomes 0.0


def rounded(value: float, digits: int) -> float:
    """One double; Python rounds its exact value, a tie to even."""
    try:
        return round(value, digits)
    except OverflowError:
        return copysign(inf, value)


def decimal_text(value: float, digits: int) -> str:
    """A rounded double with exactly its decimals, which are 0 at least."""
    decimals = max(0, digits)
    if abs(digits) > _PLAIN:
        units = int(Decimal(repr(value)).scaleb(digits))
        return f"{units}e{-digits}" if units else "0"
    if abs(value) * 10.0**decimals < _SHOWN:
        return f"{value:.{decimals}f}"
    return f"{Decimal(repr(value)):.{decimals}f}"  # more digits than a double has: zeros, not noise


def sum_of_squares(errors: Float, starts: Int) -> tuple[float, int]:
    """The sum of the squares, and the power of four that it is to be multiplied by; no square leaves the range.

    Group by group, then exactly: it does not depend on how many numbers are added at a time.
    """
    exponent = int(np.frexp(np.abs(errors).max())[1])
    scaled = np.ldexp(errors, -exponent)
    return fsum(np.add.reduceat(scaled * scaled, starts[:-1]).tolist()), exponent
