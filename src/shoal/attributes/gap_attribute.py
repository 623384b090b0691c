"""An attribute some of whose values are missing.

A gap is never a number. Where it is a value of its own (`value`), or where records with the same gaps are
grouped together (`pattern`, `blank`), an attribute has one coordinate more: 0 where there is a value, `far`
where there is none. In the other coordinates a gap stands at the mean of the values. `far` is the square root of
the variance of the values, summed over the coordinates. So the squared distance from a gap to a value is on
average that between two values. Where all values are the same, `far` is 1. With z-scores, all coordinates are
then divided by one number, so that the sum of their variances is 1, as for every attribute.

The common value of a group is a gap where more than half of its records have one; else it is the common value of
those that have a value. `impute` puts a typical value into the place of a gap before anything is grouped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from math import sqrt
from typing import Any, Self

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.attributes.base import (
    KEPT,
    Attribute,
    Chunks,
    Digits,
    Float,
    Int,
    Kept,
    KeptAttribute,
    Profile,
    Squares,
    Stored,
    kept_from,
)
from shoal.attributes.common_values import CommonValues
from shoal.attributes.gaps import Mask, gap_of, is_gap
from shoal.attributes.weighing import Weights, never_all_zero, weighted_squares
from shoal.parameters import Aggregate, GapPolicy, Scaling
from shoal.table import is_text


@dataclass(frozen=True)
class GapKept(Kept):
    """An attribute some of whose values are missing: the kind of the values, and where a gap is among them."""

    kind = "gaps"

    inner: Kept | None = None
    gaps: int = 0
    records: int = 0
    spelling: str = ""
    policy: GapPolicy = "value"
    middle: tuple[float, ...] = ()  # the mean coordinates of the values
    far: float = 1.0  # how far a gap is from there
    parts: tuple[str, ...] = ()  # the columns, where there are gaps only
    factor: float = 1.0  # that all coordinates are multiplied by
    usual: float = 0.0  # the mean of the values on the axis that blocks are cut along

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it, with the kind inside."""
        own = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "inner"}
        return {"kind": self.kind, **own, "inner": self.inner and self.inner.as_dict()}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Self:
        """The other way round."""
        inner = given["inner"] and kept_from(given["inner"])
        tuples = {name: tuple(given[name]) for name in ("middle", "parts")}
        return cls(**{**given, "inner": inner, **tuples})

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the values."""
        return self.parts if self.inner is None else self.inner.columns

    @property
    def width(self) -> int:
        """One more than the values have."""
        return 1 + (0 if self.inner is None else self.inner.width)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Of the values."""
        return np.dtype(np.int64) if self.inner is None else self.inner.dtype

    def seen(self, stored: Stored) -> Self:
        """With what the values add."""
        there = stored[~is_gap(stored)]
        if self.inner is None or not len(there):
            return self
        return replace(self, inner=self.inner.seen(there))

    def scaled(self, scaling: Scaling, chunks: Chunks, alone: bool) -> Self:
        """With the scale of the values, and the place of a gap among them."""
        if self.inner is None:
            return self

        def present() -> Iterator[Stored]:
            parts = (part for stored in chunks() if len(part := stored[~is_gap(stored)]))
            return iter([np.concatenate(list(parts))]) if alone else parts  # sums as of a table in memory

        inner = self.inner.scaled(scaling, present, alone)
        values = self.records - self.gaps

        def coordinates() -> Iterator[Float]:
            return (inner.attribute(part).coordinates() for part in present())

        middle = np.sum([part.sum(axis=0) for part in coordinates()], axis=0) / values
        variance = float(sum(np.square(part - middle).sum() for part in coordinates())) / values
        share, far = self.gaps / self.records, sqrt(variance) or 1.0
        total = (1 - share) * variance + far**2 * share * (1 - share)
        factor = 1 / sqrt(total) if scaling == "zscore" else 1.0
        away = float(np.square(middle - inner.overall(middle)).sum()) + far**2
        mostly = 2 * self.gaps > self.records
        loss = values * (variance + far**2) if mostly else inner.sst + self.gaps * away
        usual = sum(float(inner.along(part).sum()) for part in present()) / values
        return replace(
            self, inner=inner, middle=tuple(middle.tolist()), far=far, factor=factor, sst=loss * factor**2,
            usual=usual,
        )  # fmt: skip

    def along(self, stored: Stored) -> Float:
        """As the values; gaps at their mean."""
        there = ~is_gap(stored)
        out = np.zeros(len(stored))
        if self.inner is not None and there.any():
            out[there] = self.inner.along(stored[there])
        out[~there] = self.usual
        return out

    @property
    def stretch(self) -> float:
        """As the values."""
        return 0.0 if self.inner is None else self.inner.stretch * self.factor**2

    def attribute(self, stored: Stored) -> "GapAttribute":
        """Some records on the scale of all."""
        return GapAttribute(self, stored, np.zeros(len(stored), bool))

    @property
    def rounding(self) -> Kept | None:
        """The kind of the values, with the digits that they are rounded to."""
        return self.inner and replace(self.inner, digits=self.digits)

    def codes(self, common: CommonValues) -> Stored:
        """As the values are stored, or a gap."""
        assert isinstance(common, GapValues)
        if common.inner is None or self.inner is None:
            return np.full(len(common.which), gap_of(self.dtype), self.dtype)
        codes = self.inner.codes(common.inner)
        return np.where(common.which >= 0, codes[common.which], gap_of(codes.dtype))

    def values(self, codes: Stored) -> "GapValues":
        """Common values as they were."""
        there = ~is_gap(codes)
        which = np.where(there, np.cumsum(there) - 1, -1)
        kind = self.rounding
        return GapValues(None if kind is None else kind.values(codes[there]), which, self.spelling)

    def warning(self, chunks: Chunks) -> str | None:
        """Of the values."""
        if self.inner is None:
            return None
        return self.inner.warning(lambda: (part for stored in chunks() if len(part := stored[~is_gap(stored)])))


