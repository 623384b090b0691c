"""Units of time, from a nanosecond to a day, and how far a released moment is rounded.

A mean of k moments that spread by s is uncertain by about s / sqrt(k), as a mean of numbers is
(`shoal.attributes.digits` says why finer parts are not released). So a released moment is a whole number of the
largest of these units that is not above s / sqrt(k), where s is the standard deviation inside the groups, pooled
over the whole column. It is never finer than the column: days in a column that has midnights only.
"""

from fractions import Fraction

SECOND = 10**9
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND

RUNGS = (1, 10**3, 10**6, SECOND, MINUTE, HOUR, DAY)
"""The units in nanoseconds. A unit is named by its place here."""

TICKS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": SECOND}
"""The units that types count in."""

HOURS, DAYS = RUNGS.index(HOUR), RUNGS.index(DAY)

_NAMES = ("1 ns", "1 us", "1 ms", "1 s", "1 min", "1 h", "1 day")


def rung_name(rung: int) -> str:
    """What people call a unit."""
    return _NAMES[rung]


def rung_of(grain: int) -> int:
    """The largest unit that divides so many nanoseconds."""
    return max(rung for rung, unit in enumerate(RUNGS) if grain % unit == 0)


def rung_below(squared: Fraction) -> int:
    """The largest unit whose square is not above so many squared nanoseconds; the smallest where none is."""
    return max((rung for rung, unit in enumerate(RUNGS) if unit * unit <= squared), default=0)


def rung_used(squared: Fraction, records: int, k: int, finest: int, coarsest: int) -> int:
    """The unit of a column by the rule: `squared` are the squared distances inside its groups."""
    return max(finest, min(coarsest, rung_below(squared / (records * k))))


def fraction_of(rung: int) -> int:
    """How many digits after the second a unit needs."""
    return max(0, 9 - 3 * rung)
