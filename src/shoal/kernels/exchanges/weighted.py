"""Local exchanges between neighbouring groups of weighted records: move, swap, chain.

With the weight W in group A, taking x of weight w out gains |x - A|^2 W w / (W - w), putting it in costs
|x - A|^2 W w / (W + w); a swap is priced by one after the other. A group must keep a total count and a number of
records, keep the promises of privacy models where there are some, and has no upper limit. For weights alone every
record counts 1.

A price tells which change promises most. It may be wrong where weights differ by many orders of magnitude. So the
errors of all groups that a change touches are computed anew, and a change that does not lower their sum is undone.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowing
from shoal.kernels.compiled import Array, kernel
from shoal.kernels.promises.rules import Rules, add_unit, judged, people_in, sort_pairs
from shoal.kernels.search_tree.neighbours import nearest_neighbours
from shoal.kernels.sums.exact import squared_distance

REACH = 1.5  # how much farther than its own centroid another one may be, squared

NOBODY = np.int64(-1)  # in place of a record, and of its type: a plain -1 is a type of its own to the compiler

NONE, MOVE, SWAP, CHAIN = 0, 1, 2, 3

MANY = 500  # records of a group that are not tried one by one under privacy models
TRIES = 24  # changes of a record that are tried under privacy models


class Weighed(NamedTuple):
    """Groups of weighted records as linked lists, for they may grow without a limit."""

    rows: Array  # float64 (n, m): the points
    weight: Array  # float64 (n,): what each counts for in the error, at most 1
    counts: Array  # int64 (n,): and for the size of its group
    label: Array  # int64 (n,): the group of each record
    head: Array  # int64 (groups,): its first record, -1 for a group that is not there
    after: Array  # int64 (n,): the next record of the group, -1 at the end
    before: Array  # int64 (n,): the one before it, -1 at the head
    size: Array  # int64 (groups,): its records
    total: Array  # int64 (groups,): their counts
    mass: Array  # float64 (groups,): their weights
    centre: Array  # float64 (groups, m): their weighted mean, the plain one where they have no weight
    error: Array  # float64 (groups,): their squared distances to it, times their weights
    own: Array  # float64 (n,): the squared distance to the own centroid
    near: Array  # int64 (groups, count): groups with near centroids, -1 at the end
    changed: Array  # int64 (groups,): when a record last entered or left
    looked: Array  # int64 (groups,): when all its records were last looked at in vain
    clock: Array  # int64 (1,)
    least_count: int  # what the counts of a group must come to,
    least_records: int  # and how many records it must have
    rules: Rules  # and the privacy models that it must satisfy; the records are their units


class Change(NamedTuple):
    """What to do with a record, and what that does to the error by its price."""

    delta: float
    kind: int
    group: int
    other: int
    target: int  # the group of a chain


class Tried(NamedTuple):
    """Changes of a record that gain most by their price, the best first; scratch."""

    delta: Array  # float64 (most,)
    what: Array  # int64 (most, 4): kind, group, other and target


def new_weighed(
    rows: Array,
    labels: Array,
    weights: Array,
    counts: Array,
    least_count: int,
    least_records: int,
    near: int,
    rules: Rules,
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
        labels.astype(np.int64),
        np.full(room, -1, np.int64),
        np.full(n, -1, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros((room, m)),
        np.zeros(room),
        np.zeros(n),
        np.full((room, 1), -1, np.int64),
        np.zeros(room, np.int64),
        np.full(room, -1, np.int64),
        np.zeros(1, np.int64),
        least_count,
        least_records,
        rules,
    )
    begin(groups)
    return groups._replace(near=lists_of_neighbours(groups, near))


def lists_of_neighbours(groups: Weighed, count: int) -> Array:
    """For each group the `count` groups with the nearest centroids, fewer where there are fewer."""
    there = np.flatnonzero(groups.size)
    count = min(count, len(there) - 1)
    near = np.full((len(groups.size), max(count, 1)), -1, np.int64)
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


@borrowing
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


@borrowing
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


@borrowing
def relist(groups: Weighed, x: int, g: int) -> None:
    """A record goes from its group to another."""
    delist(groups, x)
    enlist(groups, x, g)


@borrowing
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


@borrowing
def touch(groups: Weighed, g: int) -> None:
    """Note that a group has changed."""
    groups.clock[0] += 1
    groups.changed[g] = groups.clock[0]


@borrowing
def worth_a_look(groups: Weighed, g: int) -> bool:
    """Whether the group or one of its neighbours has changed since it was looked at in vain."""
    if groups.changed[g] > groups.looked[g] or groups.looked[g] < 0:
        return True
    for c in range(groups.near.shape[1]):
        b = groups.near[g, c]
        if b >= 0 and groups.changed[b] > groups.looked[g]:
            return True
    return False


@borrowing
def can_leave(groups: Weighed, x: int) -> bool:
    """Whether what is left of its group without a record satisfies the demands."""
    g = groups.label[x]
    return groups.total[g] - groups.counts[x] >= groups.least_count and groups.size[g] - 1 >= groups.least_records


@borrowing
def excess_with(groups: Weighed, g: int, out: int, into: int, most: float) -> float:
    """How far a group without one record and with another (NOBODY for none) is from all promises.

    Whoever asks only whether it is above `most` need not wait for the exact number.
    """
    rules, total = groups.rules, 0.0
    for r in range(rules.kind.size):
        count, i = 0, groups.head[g]
        while i >= 0:
            if i != out:
                count = add_unit(rules, r, i, count)
            i = groups.after[i]
        if into >= 0:
            count = add_unit(rules, r, into, count)
        people = people_in(rules, r, count)
        sort_pairs(rules, r, count)
        total += judged(rules, r, count, people).excess
        if total > most:
            return total
    return total


@borrowing
def keeps(groups: Weighed, g: int, out: int, into: int) -> bool:
    """Whether a group without one record and with another (NOBODY for none) keeps all promises."""
    return groups.rules.kind.size == 0 or excess_with(groups, g, out, into, 0.0) <= 0.0


@borrowing
def are_alike(rules: Rules, x: int, y: int) -> bool:
    """Whether two records have the same confidential values, so that to swap them changes no promise."""
    for r in range(rules.kind.size):
        of_x, of_y = rules.start[r, x], rules.start[r, y]
        count = rules.start[r, x + 1] - of_x
        if count != rules.start[r, y + 1] - of_y or count > 1:
            return False
        if count == 1 and rules.code[of_x] != rules.code[of_y]:
            return False
    return True


@borrowing
def can_swap(groups: Weighed, x: int, y: int) -> bool:
    """Whether the groups of two records keep all promises if the records change places."""
    if groups.rules.kind.size == 0 or are_alike(groups.rules, x, y):
        return True
    return keeps(groups, groups.label[y], y, x) and keeps(groups, groups.label[x], x, y)


@borrowing
def gain_of_leaving(own: float, mass: float, w: float) -> float:
    """What a record of weight w gains a group of this mass by leaving it; nothing if it alone had a weight."""
    return own * (mass / (mass - w)) * w if mass > w else 0.0


@borrowing
def cost_of_entering(d2: float, mass: float, w: float) -> float:
    """What a record of weight w costs a group of this mass."""
    return d2 * (mass / (mass + w)) * w if mass > 0.0 else 0.0


@borrowing
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


@borrowing
def best_entry(groups: Weighed, y: int, home: int, barred: int, promised: bool) -> tuple[float, int]:
    """The group near `home` that y enters at the least cost, and that cost; -1 if there is none.

    Where that is asked for, it is one that keeps its promises with y.
    """
    least, group = np.inf, -1
    for c in range(groups.near.shape[1]):
        g = groups.near[home, c]
        if g < 0 or g == barred or groups.size[g] == 0:
            continue
        d2 = squared_distance(groups.rows, y, groups.centre[g])
        cost = cost_of_entering(d2, groups.mass[g], groups.weight[y])
        if cost < least and (not promised or keeps(groups, g, NOBODY, y)):
            least, group = cost, g
    return least, group


@borrowing
def note(tried: Tried, delta: float, kind: int, group: int, other: int, target: int) -> None:
    """Put a change among the best ones, if it is one of them; the first of equal ones comes first."""
    place = tried.delta.size
    while place > 0 and delta < tried.delta[place - 1]:
        place -= 1
    if place == tried.delta.size:
        return
    for p in range(tried.delta.size - 1, place, -1):
        tried.delta[p] = tried.delta[p - 1]
        for part in range(tried.what.shape[1]):
            tried.what[p, part] = tried.what[p - 1, part]
    tried.delta[place] = delta
    tried.what[place, 0], tried.what[place, 1] = kind, group
    tried.what[place, 2], tried.what[place, 3] = other, target


@borrowing
def is_promised(groups: Weighed, x: int, change: Change) -> bool:
    """Whether all groups that a change touches keep their promises."""
    home, g, y = groups.label[x], change.group, change.other
    if change.kind == SWAP:
        return can_swap(groups, x, y)
    if not keeps(groups, home, x, NOBODY):
        return False
    if change.kind == MOVE:
        return keeps(groups, g, NOBODY, x)
    return keeps(groups, g, y, x) and keeps(groups, change.target, NOBODY, y)


@borrowing
def best_change(groups: Weighed, x: int, reach: float, least: float, tried: Tried) -> Change:
    """The best move, swap or chain of two moves that begins with x, if it gains more than `least`.

    Under privacy models, the changes that gain most by their price are tried; the first that breaks none is it.
    """
    rows, own, centre, mass, weight = groups.rows, groups.own, groups.centre, groups.mass, groups.weight
    home, last = groups.label[x], tried.delta.size - 1
    free = can_leave(groups, x)
    leaving = gain_of_leaving(own[x], mass[home], weight[x])
    tried.delta[:] = -least
    tried.what[:, 0] = NONE
    for c in range(groups.near.shape[1]):
        g = groups.near[home, c]
        if g < 0 or groups.size[g] == 0:
            continue
        d2 = squared_distance(rows, x, centre[g])
        moved = cost_of_entering(d2, mass[g], weight[x]) - leaving
        if free and moved < tried.delta[last]:
            note(tried, moved, MOVE, g, -1, -1)
        if d2 >= reach * own[x] or (last > 0 and groups.size[g] > MANY):
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
                    if swapped < tried.delta[last]:
                        note(tried, swapped, SWAP, g, y, -1)
                if free and entering - leaving < tried.delta[last]:
                    cost, to = best_entry(groups, y, g, home, False)
                    if to >= 0 and entering - leaving + cost < tried.delta[last]:
                        note(tried, entering - leaving + cost, CHAIN, g, y, to)
            y = groups.after[y]
    for place in range(last + 1):
        kind, group, other, target = tried.what[place]
        change = Change(tried.delta[place], kind, group, other, target)
        if kind == NONE or last == 0 or is_promised(groups, x, change):
            return change
    return Change(0.0, NONE, -1, -1, -1)


@borrowing
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


@borrowing
def listed(groups: Weighed, g: int, members: Array) -> int:
    """Writes the records of a group to `members`; returns how many these are."""
    found, i = 0, groups.head[g]
    while i >= 0:
        members[found] = i
        found += 1
        i = groups.after[i]
    return found


@kernel
def exchange(groups: Weighed, first: int, last: int, reach: float, least: float) -> int:
    """Look once at every record of a group of these that is worth it; returns how many changes were made."""
    made = 0
    members = np.empty(groups.label.size, np.int64)
    tries = 1 if groups.rules.kind.size == 0 else TRIES
    tried = Tried(np.empty(tries), np.empty((tries, 4), np.int64))
    for g in range(first, last):
        if groups.size[g] == 0 or not worth_a_look(groups, g):
            continue
        began = groups.clock[0]
        for slot in range(listed(groups, g, members)):
            x = members[slot]
            if groups.label[x] != g:
                continue
            change = best_change(groups, x, reach, least, tried)
            if change.kind != NONE and make(groups, x, change):
                made += 1
        if groups.clock[0] == began:
            groups.looked[g] = began
    return made
