"""Dates, points in time and durations as an attribute: one coordinate, as a column of whole numbers has it.

The coordinate is the number of ticks above the lowest moment, in steps of their greatest common divisor,
centred and divided by the spread of the scaling. Sums of ticks are exact. With the scaling "none" a distance of
1 is a day between dates or points in time, and an hour between durations.

The common value of a group is its mean or its median, rounded to a unit of `shoal.attributes.ladder`, a tie to
the even multiple: to days for dates, else to the unit that the spread inside the groups justifies. Hours and
days are those of the clocks of the column's zone. No value is below the lowest moment of the column or above
the highest. The mode is the most frequent moment, the earliest of several. An interval goes from the first
moment of the group to the last one, and counts as its middle in the loss.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.base import Attribute, Digits, Profile, Squares
from shoal.attributes.common_values import CommonValues, refuse_aggregate
from shoal.attributes.grouped import modes
from shoal.attributes.ladder import DAY, DAYS, HOUR, MINUTE, RUNGS, SECOND, rung_name, rung_used
from shoal.attributes.layouts import civil
from shoal.attributes.moments import A_DATE, Form, MomentValues, instants_of, offsets_of
from shoal.attributes.numbers import Fixed
from shoal.attributes.numeric_attribute import NumericAttribute
from shoal.attributes.quantities import LEAST, Tally
from shoal.attributes.rounding import nearest_even, round_units
from shoal.attributes.weighing import Weights, counting
from shoal.parameters import Aggregate

Float = NDArray[np.float64]
Int = NDArray[np.int64]

AGGREGATES: tuple[Aggregate, ...] = ("mean", "median", "mode", "interval")

_LONG = 2 * 365 * DAY  # a column that spans this is drawn by years
_MARKS = {
    (1, 1, 1), (1753, 1, 1), (1800, 1, 1), (1899, 12, 30), (1899, 12, 31), (1900, 1, 1), (1901, 1, 1),
    (1970, 1, 1), (2099, 12, 31), (2199, 12, 31), (2999, 12, 31), (3000, 1, 1), (9999, 1, 1), (9999, 9, 9),
    (9999, 12, 31),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Moments(Fixed):
    """Ticks of a column: record i has origin + offsets[i]."""

    form: Form = A_DATE
    tick: int = DAY  # in nanoseconds
    finest: int = DAY  # the unit that all moments are whole numbers of, in nanoseconds

    @property
    def unit(self) -> float:  # type: ignore[override]
        """One step in days, or in hours for durations."""
        return float(self.exact_unit)

    @property
    def exact_unit(self) -> Fraction:
        """The same without rounding."""
        return Fraction(self.step * self.tick, HOUR if self.form.family == "duration" else DAY)

    def common(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None = None,
        counts: Weights | None = None,
    ) -> MomentValues:
        """The mean or median of each group, in whole numbers of a unit; `digits` is its place in the ladder."""
        total, parts = self._middles(order, starts, aggregate, counts)
        unit = self.finest if exact or digits is None else max(self.finest, RUNGS[digits])
        return self.at(self._rounded(total, parts, unit // self.tick))

    def at(self, above: Int, last: Int | None = None) -> MomentValues:
        """Ticks above the origin as common values, or the ends of intervals."""
        middle = above.astype(np.float64) if last is None else (above + last.astype(np.float64)) / 2
        ends = None if last is None else self.origin + last
        drawn = self.shown(middle)[0]
        return MomentValues(self.form, self.tick, self.origin + above, middle / self.step, drawn, ends)

    def modes(self, order: Int, starts: Int, counts: Weights | None = None) -> MomentValues:
        """The most frequent moment of each group, the earliest of several."""
        return self.at(modes_of(self.offsets, order, starts, counts))

    def intervals(self, order: Int, starts: Int) -> MomentValues:
        """From the first moment of each group to the last one."""
        values = self.offsets[order]
        return self.at(np.minimum.reduceat(values, starts[:-1]), np.maximum.reduceat(values, starts[:-1]))

    def _rounded(self, total: NDArray[Any], parts: NDArray[Any], step: int) -> Int:
        """The multiples of a step of ticks that are nearest to the middles of groups, above the origin."""
        highest = int(self.offsets.max()) if self.highest is None else self.highest
        zone = self.form.zone
        if zone is None or step * self.tick < HOUR:
            return np.asarray(round_units(total, parts, self.origin, highest, step).astype(np.int64))
        base, above = divmod(self.origin, step)
        beside = self.origin + (total // parts).astype(np.int64)
        shifts = offsets_of(beside, self.tick, zone).astype(object) * (SECOND // self.tick)
        wide = parts.astype(object)
        steps = nearest_even(total.astype(object) + (shifts + above) * wide, wide * step, base)
        walls = ((steps + base) * step).astype(np.int64)
        found = instants_of(walls, self.tick, zone) - self.origin
        walls = walls + step * ((found < 0).astype(np.int64) - (found > highest))
        return np.asarray(np.clip(instants_of(walls, self.tick, zone) - self.origin, 0, highest))

    def shown(self, above: Float) -> tuple[Float, str, str]:
        """Ticks above the origin as a report draws them, what they count, and from which moment on."""
        highest = (self.highest or 0) * self.tick
        if self.form.family == "duration":
            size = max(abs(self.origin * self.tick), abs(self.origin * self.tick + highest))
            unit, word = drawn_unit(size)
            return (self.origin + above) * (self.tick / unit), word, ""
        if highest >= _LONG:
            return decimal_years((self.origin + above) * (self.tick / DAY)), "year", ""
        unit, word = drawn_unit(highest)
        return above * (self.tick / unit), word, self.form.texts(np.array([self.origin]), self.tick)[0]


def drawn_unit(size: int) -> tuple[int, str]:
    """The unit that a length of time is drawn in."""
    units = ((3 * DAY, DAY, "days"), (3 * HOUR, HOUR, "hours"), (3 * MINUTE, MINUTE, "minutes"))
    return next(((unit, word) for least, unit, word in units if size >= least), (SECOND, "seconds"))


def decimal_years(days: Float) -> Float:
    """Days from 1970-01-01 on as years such as 1970.5."""
    year = civil(np.floor(days).astype(np.int64))[0]
    starts, ends = ((year - 1970 + more).astype("datetime64[Y]").astype("datetime64[D]") for more in (0, 1))
    begin = starts.astype(np.int64)
    return np.asarray(year + (days - begin) / (ends.astype(np.int64) - begin))


def modes_of(values: Int, order: Int, starts: Int, counts: Weights | None = None) -> Int:
    """The most frequent value of each group, the lowest of several."""
    different, codes = np.unique(values, return_inverse=True)
    return np.asarray(different[modes(codes, order, starts, len(different), counts)])


@dataclass(frozen=True, eq=False)
class MomentAttribute(NumericAttribute):
    """A date, a point in time or a duration."""

    numbers: Moments

    @property
    def kind(self) -> str:
        """What its kind is called."""
        return self.numbers.form.family

    def common_values(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None,
        weights: Weights | None = None,
    ) -> CommonValues:
        """One of those that are named above."""
        if aggregate not in AGGREGATES:
            raise refuse_aggregate(self.name, f"a {self.kind}", aggregate, AGGREGATES)
        if aggregate == "interval":
            return self.numbers.intervals(order, starts)
        order, starts, counts = counting(order, starts, weights)
        if aggregate == "mode":
            return self.numbers.modes(order, starts, counts)
        return self.numbers.common(order, starts, aggregate, exact, digits, counts)

    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """A histogram by years, or by the time after the first moment where that is less than two years."""
        before, unit, start = self.numbers.shown(self.numbers.offsets.astype(np.float64))
        return Profile(self.name, before, common.floats()[labels], unit=unit, start=start)

    def check_digits(self, asked: Digits) -> None:
        """There are no digits."""
        Attribute.check_digits(self, asked)

    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """Of what is rounded: means and medians of moments that are finer than days."""
        if aggregate not in ("mean", "median") or self.numbers.form.family == "date":
            return 0.0, 0
        return self.numbers.squares(order, starts, aggregate)

    def digits_used(self, asked: Digits, squares: Fraction, records: int, k: int) -> dict[str, int | None]:
        """The place of the unit in the ladder; nothing where it is that of the column, as for dates."""
        if self.numbers.form.family == "date":
            return {}
        squared = squares * (self.numbers.step * self.numbers.tick) ** 2
        rung = rung_used(squared, records, k, 0, DAYS)
        return {self.name: rung} if RUNGS[rung] > self.numbers.finest else {}

    def digits_said(self, digits: int | None) -> str | None:
        """The unit that values are whole numbers of."""
        return None if digits is None else rung_name(digits)

    def warning(self) -> str | None:
        """What the moments show of themselves."""
        return warning_of_moments(self.name, [self.numbers])


# What an owner should know.


def warning_of_moments(name: str, parts: Iterable[Moments]) -> str | None:
    """Offsets that are lost, days that nobody knows, dates that stand for something else."""
    tally, first = Tally(), None
    for part in parts:
        tally.add(part.offsets)
        first = part
    if first is None:
        return None
    said = []
    if first.form.offsets:
        listed = ", ".join(first.form.offsets)
        said.append(f"has points in time with several offsets from UTC ({listed}); they are released in UTC")
    if first.form.family != "duration" and tally.records >= LEAST:
        said += [found for found in (as_whole_years(tally, first), as_marks(tally, first)) if found]
    return f"quasi-identifier {name!r} {'; it also '.join(said)}" if said else None


def civil_of(tally: Tally, moments: Moments) -> tuple[Int, Int, Int]:
    """The years, months and days of the different moments."""
    ticks = moments.origin + tally.values
    walls = ticks + offsets_of(ticks, moments.tick, moments.form.zone) * SECOND // moments.tick
    return civil(walls // (DAY // moments.tick))


def as_whole_years(tally: Tally, moments: Moments) -> str | None:
    """Dates that are all the first of a year or of a month."""
    if not tally.complete or len(tally.values) < 3 or moments.finest < DAY:
        return None
    _, month, day = civil_of(tally, moments)
    if (day > 1).any():
        return None
    known, cure = ("years", "year") if (month == 1).all() else ("months", "year and month")
    where = "1 January" if known == "years" else "the first of a month"
    return (
        f"has {where} in all records: probably only {known} are known, and the days of the release would say "
        f"more than that; put the {cure} in its place as numbers, or leave the days unread"
    )


def as_marks(tally: Tally, moments: Moments) -> str | None:
    """A date such as 1900-01-01 or 9999-12-31 at an end of the column, frequent or far from all others."""
    if len(tally.values) < 3:
        return None
    dates = list(zip(*(part.tolist() for part in civil_of(tally, moments)), strict=True))
    values, counts = tally.values, tally.counts
    others = {0: (values[1], values[-1], counts[1:]), -1: (values[0], values[-2], counts[:-1])}
    for end, (low, high, rest) in others.items():
        if dates[end] not in _MARKS or counts[end] < 2:
            continue
        gap = min(abs(int(values[end]) - int(low)), abs(int(values[end]) - int(high)))
        if gap > int(high) - int(low) or counts[end] >= max(3, 2 * int(rest.max())):
            shown = "{:04d}-{:02d}-{:02d}".format(*dates[end])
            return (
                f"holds {shown} in {int(counts[end])} records: that looks like a mark for 'missing', and the mean "
                "of a group with it says nothing; mark those records as missing"
            )
    return None
