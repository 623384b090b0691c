"""Two tables side by side: an original and what was released of it, column by column, as numbers or categories.

A measure of a pair is a function from a `Pair` to figures; `pair_measure` puts it on the list. It need not know
which tool made the release. Some measures need to know which released record is that of which person: they are
left out where rows are not matched, and that is said.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes import Wish, gaps_in
from shoal.measures.figures import Figure, Topic
from shoal.parameters import Progress
from shoal.privacy.coding import Coding, coded, dates_in, numbers_of
from shoal.privacy.counting import is_text
from shoal.table import Column

Float = NDArray[np.float64]
Int = NDArray[np.int64]

Role = Literal["quasi-identifier", "confidential", "other"]


LARGEST = 1e70  # of a number: products of two variances are numbers too


@dataclass(frozen=True, eq=False)
class PairColumn:
    """A column before and after.

    Attributes
    ----------
    name, role : of the column
    before, after : a number for each record, NaN for a gap; where there are `levels`, the number of the category
    levels : the categories by number, as text; none where it holds numbers or dates (days after 1970-01-01)
    ordered : whether the categories have an order, which is then that of their numbers
    unit : what the numbers count, where that is not said by the table
    """

    name: str
    role: Role
    before: Float
    after: Float
    levels: tuple[str, ...] = ()
    ordered: bool = False
    unit: str = ""

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, and not categories."""
        return not self.levels

    @property
    def is_measurable(self) -> bool:
        """Whether no number is infinite, or so large that squares cannot be summed."""
        return bool(measurable(self.before).all() and measurable(self.after).all())

    def rows(self, before: Int, after: Int) -> "PairColumn":
        """The same of some rows of both tables."""
        return replace(self, before=self.before[before], after=self.after[after])


@dataclass(frozen=True, eq=False)
class Pair:
    """An original table and what was released of it.

    Attributes
    ----------
    columns : those that both tables have
    groups : the group of each released record: those with the same released quasi-identifiers, from 0 on
    matched : whether row i of the original is the person of row i of the release
    weights : the sampling weight of each released record
    control : people who are not in the table, column by column, coded as `before` is
    population : everybody whom an attacker may think of, likewise, by quasi-identifiers at least
    seed : of what is drawn at random
    places : the row of the original table that each original record was, where it is known
    linked : where some records are matched and others are not, the pair of those that are; `matched` is false then
    """

    columns: tuple[PairColumn, ...]
    groups: Int
    matched: bool
    weights: Float | None = None
    control: Mapping[str, Float] = field(default_factory=dict)
    population: Mapping[str, Float] = field(default_factory=dict)
    seed: int = 0
    places: Int | None = None
    linked: "Pair | None" = None

    @property
    def quasi_identifiers(self) -> tuple[PairColumn, ...]:
        """The columns by which somebody could be recognised."""
        return tuple(column for column in self.columns if column.role == "quasi-identifier")

    @property
    def confidential(self) -> tuple[PairColumn, ...]:
        """The columns that the release is about."""
        return tuple(column for column in self.columns if column.role == "confidential")

    @property
    def sizes(self) -> Int:
        """How many released records each group has."""
        return np.bincount(self.groups)

    @property
    def k(self) -> int:
        """The size of the smallest group."""
        sizes = self.sizes
        return int(sizes[sizes > 0].min())

    @property
    def n_before(self) -> int:
        """The records of the original."""
        return len(self.columns[0].before)

    @property
    def n_after(self) -> int:
        """The records of the release."""
        return len(self.groups)

    @property
    def by_record(self) -> "Pair | None":
        """The pair whose rows are matched: this one, or the part of it that is; None where nothing is."""
        return self if self.matched else self.linked

    def sampled(self, most: int) -> "Pair":
        """At most so many records of each table, drawn at random; the same rows of both where they are matched.

        Groups keep their numbers, so `sizes` are no longer those of the whole release: ask the whole for these.
        """
        rng = np.random.default_rng(self.seed)
        before, after = np.arange(self.n_before), np.arange(self.n_after)
        if self.n_before > most:
            before = np.sort(rng.choice(self.n_before, most, replace=False))
        if self.matched:
            after = before
        elif self.n_after > most:
            after = np.sort(rng.choice(self.n_after, most, replace=False))
        return self.rows(before, after)

    def rows(self, before: Int, after: Int) -> "Pair":
        """The same of some rows of both tables; groups keep their numbers."""
        return replace(
            self,
            columns=tuple(column.rows(before, after) for column in self.columns),
            groups=self.groups[after],
            weights=None if self.weights is None else self.weights[after],
            places=None if self.places is None else self.places[before],
            linked=None,
        )


