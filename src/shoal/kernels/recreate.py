"""Annealed ruin and recreate: a few neighbouring groups are dissolved, formed anew and kept or not.

All that a rebuild needs is copied first: with the squared distances D of its records, P[g] the sum over the pairs
of group g and S[g, x] that from x to its records, a group of a records has the SSE P[g] / a. A move or swap is
then priced in O(1), whatever the attributes. What is kept has its SSE summed anew from D: errors do not pile up.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel

MORE = 2  # one time in so many there is one group more, where records suffice for it
FEWER = 4  # and one fewer, which is seldom kept
BLINKS = 40  # one time in so many a cheaper place is overlooked, so that every partition can come up
PARTLY = 20  # the least k at which groups are dissolved in part only,
PARTS = 7  # so many times in ten,
LOOSE = 31  # of up to so many records
NEAR = 14  # groups that a group is rebuilt with


class State(NamedTuple):
    """A partition in search; there is room for as many groups as can be."""

    rows: Array  # float64 (n, m)
    label: Array  # int32 (n,)
    members: Array  # int32 (groups, 2k - 1)
    size: Array  # int32 (groups,): 0 for a group that is not there
    centre: Array  # float64 (groups, m)
    sse: Array  # float64 (groups,)
    near: Array  # int32 (groups, NEAR): groups with near centroids, nearest first, -1 at the end
    free: Array  # int32 (groups + 1,): numbers that no group has; the last entry says how many there are
    best: Array  # int32 (n,): the best labels so far
    value: Array  # float64 (2,): the SSE now and the best
    seed: Array  # uint64 (1,)
    kept: Array  # int64 (2,): rebuilds kept, in all and when the lists were made


class Local(NamedTuple):
    """Room for one rebuild of up to `most` records in up to `groups` groups."""

    ids: Array  # int32 (most,)
    columns: Array  # float64 (m, most)
    d2: Array  # float64 (most, most)
    label: Array  # int32 (most,)
    own: Array  # float64 (most,): S[label, x]
    sums: Array  # float64 (groups, most)
    pairs: Array  # float64 (groups,)
    size: Array  # int32 (groups,)
    taken: Array  # int32 (groups,): the groups dissolved
    reach: Array  # float64 (most,): scratch
    cheapest: Array  # float64 (groups,): what the record that costs a group least costs it
    choice: Array  # int32 (groups,): that record
    inverse: Array  # float64 (groups,): 1 / size while polishing
    pool: Array  # int32 (2, (NEAR + 1) * groups): scratch


def new_state(rows: Array, labels: Array, k: int, seed: int) -> State:
    """The groups of labels from 0 on, each of k to 2k - 1 records."""
    n, m = rows.shape
    room = n // k
    state = State(
        rows,
        labels.astype(np.int32),
        np.zeros((room, 2 * k - 1), np.int32),
        np.zeros(room, np.int32),
        np.zeros((room, m)),
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


def new_local(m: int, k: int, groups: int) -> Local:
    """Room for rebuilds of so many groups, and one more."""
    most = groups * (2 * k - 1)
    return Local(
        np.zeros(most, np.int32),
        np.zeros((m, most)),
        np.zeros((most, most)),
        np.zeros(most, np.int32),
        np.zeros(most),
        np.zeros((groups + 1, most)),
        np.zeros(groups + 1),
        np.zeros(groups + 1, np.int32),
        np.zeros(groups + 1, np.int32),
        np.zeros(most),
        np.zeros(groups + 1),
        np.zeros(groups + 1, np.int32),
        np.zeros(groups + 1),
        np.zeros((2, (NEAR + 1) * (groups + 1)), np.int32),
    )


@inner
def draw(seed: Array, below: int) -> int:
    """A number from 0 to below - 1; xorshift, the same on every machine."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(below))


@inner
def uniform(seed: Array) -> float:
    """A number above 0 and at most 1."""
    return (draw(seed, 1 << 52) + 1.0) / (1 << 52)


@inner
def settle_group(state: State, g: int) -> None:
    """Centroid and SSE of a group from its members."""
    rows, m, size = state.rows, state.rows.shape[1], state.size[g]
    for j in range(m):
        total = 0.0
        for slot in range(size):
            total += rows[state.members[g, slot], j]
        state.centre[g, j] = total / size
    total = 0.0
    for slot in range(size):
        i = state.members[g, slot]
        for j in range(m):
            difference = rows[i, j] - state.centre[g, j]
            total += difference * difference
    state.sse[g] = total


