"""A short round trip through all records: 2-opt and Or-opt moves over lists of near neighbours.

The trip is an array of records and, for each record, its place in it. Both moves touch the shorter of the two
stretches between the changed edges; read from any place and in any direction, it is the same trip.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.sums.exact import squared_distance

LONGEST = 3  # records that an Or-opt move takes along
LEAST = 1e-9  # a move gains at least this share of the edges it removes, so that rounding cannot go in circles


@inner
def length(rows: Array, a: int, b: int) -> float:
    """The distance between two records."""
    return np.sqrt(squared_distance(rows, a, rows[b]))


@inner
def beside(tour: Array, place: Array, a: int, step: int) -> int:
    """The record `step` places after a, or before it."""
    return np.int64(tour[(np.int64(place[a]) + step) % tour.size])


@inner
def reverse(tour: Array, place: Array, first: int, last: int) -> None:
    """Turn the stretch from record `first` to record `last` around, or the rest of the trip if that is shorter."""
    n = tour.size
    i, j = int(place[first]), int(place[last])
    count = (j - i) % n + 1
    if 2 * count > n:
        i, j = (j + 1) % n, (i - 1) % n
        count = n - count
    for _ in range(count // 2):
        a, b = tour[i], tour[j]
        tour[i], tour[j] = b, a
        place[b], place[a] = i, j
        i = i + 1 if i + 1 < n else 0
        j = j - 1 if j > 0 else n - 1


@inner
def shift(tour: Array, place: Array, start: int, count: int, step: int, segment: Array, size: int) -> None:
    """Move `count` records from place `start` on by size places against `step`; the segment comes behind them."""
    n = tour.size
    at = start
    for _ in range(count):
        record = tour[at]
        to = (at - step * size) % n
        tour[to] = record
        place[record] = to
        at = (at + step) % n
    for i in range(size):
        to = (at - step * (size - i)) % n
        tour[to] = segment[i]
        place[segment[i]] = to


@inner
def try_two_opt(rows: Array, near: Array, tour: Array, place: Array, a: int, step: int, ends: Array) -> bool:
    """Replace the edge from a to the record after (before) it, and one at a near neighbour, if that is shorter."""
    b = beside(tour, place, a, step)
    old = length(rows, a, b)
    for c in near[a]:
        new = length(rows, a, c)
        if new >= old:
            return False
        d = beside(tour, place, c, step)
        removed = old + length(rows, c, d)
        if removed - new - length(rows, b, d) > LEAST * removed:
            if step > 0:
                reverse(tour, place, b, c)
            else:
                reverse(tour, place, a, d)
            ends[0], ends[1], ends[2], ends[3] = a, b, c, d
            return True
    return False


@inner
def within(place: Array, record: int, first: int, size: int, step: int, n: int) -> bool:
    """Whether a record is one of the `size` from `first` on, in the direction of step."""
    return (np.int64(place[record]) - np.int64(place[first])) * step % n < size


@inner
def move_segment(
    tour: Array, place: Array, a: int, size: int, step: int, c: int, side: int, segment: Array
) -> None:
    """Put a and the size - 1 records after it (in the direction of step) between c and its neighbour on that side.

    a becomes the neighbour of c.
    """
    n = tour.size
    first = np.int64(place[a])
    # In the direction of step: the stretch behind the segment, then c and d in either order.
    behind = (np.int64(place[c]) - first) * step % n - size  # records between the segment and c
    upto = behind + 1 if side > 0 else behind  # of the stretch that ends just before the gap
    for i in range(size):
        at = (first + step * (i if side > 0 else size - 1 - i)) % n
        segment[i] = tour[at]
    rest = n - size - upto
    if upto <= rest:
        shift(tour, place, (first + step * size) % n, upto, step, segment, size)
    else:
        segment[:size] = segment[:size][::-1].copy()
        shift(tour, place, (first - step) % n, rest, -step, segment, size)


@inner
def try_segment(
    rows: Array,
    tour: Array,
    place: Array,
    a: int,
    size: int,
    step: int,
    c: int,
    side: int,
    segment: Array,
    ends: Array,
) -> bool:
    """Take a and the size - 1 records after it between c and d, its neighbour on that side, if that is shorter."""
    n = tour.size
    d = beside(tour, place, c, step * side)
    if within(place, c, a, size, step, n) or within(place, d, a, size, step, n):
        return False
    before = beside(tour, place, a, -step)
    last = beside(tour, place, a, step * (size - 1))
    beyond = beside(tour, place, last, step)
    removed = length(rows, before, a) + length(rows, last, beyond) + length(rows, c, d)
    added = length(rows, before, beyond) + length(rows, a, c) + length(rows, last, d)
    if not removed - added > LEAST * removed:
        return False
    move_segment(tour, place, a, size, step, c, side, segment)
    ends[0], ends[1], ends[2], ends[3], ends[4], ends[5] = a, before, c, d, last, beyond
    return True


@inner
def try_or_opt(
    rows: Array, near: Array, tour: Array, place: Array, a: int, step: int, segment: Array, ends: Array
) -> bool:
    """Take a and up to two records after (before) it next to a near one, or a near one between a and the next.

    Every move that gains has a new edge shorter than an old one beside it; the two kinds find them all.
    """
    longest = min(LONGEST, tour.size - 3)
    for size in range(1, longest + 1):
        before = beside(tour, place, a, -step)
        last = beside(tour, place, a, step * (size - 1))
        beyond = beside(tour, place, last, step)
        gain = length(rows, before, a) + length(rows, last, beyond) - length(rows, before, beyond)
        for c in near[a]:
            if length(rows, a, c) >= gain:
                break
            for side in (-1, 1):
                if try_segment(rows, tour, place, a, size, step, c, side, segment, ends):
                    return True
    old = length(rows, a, beside(tour, place, a, step))
    for c in near[a]:
        if length(rows, a, c) >= old:
            return False
        for size in range(1, longest + 1):
            for way in (1, -1):
                if try_segment(rows, tour, place, c, size, way, a, step * way, segment, ends):
                    return True
    return False


@kernel
def shorten(rows: Array, near: Array, tour: Array, place: Array, waiting: Array, queued: Array, most: int) -> int:
    """Look at up to `most` waiting records for moves that shorten the trip; returns how many still wait.

    waiting is a ring of n records with its first place in queued[n] and its length in queued[n + 1]; queued[r]
    says whether r is in it. Records at the ends of changed edges wait again.
    """
    n = tour.size
    first, left = np.int64(queued[n]), np.int64(queued[n + 1])
    ends, segment = np.empty(6, np.int64), np.empty(LONGEST, np.int64)
    for _ in range(most):
        if left == 0:
            break
        a = np.int64(waiting[first])
        first, left = (first + 1) % n, left - 1
        queued[a] = 0
        moved = True
        while moved:
            moved = False
            for step in (1, -1):
                count = 0
                if try_two_opt(rows, near, tour, place, a, step, ends):
                    count = 4
                elif try_or_opt(rows, near, tour, place, a, step, segment, ends):
                    count = 6
                for e in range(count):
                    moved = True
                    if not queued[ends[e]] and ends[e] != a:
                        waiting[(first + left) % n] = ends[e]
                        queued[ends[e]] = 1
                        left += 1
    queued[n], queued[n + 1] = first, left
    return left
