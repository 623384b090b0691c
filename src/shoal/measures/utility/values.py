"""How far the values of each person are from their original ones: SSE / SST, L_E and IL1s, on matched rows.

A number is counted in standard deviations of its original column. A category that changed costs a constant that
depends on how frequent the categories are, so that it weighs as much as a number; both are the scale of a release
of Shoal with z-scores. 100 % is a release of one group, in which everybody has the mean of every number and the
most frequent category: so figures of different columns can be compared.

References: J. Domingo-Ferrer, F. Sebé and A. Solanas, Computers and Mathematics with Applications 55 (2008)
714-732, Section 6 (L_SSE and L_E); W. E. Yancey, W. E. Winkler and R. H. Creecy, Disclosure risk assessment in
perturbative microdata protection, Inference Control in Statistical Databases, LNCS 2316 (2002) 135-152 (IL1s).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.measures.figures import Figure, FigureTable
from shoal.measures.pair import Pair, PairColumn, pair_measure
from shoal.measures.utility.stated import GAPS_LEFT_OUT, known, number, spread

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Errors:
    """The squared errors of a column, a value for each record, and 0 where one of its two values is missing.

    `released` are those of the released values, `one_group` those of one common value for all. `il1s` is the sum
    of the distances over sqrt(2) S, None of categories.
    """

    column: PairColumn
    released: Float
    one_group: Float
    count: int
    il1s: float | None

    @property
    def percent(self) -> float | None:
        """100 * SSE / SST; None where all original values agree."""
        total = float(self.one_group.sum())
        return 100 * float(self.released.sum()) / total if total > 0 else None


def errors_of(column: PairColumn) -> Errors:
    """The squared errors of a column."""
    both = ~np.isnan(column.before) & ~np.isnan(column.after)
    count = int(both.sum())
    if not column.is_number:
        codes, cost = np.where(both, column.before, -1).astype(np.int64), cost_of_another(column)
        mode = int(np.bincount(codes[both]).argmax()) if count else -1
        changed, unusual = both & (column.before != column.after), both & (codes != mode)
        return Errors(column, cost * changed, cost * unusual, count, None)
    scale = spread(column.before)
    if scale == 0 or count == 0:
        nothing = np.zeros(len(both))
        return Errors(column, nothing, nothing, count, None)
    of_all = float(known(column.before).std())
    off = np.where(both, column.before - column.after, 0.0)
    centred = np.where(both, column.before - known(column.before[both]).mean(), 0.0)
    il1s = float(np.abs(off).sum()) / (sqrt(2) * scale)
    return Errors(column, (off / of_all) ** 2, (centred / of_all) ** 2, count, il1s)


def cost_of_another(column: PairColumn) -> float:
    """What another category costs, 2 / (1 - sum of squared shares) of the original ones; 0 where all are alike."""
    counts = np.bincount(known(column.before).astype(np.int64))
    shares = counts / max(1, counts.sum())
    return 2 / (1 - float(shares @ shares)) if np.count_nonzero(counts) > 1 else 0.0


@pair_measure(matched=True)
def value_errors(pair: Pair) -> Iterable[Figure]:
    """What the values of each person lost: SSE / SST, L_E and IL1s."""
    found = [errors_of(column) for column in pair.columns]
    quasi = [errors for errors in found if errors.column.role == "quasi-identifier"]
    if not quasi:
        return
    yield squared(found, quasi)
    yield euclidean(quasi)
    yield from absolute(quasi)


def squared(found: list[Errors], quasi: list[Errors]) -> Figure:
    """SSE / SST in all, of the quasi-identifiers, and for each column."""
    sse = sum(float(errors.released.sum()) for errors in quasi)
    sst = sum(float(errors.one_group.sum()) for errors in quasi)
    percent = 100 * sse / sst if sst > 0 else None
    said = "cannot be given: all records are alike" if percent is None else f"is {percent:.2f} %"
    rows = tuple(
        (e.column.name, e.column.role, "number" if e.column.is_number else "category", number(e.percent), e.count)
        for e in found
    )
    return Figure(
        "squared_error", number(percent), "%", "" if percent is None else f"{percent:.2f} %",
        "squared error of the values, 100 · SSE / SST",
        f"the squared error of the released values {said} (0 % is no change, 100 % is one group for all records)",
        "utility", "public",
        definition="100 · SSE / SST over the quasi-identifiers. SSE is the sum of the squared differences between "
        "original and released values, of numbers in standard deviations (with n) of the original column, of "
        "categories 2 / (1 - sum of the squared shares of the original categories) where they differ. SST is the "
        "same between the original values and the mean, or the most frequent category, of all. "
        f"{GAPS_LEFT_OUT} Sampling weights are not used.",
        table=FigureTable(("column", "role", "kind", "100 · SSE / SST", "records"), rows),
    )  # fmt: skip


def euclidean(quasi: list[Errors]) -> Figure:
    """L_E: the same with distances that are not squared."""
    near = float(np.sqrt(np.sum([errors.released for errors in quasi], axis=0)).sum())
    far = float(np.sqrt(np.sum([errors.one_group for errors in quasi], axis=0)).sum())
    percent = 100 * near / far if far > 0 else None
    said = "cannot be given: all records are alike" if percent is None else f"is {percent:.2f} %"
    return Figure(
        "euclidean_error", number(percent), "%", "", "distance of the records, L_E = 100 · SDE / SDT",
        f"the distance between each record and its released one {said} of that to the middle of all records",
        "utility", "public",
        definition="L_E = 100 · SDE / SDT. SDE is the sum over all records of the Euclidean distance between the "
        "original and the released quasi-identifiers, on the scale of the squared error. SDT is the sum of the "
        "distances to the record that has the mean of every number and the most frequent category. A missing "
        "value adds nothing to the distances of its record.",
    )  # fmt: skip


def absolute(quasi: list[Errors]) -> Iterable[Figure]:
    """IL1s by both conventions: the sum, and the mean of all values."""
    numeric = [errors for errors in quasi if errors.il1s is not None]
    if not numeric:
        return
    total = sum(errors.il1s or 0.0 for errors in numeric)
    count = sum(errors.count for errors in numeric)
    header = ("column", "sum", "mean", "values")
    rows = tuple((e.column.name, e.il1s, (e.il1s or 0.0) / e.count, e.count) for e in numeric)
    formula = "|x - x'| / (sqrt(2) · S), with S the standard deviation (n - 1) of the original column,"
    yield Figure(
        "il1s_mean", total / count, "", "", "IL1s, mean of all numbers",
        f"a released number is {total / count:.3f} times sqrt(2) standard deviations from the original on average",
        "utility", "public",
        definition=f"The sum of {formula} over all numeric quasi-identifiers and records, divided by the number "
        f"of values. Constant columns are left out. {GAPS_LEFT_OUT}", table=FigureTable(header, rows),
    )  # fmt: skip
    yield Figure(
        "il1s_sum", total, "", "", "IL1s, sum of all numbers", "", "utility", "public",
        definition=f"The sum of {formula} over all numeric quasi-identifiers and records. It is not divided by "
        "their number, so it grows with the table.",
    )  # fmt: skip
