"""The group nearest to people whose quasi-identifiers are known."""

import numpy as np

from shoal.kernels.single.uniqueness import nearest_of
from shoal.measures.pair import Float, Int, Pair, PairColumn


def groups_near(
    pair: Pair,
    columns: tuple[PairColumn, ...],
    scales: Float,
    persons: Float,
    rng: np.random.Generator,
    squared: bool,
) -> Int:
    """The group whose released record is nearest to each person, a random one of those that are equally near.

    Differences of numbers are divided by their scale, and squared where asked; a column with the scale 0 is one of
    names, which are equal or not.
    """
    groups, rows = np.unique(pair.groups, return_index=True)
    order = rng.permutation(len(groups))
    named = scales == 0.0
    by = np.where(named, 1.0, scales)
    released = np.column_stack([column.after[rows[order]] for column in columns]) / by
    return groups[order][nearest_of(released, named, squared, np.ascontiguousarray(persons / by))]


def span_of(values: Float) -> float:
    """The range of the known values, 0 where there are none."""
    known = values[~np.isnan(values)]
    return float(np.ptp(known)) if len(known) else 0.0


def deviation_of(values: Float) -> float:
    """The standard deviation of the known values, 0 where there are none or they are equal."""
    known = values[~np.isnan(values)]
    return float(known.std()) if span_of(values) > 0.0 else 0.0
