"""Annealed ruin and recreate: a few neighbouring groups are dissolved, formed anew and kept or not.

A few groups are copied out (see `local`), formed anew as a whole or, if they are large, in part, polished and
copied back. What is kept has its SSE summed anew: errors do not pile up.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, folded, inner, kernel
from shoal.kernels.exchanges.groups import enlist, file_in, fill, room_for, settle_centre
from shoal.kernels.exchanges.local import (
    LARGE,
    NEAR,
    Local,
    draw,
    local_sse,
    loosen,
    measure_pairs,
    place,
    recreate,
    uniform,
)
from shoal.kernels.exchanges.polish import polish
from shoal.kernels.sums.exact import squared_distance

MORE = 2  # one time in so many there is one group more, where records suffice for it
FEWER = 4  # and one fewer, which is seldom kept
WHOLE = 300  # large groups are dissolved as a whole so many times in k^2, or else in part


class State(NamedTuple):
    """Groups, what they cost and the best that there were."""

    rows: Array
    label: Array
    members: Array
    size: Array
    centre: Array
    sse: Array  # float64 (groups,)
    near: Array  # int32 (groups, NEAR): groups with near centroids, nearest first, -1 at the end
    free: Array  # int32 (groups + 1,): numbers that no group has; the last entry says how many there are
    best: Array  # int32 (n,): the best labels so far
    value: Array  # float64 (2,): the SSE now and the best
    seed: Array  # uint64 (1,)
    kept: Array  # int64 (2,): rebuilds kept, in all and when the lists were made


def new_state(rows: Array, labels: Array, k: int, seed: int) -> State:
    """The groups of labels from 0 on, each of k to 2k - 1 records."""
    room = len(rows) // k
    state = State(
        *room_for(rows, labels, room, 2 * k - 1),
        np.zeros(room),
        np.full((room, min(NEAR, max(room - 1, 1))), -1, np.int32),
        np.zeros(room + 1, np.int32),
        labels.astype(np.int32),
        np.zeros(2),
        np.array([seed * 2 + 88172645463325253], np.uint64),
        np.zeros(2, np.int64),
    )
    settle(state)
    state.value[1] = state.value[0]
    return state


@folded
def settle_sse(state: State, g: int) -> None:
    """The SSE of a group from its members and its centroid."""
    rows, total = state.rows, 0.0
    for slot in range(state.size[g]):
        i = state.members[g, slot]
        for j in range(rows.shape[1]):
            difference = rows[i, j] - state.centre[g, j]
            total += difference * difference
    state.sse[g] = total


@kernel
def settle(state: State) -> None:
    """Everything anew from the labels."""
    groups = state.size.size
    fill(state)
    state.value[0] = 0.0
    free = 0
    for g in range(groups - 1, -1, -1):
        if state.size[g] == 0:
            state.free[free] = g
            free += 1
            continue
        settle_sse(state, g)
        state.value[0] += state.sse[g]
    state.free[groups] = free
    find_neighbours(state)


@inner
def find_neighbours(state: State) -> None:
    """The lists of near groups of all groups."""
    groups, width = state.near.shape
    reach = np.empty(width)
    state.near[:] = -1
    for g in range(groups):
        if state.size[g] == 0:
            continue
        reach[:] = np.inf
        for h in range(groups):
            if h != g and state.size[h] > 0:
                file_in(state.near[g], reach, h, squared_distance(state.centre, g, state.centre[h]))
    state.kept[1] = state.kept[0]


@inner
def take(state: State, local: Local, wanted: int) -> tuple[int, int]:
    """Copy the records of up to so many groups around a record drawn; returns groups and records."""
    g = state.label[draw(state.seed, state.label.size)]
    local.taken[0] = g
    groups = 1
    skips = 0
    for c in range(state.near.shape[1]):
        h = state.near[g, c]
        if groups == wanted or h < 0:
            break
        if state.size[h] == 0:
            continue
        if skips < 3 and draw(state.seed, 4) == 0:
            skips += 1
            continue
        local.taken[groups] = h
        groups += 1
    records = 0
    for t in range(groups):
        h = local.taken[t]
        for slot in range(state.size[h]):
            i = state.members[h, slot]
            local.ids[records] = i
            local.label[records] = t
            for j in range(state.rows.shape[1]):
                local.columns[j, records] = state.rows[i, j]
            records += 1
    return groups, records


@inner
def keep(state: State, local: Local, records: int, before: int, after: int) -> None:
    """The rebuilt groups take the place of those dissolved."""
    room = state.size.size
    candidates = 0
    for t in range(before):
        g = local.taken[t]
        for c in range(-1, state.near.shape[1]):
            h = g if c < 0 else state.near[g, c]
            if h >= 0:
                local.pool[candidates] = h
                candidates += 1
    for t in range(after, before):
        g = local.taken[t]
        state.size[g] = 0
        state.free[state.free[room]] = g
        state.free[room] += 1
    for t in range(before, after):
        state.free[room] -= 1
        local.taken[t] = state.free[state.free[room]]
        local.pool[candidates] = local.taken[t]
        candidates += 1
    for t in range(after):
        state.size[local.taken[t]] = 0
    for x in range(records):
        enlist(state, local.ids[x], local.taken[local.label[x]])
    for t in range(after):
        settle_centre(state, local.taken[t])
        settle_sse(state, local.taken[t])
    reach = np.empty(state.near.shape[1])
    for t in range(after):
        g = local.taken[t]
        reach[:] = np.inf
        state.near[g, :] = -1
        for c in range(candidates):
            h = local.pool[c]
            if h == g or state.size[h] == 0:
                continue
            twice = False
            for p in range(state.near.shape[1]):
                twice |= state.near[g, p] == h
            if not twice:
                file_in(state.near[g], reach, h, squared_distance(state.centre, g, state.centre[h]))


@inner
def rebuild(state: State, local: Local, k: int, wanted: int, heat: float, least: float) -> bool:
    """Some groups around a record drawn are formed anew, or a part of them; whether that was kept.

    Heat 1 is the geometric mean of what a group costs here and what one costs anywhere: crowds and outliers then
    cool side by side.
    """
    before, records = take(state, local, wanted)
    old = 0.0
    for t in range(before):
        old += state.sse[local.taken[t]]
    if before == 1:
        return False
    if k < LARGE:
        measure_pairs(local, records)
    if k >= LARGE and draw(state.seed, k * k) >= WHOLE:
        loose, after = loosen(local, records, before, state.seed)
        if records > after * (2 * k - 1):
            return False
        place(local, loose, loose, after, k, state.seed)
    else:
        after = before
        if records >= (before + 1) * k and draw(state.seed, MORE) == 0:
            after += 1
        elif records <= (before - 1) * (2 * k - 1) and draw(state.seed, FEWER) == 0:
            after -= 1
        recreate(local, records, after, k, state.seed)
    polish(local, records, after, k, least)
    change = local_sse(local, records, after) - old
    groups = state.size.size - state.free[state.size.size]
    unit = np.sqrt(old / before) * np.sqrt(max(state.value[0], 0.0) / groups)
    if abs(change) <= least or not change <= -heat * unit * np.log(uniform(state.seed)):
        return False
    keep(state, local, records, before, after)
    state.value[0] += change
    return True


@kernel
def anneal(
    state: State, local: Local, k: int, most: int, steps: int, hot: float, cold: float, least: float
) -> None:
    """So many rebuilds of 2 to `most` groups while the heat falls from hot to cold."""
    state.value[0] = state.sse[state.size > 0].sum()
    factor = (cold / hot) ** (1.0 / steps) if hot > 0.0 else 1.0
    heat = hot
    for _ in range(steps):
        heat *= factor
        if rebuild(state, local, k, 2 + draw(state.seed, most - 1), heat, least):
            state.kept[0] += 1
            remember(state, least)
        if state.kept[0] - state.kept[1] > 4 * state.size.size:
            find_neighbours(state)


@inner
def remember(state: State, least: float) -> None:
    """Keep the labels if they are the best so far."""
    if state.value[0] < state.value[1] - least:
        state.value[1] = state.value[0]
        state.best[:] = state.label
