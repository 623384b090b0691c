"""Numbers of a table that is not in memory: what they are, part by part and in all.

The parts are read by `shoal.attributes.numbers`, as a whole column would be; what is true of the whole (decimals,
the lowest number, the width of codes) is put together here, and handed back to the same classes for each block.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from math import fsum, inf, sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes import numbers as numeric
from shoal.attributes.base import AgainError, Chunks, Gathering, Kept, Settle, Stored
from shoal.attributes.common_values import CommonValues, FixedValues, Kind, RealValues, RoundedValues
from shoal.attributes.numbers import Fixed, Numbers, Real, RowsError
from shoal.attributes.numeric_attribute import NumericAttribute
from shoal.attributes.quantities import warning_of
from shoal.attributes.ranks import key_at, value_of
from shoal.attributes.scaling import centre_and_spread
from shoal.attributes.tallies import Tally
from shoal.errors import ShoalError
from shoal.files.spelling import doubtful, has_exponents, has_leading_zeros, pointed, widths
from shoal.parameters import Scaling
from shoal.table import Column

Float = NDArray[np.float64]

WIDEST = 2**62
_ENDLESS = 2**62


@dataclass(frozen=True)
class NumericKept(Kept):
    """A quasi-identifier: how its stored numbers are to be read, and how they are scaled."""

    kind = "numeric"

    held: Kind = "float64"
    units: bool = False  # whole units above the origin; else floats as they are
    decimals: int = 0
    origin: int = 0
    step: int = 0  # the greatest common divisor of the whole units; 0 where all are 0
    filled: int = 0  # digits of codes with leading zeros
    spelling: tuple[str, str] = ("False", "True")
    highest: int = 0  # in units above the origin
    ends: tuple[float, float] | None = None  # lowest and highest, of floats as they are

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "NumericKept":
        """JSON has no tuples."""
        ends = given["ends"] and tuple(given["ends"])
        return cls(**{**given, "spelling": tuple(given["spelling"]), "ends": ends})

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Whole units or floats."""
        return np.dtype(np.int64 if self.units else np.float64)

    def numbers(self, stored: Stored) -> Numbers:
        """The numbers of some records, with what is true of all."""
        if not self.units:
            return Real(stored, self.held, self.ends)
        return Fixed(
            self.origin, stored, self.step or 1, self.decimals, self.held, self.filled, self.spelling, self.highest
        )

    def attribute(self, stored: Stored) -> NumericAttribute:
        """Some records on the scale of all."""
        return NumericAttribute(
            self.name, self.weight, self.numbers(stored), self.centre, self.spread, self.is_constant
        )

    def codes(self, common: CommonValues) -> Stored:
        """Common values as they are stored: whole units above the origin, or floats."""
        if isinstance(common, FixedValues):
            return np.asarray(common.above, dtype=np.int64)
        return np.asarray(common.values if isinstance(common, RoundedValues) else common.native(), np.float64)

    def values(self, codes: Stored) -> CommonValues:
        """Common values as they were."""
        if codes.dtype == np.int64:
            fixed = self.numbers(codes)
            assert isinstance(fixed, Fixed)
            return fixed.released(codes, self.digits)
        if self.units:  # plain centroids
            return RealValues(codes, codes)
        if self.digits is not None:
            return RoundedValues(codes, codes, self.digits, self.held)
        return RealValues(codes.astype(self.held), codes)

    def along(self, stored: Stored) -> Float:
        """Numbers that can be squared: floats near the ends of their range are scaled as their spread was."""
        return stored if self.units or not len(stored) else self.numbers(stored).raw()

    @property
    def stretch(self) -> float:
        """By the spread and the weight of the whole column."""
        step = (self.step or 1) if self.units else 1
        return 0.0 if self.is_constant else self.weight / (self.spread * step) ** 2

    def warning(self, chunks: Chunks) -> str | None:
        """Numbers that are no quantities."""
        return warning_of(self.name, map(self.numbers, chunks()))

    def seen(self, stored: Stored) -> "NumericKept":
        """With the greatest common divisor of the whole units so far."""
        return replace(self, step=int(np.gcd(self.step, np.gcd.reduce(stored)))) if self.units else self

    def scaled(self, scaling: Scaling, chunks: Chunks, alone: bool) -> "NumericKept":
        """With its centre and its spread; from all numbers at once where the table is one block."""
        if alone:
            stored = np.concatenate(list(chunks()))
            made = NumericAttribute.of(self.name, self.numbers(stored), scaling, self.weight)
            return replace(self, centre=made.centre, spread=made.spread, is_constant=made.is_constant)

        def raws() -> Iterator[Float]:
            return (self.numbers(stored).raw() for stored in chunks())

        sums, ends, n = [], [], 0
        for raw in raws():
            sums.append(float(raw.sum()))
            ends += [raw.min(), raw.max()]
            n += len(raw)
        low, high = min(ends), max(ends)
        if low == high:
            return replace(self, centre=float(low), is_constant=True)
        mean = fsum(sums) / n
        squares = fsum(float(np.square(raw - mean).sum()) for raw in raws())
        return self._scaled(scaling, chunks, n, (low, high), mean, squares)

    def tally(self, stored: Stored) -> Tally:
        """Of whole units above the origin, or of floats as they are squared."""
        return Tally.of_units(stored) if self.units else Tally.of_floats(self.numbers(stored).raw())

    def scaled_by(self, tally: Tally | None, scaling: Scaling, chunks: Chunks) -> "NumericKept":
        """From exact sums."""
        assert tally is not None
        kept = replace(self, step=tally.step) if self.units else self
        found = tally.in_steps()
        if found.low == found.high:
            return replace(kept, centre=float(found.low), is_constant=True)
        return kept._scaled(scaling, chunks, found.count, (found.low, found.high), found.mean, found.deviations)

    def _scaled(
        self,
        scaling: Scaling,
        chunks: Chunks,
        n: int,
        ends: tuple[float, float],
        mean: float,
        squares: float,
    ) -> "NumericKept":
        """From the ends, the mean and the squared deviations of n numbers."""
        low, high = ends
        if scaling == "zscore":
            centre, spread = mean, sqrt(squares / n)
        else:
            # Numbers that have these quartiles and ends, for the one place that knows what to do with them.
            middle = quartiles(self, chunks, n) if scaling == "robust" else ()
            unit = self.numbers(np.zeros(1, self.dtype)).unit
            centre, spread = centre_and_spread(self.name, np.array([low, *middle, high]), scaling, unit)
        return replace(self, centre=centre, spread=spread, sst=squares / spread**2)


