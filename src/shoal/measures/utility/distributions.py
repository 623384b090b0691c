"""Distances of distributions: of each column by itself, and of each pair of columns as a table.

Rows need not be matched.
Numbers, and categories with an order, have the Wasserstein distance and that of Kolmogorov and Smirnov. Categories
have the total variation. A two-way table has the total variation, with numbers in ten classes.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Pair, PairColumn, pair_measure
from shoal.measures.utility.stated import GAPS_LEFT_OUT, known, largest_of, mean_of, of_interest, spread

Float = NDArray[np.float64]
Int = NDArray[np.int64]

CLASSES = 10  # of a column of numbers in a two-way table
MOST_LEVELS = 20  # categories that are told apart there


def wasserstein_and_kolmogorov(first: Float, second: Float) -> tuple[float, float]:
    """The area between the two distribution functions, and their largest difference."""
    a, b = np.sort(first), np.sort(second)
    if np.array_equal(a, b):
        return 0.0, 0.0
    places = np.sort(np.concatenate([a, b]), kind="stable")
    below = np.searchsorted(a, places, "right") / len(a) - np.searchsorted(b, places, "right") / len(b)
    gap = np.abs(below)
    return float(np.dot(gap[:-1], np.diff(places))), float(gap.max())


def total_variation(first: Float, second: Float) -> float:
    """Half the sum of the differences of shares, given counts."""
    return float(np.abs(first / first.sum() - second / second.sum()).sum()) / 2


def shares_apart(column: PairColumn) -> float | None:
    """The total variation of a column of categories."""
    before, after = known(column.before), known(column.after)
    if len(before) == 0 or len(after) == 0:
        return None
    size = len(column.levels)
    counts = (np.bincount(side.astype(np.int64), minlength=size).astype(np.float64) for side in (before, after))
    return total_variation(*counts)


@pair_measure(matched=False)
def distributions(pair: Pair) -> Iterable[Figure]:
    """Distances of the distributions of columns, and of pairs of columns."""
    placed = [column for column in pair.columns if column.is_number or column.ordered]
    yield from along_a_line([c for c in placed if len(known(c.before)) and len(known(c.after))])
    yield from categories([column for column in pair.columns if not column.is_number])
    yield from two_way(pair.columns)


def along_a_line(columns: Sequence[PairColumn]) -> Iterable[Figure]:
    """The Wasserstein and the Kolmogorov-Smirnov distance of columns of numbers or of ordered categories."""
    if not columns:
        return
    rows: list[tuple[str, str, float | None, float]] = []
    for column in columns:
        area, highest = wasserstein_and_kolmogorov(known(column.before), known(column.after))
        scale = spread(column.before)
        rows.append((column.name, column.role, area / scale if scale > 0 else None, highest))
    quasi = {column.name for column in of_interest(columns)}
    mean, worst = mean_of(row[2] for row in rows if row[0] in quasi), max(rows, key=lambda row: row[3])
    table = FigureTable(
        ("column", "role", "Wasserstein, in standard deviations", "Kolmogorov-Smirnov"), tuple(rows)
    )
    yield Figure(
        "wasserstein", mean, "standard deviations", "", "mean Wasserstein distance of columns",
        "" if mean is None
        else f"the distribution of a number moves by {mean:.3f} standard deviations on average (Wasserstein)",
        "utility",
        definition="The area between the distribution functions before and after, divided by the standard "
        "deviation before; the mean of the quasi-identifiers (of all columns where there are none) that are "
        f"numbers or categories with an order, which count by their places. {GAPS_LEFT_OUT}", table=table,
    )  # fmt: skip
    yield Figure(
        "kolmogorov_smirnov", worst[3], "", f"{worst[3]:.3f}", "largest Kolmogorov-Smirnov distance of a column",
        f"the share of records below any value changes by at most {100 * worst[3]:.1f} points, in {worst[0]!r}",
        "utility",
        definition="The largest difference between the distribution functions before and after, over all columns "
        f"of numbers or of categories with an order. No test is made of it. {GAPS_LEFT_OUT}", table=table,
    )  # fmt: skip


def categories(columns: Sequence[PairColumn]) -> Iterable[Figure]:
    """The total variation of columns of categories."""
    rows = tuple((column.name, column.role, shares_apart(column)) for column in columns)
    worst = largest_of(row[-1] for row in rows)
    if worst is None:
        return
    where = next(row[0] for row in rows if row[-1] == worst)
    yield Figure(
        "total_variation", worst, "", f"{worst:.3f}", "largest total variation of a column of categories",
        f"the shares of the categories differ by at most {100 * worst:.1f} % of the records, in {where!r}",
        "utility",
        definition="Half the sum of the absolute differences between the shares of the categories before and "
        f"after; the largest of all columns of categories. {GAPS_LEFT_OUT}",
        table=FigureTable(("column", "role", "total variation"), rows),
    )  # fmt: skip


def classes_of(column: PairColumn) -> tuple[Int, Int, int]:
    """A column in few classes, before and after, and how many: the last is that of missing values."""
    there = known(column.before)
    if column.is_number:
        inner = np.linspace(0, 1, CLASSES + 1)[1:-1]
        edges = np.unique(np.quantile(there, inner)) if len(there) else np.zeros(0)
        before, after = (np.searchsorted(edges, side, "left") for side in (column.before, column.after))
        size = len(edges) + 1
    else:
        counts = np.bincount(there.astype(np.int64), minlength=len(column.levels))
        size = min(MOST_LEVELS, len(counts)) + 1
        numbers = np.full(len(counts), size - 1)
        numbers[np.argsort(-counts, kind="stable")[: size - 1]] = np.arange(size - 1)
        before, after = (numbers[np.nan_to_num(side).astype(np.int64)] for side in (column.before, column.after))
    before, after = np.where(np.isnan(column.before), size, before), np.where(np.isnan(column.after), size, after)
    return before, after, size + 1


def two_way(columns: Sequence[PairColumn]) -> Iterable[Figure]:
    """The total variation of the two-way table of every pair of columns."""
    coded = [(column.name, *classes_of(column)) for column in columns]
    rows = []
    for (a, before_a, after_a, size_a), (b, before_b, after_b, size_b) in combinations(coded, 2):
        before = np.bincount(before_a * size_b + before_b, minlength=size_a * size_b).astype(np.float64)
        after = np.bincount(after_a * size_b + after_b, minlength=size_a * size_b).astype(np.float64)
        rows.append((a, b, total_variation(before, after)))
    if not rows:
        return
    worst, mean = max(rows, key=lambda row: row[2]), mean_of(row[2] for row in rows)
    yield Figure(
        "two_way_tables", worst[2], "", f"{worst[2]:.3f}", "largest total variation of a two-way table",
        f"at most {100 * worst[2]:.1f} % of the records change their cell in a two-way table, on balance: "
        f"{worst[0]!r} by {worst[1]!r}",
        "utility", details={"mean": mean},
        definition="Half the sum of the absolute differences between the shares of the cells before and after; "
        f"the largest of all pairs of columns. Numbers are in {CLASSES} classes, cut at the tenths of the "
        f"original; the {MOST_LEVELS} most frequent categories are told apart; missing values are a class.",
        table=FigureTable(("column", "other column", "total variation"), tuple(rows)),
    )  # fmt: skip