@kernel
def settle(state: State) -> None:
    """Everything anew from the labels."""
    groups = state.size.size
    state.size[:] = 0
    for i in range(state.label.size):
        g = state.label[i]
        state.members[g, state.size[g]] = i
        state.size[g] += 1
    state.value[0] = 0.0
    free = 0
    for g in range(groups - 1, -1, -1):
        if state.size[g] == 0:
            state.free[free] = g
            free += 1
            continue
        settle_group(state, g)
        state.value[0] += state.sse[g]
    state.free[groups] = free
    find_neighbours(state)


@inner
def between(state: State, g: int, h: int) -> float:
    """The squared distance of two centroids."""
    total = 0.0
    for j in range(state.rows.shape[1]):
        difference = state.centre[g, j] - state.centre[h, j]
        total += difference * difference
    return total


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
                file_in(state.near[g], reach, h, between(state, g, h))
    state.kept[1] = state.kept[0]


@inner
def file_in(ids: Array, reach: Array, h: int, d2: float) -> None:
    """Put h where it belongs in a list sorted by distance, if it does."""
    place = reach.size
    if d2 >= reach[place - 1]:
        return
    while place > 0 and d2 < reach[place - 1]:
        place -= 1
    for p in range(reach.size - 1, place, -1):
        reach[p] = reach[p - 1]
        ids[p] = ids[p - 1]
    reach[place] = d2
    ids[place] = h


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
    for p in range(records):
        for q in range(records):
            local.d2[p, q] = 0.0
        for j in range(state.rows.shape[1]):
            value = local.columns[j, p]
            for q in range(records):
                difference = value - local.columns[j, q]
                local.d2[p, q] += difference * difference
    return groups, records


@inner
def empty(local: Local, g: int, records: int) -> None:
    """Group g has no record."""
    local.pairs[g] = 0.0
    local.size[g] = 0
    for y in range(records):
        local.sums[g, y] = 0.0


@inner
def put(local: Local, x: int, g: int, records: int) -> None:
    """Record x enters group g."""
    local.pairs[g] += local.sums[g, x]
    local.size[g] += 1
    local.label[x] = g
    for y in range(records):
        local.sums[g, y] += local.d2[x, y]


@inner
def drop(local: Local, x: int, g: int, records: int) -> None:
    """Record x leaves group g."""
    local.pairs[g] -= local.sums[g, x]
    local.size[g] -= 1
    for y in range(records):
        local.sums[g, y] -= local.d2[x, y]


@inner
def recreate(local: Local, records: int, groups: int, k: int, seed: Array) -> None:
    """Form so many groups around seeds that are spread out."""
    for g in range(groups):
        empty(local, g, records)
    local.label[:records] = -1
    local.reach[:records] = np.inf
    x = draw(seed, records)
    for g in range(groups):
        if g > 0:
            total = 0.0
            for y in range(records):
                total += local.reach[y]
            left = uniform(seed) * total
            x = -1
            for y in range(records):
                if local.label[y] < 0:
                    left -= local.reach[y]
                    x = y
                    if left <= 0.0:
                        break
        put(local, x, g, records)
        for y in range(records):
            local.reach[y] = min(local.reach[y], local.d2[x, y])
    fill(local, records, records - groups, groups, k, seed)


@inner
def loosen(local: Local, records: int, groups: int, seed: Array) -> tuple[int, int]:
    """The records around one drawn leave their groups; returns how many, and how many groups are left."""
    loose = min(records, 2 + draw(seed, LOOSE - 1))
    x = draw(seed, records)
    for g in range(groups):
        local.size[g] = 0
    for y in range(records):
        local.reach[y] = local.d2[x, y]
        local.size[local.label[y]] += 1
    for _ in range(loose):
        nearest = 0
        for y in range(1, records):
            if local.reach[y] < local.reach[nearest]:
                nearest = y
        local.reach[nearest] = np.inf
        local.size[local.label[nearest]] -= 1
        local.label[nearest] = -1
    left = 0
    for g in range(groups):
        local.choice[g] = left
        left += local.size[g] > 0
    for g in range(left):
        empty(local, g, records)
    for y in range(records):
        if local.label[y] >= 0:
            put(local, y, local.choice[local.label[y]], records)
    return loose, left