def quartiles(kept: NumericKept, chunks: Chunks, n: int) -> Float:
    """The three quartiles, as numpy.quantile has them."""

    def at(rank: int) -> Any:
        return kept.numbers(np.array([value_of(key_at(chunks, rank)[0], kept.dtype)])).raw()[0]

    found = []
    for share in (0.25, 0.5, 0.75):
        place = (n - 1) * share
        below, above = at(int(place)), at(min(int(place) + 1, n - 1))
        rest, gap = place - int(place), above - below
        found.append(below + gap * rest if rest < 0.5 else above - gap * (1 - rest))
    return np.array(found)


@dataclass(frozen=True)
class Part:
    """The numbers of some records of a column, and what they show of it."""

    kind: Kind
    values: Stored  # int64 offsets, or float64
    decimals: int = 0
    origin: int = 0
    span: int = 0
    widths: tuple[int, int] = (0, 0)
    filled: bool = False
    spelling: tuple[str | None, str | None] = (None, None)
    from_text: bool = False
    doubt: tuple[str | None, bool] = (None, True)
    whole: bool = False  # text without decimals or exponents


def part_of(column: Column, as_floats: bool) -> Part:
    """The numbers of a part of a column; `as_floats` where another part asks for it."""
    if column.text is not None:
        return part_of_text(column, column.text, as_floats)
    name, series = column.name, column.series
    if numeric.scale_of(series) is None and series.dtype.is_float():
        missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
        if missing.any():
            raise numeric.missing_error(name, missing)
        floats = np.asarray(series.to_numpy())
        numeric.refuse_infinite(name, floats)
        kind: Any = floats.dtype.name
        return Part(kind, floats.astype(np.float64))
    return part_of_units(name, numeric.from_column(column))


