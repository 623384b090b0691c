"""The few groups that are dissolved and formed anew, copied out of their table.

Groups of few records are told by pairs: with the squared distances D of all records, P[g] the sum over the pairs
of group g and S[g, x] that from x to its records, a group of a records has the SSE P[g] / a. A move or swap is
then priced in O(1), whatever the attributes.

Large groups are told by their centroids, since there would be too many pairs: S[g, x] is the squared distance of
x to the centroid of g. A move is priced in O(1), a swap in O(m), of which few are worth it (see `polish`).
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, folded, inner

LARGE = 20  # the least k whose groups are told by centroids, and dissolved in part
NEAR = 14  # groups that a group is rebuilt with
BLINKS = 6  # a group is overlooked one time in 2 to the power of this, so that every partition can come up
LOOSE = 31  # records that leave their groups, at most, where groups are dissolved in part
PLACES = 4096  # more than a rebuild has records: the low bits of a number that say which
LAST = np.int64(2**63 - 1)


class Local(NamedTuple):
    """Room for one rebuild of up to `most` records in up to `groups` groups."""

    ids: Array  # int32 (most,)
    columns: Array  # float64 (m, most)
    pairwise: Array  # float64 (most, most): D, where groups are told by pairs
    label: Array  # int32 (most,): -1 for a record without a group
    sums: Array  # float64 (groups, most): S
    bits: Array  # int64 (groups, most): the same memory; what is not negative is in the same order
    hidden: Array  # int64 (most,): LAST for a record that has a group while others enter one, else 0
    pairs: Array  # float64 (groups,): P
    centre: Array  # float64 (groups, m): where groups are told by centroids
    size: Array  # int32 (groups,)
    taken: Array  # int32 (groups,): the groups dissolved
    reach: Array  # float64 (most,): scratch
    bound: Array  # float64 (most,): scratch
    cheapest: Array  # float64 (groups,): what the record that costs a group least costs it
    choice: Array  # int32 (groups,): that record
    members: Array  # int32 (groups, 2k - 1): while polishing
    changed: Array  # int64 (groups,): when that group was last changed by polishing
    settled: Array  # int64 (groups, groups): [h, g], h < g, when nothing was left to gain between them
    pool: Array  # int32 ((NEAR + 1) * groups,): scratch


def new_local(m: int, k: int, groups: int) -> Local:
    """Room for rebuilds of so many groups, and one more."""
    most, room = groups * (2 * k - 1), groups + 1
    if most > PLACES or room * BLINKS > 64:
        raise ValueError(f"{groups} groups with {most} records; a rebuild has up to 9 with {PLACES}.")
    by_pairs = most if k < LARGE else 1
    sums = np.zeros((room, most))
    return Local(
        ids=np.zeros(most, np.int32),
        columns=np.zeros((m, most)),
        pairwise=np.zeros((by_pairs, by_pairs)),
        label=np.zeros(most, np.int32),
        sums=sums,
        bits=sums.view(np.int64),
        hidden=np.zeros(most, np.int64),
        pairs=np.zeros(room),
        centre=np.zeros((room, m)),
        size=np.zeros(room, np.int32),
        taken=np.zeros(room, np.int32),
        reach=np.zeros(most),
        bound=np.zeros(most),
        cheapest=np.zeros(room),
        choice=np.zeros(room, np.int32),
        members=np.zeros((room, 2 * k - 1), np.int32),
        changed=np.zeros(room, np.int64),
        settled=np.zeros((room, room), np.int64),
        pool=np.zeros((NEAR + 1) * room, np.int32),
    )


@folded
def shuffled(seed: Array) -> np.uint64:
    """The next 64 bits; xorshift, the same on every machine."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return x


@folded
def draw(seed: Array, below: int) -> int:
    """A number from 0 to below - 1."""
    return np.int64((shuffled(seed) >> np.uint64(11)) % np.uint64(below))


