"""The common values of groups, one for each: as a dataframe takes them and as a text file shows them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.attributes.rounding import decimal_text
from shoal.errors import ShoalError
from shoal.parameters import Aggregate
from shoal.table import is_text

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Kind = Literal["integer", "boolean", "decimal", "float16", "float32", "float64"]

_LONGEST = 18  # a power of ten with more zeros is no int64


class CommonValues(ABC):
    """One value for each group of records, to be put in the place of theirs."""

    raw: Float
    """The values as coordinates before scaling, in the units of `Numbers.raw`."""

    def of(self, column: str) -> "CommonValues":
        """The values of one of the columns that an attribute stands for."""
        return self

    @abstractmethod
    def native(self) -> Sequence[Any] | NDArray[Any]:
        """The values as a dataframe takes them."""

    def floats(self) -> Float:
        """The values as doubles, to look at."""
        return np.array(self.native(), dtype=np.float64)

    @abstractmethod
    def text(self, decimal_sign: str = ".") -> list[str]:
        """The values as a text file shows them."""

    def column(self, like: "nw.Series[Any]", labels: Int, keep_type: bool) -> "nw.Series[Any]":
        """The value of each record's group as a column of the kind and dtype of the one that it replaces."""
        native, short, keep_type = like.to_native(), self.native(), self.keeps_type(keep_type)
        namespace = like.__native_namespace__()
        new: Any
        if like.implementation.is_pyarrow():
            new = taken(self._arrow(native.type, keep_type), labels)
        elif like.implementation.is_polars():
            new = namespace.Series(like.name, short, dtype=native.dtype if keep_type else None).gather(labels)
        else:
            kind = nullable(native.dtype, short) if keep_type else None
            new = namespace.Series(short, name=like.name, dtype=kind).take(labels)
            new.index = native.index
        column: nw.Series[Any] = nw.from_native(new, series_only=True).alias(like.name)
        return column

    def keeps_type(self, asked: bool) -> bool:
        """Whether a column keeps its type, where that is asked for or where plain centroids are."""
        return asked

    def gapped(self, like: "nw.Series[Any]", labels: Int, gap: str | None) -> "nw.Series[Any] | None":
        """The same with gaps where a label is below 0; None for values that `native` has for any dataframe.

        `gap` is the text of a gap, where the column is text.
        """
        return None

    def _arrow(self, kind: pa.DataType, keep_type: bool) -> pa.ChunkedArray:
        """The values in an Arrow type; what a file holds as text becomes numbers, where they fit."""
        if not keep_type:
            return pa.chunked_array([pa.array(self.native())])
        if not is_text(kind):
            short = self.native()
            read = any(
                isinstance(value, str) for value in short
            )  # categories are read from files as they stand there
            return pa.chunked_array([pa.array(short).cast(kind) if read else pa.array(short, type=kind)])
        try:
            made = pa.chunked_array([pa.array(self.native())])
            return made.cast(kind) if is_text(made.type) else made
        except (pa.ArrowException, OverflowError):  # whole numbers of more than 64 bits
            return pa.chunked_array([pa.array(self.text(), type=kind)])


def nullable(kind: Any, values: Sequence[Any] | NDArray[Any]) -> Any:
    """The type of a column of pandas; one that can have gaps where there are some."""
    if getattr(kind, "kind", "") not in "iub" or isinstance(values, np.ndarray) or None not in list(values):
        return kind
    return "boolean" if kind.kind == "b" else "Int64" if kind.kind == "i" else "UInt64"


def taken(values: pa.ChunkedArray, places: Int) -> pa.ChunkedArray:
    """The values at some places, one after the other, in their type."""
    try:
        return values.take(pa.array(places))
    except pa.ArrowNotImplementedError:  # such as views of strings
        listed = values.to_pylist()
        return pa.chunked_array([pa.array([listed[place] for place in places.tolist()], values.type)])


