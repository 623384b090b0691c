"""Nominal attributes: categories without an order, such as sex, occupation or country.

Two values are the same or they are not; a mismatch costs a constant, whatever the values. Each category has a
coordinate of its own (one-hot, divided by the square root of 2; two categories share one coordinate), so a
mismatch is a squared distance of s². With z-scores s = 1 / sqrt((1 - sum of p²) / 2), where p are the shares of
the categories: then the variances of all coordinates sum up to 1, as for a number. With the other scalings s =
1, which is Gower's.

The common value of a group is its most frequent category; of several, the one that is more frequent in the whole
table, then the first one by its text. Within a group, SSE <= loss of the most frequent value <= 2 SSE, where SSE
is that of the points and the loss is s² for each record whose category changes.

More categories than `coordinates` (256 unless another number is asked for) share coordinates: see
`shoal.attributes.compact`. Distances are then approximate; the loss is not.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any, Self

import numpy as np
import pyarrow as pa

from shoal.attributes.base import (
    Chunks,
    Float,
    Gathering,
    Int,
    Kept,
    KeptAttribute,
    Kind,
    Profile,
    Settle,
    Stored,
    Wish,
)
from shoal.attributes.category_values import (
    CategoryValues,
    SharedValues,
    not_streamed,
    shared_values,
)
from shoal.attributes.common_values import CommonValues, refuse_aggregate
from shoal.attributes.compact import compacted
from shoal.attributes.grouped import counted, modes
from shoal.attributes.levels import (
    Level,
    Levels,
    is_numeric_text,
    numeric_among,
    spelled,
)
from shoal.attributes.numbers import beside_numbers
from shoal.attributes.weighing import Weights, counting
from shoal.errors import ShoalError, typed
from shoal.parameters import Aggregate, Scaling
from shoal.table import Column, holds_categories

MOST_BARS = 20
"""Categories that a report draws; the others are drawn as one."""

_MANY = 20  # records from which on nearly as many categories are worth a warning


@dataclass(frozen=True)
class NominalKept(Kept):
    """The categories of a column, from the most frequent on, and how often each occurs."""

    kind = "nominal"

    levels: tuple[Level, ...] = ()
    counts: tuple[int, ...] = ()
    most: int = 256  # coordinates that there may be

    dtype = np.dtype(np.int64)
    stretch = 0.0  # categories have no order, so blocks are cut along other attributes

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Self:
        """JSON has no tuples."""
        return cls(**{**given, "levels": tuple(given["levels"]), "counts": tuple(given["counts"])})

    @property
    def width(self) -> int:
        """One for two categories; else one for each, up to the most that there may be."""
        return 1 if len(self.levels) <= 2 else min(len(self.levels), self.most)

    @property
    def is_exact(self) -> bool:
        """Whether all distances are what they should be."""
        return len(self.levels) <= max(2, self.most)

    @property
    def mismatch(self) -> float:
        """What a mismatch costs: a squared distance."""
        return 1 / self.spread**2

    def scaled(self, scaling: Scaling, chunks: Chunks, alone: bool) -> Self:
        """From how often each category occurs."""
        n = sum(self.counts)
        if len(self.levels) == 1:
            return replace(self, is_constant=True)
        shares = np.array(self.counts) / n
        spread = sqrt((1 - float(shares @ shares)) / 2) if scaling in ("zscore", "robust") else 1.0
        return replace(self, spread=spread, sst=(n - self.counts[0]) / spread**2)

    @cached_property
    def table(self) -> Float:
        """The coordinates of each category."""
        return level_table(self.counts, self.most) / self.spread

    def typical(self, chunks: Chunks) -> int:
        """The most frequent category."""
        return 0

    def joined_by(self, stored: Any, records: int) -> Self:
        """With more records of a category."""
        counts = (count + records * int(place == stored) for place, count in enumerate(self.counts))
        return replace(self, counts=tuple(counts))

    def overall(self, middle: Float) -> Float:
        """The coordinates of the most frequent category."""
        return np.array(self.table[0])

    def along(self, stored: Stored) -> Float:
        """The numbers of the categories."""
        return stored.astype(np.float64)

    def attribute(self, stored: Stored) -> "NominalAttribute":
        """Some records."""
        return NominalAttribute(self, stored)

    def codes(self, common: CommonValues) -> Stored:
        """The numbers of the categories."""
        if not isinstance(common, CategoryValues):
            raise not_streamed(self.name)
        return common.codes

    def values(self, codes: Stored) -> CategoryValues:
        """The other way round."""
        return CategoryValues(self.levels, codes)

    def warning(self, chunks: Chunks) -> str | None:
        """Of all records."""
        return self.bare().warning()


def level_table(counts: tuple[int, ...], most: int) -> Float:
    """The coordinates of categories of which a mismatch costs 1."""
    n = len(counts)
    if n <= 2:
        return np.arange(n, dtype=np.float64)[:, None]
    if n <= most:
        return np.eye(n) / sqrt(2)
    import scipy.sparse  # a look at a table does not need it

    shares = np.array(counts) / sum(counts)
    return compacted(scipy.sparse.identity(n, format="csr") / sqrt(2), shares, most)[0]


@dataclass(frozen=True, eq=False)
class NominalAttribute(KeptAttribute):
    """Categories of some records, by their numbers."""

    kept: NominalKept
    codes: Int

    def coordinates(self) -> Float:
        """Those of its category."""
        return self.kept.table[self.codes]

    def common_values(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None,
        weights: Weights | None = None,
    ) -> CommonValues:
        """The most frequent category; a set or shares where these are asked for."""
        kept = self.kept
        if aggregate in ("mean", "median", "mode"):
            order, starts, counts = counting(order, starts, weights)
            return CategoryValues(kept.levels, modes(self.codes, order, starts, len(kept.levels), counts))
        if aggregate not in ("set", "share"):
            raise refuse_aggregate(self.name, kept.kind, aggregate, ("mode", "set", "share"))
        names = [spelled(level) for level in kept.levels]
        counts = None
        if aggregate == "share":
            order, starts, counts = counting(order, starts, weights)
        found = counted(self.codes, order, starts, len(names), counts)
        return shared_values(names, *found, len(starts) - 1, aggregate)

    def placed(self, common: CommonValues) -> Float:
        """Those of the category that is released."""
        return self.kept.table[common.raw.astype(np.int64)]

    def squared_errors(
        self, common: CommonValues, labels: Int, weights: Weights | None = None
    ) -> tuple[float, float]:
        """What mismatches cost; of a set, those of a random member."""
        changed = mismatches(self.codes, common, labels, weights)
        heavy = None if weights is None else weights.astype(np.float64)
        counts = np.bincount(self.codes, heavy)
        overall = (len(self.codes) if heavy is None else heavy.sum()) - counts.max(initial=0)
        return changed * self.kept.mismatch, float(overall) * self.kept.mismatch

    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """Bars, the most frequent categories first."""
        return bars(self.name, self.codes, common.raw[labels], [spelled(level) for level in self.kept.levels])

    def warning(self) -> str | None:
        """Values that name people, or so many that distances are approximate."""
        kept, records = self.kept, sum(self.kept.counts)
        if records >= _MANY and 10 * len(kept.levels) >= 9 * records:
            return (
                f"column {self.name!r} has a value of its own in nearly every record ({len(kept.levels)} values), "
                "so it may name people; drop it with -i if it does"
            )
        if kept.is_exact:
            return None
        return (
            f"column {self.name!r} has {len(kept.levels)} values: distances between the rare ones are approximate "
            f"(the loss is not); say --coordinates {len(kept.levels)} to have them exact, which takes more memory"
        )

    def said(self) -> dict[str, Any]:
        """How many categories there are, and whether distances are exact."""
        return {"values": len(self.kept.levels), "distances": "exact" if self.kept.is_exact else "approximate"}


def mismatches(codes: Int, common: CommonValues, labels: Int, weights: Weights | None = None) -> float:
    """How many records get another category; of a set or shares, on average over a random member."""
    if isinstance(common, SharedValues):
        changed = 1 - common.shares_of(labels, codes)
    else:
        changed = codes != common.raw.astype(np.int64)[labels]
    return float(changed.sum() if weights is None else (weights.astype(np.float64) * changed).sum())


def bars(name: str, before: Int, after: Float, levels: list[str]) -> Profile:
    """Categories as bars; those after the first ones are drawn as one."""
    if len(levels) > MOST_BARS:
        levels = [*levels[:MOST_BARS], f"{len(levels) - MOST_BARS} others"]
    last = len(levels) - 1
    return Profile(name, np.minimum(before, last).astype(np.float64), np.minimum(after, last), tuple(levels))


class NominalGathering(Gathering):
    """The categories of a column, numbered as they come up."""

    kind = "nominal"
    made: type[NominalKept] = NominalKept

    def __init__(self, name: str, wish: Wish) -> None:
        self.name, self.wish = name, wish
        self.levels = Levels(name)
        self._said = wish.kind is not None
        self._numbers = False
        self._texts: list[int] = []

    def add(self, column: Column, before: int) -> Stored:
        """The numbers of the categories so far."""
        known = len(self.levels.counts)
        stored = self.levels.add(column, before)
        self._said = self._said or holds_categories(column.series)
        if not self._said and len(self.levels.counts) > known:
            self._refuse_mixture(self.levels.values, known, column.signs, stored, before)
        return stored

    def _refuse_mixture(
        self, values: list[Level], known: int, signs: tuple[str, str], stored: Stored, before: int
    ) -> None:
        """Numbers beside other text may be a column of numbers with mistakes in it, unless it was said."""
        new = pa.array([str(value).strip() for value in values[known:]], pa.string())
        numeric = numeric_among(new, signs)
        self._numbers = self._numbers or bool(numeric.any())
        self._texts += (np.flatnonzero(~numeric) + known).tolist()
        if self._numbers and self._texts:
            first = [self.levels.first[place] for place in self._texts]
            text = values[self._texts[int(np.argmin(first))]]
            here = np.flatnonzero(np.isin(stored, self._texts)) + before
            rows = np.unique(np.concatenate([[row for row in first if row < before], here])).astype(np.int64)
            raise beside_numbers(self.name, str(text), rows + 1)

    def joined(self, others: Sequence[Gathering]) -> "NominalGathering | None":
        """Categories of all parts, unless there are numbers among them, of which the rows must be told."""
        them = [each for each in others if isinstance(each, NominalGathering) and each.kind == self.kind]
        found = self.levels.joined([each.levels for each in them])
        if len(them) < len(others) or found is None:
            return None
        made = copy(self)
        made.levels, made.new_numbers = found
        made._said = any(each._said for each in (self, *them))
        made._numbers = any(each._numbers for each in (self, *them))
        is_mixed = made._numbers and any(each._texts for each in (self, *them))
        return None if is_mixed and not made._said else made

    def finish(self) -> None:
        """Any number of categories will do."""

    def different(self) -> Column | None:
        """The categories, unless it was said that they are some."""
        return None if self._said else self.levels.column()

    def kept(self, weight: float, chunks: Chunks) -> tuple[Kept, Settle]:
        """The categories from the most frequent on."""
        levels, counts, numbers = self.levels.ranked()
        made = self.made(self.name, weight, levels=tuple(levels), counts=tuple(counts), most=self.wish.coordinates)
        return made, lambda stored, _: numbers[stored]


class Nominal(Kind):
    """Columns of categories by their type, and of text that is neither numbers nor anything else that is known."""

    name = "nominal"
    kept = NominalKept

    def takes(self, column: Column) -> bool:
        """Categories; text that is not numbers, nor true and false."""
        if column.text is None and holds_categories(column.series):
            return True
        numeric = is_numeric_text(column)
        if numeric is None or numeric.all():
            return False
        return column.text is None or not is_truth(column)

    def gathering(self, name: str, wish: Wish) -> Gathering:
        """A column that comes in parts."""
        return NominalGathering(name, wish)


def is_truth(column: Column) -> bool:
    """Whether a column holds true and false."""
    texts = {str(text).strip().lower() for text in pa.compute.unique(column.values()).to_pylist()}
    return texts <= {"true", "false"}


@dataclass(frozen=True)
class BooleanKept(NominalKept):
    """Two categories."""

    kind = "boolean"


class BooleanGathering(NominalGathering):
    """Two categories."""

    kind = "boolean"
    made = BooleanKept

    def finish(self) -> None:
        """There are no more than two."""
        if len(self.levels.values) > 2:
            raise ShoalError(
                f"column {self.name!r} has {len(self.levels.values)} different values, so it is not boolean; "
                f"say {typed('--kind', self.name, 'nominal')}"
            )


class Boolean(Nominal):
    """Columns of two values, where that is asked for."""

    name = "boolean"
    kept = BooleanKept

    def takes(self, column: Column) -> bool:
        """Only where it is asked for: other columns of two values are nominal or numbers, which is the same."""
        return False

    def gathering(self, name: str, wish: Wish) -> Gathering:
        """A column that comes in parts."""
        return BooleanGathering(name, wish)
