"""The numbers of a column, held without loss: read from any dataframe or from text, averaged exactly.

A column of integers, booleans, decimals, or floats with a known number of decimals is a column of whole
units (`Fixed`): 36.5 is 365 tenths. Sums of units are exact, so the mean of a group does not depend on
the order of its records, 64-bit integers keep every digit, and a released value has no more decimals than
the column came with. Floats without such a number of decimals are `Real`; so is text with a decimal sign and
more than 15 digits, which only a computer writes.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes.base import Squares
from shoal.attributes.common_values import (
    CommonValues,
    FixedValues,
    Kind,
    RealValues,
    RoundedValues,
    in_ones,
    wide,
)
from shoal.attributes.rounding import SAFE, nearest_even, round_floats, round_units, sum_of_squares
from shoal.attributes.weighing import Weights, means, middle_places, sizes_of, summed
from shoal.errors import ShoalError, some, typed
from shoal.files.spelling import (
    INFINITE,
    MISSING,
    doubtful,
    has_exponents,
    has_leading_zeros,
    number_pattern,
    pointed,
    widths,
)
from shoal.parameters import Aggregate
from shoal.table import Column, arrow_type

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MOST_DECIMALS = 15
MOST_DIGITS = 150
_EXACT = 2**53  # whole numbers up to here are exact in a double
_FLOATS = ("float16", "float32", "float64")


class Numbers(ABC):
    """A column of numbers: its coordinates before scaling, and the common value of a group."""

    unit: float
    """How much one step of a coordinate is in the column's own units."""

    @abstractmethod
    def raw(self) -> Float:
        """One coordinate per record, free of overflow and of cancellation."""

    @abstractmethod
    def floats(self) -> Float:
        """The numbers as doubles, to look at."""

    @property
    @abstractmethod
    def exact_unit(self) -> Fraction:
        """The same without rounding."""

    @abstractmethod
    def common(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None = None,
        counts: Weights | None = None,
    ) -> CommonValues:
        """The value of each group, rounded to `digits` decimals where the numbers have more.

        Group g holds the records order[starts[g]:starts[g + 1]]; `counts` says how often each place in `order`
        counts, once where it is None.
        """

    @abstractmethod
    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """The squared distances from the coordinates to the common values before these are rounded."""


