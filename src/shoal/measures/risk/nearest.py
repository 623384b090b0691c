"""The released rows nearest to people whose values are known.

Columns become coordinates, which differ by a scaled number, or by 1 where two categories or a gap and a value
meet. Released records with the same quasi-identifiers are one row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.single.linkage import nearest_rows
from shoal.measures.pair import Float, Int, Pair, PairColumn

Bool = NDArray[np.bool_]
Scale = Callable[[PairColumn], tuple[float, float]]
"""The number that is taken from those of a column, and the one that they are divided by."""

_LOOKED_AT = 5000  # rows by which coordinates are put in order
_DIGITS = 12  # of scaled numbers: what differs by less is equal


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Columns as the coordinates that distances are taken in.

    Attributes
    ----------
    records, rows : of the people looked for, and of what was released; a line each
    named : which coordinates are categories, of which another one costs 1
    attribute : the column that each coordinate belongs to, by number
    """

    records: Float
    rows: Float
    named: Bool
    attribute: Int

    def of(self, attributes: Sequence[int]) -> "Coordinates":
        """Those of some columns."""
        return self.chosen(np.flatnonzero(np.isin(self.attribute, attributes)))

    def first(self, most: int) -> "Coordinates":
        """The first of them, so many at most."""
        return self.chosen(np.arange(min(most, len(self.named))))

    def chosen(self, places: Int) -> "Coordinates":
        """Those in these places, in this order."""
        return Coordinates(
            self.records[:, places], self.rows[:, places], self.named[places], self.attribute[places]
        )


def centre_and_spread(column: PairColumn) -> tuple[float, float]:
    """The mean and the standard deviation of the original numbers; 0 and 1 where there are none, or no spread."""
    known = column.before[~np.isnan(column.before)]
    if not len(known):
        return 0.0, 1.0
    spread = float(known.std())
    return float(known.mean()), spread if spread > 0 and known.min() < known.max() else 1.0


def centre_and_range(column: PairColumn) -> tuple[float, float]:
    """The mean and the range of the released numbers; 0 and 1 where there are none, or no range."""
    known = column.after[~np.isnan(column.after)]
    if not len(known):
        return 0.0, 1.0
    return float(known.mean()), float(np.ptp(known)) or 1.0


def coordinates(
    columns: Sequence[PairColumn],
    records: Sequence[Float],
    rows: Sequence[Float],
    scale: Scale = centre_and_spread,
) -> Coordinates:
    """Columns of records and of released rows, by default standardised by the original table.

    Numbers and ordered categories lose the mean of the original column and are divided by its standard deviation.
    A gap stands at the mean, and whether there is one is a category of its own.
    """
    parts: list[tuple[Float, Float, bool, int]] = []
    for number, (column, some, others) in enumerate(zip(columns, records, rows, strict=True)):
        if column.levels and not column.ordered:
            parts.append((np.nan_to_num(some, nan=-1.0), np.nan_to_num(others, nan=-1.0), True, number))
            continue
        centre, spread = scale(column)
        left, right = (np.nan_to_num(np.round((each - centre) / spread, _DIGITS)) for each in (some, others))
        parts.append((left, right, False, number))
        if np.isnan(some).any() or np.isnan(others).any():
            parts.append((np.isnan(some).astype(float), np.isnan(others).astype(float), True, number))
    return Coordinates(
        np.column_stack([part[0] for part in parts]),
        np.column_stack([part[1] for part in parts]),
        np.array([part[2] for part in parts]),
        np.array([part[3] for part in parts]),
    )


@dataclass(frozen=True, eq=False)
class Classes:
    """The groups of a release, numbered without gaps.

    Attributes
    ----------
    sizes : how many records each has
    row : a released record of each, whose quasi-identifiers are those of all
    of : the group of each released record
    """

    sizes: Int
    row: Int
    of: Int


def classes_of(pair: Pair) -> Classes:
    """The groups of a release; numbers that no record has are left out."""
    there = pair.sizes > 0
    of = (np.cumsum(there) - 1)[pair.groups]
    row = np.zeros(int(there.sum()), np.int64)
    row[of[::-1]] = np.arange(pair.n_after)[::-1]  # the first record of each
    return Classes(pair.sizes[there], row, of)


def search_order(where: Coordinates) -> Coordinates:
    """The same, coordinates of many different values first: by these the search is shortest."""
    some = where.rows[:: max(len(where.rows) // _LOOKED_AT, 1)]
    different = [len(np.unique(some[:, j])) for j in range(some.shape[1])]
    return where.chosen(np.argsort(-np.array(different), kind="stable"))


def nearest(
    where: Coordinates,
    sizes: Int,
    own: Int,
    *,
    codes: tuple[Int, Int] | None = None,
    order: Int | None = None,
    names: Int | None = None,
    squared: bool = True,
) -> tuple[Float, Int]:
    """How probably each record is found among the nearest rows, and one of these rows; -1 for none.

    Parameters
    ----------
    where : of the records and the rows, as `search_order` returns them
    sizes : how many released records each row stands for
    own : the row of each record; -1 for people who have none
    codes : of the records and of the rows; the search is limited to rows of the same code
    order : of the rows by code and first coordinate, where it is known
    names : of the rows; of equals, the row with the lowest name is returned, by default the first
    squared : whether differences are squared, or added as they are
    """
    if order is None:
        order = row_order(where, codes)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    low, high = np.zeros(len(own), np.int64), np.full(len(own), len(order))
    if codes is not None:
        inside = codes[1][order]
        low, high = np.searchsorted(inside, codes[0]), np.searchsorted(inside, codes[0], side="right")
    found, first = nearest_rows(
        np.ascontiguousarray(where.records), np.ascontiguousarray(where.rows[order]), where.named, low, high,
        sizes[order].astype(np.float64), np.where(own < 0, -1, place[own]),
        order if names is None else names[order], squared,
    )  # fmt: skip
    if names is None or not len(order):
        return found, first
    row = np.full(int(names.max()) + 1, -1)
    row[names] = np.arange(len(names))
    return found, np.where(first < 0, -1, row[first])


def row_order(where: Coordinates, codes: tuple[Int, Int] | None = None) -> Int:
    """The rows by their code and their first coordinate."""
    key = where.rows[:, 0]
    return np.argsort(key, kind="stable") if codes is None else np.lexsort((key, codes[1]))


def quasi_identifiers_in(pair: Pair, records: Int, classes: Classes) -> Coordinates:
    """The original quasi-identifiers of some records beside those of all groups."""
    columns = pair.quasi_identifiers
    return search_order(
        coordinates(
            columns, [each.before[records] for each in columns], [each.after[classes.row] for each in columns]
        )
    )
