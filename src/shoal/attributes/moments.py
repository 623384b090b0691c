"""Moments of a column as whole numbers of ticks, and back: dates, points in time, times of day, durations.

A date counts days from 1970-01-01 on, a point in time counts seconds or parts of them from then on in UTC (or
on the column's own clock where it has no zone), a time of day from midnight on, a duration from nothing on.
`Form` knows what the column came as, so that what is released has the same type or the same layout.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes.common_values import CommonValues
from shoal.attributes.ladder import DAY, SECOND, TICKS
from shoal.attributes.layouts import written
from shoal.attributes.lengths import length_text
from shoal.attributes.levels import text_like
from shoal.attributes.numbers import missing_error, rows_error
from shoal.errors import ShoalError
from shoal.table import Column, arrow_type, holds_categories

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Family = Literal["date", "timestamp", "time-of-day", "duration"]

WORDS: dict[Family, str] = {
    "date": "dates",
    "timestamp": "points in time",
    "time-of-day": "times of day",
    "duration": "durations",
}

_UNITS = {tick: unit for unit, tick in TICKS.items()}
_LAYOUTS: dict[Family, str] = {
    "date": "%Y-%m-%d",
    "timestamp": "%Y-%m-%d %H:%M:%S",
    "time-of-day": "%H:%M:%S",
    "duration": "days",
}
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True)
class Form:
    """What a column of moments came as.

    Attributes
    ----------
    unit : that its type counts in ("D" for days); empty for text
    zone : the name of its time zone, or its only offset from UTC such as "+01:00"
    layout : how it is written as text
    fraction : digits after the second, in text
    offsets : several offsets from UTC that its text had; the zone is UTC then
    """

    family: Family
    unit: str = ""
    zone: str | None = None
    layout: str = ""
    fraction: int = 0
    offsets: tuple[str, ...] = ()

    @classmethod
    def of_type(cls, family: Family, unit: str, zone: str | None) -> "Form":
        """Of a column that has a type, to be written as text as most programs do."""
        return cls(family, unit, zone, _LAYOUTS[family] + ("%:z" if zone else ""))

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Form":
        """JSON has no tuples."""
        return cls(**{**given, "offsets": tuple(given["offsets"])})

    def texts(self, ticks: Int, tick: int) -> list[str]:
        """Moments as a text file shows them; a tick has so many nanoseconds."""
        if self.family == "duration":
            return [length_text(value * tick, self.layout, self.fraction) for value in ticks.tolist()]
        offsets = offsets_of(ticks, tick, self.zone)
        walls = ticks + offsets * SECOND // tick
        days, rest = np.divmod(walls, DAY // tick)
        return written(self.layout, days, rest * tick, self.fraction, offsets)

    def arrow(self, ticks: Int, tick: int) -> pa.Array:
        """Moments in the type of the column."""
        if self.family == "date":
            return pa.array(ticks.astype(np.int32)).cast(pa.date32())
        unit = TICKS[self.unit]
        values = ticks * (tick // unit) if tick >= unit else ticks // (unit // tick)
        if self.family == "timestamp":
            return pa.array(values).cast(pa.timestamp(self.unit, self.zone))
        if self.family == "duration":
            return pa.array(values).cast(pa.duration(self.unit))
        if self.unit in ("s", "ms"):
            return pa.array(values.astype(np.int32)).cast(pa.time32(self.unit))
        return pa.array(values).cast(pa.time64(self.unit))


A_DATE, A_TIME = Form.of_type("date", "D", None), Form.of_type("time-of-day", "ns", None)


def offsets_of(ticks: Int, tick: int, zone: str | None) -> Int:
    """How many seconds the clocks of a zone are before UTC at some points in time.

    Arrow knows no summer time after 2037; the points in time are right all the same.
    """
    if zone is None:
        return np.zeros(len(ticks), np.int64)
    instants = pa.array(ticks).cast(pa.timestamp(_UNITS[tick], zone))
    local = np.asarray(pc.local_timestamp(instants).cast(pa.int64()).to_numpy())
    return np.asarray((local - ticks) * tick // SECOND)


def instants_of(walls: Int, tick: int, zone: str) -> Int:
    """The points in time at which the clocks of a zone show this.

    Where they show it twice, the first time; where they leap over it, the moment that they leap.
    """
    local = pa.array(walls).cast(pa.timestamp(_UNITS[tick]))
    found = pc.assume_timezone(local, zone, ambiguous="earliest", nonexistent="latest")
    return np.asarray(found.cast(pa.int64()).to_numpy())


@dataclass(frozen=True, eq=False)
class MomentValues(CommonValues):
    """Common values that are moments, or intervals of them."""

    form: Form
    tick: int
    ticks: Int
    raw: Float
    drawn: Float  # as a report draws them
    last: Int | None = None  # the ends of intervals that begin with the ticks

    def native(self) -> Sequence[Any]:
        """Python's own objects, or text."""
        if self.last is not None or not self.form.unit:
            return self.text()
        values: list[Any] = self.form.arrow(self.ticks, self.tick).to_pylist()
        return values

    def floats(self) -> Float:
        """As a report draws them."""
        return self.drawn

    def text(self, decimal_sign: str = ".") -> list[str]:
        """In the layout of the column; an interval such as 2001-03-01 to 2001-05-06."""
        texts = self.form.texts(self.ticks, self.tick)
        if self.last is None:
            return texts
        ends = zip(texts, self.form.texts(self.last, self.tick), strict=True)
        return [first if first == last else f"{first} to {last}" for first, last in ends]

    def column(self, like: "nw.Series[Any]", labels: Int, keep_type: bool) -> "nw.Series[Any]":
        """A column of the type that came, whether it is to be kept or not: a date has no other."""
        return self.gapped(like, labels, None)

    def gapped(self, like: "nw.Series[Any]", labels: Int, gap: str | None) -> "nw.Series[Any]":
        """The same with gaps where a label is below 0."""
        if self.last is None and self.form.unit:
            return column_of(self.form.arrow(self.ticks, self.tick), like, labels, True)
        if self.last is None and is_whole(like):
            return column_of([int(text) for text in self.text()], like, labels, True)
        texts = self.text()
        if gap and (labels < 0).any():
            texts, labels = [*texts, gap], np.where(labels < 0, len(texts), labels)
        return column_of(texts, like, labels, self.last is None)


