"""Groups whose records lie far apart: dissolved, each record going to the group that is nearest to it.

A block can hold the last few records of two clusters, and then one group gets both. Exchanges cannot mend that:
they look at groups near the centroid of a group, and the centroid of such a group is near nobody.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from shoal.partition import compact, means_of, sse_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_USUAL = 0.75  # of the groups have an SSE up to what is usual
_FAR = 20.0  # times that: what makes a group scattered
_MOST = 500  # groups that are dissolved at the most, those of the largest SSE
_NEAREST = 16  # groups that a record may go to


def gathered(X: Float, labels: Int, k: int, weights: Float | None = None) -> Int:
    """The labels with scattered groups dissolved, where that lowers the SSE; no group exceeds 2k - 1."""
    own = np.ones(len(X)) if weights is None else weights
    centroids, sizes, masses = means_of(X, labels, weights), np.bincount(labels), np.bincount(labels, own)
    errors = np.bincount(labels, np.square(X - centroids[labels]).sum(axis=1) * own)
    usual = float(np.quantile(errors, _USUAL)) or float(errors.mean())
    worst = np.flatnonzero(errors > _FAR * usual)
    worst = worst[np.argsort(-errors[worst], kind="stable")][:_MOST]
    others = np.setdiff1d(np.arange(len(sizes)), worst)
    if not len(worst) or not len(others):
        return labels
    tree = cKDTree(centroids[others])
    new = labels.copy()
    for group in worst.tolist():
        records = np.flatnonzero(labels == group)
        homes, cost = [], 0.0
        for record in records.tolist():
            away, near = tree.query(X[record], min(_NEAREST, len(others)))
            for distance, place in zip(np.atleast_1d(away), others[np.atleast_1d(near)], strict=True):
                if sizes[place] < 2 * k - 1:
                    mass, weight = masses[place], own[record]
                    cost += distance**2 * (mass * weight) / (mass + weight) if mass + weight > 0 else 0.0
                    sizes[place] += 1
                    masses[place] += weight
                    homes.append(place)
                    break
        if len(homes) == len(records) and cost < errors[group]:
            new[records] = homes
        else:
            np.subtract.at(sizes, np.array(homes, np.int64), 1)
            np.subtract.at(masses, np.array(homes, np.int64), own[records[: len(homes)]])
    new = compact(new)
    return new if sse_of(X, new, weights) < sse_of(X, labels, weights) else labels