def part_of_text(column: Column, text: pa.ChunkedArray, as_floats: bool) -> Part:
    """The same for a column of a text file."""
    name, (decimal, thousands) = column.name, column.signs
    numbers = numeric.from_text(name, text, decimal, thousands)
    texts = pc.utf8_trim_whitespace(text)
    style: dict[str, Any] = {"from_text": True}
    if not thousands:
        style["doubt"] = doubtful(texts, decimal)
    texts = pointed(texts, decimal, thousands)
    if isinstance(numbers, Fixed) and numbers.kind == "boolean":
        low, high = numbers.origin, numbers.origin + int(numbers.offsets.max())
        spelling = (None if low else numbers.spelling[0], numbers.spelling[1] if high else None)
        return part_of_units(name, numbers, spelling=spelling, from_text=True)
    if as_floats or not in_units(numbers, texts):
        style["whole"] = isinstance(numbers, Fixed) and numbers.kind == "integer"
        return Part("float64", numeric.doubles_of(texts), **style)
    if isinstance(numbers, Fixed) and numbers.decimals == 0:
        shortest, longest = widths(texts)
        style |= {"widths": (shortest, longest), "filled": shortest == longest and has_leading_zeros(texts)}
    return part_of_units(name, numbers, **style)


def in_units(numbers: Numbers, texts: pa.ChunkedArray) -> bool:
    """Whether text was read in units of its last decimal that fit into 64 bits, not as floats."""
    if not isinstance(numbers, Fixed) or numbers.offsets.dtype == object or has_exponents(texts):
        return False
    return numbers.decimals == numeric.most_decimals(texts)


def part_of_units(name: str, numbers: Numbers, **style: Any) -> Part:
    """A part in whole units, if they fit into 64 bits."""
    assert isinstance(numbers, Fixed)
    if numbers.offsets.dtype == object:
        raise too_wide(name)
    span = int(numbers.offsets.max())
    return Part(numbers.kind, numbers.offsets, numbers.decimals, numbers.origin, span, **style)


def too_wide(name: str) -> ShoalError:
    """Whole units of more than 64 bits are Python's integers: only in memory, and only where there are no gaps."""
    return ShoalError(
        f"quasi-identifier {name!r} has more digits than 18 between its lowest and highest number, "
        "which only a column without gaps in a table that fits into memory can have; round it, or fill its gaps "
        "and give so much memory that the table fits"
    )


