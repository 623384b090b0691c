"""Times of day: a circle, on which 23:50 and 00:10 are 20 minutes apart.

A time t of a day of 24 hours stands at the angle 2 pi t / 24 on a circle whose circumference is 24 hours. Its
radius is 24 / (2 pi) = 3.82 hours, so a short arc is about as long as the time between its ends, and the
distance of two times is the chord between them: 2 r sin(pi d / 24) for d hours. There are two coordinates, r
cos and r sin, and all are divided by one number. With z-scores it is the square root of the sum of both
variances; with "range" the longest chord between two times of the column (a circle has no lowest and highest);
"robust" is as z-scores, because there are no quartiles either; with "none" a distance of 1 is an hour.

The common value of a group is its mean direction, the angle of (sum of cos, sum of sin), rounded to a unit of
`shoal.attributes.ladder` up to an hour. Where both sums are about 0 there is no such angle: 06:00 and 18:00.
All members are then equally far from each other in sum, and the value is that of the record that minimises the
summed squared distances, of several the first one. The median is the member with the least sum of arcs to all
others, the earliest of several. The mode is the most frequent time, the earliest of several. An interval is the
shortest arc that holds the group, such as 23:50 to 00:10, and counts as its middle in the loss.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import fsum, pi, sin, sqrt
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.base import (
    Attribute,
    Chunks,
    Digits,
    Gathering,
    Kept,
    Kind,
    Profile,
    Settle,
    Squares,
    Stored,
    Wish,
)
from shoal.attributes.common_values import CommonValues, refuse_aggregate
from shoal.attributes.ladder import DAY, HOUR, HOURS, RUNGS, SECOND, rung_name, rung_used
from shoal.attributes.moment_attribute import AGGREGATES, modes_of
from shoal.attributes.moment_stream import MomentGathering, codes_of
from shoal.attributes.moment_texts import looks_like
from shoal.attributes.moments import A_TIME, Form, MomentValues, family_of, texts_in
from shoal.attributes.quantities import LEAST, Tally
from shoal.attributes.rounding import sum_of_squares
from shoal.attributes.weighing import Weights, counting, means, products, running, weighted_squares
from shoal.parameters import Aggregate, Scaling
from shoal.table import Column

Float = NDArray[np.float64]
Int = NDArray[np.int64]

RADIUS = 24 / (2 * pi)
"""Of the circle, in hours."""

_NOWHERE = 1e-9  # a mean direction is none if it is so near to the centre, as a share of the radius


def on_circle(times: NDArray[Any]) -> Float:
    """The points of times in nanoseconds after midnight, in hours."""
    angles = times * (2 * pi / DAY)
    return RADIUS * np.column_stack([np.cos(angles), np.sin(angles)])


def directions(times: Int, order: Int, starts: Int, counts: Weights | None = None) -> Float:
    """The mean direction of each group in nanoseconds; the first member where there is none."""
    middle = means(on_circle(times) / RADIUS, order, starts, counts)
    found = np.arctan2(middle[:, 1], middle[:, 0]) * (DAY / (2 * pi)) % DAY
    nowhere = np.hypot(middle[:, 0], middle[:, 1]) < _NOWHERE
    return np.where(nowhere, times[order[starts[:-1]]].astype(np.float64), found)


def medians(times: Int, order: Int, starts: Int, counts: Weights | None = None) -> Int:
    """The member of each group with the least sum of arcs to the others, the earliest of several."""
    parts = np.split(times[order], starts[1:-1])
    if counts is None:
        return np.array([median_of(np.sort(part)) for part in parts], np.int64)
    found = []
    for part, often in zip(parts, np.split(counts, starts[1:-1]), strict=True):
        ranked = np.argsort(part, kind="stable")
        found.append(median_of(part[ranked], often[ranked]))
    return np.array(found, np.int64)


def median_of(times: Int, counts: Weights | None = None) -> int:
    """The same of one group, whose times rise and count so often.

    From each member on, the others lie within half a day after it or within half a day before it. The sums of both
    halves come from running sums over two days.
    """
    n = len(times)
    whole = n if counts is None else sum(counts.tolist())
    around = np.concatenate([times, times + DAY])
    summands: NDArray[Any] = around
    records: NDArray[Any] = np.arange(2 * n + 1)
    if counts is not None:
        often = np.concatenate([counts, counts])
        records, summands = running(often), products(around, often)
    if whole * DAY >= 2**60:
        records, summands = records.astype(object), summands.astype(object)
    total = np.concatenate([[0], np.cumsum(summands)])
    own = np.arange(n)
    half = np.searchsorted(around, times + DAY // 2, side="right")
    after = total[half] - total[own] - (records[half] - records[own]) * times
    before = (records[own + n] - records[half]) * (times + DAY) - (total[own + n] - total[half])
    return int(times[np.argmin(after + before)])


def arcs(times: Int, order: Int, starts: Int) -> tuple[Int, Int]:
    """The first and the last time of the shortest arc around each group; of several, the one that begins first."""
    ends = []
    for part in np.split(times[order], starts[1:-1]):
        different = np.unique(part)
        gaps = np.diff(different, append=different[0] + DAY)
        widest = np.flatnonzero(gaps == gaps.max())
        firsts = (widest + 1) % len(different)
        place = int(widest[firsts.argmin()])
        ends.append((different[(place + 1) % len(different)], different[place]))
    first, last = np.array(ends, np.int64).reshape(-1, 2).T
    return first, last


def longest_chord(chunks: Iterable[Int]) -> float:
    """The longest distance between two times, in hours; those of one second are known by their ends only."""
    low, high = np.full(DAY // SECOND, DAY), np.full(DAY // SECOND, -1)
    for times in chunks:
        np.minimum.at(low, times // SECOND, times)
        np.maximum.at(high, times // SECOND, times)
    known = np.unique(np.concatenate([low[low < DAY], high[high >= 0]]))
    around = np.concatenate([known - DAY, known, known + DAY])
    place = np.searchsorted(around, known + DAY // 2)
    beside = np.stack([around[place - 1], around[place]]) - known
    longest = int(np.minimum(beside % DAY, -beside % DAY).max())
    return 2 * RADIUS * sin(pi * longest / DAY)


@dataclass(frozen=True)
class ClockKept(Kept):
    """Nanoseconds after midnight; the spread is in hours."""

    kind = "time-of-day"

    form: Form = A_TIME
    finest: int = 1  # the unit that all times are whole numbers of, in nanoseconds

    dtype = np.dtype(np.int64)

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Self:
        """JSON has no classes."""
        return cls(**{**given, "form": Form.from_dict(given["form"])})

    @property
    def width(self) -> int:
        """Two."""
        return 2

    def overall(self, middle: Float) -> Float:
        """On the circle, in the direction of the mean; anywhere where there is none."""
        length = float(np.hypot(*middle))
        radius = RADIUS / self.spread
        return np.array([radius, 0.0]) if length < _NOWHERE * radius else middle * (radius / length)

    def scaled(self, scaling: Scaling, chunks: Chunks, alone: bool) -> Self:
        """From the variances of both coordinates, or the longest chord."""
        parts = [np.concatenate(list(chunks()))] if alone else None

        def points() -> Iterable[Float]:
            return map(on_circle, chunks() if parts is None else parts)

        ends = [(int(part.min()), int(part.max()), len(part)) for part in chunks()]
        n = sum(count for _, _, count in ends)
        if min(low for low, _, _ in ends) == max(high for _, high, _ in ends):
            return replace(self, is_constant=True)
        sums = [part.sum(axis=0) for part in points()]
        mean = np.array([fsum(part[axis] for part in sums) for axis in (0, 1)]) / n
        variance = fsum(float(np.square(part - mean).sum()) for part in points()) / n
        spread = {"range": longest_chord(chunks()), "none": 1.0}.get(scaling, sqrt(variance))
        made = replace(self, spread=spread)
        overall = made.overall(mean / spread) * spread
        lost = fsum(float(np.square(part - overall).sum()) for part in points())
        return replace(made, sst=lost / spread**2)

    def along(self, stored: Stored) -> Float:
        """Hours after midnight."""
        return stored / HOUR

    @property
    def stretch(self) -> float:
        """By the spread and the weight of the whole column."""
        return 0.0 if self.is_constant else self.weight / self.spread**2

    def attribute(self, stored: Stored) -> "ClockAttribute":
        """Some records on the scale of all."""
        return ClockAttribute(
            self.name, self.weight, self.is_constant, stored, self.spread, self.form, self.finest
        )

    def codes(self, common: CommonValues) -> Stored:
        """Nanoseconds after midnight."""
        return codes_of(self.name, common)

    def values(self, codes: Stored) -> CommonValues:
        """Common values as they were."""
        return self.bare().at(codes)

    def bare(self) -> "ClockAttribute":
        """The attribute without its records."""
        return self.attribute(np.zeros(0, np.int64))

    def warning(self, chunks: Chunks) -> str | None:
        """Midnights that nobody knows."""
        return warning_of_times(self.name, chunks())


@dataclass(frozen=True, eq=False)
class ClockAttribute(Attribute):
    """Times of day of some records."""

    name: str
    weight: float
    is_constant: bool
    times: Int
    spread: float
    form: Form
    finest: int

    @property
    def kind(self) -> str:
        """What its kind is called."""
        return "time-of-day"

    def coordinates(self) -> Float:
        """Two columns."""
        return on_circle(self.times) / self.spread

    def at(self, times: Int, last: Int | None = None) -> MomentValues:
        """Times as common values, or the ends of arcs; the raw values are nanoseconds."""
        middle = times.astype(np.float64)
        if last is not None:
            middle = (middle + (last - times) % DAY / 2) % DAY
        return MomentValues(self.form, 1, times, middle, middle / HOUR, last)

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
            raise refuse_aggregate(self.name, "a time of day", aggregate, AGGREGATES)
        if aggregate == "interval":
            return self.at(*arcs(self.times, order, starts))
        order, starts, counts = counting(order, starts, weights)
        if aggregate == "mode":
            return self.at(modes_of(self.times, order, starts, counts))
        unit = self.finest if exact or digits is None else max(self.finest, RUNGS[digits])
        steps = np.rint(self._middles(order, starts, aggregate, counts) / unit)
        return self.at(steps.astype(np.int64) * unit % DAY)

    def _middles(
        self, order: Int, starts: Int, aggregate: Aggregate, counts: Weights | None = None
    ) -> NDArray[Any]:
        return (medians if aggregate == "median" else directions)(self.times, order, starts, counts)

    def squared_errors(
        self, common: CommonValues, labels: Int, weights: Weights | None = None
    ) -> tuple[float, float]:
        """Squared chords from the values as released, rounding included."""
        if self.is_constant:
            return 0.0, 0.0
        original = self.coordinates()
        error = original - self.placed(common)[labels]
        every = np.arange(len(self.times))
        overall = directions(self.times, *counting(every, np.array([0, len(every)]), weights))
        deviation = original - on_circle(overall) / self.spread
        return weighted_squares(error, weights), weighted_squares(deviation, weights)

    def placed(self, common: CommonValues) -> Float:
        """The values as released, scaled."""
        return on_circle(common.raw) / self.spread

    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """A histogram of the hours of the day."""
        return Profile(self.name, self.times / HOUR, common.floats()[labels], unit="hour of the day")

    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """Squared chords to the common values before they are rounded, in hours."""
        if aggregate not in ("mean", "median"):
            return 0.0, 0
        middles = on_circle(self._middles(order, starts, aggregate))
        errors = on_circle(self.times)[order] - np.repeat(middles, np.diff(starts), axis=0)
        same = self.times[order] == np.repeat(self.times[order[starts[:-1]]], np.diff(starts))
        alike = np.repeat(np.logical_and.reduceat(same, starts[:-1]), np.diff(starts))
        return sum_of_squares(np.where(alike, 0.0, np.hypot(errors[:, 0], errors[:, 1])), starts)

    def digits_used(self, asked: Digits, squares: Fraction, records: int, k: int) -> dict[str, int | None]:
        """The place of the unit in the ladder; nothing where it is that of the column."""
        rung = rung_used(squares * HOUR**2, records, k, 0, HOURS)
        return {self.name: rung} if RUNGS[rung] > self.finest else {}

    def digits_said(self, digits: int | None) -> str | None:
        """The unit that values are whole numbers of."""
        return None if digits is None else rung_name(digits)

    def warning(self) -> str | None:
        """Midnights that nobody knows."""
        return warning_of_times(self.name, [self.times])


def warning_of_times(name: str, parts: Iterable[Int]) -> str | None:
    """00:00 in many records."""
    tally = Tally()
    for part in parts:
        tally.add(part)
    if tally.records < LEAST or len(tally.values) < 3 or tally.values[0]:
        return None
    count, others = int(tally.counts[0]), int(tally.counts[1:].max())
    if count < 3 * others or count < 3:
        return None
    return (
        f"quasi-identifier {name!r} holds 00:00 in {count} records, far more often than any other time: that "
        "looks like a mark for 'not known'; mark those records as missing"
    )


class ClockGathering(MomentGathering):
    """Times of day."""

    kind = family = "time-of-day"

    def kept(self, weight: float, chunks: Chunks) -> tuple[ClockKept, Settle]:
        """Every time in nanoseconds after midnight."""
        found = self.found()
        finest = min(found.finest, HOUR)

        def settle(stored: Stored, start: int) -> Stored:
            return np.asarray((found.settle(stored, start) + found.low) * found.tick)

        return ClockKept(self.name, weight, form=found.form, finest=finest), settle


class TimeOfDay(Kind):
    """Columns of times of day."""

    name = "time-of-day"
    kept = ClockKept

    def takes(self, column: Column) -> bool:
        """Its type, or text such as 13:45 or 13:45:10."""
        texts = texts_in(column)
        return looks_like(texts, "time-of-day") if texts is not None else family_of(column) == "time-of-day"

    def gathering(self, name: str, wish: Wish) -> Gathering:
        """A column that comes in parts."""
        return ClockGathering(name, wish)
