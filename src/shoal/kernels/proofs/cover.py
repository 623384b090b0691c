"""Set partitioning by depth-first search: groups from a list, each record in exactly one, at the lowest cost.

Sets of records are bits in words of 64. The lowest uncovered record has to be in the next group. Each record has a
price, each group a toll (at most 0), such that no allowed group costs less than its prices and toll; so what
is uncovered costs at least its prices, and as many tolls as it may have groups. Of equal records those with the
lowest numbers stay uncovered, so that sets that differ only by equal records are one.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel

CACHE_BITS = 20
ONE = np.uint64(1)


class Groups(NamedTuple):
    """The groups to choose from, by anchor (their lowest record), each anchor's by rising reduced cost."""

    masks: Array  # uint64 (groups, words)
    sizes: Array  # int64: how many records
    costs: Array  # float64: the SSE
    reduced: Array  # float64: the SSE less prices less toll, at least 0 up to rounding
    starts: Array  # int64 (n + 1): where the groups of each anchor start


class Stack(NamedTuple):
    """Where the search stands, so that it can be left and taken up again."""

    rest: Array  # uint64 (depth, words): what is uncovered at each depth
    left: Array  # int64: how many records that are
    cost: Array  # float64: what the groups so far cost
    bound: Array  # float64: what these and the prices of what is uncovered come to
    cursor: Array  # int64: the next group to try, or -1 for a depth just reached
    chosen: Array  # uint64 (depth, words): the group taken at each depth
    depth: Array  # int64 (1,): the depth the search is at, -1 when it is done
    seen: Array  # uint64 (places, words): for each place of the cache what was uncovered
    paid: Array  # float64: and at what cost


def new_stack(n: int, bound: float, deepest: int) -> Stack:
    """The search before its first step: nothing covered; `bound` is the sum of all prices."""
    words = (n + 63) // 64
    places = 1 << CACHE_BITS
    stack = Stack(
        np.zeros((deepest + 2, words), np.uint64),
        np.zeros(deepest + 2, np.int64),
        np.zeros(deepest + 2),
        np.zeros(deepest + 2),
        np.full(deepest + 2, -1),
        np.zeros((deepest + 2, words), np.uint64),
        np.zeros(1, np.int64),
        np.zeros((places, words), np.uint64),
        np.zeros(places),
    )
    stack.rest[0] = masks_of(np.arange(n)[None], np.array([n]), words)[0]
    stack.left[0] = n
    stack.bound[0] = bound
    return stack


@kernel
def masks_of(members: Array, sizes: Array, words: int) -> Array:
    """The groups as bits; group g holds members[g, :sizes[g]]."""
    masks = np.zeros((members.shape[0], words), np.uint64)
    for g in range(members.shape[0]):
        for p in range(sizes[g]):
            masks[g, members[g, p] >> 6] |= ONE << np.uint64(members[g, p] & 63)
    return masks


@inner
def has(mask: Array, record: int) -> bool:
    """Whether a record is in the set."""
    return (mask[record >> 6] >> np.uint64(record & 63)) & ONE == ONE


@inner
def lowest(mask: Array) -> int:
    """The lowest record of a set that is not empty."""
    word = 0
    while mask[word] == 0:
        word += 1
    record = word << 6
    while not has(mask, record):
        record += 1
    return record


@kernel
def records_of(mask: Array, out: Array) -> int:
    """The records of a set, rising, into out; returns how many."""
    count = 0
    for word in range(mask.size):
        bits, record = mask[word], word << 6
        while bits:
            if bits & ONE:
                out[count] = record
                count += 1
            bits >>= ONE
            record += 1
    return count


@inner
def group_cost(d2: Array, members: Array, count: int) -> float:
    """The SSE of a group: its pairs' squared distances over its size."""
    total = 0.0
    for p in range(count):
        for q in range(p):
            total += d2[members[p], members[q]]
    return total / count


@inner
def contained(group: Array, rest: Array) -> bool:
    """Whether every record of the group is in the rest."""
    for word in range(group.size):
        if group[word] & ~rest[word]:
            return False
    return True


@inner
def subtract(rest: Array, group: Array, twins: Array, out: Array) -> None:
    """What is left of the rest; twins are the ranges of equal records, of which the lowest numbers stay."""
    for word in range(rest.size):
        out[word] = rest[word] & ~group[word]
    for c in range(twins.shape[0]):
        place = twins[c, 0]
        for record in range(twins[c, 0], twins[c, 1]):
            if has(out, record):
                out[record >> 6] &= ~(ONE << np.uint64(record & 63))
                out[place >> 6] |= ONE << np.uint64(place & 63)
                place += 1


@inner
def known_at_less(stack: Stack, rest: Array, cost: float) -> bool:
    """Whether the same records were uncovered before at no higher cost; if not, remember this."""
    mixed = np.uint64(0)
    for word in range(rest.size):
        mixed = (mixed ^ rest[word]) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    place = (mixed * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(64 - CACHE_BITS)
    same = True
    for word in range(rest.size):
        same &= stack.seen[place, word] == rest[word]
    if same and stack.paid[place] <= cost:
        return True
    stack.seen[place] = rest
    stack.paid[place] = cost
    return False


@kernel
def cover(
    d2: Array,
    groups: Groups,
    toll: float,
    k: int,
    twins: Array,
    stack: Stack,
    best: Array,
    found: Array,
    most: int,
) -> int:
    """Go on with the search for about `most` groups looked at; stack.depth is -1 when it is over.

    best[0] is the cost to stay below. The sets of a cover that does so go into `found`, and their number is
    returned, or 0 if there was none in this call.
    """
    members = np.empty(2 * k, np.int64)
    count_found = 0
    depth = stack.depth[0]
    while depth >= 0 and most > 0:
        rest, count = stack.rest[depth], stack.left[depth]
        if stack.cursor[depth] < 0:
            most -= 1
            if count < 2 * k:
                records_of(rest, members)
                total = stack.cost[depth] + group_cost(d2, members, count)
                if total < best[0]:
                    best[0] = total
                    stack.chosen[depth] = rest
                    count_found = depth + 1
                    found[:count_found] = stack.chosen[:count_found]
                depth -= 1
                continue
            if known_at_less(stack, rest, stack.cost[depth]):
                depth -= 1
                continue
            stack.cursor[depth] = groups.starts[lowest(rest)]
        end = groups.starts[lowest(rest) + 1]
        base = stack.bound[depth]
        floor = base + toll * (count // k)
        column = stack.cursor[depth]
        descend = False
        while column < end and not descend:
            if not floor + groups.reduced[column] < best[0]:
                column = end
                break
            most -= 1
            left = count - groups.sizes[column]
            if left >= k and contained(groups.masks[column], rest):
                descend = base + groups.reduced[column] + toll * (1 + left // k) < best[0]
            column += 1
        stack.cursor[depth] = column
        if not descend:
            depth -= 1
            continue
        taken = column - 1
        stack.chosen[depth] = groups.masks[taken]
        subtract(rest, groups.masks[taken], twins, stack.rest[depth + 1])
        stack.left[depth + 1] = count - groups.sizes[taken]
        stack.cost[depth + 1] = stack.cost[depth] + groups.costs[taken]
        stack.bound[depth + 1] = base + groups.reduced[taken] + toll
        stack.cursor[depth + 1] = -1
        depth += 1
    stack.depth[0] = depth
    return count_found