def pair_column(
    role: Role, before: Column, after: Column, *also: Column, gap_values: tuple[str, ...] | None = None
) -> tuple[PairColumn, list[Float]]:
    """A column of both tables: as numbers where both hold numbers or dates, else as categories.

    `also` are the same column of further tables, such as a population; their values come back coded alike. Where
    the original holds numbers and the release intervals of these, as other tools write them, an interval counts
    as its middle. A `*` in the release is a gap where the original has none. `gap_values` are texts that mean a
    gap; by default those that usually do.
    """
    columns, wish = (before, after, *also), Wish(gap_values=gap_values)
    numbers: list[Float | None] = []
    units: set[str] = set()
    for each in columns:
        found = counted_in(each, wish)
        numbers.append(None if found is None else found[0])
        if found is None and len(numbers) == 1:  # what the original is not, no other is
            break
        units |= set() if found is None or np.isnan(found[0]).all() else {found[1]}
    if len(numbers) > 1 and numbers[1] is None:
        numbers[1] = middles(after, wish)
    if all(each is not None for each in numbers) and len(units) <= 1:  # dates are not compared with plain numbers
        first, second, *others = (each for each in numbers if each is not None)
        return PairColumn(before.name, role, first, second, unit="".join(units)), others
    codings = [coding_or_none(each, wish) for each in columns]
    codings[1] = without_hidden(codings[0], codings[1])
    known = [each for each in codings if each is not None]
    ordered = known[0].places is not None and all(set(each.values) <= set(known[0].values) for each in known)
    names = known[0].values if ordered else sorted({value for each in known for value in each.values})
    levels = {value: number for number, value in enumerate(names)}
    parts = [categories_in(each, levels, len(column)) for each, column in zip(codings, columns, strict=True)]
    return PairColumn(before.name, role, parts[0], parts[1], tuple(levels), ordered), parts[2:]


def measurable(values: Float) -> NDArray[np.bool_]:
    """Which values are gaps, or numbers whose squares can be summed."""
    return np.isnan(values) | (np.abs(values) <= LARGEST)


def numbers_in(column: Column, wish: Wish) -> Float | None:
    """The numbers or dates of a column, NaN for gaps; None where it holds something else."""
    found = counted_in(column, wish)
    return None if found is None else found[0]


def counted_in(column: Column, wish: Wish) -> tuple[Float, str] | None:
    """The same with what the numbers count: dates are days from one day on that is the same for every table."""
    missing = gaps_in(column, wish)
    whole = np.full(len(column), np.nan)
    if missing.all():
        return whole, ""
    there = column.where(~missing) if missing.any() else column
    shown = there.values()
    found = numbers_of(pc.utf8_trim_whitespace(shown) if is_text(shown.type) else shown, there.signs)
    if found is not None:
        whole[~missing] = found
        return whole, ""
    if (dates := dates_in(there)) is None:
        return None
    whole[~missing] = dates.first + dates.above
    return whole, dates.unit