@dataclass(frozen=True, eq=False)
class Fixed(Numbers):
    """Whole units: record i has the value (origin + offsets[i]) / 10**decimals.

    The decimals are below 0 where the units are tens, hundreds and so on, as in some types of Arrow.
    """

    origin: int
    offsets: NDArray[Any]  # int64, or Python integers where the range needs more than 62 bits
    step: int  # the greatest common divisor of the offsets
    decimals: int
    kind: Kind
    width: int = 0  # digits to fill with leading zeros, for codes such as 01234
    spelling: tuple[str, str] = ("False", "True")
    highest: int | None = None  # offset of the whole column, where the numbers are a part of it

    @classmethod
    def of(cls, units: NDArray[Any], decimals: int, kind: Kind, **style: Any) -> "Fixed":
        """From whole units: any integer dtype, or Python integers in an object array."""
        low, high = int(units.min()), int(units.max())
        fits = high - low < SAFE
        if units.dtype == object or not fits:
            above = [int(unit) - low for unit in units]
            offsets = np.array(above, dtype=np.int64 if fits else object)
        else:  # differences modulo 2^64 are right, whatever the signs
            offsets = (units.astype(np.uint64) - np.uint64(low % 2**64)).astype(np.int64)
        return cls(low, offsets, int(np.gcd.reduce(offsets)) or 1, decimals, kind, **style)

    @property
    def unit(self) -> float:  # type: ignore[override]
        """One step, in the column's own units."""
        return float(self.step / Fraction(10) ** self.decimals)

    def raw(self) -> Float:
        """Steps above the lowest number: the same for 0.3 and 0.30, for metres and for millimetres."""
        return (self.offsets // self.step).astype(np.float64)

    @property
    def exact_unit(self) -> Fraction:
        """One step, in the column's own units."""
        return Fraction(self.step) / Fraction(10) ** self.decimals

    def floats(self) -> Float:
        """To the nearest double."""
        units = wide(in_ones(self._units(self.offsets), self.decimals), self.decimals)
        return np.asarray(units / 10 ** max(0, self.decimals), dtype=np.float64)

    def common(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None = None,
        counts: Weights | None = None,
    ) -> CommonValues:
        """The mean or median of each group, to the nearest unit (ties to even) unless exact."""
        total, parts = self._middles(order, starts, aggregate, counts)
        if exact:
            whole = self.origin * parts.astype(object) + total.astype(object)
            whole = in_ones(whole, self.decimals)
            values = (whole / (parts.astype(object) * 10 ** max(0, self.decimals))).astype(np.float64)
            return RealValues(values, self._raw_of(values))
        if digits is None or digits >= self.decimals:
            return self.released(nearest_even(total, parts, self.origin))
        highest = int(self.offsets.max()) if self.highest is None else self.highest
        step = 10 ** (self.decimals - digits)
        return self.released(round_units(total, parts, self.origin, highest, step), digits)

    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """From whole numbers beside the common values, so that nothing cancels."""
        total, parts = self._middles(order, starts, aggregate)
        beside = nearest_even(total, parts, 0)
        rest = ((total - beside * parts) / parts).astype(np.float64)
        sizes = np.diff(starts)
        above = (self.offsets[order] - np.repeat(beside, sizes)).astype(np.float64)
        return sum_of_squares((above - np.repeat(rest, sizes)) / float(self.step), starts)

    def _middles(
        self, order: Int, starts: Int, aggregate: Aggregate, counts: Weights | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """The means or medians above the origin, as fractions: numerators and denominators."""
        if aggregate == "mean":
            return summed(self.offsets[order], starts, counts), sizes_of(starts, counts)
        return doubled_medians(self.offsets, order, starts, counts), np.full(len(starts) - 1, 2)

    def released(self, above: NDArray[Any], digits: int | None = None) -> "FixedValues":
        """Whole units above the origin as common values, of which so many decimals are shown."""
        decimals = self.decimals if digits is None else min(self.decimals, max(0, digits))  # tens stay tens
        units = self._units(above)
        if decimals < self.decimals:
            units = wide(units, self.decimals - decimals) // 10 ** (self.decimals - decimals)
        values = (units / 10**decimals).astype(self.kind) if self.kind in _FLOATS else None
        raw = above.astype(np.float64) / self.step
        return FixedValues(self.kind, units, raw, values, decimals, above, self.width, self.spelling)

    def _units(self, above: NDArray[Any]) -> NDArray[Any]:
        fits = abs(self.origin) < SAFE and above.dtype == np.int64
        return self.origin + (above if fits else above.astype(object))

    def _raw_of(self, values: Float) -> Float:
        """Doubles as coordinates, without cancellation."""
        scale = Fraction(10) ** self.decimals
        return np.array([float((Fraction(v) * scale - self.origin) / self.step) for v in values.tolist()])


@dataclass(frozen=True, eq=False)
class Real(Numbers):
    """Floats as they are."""

    values: Float
    kind: Kind = "float64"
    ends: tuple[float, float] | None = None  # lowest and highest of the whole column, where these are a part of it

    @property
    def _ends(self) -> tuple[float, float]:
        return self.ends or (float(self.values.min()), float(self.values.max()))

    @property
    def _exponent(self) -> int:
        exponent = int(np.frexp(max(map(abs, self._ends)))[1]) - 1
        return 0 if abs(exponent) < 300 else exponent

    @property
    def unit(self) -> float:  # type: ignore[override]
        """The power of two that the coordinates were divided by, mostly 1."""
        return float(np.ldexp(1.0, self._exponent))

    def raw(self) -> Float:
        """The values, scaled by a power of two where their squares would leave the range of a double."""
        return np.ldexp(self.values, -self._exponent)

    def floats(self) -> Float:
        """The values themselves."""
        return self.values

    @property
    def exact_unit(self) -> Fraction:
        """A power of two, so nothing is rounded; but it may be too small for a double."""
        return Fraction(2) ** self._exponent

    def common(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None = None,
        counts: Weights | None = None,
    ) -> CommonValues:
        """The mean or median of each group, as a double (or as a float32 where the column is one)."""
        exponent = self._exponent
        values = np.ldexp(self._middles(order, starts, aggregate, counts), exponent)
        if not exact and digits is not None:
            values = round_floats(values, digits, self._ends)
            return RoundedValues(values, np.ldexp(values, -exponent), digits, self.kind)
        if not exact:
            values = values.astype(self.kind)
        return RealValues(values, np.ldexp(values.astype(np.float64), -exponent))

    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """Of doubles: exactly 0 where every group has one value."""
        middles = np.repeat(self._middles(order, starts, aggregate), np.diff(starts))
        return sum_of_squares(self.raw()[order] - middles, starts)

    def _middles(self, order: Int, starts: Int, aggregate: Aggregate, counts: Weights | None = None) -> Float:
        """The means or medians as coordinates."""
        scaled = self.raw()
        if aggregate == "median":
            return np.asarray(doubled_medians(scaled, order, starts, counts) / 2)
        return means(scaled[:, None], order, starts, counts)[:, 0]


def doubled_medians(values: NDArray[Any], order: Int, starts: Int, counts: Weights | None = None) -> NDArray[Any]:
    """Twice the median of each group, so that it stays a whole number where the values are."""
    sizes = np.diff(starts)
    group = np.repeat(np.arange(len(sizes)), sizes)
    # A stable sort by value, then by group: within a group the values rise.
    by_value = np.argsort(values[order], kind="stable")
    rising = by_value[np.argsort(group[by_value], kind="stable")]
    lower, upper = middle_places(starts, None if counts is None else counts[rising])
    ranked = values[order][rising]
    return np.asarray(ranked[lower] + ranked[upper])


def from_column(column: Column) -> Numbers:
    """The numbers of a column of a table: of its text where it came from a text file."""
    if column.text is None:
        return from_series(column.name, column.series)
    decimal, thousands = column.signs
    numbers = from_text(column.name, column.text, decimal, thousands)
    if not thousands:
        texts = pc.utf8_trim_whitespace(column.text)
        refuse_doubtful(column.name, *doubtful(texts, decimal), decimal)
    return numbers


# From a dataframe's column.


def from_series(name: str, series: "nw.Series[Any]") -> Numbers:
    """The numbers of a dataframe's column, or an error that names it and the rows that are in the way."""
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if scale_of(series) is None and not missing.all():
        refuse_type(name, series)
    if missing.any():
        raise missing_error(name, missing)
    if (scale := scale_of(series)) is not None:
        return from_objects(name, series.to_list(), scale)
    dtype = series.dtype
    if dtype == nw.Boolean:
        return Fixed.of(np.asarray(series.to_numpy()).astype(np.uint8), 0, "boolean")
    if dtype == nw.Decimal:
        return from_objects(name, series.to_list())
    if dtype in (nw.Int128, nw.UInt128):
        return from_objects(name, series.to_list())
    if dtype.is_integer():
        return Fixed.of(np.asarray(series.to_numpy()), 0, "integer")
    if dtype.is_float():
        return from_floats(name, np.asarray(series.to_numpy()))
    return from_objects(name, series.to_list())


def refuse_type(name: str, series: "nw.Series[Any]") -> None:
    """Whatever its values are, a column of some types cannot be a quasi-identifier."""
    dtype = series.dtype
    if dtype.is_temporal():
        raise ShoalError(
            f"column {name!r} holds dates or times ({dtype}), not numbers; leave its kind out, "
            "or name the one that it has: date, timestamp, time-of-day or duration"
        )
    if dtype in (nw.Categorical, nw.Enum):
        raise ShoalError(
            f"column {name!r} holds categories, not numbers; turn them into text, which has categories too, "
            "or into plain numbers first"
        )
    if dtype == nw.String:
        shown = ((row, text) for row, text in enumerate(series.to_list(), 1) if isinstance(text, str))
        row, text = next(shown, (1, ""))
        raise ShoalError(
            f"column {name!r} holds text, not numbers (row {row}: {text!r}); turn it into numbers, "
            f"or say {typed('--kind', name, 'nominal')} (kinds={{{name!r}: 'nominal'}}) if these are categories"
        )
    if not dtype.is_numeric() and dtype not in (nw.Boolean, nw.Object):
        called = arrow_type(series) or getattr(series.to_native(), "dtype", dtype)
        raise ShoalError(
            f"column {name!r} of type {called} cannot be a quasi-identifier; "
            "turn it into a plain column of numbers first"
        )


def scale_of(series: "nw.Series[Any]") -> int | None:
    """The decimals of a column of Arrow's decimals, of which narwhals does not know all types; None for others."""
    kind = arrow_type(series)
    return int(kind.scale) if kind is not None and pa.types.is_decimal(kind) else None


def from_objects(name: str, values: list[Any], scale: int = 0) -> Numbers:
    """From Python objects: booleans, integers, decimals or floats, not mixed with anything else.

    A `scale` below 0 says that decimals are in units of tens, hundreds and so on, and stay so.
    """
    kinds = {bool if isinstance(v, (bool, np.bool_)) else type(v) for v in values}
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return Fixed.of(np.array(values, np.uint8), 0, "boolean")
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
        refuse_long(name, np.array([len(str(abs(int(v)))) for v in values]))
        return Fixed.of(np.array([int(v) for v in values], object), 0, "integer")
    if kinds == {Decimal}:
        special = np.array([not v.is_finite() for v in values])
        if special.any():
            raise rows_error(name, "infinity or NaN", special, "take those records out")
        refuse_long(name, np.array([len(f"{v:f}") for v in values]))
        return from_decimals(values, min(0, scale))
    if all(issubclass(kind, (int, float, np.integer, np.floating)) and kind is not bool for kind in kinds):
        return from_floats(name, np.array(values, np.float64))
    wrong = np.array([isinstance(v, bool) or not isinstance(v, (int, float, Decimal)) for v in values])
    if not wrong.any():
        raise ShoalError(f"column {name!r} mixes decimals with other numbers; convert it to one type")
    first = values[int(wrong.argmax())]
    cure = "turn all into numbers, or all into text"
    raise rows_error(name, f"text or other objects such as {first!r}", wrong, cure)


def from_decimals(values: list[Decimal], least: int = 0) -> Fixed:
    """From finite decimals, with as many decimals as the most precise of them has, or the least asked for."""
    decimals = max(least, *(-int(v.as_tuple().exponent) for v in values))
    with localcontext() as context:
        context.prec = 10_000
        units = np.array([int(v.scaleb(decimals)) for v in values], object)
    return Fixed.of(units, decimals, "decimal")


def from_floats(name: str, values: NDArray[Any], decimals: int | None = None) -> Numbers:
    """From floats: in units of their last decimal where they have one, else as they are."""
    refuse_infinite(name, values)
    kind: Kind = "float64"
    if values.dtype == np.float32:
        kind = "float32"
    elif values.dtype == np.float16:
        kind = "float16"
    places = range(MOST_DECIMALS + 1) if decimals is None else [decimals]
    sample, wide = values[:1000], values.astype(np.float64)
    for places_tried in places:
        if has_decimals(sample, places_tried) and has_decimals(values, places_tried):
            return Fixed.of(np.rint(wide * 10.0**places_tried).astype(np.int64), places_tried, kind)
    return Real(wide, kind)


def refuse_infinite(name: str, values: NDArray[Any]) -> None:
    """Floats that are no numbers, or none that can be averaged."""
    if np.isnan(values).any():
        raise missing_error(name, np.isnan(values))
    if np.isinf(values).any():
        raise rows_error(name, "infinity", np.isinf(values), "take those records out or cap the values")


def has_decimals(values: NDArray[Any], decimals: int) -> bool:
    """Whether every value is the float nearest to a number with so many decimals."""
    scale = 10.0**decimals
    if decimals > MOST_DECIMALS or np.abs(values.astype(np.float64)).max() >= _EXACT / scale:
        return False
    back = np.rint(values.astype(np.float64) * scale) / scale
    return bool(np.array_equal(back.astype(values.dtype), values))


# From the text of a file.


def from_text(name: str, column: pa.ChunkedArray, decimal_sign: str, thousands: str = "") -> Numbers:
    """The numbers of a column of text, or an error that names it and the rows that are in the way."""
    texts = pc.utf8_trim_whitespace(column)
    lowered = pc.utf8_lower(texts)
    missing = pc.is_in(lowered, value_set=pa.array(MISSING)).to_numpy()
    if missing.any():
        raise missing_error(name, missing)
    if pc.all(pc.is_in(lowered, value_set=pa.array(["true", "false"]))).as_py():
        return from_spelled_booleans(texts, pc.equal(lowered, "true").to_numpy())
    infinite = pc.match_substring_regex(lowered, INFINITE).to_numpy()
    if infinite.any():
        raise rows_error(name, "infinity", infinite, "take those records out or cap the values")
    plain = pc.match_substring_regex(texts, number_pattern(decimal_sign, thousands)).to_numpy()
    if not plain.all():
        first = texts[int(np.argmin(plain))].as_py()
        raise rows_error(name, f"text such as {first!r}", ~plain, cure_of_text(name, first, decimal_sign))
    texts = pointed(texts, decimal_sign, thousands)
    if has_exponents(texts):
        return from_floats(name, doubles_of(texts))
    refuse_long(name, pc.utf8_length(texts).to_numpy())
    decimals, values = most_decimals(texts), doubles_of(texts)
    if has_units(float(np.abs(values).max()), decimals):
        units = np.rint(values * 10.0**decimals).astype(np.int64)
    elif decimals:
        return from_floats(name, values)
    else:  # whole numbers keep every digit
        units = np.array([int(text.replace(".", "")) for text in texts.to_pylist()], object)
    style = {"width": leading_width(texts)} if decimals == 0 else {}
    kind: Kind = "integer" if decimals == 0 else "float64"
    return Fixed.of(units, decimals, kind, **style)


def most_decimals(texts: pa.ChunkedArray) -> int:
    """The most digits that stand after a decimal point."""
    point, length = pc.find_substring(texts, ".").to_numpy(), pc.utf8_length(texts).to_numpy()
    return int(np.where(point < 0, 0, length - point - 1).max())


def doubles_of(texts: pa.ChunkedArray) -> Float:
    """Numbers with a decimal point to the nearest doubles."""
    return np.asarray(texts.cast(pa.float64()).to_numpy())


def has_units(largest: float, decimals: int) -> bool:
    """Whether numbers up to this one with so many decimals survive the way through a double, digit by digit."""
    return decimals <= MOST_DECIMALS and largest * 10.0**decimals < 10.0**MOST_DECIMALS


def refuse_doubtful(name: str, example: str | None, is_shown: bool, decimal_sign: str) -> None:
    """Numbers that can be read in two ways, in a file that does not tell which is right."""
    if example is None or is_shown:
        return
    other = "," if decimal_sign == "." else "."
    bare = example.replace(decimal_sign, "")
    raise ShoalError(
        f"quasi-identifier {name!r} holds numbers such as {example!r}, and nothing in the file tells whether "
        f"that is {bare}; say --decimal {other} (decimal={other!r}) if it is, "
        f"or --decimal {decimal_sign} (decimal={decimal_sign!r}) if it is not"
    )


def cure_of_text(name: str, text: str, decimal_sign: str) -> str:
    """What to do about text in a quasi-identifier; numbers may only have another decimal sign."""
    other = "," if decimal_sign == "." else "."
    sign, cures = ("comma" if other == "," else "point"), []
    if re.fullmatch(number_pattern(other, decimal_sign), text):
        cures.append(f"say --decimal {other} (decimal={other!r}) if its {sign} is a decimal sign")
    if re.fullmatch(number_pattern(decimal_sign, other), text):
        cures.append(f"say --decimal {decimal_sign} (decimal={decimal_sign!r}) if its {sign} separates thousands")
    last = f"turn it into numbers, or say {typed('--kind', name, 'nominal')} if these are categories"
    return f"{', or '.join(cures)}; else {last}" if cures else last


def leading_width(texts: pa.ChunkedArray) -> int:
    """The common width of codes filled with leading zeros, such as 01234; 0 where there is none."""
    shortest, longest = widths(texts)
    return longest if shortest == longest and has_leading_zeros(texts) else 0


def from_spelled_booleans(texts: pa.ChunkedArray, truth: NDArray[np.bool_]) -> Fixed:
    """From true and false, however the file spells them."""
    yes = texts[int(truth.argmax())].as_py() if truth.any() else "true"
    no = texts[int(truth.argmin())].as_py() if not truth.all() else "false"
    return Fixed.of(truth.astype(np.uint8), 0, "boolean", spelling=(no, yes))


def missing_error(name: str, where: NDArray[np.bool_]) -> ShoalError:
    """Missing values stand in the way."""
    cure = "say what is to be done about them (--gaps), or name what means one (--gap-values), or fill them in"
    return rows_error(name, "missing values", where, cure)


def refuse_long(name: str, lengths: NDArray[Any]) -> None:
    """Numbers so long that their squares leave the range of a double."""
    if lengths.max() > MOST_DIGITS:
        raise rows_error(
            name, f"numbers of more than {MOST_DIGITS} digits", lengths > MOST_DIGITS, "use another unit"
        )


class RowsError(ShoalError):
    """A quasi-identifier holds something that is not a number, in these rows, counted from 1."""

    def __init__(self, name: str, what: str, rows: Int, cure: str) -> None:
        self.parts = name, what, rows, cure
        self.cure = cure
        super().__init__(
            f"quasi-identifier {name!r} holds {what} (row{'s' if len(rows) > 1 else ''} {some(rows)}); {cure}"
        )

    def after(self, records: int) -> "RowsError":
        """The same error in a table that has so many records before these."""
        name, what, rows, cure = self.parts
        return RowsError(name, what, rows + records, cure)

    def among(self, places: Int) -> "RowsError":
        """The same error in a table where the records of this one have these places, from 0 on."""
        name, what, rows, cure = self.parts
        return RowsError(name, what, places[rows - 1] + 1, cure)


def beside_numbers(name: str, text: str, rows: Int) -> RowsError:
    """Texts among numbers: mistakes, missing values or categories, which only the owner of the table knows."""
    return RowsError(
        name,
        f"text such as {text!r} beside numbers",
        rows,
        f"correct it, or name what means a missing value ({typed('--gap-values', name, '...')}), "
        f"or say {typed('--kind', name, 'nominal')} if these are categories",
    )


def rows_error(name: str, what: str, where: NDArray[np.bool_], cure: str) -> RowsError:
    """A quasi-identifier holds something that is not a number, where this is true."""
    return RowsError(name, what, np.flatnonzero(where) + 1, cure)
