"""Dates and times as people write them: patterns, reading, writing.

A layout is written as in C's and Python's `strptime`: `%Y-%m-%d` is 2024-01-31. Two flags are those of GNU
date: `%-d` is a day without leading zero, `%^b` a month in capital letters, `%:z` an offset such as +01:00.
Days count from 1970-01-01, as everywhere.
"""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes.ladder import HOUR, MINUTE, SECOND
from shoal.errors import ShoalError

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%d-%b-%Y", "%d%b%Y")
"""The dates that are known when they are seen."""

COMPACT = "%Y%m%d"
"""Dates that are known only when the column is said to hold dates: they may be any numbers."""

SWAPPED = {"%d/%m/%Y": "%m/%d/%Y", "%d-%m-%Y": "%m-%d-%Y"}
"""Dates whose days and months can stand the other way round."""

_DIGITS = {
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "[0-9]{1,2}",
    "d": "[0-9]{1,2}",
    "H": "[0-9]{1,2}",
    "M": "[0-9]{2}",
}
_SECOND = r"(?P<S>[0-9]{2})(?:\.(?P<f>[0-9]{1,9}))?"
_OFFSET = r"(?P<z> ?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?))"
_TOKENS = {
    **{token: f"(?P<{token}>{digits})" for token, digits in _DIGITS.items()},
    "b": "(?P<b>(?i:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))",
    "S": _SECOND,
    "z": _OFFSET,
}
_TOKEN = re.compile(r"%[-^:+]?[A-Za-z%]")

TIME = rf"{_TOKENS['H']}:{_TOKENS['M']}(?::{_SECOND})?"
"""A time of day; seconds may be left out."""

_TWO_DIGIT_YEARS = re.compile(r"[0-9]{1,2}([./-])([0-9]{1,2}|[A-Za-z]{3})\1[0-9]{2}")


def expression(layout: str) -> str:
    """A regular expression for a layout, without its ends; numbers that touch have all their digits."""
    compact = re.sub("%d%b", "%d-%b", layout)  # letters are no digits
    touching = re.search(r"%[A-Za-z]%[A-Za-z]", compact) is not None
    place, found = 0, ""
    for token in _TOKEN.finditer(layout):
        found += re.escape(layout[place : token.start()])
        pattern = _TOKENS[token.group()[-1]]
        found += pattern.replace("{1,2}", "{2}") if touching else pattern
        place = token.end()
    return found + re.escape(layout[place:])


def date_expression(layout: str) -> str:
    """A date."""
    return f"^{expression(layout)}$"


def moment_expression(layout: str) -> str:
    """A date with or without a time of day, which may have an offset from UTC."""
    return f"^{expression(layout)}(?:(?P<T>[ T]){TIME}{_OFFSET}?)?$"


def checked_layout(layout: str, needed: str) -> str:
    """A layout that a user has written, if it can be read; `needed` are its parts."""
    tokens = [token.group()[1:] for token in _TOKEN.finditer(layout)]
    if odd := next((token for token in tokens if token not in _TOKENS), None):
        raise ShoalError(
            f"the layout {layout!r} has the part '%{odd}', which is not known; "
            "there are %Y, %y, %m, %b, %d, %H, %M, %S and %z"
        )
    if repeated := next((token for token in tokens if tokens.count(token) > 1), None):
        raise ShoalError(f"the layout {layout!r} has '%{repeated}' twice; write each part once")
    same = {"y": "Y", "b": "m"}
    missing = [token for token in needed if token not in {same.get(token, token) for token in tokens}]
    if missing:
        raise ShoalError(f"the layout {layout!r} has no '%{missing[0]}'; write such as '%d/%m/%Y'")
    return layout


def layout_of(text: str, asked: bool, with_time: bool) -> str | None:
    """The layout of the date that a text holds; `asked` where the column is said to hold dates."""
    made = moment_expression if with_time else date_expression
    layouts = (*DATES, COMPACT) if asked else DATES
    return next((layout for layout in layouts if re.match(made(layout), text)), None)


def has_short_year(text: str) -> bool:
    """Whether a text is a date such as 31/01/24."""
    return _TWO_DIGIT_YEARS.fullmatch(text) is not None


