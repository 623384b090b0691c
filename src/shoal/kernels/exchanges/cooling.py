"""Annealing of weighted groups under any demands: random changes, kept with a probability that falls.

A change is a move, a swap, two groups divided anew, one cut in two, or two merged. It is priced first; what would
be kept by its price is then checked for the promises of all groups that it touches.
"""

import numpy as np

from shoal.kernels.borrowing import borrowing
from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.exchanges.local import draw, uniform
from shoal.kernels.exchanges.regroup import befriend, best_cut, next_empty
from shoal.kernels.exchanges.repair import cost_of_merging, excess_of_both, merge
from shoal.kernels.exchanges.weighted import (
    NOBODY,
    Weighed,
    can_leave,
    can_swap,
    cost_of_entering,
    cost_of_replacing,
    gain_of_leaving,
    keeps,
    relist,
    settle,
)
from shoal.kernels.sums.exact import squared_distance

MOVES, SWAPS, DIVISIONS, CUTS = 0.3, 0.94, 0.97, 0.99
"""Up to where a number from 0 to 1 stands for each change; beyond, two groups are merged."""

LARGEST = 400  # records of groups that are divided anew


@borrowing
def kept(delta: float, heat: float, seed: Array) -> bool:
    """Whether a change of the error is kept at this heat."""
    return delta < 0.0 or (heat > 0.0 and delta < -heat * np.log(1.0 - uniform(seed)))


@borrowing
def member(groups: Weighed, g: int, place: int) -> int:
    """The record of a group at a place of its list."""
    i = groups.head[g]
    for _ in range(place):
        i = groups.after[i]
    return i


@borrowing
def move(groups: Weighed, x: int, g: int, heat: float, seed: Array) -> None:
    """Perhaps a record goes to another group."""
    home = groups.label[x]
    if not can_leave(groups, x):
        return
    d2 = squared_distance(groups.rows, x, groups.centre[g])
    delta = cost_of_entering(d2, groups.mass[g], groups.weight[x])
    delta -= gain_of_leaving(groups.own[x], groups.mass[home], groups.weight[x])
    if kept(delta, heat, seed) and keeps(groups, home, x, NOBODY) and keeps(groups, g, NOBODY, x):
        relist(groups, x, g)
        settle(groups, home)
        settle(groups, g)


@borrowing
def swap(groups: Weighed, x: int, g: int, heat: float, seed: Array) -> None:
    """Perhaps a record changes places with one of another group."""
    home, rows, mass, weight = groups.label[x], groups.rows, groups.mass, groups.weight
    y = member(groups, g, draw(seed, groups.size[g]))
    more = groups.counts[x] - groups.counts[y]
    if groups.total[g] + more < groups.least_count or groups.total[home] - more < groups.least_count:
        return
    between = squared_distance(rows, x, rows[y])
    there, back = squared_distance(rows, x, groups.centre[g]), squared_distance(rows, y, groups.centre[home])
    delta = cost_of_replacing(there, groups.own[y], between, mass[g], weight[x], weight[y])
    delta += cost_of_replacing(back, groups.own[x], between, mass[home], weight[y], weight[x])
    if kept(delta, heat, seed) and can_swap(groups, x, y):
        relist(groups, x, g)
        relist(groups, y, home)
        settle(groups, home)
        settle(groups, g)


@inner
def divide(groups: Weighed, g: int, h: int, heat: float, seed: Array) -> None:
    """Perhaps one or two groups are divided anew, along the line between two of their records; h may be empty."""
    size, before = groups.size[g] + groups.size[h], groups.error[g] + groups.error[h]
    order, keys, left = np.empty(size, np.int64), np.empty(size), np.empty(size)
    means, first, count = np.empty((2, groups.rows.shape[1])), groups.size[g], 0
    for which in range(2):
        i = groups.head[g] if which == 0 else groups.head[h]
        while i >= 0:
            order[count] = i
            count += 1
            i = groups.after[i]
    p, q = order[draw(seed, size)], order[draw(seed, size)]
    for slot in range(size):
        keys[slot] = squared_distance(groups.rows, order[slot], groups.rows[p])
        keys[slot] -= squared_distance(groups.rows, order[slot], groups.rows[q])
    ranked = order[np.argsort(keys, kind="mergesort")]
    error, cut = best_cut(groups, ranked, left, means)
    if cut < 0 or not kept(error - before, heat, seed):
        return
    for slot in range(size):
        relist(groups, ranked[slot], g if slot < cut else h)
    settle(groups, g)
    settle(groups, h)
    if first == size:
        befriend(groups, g, h)


@kernel
def cool(groups: Weighed, steps: int, heat: float, seed: Array) -> float:
    """So many random changes at this heat; returns the error of all groups."""
    for _ in range(steps):
        x = draw(seed, groups.label.size)
        home, kind = groups.label[x], uniform(seed)
        g = groups.near[home, draw(seed, groups.near.shape[1])]
        alone = g < 0 or g == home or groups.size[g] == 0
        if DIVISIONS <= kind < CUTS:
            if groups.total[home] >= 2 * groups.least_count and groups.size[home] <= LARGEST:
                empty = next_empty(groups, 0)
                if empty < groups.size.size:
                    divide(groups, home, empty, heat, seed)
        elif alone:
            continue
        elif kind < MOVES:
            move(groups, x, g, heat, seed)
        elif kind < SWAPS:
            swap(groups, x, g, heat, seed)
        elif kind < DIVISIONS:
            if groups.size[home] + groups.size[g] <= LARGEST:
                divide(groups, home, g, heat, seed)
        elif kept(cost_of_merging(groups, home, g), heat, seed) and excess_of_both(groups, home, g) <= 0.0:
            merge(groups, home, g)
            settle(groups, home)
    return groups.error.sum()
