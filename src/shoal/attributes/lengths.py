"""Durations as programs write them: `PT26H15M`, `1 days 02:15:00` and `26:15:00`.

The first is ISO 8601, the second is that of pandas, where `-1 days +23:00:00` is one hour before nothing. The
third may be a time of day, so it is known only where the column is said to hold durations.
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.ladder import DAY, HOUR, MINUTE, SECOND
from shoal.attributes.layouts import Fields, second_text

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

_FRACTION = r"(?:\.(?P<f>[0-9]{1,9}))?"
_CLOCK = rf":(?P<M>[0-9]{{2}}):(?P<S>[0-9]{{2}}){_FRACTION}"

LAYOUTS = {
    "iso": (
        r"^(?P<s>-?)P(?:(?P<y>[0-9]{1,9})Y)?(?:(?P<m>[0-9]{1,9})M)?(?:(?P<W>[0-9]{1,6})W)?(?:(?P<D>[0-9]{1,7})D)?"
        rf"(?:T(?:(?P<H>[0-9]{{1,8}})H)?(?:(?P<M>[0-9]{{1,9}})M)?(?:(?P<S>[0-9]{{1,11}}){_FRACTION}S)?)?$"
    ),
    "days": rf"^(?P<D>-?[0-9]{{1,7}}) days?(?: \+?(?P<H>[0-9]{{1,2}}){_CLOCK})?$",
    "clock": rf"^(?P<s>-?)(?P<H>[0-9]{{1,8}}){_CLOCK}$",
}
"""What a duration may look like."""

HOLLOW = "[PT]$"
"""A duration of ISO 8601 without its numbers is none."""

SEEN = ("iso", "days")
"""Those that are known when they are seen."""


@dataclass(frozen=True)
class LengthManner:
    """How a column writes its durations, as far as was seen."""

    days: bool = False  # days stand beside hours
    timed: bool = False  # hours, minutes or seconds are written
    filled: bool = False  # hours of two digits at least
    fraction: int = 0

    def joined(self, other: "LengthManner") -> "LengthManner":
        """What both have shown."""
        return LengthManner(
            self.days or other.days,
            self.timed or other.timed,
            self.filled or other.filled,
            max(self.fraction, other.fraction),
        )

    def written(self, layout: str) -> str:
        """A layout with these ways."""
        if layout == "iso":
            return "iso with days" if self.days else "iso"
        if layout == "days":
            return "days" if self.timed else "days only"
        return "clock" if self.filled else "short clock"


def length_layout_of(text: str, asked: bool) -> str | None:
    """The layout of a duration; `asked` where the column is said to hold durations."""
    layouts = tuple(LAYOUTS) if asked else SEEN
    return next((layout for layout in layouts if is_length(text, layout)), None)


def is_length(text: str, layout: str) -> bool:
    """Whether a text is a duration."""
    return re.match(LAYOUTS[layout], text) is not None and re.search(HOLLOW, text) is None


def lengths_of(fields: Fields, layout: str) -> tuple[Int, Int, Bool]:
    """Whole seconds and the nanoseconds after them, and which of the durations there are."""
    minute, second = fields.number("M"), fields.number("S")
    days = fields.number("D") + 7 * fields.number("W")
    seconds = days * 86_400 + fields.number("H") * 3600 + minute * 60 + second
    possible = ~(fields.has("y") | fields.has("m")) & np.any([fields.has(name) for name in "WDHMS"], axis=0)
    if layout != "iso":
        possible &= (minute < 60) & (second < 60) & ((layout == "clock") | (fields.number("H") < 24))
    sign = np.where(fields.has("s"), -1, 1)
    return sign * seconds, sign * fields.nanoseconds(), possible


def length_manner(fields: Fields) -> LengthManner:
    """How they are written."""
    timed = fields.has("H") | fields.has("M") | fields.has("S")
    return LengthManner(
        bool((fields.has("D") | fields.has("W")).any()),
        bool(timed.any()),
        fields.shows("H", "^0[0-9]"),
        fields.fraction(),
    )


def length_text(nanoseconds: int, layout: str, fraction: int) -> str:
    """A duration as a layout has it."""
    if layout.startswith("days"):
        days, rest = divmod(nanoseconds, DAY)
        if layout == "days only":
            return f"{days} days"
        return f"{days} days {'+' if days < 0 else ''}{rest // HOUR:02d}:{_clock(rest, fraction)}"
    sign, size = "-" if nanoseconds < 0 else "", abs(nanoseconds)
    if layout.startswith("iso"):
        return f"{sign}P{_iso(size, layout == 'iso with days', fraction)}"
    return f"{sign}{size // HOUR:0{2 if layout == 'clock' else 1}d}:{_clock(size, fraction)}"


def _clock(nanoseconds: int, fraction: int) -> str:
    return f"{nanoseconds // MINUTE % 60:02d}:{second_text(nanoseconds % MINUTE, fraction)}"


def _iso(size: int, with_days: bool, fraction: int) -> str:
    days, rest = divmod(size, DAY) if with_days else (0, size)
    hours, minutes, seconds = rest // HOUR, rest // MINUTE % 60, rest % MINUTE
    shown = f"{seconds // SECOND}{second_text(seconds, fraction)[2:]}S" if seconds or not size else ""
    if not size and with_days:
        return "0D"
    parts = (f"{hours}H" if hours else "") + (f"{minutes}M" if minutes else "") + shown
    return (f"{days}D" if days else "") + (f"T{parts}" if parts else "")
