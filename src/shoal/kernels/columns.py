"""Groups that cost less than the prices of their records, found by steps like those of k-means.

From a centre c the s records with the least |x - c|^2 - price form a group, its mean is the next centre. Neither step
raises the sum, so it ends; what it ends at need not be the cheapest group there is.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel


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
