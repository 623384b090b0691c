"""Ordinal attributes: categories in an order, such as low, medium and high.

A category counts by its rank in the order: one coordinate, scaled like a number. The order is the one that is
given (`--order pain=none,mild,severe`), that of an ordered column of pandas, or one that is known
(`shoal.attributes.orders`). The common value of a group is its middle category, the lower one of two: it is one
that a record of the group has.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

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
from shoal.attributes.common_values import CommonValues, IntervalValues, interval_text, refuse_aggregate
from shoal.attributes.grouped import counted, lower_medians, modes
from shoal.attributes.levels import Level, Levels, spelled, text_like
from shoal.attributes.numbers import RowsError
from shoal.attributes.orders import known_order
from shoal.attributes.scaling import centre_and_spread
from shoal.attributes.weighing import Weights, counting
from shoal.errors import ShoalError, some, typed
from shoal.parameters import Aggregate, Scaling
from shoal.table import Column

MOST_LEVELS = 100
"""A column of more different texts has no order that is known."""


@dataclass(frozen=True)
class OrdinalKept(Kept):
    """The categories of a column from the lowest to the highest, and how often each occurs."""

    kind = "ordinal"

    levels: tuple[Level, ...] = ()
    counts: tuple[int, ...] = ()

    dtype = np.dtype(np.int64)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Self:
        """JSON has no tuples."""
        return cls(**{**given, "levels": tuple(given["levels"]), "counts": tuple(given["counts"])})

    def scaled(self, scaling: Scaling, chunks: Chunks, alone: bool) -> Self:
        """From how often each category occurs."""
        counts = np.array(self.counts)
        if (counts > 0).sum() == 1:
            return replace(self, is_constant=True)
        if scaling == "zscore":
            centre, spread = moments_of(counts)
        else:  # these need no more of all ranks than their quartiles and ends
            centre, spread = centre_and_spread(self.name, quartiles_of(counts), scaling, 1.0)
        made = replace(self, centre=centre, spread=spread)
        return replace(made, sst=made.loss_of_all(counts))

    def loss_of_all(self, counts: NDArray[Any]) -> float:
        """What is lost if all records get the middle category."""
        middle = middle_of(counts)
        return float((counts * np.square(np.arange(len(counts)) - middle)).sum()) / self.spread**2

    @property
    def stretch(self) -> float:
        """By the spread and the weight of the whole column."""
        return 0.0 if self.is_constant else self.weight / self.spread**2

    def joined_by(self, stored: Any, records: int) -> Self:
        """With more records of a category."""
        counts = (count + records * int(rank == stored) for rank, count in enumerate(self.counts))
        return replace(self, counts=tuple(counts))

    def overall(self, middle: Float) -> Float:
        """The coordinate of the middle category."""
        return np.array([(middle_of(np.array(self.counts)) - self.centre) / self.spread])

    def along(self, stored: Stored) -> Float:
        """The ranks."""
        return stored.astype(np.float64)

    def attribute(self, stored: Stored) -> "OrdinalAttribute":
        """Some records on the scale of all."""
        return OrdinalAttribute(self, stored)

    def codes(self, common: CommonValues) -> Stored:
        """The ranks."""
        if not isinstance(common, CategoryValues):
            raise not_streamed(self.name)
        return common.codes

    def values(self, codes: Stored) -> CategoryValues:
        """The other way round."""
        return CategoryValues(self.levels, codes)

    def warning(self, chunks: Chunks) -> str | None:
        """None: an order is given or known."""
        return None


def moments_of(counts: NDArray[Any]) -> tuple[float, float]:
    """The mean and the standard deviation of ranks, from how often each occurs."""
    ranks, n = np.arange(len(counts)), int(counts.sum())
    mean = int(counts @ ranks) / n
    return mean, sqrt(float(counts @ np.square(ranks - mean)) / n)


def quartiles_of(counts: NDArray[Any]) -> Float:
    """The least rank, the three quartiles and the greatest rank, from how often each occurs.

    A quartile between two records is on the line between their ranks.
    """
    places = np.arange(5) * (int(counts.sum()) - 1) / 4
    below = np.floor(places)
    last = np.cumsum(counts)
    low = np.searchsorted(last, below, side="right")
    high = np.searchsorted(last, np.ceil(places), side="right")
    return np.asarray(low + (places - below) * (high - low), np.float64)


def middle_of(counts: NDArray[Any]) -> int:
    """The rank of the middle record, the lower one of two."""
    return int(np.searchsorted(np.cumsum(counts), (int(counts.sum()) + 1) // 2))


@dataclass(frozen=True, eq=False)
class OrdinalAttribute(KeptAttribute):
    """Categories of some records, by their ranks."""

    kept: OrdinalKept
    ranks: Int

    def coordinates(self) -> Float:
        """The scaled rank."""
        return self._scaled(self.ranks.astype(np.float64))[:, None]

    def _scaled(self, ranks: Float) -> Float:
        return (ranks - self.kept.centre) / self.kept.spread

    def common_values(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None,
        weights: Weights | None = None,
    ) -> CommonValues:
        """The middle category; others where these are asked for."""
        kept, names = self.kept, [spelled(level) for level in self.kept.levels]
        if aggregate == "interval":
            low = np.minimum.reduceat(self.ranks[order], starts[:-1])
            high = np.maximum.reduceat(self.ranks[order], starts[:-1])
            ends = zip(low.tolist(), high.tolist(), strict=True)
            return IntervalValues([interval_text(names[a], names[b]) for a, b in ends], (low + high) / 2)
        if aggregate == "ancestor":
            raise refuse_aggregate(self.name, "ordinal", aggregate, ("median", "mode", "interval", "set", "share"))
        counts = None
        if aggregate != "set":
            order, starts, counts = counting(order, starts, weights)
        if aggregate in ("mean", "median"):
            return CategoryValues(kept.levels, lower_medians(self.ranks, order, starts, counts))
        if aggregate == "mode":
            return CategoryValues(kept.levels, modes(self.ranks, order, starts, len(names), counts))
        found = counted(self.ranks, order, starts, len(names), counts)
        return shared_values(names, *found, len(starts) - 1, aggregate)

    def placed(self, common: CommonValues) -> Float:
        """The scaled rank that is released."""
        return self._scaled(common.raw)[:, None]

    def squared_errors(
        self, common: CommonValues, labels: Int, weights: Weights | None = None
    ) -> tuple[float, float]:
        """By ranks; of a set, those of a random member."""
        if self.is_constant:
            return 0.0, 0.0
        heavy = None if weights is None else weights.astype(np.float64)
        counts = np.bincount(self.ranks, heavy, minlength=len(self.kept.levels))
        overall = self.kept.loss_of_all(counts)
        if not isinstance(common, SharedValues):
            error = (self.ranks - common.raw[labels]) / self.kept.spread
            return float((error if heavy is None else heavy * error) @ error), overall
        # The mean over a random member: the squared distance to its mean, and its variance.
        starts = np.searchsorted(common.group, np.arange(len(common.texts)))
        mean = np.add.reduceat(common.share * common.level, starts)
        variance = np.add.reduceat(common.share * common.level**2, starts) - mean**2
        loss = np.square(self.ranks - mean[labels]) + variance[labels]
        return float((loss if heavy is None else heavy * loss).sum()) / self.kept.spread**2, overall

    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """Bars, in their order."""
        levels = tuple(spelled(level) for level in self.kept.levels)
        return Profile(self.name, self.ranks.astype(np.float64), np.floor(common.raw[labels]), levels)

    def said(self) -> dict[str, Any]:
        """The order."""
        return {"order": list(self.kept.levels)}


class OrdinalGathering(Gathering):
    """The categories of a column, numbered as they come up; their order is known at the end."""

    kind = "ordinal"

    def __init__(self, name: str, wish: Wish) -> None:
        self.name, self.wish = name, wish
        self.levels = Levels(name)
        self._ordered: tuple[Level, ...] = wish.order
        self._order: tuple[Level, ...] = ()

    def add(self, column: Column, before: int) -> Stored:
        """The numbers of the categories so far."""
        if not self._ordered:
            self._ordered = ordered_categories(column) or ()
        return self.levels.add(column, before)

    def joined(self, others: Sequence[Gathering]) -> "OrdinalGathering | None":
        """Categories of all parts, if these have the same order."""
        them = [each for each in others if isinstance(each, OrdinalGathering) and each._ordered == self._ordered]
        found = self.levels.joined([each.levels for each in them])
        if len(them) < len(others) or found is None:
            return None
        made = copy(self)
        made.levels, made.new_numbers = found
        return made

    def finish(self) -> None:
        """Every category has a place in the order."""
        values = self.levels.values
        known = None if self._ordered else known_order(list(dict.fromkeys(map(bare, values))), 1)
        if not self._ordered and known is None:
            self._ordered = by_size(values)
        order: tuple[Level, ...] = self._ordered or known or ()
        if not order:
            raise ShoalError(
                f"the order of the values of column {self.name!r} is not known ({some(map(repr, values))}); "
                f"give it, from the lowest to the highest: {typed('--order', self.name, 'a,b,c')}"
            )
        wanted = {bare(level): level for level in reversed(order)}
        odd = [place for place, value in enumerate(values) if bare(value) not in wanted]
        if odd:
            first = min(odd, key=lambda place: self.levels.first[place])
            raise RowsError(
                self.name,
                f"{values[first]!r}, which is not in the order {some(map(spelled, order), 10)}",
                np.sort([self.levels.first[place] for place in odd]) + 1,
                f"correct it, add it to {typed('--order', self.name, '...')}, or name it with --gap-values if it "
                "means missing",
            )
        there = {bare(value): value for value in reversed(values)}
        there |= {text: level for text, level in wanted.items() if level in values}
        self._order = tuple(there.get(text, wanted[text]) for text in dict.fromkeys(map(bare, order)))

    def different(self) -> Column | None:
        """The categories, unless their order came with the column."""
        return None if self._ordered else self.levels.column()

    def kept(self, weight: float, chunks: Chunks) -> tuple[Kept, Settle]:
        """The categories in their order, also those that no record has."""
        ranks = {bare(level): rank for rank, level in enumerate(self._order)}
        numbers = np.array([ranks[bare(value)] for value in self.levels.values], np.int64)
        counts = np.zeros(len(ranks), np.int64)
        np.add.at(counts, numbers, self.levels.counts)
        made = OrdinalKept(self.name, weight, levels=self._order, counts=tuple(counts.tolist()))
        return made, lambda stored, _: numbers[stored]


def bare(level: Level) -> str:
    """A value as a text without spaces around it, by which its place in the order is found."""
    return spelled(level).strip()


def by_size(values: Sequence[Level]) -> tuple[Level, ...]:
    """Numbers from the lowest to the highest, also those that are text; nothing where there are others."""
    try:
        return tuple(sorted(values, key=float))
    except ValueError:
        return ()


def ordered_categories(column: Column) -> tuple[Level, ...] | None:
    """The categories of an ordered column of pandas, in their order."""
    held = getattr(column.series.to_native(), "cat", None)
    if held is None or not getattr(held, "ordered", False):
        return None
    return tuple(held.categories.tolist())


class Ordinal(Kind):
    """Columns of categories in an order that is given or known."""

    name = "ordinal"
    kept = OrdinalKept

    def takes(self, column: Column) -> bool:
        """Ordered columns of pandas, and texts whose order is known."""
        if ordered_categories(column) is not None:
            return True
        if not text_like(column):
            return False
        texts = list(dict.fromkeys(map(bare, pa.compute.unique(column.values()).to_pylist())))
        return len(texts) <= MOST_LEVELS and known_order(texts) is not None

    def gathering(self, name: str, wish: Wish) -> Gathering:
        """A column that comes in parts."""
        return OrdinalGathering(name, wish)
