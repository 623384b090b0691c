"""What all figures of utility share: numbers as a manifest takes them, the known values of a column, samples."""

from collections.abc import Iterable, Sequence
from math import isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.cards import counted
from shoal.measures.pair import Pair, PairColumn

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]

GAPS_LEFT_OUT = "Missing values are left out."


def number(value: float | None, digits: int | None = None) -> float | None:
    """A number as JSON takes it, and None where there is none; rounded where so many decimals are enough."""
    if value is None or not isfinite(value):
        return None
    return float(value) if digits is None else round(float(value), digits)


def known(values: Float) -> Float:
    """The values that are not missing."""
    gaps = np.isnan(values)
    return values[~gaps] if gaps.any() else values


def is_constant(values: Float) -> bool:
    """Whether there are no two different values among known ones."""
    return len(values) < 2 or bool(values.min() == values.max())


def spread(values: Float) -> float:
    """The standard deviation of the known values, with n - 1 in the denominator; exactly 0 where they agree."""
    there = known(values)
    return 0.0 if is_constant(there) else float(there.std(ddof=1))


def mean_of(values: Iterable[float | None]) -> float | None:
    """The mean of what is known, and None where nothing is."""
    there = [value for value in values if value is not None]
    return sum(there) / len(there) if there else None


def largest_of(values: Iterable[float | None]) -> float | None:
    """The number that is farthest from 0, with its sign."""
    there = [value for value in values if value is not None]
    return max(there, key=abs) if there else None


def of_interest(columns: Sequence[PairColumn]) -> list[PairColumn]:
    """The quasi-identifiers among some columns, for these were changed; all of them where there are none."""
    quasi = [column for column in columns if column.role == "quasi-identifier"]
    return quasi or list(columns)


def numbers_of(pair: Pair) -> list[PairColumn]:
    """The columns of numbers that differ between records of the original; a constant one has no scale."""
    return [column for column in pair.columns if column.is_number and spread(column.before) > 0]


def sides_of(columns: Sequence[PairColumn]) -> tuple[list[Float], list[Float]]:
    """The values of some columns before, and those after."""
    return [column.before for column in columns], [column.after for column in columns]


def sample_said(pair: Pair, most: int) -> str:
    """How large a sample was, where one was drawn."""
    if max(pair.n_before, pair.n_after) <= most:
        return ""
    return f" (of {counted(most)} records drawn at random)"


def sampling_error(most: int, n: int) -> float:
    """The largest standard error of a correlation or a share that a sample of so many of n records has."""
    return 0.0 if n <= most else sqrt((1 - most / n) / most)
