"""Local search on a partition: records move to another group, or two of different groups change places.

The running centroids only guide the search; who calls it computes the SSE of what comes out anew.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.sums.exact import squared_distance


@inner
def fill_centroids(rows: Array, labels: Array, centroids: Array, sizes: Array) -> None:
    """The size and the mean of each group, in plain floating point."""
    sizes[:] = 0
    centroids[:] = 0.0
    for i in range(labels.size):
        sizes[labels[i]] += 1
        for j in range(rows.shape[1]):
            centroids[labels[i], j] += rows[i, j]
    for g in range(sizes.size):
        if sizes[g] > 0:
            for j in range(rows.shape[1]):
                centroids[g, j] /= sizes[g]


@inner
def shift(rows: Array, i: int, centroids: Array, sizes: Array, g: int, sign: int) -> None:
    """Put record i into group g (sign 1) or take it out (sign -1)."""
    sizes[g] += sign
    if sizes[g] > 0:
        for j in range(rows.shape[1]):
            centroids[g, j] += sign * (rows[i, j] - centroids[g, j]) / sizes[g]


@inner
def best_change(
    rows: Array, i: int, labels: Array, centroids: Array, sizes: Array, k: int, d2: Array
) -> tuple[float, int, int]:
    """What the best change of record i does to the SSE, the group it moves to, the record it swaps with or -1."""
    n = labels.size
    own = labels[i]
    a = sizes[own]
    for g in range(sizes.size):
        d2[g] = squared_distance(rows, i, centroids[g])
    change, group, other = 0.0, -1, -1
    if a > k:
        leaving = d2[own] * a / (a - 1)
        for g in range(sizes.size):
            if g != own and 0 < sizes[g] < 2 * k - 1:
                delta = d2[g] * sizes[g] / (sizes[g] + 1) - leaving
                if delta < change:
                    change, group = delta, g
    for y in range(n):
        g = labels[y]
        if g == own:
            continue
        delta = d2[g] - d2[own]
        delta += squared_distance(rows, y, centroids[own]) - squared_distance(rows, y, centroids[g])
        delta -= squared_distance(rows, y, rows[i]) * (1.0 / a + 1.0 / sizes[g])
        if delta < change:
            change, group, other = delta, g, y
    return change, group, other


@kernel
def improve(rows: Array, labels: Array, groups: int, k: int, start: int, steps: int, least: float) -> int:
    """Visit `steps` records from `start` on, each making its best change if that gains more than `least`.

    Changes labels; returns how many changes were made. No group falls below k or grows beyond 2k - 1.
    """
    centroids, sizes = np.empty((groups, rows.shape[1])), np.empty(groups, np.int64)
    fill_centroids(rows, labels, centroids, sizes)
    d2 = np.empty(groups)
    changes = 0
    for step in range(steps):
        i = (start + step) % labels.size
        change, group, other = best_change(rows, i, labels, centroids, sizes, k, d2)
        if not change < -least:
            continue
        changes += 1
        own = labels[i]
        shift(rows, i, centroids, sizes, own, -1)
        shift(rows, i, centroids, sizes, group, 1)
        labels[i] = group
        if other >= 0:
            shift(rows, other, centroids, sizes, group, -1)
            shift(rows, other, centroids, sizes, own, 1)
            labels[other] = own
    return changes


@inner
def draw(state: Array, below: int) -> int:
    """A number from 0 to below - 1; xorshift, the same on every machine."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return np.int64(x % np.uint64(below))


@inner
def regroup(rows: Array, labels: Array, groups: int, k: int, pool: Array, state: Array) -> int:
    """Give the records of `pool`, marked -1 in labels, to new groups around records drawn; returns the groups."""
    count = pool.size
    fewest = (count + 2 * k - 2) // (2 * k - 1)
    wanted = fewest + draw(state, count // k - fewest + 1)
    d2 = np.empty(count)
    centroids, sizes = np.zeros((wanted, rows.shape[1])), np.zeros(wanted, np.int64)
    for g in range(wanted):
        free = 0
        for p in range(count):
            free += labels[pool[p]] < 0
        skip = draw(state, free)
        seed = -1
        for p in range(count):
            if labels[pool[p]] < 0:
                if skip == 0:
                    seed = pool[p]
                skip -= 1
        for _ in range(k):
            nearest, reach = -1, np.inf
            for p in range(count):
                if labels[pool[p]] < 0:
                    d2[p] = squared_distance(rows, pool[p], rows[seed])
                    if d2[p] < reach or nearest < 0:
                        nearest, reach = pool[p], d2[p]
            labels[nearest] = groups + g
            shift(rows, nearest, centroids, sizes, g, 1)
    for p in range(count):
        if labels[pool[p]] < 0:
            nearest, reach = -1, np.inf
            for g in range(wanted):
                if sizes[g] < 2 * k - 1:
                    reached = squared_distance(rows, pool[p], centroids[g])
                    if reached < reach or nearest < 0:
                        nearest, reach = g, reached
            labels[pool[p]] = groups + nearest
            shift(rows, pool[p], centroids, sizes, nearest, 1)
    return groups + wanted


@inner
def renumber(labels: Array, groups: int) -> int:
    """Number the groups that have records from 0 on, in the order of their first record."""
    new = np.full(groups, -1)
    count = 0
    for i in range(labels.size):
        if new[labels[i]] < 0:
            new[labels[i]] = count
            count += 1
        labels[i] = new[labels[i]]
    return count


@kernel
def disturb(rows: Array, labels: Array, groups: int, k: int, state: Array) -> int:
    """Dissolve two to four neighbouring groups around a record drawn and form others of their records."""
    i = draw(state, labels.size)
    centroids, sizes = np.empty((groups, rows.shape[1])), np.empty(groups, np.int64)
    fill_centroids(rows, labels, centroids, sizes)
    d2 = np.empty(groups)
    for g in range(groups):
        d2[g] = squared_distance(rows, i, centroids[g])
    taken = np.argsort(d2)[: 2 + draw(state, 3)]
    gone = np.zeros(groups, np.bool_)
    for t in range(taken.size):
        gone[taken[t]] = True
    pool = np.empty(labels.size, np.int64)
    count = 0
    for y in range(labels.size):
        if gone[labels[y]]:
            pool[count] = y
            count += 1
    for p in range(count):
        labels[pool[p]] = -1
    return renumber(labels, regroup(rows, labels, groups, k, pool[:count], state))


@kernel
def sse_of_labels(d2: Array, labels: Array, groups: int) -> float:
    """The SSE from the squared distances of all pairs, group by group."""
    sums, sizes = np.zeros(groups), np.zeros(groups, np.int64)
    for i in range(labels.size):
        sizes[labels[i]] += 1
        for y in range(i):
            if labels[y] == labels[i]:
                sums[labels[i]] += d2[i, y]
    total = 0.0
    for g in range(groups):
        total += sums[g] / sizes[g]
    return total


@kernel
def iterate(rows: Array, d2: Array, labels: Array, k: int, rounds: int, state: Array) -> float:
    """Disturb and improve again and again, keeping the best; changes labels and returns their SSE."""
    n = labels.size
    groups = labels.max() + 1
    best = sse_of_labels(d2, labels, groups)
    for _ in range(rounds):
        tried = labels.copy()
        count = disturb(rows, tried, groups, k, state)
        for _ in range(20):
            if improve(rows, tried, count, k, 0, n, 1e-12 * best) == 0:
                break
        value = sse_of_labels(d2, tried, count)
        if value < best:
            best, groups = value, count
            labels[:] = tried
    return best