KEPT[GapKept.kind] = GapKept


@dataclass(frozen=True, eq=False)
class GapValues(CommonValues):
    """Common values of groups, or gaps: `which` is the place of each among the values, -1 for a gap."""

    inner: CommonValues | None
    which: Int
    spelling: str = ""

    def keeps_type(self, asked: bool) -> bool:
        """As the values."""
        return self.inner is None or self.inner.keeps_type(asked)

    @property
    def raw(self) -> Float:  # type: ignore[override]
        """As the values, NaN for a gap."""
        return self._with(np.nan if self.inner is None else self.inner.raw, np.nan)

    def _with(self, values: Any, gap: Any) -> NDArray[Any]:
        if self.inner is None:
            return np.full(len(self.which), gap)
        return np.where(self.which >= 0, np.asarray(values)[self.which], gap)

    def of(self, column: str) -> "GapValues":
        """A gap in all columns."""
        return self if self.inner is None else replace(self, inner=self.inner.of(column))

    def native(self) -> Sequence[Any]:
        """None for a gap; among texts what mostly stands for one."""
        short = [] if self.inner is None else list(self.inner.native())
        text = bool(short) and all(isinstance(value, str) for value in short)
        gap = self.spelling if self.spelling and text else None
        return [short[place] if place >= 0 else gap for place in self.which.tolist()]

    def floats(self) -> Float:
        """NaN for a gap."""
        return self._with(0 if self.inner is None else self.inner.floats(), np.nan)

    def text(self, decimal_sign: str = ".") -> list[str]:
        """A gap as the file writes most of them."""
        short = [] if self.inner is None else self.inner.text(decimal_sign)
        return [short[place] if place >= 0 else self.spelling for place in self.which.tolist()]

    def _arrow(self, kind: pa.DataType, keep_type: bool) -> pa.ChunkedArray:
        """In the type of the values, also where there is none."""
        keep_type = self.keeps_type(keep_type)
        empty = self.inner is None or not len(self.inner.native())
        made = pa.chunked_array([], kind) if self.inner is None else self.inner._arrow(kind, keep_type)
        if empty and pa.types.is_null(made.type):
            made = pa.chunked_array([], kind)
        places = pa.array(np.maximum(self.which, 0), mask=self.which < 0)
        made = taken_or_none(made, places)
        return made.fill_null(self.spelling) if self.spelling and is_text(made.type) else made

    def column(self, like: "nw.Series[Any]", labels: Int, keep_type: bool) -> "nw.Series[Any]":
        """As the kind of the values makes it, where it has a way of its own."""
        made = None if self.inner is None else self.inner.gapped(like, self.which[labels], self.spelling)
        return super().column(like, labels, keep_type) if made is None else made


def taken_or_none(values: pa.ChunkedArray, places: pa.Array) -> pa.ChunkedArray:
    """The values at some places, none where there is no place."""
    listed = values.to_pylist() if len(values) else [None]
    if pa.types.is_dictionary(values.type) or not len(values):
        chosen = [None if place is None else listed[place] for place in places.to_pylist()]
        return pa.chunked_array([pa.array(chosen, values.type)])
    return values.take(places)


