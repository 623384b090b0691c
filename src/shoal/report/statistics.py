"""Numbers of columns as a page shows them: how they are written, statistics, shares, correlations."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.report.subject import ShownColumn

Float = NDArray[np.float64]

Row = tuple[Any, ...]


def number(value: float) -> str:
    """A number to read: six significant digits, thousands apart."""
    if not np.isfinite(value):
        return "\u2013"
    if value == 0:
        return "0"  # and not -0
    if not 1e-4 <= abs(value) < 1e12:
        return f"{value:.5g}"
    text = f"{value:,.{max(0, 5 - int(np.floor(np.log10(abs(value)))))}f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace(",", "\u2009")


def cell(value: Any) -> str:
    """A value in a table of a page."""
    if value is None:
        return "\u2013"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number):
        return number(float(value))
    return str(value)


def known(values: Float) -> Float:
    """Numbers without gaps."""
    return values[~np.isnan(values)]


def statistics(column: ShownColumn, weights: Float | None = None) -> list[Row]:
    """Some statistics of every side; with sampling weights, records count by these in means and deviations."""
    sides = list(column.sides.values())
    if not all(len(known(values)) for values in sides):
        return []
    with np.errstate(over="ignore", invalid="ignore"):  # the largest doubles have no standard deviation
        found = [statistics_of(known(values), of_known(weights, values)) for values in sides]
    weighted = "" if weights is None else "weighted "
    labels = f"{weighted}mean", f"{weighted}standard deviation", "lowest", "highest"
    return list(zip(labels, *found, strict=True))


def statistics_of(values: Float, weights: Float | None) -> list[float]:
    """The mean and the standard deviation, in which records count by their shares of the weights, and the ends."""
    if weights is None:
        mean, deviation = np.mean(values), np.std(values)
    else:
        mean = np.sum(values * weights)
        deviation = np.sqrt(np.sum(weights * np.square(values - mean)))
    return [float(each) for each in (mean, deviation, values.min(), values.max())]


def of_known(weights: Float | None, values: Float) -> Float | None:
    """The weights of the records that have a number, as shares of their sum; None where all count alike."""
    if weights is None:
        return None
    own = weights[~np.isnan(values)]
    return own / own.sum() if own.any() else None


def shares(column: ShownColumn, weights: Float | None = None) -> list[Row]:
    """The share of each category in percent, on every side."""
    found = []
    for values in column.sides.values():
        there = ~np.isnan(values)
        own = None if weights is None else weights[there]
        counts = np.bincount(values[there].astype(np.int64), own, minlength=len(column.levels))
        found.append((100 * counts / (counts.sum() or 1)).tolist())
    return list(zip(column.levels, *found, strict=True))


def varying(columns: Sequence[ShownColumn]) -> list[ShownColumn]:
    """The columns of numbers that have a correlation with others."""
    numbers = []
    for column in columns:
        first = known(next(iter(column.sides.values())))
        if not column.levels and len(first) and first.min() < first.max():
            numbers.append(column)
    return numbers


def correlations(columns: Sequence[ShownColumn], weights: Float | None = None) -> dict[str, Float]:
    """The matrix of correlations on every side; 0 with a column that a release made constant."""
    return {side: correlated([scaled(c.sides[side]) for c in columns], weights) for side in columns[0].sides}


def scaled(values: Float) -> Float:
    """Numbers of at most 1, so that no square overflows."""
    most = float(np.abs(known(values)).max(initial=0))
    return values / most if most else values


def correlated(columns: list[Float], weights: Float | None = None) -> Float:
    """The correlations of columns, each pair on the records that lack neither."""
    with np.errstate(invalid="ignore", divide="ignore"):
        if not any(np.isnan(column).any() for column in columns):
            return coefficients(np.stack(columns), weights)
        found = np.eye(len(columns))
        for i, one in enumerate(columns):
            for j, other in enumerate(columns[:i]):
                both = ~np.isnan(one) & ~np.isnan(other)
                own = None if weights is None else weights[both]
                value = coefficients(np.stack([one, other])[:, both], own)[0, 1] if both.sum() > 1 else 0.0
                found[i, j] = found[j, i] = value
        return found


def coefficients(rows: Float, weights: Float | None) -> Float:
    """The correlations of rows of numbers; 0 with what is constant."""
    if weights is None or not weights.any():
        return np.asarray(np.nan_to_num(np.corrcoef(rows)))
    covariances = np.cov(rows, aweights=weights / weights.sum(), ddof=0)
    deviations = np.sqrt(np.diag(covariances))
    return np.asarray(np.nan_to_num(np.clip(covariances / np.outer(deviations, deviations), -1, 1)))
