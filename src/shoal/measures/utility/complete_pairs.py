"""Covariances and correlations of many columns at once; of each pair, of the records that have both values."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.measures.utility.stated import is_constant, known

Float = NDArray[np.float64]

_NOTHING = 1e-12  # a part of the variance of a column below which it counts as constant
_ROWS = 100_000  # that are held as matrices at a time


@dataclass(frozen=True, eq=False)
class CompletePairs:
    """What is known of each pair of columns: m x m matrices, NaN where fewer than two records have both values.

    `variances[i, j]` is that of column i among the records that have both i and j.
    """

    counts: Float
    covariances: Float
    variances: Float

    @property
    def correlations(self) -> Float:
        """Pearson's correlations; NaN where a column is constant."""
        own = np.diag(self.variances)[:, None]
        variances = np.where(self.variances > _NOTHING * own, self.variances, np.nan)
        return np.asarray(np.clip(self.covariances / (np.sqrt(variances) * np.sqrt(variances.T)), -1.0, 1.0))


def complete_pairs(columns: list[Float]) -> CompletePairs:
    """Sums over the records that have both values, for all pairs, some records at a time."""
    m, n = len(columns), len(columns[0])
    middles = np.array([middle(known(column)) for column in columns])
    counts, sums, products, squares = (np.zeros((m, m)) for _ in range(4))
    for start in range(0, n, _ROWS):
        part = np.column_stack([column[start : start + _ROWS] for column in columns]) - middles
        has = (~np.isnan(part)).astype(np.float64)
        part[has == 0] = 0.0
        counts += has.T @ has
        sums += part.T @ has
        products += part.T @ part
        squares += (part**2).T @ has
    with np.errstate(divide="ignore", invalid="ignore"):
        few = np.where(counts > 1, counts, np.nan)
        covariances = (products - sums * sums.T / few) / (few - 1)
        variances = np.maximum(squares - sums**2 / few, 0.0) / (few - 1)
    return CompletePairs(counts, covariances, variances)


def middle(values: Float) -> float:
    """The mean; of equal values that value itself, so that nothing is left of it."""
    if len(values) == 0:
        return 0.0
    return float(values[0]) if is_constant(values) else float(values.mean())
