"""Groups around every record that undercut prices most, and how many choose each record: where prices go up.

Every record chooses a group that it is in, the one that costs least over its prices for each record. With e the
least of (SSE - prices) / size of any group around a record, the sum of all prices and all e is a lower bound,
because a partition's group brings each of its records at least e. It rises where prices of records that are chosen
too little go up, and those of others down.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel


@inner
def lower_into(values: Array, chosen: Array, count: int) -> None:
    """The places of the `count` smallest values, smallest first."""
    listed = 0
    for p in range(values.size):
        value = values[p]
        if listed < count:
            place = listed
            listed += 1
        elif count > 0 and value < values[chosen[count - 1]]:
            place = count - 1
        else:
            continue
        while place > 0 and values[chosen[place - 1]] > value:
            chosen[place] = chosen[place - 1]
            place -= 1
        chosen[place] = p


@kernel
def fill_groups(
    first: int,
    stop: int,
    rows: Array,
    near: Array,
    prices: Array,
    wanted: Array,
    moves: int,
    members: Array,
    sizes: Array,
    costs: Array,
) -> None:
    """A good group for each record from `first` to `stop`: itself, and neighbours of a centre that moves.

    wanted are the sizes to try, rising. Fills members (the record first), sizes and costs (the SSE).
    """
    m, known = rows.shape[1], near.shape[1]
    values, centre = np.empty(known), np.empty(m)
    places = np.empty(wanted[-1], np.int64)
    chosen = np.empty(wanted[-1], np.int64)
    for i in range(first, stop):
        least = np.inf
        for s in wanted:
            if s - 1 > known:
                break
            centre[:] = rows[i]
            before = np.inf
            for _ in range(moves):
                for p in range(known):
                    total = -prices[near[i, p]]
                    for a in range(m):
                        difference = rows[near[i, p], a] - centre[a]
                        total += difference * difference
                    values[p] = total
                lower_into(values, places, s - 1)
                total = 0.0
                for a in range(m):
                    total += (rows[i, a] - centre[a]) ** 2
                for p in range(s - 1):
                    total += values[places[p]]
                if total >= before:
                    break
                before = total
                chosen[0] = i
                for p in range(s - 1):
                    chosen[p + 1] = near[i, places[p]]
                for a in range(m):
                    centre[a] = 0.0
                    for p in range(s):
                        centre[a] += rows[chosen[p], a]
                    centre[a] /= s
            cost, price = 0.0, 0.0
            for p in range(s):
                price += prices[chosen[p]]
                for a in range(m):
                    difference = rows[chosen[p], a] - centre[a]
                    cost += difference * difference
            if (cost - price) / s < least:
                least = (cost - price) / s
                members[i, :s] = chosen[:s]
                sizes[i], costs[i] = s, cost


@kernel
def choose(
    members: Array,
    sizes: Array,
    costs: Array,
    prices: Array,
    softness: Array,
    values: Array,
    least: Array,
    total: Array,
    chosen: Array,
) -> None:
    """What each record is charged by the groups around it, and how often it is chosen.

    least[i] is the lowest (SSE - prices) / size of the groups that hold i. Every record divides its choice among
    its groups; one that is dearer than the lowest by softness[i] gets 1 / e of what that gets. chosen[i] is 1
    where everybody chooses groups of one partition. Works in values, one for each group, and total, one for each
    record.
    """
    least[:] = np.inf
    for g in range(sizes.size):
        price = 0.0
        for p in range(sizes[g]):
            price += prices[members[g, p]]
        values[g] = (costs[g] - price) / sizes[g]
        for p in range(sizes[g]):
            least[members[g, p]] = min(least[members[g, p]], values[g])
    total[:] = 0.0
    for g in range(sizes.size):
        for p in range(sizes[g]):
            i = members[g, p]
            total[i] += np.exp((least[i] - values[g]) / softness[i])
    chosen[:] = 0.0
    for g in range(sizes.size):
        choice = 0.0
        for p in range(sizes[g]):
            i = members[g, p]
            choice += np.exp((least[i] - values[g]) / softness[i]) / total[i]
        for p in range(sizes[g]):
            chosen[members[g, p]] += choice / sizes[g]
