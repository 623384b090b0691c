"""The loops of the methods that group records for t-closeness or p-sensitivity.

The free records stand in a list of rising indices, and each group scans it: who is in a group depends on
confidential values too, so records that coincide are not the same, and there is no search tree. Distances
between distributions that differ by no more than `SLACK` count as equal, so that rounding does not decide.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, folded, inner, kernel
from shoal.kernels.promises.rules import LINE, SLACK, Rules, judged_group, stretch
from shoal.kernels.search_tree.heap import sift_down, sift_up, swap
from shoal.kernels.single.dissolve import members_of
from shoal.kernels.sums.exact import Sums, add_row, centroid, fill_means, squared_distance

_FIRST = 64  # candidates that are taken from a heap; where these do not do, hundreds more are looked at

# Groups merged while one of them is too far from the table.


@kernel
def merge_steps(
    rows: Array,
    sums: Sums,
    rules: Rules,
    r: int,
    first: Array,
    following: Array,
    centroids: Array,
    values: Array,
    excess: Array,
    most: int,
) -> bool:
    """Merge up to `most` times; whether there may be more to merge.

    The members of a group are a chain as in `dissolve.py`. The merged group has the lower of the two numbers.
    """
    members, starts = np.empty(rows.shape[0], np.int64), np.zeros(2, np.int64)
    for _ in range(most):
        worst = worst_group(first, values, excess)
        other = -1 if worst < 0 else nearest_other(first, centroids, worst)
        if other < 0:
            return False
        kept, gone = min(worst, other), max(worst, other)
        last = first[gone]
        while following[last] >= 0:
            last = following[last]
        following[last] = first[kept]
        first[kept] = first[gone]
        first[gone] = -1
        starts[1] = members_of(kept, first, following, members)
        fill_means(sums, rows, members, starts, centroids[kept : kept + 1])
        found = judged_group(rules, r, members[: starts[1]])
        values[kept], excess[kept] = found.value, found.excess
    return True


@inner
def worst_group(first: Array, values: Array, excess: Array) -> int:
    """The group that is farthest from the table, if that is too far; else -1."""
    worst, most = -1, -np.inf
    for g in range(first.size):
        if first[g] >= 0 and excess[g] > 0.0 and values[g] > most + SLACK:
            worst, most = g, values[g]
    return worst


@inner
def nearest_other(first: Array, centroids: Array, group: int) -> int:
    """The other group with the nearest centroid, the lowest number among equals; -1 if there is none."""
    best, reach = -1, np.inf
    for g in range(first.size):
        if first[g] >= 0 and g != group:
            d2 = squared_distance(centroids, g, centroids[group])
            if d2 < reach:
                best, reach = g, d2
    return best


# Free records by their distance to a seed.


class Nearest(NamedTuple):
    """A heap of records, the nearest on top; numbers are negative, because the heap has the largest there."""

    d2: Array  # float64 (n,)
    ids: Array  # int64 (n,)
    place: Array  # int64 (n,): not used


@inner
def new_heap(n: int) -> Nearest:
    """A heap with room for all records."""
    return Nearest(np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64))


@inner
def fill_heap(heap: Nearest, rows: Array, ids: Array, free: int, seed: int) -> None:
    """Put the free records into the heap, the seed before those that coincide with it."""
    point, (d2, records, place) = rows[seed], heap
    for at in range(free):
        record = ids[at]
        d2[at] = 1.0 if record == seed else -squared_distance(rows, record, point)
        records[at] = -record
        sift_up(d2, records, place, at)


@inner
def take_nearest(heap: Nearest, count: int) -> int:
    """The nearest record of so many in the heap, which then has one fewer."""
    swap(heap.d2, heap.ids, heap.place, 0, count - 1)
    sift_down(heap.d2, heap.ids, heap.place, count - 1)
    return -heap.ids[count - 1]


@inner
def line_up(heap: Nearest, count: int) -> None:
    """Sort so many records of a heap, the nearest last: where most of them are taken, one after the other."""
    order = np.argsort(heap.d2[:count])
    d2, ids = heap.d2[:count][order], heap.ids[:count][order]
    first = 0
    while first < count:
        last = first + 1
        while last < count and d2[last] == d2[first]:
            last += 1
        if last > first + 1:
            ids[first:last].sort()
        first = last
    heap.d2[:count] = d2
    heap.ids[:count] = ids


@inner
def farthest_of(rows: Array, ids: Array, free: int, point: Array) -> int:
    """The free record farthest from a point."""
    best, reach = -1, -1.0
    for at in range(free):
        d2 = squared_distance(rows, ids[at], point)
        if d2 > reach:
            best, reach = ids[at], d2
    return best


@inner
def close_group(
    rows: Array, sums: Sums, members: Array, count: int, label: int, labels: Array, ids: Array, free: int
) -> int:
    """Give some records their label and take them out of the sums and of the free ones; how many are then free."""
    bits = rows.view(np.int64)
    for h in range(count):
        labels[members[h]] = label
        add_row(sums, bits, members[h], -1)
    left = 0
    for at in range(free):
        if labels[ids[at]] < 0:
            ids[left] = ids[at]
            left += 1
    return left


# k-anonymity first: k nearest records, then some of them replaced.


class Swaps(NamedTuple):
    """The values of a group in their order, and what its distance is made of around each gap between them.

    Gap i lies before the i-th value. With one value fewer before it and one more behind it, a gap is at a lower
    level of the distribution function, and the other way round; `left` and `right` are the best of all values to
    remove.
    """

    codes: Array  # int64 (k,)
    before: Array  # float64 (k + 1,): the gaps before this one as they are
    after: Array  # float64 (k + 1,): the gaps behind this one as they are
    left: Array  # float64 (k + 1,): the gaps before this one where a value before it is removed, at the least
    right: Array  # float64 (k + 1,): the gaps behind this one where a value behind it is removed, at the least
    above: Array  # int64 (k + 1,): the first value of the table that is above each level of the group


@inner
def new_swaps(rules: Rules, r: int, k: int) -> Swaps:
    """Room for a group of k."""
    above, upto = np.empty(k + 1, np.int64), rules.upto[rules.offset[r] : rules.offset[r + 1]]
    for level in range(k + 1):
        above[level] = np.searchsorted(upto, level / k, side="right")
    return Swaps(np.empty(k, np.int64), np.empty(k + 1), np.empty(k + 1), np.empty(k + 1), np.empty(k + 1), above)


@inner
def fill_swaps(swaps: Swaps, rules: Rules, r: int, members: Array) -> bool:
    """Get ready for a group whose members have one value each; False where one has none."""
    k, base, last = members.size, rules.offset[r], rules.offset[r + 1] - rules.offset[r] - 1
    for h in range(k):
        start = rules.start[r, members[h]]
        if start == rules.start[r, members[h] + 1]:
            return False
        swaps.codes[h] = rules.code[start]
    codes = swaps.codes
    codes.sort()
    swaps.before[0], swaps.left[0] = 0.0, np.inf
    for gap in range(k):
        low, high = codes[gap - 1] if gap > 0 else 0, codes[gap]
        swaps.before[gap + 1] = swaps.before[gap] + stretch(rules, base, low, high, gap / k)
        fewer = swaps.left[gap] + stretch(rules, base, low, high, (gap - 1) / k)
        swaps.left[gap + 1] = min(fewer, swaps.before[gap + 1])
    swaps.after[k], swaps.right[k] = 0.0, np.inf
    for gap in range(k, 0, -1):
        low, high = codes[gap - 1], codes[gap] if gap < k else last
        swaps.after[gap - 1] = swaps.after[gap] + stretch(rules, base, low, high, gap / k)
        more = swaps.right[gap] + stretch(rules, base, low, high, (gap + 1) / k)
        swaps.right[gap - 1] = min(more, swaps.after[gap - 1])
    return True


@inner
def next_that_may_help(
    swaps: Swaps,
    steps: Array,
    area: Array,
    start: Array,
    code: Array,
    ids: Array,
    count: int,
    tried: Array,
    version: int,
    limit: float,
) -> int:
    """How many records are left from the first on that has no value or one with which the distance can be lower.

    `ids` has the records as `line_up` leaves them; `steps`, `area` and `start` are those of the rule.
    """
    codes, before, after, left, right, above = swaps
    k, last = codes.size, steps.size - 1
    while count > 0:
        at = start[-ids[count - 1]]
        if at == start[1 - ids[count - 1]]:
            break
        own = code[at]
        if tried[own] != version:
            gap = 0
            while gap < k and codes[gap] < own:
                gap += 1
            low, high = codes[gap - 1] if gap > 0 else 0, codes[gap] if gap < k else last
            least = np.inf
            if gap > 0:
                inside = at_level(above, steps, area, low, own, gap - 1, k)
                inside += at_level(above, steps, area, own, high, gap, k)
                least = left[gap] + inside + after[gap]
            if gap < k:
                inside = at_level(above, steps, area, low, own, gap, k)
                inside += at_level(above, steps, area, own, high, gap + 1, k)
                least = min(least, before[gap] + inside + right[gap])
            if least < limit:
                break
            tried[own] = version
        count -= 1
    return count


@folded
def at_level(above: Array, steps: Array, area: Array, first: int, last: int, level: int, k: int) -> float:
    """As `stretch`, at a level of the group, for which is known where the table passes it."""
    turn = min(max(above[level], first), last)
    along = 2.0 * steps[turn] - steps[first] - steps[last]
    return level / k * along + (area[first] + area[last] - 2.0 * area[turn])


@inner
def best_swap(rules: Rules, r: int, members: Array, candidate: int, trial: Array) -> tuple[int, float, float]:
    """Which member goes if the candidate comes, and the distance and its excess then."""
    at, least, excess = -1, np.inf, 0.0
    for h in range(members.size):
        trial[:] = members
        trial[h] = candidate
        found = judged_group(rules, r, trial)
        if found.value < least - SLACK:
            at, least, excess = h, found.value, found.excess
    return at, least, excess


@inner
def refine(
    rules: Rules,
    r: int,
    alone: bool,
    members: Array,
    heap: Nearest,
    count: int,
    trial: Array,
    swaps: Swaps,
    tried: Array,
    version: int,
) -> int:
    """Replace members by the records of the heap, nearest first, while that brings the group nearer to the table.

    Where units have one value each (`alone`), a value is tried once for each state of the group, which `version`
    counts, and on a line only if it can help.
    """
    members.sort()
    found = judged_group(rules, r, members)
    value, excess = found.value, found.excess
    base, end, nothing = rules.offset[r], rules.offset[r + 1], tried.size - 1
    steps, area, start = rules.steps[base:end], rules.area[base:end], rules.start[r]
    looked, quick, version = 0, False, version + 1
    while excess > 0.0 and count > 0:
        if looked == _FIRST:
            line_up(heap, count)
            quick = alone and rules.kind[r] == LINE and fill_swaps(swaps, rules, r, members)
        if quick:
            limit = value - 0.5 * SLACK
            count = next_that_may_help(
                swaps, steps, area, start, rules.code, heap.ids, count, tried, version, limit
            )
            if count == 0:
                break
        candidate = take_nearest(heap, count) if looked < _FIRST else -heap.ids[count - 1]
        looked += 1
        count -= 1
        if alone:
            code = rules.code[start[candidate]] if start[candidate] < start[candidate + 1] else nothing
            if tried[code] == version:
                continue
            tried[code] = version
        at, least, then = best_swap(rules, r, members, candidate, trial)
        if least < value - SLACK:
            members[at] = candidate
            members.sort()
            value, excess = least, then
            version += 1
            if looked > _FIRST:
                quick = alone and rules.kind[r] == LINE and fill_swaps(swaps, rules, r, members)
    return version


@kernel
def refined_steps(
    rows: Array,
    sums: Sums,
    rules: Rules,
    r: int,
    alone: bool,
    labels: Array,
    ids: Array,
    free: int,
    label: int,
    k: int,
    most: int,
) -> tuple[int, int]:
    """Up to `most` pairs of groups of k, each refined; fewer than 2k records are a group as they are.

    Returns (free records, next label); ids[:free] are the free records.
    """
    heap, swaps = new_heap(free), new_swaps(rules, r, k)
    centre, word = np.empty(rows.shape[1]), np.empty(1, np.int64)
    members, trial = np.empty(2 * k, np.int64), np.empty(k, np.int64)
    tried, version = np.zeros(rules.offset[r + 1] - rules.offset[r] + 1, np.int64), 0
    for _ in range(most):
        seed = -1
        for turn in range(2):
            if free == 0:
                break
            size = free
            if free < 2 * k:
                members[:free] = ids[:free]
            else:
                size = k
                if turn == 0:
                    centroid(sums, free, centre, word)
                    seed = farthest_of(rows, ids, free, centre)
                else:
                    seed = farthest_of(rows, ids, free, rows[seed])
                fill_heap(heap, rows, ids, free, seed)
                for h in range(k):
                    members[h] = take_nearest(heap, free - h)
                version = refine(rules, r, alone, members[:k], heap, free - k, trial, swaps, tried, version)
            free = close_group(rows, sums, members, size, label, labels, ids, free)
            label += 1
    return free, label


# t-closeness first: a record of each stratum.


class Strata(NamedTuple):
    """The free records of each stratum: ids[starts[s] : starts[s] + counts[s]], in any order."""

    ids: Array  # int64 (n,)
    starts: Array  # int64 (strata,)
    counts: Array  # int64 (strata,)
    spare: Array  # int64 (strata,): how many records a stratum has beyond one for each group


@inner
def farthest_in(strata: Strata, rows: Array, point: Array) -> int:
    """The free record farthest from a point."""
    best, reach = -1, -1.0
    for s in range(strata.starts.size):
        for at in range(strata.starts[s], strata.starts[s] + strata.counts[s]):
            record = strata.ids[at]
            d2 = squared_distance(rows, record, point)
            if d2 > reach or (d2 == reach and record < best):
                best, reach = record, d2
    return best


@inner
def take_from(strata: Strata, s: int, rows: Array, seed: int) -> int:
    """Take the record of a stratum that is nearest to the seed: itself, if it is in it."""
    start, count = strata.starts[s], strata.counts[s]
    best, place, reach = -1, -1, np.inf
    for at in range(start, start + count):
        record = strata.ids[at]
        d2 = -1.0 if record == seed else squared_distance(rows, record, rows[seed])
        if d2 < reach or (d2 == reach and record < best):
            best, place, reach = record, at, d2
    strata.ids[place] = strata.ids[start + count - 1]
    strata.counts[s] -= 1
    return best


@inner
def most_spare(strata: Strata) -> int:
    """The stratum with the most spare records; -1 if there are none left."""
    best, most = -1, 0
    for s in range(strata.spare.size):
        if strata.spare[s] > most:
            best, most = s, strata.spare[s]
    return best


@kernel
def stratified_steps(
    rows: Array, sums: Sums, rules: Rules, r: int, strata: Strata, labels: Array, free: int, label: int, most: int
) -> tuple[int, int, bool]:
    """Up to `most` pairs of groups with a record of each stratum, and a spare one while there are any.

    Returns (free records, next label, whether all groups are near enough); ends at one that is not.
    """
    bits = rows.view(np.int64)
    centre, word = np.empty(rows.shape[1]), np.empty(1, np.int64)
    k = strata.starts.size
    members = np.empty(k + 1, np.int64)
    for _ in range(most):
        seed = -1
        for turn in range(2):
            if free == 0:
                return free, label, True
            if turn == 0:
                centroid(sums, free, centre, word)
                seed = farthest_in(strata, rows, centre)
            else:
                seed = farthest_in(strata, rows, rows[seed])
            size, spare = k, most_spare(strata)
            for s in range(k):
                members[s] = take_from(strata, s, rows, seed)
            if spare >= 0:
                members[k] = take_from(strata, spare, rows, seed)
                strata.spare[spare] -= 1
                size += 1
            for h in range(size):
                labels[members[h]] = label
                add_row(sums, bits, members[h], -1)
            free -= size
            label += 1
            if judged_group(rules, r, members[:size]).excess > 0.0:
                return free, label, False
    return free, label, True


# p-sensitivity: records of different values first.


@kernel
def sensitive_steps(
    rows: Array,
    sums: Sums,
    values: Array,
    left: Array,
    p: int,
    size: int,
    labels: Array,
    ids: Array,
    free: int,
    label: int,
    most: int,
) -> tuple[int, int]:
    """Up to `most` pairs of groups of `size` records with p different values, while that can be.

    `values` has the value of each record, -1 for none; `left` counts the free records of each value. Returns
    (free records, next label); ids[:free] are the free records.
    """
    heap = new_heap(free)
    centre, word = np.empty(rows.shape[1]), np.empty(1, np.int64)
    members, aside = np.empty(size + 1, np.int64), np.empty(free, np.int64)
    seen = np.full(left.size, -1, np.int64)
    for _ in range(most):
        if free < 2 * size or different(left) < p:
            break
        centroid(sums, free, centre, word)
        seed = farthest_of(rows, ids, free, centre)
        for turn in range(2):
            if turn == 1:
                if free < size or different(left) < p:
                    break
                seed = farthest_of(rows, ids, free, rows[seed])
            fill_heap(heap, rows, ids, free, seed)
            count = gather(heap, free, values, p, size, label, seen, members, aside)
            for h in range(count):
                if values[members[h]] >= 0:
                    left[values[members[h]]] -= 1
            free = close_group(rows, sums, members, count, label, labels, ids, free)
            label += 1
    return free, label


@inner
def different(left: Array) -> int:
    """How many values there are among the free records."""
    found = 0
    for value in range(left.size):
        found += left[value] > 0
    return found


@inner
def gather(
    heap: Nearest,
    count: int,
    values: Array,
    p: int,
    size: int,
    label: int,
    seen: Array,
    members: Array,
    aside: Array,
) -> int:
    """The seed, the nearest records with values that are not there yet up to p of these, then the nearest ones.

    Returns how many there are: one more than `size` where the seed has no value and everybody else is needed.
    """
    found, taken, passed = 0, 0, 0
    while found < p or taken == 0:
        record = take_nearest(heap, count)
        count -= 1
        value = values[record]
        new = value >= 0 and seen[value] != label
        if new or taken == 0:
            members[taken] = record
            taken += 1
        else:
            aside[passed] = record
            passed += 1
        if new:
            seen[value] = label
            found += 1
    for h in range(min(passed, size - taken)):
        members[taken] = aside[h]
        taken += 1
    while taken < size:
        members[taken] = take_nearest(heap, count)
        count -= 1
        taken += 1
    return taken
