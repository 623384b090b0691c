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
    centred = centred_of(X)
    return np.asarray(centred @ first_direction(centred))


def centred_of(X: Float) -> Float:
    """The points around their mean, divided by the largest number, so that no square overflows."""
    largest = np.abs(X).max()
    scaled = X / largest if largest > 0 else X
    return np.asarray(scaled - scaled.mean(axis=0))


def first_direction(centred: Float) -> Float:
    """The direction of greatest variance, from the smaller of the two tables of products.

    It is turned so that its largest coordinate (the first of equals) is positive.
    """
    n, m = centred.shape
    if m <= n:
        direction = np.asarray(np.linalg.eigh(centred.T @ centred)[1][:, -1])
    else:
        direction = np.linalg.eigh(centred @ centred.T)[1][:, -1] @ centred
        length = np.linalg.norm(direction)
        direction = np.asarray(direction / length if length > 0 else direction)
    return direction if direction[np.argmax(np.abs(direction))] >= 0 else -direction
