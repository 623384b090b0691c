"""A group of 2k records or more split into groups of k: pairs of them, one around each of two records far apart.

By diameter the two are the records farthest from each other (Domingo-Ferrer and Mateo-Sanz 2002); else they are
the one farthest from the centroid and the one farthest from that, as in MDAV. Small groups are split by plain
scans; for large ones there are steps on the search tree, to the same result.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.exact import Sums, add_row, centroid, clear, squared_distance
from shoal.kernels.heap import offer
from shoal.kernels.peel import take
from shoal.kernels.tree import Tree, farthest, is_alive, k_nearest, lowest_id

ROUNDING = 1 + 1e-12
TINY = 1e-161  # differences below about this have squares that vanish


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


@inner
def farthest_slots(tree: Tree, order: Array, radii: Array) -> tuple[int, int, float]:
    """The slots of the two alive records farthest from each other, that of the lower one first, and their d2.

    `order` has the slots by falling distance (`radii`) from some point: two records are no farther from each other
    than from that point together.
    """
    p, q, reach = -1, -1, 0.0
    top = -1.0
    for slot in order:
        if not is_alive(tree, slot):
            continue
        if top < 0.0:
            top = radii[slot]
        if (top + radii[slot] + 2 * np.sqrt(radii.size) * TINY) * ROUNDING < np.sqrt(reach):
            break
        other = farthest(tree, tree.rows[slot])
        d2 = squared_distance(tree.rows, other, tree.rows[slot])
        low, high = (slot, other) if lowest_id(tree, slot) < lowest_id(tree, other) else (other, slot)
        if d2 > reach or (
            d2 == reach
            and p >= 0
            and (
                lowest_id(tree, low) < lowest_id(tree, p)
                or (low == p and lowest_id(tree, high) < lowest_id(tree, q))
            )
        ):
            p, q, reach = low, high, d2
    return p, q, reach


@kernel
def diameter_steps(
    tree: Tree,
    sums: Sums,
    labels: Array,
    free: int,
    label: int,
    k: int,
    floor: int,
    most: int,
    order: Array,
    radii: Array,
) -> tuple[int, int]:
    """A group around each of the two free records farthest from each other, as the steps of kernels.peel."""
    d2, ids, slots = np.empty(k + 1), np.empty(k + 1, np.int64), np.empty(k + 1, np.int64)
    for _ in range(most):
        if free < floor:
            break
        p, q, reach = farthest_slots(tree, order, radii)
        if reach == 0.0:  # all alike: the two lowest records
            for slot in order:
                if is_alive(tree, slot):
                    p = slot
            k_nearest(tree, tree.rows[p], 2, d2, ids, slots)
            p, q = (slots[0], slots[1]) if ids[0] < ids[1] else (slots[1], slots[0])
        take(tree, sums, p, label, labels)
        take(tree, sums, q, label + 1, labels)
        for seed in (p, q):
            count = k_nearest(tree, tree.rows[seed], k - 1, d2, ids, slots) if k > 1 else 0
            for h in range(count):
                take(tree, sums, slots[h], label, labels)
            label += 1
        free -= 2 * k
    return free, label
