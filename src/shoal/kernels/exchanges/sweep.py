"""Local exchanges between neighbouring groups: swap, move, chains, dissolve, create, cycles of three.

Every change is priced in O(m) from the centroids: with a records in group A, taking x out gains
|x - A|^2 a / (a - 1), putting x into B costs |x - B|^2 b / (b + 1), and x taking the place of y in B costs
|x - B|^2 - |y - B|^2 - |x - y|^2 / b. Partners come from the nearest centroids of the own group.
"""

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowing, folded_borrowing
from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.exchanges.groups import at_once, distances, fill, insert, remove, replace, room_for, swap
from shoal.kernels.search_tree.neighbours import nearest_neighbours
from shoal.kernels.sums.exact import squared_distance

REACH = 1.5  # how much farther than its own centroid another one may be, squared; in cycles of three for small k:
REACH_OF_CYCLES = 2.5
ROUNDING = 1e-9  # of the distances that a bound is made of
LARGE = 10  # k from which a wider reach costs more than it brings
NONE, MOVE, SWAP, CHAIN, CYCLE = 0, 1, 2, 3, 4


class Sweep(NamedTuple):
    """Groups and when they changed."""

    rows: Array
    label: Array
    members: Array
    size: Array
    centre: Array
    own: Array  # float64 (n,): the squared distance to the own centroid
    near: Array  # int32 (groups, count): groups with near centroids, -1 at the end
    changed: Array  # int64 (groups,): when a record last entered or left
    looked: Array  # int64 (groups,): when all its records were last looked at in vain
    clock: Array  # int64 (1,)


class Change(NamedTuple):
    """What to do with a record, and what that does to the SSE."""

    delta: float
    kind: int
    group: int
    other: int
    target: int  # the group of a chain, or the third record of a cycle


class Back(NamedTuple):
    """What is known of the way back to the group of a record, while that group stays as it is."""

    d2: Array  # float64 (n,): the squared distance to its centroid
    least: Array  # float64 (groups,): at least that a record of the group adds to a cycle, apart from the others
    made: Array  # int64 (groups,): for which `now` both were found
    now: Array  # int64 (1,)


class Third(NamedTuple):
    """Groups that the y of a pair may go to."""

    pair: Array  # int64: which one of the pairs
    group: Array  # int64
    d2: Array  # float64: the squared distance from y to its centroid


class Room(NamedTuple):
    """Lists of what is looked at."""

    places: Array  # int64: in the list of near groups, those within reach
    d2: Array  # float64: the squared distance to each near group
    record: Array  # int32: the records whose place x may take
    cost: Array  # float64 (, 2): the cost of that, and the size of the group
    pairs: Array  # float64 (4, 2): the cost of the pairs of least cost, and y
    third: Third