def is_whole(series: "nw.Series[Any]") -> bool:
    """Whether a column holds whole numbers, such as 20240131."""
    kind = arrow_type(series)
    return pa.types.is_integer(kind) if kind is not None else bool(series.dtype.is_integer())


def column_of(short: Any, like: "nw.Series[Any]", labels: Int, keep_type: bool) -> "nw.Series[Any]":
    """Values of groups for each record, in the dataframe and the type of another column; gaps below label 0."""
    native, namespace = like.to_native(), like.__native_namespace__()
    new: Any
    if like.implementation.is_pyarrow():
        made = pa.array(short, None if keep_type else pa.string()) if isinstance(short, list) else short
        places = pa.array(np.maximum(labels, 0), mask=labels < 0)
        new = pa.chunked_array([made.cast(native.type) if keep_type else made]).take(places)
    elif like.implementation.is_polars():
        new = namespace.Series(like.name, short)
        new = new.cast(native.dtype) if keep_type and new.dtype != native.dtype else new
        new = new.gather(namespace.Series([label if label >= 0 else None for label in labels.tolist()]))
    else:
        new = pandas_column(short, native.dtype if keep_type else None, namespace).take(np.maximum(labels, 0))
        new.index, new.name = native.index, like.name
        new = new.mask(labels < 0) if (labels < 0).any() else new
    column: nw.Series[Any] = nw.from_native(new, series_only=True).alias(like.name)
    return column


def pandas_column(short: Any, dtype: Any, pandas: Any) -> Any:
    """A column of pandas, from Arrow or from a list."""
    if isinstance(short, list):
        return pandas.Series(short, dtype=dtype)
    if str(dtype) == "object":
        return pandas.Series(short.to_pylist(), dtype=object)
    held = getattr(dtype, "pyarrow_dtype", None)
    if held is not None:
        return pandas.Series(pandas.arrays.ArrowExtensionArray(short.cast(held)))
    return short.to_pandas().astype(dtype)


# Reading.


@dataclass(frozen=True, eq=False)
class Read:
    """The moments of some records."""

    ticks: Int
    tick: int  # in nanoseconds
    walls: Int  # the same on the clocks of their zone


def family_of(column: Column) -> Family | None:
    """What a column holds by its type; None for text and all else."""
    if column.text is not None or column.parts:
        return None
    kind = arrow_type(column.series)
    if kind is not None:
        return arrow_family(kind)
    if column.series.dtype == nw.Object:
        return object_family(column.series.to_list())
    families: dict[Any, Family] = {
        nw.Date: "date", nw.Datetime: "timestamp", nw.Time: "time-of-day", nw.Duration: "duration"
    }  # fmt: skip
    return next((family for dtype, family in families.items() if column.series.dtype == dtype), None)


def arrow_family(kind: pa.DataType) -> Family | None:
    """What a type of Arrow is for."""
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_timestamp(kind):
        return "timestamp"
    if pa.types.is_time(kind):
        return "time-of-day"
    return "duration" if pa.types.is_duration(kind) else None


