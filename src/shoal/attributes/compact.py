"""Many categories in few coordinates: exactly where they fit, else nearly.

A category has a few marks: itself, and in a taxonomy its ancestors too. Each mark is a coordinate of its own. The
squared distance between two categories is the sum of the squared marks that only one of them has. Ten thousand
marks are too many coordinates. Then the marks that vary most keep theirs, and all others share some coordinates:
each of them has a direction of its own there, drawn by a fixed rule. Such directions are nearly orthogonal, so the
squared distances between categories stay nearly what they were (Achlioptas, Database-friendly random projections,
2003). In d shared coordinates they are off by a share of about sqrt(2 / d).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_SEED = 0x5348_4F41_4C00_0001
_TOGETHER = 4096  # marks whose directions are in memory at a time


def compacted(incidence: Any, shares: Float, most: int) -> tuple[Float, bool]:
    """Categories in at most so many coordinates, and whether the distances between them are exact.

    Parameters
    ----------
    incidence : sparse matrix of scipy, one row for each category and one column for each mark
        How much each category has of each mark: 0, or the root of what the mark counts for in a squared distance.
    shares : the share of the records that each category has
    most : the most coordinates, at least 1
    """
    marks = incidence.tocsc()
    if marks.shape[1] <= most:
        return np.asarray(marks.toarray(), np.float64), True
    mean, square = shares @ marks, shares @ marks.multiply(marks)
    variance = square - mean * mean
    # Rounded, so that marks that vary alike are taken in their order.
    unit = max(variance.max(), 1e-6 * square.max()) or 1.0
    by_variance = np.argsort(-np.round(variance / unit, 9), kind="stable")
    own = np.sort(by_variance[: most // 2])
    others = np.sort(by_variance[most // 2 :])
    d = most - most // 2
    shared = np.zeros((marks.shape[0], d))
    for start in range(0, len(others), _TOGETHER):
        chosen = others[start : start + _TOGETHER]
        shared += marks[:, chosen] @ directions(chosen, d)
    return np.hstack([marks[:, own].toarray(), shared]), False


def directions(places: Int, d: int) -> Float:
    """For each place a vector of length 1 whose d entries have all the same size; it depends on nothing else."""
    count = (places[:, None] * d + np.arange(d)).astype(np.uint64)
    entry = 1.0 / np.sqrt(d)
    return np.asarray(np.where(scrambled(count) >> np.uint64(63), entry, -entry))


def scrambled(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers that look random, one for each: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(_SEED)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