@dataclass(frozen=True, eq=False)
class GapAttribute(KeptAttribute):
    """An attribute some of whose values are missing; `hidden` are values that are released as gaps."""

    kept: GapKept
    stored: Stored
    hidden: Mask

    @property
    def kind(self) -> str:
        """That of the values."""
        return "numeric" if self.kept.inner is None else self.kept.inner.bare().kind

    @property
    def is_constant(self) -> bool:  # type: ignore[override]
        """Whether there are gaps only; gaps and one value are two values."""
        return self.kept.inner is None

    @cached_property
    def lacking(self) -> Mask:
        """The records that came without a value."""
        return is_gap(self.stored)

    @property
    def missing(self) -> Mask:
        """The records that are grouped as if they had none."""
        return self.lacking | self.hidden

    def hiding(self, hidden: Mask) -> "GapAttribute":
        """The same with other values that are released as gaps."""
        return replace(self, hidden=hidden & ~self.lacking)

    def _inner(self, chosen: Mask) -> Attribute | None:
        """The values of some records."""
        if self.kept.inner is None or not chosen.any():
            return None
        return self.kept.inner.attribute(self.stored[chosen])

    def coordinates(self) -> Float:
        """Those of the values, and how far a gap is from them."""
        middle, there = np.array(self.kept.middle), ~self.missing
        points = np.empty((len(self.stored), len(middle) + 1))
        points[:, :-1] = middle
        if (inner := self._inner(there)) is not None:
            points[there, :-1] = inner.coordinates()
        points[:, -1] = np.where(there, 0.0, self.kept.far)
        return points * self.kept.factor

    def _with_values(self, order: Int, starts: Int) -> tuple[Int, Int, Int]:
        """Of the groups that get a value, the records that have one, and where each starts; the place of each."""
        missing = self.missing
        gaps = np.add.reduceat(missing[order].astype(np.int64), starts[:-1])
        sizes = np.diff(starts)
        valued = 2 * gaps <= sizes
        which = np.where(valued, np.cumsum(valued) - 1, -1)
        chosen = np.repeat(valued, sizes) & ~missing[order]
        place = np.cumsum(~missing) - 1  # of a record among those with a value
        inside = np.concatenate([[0], np.cumsum((sizes - gaps)[valued])])
        return place[order[chosen]], inside, which

    def common_values(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None,
        weights: Weights | None = None,
    ) -> GapValues:
        """A gap where more than half of the records have one, else the common value of the others.

        Whether it is a gap is counted in records, whatever their weights are. Where all records that have a value
        have the weight 0, each of them counts once.
        """
        inside, begins, which = self._with_values(order, starts)
        inner = self._inner(~self.missing)
        if inner is None or not len(inside):
            return GapValues(None, np.full(len(starts) - 1, -1), self.kept.spelling)
        if weights is not None:
            weights = never_all_zero(weights[~self.missing], inside, begins)
        common = inner.common_values(inside, begins, aggregate, exact, digits, weights)
        return GapValues(common, which, self.kept.spelling)

    def placed(self, common: CommonValues) -> Float:
        """Those of the values; a gap where gaps are."""
        assert isinstance(common, GapValues)
        points = np.empty((len(common.which), len(self.kept.middle) + 1))
        points[:] = np.append(np.array(self.kept.middle), self.kept.far)
        if common.inner is not None and self.kept.inner is not None:
            there = common.which >= 0
            points[there, :-1] = self.kept.inner.bare().placed(common.inner)[common.which[there]]
            points[there, -1] = 0.0
        return points * self.kept.factor

    def squared_errors(
        self, common: CommonValues, labels: Int, weights: Weights | None = None
    ) -> tuple[float, float]:
        """A value that became a gap, and a gap that became a value, count by their distance."""
        if self.is_constant:
            return 0.0, 0.0
        return self._loss(common, labels, weights), self._loss_of_all(weights)

    def _loss_of_all(self, weights: Weights | None) -> float:
        """What is lost if all records get one value, or a gap where most have one."""
        there, n = ~self.lacking, len(self.stored)
        inner, values = self._inner(there), int(there.sum())
        if inner is None or self.kept.inner is None:
            return 0.0
        middle, far = np.array(self.kept.middle), self.kept.far**2
        own = None if weights is None else weights[there]
        if 2 * values < n:
            loss = weighted_squares(inner.coordinates() - middle, own) + far * whole_weight(own, values)
        else:
            whole = np.arange(values), np.array([0, values])
            counted = None if own is None else never_all_zero(own, *whole)
            one = inner.common_values(*whole, "mean", True, None, counted)
            loss = loss_of(inner, one, np.zeros(values, np.int64), own)[1]
            # Weights can make another value the common one than that of all records.
            overall = self.kept.inner.overall(middle) if weights is None else inner.placed(one)[0]
            gaps = whole_weight(None if weights is None else weights[~there], n - values)
            loss += gaps * (float(np.square(middle - overall).sum()) + far)
        return loss * self.kept.factor**2

    def _loss(self, common: CommonValues, labels: Int, weights: Weights | None) -> float:
        assert isinstance(common, GapValues)
        which = common.which[labels]
        both = (which >= 0) & ~self.lacking
        loss = 0.0
        if (inner := self._inner(both)) is not None and common.inner is not None:
            loss += loss_of(inner, common.inner, which[both], None if weights is None else weights[both])[0]
        middle, far = np.array(self.kept.middle), self.kept.far**2
        lost = (which < 0) & ~self.lacking
        if (inner := self._inner(lost)) is not None:
            own = None if weights is None else weights[lost]
            loss += weighted_squares(inner.coordinates() - middle, own) + far * whole_weight(own, int(lost.sum()))
        made = (which >= 0) & self.lacking
        if made.any():
            away = np.square(self.placed(common)[:, :-1] / self.kept.factor - middle).sum(axis=1) + far
            moved = away[labels[made]]
            loss += float((moved if weights is None else weights[made].astype(np.float64) * moved).sum())
        return loss * self.kept.factor**2

    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """That of the values; gaps are not drawn among numbers, and are one more of categories."""
        assert isinstance(common, GapValues)
        before, after = np.full((2, len(self.stored)), np.nan)
        name, levels = self.name, tuple[str, ...]()
        unit, there = "", ~self.lacking
        if (inner := self._inner(there)) is not None:
            n = int(there.sum())
            whole = inner.common_values(np.arange(n), np.array([0, n]), "mean", False, None)
            shown = inner.profile(whole, np.zeros(n, np.int64))
            before[there], name, levels, unit = shown.before, shown.name, shown.levels, shown.unit
            which = common.which[labels]
            if common.inner is not None and self.kept.inner is not None:
                valued = which >= 0
                any_of_them = self.kept.inner.attribute(np.repeat(self.stored[there][:1], valued.sum()))
                after[valued] = any_of_them.profile(common.inner, which[valued]).after
        if levels:
            before, after = (np.where(np.isnan(part), len(levels), part) for part in (before, after))
            levels = (*levels, "(missing)")
        return Profile(name, before, after, levels, self.notes(common, labels), unit)

    def notes(self, common: CommonValues, labels: Int) -> tuple[tuple[str, str], ...]:
        """Of the values that are released as values."""
        assert isinstance(common, GapValues)
        which = common.which[labels]
        both = (which >= 0) & ~self.lacking
        inner = self._inner(both)
        return () if inner is None or common.inner is None else inner.notes(common.inner, which[both])

    def check_aggregate(self, aggregate: Aggregate) -> None:
        """Of the values."""
        if (inner := self._inner(~self.lacking)) is not None:
            inner.check_aggregate(aggregate)

    def check_digits(self, asked: Digits) -> None:
        """Of the values."""
        if self.kept.inner is not None:
            self.kept.inner.bare().check_digits(asked)

    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """Of the values in the groups that get one."""
        inside, begins, _ = self._with_values(order, starts)
        inner = self._inner(~self.missing)
        return (0.0, 0) if inner is None or not len(inside) else inner.squares(inside, begins, aggregate)

    def digits_used(self, asked: Digits, squares: Fraction, records: int, k: int) -> dict[str, int | None]:
        """Of the values."""
        if self.kept.inner is None:
            return {}
        values = self.kept.records - self.kept.gaps
        # A mean may be that of half of a group, where the others have gaps.
        fewest = (k + 1) // 2 if self.kept.policy == "value" else k
        return self.kept.inner.bare().digits_used(asked, squares, values, fewest)

    def digits_said(self, digits: int | None) -> int | str | None:
        """Of the values."""
        return digits if self.kept.inner is None else self.kept.inner.bare().digits_said(digits)

    def warning(self) -> str | None:
        """Of the values."""
        inner = self._inner(~self.lacking)
        return None if inner is None else inner.warning()

    def said(self) -> dict[str, Any]:
        """Of the values."""
        return {} if self.kept.inner is None else self.kept.inner.bare().said()


def whole_weight(weights: Weights | None, records: int) -> float:
    """The whole weight of so many records."""
    return records if weights is None else float(weights.astype(np.float64).sum())


def loss_of(values: Attribute, common: CommonValues, labels: Int, weights: Weights | None) -> tuple[float, float]:
    """The loss of some records, which may all have the weight 0: then there is none."""
    if weights is not None and not (weights > 0).any():
        return 0.0, 0.0
    return values.squared_errors(common, labels, weights)