@folded
def uniform(seed: Array) -> float:
    """A number above 0 and at most 1."""
    return (draw(seed, 1 << 52) + 1.0) / (1 << 52)


@inner
def measure_pairs(local: Local, records: int) -> None:
    """The squared distances of all pairs, four attributes at a time."""
    m = local.columns.shape[0]
    for p in range(records):
        row = local.pairwise[p]
        row[:records] = 0.0
        for j in range(0, m - 3, 4):
            a, b, c, d = local.columns[j], local.columns[j + 1], local.columns[j + 2], local.columns[j + 3]
            u, v, w, z = a[p], b[p], c[p], d[p]
            for q in range(records):
                e, f, g, h = u - a[q], v - b[q], w - c[q], z - d[q]
                row[q] += (e * e + f * f) + (g * g + h * h)
        for j in range(m - m % 4, m):
            value = local.columns[j, p]
            for q in range(records):
                difference = value - local.columns[j, q]
                row[q] += difference * difference


@folded
def put(local: Local, x: int, g: int, records: int) -> None:
    """Record x enters group g, which is told by pairs."""
    local.pairs[g] += local.sums[g, x]
    local.size[g] += 1
    local.label[x] = g
    for y in range(records):
        local.sums[g, y] += local.pairwise[x, y]


@folded
def drop(local: Local, x: int, g: int, records: int) -> None:
    """Record x leaves group g, which is told by pairs."""
    local.pairs[g] -= local.sums[g, x]
    local.size[g] -= 1
    for y in range(records):
        local.sums[g, y] -= local.pairwise[x, y]


@folded
def enter(local: Local, x: int, g: int) -> None:
    """Record x enters group g, which is told by its centroid."""
    local.size[g] += 1
    local.label[x] = g
    for j in range(local.centre.shape[1]):
        local.centre[g, j] += (local.columns[j, x] - local.centre[g, j]) / local.size[g]


@folded
def leave(local: Local, x: int, g: int) -> None:
    """Record x leaves group g, which is told by its centroid."""
    local.size[g] -= 1
    for j in range(local.centre.shape[1]):
        local.centre[g, j] -= (local.columns[j, x] - local.centre[g, j]) / local.size[g]


@folded
def measure(local: Local, g: int, records: int) -> None:
    """The distances of the first so many records to the centroid of g."""
    for y in range(records):
        local.sums[g, y] = 0.0
    for j in range(local.centre.shape[1]):
        middle = local.centre[g, j]
        for y in range(records):
            difference = local.columns[j, y] - middle
            local.sums[g, y] += difference * difference


@folded
def empty(local: Local, g: int, records: int) -> None:
    """Group g has no record."""
    local.size[g] = 0
    local.pairs[g] = 0.0
    local.centre[g] = 0.0
    for y in range(records):
        local.sums[g, y] = 0.0


@inner
def receive(local: Local, x: int, g: int, records: int) -> None:
    """Record x enters group g, which is told by its centroid; S is then right for the first so many records."""
    enter(local, x, g)
    measure(local, g, records)


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
        if k < LARGE:
            put(local, x, g, records)
        else:
            receive(local, x, g, records)
        for y in range(records):
            local.reach[y] = min(local.reach[y], local.sums[g, y])
    place(local, records, records - groups, groups, k, seed)