@dataclass(frozen=True)
class Manner:
    """How a column writes its moments, as far as was seen."""

    short: frozenset[str] = frozenset()  # parts of one digit
    filled: frozenset[str] = frozenset()  # parts with a leading zero
    between: frozenset[str] = frozenset()  # what stands between a date and a time
    zones: frozenset[str] = frozenset()  # offsets from UTC, as they are written; "" for none
    seconds: bool = False
    fraction: int = 0  # most digits after the second
    capital: bool = True  # months in capital letters

    def joined(self, other: "Manner") -> "Manner":
        """What both have shown."""
        return Manner(
            self.short | other.short,
            self.filled | other.filled,
            self.between | other.between,
            self.zones | other.zones,
            self.seconds or other.seconds,
            max(self.fraction, other.fraction),
            self.capital and other.capital,
        )

    def written(self, layout: str) -> str:
        """A layout with these ways: `%-d/%-m/%Y` where 1/2/2024 was seen."""
        for token in self.short - self.filled:
            layout = layout.replace(f"%{token}", f"%-{token}")
        return layout.replace("%b", "%^b") if self.capital else layout

    def time(self) -> str:
        """The layout of a time of day."""
        return self.written("%H:%M:%S" if self.seconds else "%H:%M")

    def suffix(self) -> str:
        """The layout of the offsets; those that differ in their way are written such as +01:00."""
        seen = {zone.strip() for zone in self.zones if zone}
        if not seen:
            return ""
        space = " " if all(zone.startswith(" ") for zone in self.zones) else ""
        if seen == {"Z"}:
            return f"{space}Z"
        lengths = {len(zone) for zone in seen if zone != "Z"}
        return space + {3: "%+z", 5: "%z"}.get(lengths.pop() if len(lengths) == 1 else 6, "%:z")


@dataclass(frozen=True, eq=False)
class Fields:
    """The parts of some different texts, as numbers; 0 where there are none."""

    matched: Bool
    texts: dict[str, pa.Array]

    @classmethod
    def of(cls, texts: pa.Array, pattern: str) -> "Fields":
        """Texts that do not match have no parts."""
        found = pc.extract_regex(texts, pattern)
        names = re.findall(r"\(\?P<(\w+)>", pattern)
        return cls(
            np.asarray(pc.is_valid(found).to_numpy(zero_copy_only=False)),
            {name: pc.fill_null(pc.struct_field(found, name), "") for name in names},
        )

    def has(self, name: str) -> Bool:
        """Where a part is written."""
        if name not in self.texts:
            return np.zeros(len(self.matched), bool)
        return np.asarray(pc.not_equal(self.texts[name], "").to_numpy(zero_copy_only=False))

    def number(self, name: str, without: int = 0) -> Int:
        """A part as a whole number."""
        if name not in self.texts:
            return np.full(len(self.matched), without, np.int64)
        text = self.texts[name]
        return np.asarray(pc.if_else(pc.equal(text, ""), str(without), text).cast(pa.int64()).to_numpy())

    def nanoseconds(self) -> Int:
        """The part after the second."""
        if "f" not in self.texts:
            return np.zeros(len(self.matched), np.int64)
        return np.asarray(pc.utf8_rpad(self.texts["f"], 9, "0").cast(pa.int64()).to_numpy())

    def fraction(self) -> int:
        """The most digits after a second."""
        return int(pc.max(pc.utf8_length(self.texts["f"])).as_py() or 0) if "f" in self.texts else 0

    def month(self) -> Int:
        """The month, from its number or its name."""
        if "b" not in self.texts:
            return self.number("m", 1)
        names = pc.utf8_lower(self.texts["b"])
        found = pc.index_in(names, value_set=pa.array([month.lower() for month in MONTHS]))
        return np.asarray(pc.fill_null(found, 0).cast(pa.int64()).to_numpy()) + 1

    def year(self) -> Int:
        """The year; of two digits, 69 to 99 are of the last century and 00 to 68 of this one, as in POSIX."""
        if "Y" in self.texts:
            return self.number("Y", 1)
        years = self.number("y")
        return years + np.where(years < 69, 2000, 1900)

    def days(self) -> tuple[Int, Bool]:
        """Days from 1970-01-01 on, and which of them there are."""
        year, month, day = self.year(), self.month(), self.number("d", 1)
        within = np.clip(month, 1, 12)
        months = ((year - 1970) * 12 + within - 1).astype("datetime64[M]")
        first, after = (start.astype("datetime64[D]").astype(np.int64) for start in (months, months + 1))
        possible = (year >= 1) & (month == within) & (day >= 1) & (day <= after - first)
        return first + day - 1, possible

    def time(self) -> tuple[Int, Bool]:
        """Whole seconds from midnight on, and which of them there are."""
        hour, minute, second = (self.number(name) for name in "HMS")
        return hour * 3600 + minute * 60 + second, (hour < 24) & (minute < 60) & (second < 60)

    def offsets(self) -> tuple[Int, Bool]:
        """Seconds that the clock is before UTC, and which of them there are."""
        if "z" not in self.texts:
            zeros = np.zeros(len(self.matched), np.int64)
            return zeros, np.ones(len(zeros), bool)
        bare = pc.replace_substring(pc.utf8_trim_whitespace(self.texts["z"]), ":", "")
        plain = pc.utf8_rpad(pc.if_else(pc.is_in(bare, value_set=pa.array(["", "Z"])), "+", bare), 5, "0")
        hours = pc.utf8_slice_codeunits(plain, 1, 3).cast(pa.int64()).to_numpy()
        minutes = pc.utf8_slice_codeunits(plain, 3, 5).cast(pa.int64()).to_numpy()
        sign = np.where(pc.starts_with(plain, "-").to_numpy(zero_copy_only=False), -1, 1)
        return sign * (hours * 3600 + minutes * 60), (hours < 24) & (minutes < 60)

    def manner(self) -> Manner:
        """How they are written."""
        digits = [name for name in "mdH" if name in self.texts]
        zoned = pc.unique(self.texts["z"]).to_pylist() if "z" in self.texts else []
        return Manner(
            frozenset(name for name in digits if self.shows(name, "^[0-9]$")),
            frozenset(name for name in digits if self.shows(name, "^0[0-9]$")),
            frozenset(pc.unique(self.texts["T"]).to_pylist()) - {""} if "T" in self.texts else frozenset(),
            frozenset(zoned),
            bool(self.has("S").any()),
            self.fraction(),
            not self.shows("b", "[a-z]"),
        )

    def shows(self, name: str, pattern: str) -> bool:
        """Whether a part is somewhere written so."""
        return name in self.texts and bool(pc.any(pc.match_substring_regex(self.texts[name], pattern)).as_py())


