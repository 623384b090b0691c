"""Local exchanges between neighbouring groups of weighted records: move, swap, chain, dissolve, create, split.

With the weight W in group A, taking x of weight w out gains |x - A|^2 W w / (W - w), putting it in costs
|x - A|^2 W w / (W + w); a swap is priced by one after the other. A group must keep a total count and a number of
records, and has no upper limit. For weights alone every record counts 1.

A price tells which change promises most. It may be wrong where weights differ by many orders of magnitude. So the
errors of all groups that a change touches are computed anew, and a change that does not lower their sum is undone.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.search_tree.neighbours import nearest_neighbours
from shoal.kernels.sums.exact import squared_distance

REACH = 1.5  # how much farther than its own centroid another one may be, squared

NONE, MOVE, SWAP, CHAIN = 0, 1, 2, 3


class Weighed(NamedTuple):
    """Groups of weighted records as linked lists, for they may grow without a limit."""

    rows: Array  # float64 (n, m): the points
    weight: Array  # float64 (n,): what each counts for in the error, at most 1
    counts: Array  # int64 (n,): and for the size of its group
    label: Array  # int32 (n,): the group of each record
    head: Array  # int32 (groups,): its first record, -1 for a group that is not there
    after: Array  # int32 (n,): the next record of the group, -1 at the end
    before: Array  # int32 (n,): the one before it, -1 at the head
    size: Array  # int32 (groups,): its records
    total: Array  # int64 (groups,): their counts
    mass: Array  # float64 (groups,): their weights
    centre: Array  # float64 (groups, m): their weighted mean, the plain one where they have no weight
    error: Array  # float64 (groups,): their squared distances to it, times their weights
    own: Array  # float64 (n,): the squared distance to the own centroid
    near: Array  # int32 (groups, count): groups with near centroids, -1 at the end
    changed: Array  # int64 (groups,): when a record last entered or left
    looked: Array  # int64 (groups,): when all its records were last looked at in vain
    clock: Array  # int64 (1,)
    least_count: int  # what the counts of a group must come to,
    least_records: int  # and how many records it must have


class Change(NamedTuple):
    """What to do with a record, and what that does to the error by its price."""

    delta: float
    kind: int
    group: int
    other: int
    target: int  # the group of a chain


def new_weighed(
    rows: Array, labels: Array, weights: Array, counts: Array, least_count: int, least_records: int, near: int
) -> Weighed:
    """The groups of labels from 0 on, with room for as many as can be; weights of 1 at most.

    Each has the `near` nearest ones as partners.
    """
    n, m = rows.shape
    room = max(int(labels.max()) + 1, min(int(counts.sum()) // least_count, n // least_records))
    groups = Weighed(
        rows,
        weights,
        counts,
        labels.astype(np.int32),
        np.full(room, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(room, np.int32),
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros((room, m)),
        np.zeros(room),
        np.zeros(n),
        np.full((room, 1), -1, np.int32),
        np.zeros(room, np.int64),
        np.full(room, -1, np.int64),
        np.zeros(1, np.int64),
        least_count,
        least_records,
    )
    begin(groups)
    return groups._replace(near=lists_of_neighbours(groups, near))


def lists_of_neighbours(groups: Weighed, count: int) -> Array:
    """For each group the `count` groups with the nearest centroids, fewer where there are fewer."""
    there = np.flatnonzero(groups.size)
    count = min(count, len(there) - 1)
    near = np.full((len(groups.size), max(count, 1)), -1, np.int32)
    if count > 0:
        near[there, :count] = there[nearest_neighbours(np.ascontiguousarray(groups.centre[there]), count)[0]]
    return near


@kernel
def begin(groups: Weighed) -> None:
    """Everything from the labels."""
    for i in range(groups.label.size - 1, -1, -1):
        enlist(groups, i, groups.label[i])
    for g in range(groups.size.size):
        settle(groups, g)


@inner
def enlist(groups: Weighed, x: int, g: int) -> None:
    """A record becomes the first of a group; centroid and error are left to `settle`."""
    first = groups.head[g]
    groups.after[x], groups.before[x] = first, -1
    if first >= 0:
        groups.before[first] = x
    groups.head[g] = x
    groups.size[g] += 1
    groups.total[g] += groups.counts[x]
    groups.label[x] = g


@inner
def delist(groups: Weighed, x: int) -> None:
    """A record leaves its group; centroid and error are left to `settle`."""
    g, back, on = groups.label[x], groups.before[x], groups.after[x]
    if back >= 0:
        groups.after[back] = on
    else:
        groups.head[g] = on
    if on >= 0:
        groups.before[on] = back
    groups.size[g] -= 1
    groups.total[g] -= groups.counts[x]


@inner
def relist(groups: Weighed, x: int, g: int) -> None:
    """A record goes from its group to another."""
    delist(groups, x)
    enlist(groups, x, g)


@inner
def settle(groups: Weighed, g: int) -> None:
    """Mass, centroid, distances and error of a group from its records, summed around one of them."""
    rows, weight, after, centre = groups.rows, groups.weight, groups.after, groups.centre
    first, mass = groups.head[g], 0.0
    centre[g] = 0.0
    i = first
    while i >= 0:
        mass += weight[i]
        for j in range(rows.shape[1]):
            centre[g, j] += weight[i] * (rows[i, j] - rows[first, j])
        i = after[i]
    over = mass
    if mass == 0.0 and first >= 0:
        over = 1.0 * groups.size[g]
        i = first
        while i >= 0:
            for j in range(rows.shape[1]):
                centre[g, j] += rows[i, j] - rows[first, j]
            i = after[i]
    if first >= 0:
        for j in range(rows.shape[1]):
            centre[g, j] = rows[first, j] + centre[g, j] / over
    error = 0.0
    i = first
    while i >= 0:
        groups.own[i] = squared_distance(rows, i, centre[g])
        error += weight[i] * groups.own[i]
        i = after[i]
    groups.mass[g] = mass
    groups.error[g] = error


@inner
def touch(groups: Weighed, g: int) -> None:
    """Note that a group has changed."""
    groups.clock[0] += 1
    groups.changed[g] = groups.clock[0]


@inner
def worth_a_look(groups: Weighed, g: int) -> bool:
    """Whether the group or one of its neighbours has changed since it was looked at in vain."""
    if groups.changed[g] > groups.looked[g] or groups.looked[g] < 0:
        return True
    for c in range(groups.near.shape[1]):
        b = groups.near[g, c]
        if b >= 0 and groups.changed[b] > groups.looked[g]:
            return True
    return False


@inner
def can_leave(groups: Weighed, x: int) -> bool:
    """Whether what is left of its group without a record satisfies the demands."""
    g = groups.label[x]
    return groups.total[g] - groups.counts[x] >= groups.least_count and groups.size[g] - 1 >= groups.least_records


@inner
def gain_of_leaving(own: float, mass: float, w: float) -> float:
    """What a record of weight w gains a group of this mass by leaving it; nothing if it alone had a weight."""
    return own * (mass / (mass - w)) * w if mass > w else 0.0


@inner
def cost_of_entering(d2: float, mass: float, w: float) -> float:
    """What a record of weight w costs a group of this mass."""
    return d2 * (mass / (mass + w)) * w if mass > 0.0 else 0.0


@inner
def cost_of_replacing(d2: float, own: float, between: float, mass: float, w_x: float, w_y: float) -> float:
    """What it costs that x takes the place of y: first y leaves, then x enters around the centroid without y.

    d2 and own are the squared distances of x and y to the centroid with y, `between` is that of both.
    """
    rest = mass - w_y
    if rest <= 0.0:
        return 0.0
    t = w_y / rest
    moved = max((1.0 + t) * (d2 + t * own) - t * between, 0.0)
    return cost_of_entering(moved, rest, w_x) - gain_of_leaving(own, mass, w_y)


@inner
def best_entry(groups: Weighed, y: int, home: int, barred: int) -> tuple[float, int]:
    """The group near `home` that y enters at the least cost, and that cost; -1 if there is none."""
    least, group = np.inf, -1
    for c in range(groups.near.shape[1]):
        g = groups.near[home, c]
        if g < 0 or g == barred or groups.size[g] == 0:
            continue
        d2 = squared_distance(groups.rows, y, groups.centre[g])
        cost = cost_of_entering(d2, groups.mass[g], groups.weight[y])
        if cost < least:
            least, group = cost, g
    return least, group


@inner
def best_change(groups: Weighed, x: int, reach: float, least: float) -> Change:
    """The best move, swap or chain of two moves that begins with x, if it gains more than `least`."""
    rows, own, centre, mass, weight = groups.rows, groups.own, groups.centre, groups.mass, groups.weight
    home = groups.label[x]
    free = can_leave(groups, x)
    leaving = gain_of_leaving(own[x], mass[home], weight[x])
    delta, kind, group, other, target = -least, NONE, -1, -1, -1
    for c in range(groups.near.shape[1]):
        g = groups.near[home, c]
        if g < 0 or groups.size[g] == 0:
            continue
        d2 = squared_distance(rows, x, centre[g])
        moved = cost_of_entering(d2, mass[g], weight[x]) - leaving
        if free and moved < delta:
            delta, kind, group = moved, MOVE, g
        if d2 >= reach * own[x]:
            continue
        y = groups.head[g]
        while y >= 0:
            more = groups.counts[x] - groups.counts[y]
            if groups.total[g] + more >= groups.least_count:
                between = squared_distance(rows, x, rows[y])
                entering = cost_of_replacing(d2, own[y], between, mass[g], weight[x], weight[y])
                if groups.total[home] - more >= groups.least_count:
                    back = squared_distance(rows, y, centre[home])
                    swapped = entering + cost_of_replacing(back, own[x], between, mass[home], weight[y], weight[x])
                    if swapped < delta:
                        delta, kind, group, other = swapped, SWAP, g, y
                if free and entering - leaving < delta:
                    cost, to = best_entry(groups, y, g, home)
                    if to >= 0 and entering - leaving + cost < delta:
                        delta, kind, group, other, target = entering - leaving + cost, CHAIN, g, y, to
            y = groups.after[y]
    return Change(delta, kind, group, other, target)


@inner
def make(groups: Weighed, x: int, change: Change) -> bool:
    """Carry out what `best_change` found, and undo it if the errors do not fall; whether it stays."""
    home, g, y, third = groups.label[x], change.group, change.other, change.target
    before = groups.error[home] + groups.error[g]
    if change.kind == CHAIN:
        before += groups.error[third]
    relist(groups, x, g)
    if change.kind == SWAP:
        relist(groups, y, home)
    elif change.kind == CHAIN:
        relist(groups, y, third)
        settle(groups, third)
    settle(groups, home)
    settle(groups, g)
    now = groups.error[home] + groups.error[g]
    if change.kind == CHAIN:
        now += groups.error[third]
    if now < before:
        touch(groups, home)
        touch(groups, g)
        if change.kind == CHAIN:
            touch(groups, third)
        return True
    if change.kind != MOVE:
        relist(groups, y, g)
    relist(groups, x, home)
    settle(groups, home)
    settle(groups, g)
    if change.kind == CHAIN:
        settle(groups, third)
    return False


@inner
def listed(groups: Weighed, g: int, members: Array) -> int:
    """Writes the records of a group to `members`; returns how many these are."""
    found, i = 0, groups.head[g]
    while i >= 0:
        members[found] = i
        found += 1
        i = groups.after[i]
    return found


@kernel
def exchange(groups: Weighed, reach: float, least: float) -> int:
    """Look once at every record of a group that is worth it; returns how many changes were made."""
    made = 0
    members = np.empty(groups.label.size, np.int32)
    for g in range(groups.size.size):
        if groups.size[g] == 0 or not worth_a_look(groups, g):
            continue
        began = groups.clock[0]
        for slot in range(listed(groups, g, members)):
            x = members[slot]
            if groups.label[x] != g:
                continue
            change = best_change(groups, x, reach, least)
            if change.kind != NONE and make(groups, x, change):
                made += 1
        if groups.clock[0] == began:
            groups.looked[g] = began
    return made


@inner
def price_of_dissolving(groups: Weighed, g: int) -> float:
    """What the records of a group would cost its neighbours as these are; infinite without neighbours."""
    cost, i = 0.0, groups.head[g]
    while i >= 0 and cost < groups.error[g]:
        cost += best_entry(groups, i, g, -1)[0]
        i = groups.after[i]
    return cost


@kernel
def dissolve(groups: Weighed, least: float) -> int:
    """Give up every group whose records enter neighbours at less than its error; returns how many."""
    made = 0
    taken = np.empty(groups.label.size, np.int32)
    for g in range(groups.size.size):
        gain = groups.error[g] - least
        if groups.size[g] == 0 or gain <= 0.0 or price_of_dissolving(groups, g) >= gain:
            continue
        count, done, cost = listed(groups, g, taken), 0, 0.0
        while done < count and cost < gain:
            to = best_entry(groups, taken[done], g, -1)[1]
            cost -= groups.error[to]
            relist(groups, taken[done], to)
            settle(groups, to)
            cost += groups.error[to]
            done += 1
        if cost < gain:
            for slot in range(count):
                touch(groups, groups.label[taken[slot]])
            settle(groups, g)
            touch(groups, g)
            made += 1
            continue
        for slot in range(done - 1, -1, -1):
            to = groups.label[taken[slot]]
            relist(groups, taken[slot], g)
            settle(groups, to)
        settle(groups, g)
    return made


@inner
def next_empty(groups: Weighed, empty: int) -> int:
    """The first group from this one on that is not there; the number of all if there is none."""
    while empty < groups.size.size and groups.size[empty] > 0:
        empty += 1
    return empty


@inner
def befriend(groups: Weighed, g: int, new: int) -> None:
    """A new group beside g has the neighbours of g, and each has the other first.

    Its number may be that of a neighbour that was dissolved, which then leaves the lists.
    """
    near, at = groups.near, 0
    while at < near.shape[1] - 1 and near[g, at] != new:
        at += 1
    for c in range(at, 0, -1):
        near[g, c] = near[g, c - 1]
    near[g, 0] = new
    near[new] = near[g]
    near[new, 0] = g
    groups.looked[new] = -1


@inner
def farthest_of(groups: Weighed, g: int) -> int:
    """The record of a group that costs most."""
    far, most, i = groups.head[g], -1.0, groups.head[g]
    while i >= 0:
        if groups.weight[i] * groups.own[i] > most:
            far, most = i, groups.weight[i] * groups.own[i]
        i = groups.after[i]
    return far


@inner
def best_cut(groups: Weighed, order: Array, left: Array, means: Array) -> tuple[float, int]:
    """Records in a row in two: the least error of both parts, and how many records the first then has, or -1.

    `left` is scratch for as many errors, `means` for two points.
    """
    rows, weight = groups.rows, groups.weight
    n, m = order.size, rows.shape[1]
    least, cut = np.inf, -1
    for direction in range(2):
        means[direction] = 0.0
        mass, error, total = 0.0, 0.0, 0
        for step in range(n - 1):
            i = order[step] if direction == 0 else order[n - 1 - step]
            error += cost_of_entering(squared_distance(rows, i, means[direction]), mass, weight[i])
            mass += weight[i]
            total += groups.counts[i]
            if mass > 0.0:
                for j in range(m):
                    means[direction, j] += (rows[i, j] - means[direction, j]) * (weight[i] / mass)
            enough = total >= groups.least_count and step + 1 >= groups.least_records
            if direction == 0:
                left[step] = error if enough else np.inf
            elif enough and error + left[n - 2 - step] < least:
                least, cut = error + left[n - 2 - step], n - 1 - step
    return least, cut


@kernel
def split(groups: Weighed, least: float) -> int:
    """Cut every group that is large enough in two, along the line between two far records; returns how many."""
    made, empty = 0, 0
    room = groups.label.size
    members, keys, left = np.empty(room, np.int32), np.empty(room), np.empty(room)
    means = np.empty((2, groups.rows.shape[1]))
    for g in range(groups.size.size):
        while (
            groups.total[g] >= 2 * groups.least_count
            and groups.size[g] >= 2 * groups.least_records
            and groups.error[g] > least
        ):
            empty = next_empty(groups, empty)
            if empty == groups.size.size:
                return made
            count = listed(groups, g, members)
            p = farthest_of(groups, g)
            q, most = p, -1.0
            for slot in range(count):
                keys[slot] = squared_distance(groups.rows, members[slot], groups.rows[p])
                if keys[slot] > most:
                    q, most = members[slot], keys[slot]
            for slot in range(count):
                keys[slot] -= squared_distance(groups.rows, members[slot], groups.rows[q])
            order = members[:count][np.argsort(keys[:count], kind="mergesort")]
            before = groups.error[g]
            error, cut = best_cut(groups, order, left, means)
            if cut < 0 or error >= before - least:
                break
            for slot in range(cut, count):
                relist(groups, order[slot], empty)
            settle(groups, g)
            settle(groups, empty)
            if groups.error[g] + groups.error[empty] >= before:
                for slot in range(cut, count):
                    relist(groups, order[slot], g)
                settle(groups, g)
                settle(groups, empty)
                break
            befriend(groups, g, empty)
            touch(groups, g)
            touch(groups, empty)
            made += 1
    return made


@inner
def gather(groups: Weighed, x: int, pool: Array, d2: Array, chosen: Array, left: Array, new: int) -> int:
    """Records nearest to x, itself first, go from the groups around it to a new one, where these can spare them.

    Ends when the new group satisfies the demands. Returns how many went; `chosen` has which, `left` where from.
    """
    home, found = groups.label[x], 0
    for c in range(-1, groups.near.shape[1]):
        g = home if c < 0 else groups.near[home, c]
        if g < 0 or groups.total[g] <= groups.least_count or groups.size[g] <= groups.least_records:
            continue
        i = groups.head[g]
        while i >= 0:
            pool[found] = i
            d2[found] = -1.0 if i == x else squared_distance(groups.rows, i, groups.rows[x])
            found += 1
            i = groups.after[i]
    kept = 0
    for p in np.argsort(d2[:found], kind="mergesort"):
        if groups.total[new] >= groups.least_count and groups.size[new] >= groups.least_records:
            break
        if can_leave(groups, pool[p]):
            chosen[kept], left[kept] = pool[p], groups.label[pool[p]]
            relist(groups, pool[p], new)
            kept += 1
    return kept


@inner
def error_of(groups: Weighed, some: Array, stamps: Array, stamp: int) -> float:
    """The errors of some groups, each once."""
    total = 0.0
    for g in some:
        if stamps[g] != stamp:
            stamps[g] = stamp
            total += groups.error[g]
    return total


@inner
def settle_all(groups: Weighed, some: Array, stamps: Array, stamp: int) -> None:
    """Settle some groups, each once."""
    for g in some:
        if stamps[g] != stamp:
            stamps[g] = stamp
            settle(groups, g)


@kernel
def create(groups: Weighed, least: float) -> int:
    """Form a group wherever neighbours can spare records that lose less together; returns how many."""
    made, empty, stamp = 0, 0, 0
    room = groups.label.size
    pool, d2 = np.empty(room, np.int32), np.empty(room)
    chosen, left = np.empty(room, np.int32), np.empty(room, np.int32)
    stamps = np.zeros(groups.size.size, np.int64)
    for g in range(groups.size.size):
        if groups.total[g] <= groups.least_count or groups.size[g] <= groups.least_records:
            continue
        empty = next_empty(groups, empty)
        if empty == groups.size.size:
            break
        kept = gather(groups, farthest_of(groups, g), pool, d2, chosen, left, empty)
        stamp += 3
        some = left[:kept]
        before = error_of(groups, some, stamps, stamp - 2)
        enough = groups.total[empty] >= groups.least_count and groups.size[empty] >= groups.least_records
        if enough:
            settle_all(groups, some, stamps, stamp - 1)
            settle(groups, empty)
            if groups.error[empty] + error_of(groups, some, stamps, stamp) < before - least:
                for from_group in some:
                    touch(groups, from_group)
                befriend(groups, g, empty)
                touch(groups, empty)
                made += 1
                continue
        for p in range(kept - 1, -1, -1):
            relist(groups, chosen[p], left[p])
        stamp += 1
        settle_all(groups, some, stamps, stamp)
        settle(groups, empty)
    return made


def weighted_sweep(
    rows: Array,
    labels: Array,
    weights: Array,
    counts: Array,
    least_count: int,
    least_records: int,
    near: int,
    least: float,
) -> Array:
    """The labels after one round: exchanges twice over, dissolving, splitting, creating, and exchanges once more.

    Each group has the `near` nearest ones as partners; every change gains more than `least` by its price.
    """
    groups = new_weighed(rows, labels, weights, counts, least_count, least_records, near)
    for _ in range(2):
        exchange(groups, REACH, least)
    dissolve(groups, least)
    split(groups, least)
    create(groups, least)
    exchange(groups, REACH, least)
    return groups.label