def new_sweep(rows: Array, labels: Array, k: int, count: int) -> Sweep:
    """The groups of labels from 0 on, with room for n // k groups of up to 2k - 1 or the largest given.

    Each has the `count` nearest ones as partners.
    """
    sizes = np.bincount(labels)
    room = max(len(rows) // k, len(sizes))
    groups = Sweep(
        *room_for(rows, labels, room, max(2 * k - 1, int(sizes.max()))),
        np.zeros(len(rows)),
        np.full((room, 1), -1, np.int32),
        np.zeros(room, np.int64),
        np.full(room, -1, np.int64),
        np.zeros(1, np.int64),
    )
    begin(groups)
    return groups._replace(near=lists_of_neighbours(groups, count))


@kernel
def begin(groups: Sweep) -> None:
    """Everything from the labels."""
    fill(groups)
    distances(groups, groups.own)


@borrowing
def refresh(groups: Sweep, g: int) -> None:
    """The distances of its records after a group has changed, and when that was."""
    groups.clock[0] += 1
    groups.changed[g] = groups.clock[0]
    for slot in range(groups.size[g]):
        i = groups.members[g, slot]
        groups.own[i] = squared_distance(groups.rows, i, groups.centre[g])


@borrowing
def worth_a_look(groups: Sweep, g: int) -> bool:
    """Whether the group or one of its neighbours has changed since it was looked at in vain."""
    if groups.changed[g] > groups.looked[g] or groups.looked[g] < 0:
        return True
    for c in range(groups.near.shape[1]):
        b = groups.near[g, c]
        if b >= 0 and groups.changed[b] > groups.looked[g]:
            return True
    return False


@borrowing
def best_entry(groups: Sweep, y: int, home: int, barred: int, most: int) -> tuple[float, int]:
    """The group near `home` that y enters at the least cost, and that cost; -1 if none has room."""
    least, group = np.inf, -1
    for c in range(groups.near.shape[1]):
        g = groups.near[home, c]
        if g < 0 or g == barred or groups.size[g] == 0 or groups.size[g] >= most:
            continue
        size = groups.size[g]
        cost = squared_distance(groups.rows, y, groups.centre[g]) * size / (size + 1)
        if cost < least:
            least, group = cost, g
    return least, group


@borrowing
def best_change(groups: Sweep, x: int, k: int, reach: float, least: float) -> Change:
    """The best move, swap or chain of two moves that begins with x, if it gains more than `least`."""
    rows, own, centre = groups.rows, groups.own, groups.centre
    home = groups.label[x]
    a = groups.size[home]
    leaving = own[x] * a / (a - 1) if a > 1 else 0.0
    delta, kind, group, other, target = -least, NONE, -1, -1, -1
    for c in range(groups.near.shape[1]):
        g = groups.near[home, c]
        if g < 0 or groups.size[g] == 0:
            continue
        b = groups.size[g]
        d2 = squared_distance(rows, x, centre[g])
        if a > k and b < 2 * k - 1 and d2 * b / (b + 1) - leaving < delta:
            delta, kind, group = d2 * b / (b + 1) - leaving, MOVE, g
        if d2 >= reach * own[x]:
            continue
        for slot in range(b):
            y = groups.members[g, slot]
            between = squared_distance(rows, x, rows[y])
            entering = d2 - own[y] - between / b
            swapped = entering - own[x] + squared_distance(rows, y, centre[home]) - between / a
            if swapped < delta:
                delta, kind, group, other = swapped, SWAP, g, y
            if a > k and entering - leaving < delta:
                cost, to = best_entry(groups, y, g, home, 2 * k - 1)
                if to >= 0 and entering - leaving + cost < delta:
                    delta, kind, group, other, target = entering - leaving + cost, CHAIN, g, y, to
    return Change(delta, kind, group, other, target)


@borrowing
def make(groups: Sweep, x: int, change: Change) -> None:
    """Carry out what `best_change` or `best_cycle` found."""
    home = groups.label[x]
    if change.kind == MOVE:
        remove(groups, x)
        insert(groups, x, change.group)
    elif change.kind == SWAP:
        swap(groups, x, change.other)
    elif change.kind == CHAIN:
        remove(groups, x)
        replace(groups, x, change.other, change.group)
        insert(groups, change.other, change.target)
        refresh(groups, change.target)
    else:
        third = groups.label[change.target]
        replace(groups, x, change.other, change.group)
        replace(groups, change.other, change.target, third)
        replace(groups, change.target, x, home)
        refresh(groups, third)
    refresh(groups, home)
    refresh(groups, change.group)


@kernel
def exchange(
    groups: Sweep, first: int, last: int, begin: int, end: int, k: int, reach: float, least: float
) -> int:
    """Look once at every record of a group that is worth it; returns how many changes were made.

    The groups are those from `first` to before `last`, the records those in their slots from `begin` to before
    `end`.
    """
    made = 0
    snapshot = np.empty(groups.members.shape[1], np.int32)
    for g in range(first, last):
        count = groups.size[g]
        if count == 0 or not worth_a_look(groups, g):
            continue
        began = groups.clock[0]
        snapshot[:count] = groups.members[g, :count]
        for slot in range(begin, min(end, count)):
            x = snapshot[slot]
            if groups.label[x] != g:
                continue
            change = best_change(groups, x, k, reach, least)
            if change.kind != NONE:
                make(groups, x, change)
                made += 1
        if groups.clock[0] == began and begin == 0 and end >= count:
            groups.looked[g] = began
    return made


@folded_borrowing
def within_reach(groups: Sweep, i: int, reach: float, places: Array, d2: Array) -> int:
    """Which of the groups near its own are within reach of a record, and how far these are; how many.

    All are measured before the first is judged: a processor that guesses a judgement wrongly would wait for it.
    """
    near, size, home = groups.near, groups.size, groups.label[i]
    for c in range(near.shape[1]):
        d2[c] = squared_distance(groups.rows, i, groups.centre[max(near[home, c], 0)])
    found, limit = 0, reach * groups.own[i]
    for c in range(near.shape[1]):
        g = near[home, c]
        places[found] = c
        found += (g >= 0) & (size[max(g, 0)] > 0) & (d2[c] < limit)
    return found


@folded_borrowing
def best_pairs(groups: Sweep, x: int, reach: float, leaving: float, room: Room) -> None:
    """The pairs (x, y) in which x takes the place of y at the least cost; leaving its own group is a gain."""
    rows, own, near, home = groups.rows, groups.own, groups.near, groups.label[x]
    record, cost, pairs = room.record, room.cost, room.pairs
    listed = 0
    for p in range(within_reach(groups, x, reach, room.places, room.d2)):
        g, d2 = near[home, room.places[p]], room.d2[room.places[p]]
        for slot in range(groups.size[g]):
            record[listed] = groups.members[g, slot]
            cost[listed, 0], cost[listed, 1] = d2, groups.size[g]
            listed += 1
    for p in range(listed):
        y = record[p]
        cost[p, 0] = cost[p, 0] - own[y] - squared_distance(rows, x, rows[y]) / cost[p, 1] - leaving
    last = pairs.shape[0] - 1
    pairs[:, 0] = 0.0
    pairs[:, 1] = -1.0
    for p in range(listed):
        entering = cost[p, 0]
        if entering >= pairs[last, 0]:
            continue
        place = last
        while place > 0 and entering < pairs[place - 1, 0]:
            pairs[place, 0], pairs[place, 1] = pairs[place - 1, 0], pairs[place - 1, 1]
            place -= 1
        pairs[place, 0], pairs[place, 1] = entering, record[p]


@folded_borrowing
def look_back(groups: Sweep, back: Back, h: int, home: int) -> None:
    """The distances of all records of group h to the centroid of `home`, and the least that one can add there."""
    low, a, b = np.inf, groups.size[home], groups.size[h]
    for slot in range(b):
        z = groups.members[h, slot]
        d2 = squared_distance(groups.rows, z, groups.centre[home])
        back.d2[z] = d2
        own = groups.own[z]
        low = min(low, d2 * (1.0 - 2.0 / a - ROUNDING) - own * (1.0 + 2.0 / b + ROUNDING))
    back.least[h] = low
    back.made[h] = back.now[0]


@folded_borrowing
def promising(groups: Sweep, x: int, reach: float, leaving: float, room: Room, back: Back) -> int:
    """The groups that the y of a pair may go to in a cycle that gains; how many are in `room.third`."""
    near, own, home, pairs, third = groups.near, groups.own, groups.label[x], room.pairs, room.third
    listed, a = 0, groups.size[home]
    for p in range(pairs.shape[0]):
        y = int(pairs[p, 1])
        if y < 0:
            break
        g = groups.label[y]
        for q in range(within_reach(groups, y, reach, room.places, room.d2)):
            h = near[g, room.places[q]]
            third.pair[listed], third.group[listed], third.d2[listed] = p, h, room.d2[room.places[q]]
            listed += h != home
    for p in range(listed):
        if back.made[third.group[p]] != back.now[0]:
            look_back(groups, back, third.group[p], home)
    kept, leaves = 0, own[x] * (1.0 + 2.0 / a + ROUNDING) - leaving
    for p in range(listed):
        h, d2 = third.group[p], third.d2[p]
        total = pairs[third.pair[p], 0] + d2 * (1.0 - 2.0 / groups.size[h] - ROUNDING) - leaves + back.least[h]
        third.pair[kept], third.group[kept], third.d2[kept] = third.pair[p], h, d2
        kept += total < ROUNDING * leaving
    return kept


@borrowing
def best_cycle(groups: Sweep, x: int, reach: float, least: float, room: Room, back: Back) -> Change:
    """The best cycle of x to the place of y, y to the place of z, z to the place of x.

    Only the pairs (x, y) that promise most are followed.
    """
    rows, own, pairs, third = groups.rows, groups.own, room.pairs, room.third
    home = groups.label[x]
    a = groups.size[home]
    leaving = own[x] * a / (a - 1) if a > 1 else 0.0
    best_pairs(groups, x, reach, leaving, room)
    delta, group, other, target = -least, -1, -1, -1
    root = np.sqrt(own[x])
    for p in range(promising(groups, x, reach, leaving, room, back)):
        y, h, d2 = int(pairs[third.pair[p], 1]), third.group[p], third.d2[p]
        entering = pairs[third.pair[p], 0] + leaving
        b, root_d2 = groups.size[h], np.sqrt(d2)
        for slot in range(b):
            z = groups.members[h, slot]
            # No record is farther from another one than both are from a centroid, together.
            far_y, far_x = (root_d2 + np.sqrt(own[z])) ** 2, (root + np.sqrt(back.d2[z])) ** 2
            total = entering + d2 - own[z] - far_y / b + back.d2[z] - own[x] - far_x / a
            if total >= delta + least + ROUNDING * (far_y + far_x):
                continue
            total = entering + d2 - own[z] - squared_distance(rows, y, rows[z]) / b
            if total - leaving >= delta:
                continue
            total += back.d2[z] - own[x]
            total -= squared_distance(rows, x, rows[z]) / a
            if total < delta:
                delta, group, other, target = total, groups.label[y], y, z
    return Change(delta, CYCLE if group >= 0 else NONE, group, other, target)


@kernel
def cycles(groups: Sweep, first: int, last: int, begin: int, end: int, reach: float, least: float) -> int:
    """Look once at every record for a cycle of three, of the same groups and slots; how many were made."""
    made = 0
    n, numbers = groups.label.size, groups.size.size
    most, near = groups.members.shape[1], groups.near.shape[1]
    back = Back(np.empty(n), np.empty(numbers), np.full(numbers, -1, np.int64), np.zeros(1, np.int64))
    third = Third(np.empty(4 * near + 1, np.int64), np.empty(4 * near + 1, np.int64), np.empty(4 * near + 1))
    room = Room(
        np.empty(near + 1, np.int64),
        np.empty(near),
        np.empty(near * most, np.int32),
        np.empty((near * most, 2)),
        np.empty((4, 2)),
        third,
    )
    snapshot = np.empty(most, np.int32)
    for g in range(first, last):
        count = groups.size[g]
        snapshot[:count] = groups.members[g, :count]
        back.now[0] += 1
        for slot in range(begin, min(end, count)):
            x = snapshot[slot]
            if groups.label[x] != g:
                continue
            change = best_cycle(groups, x, reach, least, room, back)
            if change.kind != NONE:
                make(groups, x, change)
                made += 1
                back.now[0] += 1
    return made


@borrowing
def sse_of_group(groups: Sweep, g: int) -> float:
    """The SSE of a group whose distances are fresh."""
    total = 0.0
    for slot in range(groups.size[g]):
        total += groups.own[groups.members[g, slot]]
    return total


@kernel
def dissolve(groups: Sweep, first: int, last: int, k: int, least: float) -> int:
    """Give up every group of these whose records enter neighbours at less than its SSE; returns how many."""
    made = 0
    most = groups.members.shape[1]
    taken, entered = np.empty(most, np.int32), np.empty(most, np.int32)
    for g in range(first, last):
        count = groups.size[g]
        if count == 0:
            continue
        gain = sse_of_group(groups, g)
        cost = 0.0
        for slot in range(count):
            cost += best_entry(groups, groups.members[g, slot], g, -1, 2 * k - 1)[0]
            if cost >= gain:
                break
        if cost >= gain:
            continue
        taken[:count] = groups.members[g, :count]
        cost, done = 0.0, 0
        while done < count:
            price, to = best_entry(groups, taken[done], g, -1, 2 * k - 1)
            cost += price
            if to < 0 or cost >= gain - least:
                break
            insert(groups, taken[done], to)
            entered[done] = to
            done += 1
        if done < count:
            for back in range(done - 1, -1, -1):
                remove(groups, taken[back])
                groups.label[taken[back]] = g
            continue
        groups.size[g] = 0
        for slot in range(count):
            refresh(groups, entered[slot])
        made += 1
    return made


@borrowing
def spare_records(groups: Sweep, g: int, k: int) -> int:
    """How many records the group and its neighbours can spare."""
    total = max(groups.size[g] - k, 0)
    for c in range(groups.near.shape[1]):
        if groups.near[g, c] >= 0:
            total += max(groups.size[groups.near[g, c]] - k, 0)
    return total


@inner
def gather(groups: Sweep, x: int, k: int, spare: Array, pool: Array, d2: Array, chosen: Array) -> int:
    """The k records nearest to x, itself first, that groups around its own can spare; returns how many."""
    home = groups.label[x]
    found = 0
    for c in range(-1, groups.near.shape[1]):
        g = home if c < 0 else groups.near[home, c]
        if g < 0 or groups.size[g] <= k:
            continue
        spare[g] = groups.size[g] - k
        for slot in range(groups.size[g]):
            y = groups.members[g, slot]
            pool[found] = y
            d2[found] = -1.0 if y == x else squared_distance(groups.rows, y, groups.rows[x])
            found += 1
    kept = 0
    for p in np.argsort(d2[:found], kind="mergesort"):
        g = groups.label[pool[p]]
        if kept < k and spare[g] > 0:
            spare[g] -= 1
            chosen[kept] = pool[p]
            kept += 1
    return kept


@kernel
def create(groups: Sweep, first: int, last: int, k: int, least: float) -> int:
    """Form a group wherever a group of these and its neighbours can spare k records that lose less together.

    Returns how many.
    """
    made, empty = 0, 0
    room = groups.members.shape[1] * (groups.near.shape[1] + 1)
    pool, d2 = np.empty(room, np.int32), np.empty(room)
    spare = np.zeros(groups.size.size, np.int32)
    chosen, left = np.empty(k, np.int32), np.empty(k, np.int32)
    for g in range(first, last):
        if groups.size[g] <= k or spare_records(groups, g, k) < k:
            continue
        while empty < groups.size.size and groups.size[empty] > 0:
            empty += 1
        if empty == groups.size.size:
            break
        x, farthest = -1, -1.0
        for slot in range(groups.size[g]):
            if groups.own[groups.members[g, slot]] > farthest:
                x = groups.members[g, slot]
                farthest = groups.own[x]
        if gather(groups, x, k, spare, pool, d2, chosen) < k:
            continue
        gain = 0.0
        for p in range(k):
            y = chosen[p]
            left[p] = groups.label[y]
            size = groups.size[left[p]]
            gain += squared_distance(groups.rows, y, groups.centre[left[p]]) * size / (size - 1)
            remove(groups, y)
        groups.centre[empty] = 0.0
        for p in range(k):
            insert(groups, chosen[p], empty)
        refresh(groups, empty)
        if sse_of_group(groups, empty) < gain - least:
            for p in range(k):
                refresh(groups, left[p])
            groups.near[empty, 0] = g
            groups.near[empty, 1:] = groups.near[g, :-1]
            groups.looked[empty] = -1
            made += 1
            continue
        groups.size[empty] = 0
        for p in range(k - 1, -1, -1):
            insert(groups, chosen[p], left[p])
            groups.own[chosen[p]] = squared_distance(groups.rows, chosen[p], groups.centre[left[p]])
    return made


def lists_of_neighbours(groups: Sweep, count: int) -> Array:
    """For each group the `count` groups with the nearest centroids, fewer where there are fewer."""
    there = np.flatnonzero(groups.size)
    count = min(count, len(there) - 1)
    near = np.full((len(groups.size), max(count, 1)), -1, np.int32)
    if count > 0:
        near[there, :count] = there[nearest_neighbours(np.ascontiguousarray(groups.centre[there]), count)[0]]
    return near


def sweep(
    rows: Array, labels: Array, k: int, count: int, least: float, over: Callable[[], bool] | None = None
) -> Array:
    """The labels after one round: exchanges twice over, dissolving, creating, cycles of three.

    Each group has the `count` nearest ones as partners. Groups with at most 2k - 1 records keep to that; every
    change gains more than `least`. `over` is asked before every slice of the work whether that is to be the end.
    """
    groups = new_sweep(rows, labels, k, count)
    room, most = groups.members.shape
    work = rows.shape[1] * count * k  # for a record, about
    of_group, of_slot = (room, most) if over is None else (at_once(work * k), at_once(work))
    reach = REACH if k >= LARGE else REACH_OF_CYCLES
    steps: list[tuple[Callable[..., int], bool, tuple[float, ...]]] = [
        (exchange, True, (k, REACH, least)),
        (exchange, True, (k, REACH, least)),
        (dissolve, False, (k, least)),
        (create, False, (k, least)),
        (cycles, True, (reach, least)),
    ]
    for step, by_slots, rest in steps:
        for first, begin in product(range(0, room, of_group), range(0, most, of_slot if by_slots else most)):
            if over is not None and over():
                return groups.label
            slots = (begin, begin + of_slot) if by_slots else ()
            step(groups, first, min(first + of_group, room), *slots, *rest)
    return groups.label
