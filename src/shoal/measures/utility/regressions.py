"""Regressions before and after: coefficients, their 95 % intervals, and how far the intervals overlap.

Each confidential column that is a number or has two values is explained by the quasi-identifiers, in each table by
itself, so rows need not be matched. Two values are taken as 0 and 1.

Reference: A. F. Karr, C. N. Kohnen, A. Oganian, J. P. Reiter and A. P. Sanil, A framework for evaluating the
utility of data altered to protect confidentiality, The American Statistician 60 (2006) 224-232.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Pair, PairColumn, pair_measure
from shoal.measures.utility.features import Terms, matrix_of, names_of, terms_of
from shoal.measures.utility.stated import is_constant, known, mean_of

Float = NDArray[np.float64]

MOST_TARGETS = 5
MOST_LEVELS = 8  # categories of a column that have a term of their own
_ROWS = 50_000  # that are held as a matrix at a time
_ALIASED = 1e-8  # the part of a term that the terms before it leave over, below which it adds nothing

Interval = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Normal:
    """X'X and X'y with the constant first, y'y, and the number of records."""

    squares: Float
    products: Float
    total: float
    count: int


@dataclass(frozen=True)
class Coefficient:
    """A coefficient and its interval of 95 %."""

    value: float
    low: float
    high: float


def overlap(first: Interval, second: Interval) -> float:
    """The mean of the parts of both intervals that lie in the other; 0 where they are disjoint."""
    common = min(first[1], second[1]) - max(first[0], second[0])
    widths = (first[1] - first[0], second[1] - second[0])
    if common < 0:
        return 0.0
    return sum(common / width if width > 0 else 1.0 for width in widths) / 2


def target_of(column: PairColumn) -> PairColumn | None:
    """A column as numbers to be explained: itself, or 0 and 1; None where it is neither."""
    if column.is_number:
        return None if is_constant(known(column.before)) or is_constant(known(column.after)) else column
    found = np.union1d(known(column.before), known(column.after))
    if len(found) != 2 or is_constant(known(column.before)) or is_constant(known(column.after)):
        return None
    before, after = (np.where(np.isnan(side), np.nan, side == found[1]) for side in (column.before, column.after))
    return PairColumn(f"{column.name} = {column.levels[int(found[1])]}", column.role, before, after)


def normal_equations(terms: Sequence[Terms], values: Sequence[Float], target: Float) -> Normal:
    """Sums over all records whose target is known, some records at a time."""
    width = 1 + len(names_of(terms))
    squares, products, total, count = np.zeros((width, width)), np.zeros(width), 0.0, 0
    for start in range(0, len(target), _ROWS):
        y = target[start : start + _ROWS]
        there = ~np.isnan(y)
        part = matrix_of(terms, [column[start : start + _ROWS] for column in values])
        part = np.column_stack([np.ones(len(y)), part])[there]
        y = y[there]
        squares += part.T @ part
        products += part.T @ y
        total += float(np.dot(y, y))
        count += len(y)
    return Normal(squares, products, total, count)


def independent(squares: Float) -> NDArray[np.bool_]:
    """Which terms add something to those before them: a Cholesky factor in order, term by term."""
    width = len(squares)
    factor, kept = np.zeros((width, width)), np.zeros(width, bool)
    for j in range(width):
        chosen = np.flatnonzero(kept)
        row = np.zeros(len(chosen))
        for place, i in enumerate(chosen):
            row[place] = (squares[j, i] - row[:place] @ factor[i, chosen[:place]]) / factor[i, i]
        left = squares[j, j] - row @ row
        if squares[j, j] > 0 and left > _ALIASED * squares[j, j]:
            factor[j, chosen], factor[j, j], kept[j] = row, np.sqrt(left), True
    return kept


def coefficients(normal: Normal, kept: NDArray[np.bool_]) -> list[Coefficient] | None:
    """Least squares with classical standard errors; None where there are too few records."""
    from scipy.stats import t

    freedom = normal.count - int(kept.sum())
    if freedom < 1:
        return None
    inverse = np.linalg.inv(normal.squares[np.ix_(kept, kept)])
    values = inverse @ normal.products[kept]
    rest = max(0.0, normal.total - float(values @ normal.products[kept]))
    errors = np.sqrt(np.maximum(np.diag(inverse), 0.0) * rest / freedom) * float(t.ppf(0.975, freedom))
    return [Coefficient(float(v), float(v - e), float(v + e)) for v, e in zip(values, errors, strict=True)]


@pair_measure(matched=False)
def regressions(pair: Pair) -> Iterable[Figure]:
    """The overlap of the intervals of all coefficients of all confidential columns."""
    terms = [terms_of(column, MOST_LEVELS) for column in pair.quasi_identifiers]
    targets = [each for each in map(target_of, pair.confidential) if each is not None][:MOST_TARGETS]
    if not targets or not names_of(terms):
        return
    rows = tuple(row for target in targets for row in compared(pair, terms, target))
    mean = mean_of(row[-1] for row in rows)
    if mean is None:
        return
    yield Figure(
        "interval_overlap", mean, "", f"{mean:.0%}".replace("%", " %"),
        "mean overlap of the 95 % intervals of regression coefficients",
        f"the 95 % intervals of regression coefficients overlap by {100 * mean:.0f} % on average "
        f"({sum(row[-1] is not None for row in rows)} coefficients)",
        "utility",
        definition="For each coefficient, the length that the 95 % intervals before and after share, divided by "
        "the length of each interval, the mean of both (Karr et al. 2006); 0 where they are disjoint. Linear "
        f"regressions of up to {MOST_TARGETS} confidential columns that are numbers or have two values, on all "
        "quasi-identifiers: numbers in original standard deviations, categories against the most frequent one "
        f"({MOST_LEVELS} of their own at most, the others as one), missing values as a term. Classical standard "
        "errors. A term that depends on the ones before it, in either table, is left out of both.",
        table=FigureTable(
            ("explained", "term", "before", "low", "high", "after", "low after", "high after", "overlap"), rows
        ),
    )  # fmt: skip


Row = tuple[
    str, str, float | None, float | None, float | None, float | None, float | None, float | None, float | None
]


def compared(pair: Pair, terms: Sequence[Terms], target: PairColumn) -> list[Row]:
    """The lines of a regression: each term before and after."""
    quasi = pair.quasi_identifiers
    middle = float(known(target.before).mean())  # taken off, so that sums of squares keep their digits
    before = normal_equations(terms, [column.before for column in quasi], target.before - middle)
    after = normal_equations(terms, [column.after for column in quasi], target.after - middle)
    kept = independent(before.squares) & independent(after.squares)
    first, second = coefficients(before, kept), coefficients(after, kept)
    if first is None or second is None:
        return []
    found = dict(zip(np.flatnonzero(kept).tolist(), zip(first, second, strict=True), strict=True))
    rows: list[Row] = []
    for place, name in enumerate(names_of(terms), start=1):
        if place not in found:
            rows.append((target.name, name, None, None, None, None, None, None, None))
            continue
        a, b = found[place]
        shared = overlap((a.low, a.high), (b.low, b.high))
        rows.append((target.name, name, a.value, a.low, a.high, b.value, b.low, b.high, shared))
    return rows
