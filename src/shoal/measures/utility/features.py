"""Columns as the terms of a model: numbers in standard deviations, categories as 0 and 1, gaps as terms.

A `Terms` is made from the original column alone and then applied to both tables, so that a coefficient means the
same in both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.measures.pair import PairColumn
from shoal.measures.utility.stated import known, spread

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True)
class Terms:
    """How a column becomes terms.

    Attributes
    ----------
    column : whose terms they are
    middle, scale : of a number; its gaps count as the middle
    codes : of a category: the most frequent ones but the first, each of which is a term
    others : whether there are more categories, which share a term
    gaps : whether missing values are a term
    """

    column: PairColumn
    middle: float = 0.0
    scale: float = 0.0
    codes: tuple[int, ...] = ()
    others: bool = False
    gaps: bool = False

    @property
    def names(self) -> list[str]:
        """What the terms are called."""
        name = self.column.name
        if self.column.is_number:
            found = [name] if self.scale else []
        else:
            found = [f"{name} = {self.column.levels[code]}" for code in self.codes]
            found += [f"{name} = another"] if self.others else []
        return found + ([f"{name} missing"] if self.gaps else [])

    def of(self, values: Float) -> list[Float]:
        """The terms of some values."""
        missing = np.isnan(values)
        if self.column.is_number:
            found = [np.where(missing, 0.0, (values - self.middle) / self.scale)] if self.scale else []
        else:
            found = [(values == code).astype(np.float64) for code in self.codes]
            found += [self.rest(values, missing)] if self.others else []
        return found + ([missing.astype(np.float64)] if self.gaps else [])

    def rest(self, values: Float, missing: NDArray[np.bool_]) -> Float:
        """Whether a category is none of those with a term, and not the most frequent one."""
        usual = np.array([self.middle, *self.codes])
        return (~missing & ~np.isin(values, usual)).astype(np.float64)


def terms_of(column: PairColumn, most_levels: int) -> Terms:
    """The terms of a column; of categories with at most this many of their own, beside the most frequent one."""
    gaps = bool(np.isnan(column.before).any() or np.isnan(column.after).any())
    there = known(column.before)
    if column.is_number:
        scale = spread(there)
        return Terms(column, float(there.mean()) if len(there) else 0.0, scale, gaps=gaps)
    counts = np.bincount(there.astype(np.int64), minlength=len(column.levels))
    order = np.argsort(-counts, kind="stable")
    chosen = tuple(int(code) for code in order[1 : most_levels + 1] if counts[code])
    return Terms(column, float(order[0]), codes=chosen, others=len(order) > 1 + len(chosen), gaps=gaps)


def matrix_of(terms: Sequence[Terms], values: Sequence[Float]) -> Float:
    """The terms of all columns side by side, given the values of each column."""
    found = [term for each, column in zip(terms, values, strict=True) for term in each.of(column)]
    return np.column_stack(found) if found else np.zeros((len(values[0]) if values else 0, 0))


def names_of(terms: Sequence[Terms]) -> list[str]:
    """What the columns of the matrix are called."""
    return [name for each in terms for name in each.names]
