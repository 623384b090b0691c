"""A group of 2k records or more split into groups of k: pairs of them, one around each of two records far apart.

By diameter the two are the records farthest from each other (Domingo-Ferrer and Mateo-Sanz 2002); else they are
the one farthest from the centroid and the one farthest from that, as in MDAV. By plain scans, for small groups.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.heap import offer
from shoal.kernels.sums.exact import Sums, add_row, centroid, clear, squared_distance


@inner
def farthest_pair(rows: Array, free: Array, count: int) -> tuple[int, int]:
    """The two records farthest from each other, the lowest indices among equals; free is ascending."""
    p, q, reach = -1, -1, -1.0
    for a in range(count):
        for b in range(a + 1, count):
            d2 = squared_distance(rows, free[b], rows[free[a]])
            if d2 > reach:
                p, q, reach = free[a], free[b], d2
    return p, q


@inner
def farthest_of(rows: Array, free: Array, count: int, point: Array) -> int:
    """The record farthest from a point, the lowest index among equals."""
    best, reach = -1, -1.0
    for a in range(count):
        d2 = squared_distance(rows, free[a], point)
        if d2 > reach:
            best, reach = free[a], d2
    return best


@inner
def drop(free: Array, count: int, labels: Array, label: int) -> int:
    """Takes the records with this label out of the free ones; returns how many are left."""
    kept = 0
    for a in range(count):
        if labels[free[a]] != label:
            free[kept] = free[a]
            kept += 1
    return kept


@inner
def gather(rows: Array, free: Array, count: int, seed: int, k: int, labels: Array, label: int) -> int:
    """The seed and the k - 1 free records nearest to it get the label; returns how many are left."""
    labels[seed] = label
    count = drop(free, count, labels, label)
    d2, ids, places = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    held = 0
    if k > 1:
        for a in range(count):
            away = squared_distance(rows, free[a], rows[seed])
            held = offer(d2, ids, places, held, k - 1, away, free[a], a)
    for h in range(held):
        labels[ids[h]] = label
    return drop(free, count, labels, label)


@inner
def labelled_centroid(
    rows: Array, sums: Sums, group: Array, labels: Array, label: int, out: Array, word: Array
) -> None:
    """The centroid of the records of a group that have this label."""
    clear(sums)
    count = 0
    for i in group:
        if labels[i] == label:
            add_row(sums, rows.view(np.int64), i, 1)
            count += 1
    centroid(sums, count, out, word)


@inner
def join_nearest(
    rows: Array, sums: Sums, group: Array, free: Array, count: int, labels: Array, first: int, last: int
) -> None:
    """Each free record, in order, joins the group with the nearest centroid, which moves at once."""
    centres, word = np.empty((last - first, rows.shape[1])), np.empty(1, np.int64)
    for label in range(first, last):
        labelled_centroid(rows, sums, group, labels, label, centres[label - first], word)
    for a in range(count):
        best, reach = -1, np.inf
        for g in range(last - first):
            d2 = squared_distance(centres, g, rows[free[a]])
            if d2 < reach:
                best, reach = g, d2
        labels[free[a]] = first + best
        labelled_centroid(rows, sums, group, labels, first + best, centres[best], word)


@kernel
def split_small(
    rows: Array, sums: Sums, members: Array, starts: Array, k: int, by_diameter: bool, labels: Array, label: int
) -> int:
    """Splits each group, members[starts[g]:starts[g + 1]], ascending; labels from `label` on; returns the next."""
    m = rows.shape[1]
    centre, word = np.empty(m), np.empty(1, np.int64)
    for g in range(starts.size - 1):
        group = members[starts[g] : starts[g + 1]]
        labels[group] = -1
        free, count = group.copy(), group.size
        first = label
        while count >= 2 * k:
            if by_diameter:
                p, q = farthest_pair(rows, free, count)
                labels[q] = label + 1  # it leads its own group, even where it is as near to p as others
                count = drop(free, count, labels, label + 1)
                count = gather(rows, free, count, p, k, labels, label)
            else:
                labelled_centroid(rows, sums, group, labels, -1, centre, word)
                p = farthest_of(rows, free, count, centre)
                count = gather(rows, free, count, p, k, labels, label)
                q = farthest_of(rows, free, count, rows[p])
            count = gather(rows, free, count, q, k, labels, label + 1)
            label += 2
        if count >= k:
            labels[free[:count]] = label
            label += 1
        else:
            join_nearest(rows, sums, group, free, count, labels, first, label)
    return label
