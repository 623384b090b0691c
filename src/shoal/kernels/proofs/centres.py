"""Groups around moving centres: a quick look for groups that cost less than their prices.

The SSE of a group is the least sum of squared distances to any point. So for a centre the best group of s records
is the s with the smallest squared distance less price; then the centre moves to their mean, until nothing changes.
"""

import numpy as np

from shoal.kernels.compiled import Array, kernel


@kernel
def groups_around(
    rows: Array,
    near: Array,
    homes: Array,
    starts: Array,
    prices: Array,
    wanted: Array,
    limit: float,
    steps: int,
    members: Array,
    sizes: Array,
    costs: Array,
) -> int:
    """From each centre starts[i], for each size wanted, a group among the neighbours of record homes[i].

    Only those whose SSE less prices is below the limit. Fills members (rising), sizes and costs (the SSE), and
    returns how many.
    """
    m = rows.shape[1]
    count = near.shape[1] + 1
    around, values, centre = np.empty(count, np.int64), np.empty(count), np.empty(m)
    found = 0
    for i in range(homes.size):
        around[0] = homes[i]
        for p in range(1, count):
            around[p] = near[homes[i], p - 1]
        for w in range(wanted.size):
            s = wanted[w]
            if s > count or found == sizes.size:
                continue
            for j in range(m):
                centre[j] = starts[i, j]
            before = np.inf
            chosen = np.zeros(s, np.int64)
            for _ in range(steps):
                for p in range(count):
                    total = -prices[around[p]]
                    for j in range(m):
                        difference = rows[around[p], j] - centre[j]
                        total += difference * difference
                    values[p] = total
                order = np.argpartition(values, s - 1)
                total = 0.0
                for p in range(s):
                    total += values[order[p]]
                    chosen[p] = around[order[p]]
                for j in range(m):
                    centre[j] = 0.0
                    for p in range(s):
                        centre[j] += rows[chosen[p], j]
                    centre[j] /= s
                if not total < before:
                    break
                before = total
            cost, price = 0.0, 0.0
            for p in range(s):
                price += prices[chosen[p]]
                for j in range(m):
                    difference = rows[chosen[p], j] - centre[j]
                    cost += difference * difference
            if cost - price < limit:
                members[found, :s] = np.sort(chosen)
                sizes[found], costs[found] = s, cost
                found += 1
    return found