def distinct(texts: pa.ChunkedArray) -> tuple[pa.Array, Int]:
    """The different texts, and which of them each record has."""
    different = pc.unique(texts)
    return different, np.asarray(pc.index_in(texts, value_set=different).to_numpy()).astype(np.int64)


# Writing.


def civil(days: Int) -> tuple[Int, Int, Int]:
    """The years, months and days of days that count from 1970-01-01."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    number = months.astype(np.int64)
    return number // 12 + 1970, number % 12 + 1, (dates - months.astype("datetime64[D]")).astype(np.int64) + 1


def written(layout: str, days: Int, nanoseconds: Int, fraction: int, offsets: Int) -> list[str]:
    """Days, nanoseconds after midnight and offsets from UTC in seconds, as a layout has them."""
    year, month, day = (part.tolist() for part in civil(days))
    clock = nanoseconds.tolist()
    made: dict[str, Any] = {
        "%Y": lambda: [f"{value:04d}" for value in year],
        "%y": lambda: [f"{value % 100:02d}" for value in year],
        "%m": lambda: [f"{value:02d}" for value in month],
        "%-m": lambda: map(str, month),
        "%d": lambda: [f"{value:02d}" for value in day],
        "%-d": lambda: map(str, day),
        "%b": lambda: [MONTHS[value - 1] for value in month],
        "%^b": lambda: [MONTHS[value - 1].upper() for value in month],
        "%H": lambda: [f"{value // HOUR:02d}" for value in clock],
        "%-H": lambda: [str(value // HOUR) for value in clock],
        "%M": lambda: [f"{value // MINUTE % 60:02d}" for value in clock],
        "%S": lambda: [second_text(value % MINUTE, fraction) for value in clock],
        "%z": lambda: [offset_text(value, "") for value in offsets.tolist()],
        "%:z": lambda: [offset_text(value, ":") for value in offsets.tolist()],
        "%+z": lambda: [offset_text(value, "")[:3] for value in offsets.tolist()],
    }
    columns, place = [], 0
    for token in _TOKEN.finditer(layout):
        columns += [[layout[place : token.start()]] * len(clock), list(made[token.group()]())]
        place = token.end()
    columns.append([layout[place:]] * len(clock))
    return ["".join(parts) for parts in zip(*columns, strict=True)]


def second_text(nanoseconds: int, fraction: int) -> str:
    """Seconds of a minute, with so many digits after them."""
    whole, rest = divmod(nanoseconds, SECOND)
    return f"{whole:02d}" + (f".{rest:09d}"[: fraction + 1] if fraction else "")


def offset_text(seconds: int, sign: str) -> str:
    """An offset from UTC such as +01:00."""
    hours, minutes = divmod(abs(seconds) // 60, 60)
    odd = f"{sign}{abs(seconds) % 60:02d}" if seconds % 60 else ""  # as clocks were before there were zones
    return f"{'-' if seconds < 0 else '+'}{hours:02d}{sign}{minutes:02d}{odd}"
