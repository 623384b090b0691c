"""Dates, points in time and durations of a table in parts, and what a stream keeps of them.

A part is read into ticks of its own unit: those of the type, or microseconds for text. What is true of the
whole column (its finest unit, its lowest moment, its layout and its offsets) is put together here.
"""

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from math import gcd
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes.base import AgainError, Chunks, Gathering, Kept, Settle, Stored, Wish
from shoal.attributes.category_values import not_streamed
from shoal.attributes.common_values import CommonValues
from shoal.attributes.ladder import DAY, RUNGS, TICKS, fraction_of, rung_of
from shoal.attributes.moment_attribute import MomentAttribute, Moments, warning_of_moments
from shoal.attributes.moment_texts import Texts, texts_reader
from shoal.attributes.moments import (
    A_DATE,
    WORDS,
    Family,
    Form,
    MomentValues,
    Read,
    family_of,
    is_whole,
    read_typed,
    texts_in,
)
from shoal.attributes.numbers import RowsError
from shoal.attributes.numeric_stream import WIDEST, NumericKept
from shoal.errors import ShoalError
from shoal.table import Column, holds_categories, type_name

Int = NDArray[np.int64]


@dataclass(frozen=True)
class MomentKept(NumericKept):
    """Whole ticks above the lowest moment."""

    kind = "moment"

    form: Form = A_DATE
    tick: int = DAY
    finest: int = DAY

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "MomentKept":
        """JSON has no tuples."""
        return cls(**{**given, "spelling": tuple(given["spelling"]), "form": Form.from_dict(given["form"])})

    def numbers(self, stored: Stored) -> Moments:
        """The moments of some records, with what is true of all."""
        return Moments(
            self.origin, stored, self.step or 1, 0, "integer", highest=self.highest,
            form=self.form, tick=self.tick, finest=self.finest,
        )  # fmt: skip

    def attribute(self, stored: Stored) -> MomentAttribute:
        """Some records on the scale of all."""
        numbers = self.numbers(stored)
        return MomentAttribute(self.name, self.weight, numbers, self.centre, self.spread, self.is_constant)

    def codes(self, common: CommonValues) -> Stored:
        """Ticks above the origin."""
        return codes_of(self.name, common) - self.origin

    def values(self, codes: Stored) -> CommonValues:
        """Common values as they were."""
        return self.numbers(codes).at(codes)

    def warning(self, chunks: Chunks) -> str | None:
        """What the moments show of themselves."""
        return warning_of_moments(self.name, map(self.numbers, chunks()))


def codes_of(name: str, common: CommonValues) -> Int:
    """The ticks of common values; intervals have two."""
    assert isinstance(common, MomentValues)
    if common.last is not None:
        raise not_streamed(name)
    return common.ticks


