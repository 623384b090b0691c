"""Groups of weighted records dissolved, cut in two and created where that loses less; see `weighted.py`."""

from collections.abc import Callable

import numpy as np

from shoal.kernels.borrowing import borrowing
from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.exchanges.groups import at_once
from shoal.kernels.exchanges.weighted import (
    NOBODY,
    REACH,
    Weighed,
    best_entry,
    can_leave,
    cost_of_entering,
    exchange,
    keeps,
    listed,
    new_weighed,
    relist,
    settle,
    touch,
)
from shoal.kernels.promises.rules import Rules, judged_group
from shoal.kernels.sums.exact import squared_distance

CUTS = 32  # ways to cut a group that are tried for the promises of both parts, the best first


@borrowing
def price_of_dissolving(groups: Weighed, g: int) -> float:
    """What the records of a group would cost its neighbours as these are; infinite without neighbours."""
    cost, i = 0.0, groups.head[g]
    while i >= 0 and cost < groups.error[g]:
        cost += best_entry(groups, i, g, -1, True)[0]
        i = groups.after[i]
    return cost


@kernel
def dissolve(groups: Weighed, first: int, last: int, least: float) -> int:
    """Give up every group whose records enter neighbours at less than its error; returns how many."""
    made = 0
    taken = np.empty(groups.label.size, np.int64)
    for g in range(first, last):
        gain = groups.error[g] - least
        if groups.size[g] == 0 or gain <= 0.0 or price_of_dissolving(groups, g) >= gain:
            continue
        count, done, cost = listed(groups, g, taken), 0, 0.0
        while done < count and cost < gain:
            to = best_entry(groups, taken[done], g, -1, True)[1]
            if to < 0:  # those that went before have filled the groups that could take it
                cost = np.inf
                break
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


@borrowing
def next_empty(groups: Weighed, empty: int) -> int:
    """The first group from this one on that is not there; the number of all if there is none."""
    while empty < groups.size.size and groups.size[empty] > 0:
        empty += 1
    return empty


@borrowing
def befriend(groups: Weighed, g: int, new: int) -> None:
    """A new group beside g has the neighbours of g, and each has the other first.

    Its number may be that of a neighbour that was dissolved, which then leaves the lists.
    """
    near, at = groups.near, 0
    while at < near.shape[1] - 1 and near[g, at] != new:
        at += 1
    for c in range(at, 0, -1):
        near[g, c] = near[g, c - 1]
    near[g, 0], near[new, 0] = new, g
    for c in range(1, near.shape[1]):
        near[new, c] = near[g, c]
    groups.looked[new] = -1


@borrowing
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

    Both parts keep all promises. `left` is scratch for as many errors, `means` for two points.
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
                continue
            left[n - 2 - step] += error if enough else np.inf
            if left[n - 2 - step] < least:
                least, cut = left[n - 2 - step], n - 1 - step
    return (least, cut) if groups.rules.kind.size == 0 else promising_cut(groups, order, left)


@inner
def promising_cut(groups: Weighed, order: Array, errors: Array) -> tuple[float, int]:
    """The best of the first cuts, by these errors, whose parts keep all promises; -1 if there is none."""
    n = order.size
    tried = np.argsort(errors[: n - 1], kind="mergesort")
    for place in range(min(CUTS, n - 1)):
        cut = tried[place] + 1
        if not errors[cut - 1] < np.inf:
            break
        if promised(groups.rules, order[:cut]) and promised(groups.rules, order[cut:]):
            return errors[cut - 1], cut
    return np.inf, -1


@borrowing
def promised(rules: Rules, records: Array) -> bool:
    """Whether some records as a group keep all promises."""
    for r in range(rules.kind.size):
        if judged_group(rules, r, records).excess > 0.0:
            return False
    return True


@kernel
def split(groups: Weighed, first: int, last: int, least: float) -> int:
    """Cut every group that is large enough in two, along the line between two far records; returns how many."""
    made, empty = 0, 0
    room = groups.label.size
    members, keys, left = np.empty(room, np.int64), np.empty(room), np.empty(room)
    means = np.empty((2, groups.rows.shape[1]))
    for g in range(first, last):
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


@borrowing
def is_enough(groups: Weighed, g: int) -> bool:
    """Whether a group has what it must have at least."""
    return groups.total[g] >= groups.least_count and groups.size[g] >= groups.least_records


@inner
def gather(groups: Weighed, x: int, pool: Array, d2: Array, chosen: Array, left: Array, new: int) -> int:
    """Records nearest to x, itself first, go from the groups around it to a new one, where these can spare them.

    Ends when the new group satisfies the demands, or is three times as large without keeping the promises. Returns
    how many went; `chosen` has which, `left` where from.
    """
    home, found, most = groups.label[x], 0, -1
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
        if is_enough(groups, new):
            most = 3 * kept if most < 0 else most
            if kept == most or keeps(groups, new, NOBODY, NOBODY):
                break
        if can_leave(groups, pool[p]) and keeps(groups, groups.label[pool[p]], pool[p], NOBODY):
            chosen[kept], left[kept] = pool[p], groups.label[pool[p]]
            relist(groups, pool[p], new)
            kept += 1
    return kept


@borrowing
def error_of(groups: Weighed, some: Array, stamps: Array, stamp: int) -> float:
    """The errors of some groups, each once."""
    total = 0.0
    for g in some:
        if stamps[g] != stamp:
            stamps[g] = stamp
            total += groups.error[g]
    return total


@borrowing
def settle_all(groups: Weighed, some: Array, stamps: Array, stamp: int) -> None:
    """Settle some groups, each once."""
    for g in some:
        if stamps[g] != stamp:
            stamps[g] = stamp
            settle(groups, g)


@kernel
def create(groups: Weighed, first: int, last: int, least: float) -> int:
    """Form a group wherever neighbours can spare records that lose less together; returns how many."""
    made, empty, stamp = 0, 0, 0
    room = groups.label.size
    pool, d2 = np.empty(room, np.int64), np.empty(room)
    chosen, left = np.empty(room, np.int64), np.empty(room, np.int64)
    stamps = np.zeros(groups.size.size, np.int64)
    for g in range(first, last):
        if groups.total[g] <= groups.least_count or groups.size[g] <= groups.least_records:
            continue
        empty = next_empty(groups, empty)
        if empty == groups.size.size:
            break
        kept = gather(groups, farthest_of(groups, g), pool, d2, chosen, left, empty)
        stamp += 3
        some = left[:kept]
        before = error_of(groups, some, stamps, stamp - 2)
        if is_enough(groups, empty) and keeps(groups, empty, NOBODY, NOBODY):
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
    rules: Rules,
    over: Callable[[], bool] | None = None,
) -> Array:
    """The labels after one round: exchanges twice over, dissolving, splitting, creating, and exchanges once more.

    Each group has the `near` nearest ones as partners; every change gains more than `least` by its price.
    `over` is asked before every slice of the work whether that is to be the end.
    """
    groups = new_weighed(rows, labels, weights, counts, least_count, least_records, near, rules)
    room = len(groups.size)
    of_group = room if over is None else at_once(near * rows.shape[1] * (-(-len(rows) // room)) ** 2)
    steps: list[tuple[Callable[..., int], tuple[float, ...]]] = [
        (exchange, (REACH, least)),
        (exchange, (REACH, least)),
        (dissolve, (least,)),
        (split, (least,)),
        (create, (least,)),
        (exchange, (REACH, least)),
    ]
    for step, rest in steps:
        for first in range(0, room, of_group):
            if over is not None and over():
                return groups.label
            step(groups, first, min(first + of_group, room), *rest)
    return groups.label
