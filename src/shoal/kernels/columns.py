"""Groups that cost less than the prices of their records, found by steps like those of k-means.

From a centre c the s records with the least |x - c|^2 - price form a group, its mean is the next centre. Neither
step raises the sum, so it ends; what it ends at need not be the cheapest group there is.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.exact import squared_distance


@inner
def cheapest(rows: Array, prices: Array, near: Array, centre: Array, s: int, chosen: Array, costs: Array) -> None:
    """The s records of `near` with the least distance less price, the cheapest first."""
    found = 0
    for c in range(near.size):
        i = near[c]
        cost = -prices[i]
        for j in range(rows.shape[1]):
            difference = rows[i, j] - centre[j]
            cost += difference * difference
        if found == s and cost >= costs[s - 1]:
            continue
        place = found if found < s else s - 1
        while place > 0 and cost < costs[place - 1]:
            chosen[place], costs[place] = chosen[place - 1], costs[place - 1]
            place -= 1
        chosen[place], costs[place] = i, cost
        found = min(found + 1, s)


@inner
def recentre(rows: Array, chosen: Array, s: int, centre: Array) -> None:
    """The mean of the chosen records."""
    for j in range(rows.shape[1]):
        total = 0.0
        for p in range(s):
            total += rows[chosen[p], j]
        centre[j] = total / s


@kernel
def cheap_groups(
    rows: Array,
    prices: Array,
    starts: Array,
    near: Array,
    low: int,
    high: int,
    below: float,
    members: Array,
    sizes: Array,
    reduced: Array,
) -> int:
    """For each start, which has its list of records, and each size the group it leads to, if it costs so little.

    Fills members, sizes and reduced costs; returns how many groups there are. There must be room for all.
    """
    centre, costs = np.empty(rows.shape[1]), np.empty(high)
    chosen = np.empty(high, np.int32)
    found = 0
    for c in range(starts.shape[0]):
        for s in range(low, min(high, near.shape[1]) + 1):
            centre[:] = starts[c]
            last = np.inf
            for _ in range(20):
                cheapest(rows, prices, near[c], centre, s, chosen, costs)
                recentre(rows, chosen, s, centre)
                total = 0.0
                for p in range(s):
                    total -= prices[chosen[p]]
                    for j in range(rows.shape[1]):
                        difference = rows[chosen[p], j] - centre[j]
                        total += difference * difference
                if not total < last:
                    break
                last = total
            if last < below:
                members[found, :s] = np.sort(chosen[:s])
                sizes[found] = s
                reduced[found] = last
                found += 1
    return found


@kernel
def neighbouring_groups(
    rows: Array,
    prices: Array,
    near: Array,
    groups: Array,
    starts: Array,
    low: int,
    high: int,
    below: float,
    members: Array,
    sizes: Array,
    reduced: Array,
) -> int:
    """Groups with a record more, less or another one than those given, if their SSE less prices is so low.

    Group g has the records groups[starts[g] : starts[g + 1]]; the record that is added comes from the list of
    its first one. Fills what there is room for; returns how many groups that are.
    """
    m = rows.shape[1]
    centre, found = np.empty(m), 0
    inside = np.zeros(rows.shape[0], np.bool_)
    for g in range(starts.size - 1):
        own = groups[starts[g] : starts[g + 1]]
        s = own.size
        recentre(rows, own, s, centre)
        base = 0.0
        for p in range(s):
            inside[own[p]] = True
            base += squared_distance(rows, own[p], centre) - prices[own[p]]
        for out in range(-1, s):
            # without the record: s - 1 are left, around a centre that has moved
            left, cost = s, base
            if out >= 0:
                left -= 1
                cost += prices[own[out]] - squared_distance(rows, own[out], centre) * s / max(left, 1)
                if left >= low and cost < below and found < sizes.size:
                    store(own, out, -1, members[found])
                    sizes[found], reduced[found] = left, cost
                    found += 1
            if left == 0 or left + 1 < low or left + 1 > high:
                continue
            for c in range(near.shape[1]):
                y = near[own[0], c]
                if inside[y]:
                    continue
                d2 = 0.0
                for j in range(m):
                    difference = rows[y, j] - centre[j]
                    if out >= 0:
                        difference += (rows[own[out], j] - centre[j]) / left
                    d2 += difference * difference
                total = cost + d2 * left / (left + 1) - prices[y]
                if total < below and found < sizes.size:
                    store(own, out, y, members[found])
                    sizes[found], reduced[found] = left + 1, total
                    found += 1
        for p in range(s):
            inside[own[p]] = False
    return found


@inner
def store(own: Array, out: int, more: int, members: Array) -> None:
    """The records of a group without one of them and with one more, where there is one."""
    place = 0
    for p in range(own.size):
        if p != out:
            members[place] = own[p]
            place += 1
    if more >= 0:
        members[place] = more