@dataclass(frozen=True, eq=False)
class Settled:
    """Turns ticks as parts were read into those of the whole column."""

    parts: list[tuple[int, int]]  # how many records, and how many nanoseconds their ticks have
    tick: int
    origin: int

    def __call__(self, values: Stored, start: int) -> Stored:
        """The records from `start` on."""
        out, place, end = np.empty_like(values), 0, 0
        for records, tick in self.parts:
            end += records
            upto = min(len(values), end - start)
            if upto > place:
                part = values[place:upto]
                out[place:upto] = part * (tick // self.tick) if tick >= self.tick else part // (self.tick // tick)
                place = upto
        return np.asarray(out - self.origin)


@dataclass(frozen=True)
class Found:
    """What all parts of a column have shown."""

    form: Form
    tick: int
    finest: int
    low: int  # in ticks
    high: int
    settle: Settle


class MomentGathering(Gathering):
    """What is known of a column of moments after some of its parts."""

    family: ClassVar[Family]

    def __init__(self, name: str, wish: Wish, swapped: bool = False) -> None:
        self.name, self._wish = name, wish
        self._form: Form | None = None
        self._texts: Texts | None = None
        self._swapped = swapped
        self._parts: list[tuple[int, int]] = []
        self._low: int | None = None  # in nanoseconds
        self._high: int | None = None
        self._grain = self._wall_grain = 0

    @property
    def _asked(self) -> str | None:
        """The layout that was asked for; empty where only the kind was, None where nothing was."""
        return None if self._wish.kind is None else self._wish.kind.partition(":")[2]

    def add(self, column: Column, before: int) -> Stored:
        """Ticks of the part's own unit."""
        if not len(column):
            return np.zeros(0, np.int64)
        try:
            read = self._read(column)
        except RowsError as error:
            raise error.after(before) from None
        low, high = (int(end) * read.tick for end in (read.ticks.min(), read.ticks.max()))
        self._low = low if self._low is None else min(low, self._low)
        self._high = high if self._high is None else max(high, self._high)
        self._grain = gcd(self._grain, int(np.gcd.reduce(read.ticks)) * read.tick)
        self._wall_grain = gcd(self._wall_grain, int(np.gcd.reduce(read.walls)) * read.tick)
        self._parts.append((len(read.ticks), read.tick))
        return read.ticks

    def _read(self, column: Column) -> Read:
        family = family_of(column)
        if family == self.family:
            read, self._form = read_typed(column)
            return read
        texts = texts_in(column)
        if texts is None and self.family == "date" and family is None and is_whole(column.series):
            texts = column.values().cast(pa.string())  # such as 20240131
        if texts is None:
            raise self._refused(column, family)
        if self._texts is None:
            self._texts = texts_reader(self.name, self.family, self._again, self._asked, self._swapped)
        return self._texts.add(pc.utf8_trim_whitespace(texts))

    def _refused(self, column: Column, family: Family | None) -> ShoalError:
        """The kind that was asked for is not what the type says."""
        if family is not None:
            return ShoalError(
                f"column {self.name!r} holds {WORDS[family]}, not {WORDS[self.family]}; say the kind {family}, "
                "or leave it out"
            )
        if holds_categories(column.series):
            cure = "turn it into text or into its own type first"
        else:
            cure = "leave the kind out"
        what = f"column {self.name!r} of type {type_name(column.series)}"
        return ShoalError(f"{what} cannot be read as {WORDS[self.family]}; {cure}")

    def _again(self) -> AgainError:
        return AgainError(partial(type(self), self.name, self._wish, swapped=True))

    def joined(self, others: Sequence[Gathering]) -> "MomentGathering | None":
        """Parts whose type says what they hold; how text is to be read, only all of it tells."""
        them = [each for each in others if isinstance(each, MomentGathering) and each._form == self._form]
        whole = [each for each in (self, *them) if each._low is not None and each._high is not None]
        if len(them) < len(others) or self._form is None or len(whole) <= len(them):
            return None
        made = copy(self)
        made._parts = [part for each in whole for part in each._parts]
        made._low = min(each._low for each in whole if each._low is not None)
        made._high = max(each._high for each in whole if each._high is not None)
        made._grain = gcd(*(each._grain for each in whole))
        made._wall_grain = gcd(*(each._wall_grain for each in whole))
        return made

    def finish(self) -> None:
        """All parts are there."""
        if self._texts is not None:
            self._texts.finish()

    def found(self) -> Found:
        """What is true of the whole column."""
        assert self._low is not None
        assert self._high is not None
        form = self._texts.form() if self._texts is not None else self._form
        assert form is not None
        rung = rung_of(self._grain if form.offsets else self._wall_grain)
        if self._texts is None:
            form, finest = replace(form, fraction=fraction_of(rung)), RUNGS[rung]
        else:  # tenths of a second are no unit, but a column may have them
            finest = max(RUNGS[rung], 10 ** (9 - form.fraction) if form.fraction else 1)
        tick = DAY if form.family == "date" else max(unit for unit in TICKS.values() if self._grain % unit == 0)
        low, high = self._low // tick, self._high // tick
        if high - low >= WIDEST or max(abs(low), abs(high)) >= 2**63:
            raise ShoalError(
                f"column {self.name!r} has nanoseconds and spans more than 146 years, which do not go together; "
                "round it to microseconds"
            )
        return Found(form, tick, finest, low, high, Settled(self._parts, tick, low))

    @abstractmethod
    def kept(self, weight: float, chunks: Chunks) -> tuple[Kept, Settle]:
        """Every moment in one unit."""


class LineGathering(MomentGathering):
    """Moments on a line."""

    def kept(self, weight: float, chunks: Chunks) -> tuple[MomentKept, Settle]:
        """Every moment in ticks above the lowest one."""
        found = self.found()
        kept = MomentKept(
            self.name, weight, held="integer", units=True, origin=found.low, highest=found.high - found.low,
            form=found.form, tick=found.tick, finest=found.finest,
        )  # fmt: skip
        return kept, found.settle


class DateGathering(LineGathering):
    """Dates."""

    kind = family = "date"


class TimestampGathering(LineGathering):
    """Points in time."""

    kind = family = "timestamp"


class DurationGathering(LineGathering):
    """Durations."""

    kind = family = "duration"
