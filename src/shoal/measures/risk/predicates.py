"""Predicates that an attacker reads off a release: conditions on columns that few people fulfil.

Tables come column by column: row j holds the values of column j.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.kernels.single.uniqueness import GAP, INSIDE, OUTSIDE, fulfilled
from shoal.measures.pair import Float, Int

Bool = NDArray[np.bool_]

_BATCH = 500  # predicates that are tried at a time
_TRIES = 5_000  # predicates that are tried in all, where there are few records
_WORK = 300_000_000  # predicates times records


@dataclass(frozen=True, eq=False)
class Predicates:
    """Conditions: row q of each array is predicate q, and all of its conditions must be true.

    A value must be between `low` and `high`, or not between them, or missing, as `asked` says.
    """

    columns: Int
    asked: Int
    low: Float
    high: Float

    def __len__(self) -> int:
        return len(self.columns)

    def some(self, rows: Int) -> "Predicates":
        """Some of them."""
        return Predicates(self.columns[rows], self.asked[rows], self.low[rows], self.high[rows])

    def with_more(self, others: "Predicates") -> "Predicates":
        """These and others, each once."""
        both = Predicates(
            np.vstack([self.columns, others.columns]), np.vstack([self.asked, others.asked]),
            np.vstack([self.low, others.low]), np.vstack([self.high, others.high]),
        )  # fmt: skip
        whole = np.hstack([both.columns, both.asked, both.low, both.high])
        return both.some(np.sort(np.unique(whole, axis=0, return_index=True)[1]))


def singled_out(table: Float, predicates: Predicates) -> Bool:
    """Whether each predicate is true for exactly one record."""
    p = predicates
    found: Int = fulfilled(np.ascontiguousarray(table), p.columns, p.asked, p.low, p.high)
    return np.equal(found, 1)


def one_column(released: Float, numbers: Bool, most: int, rng: np.random.Generator) -> Predicates:
    """Conditions on one column that one released record fulfils: the extremes, values that occur once, one gap."""
    made: list[tuple[int, int, float, float]] = []
    for column, values in enumerate(released):
        known, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        if len(known) and numbers[column]:
            made += [(column, INSIDE, -np.inf, float(known[0])), (column, INSIDE, float(known[-1]), np.inf)]
        once = known[counts == 1]
        made += [(column, INSIDE, value, value) for value in once[rng.permutation(len(once))[:most]].tolist()]
        made += [(column, GAP, 0.0, 0.0)] if len(values) - counts.sum() == 1 else []
    order = rng.permutation(len(made))
    rows = np.array([made[place] for place in order]).reshape(-1, 4)
    columns, asked = rows[:, :1].astype(np.int64), rows[:, 1:2].astype(np.int64)
    found = Predicates(columns, asked, rows[:, 2:3].copy(), rows[:, 3:].copy())
    return found.some(np.flatnonzero(singled_out(released, found))[:most])


def several_columns(released: Float, numbers: Bool, width: int, most: int, rng: np.random.Generator) -> Predicates:
    """Conditions on several columns, each as one released record has it, that no other released record fulfils.

    Numbers above the median ask for at least as much, others for at most as much; so rare corners are found.
    """
    m, n = released.shape
    middles = np.array([np.median(v[~np.isnan(v)]) if not np.isnan(v).all() else 0.0 for v in released])
    width = min(width, m)
    none = np.empty((0, width))
    found = Predicates(none.astype(np.int64), none.astype(np.int64), none, none)
    for _ in range(max(min(_TRIES, _WORK // n) // _BATCH, 1)):
        columns = drawn_columns(m, width, _BATCH, rng)
        values = released[columns, rng.integers(n, size=(_BATCH, 1))]
        gaps, above = np.isnan(values), values > middles[columns]
        low = np.where(numbers[columns] & ~above, -np.inf, values)
        high = np.where(numbers[columns] & above, np.inf, values)
        asked = np.where(gaps, GAP, INSIDE)
        tried = Predicates(columns, asked, np.where(gaps, 0.0, low), np.where(gaps, 0.0, high))
        found = found.with_more(tried.some(np.flatnonzero(singled_out(released, tried))))
        if len(found) >= most:
            break
    return found.some(np.arange(len(found))[:most])


def drawn_columns(m: int, width: int, count: int, rng: np.random.Generator) -> Int:
    """So many times so many different columns of m, in order."""
    return np.sort(rng.permuted(np.tile(np.arange(m), (count, 1)), axis=1)[:, :width], axis=1)


def guessed_predicates(
    released: Float, numbers: Bool, width: int, count: int, rng: np.random.Generator
) -> Predicates:
    """Random conditions with random released values, true for whomever.

    Categories: equal to the value, or not; numbers: likewise, or at most, at least, below or above the value.
    """
    m, n = released.shape
    columns = drawn_columns(m, min(width, m), count, rng)
    values = released[columns, rng.integers(n, size=columns.shape)]
    gaps = np.isnan(values)
    way = np.where(numbers[columns], rng.integers(6, size=columns.shape), rng.integers(2, size=columns.shape))
    low = np.select([way == 2, way == 4, way == 5], [-np.inf, -np.inf, np.nextafter(values, np.inf)], values)
    high = np.select([way == 3, way == 5, way == 4], [np.inf, np.inf, np.nextafter(values, -np.inf)], values)
    asked = np.where(gaps, GAP, np.where(way == 1, OUTSIDE, INSIDE))
    return Predicates(columns, asked, np.where(gaps, 0.0, low), np.where(gaps, 0.0, high))
