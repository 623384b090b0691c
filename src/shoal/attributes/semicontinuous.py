"""Numbers many of which are one value: a capital gain is 0 for most people, and spreads widely for the others.

The value is at an end of the column: its lowest number, or its highest, whichever is more frequent. It is called
the mass here. There are two coordinates: whether a number is at the mass, and the number itself, where those at
the mass stand at the mean of the others. Both have the same variance over all records. Let p be the share of the
records at the mass, and z the number of another record on the scale of the others (less their mean, divided by
their spread):

- with z-scores, the squared distance from the mass to that record is (1 / p + z²) / (2 (1 - p)). Between two
  others it is (z - z')² / (2 (1 - p)). The variances of both coordinates sum to 1;
- with the other scalings, the others are scaled as a column of numbers is. The squared distance from the mass to
  one of them is v / p + (z - m)², where m and v are their mean and their variance on that scale. With `range`, all
  is divided so that the largest distance is 1.

Where all others are the same number, the mass is at a distance of 1 from them before the z-scores.

The common value of a group is the mass where at least half of its records are there; else it is the mean or the
median of its others. A mode and an interval are those of all records of the group.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property, partial
from math import fsum, sqrt
from operator import gt, lt
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shoal.attributes.base import (
    AgainError,
    Chunks,
    Digits,
    Float,
    Gathering,
    Int,
    Kept,
    KeptAttribute,
    Kind,
    Profile,
    Settle,
    Squares,
    Stored,
    Wish,
    kept_from,
)
from shoal.attributes.common_values import CommonValues
from shoal.attributes.gaps import settled
from shoal.attributes.numeric_attribute import NumericAttribute
from shoal.attributes.numeric_stream import NumericGathering, NumericKept
from shoal.attributes.weighing import Weights, counting, sizes_of, summed, weighted_squares
from shoal.errors import ShoalError
from shoal.parameters import Aggregate, Scaling
from shoal.table import Column

Mask = NDArray[np.bool_]

LEAST_SHARE, MOST_SHARE = 0.2, 0.995
"""Of the records that are at one value, for a column to look semi-continuous."""

LEAST_OTHERS, LEAST_DIFFERENT = 20, 11
"""So many others, and so many different numbers among them."""


def looks_semicontinuous(values: Float) -> float | None:
    """The value that many records have, if it is at an end of the column and the others spread; else None."""
    if not len(values):
        return None
    mass, there, records = mass_of(iter([values]))
    others = values[values != mass]
    if not LEAST_SHARE <= there / records <= MOST_SHARE or len(others) < LEAST_OTHERS:
        return None
    return float(mass) if len(np.unique(others)) >= LEAST_DIFFERENT else None


def mass_of(parts: Iterator[Stored]) -> tuple[Any, int, int]:
    """The lowest or the highest number, whichever is more frequent; how often it occurs, and how many numbers."""
    lowest: tuple[Any, int] = None, 0
    highest: tuple[Any, int] = None, 0
    records = 0
    for part in parts:
        lowest = end_of(lowest, part, part.min(), lt)
        highest = end_of(highest, part, part.max(), gt)
        records += len(part)
    value, count = lowest if lowest[1] >= highest[1] else highest
    return value, count, records


def end_of(known: tuple[Any, int], part: Stored, end: Any, beyond: Callable[[Any, Any], bool]) -> tuple[Any, int]:
    """An end of a column and how often it occurs, with another part that has this end."""
    value, count = known
    if value is None or beyond(end, value):
        return end.item(), int((part == end).sum())
    return value, count + int((part == value).sum())


@dataclass(frozen=True)
class MassKept(Kept):
    """A column of numbers, the mass among them, and how both are scaled."""

    kind = "semi-continuous"

    inner: NumericKept = field(default_factory=lambda: NumericKept("", 1.0))
    mass: float = 0.0  # as it is stored
    there: int = 0  # records at the mass
    records: int = 0
    middle: float = 0.0  # the mean of the others on their scale
    far: float = 1.0  # how far the mass is from there
    factor: float = 1.0  # that both coordinates are multiplied by

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it, with the numbers inside."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "inner"}
        return {"kind": self.kind, **own, "inner": self.inner.as_dict()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "MassKept":
        """The other way round."""
        return cls(**{**given, "inner": kept_from(given["inner"])})

    @property
    def width(self) -> int:
        """Whether a number is at the mass, and the number."""
        return 2

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Of the numbers."""
        return self.inner.dtype

    def overall(self, middle: Float) -> Float:
        """Of the mass, or of the mean of the others, as in every group."""
        return np.array([middle[0], self.far * self.factor if self.mostly else 0.0])

    def joined_by(self, stored: Any, records: int) -> Self:
        """With more records of a number."""
        there = self.there + (records if stored == self.mass else 0)
        return replace(self, there=there, records=self.records + records)

    @property
    def mostly(self) -> bool:
        """Whether at least half of all records are at the mass."""
        return 2 * self.there >= self.records

    def seen(self, stored: Stored) -> "MassKept":
        """With what the numbers add."""
        return replace(self, inner=self.inner.seen(stored))

    def scaled(self, scaling: Scaling, chunks: Chunks, alone: bool) -> "MassKept":
        """With the scale of the others, and the place of the mass among them."""
        others = self.records - self.there
        if not others:
            return replace(self, is_constant=True)

        def beside() -> Iterator[Stored]:
            return (part for stored in chunks() if len(part := stored[stored != self.mass]))

        inner = self.inner.scaled(scaling, beside, alone)

        def placed() -> Iterator[Float]:
            parts = iter([np.concatenate(list(beside()))]) if alone else beside()
            return (inner.attribute(part).coordinates()[:, 0] for part in parts)

        known = [(float(part.sum()), float(part.min()), float(part.max())) for part in placed()]
        sums, lows, highs = zip(*known, strict=True)
        middle, low, high = fsum(sums) / others, min(lows), max(highs)
        variance = fsum(float(np.square(part - middle).sum()) for part in placed()) / others
        share = self.there / self.records
        far, factor = sqrt(variance / share) or 1.0, 1.0
        if scaling == "zscore":
            factor = 1 / sqrt((1 - share) * (variance + far**2 * share))
        elif scaling == "range":
            factor = 1 / max(high - low, sqrt(far**2 + max(middle - low, high - middle) ** 2))
        changed = others if self.mostly else self.there
        sst = (others * variance + changed * far**2) * factor**2
        return replace(self, inner=inner, middle=middle, far=far, factor=factor, sst=sst)

    def along(self, stored: Stored) -> Float:
        """The numbers, the mass among them."""
        return self.inner.along(stored)

    @property
    def stretch(self) -> float:
        """That of the numbers."""
        return 0.0 if self.is_constant else self.inner.stretch * self.factor**2

    def attribute(self, stored: Stored) -> "MassAttribute":
        """Some records on the scale of all."""
        return MassAttribute(self, stored)

    def codes(self, common: CommonValues) -> Stored:
        """As the numbers."""
        assert isinstance(common, MassValues)
        return self.inner.codes(common.inner)

    def values(self, codes: Stored) -> CommonValues:
        """As the numbers."""
        return replace(self.inner, digits=self.digits).values(codes)

    def warning(self, chunks: Chunks) -> str | None:
        """That of the numbers."""
        return self.inner.warning(chunks)

    @property
    def shown(self) -> str:
        """The mass, as the table writes it."""
        return self.inner.values(np.array([self.mass], self.dtype)).text()[0]


