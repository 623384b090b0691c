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
BLINKS = 40  # one time in so many a cheaper place is overlooked, so that every partition can come up
LOOSE = 31  # records that leave their groups, at most, where groups are dissolved in part


class Local(NamedTuple):
    """Room for one rebuild of up to `most` records in up to `groups` groups."""

    ids: Array  # int32 (most,)
    columns: Array  # float64 (m, most)
    pairwise: Array  # float64 (most, most): D, where groups are told by pairs
    label: Array  # int32 (most,): -1 for a record without a group
    own: Array  # float64 (most,): S[label, x] while polishing
    share: Array  # float64 (most,): 1 / size of its group while polishing by centroids
    sums: Array  # float64 (groups, most): S
    pairs: Array  # float64 (groups,): P
    centre: Array  # float64 (groups, m): where groups are told by centroids
    size: Array  # int32 (groups,)
    taken: Array  # int32 (groups,): the groups dissolved
    reach: Array  # float64 (most,): scratch
    cheapest: Array  # float64 (groups,): what the record that costs a group least costs it
    choice: Array  # int32 (groups,): that record
    inverse: Array  # float64 (groups,): 1 / size while polishing
    lowest: Array  # float64 (groups, groups): [h, g], the least that a record of g adds to a swap with one of h
    known: Array  # bool (groups,): whether the row of a group is right
    pool: Array  # int32 ((NEAR + 1) * groups,): scratch


def new_local(m: int, k: int, groups: int) -> Local:
    """Room for rebuilds of so many groups, and one more."""
    most, room = groups * (2 * k - 1), groups + 1
    by_pairs = most if k < LARGE else 1
    return Local(
        ids=np.zeros(most, np.int32),
        columns=np.zeros((m, most)),
        pairwise=np.zeros((by_pairs, by_pairs)),
        label=np.zeros(most, np.int32),
        own=np.zeros(most),
        share=np.zeros(most),
        sums=np.zeros((room, most)),
        pairs=np.zeros(room),
        centre=np.zeros((room, m)),
        size=np.zeros(room, np.int32),
        taken=np.zeros(room, np.int32),
        reach=np.zeros(most),
        cheapest=np.zeros(room),
        choice=np.zeros(room, np.int32),
        inverse=np.zeros(room),
        lowest=np.zeros((room, room)),
        known=np.zeros(room, np.bool_),
        pool=np.zeros((NEAR + 1) * room, np.int32),
    )


@folded
def draw(seed: Array, below: int) -> int:
    """A number from 0 to below - 1; xorshift, the same on every machine."""
    x = seed[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    seed[0] = x
    return np.int64((x >> np.uint64(11)) % np.uint64(below))


@folded
def uniform(seed: Array) -> float:
    """A number above 0 and at most 1."""
    return (draw(seed, 1 << 52) + 1.0) / (1 << 52)


@inner
def measure_pairs(local: Local, records: int) -> None:
    """The squared distances of all pairs."""
    for p in range(records):
        for q in range(records):
            local.pairwise[p, q] = 0.0
        for j in range(local.columns.shape[0]):
            value = local.columns[j, p]
            for q in range(records):
                difference = value - local.columns[j, q]
                local.pairwise[p, q] += difference * difference


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


@folded
def add(local: Local, x: int, g: int, records: int, k: int) -> None:
    """Record x enters group g; S is then right for the first so many records."""
    if k < LARGE:
        put(local, x, g, records)
    else:
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
        add(local, x, g, records, k)
        for y in range(records):
            local.reach[y] = min(local.reach[y], local.sums[g, y])
    fill(local, records, records - groups, groups, k, seed)


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
def fill(local: Local, records: int, loose: int, groups: int, k: int, seed: Array) -> None:
    """Those of the first so many records that have no group enter one, whoever costs least first."""
    missing = 0
    for g in range(groups):
        choose(local, g, records, k)
        missing += max(0, k - local.size[g])
    for left in range(loose, 0, -1):
        to = -1
        for g in range(groups):
            size = local.size[g]
            if size >= 2 * k - 1 or (left <= missing and size >= k):
                continue
            if local.label[local.choice[g]] >= 0:
                choose(local, g, records, k)
            if to < 0 or (local.cheapest[g] < local.cheapest[to] and draw(seed, BLINKS) > 0):
                to = g
        if local.size[to] < k:
            missing -= 1
        add(local, local.choice[to], to, records, k)


@folded
def choose(local: Local, g: int, records: int, k: int) -> None:
    """The record without a group that costs g least."""
    least, chosen = np.inf, 0
    for y in range(records):
        if local.label[y] < 0 and local.sums[g, y] < least:
            least, chosen = local.sums[g, y], y
    size, pairs = local.size[g], local.pairs[g]
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