@dataclass(frozen=True, eq=False)
class FixedValues(CommonValues):
    """Common values in whole units."""

    kind: Kind
    units: NDArray[Any]
    raw: Float
    values: NDArray[Any] | None  # the nearest floats, for a column of floats
    decimals: int  # that are shown
    above: NDArray[Any]  # units of the column above its origin
    width: int = 0
    spelling: tuple[str, str] = ("False", "True")

    def native(self) -> Sequence[Any] | NDArray[Any]:
        """Integers, booleans, decimals or floats, as the column came."""
        if self.values is not None:
            return self.values
        if self.kind == "boolean":
            return self.units.astype(bool)
        if self.kind == "decimal":
            return [Decimal(text) for text in self._digits(".", 0)]
        return self.units if self.units.dtype != object else list(self.units)

    def text(self, decimal_sign: str = ".") -> list[str]:
        """Every value with the same number of decimals, and with the column's leading zeros."""
        if self.kind == "boolean":
            return [self.spelling[unit] for unit in self.units]
        return self._digits(decimal_sign, self.width)

    def _digits(self, decimal_sign: str, width: int) -> list[str]:
        decimals = self.decimals
        if decimals <= 0:
            return [f"{unit:0{width}d}" for unit in in_ones(self.units, decimals)]
        parts = [("-" if unit < 0 else "", *divmod(abs(unit), 10**decimals)) for unit in self.units]
        return [f"{sign}{whole}{decimal_sign}{rest:0{decimals}d}" for sign, whole, rest in parts]


@dataclass(frozen=True, eq=False)
class RealValues(CommonValues):
    """Common values as floats."""

    values: NDArray[Any]
    raw: Float

    def native(self) -> Sequence[Any] | NDArray[Any]:
        """The floats themselves."""
        return self.values

    def text(self, decimal_sign: str = ".") -> list[str]:
        """The shortest text that reads back to the same float."""
        return [str(value).replace(".", decimal_sign) for value in self.values]


@dataclass(frozen=True, eq=False)
class RoundedValues(CommonValues):
    """Common values as doubles of so many decimals."""

    values: Float
    raw: Float
    digits: int
    kind: Kind

    def native(self) -> Sequence[Any] | NDArray[Any]:
        """The nearest floats of the column's kind."""
        return self.values.astype(self.kind)

    def text(self, decimal_sign: str = ".") -> list[str]:
        """All with the same decimals."""
        return [decimal_text(value, self.digits).replace(".", decimal_sign) for value in self.values.tolist()]


def wide(units: NDArray[Any], zeros: int) -> NDArray[Any]:
    """Whole units that can be divided by a power of ten with so many zeros."""
    return units.astype(object) if zeros > _LONGEST else units


def in_ones(units: NDArray[Any], decimals: int) -> NDArray[Any]:
    """Units of tens, hundreds and so on as ones; smaller units as they are."""
    return units if decimals >= 0 else np.asarray(units.astype(object) * 10**-decimals)


@dataclass(frozen=True, eq=False)
class IntervalValues(CommonValues):
    """From one category to another, as text; counts as the middle of the two."""

    texts: list[str]
    raw: Float

    def keeps_type(self, asked: bool) -> bool:
        """An interval is text, whatever the column was."""
        return False

    def native(self) -> list[str]:
        """Text."""
        return self.texts

    def floats(self) -> Float:
        """The middle."""
        return self.raw

    def text(self, decimal_sign: str = ".") -> list[str]:
        """Text."""
        return self.texts


def interval_text(low: str, high: str) -> str:
    """Both ends of an interval: 30-39, or "low to high" where a dash would be read as something else."""
    if low == high:
        return low
    plain = all(end[:1].isdigit() and "-" not in end for end in (low, high))
    return f"{low}-{high}" if plain else f"{low} to {high}"


def refuse_aggregate(name: str, kind: str, aggregate: Aggregate, known: Sequence[Aggregate]) -> ShoalError:
    """An attribute of a kind has no such common value."""
    return ShoalError(
        f"column {name!r} is {kind}, which has no {aggregate}; choose one of {', '.join(known)} for it"
    )
