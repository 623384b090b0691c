"""Means, variances, quantiles and covariances before and after. Rows need not be matched.

Changes are given in units of the original column, its standard deviation or its variance, so that columns can be
compared. The numbers of the original themselves stand only in tables for the owner.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Pair, PairColumn, pair_measure
from shoal.measures.utility.complete_pairs import complete_pairs
from shoal.measures.utility.stated import (
    GAPS_LEFT_OUT,
    known,
    largest_of,
    mean_of,
    number,
    numbers_of,
    of_interest,
    sides_of,
    spread,
)

Float = NDArray[np.float64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_PUBLIC_DECIMALS = 3  # of what is public of each column: enough to judge, too few to compute a record from


def mean_change(column: PairColumn) -> float | None:
    """(mean after - mean before) / standard deviation before."""
    after = known(column.after)
    return float(after.mean() - known(column.before).mean()) / spread(column.before) if len(after) else None


def variance_change(column: PairColumn) -> float | None:
    """100 * (variance after / variance before - 1)."""
    if len(known(column.after)) < 2:
        return None
    return 100 * ((spread(column.after) / spread(column.before)) ** 2 - 1)


def quantiles_of(values: Float) -> list[float | None]:
    """The quantiles, with linear interpolation between records; None where there are no values."""
    there = known(values)
    if len(there) == 0:
        return [None] * len(QUANTILES)
    return [float(value) for value in np.quantile(there, QUANTILES)]


@pair_measure(matched=False)
def moments(pair: Pair) -> Iterable[Figure]:
    """Changes of means and variances, of quantiles and of covariances."""
    columns = numbers_of(pair)
    if not columns:
        return
    yield means(columns)
    yield variances(columns)
    yield quantiles(columns)
    if len(columns) > 1:
        yield covariances(columns)
    yield statistics(columns)


def means(columns: Sequence[PairColumn]) -> Figure:
    """The largest change of a mean."""
    changes = {column.name: mean_change(column) for column in columns}
    worst = largest_of(changes.values())
    said = "cannot be compared"
    if worst is not None:
        least = f"change by at most {abs(worst):.3f} standard deviations"
        said = least if abs(worst) >= 0.0005 else "are unchanged"
    return Figure(
        "mean_change", number(None if worst is None else abs(worst), _PUBLIC_DECIMALS), "standard deviations",
        "" if worst is None else f"{abs(worst):.3f} sd", "largest change of a mean", f"means {said}",
        "utility", "public",
        definition="The largest absolute value, over all columns of numbers, of (mean after - mean before) / "
        f"standard deviation before. {GAPS_LEFT_OUT} Constant columns are left out.",
        table=FigureTable(
            ("column", "role", "change in standard deviations"),
            tuple((c.name, c.role, number(changes[c.name], _PUBLIC_DECIMALS)) for c in columns),
        ),
    )  # fmt: skip


def variances(columns: Sequence[PairColumn]) -> Figure:
    """The mean change of the variances of the quasi-identifiers."""
    changes = {column.name: variance_change(column) for column in columns}
    mean = mean_of(changes[column.name] for column in of_interest(columns))
    said = "cannot be compared"
    if mean is not None:
        said = f"{'shrink' if mean < 0 else 'grow'} by {abs(mean):.1f} % on average"
    return Figure(
        "variance_change", number(mean, _PUBLIC_DECIMALS), "%", "" if mean is None else f"{mean:+.1f} %",
        "mean change of the variances", f"variances {said}", "utility", "public",
        definition="The mean over the quasi-identifiers that are numbers (over all columns of numbers where there "
        "are none) of 100 · (variance after / variance before - 1), variances with n - 1. "
        f"{GAPS_LEFT_OUT} Constant columns are left out.",
        table=FigureTable(
            ("column", "role", "change of the variance, %"),
            tuple((c.name, c.role, number(changes[c.name], _PUBLIC_DECIMALS)) for c in columns),
        ),
    )  # fmt: skip


def quantiles(columns: Sequence[PairColumn]) -> Figure:
    """The largest change of the 5, 25, 50, 75 and 95 % quantile."""
    rows: list[tuple[str, str, float, float | None, float | None, float | None]] = []
    for column in columns:
        scale = spread(column.before)
        pairs = zip(QUANTILES, quantiles_of(column.before), quantiles_of(column.after), strict=True)
        for share, before, after in pairs:
            change = None if before is None or after is None else (after - before) / scale
            rows.append((column.name, column.role, share, before, after, change))
    worst = largest_of(row[-1] for row in rows)
    where = next((f" ({row[2]:.0%} of {row[0]!r})" for row in rows if row[-1] == worst), "")
    return Figure(
        "quantile_change", None if worst is None else abs(worst), "standard deviations", "",
        "largest change of a quantile",
        "quantiles cannot be compared" if worst is None
        else f"the quantiles from 5 % to 95 % change by at most {abs(worst):.3f} standard deviations{where}",
        "utility",
        definition="The largest absolute value, over all columns of numbers and the quantiles 5, 25, 50, 75 and "
        "95 %, of (quantile after - quantile before) / standard deviation before; quantiles with linear "
        f"interpolation. {GAPS_LEFT_OUT}",
        table=FigureTable(("column", "role", "quantile", "before", "after", "change in standard deviations"),
                          tuple(rows)),
    )  # fmt: skip


def covariances(columns: Sequence[PairColumn]) -> Figure:
    """The mean change of the covariances, on the scale of the original."""
    before, after = (complete_pairs(side).covariances for side in sides_of(columns))
    rows = []
    for i, j in combinations(range(len(columns)), 2):
        scale = spread(columns[i].before) * spread(columns[j].before)
        change = number(float((after[i, j] - before[i, j]) / scale))
        rows.append((columns[i].name, columns[j].name, number(before[i, j]), number(after[i, j]), change))
    mean = mean_of(None if row[-1] is None else abs(row[-1]) for row in rows)
    return Figure(
        "covariance_change", mean, "", "", "mean change of the covariances",
        "covariances cannot be compared" if mean is None
        else f"covariances change by {mean:.3f} times the standard deviations of both columns on average",
        "utility",
        definition="The mean over all pairs of columns of numbers of |covariance after - covariance before| / "
        "(the product of the standard deviations before), covariances with n - 1 of the records that have both "
        "values.",
        table=FigureTable(("column", "other column", "before", "after", "change"), tuple(rows)),
    )  # fmt: skip


def statistics(columns: Sequence[PairColumn]) -> Figure:
    """The table of means and standard deviations, which the owner alone may see."""
    rows = tuple(
        (
            column.name, column.role,
            number(float(known(column.before).mean())),
            number(float(known(column.after).mean())) if len(known(column.after)) else None,
            spread(column.before), spread(column.after),
            int(np.isnan(column.before).sum()), int(np.isnan(column.after).sum()),
        )
        for column in columns
    )  # fmt: skip
    header = ("column", "role", "mean before", "mean after", "sd before", "sd after", "gaps before", "gaps after")
    return Figure(
        "column_statistics", len(rows), "columns", "", "means and standard deviations before and after", "",
        "utility", definition=f"Standard deviations with n - 1. {GAPS_LEFT_OUT}", table=FigureTable(header, rows),
    )  # fmt: skip
