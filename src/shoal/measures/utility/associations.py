"""How closely columns hang together before and after, whatever their kinds. Rows need not be matched.

Two columns of numbers have Pearson's and Spearman's correlation. Two columns of categories have Cramér's V. A
column of categories and one of numbers have the correlation ratio, the root of the share of the variance that lies
between the categories. Each figure is the largest change of any pair.

References: H. Cramér, Mathematical Methods of Statistics, 1946, Section 21.9; M. Templ and B. Meindl, Robust
statistics meets SDC, Privacy in Statistical Databases, LNCS 5262 (2008) 113-126 (eigenvalues).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Pair, PairColumn, pair_measure
from shoal.measures.utility.complete_pairs import complete_pairs
from shoal.measures.utility.stated import (
    is_constant,
    largest_of,
    mean_of,
    number,
    numbers_of,
    of_interest,
    sample_said,
    sampling_error,
    sides_of,
)

Float = NDArray[np.float64]
Int = NDArray[np.int64]

Association = Callable[[Float, Float], float | None]

MOST_RANKED = 50_000  # records whose ranks are compared
_DENSE = 1_000_000  # cells of a table that is counted cell by cell
_NO_EIGENVALUE = 1e-9  # below which an eigenvalue is none, for the columns depend on each other


@dataclass(frozen=True)
class Change:
    """How closely two columns hang together, before and after; None where one of them is constant."""

    first: str
    second: str
    before: float | None
    after: float | None

    @property
    def by(self) -> float | None:
        """After minus before."""
        return None if self.before is None or self.after is None else self.after - self.before


def cramers_v(first: Float, second: Float) -> float | None:
    """Cramér's V of the records that have both categories; None where one has a single category."""
    both = ~np.isnan(first) & ~np.isnan(second)
    rows, columns = dense(first[both]), dense(second[both])
    in_row, in_column = np.bincount(rows), np.bincount(columns)
    least = min(len(in_row), len(in_column))
    if least < 2:
        return None
    cells, counts = counted_cells(rows * len(in_column) + columns, len(in_row) * len(in_column))
    expected = in_row[cells // len(in_column)].astype(np.float64) * in_column[cells % len(in_column)]
    phi = float((counts.astype(np.float64) ** 2 / expected).sum()) - 1
    return min(1.0, sqrt(max(0.0, phi) / (least - 1)))


def dense(codes: Float) -> Int:
    """Codes numbered anew without gaps, in their order."""
    whole = codes.astype(np.int64)
    there = np.bincount(whole) > 0
    return np.asarray((np.cumsum(there) - 1)[whole])


def counted_cells(cells: Int, size: int) -> tuple[Int, Int]:
    """The cells that have records, and how many each has."""
    if size > _DENSE:
        found, counts = np.unique(cells, return_counts=True)
        return found, counts
    counts = np.bincount(cells, minlength=size)
    found = np.flatnonzero(counts)
    return found, counts[found]


def correlation_ratio(categories: Float, numbers: Float) -> float | None:
    """The root of the variance between categories over that of all; None where the numbers agree."""
    both = ~np.isnan(categories) & ~np.isnan(numbers)
    codes, values = dense(categories[both]), numbers[both]
    if is_constant(values) or codes.max(initial=0) == 0:
        return None
    centred = values - values.mean()
    sums, counts = np.bincount(codes, centred), np.bincount(codes)
    return min(1.0, sqrt(float((sums**2 / counts).sum()) / float(np.dot(centred, centred))))


def ranks(values: Float) -> Float:
    """The rank of each value, equal ones with the mean of theirs."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[places])


def spearman(first: Float, second: Float) -> float | None:
    """The correlation of the ranks among the records that have both values."""
    both = ~np.isnan(first) & ~np.isnan(second)
    if is_constant(first[both]) or is_constant(second[both]):
        return None
    a, b = ranks(first[both]), ranks(second[both])
    return float(np.corrcoef(a, b)[0, 1])


@pair_measure(matched=False)
def associations(pair: Pair) -> Iterable[Figure]:
    """Changes of correlations, of Cramér's V and of the correlation ratio, and of eigenvalues."""
    numeric = numbers_of(pair)
    categories = [column for column in pair.columns if not column.is_number]
    yield from figure_of(
        "correlation_change", "Pearson's correlation", "correlations", pearson_changes(numeric),
        "Pearson's correlation of the records that have both values",
    )  # fmt: skip
    ranked = [column for column in pair.columns if column.is_number or column.ordered]
    yield from figure_of(
        "rank_correlation_change", "Spearman's rank correlation", "rank correlations",
        rank_changes(pair.sampled(MOST_RANKED), [column.name for column in ranked]),
        "the correlation of the ranks, equal values with the mean of theirs, of columns of numbers or of "
        f"categories with an order; of at most {MOST_RANKED} records of each table, drawn at random",
        sample_said(pair, MOST_RANKED), sampling_error(MOST_RANKED, max(pair.n_before, pair.n_after)),
    )  # fmt: skip
    yield from figure_of(
        "cramers_v_change", "Cramér's V", "associations of categories",
        [changed(a, b, cramers_v) for a, b in combinations(categories, 2)],
        "Cramér's V = sqrt(chi² / (n · (min(rows, columns) - 1))), not corrected for bias, with missing values "
        "left out",
    )  # fmt: skip
    yield from figure_of(
        "correlation_ratio_change", "the correlation ratio", "associations of categories with numbers",
        [changed(a, b, correlation_ratio) for a in categories for b in numeric],
        "the root of (sum of squares between categories / total sum of squares) of the numbers",
    )  # fmt: skip
    yield from eigenvalues(of_interest(numeric))


def changed(first: PairColumn, second: PairColumn, how: Association) -> Change:
    """An association before and after."""
    return Change(
        first.name, second.name, how(first.before, second.before), how(first.after, second.after)
    )  # fmt: skip


def pearson_changes(columns: Sequence[PairColumn]) -> list[Change]:
    """Pearson's correlation of all pairs of columns of numbers."""
    if len(columns) < 2:
        return []
    before, after = (complete_pairs(side).correlations for side in sides_of(columns))
    return [
        Change(columns[i].name, columns[j].name, number(before[i, j]), number(after[i, j]))
        for i, j in combinations(range(len(columns)), 2)
    ]


def rank_changes(sample: Pair, names: Sequence[str]) -> list[Change]:
    """Spearman's correlation of all pairs of columns."""
    columns = [column for column in sample.columns if column.name in names]
    before, after = (rank_correlations(side) for side in sides_of(columns))
    return [
        Change(columns[i].name, columns[j].name, number(before[i, j]), number(after[i, j]))
        for i, j in combinations(range(len(columns)), 2)
    ]


def rank_correlations(columns: list[Float]) -> Float:
    """Spearman's correlations as a matrix; columns without gaps are ranked once, others for each pair."""
    whole = [not np.isnan(column).any() for column in columns]
    ranked = [ranks(column) if full else column for column, full in zip(columns, whole, strict=True)]
    found = complete_pairs(ranked).correlations if ranked else np.zeros((0, 0))
    for i, j in combinations(range(len(columns)), 2):
        if not (whole[i] and whole[j]):
            value = spearman(columns[i], columns[j])
            found[i, j] = np.nan if value is None else value
    return found


def figure_of(
    name: str, label: str, said: str, changes: list[Change], definition: str, sample: str = "", error: float = 0.0
) -> Iterable[Figure]:
    """The figure of one kind of association, if there are pairs of its kind."""
    if not changes:
        return
    worst = largest_of(change.by for change in changes)
    where = next((change for change in changes if change.by == worst), changes[0])
    mean = mean_of(None if change.by is None else abs(change.by) for change in changes)
    rows = tuple((c.first, c.second, c.before, c.after, c.by) for c in changes)
    yield Figure(
        name, None if worst is None else abs(worst), "", "" if worst is None else f"{worst:+.3f}",
        f"largest change of {label}",
        f"{said} cannot be compared: a column of every pair is constant" if worst is None
        else f"{said} change by at most {abs(worst):.3f}, between {where.first!r} and {where.second!r}{sample}",
        "utility", details={"mean": mean} | ({"standard_error": error} if error else {}),
        definition=f"The largest absolute change over all pairs of columns of {definition}; `mean` is the mean "
        "absolute change. A pair with a constant column has none.",
        table=FigureTable(("column", "other column", "before", "after", "change"), rows),
    )  # fmt: skip


def eigenvalues(columns: Sequence[PairColumn]) -> Iterable[Figure]:
    """The eigenvalues of the correlations of numeric quasi-identifiers, and of their covariances."""
    if len(columns) < 2:
        return
    pairs = [complete_pairs(side) for side in sides_of(columns)]
    scale = np.sqrt(np.diag(pairs[0].variances))
    scaled = [each.covariances / np.outer(scale, scale) for each in pairs]
    for name, called, (before, after) in (
        ("correlation_eigenvalues", "correlations", [each.correlations for each in pairs]),
        ("covariance_eigenvalues", "covariances, in original standard deviations", scaled),
    ):
        if np.isnan(before).any() or np.isnan(after).any():
            continue
        first, second = (np.linalg.eigvalsh(matrix)[::-1] for matrix in (before, after))
        usable = first > _NO_EIGENVALUE
        changes = np.abs(first - second)[usable] / first[usable]
        yield Figure(
            name, float(changes.sum()), "", "", f"change of the eigenvalues of the {called}",
            f"the eigenvalues of the {called} change by {changes.mean():.1%} on average".replace("%", " %"),
            "utility", details={"mean": float(changes.mean()), "largest": float(changes.max())},
            definition=f"The sum of |before - after| / before over the eigenvalues of the matrix of {called}, of "
            "the numeric quasi-identifiers (all columns of numbers where there are none), largest first. "
            "Eigenvalues that are 0 before are left out.",
            table=FigureTable(
                ("number", "before", "after"),
                tuple((i + 1, float(a), float(b)) for i, (a, b) in enumerate(zip(first, second, strict=True))),
            ),
        )  # fmt: skip
