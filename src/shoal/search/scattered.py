"""Groups whose records lie far apart: dissolved, each record going to the group that is nearest to it.

A block can hold the last few records of two clusters, and then one group gets both. Exchanges cannot mend that:
they look at groups near the centroid of a group, and the centroid of such a group is near nobody.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.partition import by_group, compact, means_of, squared_error

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_USUAL = 0.75  # of the groups have an SSE up to what is usual
_FAR = 20.0  # times that: what makes a group scattered
_MOST = 500  # groups that are dissolved at the most, those of the largest SSE
_CHUNK = 10_000  # records whose differences are held at a time
_NEAREST = 16  # groups that a record may go to


def gathered(X: Float, labels: Int, k: int, weights: Float | None = None) -> Int:
    """The labels with scattered groups dissolved, where that lowers the SSE; no group exceeds 2k - 1."""
    own = np.ones(len(X)) if weights is None else weights
    centroids, sizes, masses = means_of(X, labels, weights), np.bincount(labels), np.bincount(labels, own)
    errors = np.bincount(labels, squared_errors(X, centroids, labels) * own)
    usual = float(np.quantile(errors, _USUAL)) or float(errors.mean())
    worst = np.flatnonzero(errors > _FAR * usual)
    worst = worst[np.argsort(-errors[worst], kind="stable")][:_MOST]
    others = np.delete(np.arange(len(sizes)), worst)
    if not len(worst) or not len(others):
        return labels
    from scipy.spatial import cKDTree

    tree = cKDTree(centroids[others])
    new = labels.copy()
    order, starts = by_group(labels)
    nearest = np.arange(1, min(_NEAREST, len(others)) + 1)
    for group in worst.tolist():
        records = order[starts[group] : starts[group + 1]]
        homes, cost = [], 0.0
        away, near = tree.query(X[records], nearest)
        for record, distances, places in zip(records.tolist(), away, others[near].tolist(), strict=True):
            for distance, place in zip(distances.tolist(), places, strict=True):
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
    before = squared_error(X, centroids, labels, weights)
    return new if squared_error(X, means_of(X, new, weights), new, weights) < before else labels


def squared_errors(X: Float, centroids: Float, labels: Int) -> Float:
    """The squared distance of each record to the centroid of its group; few records are held at a time."""
    found = np.empty(len(X))
    for start in range(0, len(X), _CHUNK):
        part = slice(start, start + _CHUNK)
        found[part] = np.square(X[part] - centroids[labels[part]]).sum(axis=1)
    return found