@inner
def loosen(local: Local, records: int, groups: int, seed: Array) -> tuple[int, int]:
    """The records around one drawn leave their groups, which are told by centroids, and come first.

    Returns how many these are, and how many groups are left.
    """
    loose = min(records, 2 + draw(seed, LOOSE - 1))
    x = draw(seed, records)
    for y in range(records):
        local.reach[y] = 0.0
    for j in range(local.centre.shape[1]):
        value = local.columns[j, x]
        for y in range(records):
            difference = local.columns[j, y] - value
            local.reach[y] += difference * difference
    for g in range(groups):
        local.size[g] = 0
    for y in range(records):
        local.size[local.label[y]] += 1
    for first in range(loose):
        nearest = first
        for y in range(first + 1, records):
            if local.reach[y] < local.reach[nearest]:
                nearest = y
        local.size[local.label[nearest]] -= 1
        exchange_places(local, first, nearest)
        local.label[first] = -1
    left = 0
    for g in range(groups):
        local.choice[g] = left
        left += local.size[g] > 0
    for g in range(left):
        empty(local, g, loose)
    for y in range(loose, records):
        enter(local, y, local.choice[local.label[y]])
    for g in range(left):
        measure(local, g, loose)
    return loose, left


@inner
def exchange_places(local: Local, x: int, y: int) -> None:
    """Records x and y of the copy change places."""
    local.ids[x], local.ids[y] = local.ids[y], local.ids[x]
    local.label[x], local.label[y] = local.label[y], local.label[x]
    local.reach[x], local.reach[y] = local.reach[y], local.reach[x]
    for j in range(local.centre.shape[1]):
        local.columns[j, x], local.columns[j, y] = local.columns[j, y], local.columns[j, x]


@inner
def place(local: Local, records: int, loose: int, groups: int, k: int, seed: Array) -> None:
    """Those of the first so many records that have no group enter one, whoever costs least first."""
    missing, limit = 0, 2 * k - 1
    for y in range(records):
        local.hidden[y] = 0 if local.label[y] < 0 else LAST
    for g in range(groups):
        choose(local, g, records, k)
        missing += max(0, k - local.size[g])
    for left in range(loose, 0, -1):
        if left == missing:
            limit = k
        to = cheapest_group(local, groups, limit, seed)
        x = local.choice[to]
        missing -= local.size[to] < k
        local.hidden[x] = LAST
        if k < LARGE:
            put(local, x, to, records)
        else:
            receive(local, x, to, records)
        for g in range(groups):
            if local.choice[g] == x and left > 1:
                choose(local, g, records, k)


@folded
def cheapest_group(local: Local, groups: int, limit: int, seed: Array) -> int:
    """The group below the limit whose choice costs least, of those not overlooked."""
    bits = shuffled(seed)
    to, least = -1, np.inf
    for g in range(groups):
        seen = bits & np.uint64((1 << BLINKS) - 1)
        cost = local.cheapest[g] if seen and local.size[g] < limit else np.inf
        if cost < least:
            to, least = g, cost
        bits >>= np.uint64(BLINKS)
    if to < 0:
        for g in range(groups):
            if local.size[g] < limit and (to < 0 or local.cheapest[g] < local.cheapest[to]):
                to = g
    return to


@folded
def choose(local: Local, g: int, records: int, k: int) -> None:
    """The record without a group that costs g least; there must be one.

    The bits of a sum, with the record in the last of them, are compared as whole numbers: several at a time.
    """
    found = LAST
    for y in range(records):
        found = min(found, local.bits[g, y] & -PLACES | y | local.hidden[y])
    chosen = found & (PLACES - 1)
    size, pairs, least = local.size[g], local.pairs[g], local.sums[g, chosen]
    if k < LARGE:
        local.cheapest[g] = (pairs + least) / (size + 1) - pairs / size
    else:
        local.cheapest[g] = least * size / (size + 1)
    local.choice[g] = chosen


@inner
def local_sse(local: Local, records: int, groups: int) -> float:
    """The SSE of the local groups, summed anew."""
    total = 0.0
    for j in range(local.centre.shape[1]):
        for g in range(groups):
            local.cheapest[g] = 0.0
        for y in range(records):
            local.cheapest[local.label[y]] += local.columns[j, y]
        for g in range(groups):
            local.cheapest[g] /= local.size[g]
        for y in range(records):
            difference = local.columns[j, y] - local.cheapest[local.label[y]]
            total += difference * difference
    return total
