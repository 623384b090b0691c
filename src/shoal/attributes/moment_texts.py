"""Columns of text that hold moments, read part by part: which layout, whose offsets, day or month first."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes.base import AgainError
from shoal.attributes.ladder import DAY, SECOND, TICKS
from shoal.attributes.layouts import (
    DATES,
    SWAPPED,
    TIME,
    Fields,
    Manner,
    checked_layout,
    date_expression,
    distinct,
    expression,
    has_short_year,
    layout_of,
    moment_expression,
    offset_text,
)
from shoal.attributes.lengths import (
    HOLLOW,
    LAYOUTS,
    SEEN,
    LengthManner,
    length_layout_of,
    length_manner,
    lengths_of,
)
from shoal.attributes.moments import WORDS, Family, Form, Read
from shoal.attributes.numbers import rows_error
from shoal.errors import ShoalError, typed

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]
Again = Callable[[], AgainError]
"""That the column is to be read again, with the month first."""

_WRONG = "correct them or mark them as missing"


def any_of(patterns: list[str]) -> str:
    """A regular expression for all that one of these matches; its parts have no names."""
    bare = [re.sub(r"\(\?P<\w+>", "(?:", pattern.removeprefix("^").removesuffix("$")) for pattern in patterns]
    return f"^(?:{'|'.join(bare)})$"


LOOKS: dict[Family, str] = {
    "date": any_of([date_expression(layout) for layout in DATES]),
    "timestamp": any_of([moment_expression(layout) for layout in DATES]),
    "time-of-day": any_of([TIME]),
    "duration": any_of([LAYOUTS[layout] for layout in SEEN]),
}
"""What text looks like that is known when it is seen; a date is a point in time, too, where others are."""


def looks_like(texts: pa.ChunkedArray, family: Family) -> bool:
    """Whether every text looks like a moment of a family."""
    pattern = LOOKS[family]
    if not len(texts) or not re.match(pattern, texts[0].as_py().strip()):  # most columns end here
        return False
    different = pc.utf8_trim_whitespace(pc.unique(texts))
    if not pc.all(pc.match_substring_regex(different, pattern)).as_py():
        return False
    if family == "duration":
        return not pc.any(pc.match_substring_regex(different, HOLLOW)).as_py()
    return family != "timestamp" or not pc.all(pc.match_substring_regex(different, LOOKS["date"])).as_py()


class Texts(ABC):
    """What is known of a column of text after some of its parts."""

    family: Family

    def __init__(self, name: str) -> None:
        self.name = name
        self.layout: str | None = None

    @abstractmethod
    def add(self, texts: pa.ChunkedArray) -> Read:
        """The moments of another part."""

    def finish(self) -> None:
        """All parts are there."""
        return

    @abstractmethod
    def form(self) -> Form:
        """How the whole column is written."""

    def _matched(self, fields: Fields, texts: pa.Array, which: Int) -> None:
        """Refuse what is not written as the other values are."""
        odd = ~fields.matched[which]
        if odd.any():
            first = texts[int(which[odd.argmax()])].as_py()
            raise rows_error(self.name, f"text such as {first!r}", odd, self._cure(first))

    def _cure(self, text: str) -> str:
        return f"write all {WORDS[self.family]} in one way, or mark what is none as missing"

    def _refuse(self, possible: Bool, texts: pa.Array, which: Int, cure: str = _WRONG) -> None:
        """Refuse what is written as others are but is no moment."""
        wrong = ~possible[which]
        if wrong.any():
            first = texts[int(which[wrong.argmax()])].as_py()
            raise rows_error(self.name, f"impossible {WORDS[self.family]} such as {first!r}", wrong, cure)

    def _refuse_unknown(self, text: str) -> ShoalError:
        return rows_error(self.name, f"text such as {text!r}", np.ones(1, bool), self._cure(text))


def ticks_of(seconds: Int, nanoseconds: Int, fraction: int, name: str) -> tuple[Int, int]:
    """Seconds and nanoseconds in one number: microseconds, or nanoseconds where that many digits are written."""
    if fraction <= 6:
        return seconds * 10**6 + nanoseconds // 1000, TICKS["us"]
    refuse_long(name, seconds)
    return seconds * SECOND + nanoseconds, TICKS["ns"]


def refuse_long(name: str, seconds: Int) -> None:
    """In nanoseconds, some 292 years before and after 1970 can be counted."""
    if len(seconds) and int(np.abs(seconds).max()) >= 2**63 // SECOND:
        raise ShoalError(
            f"column {name!r} has nanoseconds and goes beyond the 292 years that they can count; "
            "round it to microseconds"
        )


class CalendarTexts(Texts):
    """Dates, or points in time."""

    def __init__(
        self, name: str, family: Family, again: Again, asked: bool = False, layout: str = "", swapped: bool = False
    ) -> None:
        super().__init__(name)
        self.family, self._again, self._asked = family, again, asked
        self.layout = layout and checked_layout(layout, "Ymd" if family == "date" else "YmdH")
        self._given = bool(layout)
        self._swapped: bool | None = True if swapped else None  # None: nothing tells
        self._day_first: str | None = None  # a text that shows it
        self._month_first: str | None = None
        self._naive: str | None = None  # a text without an offset
        self._zoned: str | None = None
        self._offsets: set[int] = set()
        self._records = 0
        self._manner = Manner()
        self._example = ""

    def add(self, texts: pa.ChunkedArray) -> Read:
        """Days, or ticks in UTC."""
        different, which = distinct(texts)
        first = different[0].as_py()
        if not self.layout:
            self.layout = layout_of(first, self._asked, self.family == "timestamp")
            if not self.layout:
                raise self._refuse_unknown(first)
        self._example = self._example or first
        fields = Fields.of(different, self._pattern())
        self._matched(fields, different, which)
        if self.layout in SWAPPED and not self._given:
            self._tell(fields, different, which)
            if self._swapped:
                fields = swapped_fields(fields)
        days, possible = fields.days()
        seconds, on_clock = fields.time()
        offsets, known = fields.offsets()
        self._refuse(possible & on_clock & known, different, which)
        self._manner = self._manner.joined(fields.manner())
        self._records += len(which)
        if self.family == "date":
            return Read(days[which], DAY, days[which])
        self._see_zones(fields, offsets, different, which)
        walls = days * 86_400 + seconds
        fraction, rest = fields.fraction(), fields.nanoseconds()
        ticks, tick = ticks_of(walls - offsets, rest, fraction, self.name)
        return Read(ticks[which], tick, ticks_of(walls, rest, fraction, self.name)[0][which])

    def finish(self) -> None:
        """Whether the day or the month stands first must have been seen."""
        if self.layout in SWAPPED and not self._given and self._swapped is None:
            asked, name = f"{self.family}:{self.layout}{self._rest()}", self.name
            raise ShoalError(
                f"quasi-identifier {name!r} holds dates such as {self._example!r}, and no row tells whether the "
                f"day or the month stands first; write them such as 2024-01-31, or say the kind with its layout: "
                f"{typed('--kind', name, asked)} (kinds={{{name!r}: {asked!r}}})"
            )

    def form(self) -> Form:
        """The layout, and the zone where there are offsets."""
        assert self.layout is not None
        layout = SWAPPED[self.layout] if self._swapped else self.layout
        manner = self._manner
        whole = manner.written(layout)
        if self.family == "date":
            return Form("date", layout=whole)
        if not self._given:
            whole += self._rest()
        elif manner.suffix():
            whole = whole.replace("%z", manner.suffix().strip())
        if self._zoned is None:
            return Form("timestamp", layout=whole, fraction=manner.fraction)
        several = tuple(offset_text(offset, ":") for offset in sorted(self._offsets))
        zone = several[0] if len(several) == 1 and several[0] != "+00:00" else "UTC"
        shown = several if len(several) > 1 else ()
        return Form("timestamp", "", zone, whole, manner.fraction, shown)

    def _rest(self) -> str:
        """The layout behind the date."""
        between = self._manner.between
        if not between:
            return ""
        return ("T" if between == {"T"} else " ") + self._manner.time() + self._manner.suffix()

    def _pattern(self) -> str:
        assert self.layout is not None
        if self._given:
            return f"^{expression(self.layout)}$"
        return (date_expression if self.family == "date" else moment_expression)(self.layout)

    def _cure(self, text: str) -> str:
        if has_short_year(text):
            example = f"{self.family}:%d/%m/%y"
            return (
                "its years have two digits and may be of two centuries; write four, or say the kind with its "
                f"layout, such as {typed('--kind', self.name, example)} (kinds={{{self.name!r}: {example!r}}}), "
                "where 69 to 99 are 1969 to 1999 and 00 to 68 are 2000 to 2068"
            )
        return super()._cure(text)

    def _tell(self, fields: Fields, texts: pa.Array, which: Int) -> None:
        """What these texts tell about days and months; they were read with the day first."""
        day, month = fields.number("d"), fields.number("m")
        day_first, month_first = (day > 12) & (month <= 12), (month > 12) & (day <= 12)
        had_day, had_month = self._day_first is not None, self._month_first is not None
        self._day_first = self._day_first or first_text(texts, day_first)
        self._month_first = self._month_first or first_text(texts, month_first)
        if self._day_first is not None and self._month_first is not None:
            odd = day_first if had_month else month_first if had_day else day_first | month_first
            what = f"dates with the day first ({self._day_first!r}) and others with the month first"
            cure = "write all such as 2024-01-31"
            raise rows_error(self.name, f"{what} ({self._month_first!r})", odd[which], cure)
        if self._month_first is not None and self._swapped is None:
            if self._records:  # they were read the other way round
                raise self._again()
            self._swapped = True
        elif self._day_first is not None:
            self._swapped = False

    def _see_zones(self, fields: Fields, offsets: Int, texts: pa.Array, which: Int) -> None:
        """The offsets of these texts, which all have one or none."""
        zoned = fields.has("z")
        self._offsets |= set(offsets[zoned].tolist())
        had_zone = self._zoned is not None
        self._naive = self._naive or first_text(texts, ~zoned)
        self._zoned = self._zoned or first_text(texts, zoned)
        if self._naive is not None and self._zoned is not None:
            odd = ~zoned if had_zone or not zoned.all() else zoned
            what = f"points in time with an offset from UTC ({self._zoned!r}) and others without ({self._naive!r})"
            raise rows_error(self.name, what, odd[which], "write all with one or all without")


def first_text(texts: pa.Array, where: Bool) -> str | None:
    """The first text of which something is true."""
    return texts[int(where.argmax())].as_py() if where.any() else None


def swapped_fields(fields: Fields) -> Fields:
    """With the month first."""
    texts = fields.texts
    return Fields(fields.matched, {**texts, "d": texts["m"], "m": texts["d"]})


class ClockTexts(Texts):
    """Times of day."""

    family = "time-of-day"

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._manner = Manner()

    def add(self, texts: pa.ChunkedArray) -> Read:
        """Nanoseconds after midnight."""
        different, which = distinct(texts)
        fields = Fields.of(different, f"^{TIME}$")
        self._matched(fields, different, which)
        seconds, possible = fields.time()
        self._refuse(possible, different, which, f"{_WRONG}; say the kind duration if they last so long")
        self._manner = self._manner.joined(fields.manner())
        ticks = (seconds * SECOND + fields.nanoseconds())[which]
        return Read(ticks, 1, ticks)

    def form(self) -> Form:
        """With seconds where some have them."""
        return Form("time-of-day", layout=self._manner.time(), fraction=self._manner.fraction)


class LengthTexts(Texts):
    """Durations."""

    family = "duration"

    def __init__(self, name: str, asked: bool = False) -> None:
        super().__init__(name)
        self._asked, self._manner = asked, LengthManner()

    def add(self, texts: pa.ChunkedArray) -> Read:
        """Ticks."""
        different, which = distinct(texts)
        first = different[0].as_py()
        self.layout = self.layout or length_layout_of(first, self._asked)
        if not self.layout:
            raise self._refuse_unknown(first)
        fields = Fields.of(different, LAYOUTS[self.layout])
        self._matched(fields, different, which)
        seconds, rest, possible = lengths_of(fields, self.layout)
        lasting = fields.has("y") | fields.has("m")
        cure = "months and years have no fixed length; write days" if lasting.any() else _WRONG
        self._refuse(possible, different, which, cure)
        self._manner = self._manner.joined(length_manner(fields))
        ticks, tick = ticks_of(seconds, rest, fields.fraction(), self.name)
        return Read(ticks[which], tick, ticks[which])

    def form(self) -> Form:
        """With days where some have them."""
        assert self.layout is not None
        return Form("duration", layout=self._manner.written(self.layout), fraction=self._manner.fraction)


def texts_reader(name: str, family: Family, again: Again, asked: str | None, swapped: bool) -> Texts:
    """The reader of a family; `asked` is the layout that was asked for, empty where only the kind was."""
    if family == "duration":
        return LengthTexts(name, asked is not None)
    if family == "time-of-day":
        return ClockTexts(name)
    return CalendarTexts(name, family, again, asked is not None, asked or "", swapped)
