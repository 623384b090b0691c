"""How much of the spread of the records lies within their groups: L_SSE with squared distances, L_E without.

Reference: J. Domingo-Ferrer, F. Sebé and A. Solanas, A polynomial-time approximation to optimal multivariate
microaggregation, Computers and Mathematics with Applications 55 (2008) 714-732, Section 6.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError
from shoal.partition import LARGEST, Partition

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_CHUNK = 100_000  # records whose distances are held at a time


def l_sse(X: ArrayLike, labels: ArrayLike) -> float:
    """L_SSE, the information loss of a partition: 100 * SSE / SST.

    Parameters
    ----------
    X : array of shape (n, m)
        The points of the records.
    labels : array of shape (n,)
        The group of each record, from 0 on without gaps.

    Returns
    -------
    float
        Percent: 0 where every record equals its centroid, 100 where there is one group.
    """
    return Partition(checked_points(X), labels, 1).information_loss


def l_e(X: ArrayLike, labels: ArrayLike) -> float:
    """L_E, the loss in Euclidean distances: 100 * SDE / SDT.

    SDE is the sum of the distances from the records to the centroids of their groups, SDT of those to the centroid
    of all. Far records count less than in L_SSE.

    Parameters
    ----------
    X : array of shape (n, m)
        The points of the records.
    labels : array of shape (n,)
        The group of each record, from 0 on without gaps.

    Returns
    -------
    float
        Percent: 0 where every record equals its centroid, 100 where there is one group.
    """
    points = checked_points(X)
    groups = Partition(points, labels, 1)
    everything = Partition(points, np.zeros(len(points), np.int64), 1)
    total = distances(points, everything)
    return 100.0 * distances(points, groups) / total if total > 0 else 0.0


def distances(points: Float, partition: Partition) -> float:
    """The sum of the Euclidean distances from the points to the centroids of their groups."""
    total = 0.0
    for start in range(0, len(points), _CHUNK):
        own = partition.centroids[partition.labels[start : start + _CHUNK]]
        total += float(np.sqrt(((points[start : start + _CHUNK] - own) ** 2).sum(axis=1)).sum())
    return total


def checked_points(X: ArrayLike) -> Float:
    """The points as an array, if they are finite and their squares do not overflow."""
    from sklearn.utils import check_array

    try:
        points: Float = check_array(X, dtype=np.float64, order="C", input_name="X")
    except (ValueError, TypeError) as error:
        raise ShoalError(str(error).splitlines()[0]) from None
    if np.abs(points).max() > LARGEST:
        raise ShoalError(f"X holds values above {LARGEST:g}, whose squares overflow; scale it first")
    return points