def object_family(values: list[Any]) -> Family | None:
    """What objects of Python are; dates among points in time are points in time."""
    if not values or not isinstance(values[0], (date, time, timedelta)):
        return None
    if all(isinstance(value, timedelta) for value in values):
        return "duration"
    if all(isinstance(value, time) for value in values):
        return "time-of-day"
    if not all(isinstance(value, date) for value in values):
        return None
    return "timestamp" if any(isinstance(value, datetime) for value in values) else "date"


def read_typed(column: Column) -> tuple[Read, Form]:
    """The moments of a column that has a type for them."""
    if arrow_type(column.series) is None and column.series.dtype == nw.Object:
        values = column.series.to_list()
        family = object_family(values)
        assert family is not None
        return read_objects(column.name, values, family)
    held = column.values()
    if held.null_count:
        raise missing_error(column.name, np.asarray(held.is_null().to_numpy()))
    family = arrow_family(held.type)
    assert family is not None
    ticks = np.asarray(held.cast(pa.int32() if held.type.bit_width == 32 else pa.int64()).to_numpy(), np.int64)
    if family == "date":
        days = ticks // (DAY // TICKS["ms"]) if held.type == pa.date64() else ticks
        return Read(days, DAY, days), Form.of_type(family, "D", None)
    unit, zone = held.type.unit, held.type.tz if family == "timestamp" else None
    tick = TICKS[unit]
    walls = ticks + offsets_of(ticks, tick, zone) * SECOND // tick
    return Read(ticks, tick, walls), Form.of_type(family, unit, zone)


def read_objects(name: str, values: list[Any], family: Family) -> tuple[Read, Form]:
    """The moments that objects of Python stand for; those of pandas may have nanoseconds."""
    if family == "date":
        days = np.array([value.toordinal() - _EPOCH.toordinal() for value in values], np.int64)
        return Read(days, DAY, days), Form.of_type(family, "D", None)
    refuse_zones(name, values, family)
    parts = [value if family == "duration" else since(value) for value in values]
    micro = [part // _MICROSECOND for part in map(plain_delta, parts)]
    nano = [getattr(value, "nanosecond", getattr(value, "nanoseconds", 0)) for value in values]
    unit = "ns" if any(nano) else "us"
    if unit == "ns":
        micro = [whole * 1000 + rest for whole, rest in zip(micro, nano, strict=True)]
        if max(map(abs, micro)) >= 2**63:
            raise ShoalError(
                f"column {name!r} has nanoseconds and years before 1678 or after 2261, which do not go "
                "together; round it to microseconds"
            )
    ticks, zone = np.array(micro, np.int64), zone_of(values[0]) if family == "timestamp" else None
    walls = ticks + offsets_of(ticks, TICKS[unit], zone) * SECOND // TICKS[unit]
    return Read(ticks, TICKS[unit], walls), Form.of_type(family, unit, zone)


def since(value: Any) -> timedelta:
    """How long a point in time is after 1970 in UTC, or a time of day after midnight."""
    if isinstance(value, time):
        return datetime.combine(_EPOCH, value) - _EPOCH
    if not isinstance(value, datetime):
        return datetime.combine(value, time()) - _EPOCH
    local = datetime(*value.timetuple()[:6], value.microsecond)  # those of pandas subtract in another way
    return local - _EPOCH - (value.utcoffset() or timedelta())


def plain_delta(value: timedelta) -> timedelta:
    """A duration of Python; those of pandas divide in another way."""
    return timedelta(value.days, value.seconds, value.microseconds)


def zone_of(value: datetime) -> str | None:
    """The zone of a point in time, by a name that Arrow knows."""
    zone: str | None = pa.array([value]).type.tz if isinstance(value, datetime) and value.tzinfo else None
    return zone


def refuse_zones(name: str, values: list[Any], family: Family) -> None:
    """Moments with a zone beside others without one cannot be compared."""
    if family == "duration":
        return
    zoned = np.array([getattr(value, "tzinfo", None) is not None for value in values])
    if family == "time-of-day" and zoned.any():
        raise rows_error(name, "times of day with a zone", zoned, "leave the zone out")
    if zoned.any() and not zoned.all():
        raise rows_error(name, "points in time without a zone beside others with one", ~zoned, "give all a zone")


def texts_in(column: Column) -> pa.ChunkedArray | None:
    """The text of a column; None where it holds something else, also categories by its type."""
    if column.parts or (column.text is None and holds_categories(column.series)):
        return None
    return column.values() if text_like(column) else None
