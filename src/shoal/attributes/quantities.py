"""Numbers that are not quantities: counters, dates, codes, and marks for "missing".

A group gets the mean of its numbers. That says something of ages and of incomes. It says nothing of a region's
number, of a date written as 19680401, of -9 for "not known", or of a row's number. What can be told from the
different numbers of a column, from how often each occurs, and from the column's name is told before records are
grouped. The numbers are added some at a time; how they were divided makes no difference.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import lgamma, log
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.numbers import Fixed, Numbers
from shoal.errors import typed
from shoal.files.words import numbering_words, parts_of

Int = NDArray[np.int64]
Kind = Literal["counter", "date", "time", "place", "code", "mark"]

MOST = 1 << 16
"""So many different numbers of a column are held; of more, those at its ends."""

LEAST = 10
"""Fewer records than these show nothing."""

_ENDS = 64  # different numbers at either end that are always known
_BY_CHANCE = -7.0  # the logarithm of a probability that is none
_EARLIEST, _LATEST = 1850, 2100  # years

_PLACES = {"zip", "zipcode", "post", "postcode", "postal", "postalcode", "plz", "postleitzahl"}
_CODES = (
    "code region sex gender race ethnicity ethnic occupation occ industry sector naics sic isco nace icd drg "
    "department dept district county state country province municipality fips statefip countyfip nationality "
    "citizenship language religion relationship marital type diagnosis procedure hospital ward clinic school "
    "branch site party brand workclass id key"
)
_STATUS_OF = {"marital", "civil", "employment", "work", "job", "account", "loan", "order", "vital", "insurance"}
_BEFORE = {"of", "in", "at", "to", "by", "for", "since", "per", "from"}
_AMOUNTS = {
    "years",
    "days",
    "months",
    "hours",
    "age",
    "n",
    "number",
    "count",
    "total",
    "mean",
    "distance",
    "share",
}
_TIMES = {"timestamp", "unix", "epoch", "posix", "ts", "datetime", "date", "time"}


@dataclass(frozen=True)
class Finding:
    """Why the numbers of a column are no quantities, and what to do about it.

    `asks` is the kind of attribute that suits them better, and `marks` are the numbers that mean something else.
    """

    kind: Kind
    reason: str
    cure: str
    asks: str = ""
    marks: tuple[str, ...] = ()


class Tally:
    """The different numbers of a column and how often each occurs; of too many, those at the ends."""

    def __init__(self, most: int = MOST) -> None:
        self.most, self._ends = most, min(_ENDS, most // 2)
        self.records = 0
        self.values: NDArray[Any] = np.empty(0, np.int64)
        self.counts: Int = np.empty(0, np.int64)
        self.complete = True
        self.all_different = True
        """Whether no number occurs twice, among the first records at least where there are more than are held."""

    @property
    def distinct(self) -> int:
        """How many different numbers there are, or as many as are held."""
        return len(self.values) if self.complete else self.most

    def add(self, numbers: NDArray[Any]) -> None:
        """Some more records."""
        start = 0
        while start < len(numbers):
            # One step ends where as many records are known as are held, whatever the parts that they come in.
            left = self.most - self.records
            part = numbers[start : start + (left if left > 0 else self.most)]
            self._add(part)
            start += len(part)

    def _add(self, numbers: NDArray[Any]) -> None:
        watched = self.records < self.most
        self.records += len(numbers)
        if not self.complete:
            numbers = numbers[(numbers <= self.values[self._ends - 1]) | (numbers >= self.values[-self._ends])]
        values, counts = np.unique(numbers, return_counts=True)
        if len(self.values):
            values, place = np.unique(np.concatenate([self.values, values]), return_inverse=True)
            counts = np.bincount(place, np.concatenate([self.counts, counts])).astype(np.int64)
        self.values, self.counts = values, counts
        if watched:
            self.all_different = len(values) == self.records
        if len(values) > self.most or not self.complete:
            self.complete = False
            self.values = np.concatenate([values[: self._ends], values[-self._ends :]])
            self.counts = np.concatenate([counts[: self._ends], counts[-self._ends :]])


@dataclass(frozen=True, eq=False)
class Shown:
    """What is known of the numbers of a column."""

    tally: Tally
    values: NDArray[Any]  # the numbers of the tally as they are in the column
    whole: bool  # whole numbers
    exact: bool = True  # whole numbers of some unit, not floats
    width: int = 0  # digits, where codes are filled with zeros

    @classmethod
    def of(cls, parts: Iterable[Numbers]) -> "Shown | None":
        """From the numbers of a column, in parts; None for true and false."""
        tally = Tally()
        for part in parts:
            if not isinstance(part, Fixed) or part.offsets.dtype == object:
                tally.add(part.floats())
            elif part.kind == "boolean":
                return None
            else:
                tally.add(part.offsets)
        if not isinstance(part, Fixed):
            return cls(tally, tally.values, False, False)
        if part.offsets.dtype == object:
            return cls(tally, tally.values, part.decimals == 0, False, part.width)
        values = tally.values.astype(object) + part.origin
        if part.decimals:
            return cls(tally, (values / 10**part.decimals).astype(np.float64), False)
        fits = max(-values[0], values[-1]) < 2**62
        return cls(tally, values.astype(np.int64 if fits else object), True, width=part.width)


def warning_of(name: str, parts: Iterable[Numbers]) -> str | None:
    """Why a quasi-identifier does not look like a quantity and what to do about it, or None."""
    found = finding_of(name, parts)
    return None if found is None else f"quasi-identifier {name!r} {found.reason}; {found.cure}"


def finding_of(name: str, parts: Iterable[Numbers]) -> Finding | None:
    """Why the numbers of a quasi-identifier are no quantities, or None."""
    shown = Shown.of(parts)
    return None if shown is None else finding_in(name, shown)


def finding_in(name: str, shown: Shown) -> Finding | None:
    """The same from what is known of the numbers."""
    if shown.tally.records < LEAST or len(shown.values) < 3:
        return None
    looks = as_date(name, shown) or as_counter(shown) or as_code(name, shown) or as_marks(name, shown)
    return looks or as_blocks(name, shown)


# Counters.


def as_counter(shown: Shown) -> Finding | None:
    """Numbers that are all different, with hardly one left out: they count the records or name them."""
    tally = shown.tally
    if not shown.exact or not tally.all_different:
        return None
    step = int(np.gcd.reduce(np.diff(tally.values)))
    slots = (int(tally.values[-1]) - int(tally.values[0])) // max(1, step) + 1
    seen = min(tally.records, tally.most)
    if not seen <= slots <= 2 * tally.records or chance_of_no_repeat(seen, slots) > _BY_CHANCE:
        return None
    first = ", ".join(map(plain, shown.values[:3]))
    if seen < tally.records:
        why = f"the first {seen} numbers are different, and few between the lowest and the highest can be left out"
    elif slots == tally.records:
        why = "all numbers are different and evenly spaced"
    else:
        why = "all numbers are different, and few between them are left out"
    return Finding(
        "counter",
        f"looks like a counter ({first} ...): {why}",
        "it names the records, and its means say nothing; drop it (-i, identifiers)",
    )


def chance_of_no_repeat(records: int, slots: int) -> float:
    """The logarithm of the probability that as many draws out of so many numbers are all different."""
    return lgamma(slots + 1) - lgamma(slots - records + 1) - records * log(slots)


# Dates.


@dataclass(frozen=True)
class Layout:
    """A way to write a date as a whole number: where its parts stand, and how likely it is by chance."""

    name: str
    year: tuple[int, int]  # divide by, then take the rest of
    month: tuple[int, int] | None
    day: tuple[int, int] | None
    chance: float
    low: int
    asks: str = ""  # the kind of attribute that reads such dates

    def valid(self, values: Int) -> NDArray[np.bool_]:
        """Which numbers are dates."""
        year = taken(values, self.year) + (1900 if self.year[1] == 100 else 0)
        month = taken(values, self.month) if self.month else np.ones_like(values)
        day = taken(values, self.day) if self.day else np.ones_like(values)
        longest = (_DAYS[np.clip(month, 0, 12)] if self.month else 366) if self.day else 1
        fine = (values >= self.low) & (year >= _EARLIEST) & (year <= _LATEST) & (month >= 1) & (month <= 12)
        return np.asarray(fine & (day >= 1) & (day <= longest))


_NO_DATES = [0, *(int(digit * width) for digit in "789" for width in range(2, 9))]  # dates that nobody knows
_DAYS = np.array([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_LAYOUTS = (
    Layout("YYYYMMDD", (10**4, 10**4), (100, 100), (1, 100), 0.037, 18500101, "date"),
    Layout("DDMMYYYY", (1, 10**4), (10**4, 100), (10**6, 100), 0.003, 1011850, "date:%d%m%Y"),
    Layout("MMDDYYYY", (1, 10**4), (10**6, 100), (10**4, 100), 0.003, 1011850, "date:%m%d%Y"),
    Layout("YYMMDD", (10**4, 100), (100, 100), (1, 100), 0.037, 10101, "date:%y%m%d"),
    Layout("YYYYMM", (100, 10**4), (1, 100), None, 0.12, 185001),
    Layout("YYYYDDD", (1000, 10**4), None, (1, 1000), 0.37, 1850001),
)


def taken(values: Int, part: tuple[int, int]) -> Int:
    """Some digits of whole numbers."""
    return np.asarray(values // part[0] % part[1])


def as_date(name: str, shown: Shown) -> Finding | None:
    """Dates written as whole numbers, or seconds since 1970 where the name says so."""
    values = shown.values
    if set(parts_of(name)) & _TIMES and is_time(values[0], values[-1]):
        return Finding(
            "time",
            f"looks like points in time, counted from 1970 (such as {plain(values[0])})",
            "write them such as 2024-01-31 13:45, so that groups get moments that are rounded, or drop it "
            "(-i, identifiers)",
        )
    if not shown.whole or not shown.tally.complete or values[0] < 0 or values[-1] > 10**8:
        return None
    unknown = np.isin(values, _NO_DATES)
    candidates, marks = values[~unknown].astype(np.int64), tuple(map(plain, values[unknown]))
    for layout in _LAYOUTS:
        if len(candidates) < 3 or candidates[-1] >= 10 ** len(layout.name):
            continue
        valid = layout.valid(candidates)
        if valid.mean() < 0.98 or len(candidates) * log(layout.chance) > log(1e-6):
            continue
        if layout.chance > 0.1 and len(np.unique(taken(candidates[valid], layout.year))) < 2:
            continue
        example = f"{candidates[valid][0]:0{len(layout.name)}d}"
        reason = f"looks like dates written as numbers ({layout.name}, such as {example})"
        said = f"say {typed('--kind', name, layout.asks)}" if layout.asks else "turn it into a year"
        more = f" {typed('--gap-values', name, ','.join(marks))}" if layout.asks and marks else ""
        cure = f"{said}{more}, or drop it (-i, identifiers)"
        return Finding("date", f"{reason}: the mean of two dates is often no date", cure, layout.asks, marks)
    return None


def is_time(low: float, high: float) -> bool:
    """Whether numbers are seconds or milliseconds since 1970, from 1973 to 2100."""
    return any(1e8 * unit <= low and high <= 4.2e9 * unit for unit in (1, 1000))


# Codes.


def as_code(name: str, shown: Shown) -> Finding | None:
    """Numbers that stand for something else, by their name or by leading zeros."""
    if not shown.whole or any(value < 0 and not is_mark(value) for value in shown.values[:_ENDS]):
        return None
    parts = head_of(name)
    example = ends_of(shown)
    if is_place(parts) and shown.values[-1] >= 100:
        return Finding(
            "place",
            f"looks like codes of places (such as {example}): Shoal takes near codes for near places, "
            "and the mean of a group may be no real code",
            f"say {typed('--prefix', name, '1,2')} if codes that begin alike are near, or "
            f"{typed('--kind', name, 'nominal')} to take them for categories, or drop it (-i, identifiers); "
            "else do not look up released codes",
            "nominal",
        )
    if is_called_code(parts):
        why = f"called {parts[-1]!r}, such as {example}"
    elif shown.width:
        why = f"filled with zeros, such as {example}"
    else:
        return None
    return code(name, why)


def as_blocks(name: str, shown: Shown) -> Finding | None:
    """Codes by how they lie, whatever their name."""
    if not shown.whole or not lies_in_blocks(shown.tally):
        return None
    return code(name, f"a few numbers that all occur often, in blocks, such as {ends_of(shown)}")


def code(name: str, why: str) -> Finding:
    """The numbers stand for something else."""
    return Finding(
        "code",
        f"looks like codes ({why}): the mean of codes is another code or none",
        f"say {typed('--kind', name, 'nominal')} to take them for categories, or drop it (-i, identifiers)",
        "nominal",
    )


def ends_of(shown: Shown) -> str:
    """The lowest and the highest code, as they are written."""
    return " and ".join(f"{int(shown.values[end]):0{shown.width}d}" for end in (0, -1))


def head_of(name: str) -> list[str]:
    """The words that say what a column is: those before a preposition, as in `days_in_hospital`."""
    parts = parts_of(name)
    return parts[: next((place for place, part in enumerate(parts) if part in _BEFORE and place), len(parts))]


def is_place(parts: Sequence[str]) -> bool:
    """Whether a column is called a postcode."""
    return bool(parts) and (parts[-1] in _PLACES or (parts[-1] == "code" and bool(_PLACES & set(parts))))


def is_called_code(parts: Sequence[str]) -> bool:
    """Whether the last word of a name says that the numbers stand for something; not so in `state_tax`."""
    if not parts or _AMOUNTS & set(parts[:-1]):
        return False
    if parts[-1] == "status":
        return len(parts) == 1 or parts[-2] in _STATUS_OF
    return parts[-1] in _CODES.split() or parts[-1].endswith("code") or numbering_words(parts) is not None


def lies_in_blocks(tally: Tally) -> bool:
    """Whether a few numbers, each of them frequent, stand in blocks such as 11, 12, 21, 22, 31, 32.

    Quantities have rare values at their ends, and heaps at round numbers rather than side by side.
    """
    values, counts = tally.values, tally.counts
    if not tally.complete or not 6 <= len(values) <= 100 or counts.min() < max(5, tally.records // 500):
        return False
    gaps = np.diff(values)
    blocks = np.split(values, np.flatnonzero(gaps > 1) + 1)
    long = sum(len(block) > 1 for block in blocks)
    return bool(long >= 2 and long * 2 > len(blocks) and (gaps > 2).any() and 4 * len(values) < 3 * np.ptp(values))


# Marks.


def as_marks(name: str, shown: Shown) -> Finding | None:
    """Numbers such as -9 or 999 at an end of the column, repeated and far from all others."""
    values, counts = shown.values, shown.tally.counts
    for sign, outward, often, far in (
        (1, values[::-1][:_ENDS], counts[::-1][:_ENDS], values[0]),
        (-1, -values[:_ENDS], counts[:_ENDS], -values[-1]),
    ):
        if number := marks_at(outward, often, float(far), sign):
            marks = tuple(plain(sign * value) for value in outward[:number])
            rest = sorted((sign * float(outward[number]), sign * float(far)))
            return Finding(
                "mark",
                f"holds {' and '.join(marks)} in {int(often[:number].sum())} records, far from all others "
                f"({plain(rest[0])} to {plain(rest[1])}): that looks like a mark for 'missing' or for 'more', "
                "and the mean of a group with it says nothing",
                f"say {typed('--gap-values', name, ','.join(marks))} if it means that a value is missing, or put "
                "numbers in its place",
                marks=marks,
            )
    return None


def marks_at(outward: NDArray[Any], often: Int, far: float, sign: int) -> int:
    """How many of the outermost numbers are marks; `outward` falls, and `far` is the other end."""
    count = 0
    while count < min(5, len(outward) - 3) and is_mark(sign * outward[count]):
        count += 1
    for number in range(count, 0, -1):
        if often[:number].max() < 2:
            continue
        gap, spread = outward[number - 1] - outward[number], outward[number] - far
        inner = float(np.max(outward[number:-1] - outward[number + 1 :]))
        nines = set(digits_of(outward[number - 1])) == {"9"} and often[:number].max() > 2
        several = len(digits_of(outward[number - 1])) > 1
        if several and (gap > spread or (nines and gap >= 10 * inner)):
            return number
        if sign < 0 and are_only_negatives(outward, often, number):
            return number
    return 0


def are_only_negatives(outward: NDArray[Any], often: Int, number: int) -> bool:
    """Whether the marks are the only negative numbers; -1 alone must be frequent or stand apart."""
    if outward[number - 1] <= 0 or outward[number] > 0:
        return False
    if outward[0] > 1:
        return True
    lowest, highest = -outward[number], -outward[-1]
    return bool(highest >= 10 and (lowest > 1 or often[0] > often[number]))


def is_mark(value: float) -> bool:
    """Whether a number is one that people write for a missing one: -1, -9, -99, 99, 998, 9999, 99.9 ..."""
    digits = digits_of(value)
    if value < 0 and len(digits) == 1:
        return digits in "1789"
    return bool(re.fullmatch(r"9{2,}|8{2,}|7{2,}|9+[78]", digits))


def digits_of(value: float) -> str:
    """The digits of a number without sign and point."""
    return plain(abs(value)).replace(".", "")


def plain(value: float) -> str:
    """A number as people write it."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))
