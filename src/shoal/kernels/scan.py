"""MDAV by linear scans over the records that are still free: O(n^2 m / k) time, O(n) memory."""

import numba as nb
import numpy as np
from numpy.typing import NDArray

from shoal.kernels.exact import DIGITS, add_record, mean_from

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@nb.njit(cache=True)
def squared_distance(a: Float, b: Float) -> float:
    """Summed attribute by attribute, in order: every method and its twin get the same bits."""
    total = 0.0
    for j in range(a.shape[0]):
        difference = a[j] - b[j]
        total += difference * difference
    return total


@nb.njit(cache=True)
def farthest(X: Float, free: Int, point: Float) -> int:
    """The free record farthest from a point, the lowest index among equals."""
    best: int = free[0]
    reach = -1.0
    for position in range(free.shape[0]):
        distance = squared_distance(X[free[position]], point)
        if distance > reach:
            reach = distance
            best = free[position]
    return best


@nb.njit(cache=True)
def take_group(
    X: Float, k: int, free: Int, count: int, seed: int, label: int, labels: Int, digits: Int
) -> None:
    """Label `seed` and the k - 1 free records nearest to it; take them out of `free` and of the sums.

    `free` lists the free records by rising index in its first `count` places.
    """
    bits = X.view(np.int64)
    distance = np.empty(count)
    for position in range(count):
        record = free[position]
        # The seed belongs to its own group even where other records coincide with it.
        distance[position] = -1.0 if record == seed else squared_distance(X[record], X[seed])
    limit = np.partition(distance, k - 1)[k - 1]
    ties = k
    for position in range(count):
        if distance[position] < limit:
            ties -= 1
    kept = 0
    for position in range(count):
        record = free[position]
        taken = distance[position] < limit
        if distance[position] == limit and ties > 0:
            taken = True
            ties -= 1
        if taken:
            labels[record] = label
            add_record(digits, bits[record], -1)
        else:
            free[kept] = record
            kept += 1


@nb.njit(cache=True)
def sums_of(X: Float) -> Int:
    """The exact sum of every attribute over all records."""
    bits = X.view(np.int64)
    digits = np.zeros((X.shape[1], DIGITS), np.int64)
    for record in range(X.shape[0]):
        add_record(digits, bits[record], 1)
    return digits


@nb.njit(cache=True)
def mdav_pairs(
    X: Float, k: int, free: Int, count: int, digits: Int, labels: Int, label: int, pairs: int
) -> tuple[int, int]:
    """Form up to `pairs` pairs of groups while 2k records are free; returns (free records, next label).

    All state is in the arguments, so that the caller can come back for more.
    """
    centroid = np.empty(X.shape[1])
    for _ in range(pairs):
        if count < 2 * k:
            break
        mean_from(digits, count, centroid)
        first = farthest(X, free[:count], centroid)
        take_group(X, k, free, count, first, label, labels, digits)
        count -= k
        second = farthest(X, free[:count], X[first])
        take_group(X, k, free, count, second, label + 1, labels, digits)
        count -= k
        label += 2
    return count, label


@nb.njit(cache=True)
def join_nearest(X: Float, rest: Int, labels: Int, centroids: Float, sizes: Int) -> None:
    """Each record of `rest`, in order, joins the group with the nearest centroid, which then moves."""
    bits = X.view(np.int64)
    digits = np.zeros((X.shape[1], DIGITS), np.int64)
    for record in rest:
        nearest = 0
        reach = np.inf
        for group in range(centroids.shape[0]):
            distance = squared_distance(X[record], centroids[group])
            if distance < reach:
                reach = distance
                nearest = group
        labels[record] = nearest
        sizes[nearest] += 1
        digits[:] = 0
        for other in range(X.shape[0]):
            if labels[other] == nearest:
                add_record(digits, bits[other], 1)
        mean_from(digits, sizes[nearest], centroids[nearest])
