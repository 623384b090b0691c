"""Groups around every record that undercut prices most, and prices at which known groups just hold everybody.

With e the least of (SSE - prices) / size of the known groups around a record, the sum of all prices and all e is
a lower bound on partitions into such groups, because each brings every one of its records at least e. The best
prices are those of a linear program: the groups that are used hold each record once in all, at the least SSE.
Prices rise where records are held less than that and fall where they are held more, and groups are used more where
they undercut prices (Chambolle and Pock 2011, with steps by record and by group as in Pock and Chambolle 2011).
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
def charged(members: Array, sizes: Array, costs: Array, prices: Array, least: Array) -> None:
    """The lowest (SSE - prices) / size of the groups that hold each record; minus its price where none does."""
    least[:] = np.inf
    for g in range(sizes.size):
        value = costs[g]
        for p in range(sizes[g]):
            value -= prices[members[g, p]]
        value /= sizes[g]
        for p in range(sizes[g]):
            least[members[g, p]] = min(least[members[g, p]], value)
    for i in range(prices.size):
        if least[i] == np.inf:
            least[i] = -prices[i]


@kernel
def balance(
    members: Array,
    sizes: Array,
    costs: Array,
    steps: int,
    use: Array,
    prices: Array,
    highest: Array,
    use_steps: Array,
    price_steps: Array,
    held: Array,
    all_use: Array,
    all_prices: Array,
) -> None:
    """So many steps towards prices at which the groups hold each record once, in place; `highest` limits prices.

    use is how much of each group is used, at least 0. use_steps and price_steps are the lengths of steps. The use
    and the prices after each step are added to all_use and all_prices. Works in held, one for each record.
    """
    for _ in range(steps):
        held[:] = 0.0
        for g in range(sizes.size):
            undercut = -costs[g]
            for p in range(sizes[g]):
                undercut += prices[members[g, p]]
            used = max(0.0, use[g] + use_steps[g] * undercut)
            ahead = 2.0 * used - use[g]
            use[g] = used
            all_use[g] += used
            if ahead != 0.0:
                for p in range(sizes[g]):
                    held[members[g, p]] += ahead
        for i in range(prices.size):
            prices[i] = min(prices[i] + price_steps[i] * (1.0 - held[i]), highest[i])
            all_prices[i] += prices[i]


@kernel
def pick(members: Array, sizes: Array, order: Array, labels: Array) -> int:
    """Take groups in this order where all their records are free (label -1); returns how many are taken."""
    taken = 0
    for g in order:
        free = True
        for p in range(sizes[g]):
            free &= labels[members[g, p]] < 0
        if free:
            for p in range(sizes[g]):
                labels[members[g, p]] = taken
            taken += 1
    return taken
