"""What a group costs as each of its records sees it: the cheap lower bounds.

The SSE of s records is the sum of their pairs' squared distances over s. Divide each distance between its two
ends, in halves or in any other way; then a record's part of the SSE is at least that of its s - 1 cheapest ends,
over s.
"""

import numpy as np

from shoal.kernels.compiled import Array, kernel


@kernel
def shares_of(d2: Array, k: int, high: int, out: Array) -> None:
    """Each record's least part of any group, distances halved; d2[i] are its smallest ones, rising.

    Beyond those the last one is counted.
    """
    known = d2.shape[1]
    for i in range(d2.shape[0]):
        total, least = 0.0, np.inf
        for s in range(1, high + 1):
            if s > 1:
                total += d2[i, min(s - 2, known - 1)]
            if s >= k:
                least = min(least, total / (2 * s))
        out[i] = least


@kernel
def fill_ends(near: Array, starts: Array, edges: Array, signs: Array, lengths: Array, d2: Array) -> int:
    """The pairs of neighbours as edges, each once, seen from both ends; returns how many.

    near[i] are the neighbours of record i, d2[i] their squared distances. Record i has the ends from starts[i] to
    starts[i + 1]; sign 1 is the end of the lower record.
    """
    n, known = near.shape
    count = 0
    filled = np.zeros(n, np.int64)
    for i in range(n):
        for p in range(known):
            j = near[i, p]
            mutual = False
            if j < i:
                for q in range(known):
                    if near[j, q] == i:
                        mutual = True
                        break
            if not mutual:
                low, high = min(i, j), max(i, j)
                edges[starts[low] + filled[low]], signs[starts[low] + filled[low]] = count, 1
                edges[starts[high] + filled[high]], signs[starts[high] + filled[high]] = count, -1
                filled[low] += 1
                filled[high] += 1
                lengths[count] = d2[i, p]
                count += 1
    return count


@kernel
def count_ends(near: Array, counts: Array) -> None:
    """How many ends each record has: its neighbours, and those whose neighbour it is in one direction only."""
    n, known = near.shape
    for i in range(n):
        for p in range(known):
            j = near[i, p]
            mutual = False
            for q in range(known):
                if near[j, q] == i:
                    mutual = True
                    break
            counts[i] += 1
            if not mutual:
                counts[j] += 1


@kernel
def least_views(
    starts: Array,
    edges: Array,
    signs: Array,
    lengths: Array,
    shift: Array,
    far: Array,
    low: int,
    high: int,
    least: Array,
    slope: Array,
) -> None:
    """Each record's least part of any group of `low` to `high` records, and how their sum changes with each shift.

    An edge costs its lower record half its length and its shift, the higher one the rest. Records without an edge
    are at least far[i] away and that distance is halved.
    """
    best, who = np.empty(high), np.empty(high, np.int64)
    slope[:] = 0.0
    most = high - 1
    for i in range(least.size):
        for t in range(most):
            best[t], who[t] = 0.5 * far[i], -1
        for p in range(starts[i], starts[i + 1]):
            value = 0.5 * lengths[edges[p]] + signs[p] * shift[edges[p]]
            if value < best[most - 1]:
                place = most - 1
                while place > 0 and best[place - 1] > value:
                    best[place], who[place] = best[place - 1], who[place - 1]
                    place -= 1
                best[place], who[place] = value, p
        total, size = 0.0, low
        least[i] = np.inf
        for s in range(2, high + 1):
            total += best[s - 2]
            if s >= low and total / s < least[i]:
                least[i], size = total / s, s
        for t in range(size - 1):
            if who[t] >= 0:
                slope[edges[who[t]]] += signs[who[t]] / size
