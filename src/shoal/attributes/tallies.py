"""Exact sums of numbers and of their squares, which do not depend on how the numbers came in parts."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_HALF = 31  # bits of the lower half of an offset
_MASK = (1 << _HALF) - 1
_DIGIT = 32  # bits of a digit of an exact sum of doubles, whose lowest digit stands for 2**-1074
_LOWEST = 1074
_SPLIT = 134_217_729.0  # 2**27 + 1, which halves the digits of a double


@dataclass(frozen=True)
class Tally:
    """Numbers: how many, their lowest and highest, their sum and that of their squares.

    Numbers are whole units; sums of doubles are counted in units of 2**-1074, and `unit` says so.
    """

    count: int
    low: float
    high: float
    total: int
    squares: int
    bits: int = 0  # a unit is 2**-bits
    step: int = 0  # the greatest common divisor of whole numbers

    @classmethod
    def of_units(cls, offsets: Int) -> Self:
        """Whole numbers from 0 to 2**62."""
        high, low = offsets >> _HALF, offsets & _MASK
        squares = (exact(high * high) << 2 * _HALF) + (exact(high * low) << _HALF + 1) + exact(low * low)
        ends = int(offsets.min()), int(offsets.max())
        total = (int(high.sum()) << _HALF) + int(low.sum())
        return cls(len(offsets), *ends, total, squares, 0, int(np.gcd.reduce(offsets)))

    @classmethod
    def of_floats(cls, values: Float) -> Self:
        """Doubles; each square is two of them."""
        whole = values * values
        high = values * _SPLIT - (values * _SPLIT - values)
        low = values - high
        rest = ((high * high - whole) + 2 * high * low) + low * low
        total, squares, more = exact_sums(np.column_stack([values, whole, rest]))
        return cls(len(values), float(values.min()), float(values.max()), total, squares + more, _LOWEST)

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            self.count + other.count,
            min(self.low, other.low),
            max(self.high, other.high),
            self.total + other.total,
            self.squares + other.squares,
            self.bits,
            int(np.gcd(self.step, other.step)),
        )

    def in_steps(self) -> "Tally":
        """Of whole numbers, in units of their greatest common divisor."""
        step = self.step or 1
        if step == 1:
            return self
        low, high = int(self.low) // step, int(self.high) // step
        return replace(self, low=low, high=high, total=self.total // step, squares=self.squares // step**2, step=1)

    @property
    def mean(self) -> float:
        """Rounded once."""
        return float(Fraction(self.total, self.count << self.bits))

    @property
    def deviations(self) -> float:
        """The sum of the squared distances from the mean, rounded once."""
        unit = 1 << self.bits
        return float(Fraction(self.squares, unit) - Fraction(self.total**2, self.count * unit**2))

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it: no number of it is as long as Python's longest."""
        return dict(self.__dict__)


def exact(numbers: Int) -> int:
    """The sum of numbers from 0 to 2**62."""
    return (int((numbers >> _HALF).sum()) << _HALF) + int((numbers & _MASK).sum())


def exact_sums(rows: Float) -> list[int]:
    """The sum of each column, in units of 2**-1074."""
    from shoal.kernels.sums.exact import add_all_rows, new_sums

    rows = np.ascontiguousarray(rows)
    sums = new_sums(rows)
    add_all_rows(sums, rows)
    return [
        sum(int(digit) << _DIGIT * (int(base) + place) for place, digit in enumerate(digits))
        for digits, base in zip(sums.digits, sums.base, strict=True)
    ]