class NumericGathering(Gathering):
    """What is known of a column after some of its parts."""

    kind = "numeric"

    def __init__(self, name: str, as_floats: bool = False) -> None:
        self.name, self._as_floats = name, as_floats
        self.kinds: set[Kind] = set()
        self.parts: list[tuple[int, int, int]] = []  # records, origin, decimals
        self.highest: list[tuple[int, int]] = []  # by decimals
        self.decimals, self.shortest, self.longest = -_ENDLESS, _ENDLESS, 0
        self.filled = self.from_text = False
        self.spelling: list[str | None] = [None, None]
        self.floats: bool | None = None
        self.whole = True
        self.ends = inf, -inf
        self.places: list[int | None] | None = None  # decimals of floats, of parts that were read apart
        self.example: str | None = None  # a number that can be read in two ways
        self.is_shown = False  # and another one that can be read in one only
        self.decimal = "."

    def add(self, column: Column, before: int) -> Stored:
        """Whole units above the lowest number of the part, or floats."""
        try:
            part = part_of(column, self._as_floats)
        except RowsError as error:
            raise error.after(before) from None
        self.decimal = column.signs[0]
        self.add_part(part, before)
        return part.values

    def again(self) -> AgainError:
        """Exponents or many digits: the whole column must be read again as floats."""
        return AgainError(partial(NumericGathering, self.name, True))

    def add_part(self, part: Part, before: int) -> None:
        """Put another part to the others; `before` records came earlier."""
        floats = part.values.dtype == np.float64
        self._refuse_mixture(part, before)
        if self.floats is not None and floats != self.floats:
            raise self.again()
        self.floats, self.from_text = floats, part.from_text
        self.kinds.add(part.kind)
        self.decimals = max(self.decimals, part.decimals)
        self.parts.append((len(part.values), part.origin, part.decimals))
        self.highest.append((part.origin + part.span, part.decimals))
        self.shortest, self.longest = min(self.shortest, part.widths[0]), max(self.longest, part.widths[1])
        self.filled = self.filled or part.filled
        self.spelling = [old or new for old, new in zip(self.spelling, part.spelling, strict=True)]
        self.example, self.is_shown = self.example or part.doubt[0], self.is_shown or part.doubt[1]
        self.whole = self.whole and part.whole
        if floats:
            low, high = float(part.values.min()), float(part.values.max())
        else:  # a quotient of Python's integers is the nearest double
            low, high = (unit / 10**part.decimals for unit in (part.origin, part.origin + part.span))
        self.ends = min(self.ends[0], low), max(self.ends[1], high)

    def read_apart(self, chunks: Chunks) -> None:
        """How many decimals floats have."""
        if self.floats:
            (kind,) = self.kinds
            self.places = [decimals_of(NumericKept(self.name, 1.0, held=kind, ends=self.ends), chunks)]

    def joined(self, others: Sequence[Gathering]) -> "NumericGathering | None":
        """Numbers that were all read in the same way."""
        whole, them = deepcopy(self), [each for each in others if isinstance(each, NumericGathering)]
        if len(them) < len(others) or any(
            (each.floats, each.kinds, each.from_text) != (self.floats, self.kinds, self.from_text) for each in them
        ):
            return None
        for each in them:
            whole.parts += each.parts
            whole.highest += each.highest
            whole.decimals = max(whole.decimals, each.decimals)
            whole.shortest, whole.longest = min(whole.shortest, each.shortest), max(whole.longest, each.longest)
            whole.filled, whole.whole = whole.filled or each.filled, whole.whole and each.whole
            whole.spelling = [old or new for old, new in zip(whole.spelling, each.spelling, strict=True)]
            whole.example, whole.is_shown = whole.example or each.example, whole.is_shown or each.is_shown
            whole.ends = min(whole.ends[0], each.ends[0]), max(whole.ends[1], each.ends[1])
            if whole.places is not None and each.places is not None:
                whole.places = whole.places + each.places
        return whole

    def finish(self) -> None:
        """All parts are there: a column of text is read as a whole one would be, or once more as floats."""
        numeric.refuse_doubtful(self.name, self.example, self.is_shown, self.decimal)
        if not self.from_text or "boolean" in self.kinds:
            return
        if self.floats and self.whole:
            raise too_wide(self.name)
        if not self.floats and self.decimals and not numeric.has_units(max(map(abs, self.ends)), self.decimals):
            raise self.again()

    def _refuse_mixture(self, part: Part, before: int) -> None:
        """Truth values in one part and numbers in another are text to the whole."""
        kinds = self.kinds | {part.kind}
        if part.from_text and "boolean" in kinds and len(kinds) > 1:
            spelled = part.spelling if part.kind == "boolean" else self.spelling
            start = before if part.kind == "boolean" else 0
            first = next(text for text in spelled if text)
            raise numeric.beside_numbers(self.name, first, np.array([start + 1]))

    def kept(self, weight: float, chunks: Chunks) -> tuple[NumericKept, Settle]:
        """Every number in one unit above the lowest one; floats as they are, unless all have so many decimals."""
        if self.floats:
            (kind,) = self.kinds
            kept = NumericKept(self.name, weight, held=kind, ends=self.ends)
            decimals = decimals_of(kept, chunks) if self.places is None else most_of(self.places)
            return (kept, as_it_is) if decimals is None else floats_in_units(kept, decimals)
        low = min(origin * 10 ** (self.decimals - decimals) for _, origin, decimals in self.parts)
        high = max(top * 10 ** (self.decimals - decimals) for top, decimals in self.highest)
        if high - low >= WIDEST:
            raise too_wide(self.name)
        kind, width, spelling = self._style()
        kept = NumericKept(
            self.name, weight, held=kind, units=True, decimals=self.decimals, origin=low, filled=width,
            spelling=spelling, highest=high - low,
        )  # fmt: skip
        return kept, Shifts(self.shifts(kept))

    def _style(self) -> tuple[Kind, int, tuple[str, str]]:
        if "boolean" in self.kinds:
            default = ("false", "true") if self.from_text else ("False", "True")
            no, yes = (found or usual for found, usual in zip(self.spelling, default, strict=True))
            return "boolean", 0, (no, yes)
        if not self.from_text:
            (kind,) = self.kinds
            return kind, 0, ("False", "True")
        if self.decimals:
            return "float64", 0, ("False", "True")
        return "integer", self.longest if self.filled and self.shortest == self.longest else 0, ("False", "True")

    def shifts(self, kept: NumericKept) -> list[tuple[int, int, int]]:
        """For each part its number of records, and what to multiply its offsets by and to add to them."""
        return [
            (
                records,
                10 ** (kept.decimals - decimals),
                origin * 10 ** (kept.decimals - decimals) - kept.origin,
            )
            for records, origin, decimals in self.parts
        ]