@dataclass(frozen=True, eq=False)
class MassValues(CommonValues):
    """Common values of numbers, and which of them are at the mass."""

    inner: CommonValues
    at: Mask

    def keeps_type(self, asked: bool) -> bool:
        """As the numbers."""
        return self.inner.keeps_type(asked)

    @property
    def raw(self) -> Float:  # type: ignore[override]
        """As the numbers."""
        return self.inner.raw

    def native(self) -> Sequence[Any] | NDArray[Any]:
        """As the numbers."""
        return self.inner.native()

    def floats(self) -> Float:
        """As the numbers."""
        return self.inner.floats()

    def text(self, decimal_sign: str = ".") -> list[str]:
        """As the numbers."""
        return self.inner.text(decimal_sign)

    def column(self, like: "nw.Series[Any]", labels: Int, keep_type: bool) -> "nw.Series[Any]":
        """As the numbers."""
        return self.inner.column(like, labels, keep_type)


@dataclass(frozen=True, eq=False)
class MassAttribute(KeptAttribute):
    """Numbers many of which are at the mass."""

    kept: MassKept
    stored: Stored

    @cached_property
    def at(self) -> Mask:
        """The records at the mass."""
        return np.asarray(self.stored == self.kept.mass)

    @cached_property
    def inner(self) -> NumericAttribute:
        """The numbers, the mass among them, on the scale of the others."""
        return self.kept.inner.attribute(self.stored)

    def coordinates(self) -> Float:
        """The number, and whether it is at the mass."""
        return self._points(self.inner.coordinates()[:, 0], self.at)

    def _points(self, numbers: Float, at: Mask) -> Float:
        kept = self.kept
        both = [np.where(at, kept.middle, numbers), np.where(at, kept.far, 0.0)]
        return np.column_stack(both) * kept.factor

    def common_values(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None,
        weights: Weights | None = None,
    ) -> MassValues:
        """The mass where at least half of the records are there, else the mean or median of the others."""
        if aggregate in ("mean", "median"):
            order, starts = deciding(self.at, *counting(order, starts, weights))
        common = self.inner.common_values(order, starts, aggregate, exact, digits, weights)
        mass = self.kept.inner.attribute(np.array([self.kept.mass], self.kept.dtype))
        released = mass.common_values(np.zeros(1, np.int64), np.array([0, 1]), "mean", exact, digits)
        return MassValues(common, common.raw == released.raw)

    def squared_errors(
        self, common: CommonValues, labels: Int, weights: Weights | None = None
    ) -> tuple[float, float]:
        """By the coordinates: to be at the mass and to be released beside it is a loss, and so is the reverse."""
        if self.is_constant:
            return 0.0, 0.0
        points = self.coordinates()
        errors = points - self.placed(common)[labels]
        away = points - self._overall(points, weights)
        return weighted_squares(errors, weights), weighted_squares(away, weights)

    def _overall(self, points: Float, weights: Weights | None) -> Float:
        """The coordinates of the common value of all records: those of the mass, or of the mean of the others."""
        kept, others = self.kept, ~self.at
        if weights is None:
            mostly = 2 * int(others.sum()) <= len(points)
        else:
            mostly = 2 * sum(weights[others].tolist()) <= sum(weights.tolist())
        if mostly:
            return np.array([kept.middle, kept.far]) * kept.factor
        heavy = None if weights is None else weights[others].astype(np.float64)
        return np.array([np.average(points[others, 0], weights=heavy), 0.0])

    def placed(self, common: CommonValues) -> Float:
        """The values as released, scaled."""
        assert isinstance(common, MassValues)
        return self._points(self.inner.placed(common.inner)[:, 0], common.at)

    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """A histogram, and how many records are at the mass."""
        before, after = self.inner.numbers.floats(), common.floats()[labels]
        return Profile(self.name, before, after, notes=self.notes(common, labels))

    def notes(self, common: CommonValues, labels: Int) -> tuple[tuple[str, str], ...]:
        """How many records are at the mass."""
        assert isinstance(common, MassValues)
        now = int(common.at[labels].sum())
        return ((f"records at {self.kept.shown}", f"{int(self.at.sum())} before, {now} after"),)

    def check_digits(self, asked: Digits) -> None:
        """Of the numbers."""
        self.inner.check_digits(asked)

    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """Of the others, in all groups that have some."""
        chosen = ~self.at[order]
        counts = np.add.reduceat(chosen.astype(np.int64), starts[:-1])
        if not chosen.any():
            return 0.0, 0
        begins = np.concatenate([[0], np.cumsum(counts[counts > 0])])
        return self.inner.squares(order[chosen], begins, aggregate)

    def digits_used(self, asked: Digits, squares: Fraction, records: int, k: int) -> dict[str, int | None]:
        """By the spread of the others; a mean may be of no more of them than half a group and one."""
        others = max(1, self.kept.records - self.kept.there)
        return self.inner.digits_used(asked, squares, others, k // 2 + 1)

    def warning(self) -> str | None:
        """That of the numbers."""
        return self.inner.warning()

    def said(self) -> dict[str, Any]:
        """The mass."""
        return {"mass": self.kept.shown}


def deciding(at: Mask, order: Int, starts: Int, counts: Weights | None = None) -> tuple[Int, Int]:
    """The records that each group has its common value from: one at the mass, or those that are not.

    `counts` says how often each place in `order` counts, once where it is None.
    """
    there, sizes = at[order], np.diff(starts)
    number = np.add.reduceat(there.astype(np.int64), starts[:-1])
    massive = number if counts is None else summed(there.astype(np.int64), starts, counts)
    massive = np.asarray(2 * massive >= sizes_of(starts, counts))
    so_far = np.cumsum(there)
    first = there & (so_far - np.repeat(so_far[starts[1:] - 1] - number, sizes) == 1)
    chosen = np.where(np.repeat(massive, sizes), first, ~there)
    return order[chosen], np.concatenate([[0], np.cumsum(np.where(massive, 1, sizes - number))])


class MassGathering(Gathering):
    """Numbers that come in parts; which of them is the mass is known in the end."""

    kind = "semi-continuous"

    def __init__(self, name: str, fresh: Callable[[], Gathering] | None = None) -> None:
        self.name = name
        self._inner = fresh() if fresh else NumericGathering(name)

    def add(self, column: Column, before: int) -> Stored:
        """As numbers."""
        try:
            return self._inner.add(column, before)
        except AgainError as again:
            raise self._again(again) from None

    def finish(self) -> None:
        """All parts are there."""
        try:
            self._inner.finish()
        except AgainError as again:
            raise self._again(again) from None

    def _again(self, again: AgainError) -> AgainError:
        return AgainError(partial(MassGathering, self.name, again.fresh))

    def kept(self, weight: float, chunks: Chunks) -> tuple[MassKept, Settle]:
        """With the mass."""
        inner, settle = self._inner.kept(weight, chunks)
        assert isinstance(inner, NumericKept)
        mass, there, records = mass_of(settled(chunks(), settle))
        if there < 2:
            raise ShoalError(
                f"column {self.name!r} is not semi-continuous: its lowest and its highest number are in one "
                "record each, and one of them should be in many; leave it numeric"
            )
        return MassKept(self.name, weight, inner=inner, mass=mass, there=there, records=records), settle


class SemiContinuous(Kind):
    """Numbers with a mass at one value; taken where it is asked for."""

    name = "semi-continuous"
    kept = MassKept

    def takes(self, column: Column) -> bool:
        """Never by itself: `looks_semicontinuous` tells whom to suggest it to."""
        return False

    def gathering(self, name: str, wish: Wish) -> Gathering:
        """A column that comes in parts."""
        return MassGathering(name)
