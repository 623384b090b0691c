"""A quasi-identifier of a table that is not in memory: what its numbers are, part by part and in all.

The parts are read by `shoal.attributes.numbers`, as a whole column would be; what is true of the whole (decimals,
the lowest number, the width of codes) is put together here, and handed back to the same classes for each block.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes import numbers as numeric
from shoal.attributes.common import CommonValues, FixedValues, Kind, RealValues, RoundedValues
from shoal.attributes.numbers import Fixed, Numbers, Real, RowsError
from shoal.errors import ShoalError
from shoal.files import Dialect
from shoal.files.spelling import doubtful, has_exponents, has_leading_zeros, pointed, widths
from shoal.space import NumericAttribute
from shoal.table import Table

Float = NDArray[np.float64]
Stored = NDArray[Any]  # int64 offsets of whole units, or float64

WIDEST = 2**62
_ENDLESS = 2**62


@dataclass(frozen=True)
class Column:
    """A quasi-identifier: how its stored numbers are to be read, and how they are scaled."""

    name: str
    kind: Kind
    weight: float
    units: bool = False  # whole units above the origin; else floats as they are
    decimals: int = 0
    origin: int = 0
    step: int = 1
    width: int = 0
    spelling: tuple[str, str] = ("False", "True")
    highest: int = 0  # in units above the origin
    ends: tuple[float, float] | None = None  # lowest and highest, of floats as they are
    digits: int | None = None  # that common values are rounded to
    centre: float = 0.0
    spread: float = 1.0
    is_constant: bool = False
    sst: float = 0.0

    def numbers(self, stored: Stored) -> Numbers:
        """The numbers of some records, with what is true of all."""
        if not self.units:
            return Real(stored, self.kind, self.ends)
        return Fixed(
            self.origin, stored, self.step, self.decimals, self.kind, self.width, self.spelling, self.highest
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
            return RoundedValues(codes, codes, self.digits, self.kind)
        return RealValues(codes.astype(self.kind), codes)


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


def part_of(table: Table, name: str, as_floats: bool) -> Part:
    """The numbers of a column in a part of a table; `as_floats` where another part asks for it."""
    if table.source is not None and table.source.text is not None:
        return part_of_text(table, name, table.source.text[name], as_floats)
    series = table.frame[name]
    if numeric.scale_of(series) is None and series.dtype.is_float():
        missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
        if missing.any():
            raise numeric.missing_error(name, missing)
        floats = np.asarray(series.to_numpy())
        numeric.refuse_infinite(name, floats)
        kind: Any = floats.dtype.name
        return Part(kind, floats.astype(np.float64))
    return part_of_units(name, table.numbers(name))


def part_of_text(table: Table, name: str, column: pa.ChunkedArray, as_floats: bool) -> Part:
    """The same for a column of a CSV file."""
    dialect = table.source.dialect if table.source else Dialect()
    numbers = numeric.from_text(name, column, dialect.decimal, dialect.thousands)
    texts = pc.utf8_trim_whitespace(column)
    style: dict[str, Any] = {"from_text": True}
    if not dialect.thousands:
        style["doubt"] = doubtful(texts, dialect.decimal)
    texts = pointed(texts, dialect.decimal, dialect.thousands)
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
    """Whole units of more than 64 bits are held as Python's integers, which only a table in memory can have."""
    return ShoalError(
        f"quasi-identifier {name!r} has more digits than 18 between its lowest and highest number, "
        "which cannot be streamed; round it, or give so much memory that the table fits"
    )


class MixedError(Exception):
    """A column of text turns out to hold exponents or many digits: it must be read again as floats."""


@dataclass
class Facts:
    """What is known of a column after some of its parts."""

    name: str
    kinds: set[Kind] = field(default_factory=set)
    parts: list[tuple[int, int, int]] = field(default_factory=list)  # records, origin, decimals
    highest: list[tuple[int, int]] = field(default_factory=list)  # by decimals
    decimals: int = -_ENDLESS
    shortest: int = _ENDLESS
    longest: int = 0
    filled: bool = False
    spelling: list[str | None] = field(default_factory=lambda: [None, None])
    from_text: bool = False
    floats: bool | None = None
    whole: bool = True
    ends: tuple[float, float] = (inf, -inf)
    example: str | None = None  # a number that can be read in two ways
    is_shown: bool = False  # and another one that can be read in one only

    def add(self, part: Part, before: int) -> None:
        """Put another part to the others; `before` records came earlier."""
        floats = part.values.dtype == np.float64
        self._refuse_mixture(part, before)
        if self.floats is not None and floats != self.floats:
            raise MixedError(self.name)
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

    def check(self) -> None:
        """All parts are there: a column of text is read as a whole one would be, or once more as floats."""
        if not self.from_text or "boolean" in self.kinds:
            return
        if self.floats and self.whole:
            raise too_wide(self.name)
        if not self.floats and self.decimals and not numeric.has_units(max(map(abs, self.ends)), self.decimals):
            raise MixedError(self.name)

    def _refuse_mixture(self, part: Part, before: int) -> None:
        """Truth values in one part and numbers in another are text to the whole."""
        kinds = self.kinds | {part.kind}
        if part.from_text and "boolean" in kinds and len(kinds) > 1:
            spelled = part.spelling if part.kind == "boolean" else self.spelling
            start = before if part.kind == "boolean" else 0
            first = next(text for text in spelled if text)
            raise RowsError(
                self.name,
                f"text such as {first!r}",
                np.arange(start, start + 1) + 1,
                "turn it into numbers or leave it out of the quasi-identifiers",
            )

    def column(self, weight: float) -> Column:
        """The column, as far as its parts tell; floats may yet turn out to have a number of decimals."""
        if self.floats:
            (kind,) = self.kinds
            return Column(self.name, kind, weight, ends=self.ends)
        low = min(origin * 10 ** (self.decimals - decimals) for _, origin, decimals in self.parts)
        high = max(top * 10 ** (self.decimals - decimals) for top, decimals in self.highest)
        if high - low >= WIDEST:
            raise too_wide(self.name)
        kind, width, spelling = self._style()
        return Column(self.name, kind, weight, True, self.decimals, low, 1, width, spelling, high - low)

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

    def shifts(self, column: Column) -> list[tuple[int, int, int]]:
        """For each part its number of records, and what to multiply its offsets by and to add to them."""
        return [
            (
                records,
                10 ** (column.decimals - decimals),
                origin * 10 ** (column.decimals - decimals) - column.origin,
            )
            for records, origin, decimals in self.parts
        ]


def decimals_of(column: Column, chunks: Callable[[], Iterator[Float]]) -> int | None:
    """The number of decimals that all floats of a column have, or None where they have none."""
    return next(
        (
            places
            for places in range(numeric.MOST_DECIMALS + 1)
            if all(numeric.has_decimals(values.astype(column.kind), places) for values in chunks())
        ),
        None,
    )
