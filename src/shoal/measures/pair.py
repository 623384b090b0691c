"""Two tables side by side: an original and what was released of it, column by column, as numbers or categories.

A measure of a pair is a function from a `Pair` to figures; `pair_measure` puts it on the list. It need not know
which tool made the release. Some measures need to know which released record is that of which person: they are
left out where rows are not matched, and that is said.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes import Wish, gaps_in
from shoal.measures.figures import Figure
from shoal.parameters import Progress
from shoal.privacy.coding import Coding, coded, measured_in
from shoal.privacy.counting import is_text
from shoal.table import Column

Float = NDArray[np.float64]
Int = NDArray[np.int64]

Role = Literal["quasi-identifier", "confidential", "other"]


@dataclass(frozen=True, eq=False)
class PairColumn:
    """A column before and after.

    Attributes
    ----------
    name, role : of the column
    before, after : a number for each record, NaN for a gap; where there are `levels`, the number of the category
    levels : the categories by number, as text; none where the column holds numbers or dates (as days, say)
    ordered : whether the categories have an order, which is then that of their numbers
    """

    name: str
    role: Role
    before: Float
    after: Float
    levels: tuple[str, ...] = ()
    ordered: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers, and not categories."""
        return not self.levels

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
    rows : the row of the original table that each original record was, where it is known
    """

    columns: tuple[PairColumn, ...]
    groups: Int
    matched: bool
    weights: Float | None = None
    control: Mapping[str, Float] = field(default_factory=dict)
    population: Mapping[str, Float] = field(default_factory=dict)
    seed: int = 0
    rows: Int | None = None

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
        return replace(
            self,
            columns=tuple(column.rows(before, after) for column in self.columns),
            groups=self.groups[after],
            weights=None if self.weights is None else self.weights[after],
            rows=None if self.rows is None else self.rows[before],
        )


def pair_column(role: Role, before: Column, after: Column, *also: Column) -> tuple[PairColumn, list[Float]]:
    """A column of both tables: as numbers where both hold numbers or dates, else as categories.

    `also` are the same column of further tables, such as a population; their values come back coded alike. Where
    the original holds numbers and the release intervals of these, as other tools write them, an interval counts
    as its middle.
    """
    columns = before, after, *also
    numbers = [numbers_in(each) for each in columns]
    if numbers[0] is not None and numbers[1] is None:
        numbers[1] = middles(after)
    if all(each is not None for each in numbers):
        first, second, *others = (each for each in numbers if each is not None)
        return PairColumn(before.name, role, first, second), others
    codings = [coding_or_none(each) for each in columns]
    known = [each for each in codings if each is not None]
    ordered = known[0].places is not None and all(set(each.values) <= set(known[0].values) for each in known)
    names = known[0].values if ordered else sorted({value for each in known for value in each.values})
    levels = {value: number for number, value in enumerate(names)}
    parts = [categories_in(each, levels, len(column)) for each, column in zip(codings, columns, strict=True)]
    return PairColumn(before.name, role, parts[0], parts[1], tuple(levels), ordered), parts[2:]


def numbers_in(column: Column) -> Float | None:
    """The numbers or dates of a column, NaN for gaps; None where it holds something else."""
    shown, missing = column.values(), gaps_in(column, Wish())
    whole = np.full(len(column), np.nan)
    if missing.all():
        return whole
    there = column.where(~missing) if missing.any() else column
    shown = there.values()
    found = measured_in(there, pc.utf8_trim_whitespace(shown) if is_text(shown.type) else shown)
    if found is None:
        return None
    whole[~missing] = found
    return whole


_NUMBER = r"[-+]?\d+(?:\.\d+)?"
_INTERVAL = re.compile(rf"[\[(\]]?\s*({_NUMBER})\s*(?:-|\u2013|,|;|\.\.|to)\s*({_NUMBER})\s*[\])\[]?")
_HIDDEN = "*"  # what other tools write for a value that they suppressed


def middles(column: Column) -> Float | None:
    """The middles of intervals such as [20, 30[ or 20-30, NaN for gaps and `*`; None where others stand there."""
    coding = coding_or_none(column)
    if coding is None:
        return np.full(len(column), np.nan)
    found = np.empty(len(coding.values))
    for number, text in enumerate(coding.values):
        ends = _INTERVAL.fullmatch(text)
        plain = re.fullmatch(_NUMBER, text)
        if ends is None and plain is None and text != _HIDDEN:
            return None
        found[number] = (
            (float(ends[1]) + float(ends[2])) / 2 if ends else float(text) if plain is not None else np.nan
        )
    return np.where(coding.codes < 0, np.nan, found[coding.codes])


def coding_or_none(column: Column) -> Coding | None:
    """The values of a column by number; None where it has gaps only."""
    return None if gaps_in(column, Wish()).all() else coded(column)


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
    """All figures of a pair, and the names of the measures that were left out because rows are not matched."""
    figures: list[Figure] = []
    left_out: list[str] = []
    for number, (name, measure) in enumerate(PAIR_MEASURES.items()):
        if measure.matched and not pair.matched:
            left_out.append(name)
        else:
            figures += measure.figures(pair)
        if progress is not None:
            progress(number + 1, len(PAIR_MEASURES))
    return figures, left_out
