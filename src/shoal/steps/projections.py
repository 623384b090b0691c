"""Records on a line: the sum of their z-scores, their first principal component."""

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


def standardised(X: Float) -> Float:
    """Each attribute with mean 0 and standard deviation 1; a constant attribute is 0."""
    spread = X.max(axis=0) - X.min(axis=0)
    unit = np.where(spread > 0, spread, 1.0)
    near_zero = (X - X.min(axis=0)) / unit  # within [0, 1], so that no square overflows or vanishes
    centred = near_zero - near_zero.mean(axis=0)
    deviation = centred.std(axis=0)
    return np.asarray(centred / np.where((spread > 0) & (deviation > 0), deviation, 1.0) * (spread > 0))


def zscore_sum(X: Float) -> Float:
    """The sum of the z-scores of each record."""
    return np.asarray(standardised(X).sum(axis=1))


def first_component(X: Float) -> Float:
    """Each record's place along the direction of greatest variance of the points as given.

    The direction is turned so that its largest coordinate (the first of equals) is positive.
    """
    largest = np.abs(X).max()
    centred = X / largest if largest > 0 else X
    centred = centred - centred.mean(axis=0)
    direction = first_direction(centred)
    leading = direction[np.argmax(np.abs(direction))]
    return np.asarray(centred @ (direction if leading >= 0 else -direction))


def first_direction(centred: Float) -> Float:
    """The direction of greatest variance, from the smaller of the two tables of products."""
    n, m = centred.shape
    if m <= n:
        return np.asarray(np.linalg.eigh(centred.T @ centred)[1][:, -1])
    direction = np.linalg.eigh(centred @ centred.T)[1][:, -1] @ centred
    length = np.linalg.norm(direction)
    return np.asarray(direction / length if length > 0 else direction)
