"""Groups that break a promise put right: exchanges with near groups, or a merger, whatever loses least.

A broken group takes the change that costs least for the part of its excess that it takes away: a record of another
group in the place of an own one, one more record of another group, or a near group as a whole. No change makes
another group break a promise, or break it by more. So the excess of all groups falls with every step, or their
number does.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.borrowing import borrowing
from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.exchanges.weighted import (
    NOBODY,
    Weighed,
    are_alike,
    can_leave,
    cost_of_entering,
    cost_of_replacing,
    excess_with,
    gain_of_leaving,
    new_weighed,
    relist,
    settle,
)
from shoal.kernels.promises.rules import Rules, add_unit, judged, people_in, sort_pairs
from shoal.kernels.sums.exact import squared_distance

OWN, OTHERS = 12, 60  # records of a broken group, and of others, that are tried in pairs; of more, the best
SAMPLE, FEWEST = 300, 12  # near records, and records of the whole table, that are asked at the most and at least
LARGE = 200  # records of a group that is not tried with all pairs
WORK = 30_000  # records of a group, times those that are asked

NONE, MOVE, SWAP, MERGE = 0, 1, 2, 3


@borrowing
def excess_of_both(groups: Weighed, g: int, h: int) -> float:
    """How far two groups as one are from all promises."""
    rules, total = groups.rules, 0.0
    for r in range(rules.kind.size):
        count = 0
        for which in range(2):
            i = groups.head[g] if which == 0 else groups.head[h]
            while i >= 0:
                count = add_unit(rules, r, i, count)
                i = groups.after[i]
        people = people_in(rules, r, count)
        sort_pairs(rules, r, count)
        total += judged(rules, r, count, people).excess
    return total


@borrowing
def cost_of_merging(groups: Weighed, g: int, h: int) -> float:
    """What it costs that two groups become one."""
    d2 = squared_distance(groups.centre, g, groups.centre[h])
    mass = groups.mass[g] + groups.mass[h]
    return d2 * groups.mass[g] * (groups.mass[h] / mass) if mass > 0.0 else 0.0


class Step(NamedTuple):
    """What to do with a broken group, what it costs, and how much of the excess it takes away."""

    kind: int
    group: int  # to merge with; or the own record of a swap
    other: int  # the record of another group
    cost: float
    gain: float


@borrowing
def is_cheaper(cost: float, gain: float, best: Step) -> bool:
    """Whether a change costs less for what it gains; the one that gains more, where both cost nothing."""
    if best.gain <= 0.0:
        return True
    if cost <= 0.0 and best.cost <= 0.0:
        return gain > best.gain or (gain == best.gain and cost < best.cost)
    return cost * best.gain < best.cost * gain


@inner
def offered(groups: Weighed, g: int, excess: float, yours: Array) -> int:
    """Records of others that come into question for a broken group, in `yours`; returns how many.

    They are those of near groups. If none of these would put the group right, some of the whole table are asked
    too, because values that it needs may be rare around it. Of many, those that cost least for the part of the
    excess that they take away.
    """
    n, pool, found = groups.label.size, 0, 0
    asked = asked_of(groups, g)
    for c in range(groups.near.shape[1]):
        h = groups.near[g, c]
        if h >= 0 and h != g:
            pool += groups.size[h]
    all_of_them, left = pool <= min(asked, yours.size), np.empty(yours.size)
    stride, place, cured = max(1, pool // asked), 0, False
    for c in range(groups.near.shape[1]):
        h = groups.near[g, c]
        if h < 0 or h == g or groups.size[h] == 0:
            continue
        y = groups.head[h]
        while y >= 0:
            if place % stride == 0:
                gain = excess if all_of_them else gain_of_help(groups, g, y, excess)
                cured = cured or (gain >= excess and not all_of_them)
                key = 0.0 if all_of_them else price_of_help(groups, g, y, gain)
                if key < np.inf:
                    found = filed(yours, left, found, y, key)
            place += 1
            y = groups.after[y]
    if n > pool and not cured:
        stride = max(1, n // asked)
        for y in range(groups.size[g] % stride, n, stride):
            if groups.label[y] != g:
                key = price_of_help(groups, g, y, gain_of_help(groups, g, y, excess))
                if key < np.inf:
                    found = filed(yours, left, found, y, key)
    return found


@borrowing
def asked_of(groups: Weighed, g: int) -> int:
    """How many records are asked for help: fewer where a group is large and each answer takes longer."""
    return max(FEWEST, min(SAMPLE, WORK // max(1, groups.size[g])))


@borrowing
def gain_of_help(groups: Weighed, g: int, y: int, excess: float) -> float:
    """The part of the excess of a broken group that a record takes away that enters it."""
    return excess - excess_with(groups, g, NOBODY, y, excess)


@borrowing
def price_of_help(groups: Weighed, g: int, y: int, gain: float) -> float:
    """What it costs that a record enters a broken group, for the part of the excess that it takes away."""
    if gain <= 0.0:
        return np.inf
    d2 = squared_distance(groups.rows, y, groups.centre[g])
    return cost_of_entering(d2, groups.mass[g], groups.weight[y]) / gain


@inner
def spared(groups: Weighed, g: int, mine: Array) -> int:
    """Records of a broken group that may go, in `mine`; if it has many, those without which it is best off."""
    left, found, x, place = np.empty(mine.size), 0, groups.head[g], 0
    stride = max(1, groups.size[g] // asked_of(groups, g))
    while x >= 0:
        if place % stride == 0:
            key = 0.0 if groups.size[g] <= mine.size else excess_with(groups, g, x, NOBODY, np.inf)
            found = filed(mine, left, found, x, key)
        place += 1
        x = groups.after[x]
    return found


@borrowing
def filed(ids: Array, keys: Array, found: int, record: int, key: float) -> int:
    """Put a record among those of the smallest keys, the first of equal ones first; returns how many there are."""
    place = found
    while place > 0 and key < keys[place - 1]:
        place -= 1
    if place == ids.size:
        return found
    for p in range(min(found, ids.size - 1), place, -1):
        ids[p] = ids[p - 1]
        keys[p] = keys[p - 1]
    ids[place] = record
    keys[place] = key
    return min(found + 1, ids.size)


@borrowing
def best_merger(groups: Weighed, excess: Array, g: int) -> Step:
    """The near group that a broken one is merged with at the least cost for what that gains."""
    best = Step(NONE, -1, -1, 0.0, 0.0)
    for c in range(groups.near.shape[1]):
        h = groups.near[g, c]
        if h < 0 or h == g or groups.size[h] == 0:
            continue
        cost = cost_of_merging(groups, g, h)
        most = max(excess[g], excess[h])  # two that break a promise alike do not keep it together
        if is_cheaper(cost, most, best):
            gain = most - excess_of_both(groups, g, h)
            if gain > 0.0 and is_cheaper(cost, gain, best):
                best = Step(MERGE, np.int64(h), -1, cost, gain)
    return best


@inner
def best_step(groups: Weighed, excess: Array, g: int, mine: Array, yours: Array) -> Step:
    """The change of a broken group that costs least for what it gains."""
    rows, own, centre, mass, weight = groups.rows, groups.own, groups.centre, groups.mass, groups.weight
    best = best_merger(groups, excess, g)
    count, going = offered(groups, g, excess[g], yours), spared(groups, g, mine)
    if groups.size[g] > LARGE:  # single pairs matter less, and each takes longer
        count, going = min(count, FEWEST), min(going, 3)
    for slot in range(count):
        y = yours[slot]
        h = groups.label[y]
        d2 = squared_distance(rows, y, centre[g])
        if can_leave(groups, y):
            cost = cost_of_entering(d2, mass[g], weight[y]) - gain_of_leaving(own[y], mass[h], weight[y])
            if is_cheaper(cost, excess[g], best):
                gain = excess[g] - excess_with(groups, g, NOBODY, y, excess[g])
                if gain > 0.0 and is_cheaper(cost, gain, best):
                    if excess_with(groups, h, y, NOBODY, excess[h]) <= excess[h]:
                        best = Step(MOVE, -1, np.int64(y), cost, gain)
        for at in range(going):
            x = mine[at]
            more = groups.counts[x] - groups.counts[y]
            if groups.total[h] + more < groups.least_count or groups.total[g] - more < groups.least_count:
                continue
            if are_alike(groups.rules, x, y):
                continue
            between = squared_distance(rows, x, rows[y])
            cost = cost_of_replacing(d2, own[x], between, mass[g], weight[y], weight[x])
            back = squared_distance(rows, x, centre[h])
            cost += cost_of_replacing(back, own[y], between, mass[h], weight[x], weight[y])
            if is_cheaper(cost, excess[g], best):
                gain = excess[g] - excess_with(groups, g, x, y, excess[g])
                if gain > 0.0 and is_cheaper(cost, gain, best):
                    if excess_with(groups, h, y, x, excess[h]) <= excess[h]:
                        best = Step(SWAP, np.int64(x), np.int64(y), cost, gain)
    return best


@inner
def put_right(groups: Weighed, excess: Array, g: int, mine: Array, yours: Array) -> None:
    """Change a broken group until it keeps all promises, or is the only one."""
    while excess[g] > 0.0:
        step = best_step(groups, excess, g, mine, yours)
        if step.kind in (NONE, MERGE):
            group = step.group if step.kind == MERGE else nearest_group(groups, g)
            if group < 0:
                return
            merge(groups, g, group)
            excess[group] = 0.0
        else:
            group = groups.label[step.other]
            relist(groups, step.other, g)
            if step.kind == SWAP:
                relist(groups, step.group, group)
            settle(groups, group)
            excess[group] = excess_with(groups, group, NOBODY, NOBODY, np.inf)
        settle(groups, g)
        excess[g] = excess_with(groups, g, NOBODY, NOBODY, np.inf)


@borrowing
def merge(groups: Weighed, g: int, h: int) -> None:
    """All records of a group go to another; the other has its neighbours too, as many as there is room for."""
    i = groups.head[h]
    while i >= 0:
        following = groups.after[i]
        relist(groups, i, g)
        i = following
    settle(groups, h)
    near, place = groups.near, 0
    for c in range(near.shape[1]):
        b = near[h, c]
        if b < 0 or b == g or groups.size[b] == 0:
            continue
        known = False
        for other in range(near.shape[1]):
            known = known or near[g, other] == b
        if known:
            continue
        while place < near.shape[1] and near[g, place] >= 0 and groups.size[near[g, place]] > 0:
            place += 1
        if place == near.shape[1]:
            return
        near[g, place] = b


@borrowing
def nearest_group(groups: Weighed, g: int) -> int:
    """The group with the nearest centroid, wherever it is; -1 if there is none."""
    least, nearest = np.inf, -1
    for h in range(groups.size.size):
        if h != g and groups.size[h] > 0:
            d2 = squared_distance(groups.centre, h, groups.centre[g])
            if d2 < least or nearest < 0:
                least, nearest = d2, h
    return nearest


@kernel
def all_excess(groups: Weighed) -> Array:
    """How far each group is from its promises."""
    excess = np.zeros(groups.size.size)
    for g in range(groups.size.size):
        if groups.size[g] > 0:
            excess[g] = excess_with(groups, g, NOBODY, NOBODY, np.inf)
    return excess


@kernel
def repair(groups: Weighed, excess: Array) -> None:
    """Put every broken group right, those that are the farthest from their promises last."""
    mine, yours = np.empty(OWN, np.int64), np.empty(OTHERS, np.int64)
    for g in np.argsort(excess, kind="mergesort"):
        if groups.size[g] > 0:
            put_right(groups, excess, g, mine, yours)


def repaired_groups(
    rows: Array,
    labels: Array,
    weights: Array,
    counts: Array,
    least_count: int,
    least_records: int,
    near: int,
    rules: Rules,
) -> Array:
    """The labels after all groups were put right; one group is left where nothing less keeps the promises."""
    groups = new_weighed(rows, labels, weights, counts, least_count, least_records, 0, rules)
    excess = all_excess(groups)
    groups = groups._replace(near=neighbours_of(groups, np.flatnonzero(excess > 0.0), near))
    repair(groups, excess)
    return groups.label


def neighbours_of(groups: Weighed, some: Array, count: int) -> Array:
    """For some groups the `count` groups with the nearest centroids; the others have none."""
    there = np.flatnonzero(groups.size)
    count = min(count, len(there) - 1)
    near = np.full((len(groups.size), max(count, 1)), -1, np.int64)
    if count > 0 and len(some):
        from scipy.spatial import cKDTree

        centres = np.ascontiguousarray(groups.centre[there])
        found = there[cKDTree(centres).query(groups.centre[some], k=count + 1)[1]]
        for place, g in enumerate(some.tolist()):
            near[g, :count] = found[place][found[place] != g][:count]
    return near