_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_INTERVAL = re.compile(rf"[\[(\]]?\s*({_NUMBER})\s*(?:-|\u2013|,|;|\.\.|to)\s*({_NUMBER})\s*[\])\[]?")
_OPEN = re.compile(rf"(?:[<>]=?|[\u2264\u2265])\s*({_NUMBER})|({_NUMBER})\s*\+")
HIDDEN = "*"
"""What other tools write for a value that they suppressed."""


def middles(column: Column, wish: Wish) -> Float | None:
    """The middles of intervals such as [20, 30[ or 20-30, the ends of open ones such as >= 90 or 90+.

    NaN for gaps and `*`; None where others stand there.
    """
    coding = coding_or_none(column, wish)
    if coding is None:
        return np.full(len(column), np.nan)
    found = [middle_of(text) for text in coding.values]
    if None in found:
        return None
    return np.where(coding.codes < 0, np.nan, np.array(found, np.float64)[coding.codes])


def middle_of(text: str) -> float | None:
    """The number that a text stands for, NaN for a value that is hidden; None where it is none."""
    if text == HIDDEN:
        return np.nan
    if ends := _INTERVAL.fullmatch(text):
        return (float(ends[1]) + float(ends[2])) / 2
    if end := _OPEN.fullmatch(text):
        return float(end[1] or end[2])
    return float(text) if re.fullmatch(_NUMBER, text) else None


def coding_or_none(column: Column, wish: Wish) -> Coding | None:
    """The values of a column by number; None where it has gaps only."""
    missing = gaps_in(column, wish)
    if missing.all():
        return None
    found = coded(column.where(~missing) if missing.any() else column)
    whole = np.full(len(column), -1, np.int64)
    whole[~missing] = found.codes
    return replace(found, codes=whole)


def without_hidden(before: Coding | None, after: Coding | None) -> Coding | None:
    """Released categories, where a `*` that the original does not have is a gap; None where only these are."""
    if after is None or HIDDEN not in after.values or (before is not None and HIDDEN in before.values):
        return after
    values = tuple(value for value in after.values if value != HIDDEN)
    if not values:
        return None
    place = {value: number for number, value in enumerate(values)}
    numbers = np.array([place.get(value, -1) for value in after.values])
    return replace(after, codes=np.where(after.codes < 0, -1, numbers[after.codes]), values=values, places=None)


def categories_in(coding: Coding | None, levels: Mapping[str, int], n: int) -> Float:
    """The numbers of the categories of records, NaN where they have none."""
    if coding is None:
        return np.full(n, np.nan)
    numbers = np.array([levels[value] for value in coding.values], np.float64)
    return np.where(coding.codes < 0, np.nan, numbers[coding.codes])


PairFigures = Callable[[Pair], Iterable[Figure]]


@dataclass(frozen=True)
class PairMeasure:
    """A function on the list, and whether it needs to know whose record is whose."""

    figures: PairFigures
    matched: bool


PAIR_MEASURES: dict[str, PairMeasure] = {}
"""Every measure of a pair, in the order in which its figures are shown."""


def pair_measure(*, matched: bool) -> Callable[[PairFigures], PairFigures]:
    """Put a measure on the list."""

    def put(function: PairFigures) -> PairFigures:
        PAIR_MEASURES[function.__name__] = PairMeasure(function, matched)
        return function

    return put


def figures_of_pair(pair: Pair, progress: Progress | None = None) -> tuple[list[Figure], list[str]]:
    """All figures of a pair by their topics, and the names of the measures that need matched rows and had none."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

    figures: list[Figure] = []
    left_out: list[str] = []
    with threadpool_limits(1):  # many small products of matrices: a second thread costs more than it gains
        for number, (name, measure) in enumerate(PAIR_MEASURES.items()):
            side_by_side = pair.by_record if measure.matched else pair
            if side_by_side is None:
                left_out.append(name)
            else:
                figures += measure.figures(side_by_side)
            if progress is not None:
                progress(number + 1, len(PAIR_MEASURES))
    return sorted(figures, key=lambda figure: get_args(Topic).index(figure.topic)), left_out