@inner
def fill(local: Local, records: int, loose: int, groups: int, k: int, seed: Array) -> None:
    """The records without a group enter one, whoever costs least first."""
    missing = 0
    for g in range(groups):
        choose(local, g, records)
        missing += max(0, k - local.size[g])
    for left in range(loose, 0, -1):
        to = -1
        for g in range(groups):
            size = local.size[g]
            if size >= 2 * k - 1 or (left <= missing and size >= k):
                continue
            if local.label[local.choice[g]] >= 0:
                choose(local, g, records)
            if to < 0 or (local.cheapest[g] < local.cheapest[to] and draw(seed, BLINKS) > 0):
                to = g
        if local.size[to] < k:
            missing -= 1
        put(local, local.choice[to], to, records)


@inner
def choose(local: Local, g: int, records: int) -> None:
    """The record without a group that costs g least."""
    part = 1.0 / (local.size[g] + 1)
    own = local.pairs[g] / local.size[g]
    least, chosen = np.inf, 0
    for y in range(records):
        if local.label[y] < 0:
            cost = (local.pairs[g] + local.sums[g, y]) * part - own
            if cost < least:
                least, chosen = cost, y
    local.cheapest[g], local.choice[g] = least, chosen


@inner
def polish(local: Local, records: int, groups: int, k: int, least: float) -> None:
    """Moves and swaps of the local records until none gains more than `least`."""
    for x in range(records):
        local.own[x] = local.sums[local.label[x], x]
    for g in range(groups):
        local.inverse[g] = 1.0 / local.size[g]
    idle, x = 0, -1
    for _ in range(40 * records):
        if idle == records:
            break
        idle += 1
        x = x + 1 if x + 1 < records else 0
        home = local.label[x]
        a = local.size[home]
        delta, other, to = -least, -1, -1
        if a > k:
            leaving = local.pairs[home] / a - (local.pairs[home] - local.sums[home, x]) / (a - 1)
            for g in range(groups):
                b = local.size[g]
                if g != home and b < 2 * k - 1:
                    change = (local.pairs[g] + local.sums[g, x]) / (b + 1) - local.pairs[g] / b - leaving
                    if change < delta:
                        delta, to = change, g
        part = 1.0 / a
        own = local.own[x]
        for y in range(records):
            g = local.label[y]
            if g != home:
                d2 = local.d2[x, y]
                change = (local.sums[home, y] - own - d2) * part
                change += (local.sums[g, x] - local.own[y] - d2) * local.inverse[g]
                if change < delta:
                    delta, other, to = change, y, g
        if to < 0:
            continue
        idle = 0
        drop(local, x, home, records)
        put(local, x, to, records)
        if other >= 0:
            drop(local, other, to, records)
            put(local, other, home, records)
        else:
            local.inverse[home], local.inverse[to] = 1.0 / local.size[home], 1.0 / local.size[to]
        for y in range(records):
            if local.label[y] == home or local.label[y] == to:
                local.own[y] = local.sums[local.label[y], y]


@inner
def local_sse(local: Local, records: int, groups: int) -> float:
    """The SSE of the local groups, summed anew; pairs[g] become twice the sums over pairs."""
    for g in range(groups):
        local.pairs[g] = 0.0
    for x in range(records):
        g = local.label[x]
        for y in range(records):
            if local.label[y] == g:
                local.pairs[g] += local.d2[x, y]
    total = 0.0
    for g in range(groups):
        total += local.pairs[g] / (2 * local.size[g])
    return total


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
                local.pool[0, candidates] = h
                candidates += 1
    for t in range(after, before):
        g = local.taken[t]
        state.size[g] = 0
        state.free[state.free[room]] = g
        state.free[room] += 1
    for t in range(before, after):
        state.free[room] -= 1
        local.taken[t] = state.free[state.free[room]]
        local.pool[0, candidates] = local.taken[t]
        candidates += 1
    for t in range(after):
        state.size[local.taken[t]] = 0
    for x in range(records):
        g = local.taken[local.label[x]]
        state.members[g, state.size[g]] = local.ids[x]
        state.size[g] += 1
        state.label[local.ids[x]] = g
    for t in range(after):
        settle_group(state, local.taken[t])
    reach = np.empty(state.near.shape[1])
    for t in range(after):
        g = local.taken[t]
        reach[:] = np.inf
        state.near[g, :] = -1
        for c in range(candidates):
            h = local.pool[0, c]
            if h == g or state.size[h] == 0:
                continue
            twice = False
            for p in range(state.near.shape[1]):
                twice |= state.near[g, p] == h
            if not twice:
                file_in(state.near[g], reach, h, between(state, g, h))


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
    if k >= PARTLY and draw(state.seed, 10) < PARTS:
        loose, after = loosen(local, records, before, state.seed)
        if records > after * (2 * k - 1):
            return False
        fill(local, records, loose, after, k, state.seed)
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