class Shifts:
    """Turns whole units as parts were read into those of the whole column."""

    def __init__(self, parts: list[tuple[int, int, int]]) -> None:
        self._parts = parts
        self._ends = np.cumsum([records for records, *_ in parts])

    def __call__(self, values: Stored, start: int) -> Stored:
        """The records from `start` on."""
        out = np.empty_like(values)
        place, number = 0, int(np.searchsorted(self._ends, start, side="right"))
        while place < len(values):
            upto = min(len(values), int(self._ends[number]) - start)
            _, factor, more = self._parts[number]
            out[place:upto] = values[place:upto] * factor + more
            place, number = upto, number + 1
        return out


def as_it_is(values: Stored, start: int) -> Stored:
    """Floats stay what they were."""
    return values


@dataclass(frozen=True)
class InUnits:
    """Turns floats into whole units above the lowest one."""

    decimals: int
    low: int

    def __call__(self, values: Stored, start: int) -> Stored:
        """Any records."""
        return np.rint(values * 10.0**self.decimals).astype(np.int64) - self.low


def floats_in_units(kept: NumericKept, decimals: int) -> tuple[NumericKept, Settle]:
    """A column of floats in units of its last decimal."""
    low, high = (int(np.rint(end * 10.0**decimals)) for end in kept.ends or (0.0, 0.0))
    held = replace(kept, units=True, decimals=decimals, origin=low, highest=high - low, ends=None)
    return held, InUnits(decimals, low)


def most_of(places: Sequence[int | None]) -> int | None:
    """The decimals that numbers have together whose parts have so many."""
    known = [each for each in places if each is not None]
    return max(known) if len(known) == len(places) else None


def decimals_of(kept: NumericKept, chunks: Callable[[], Iterator[Float]]) -> int | None:
    """The number of decimals that all floats of a column have, or None where they have none."""
    return next(
        (
            places
            for places in range(numeric.MOST_DECIMALS + 1)
            if all(numeric.has_decimals(values.astype(kept.held), places) for values in chunks())
        ),
        None,
    )
