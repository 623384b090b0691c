"""A genetic algorithm for one block: chromosomes of n genes, gene i the group of record i.

All groups of a chromosome have k to 2k - 1 records, always: crossover is followed by a repair, mutation moves or
swaps. There are n // k group numbers; some may be unused. Every random choice comes from one 64-bit state
(splitmix64), so the same seed gives the same groups on any machine.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.sums.exact import squared_distance

LOOSE = -1
STEP = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel
def draw(state: Array) -> float:
    """A random number from 0 to below 1; moves the state (uint64, one element) on."""
    state[0] += STEP
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    z ^= z >> np.uint64(31)
    return np.float64(z >> np.uint64(11)) * 2.0**-53


@inner
def below(state: Array, bound: int) -> int:
    """A random whole number from 0 to below the bound."""
    return np.int64(draw(state) * bound)


@inner
def count_sizes(genes: Array, sizes: Array) -> None:
    """How many records each group has; loose ones are in none."""
    sizes[:] = 0
    for i in range(genes.size):
        if genes[i] != LOOSE:
            sizes[genes[i]] += 1


@inner
def fill_group_means(rows: Array, genes: Array, sizes: Array, means: Array) -> None:
    """The mean of each group, summed in the order of the records."""
    means[:] = 0.0
    for i in range(rows.shape[0]):
        if genes[i] != LOOSE:
            for j in range(rows.shape[1]):
                means[genes[i], j] += rows[i, j]
    for group in range(sizes.size):
        if sizes[group] > 0:
            for j in range(rows.shape[1]):
                means[group, j] /= sizes[group]


@inner
def total_sse(rows: Array, genes: Array, sizes: Array, means: Array) -> float:
    """The SSE of a chromosome, summed in the order of the records."""
    count_sizes(genes, sizes)
    fill_group_means(rows, genes, sizes, means)
    total = 0.0
    for i in range(rows.shape[0]):
        total += squared_distance(rows, i, means[genes[i]])
    return total


@inner
def number_groups(genes: Array, numbers: Array) -> None:
    """Number the groups in the order of their first records, so that equal partitions have equal genes."""
    numbers[:] = -1
    following = 0
    for i in range(genes.size):
        if numbers[genes[i]] < 0:
            numbers[genes[i]] = following
            following += 1
        genes[i] = numbers[genes[i]]


@inner
def loosen(genes: Array, sizes: Array, k: int) -> int:
    """Free the records of groups below k, and the last ones of groups above 2k - 1; how many are loose."""
    count_sizes(genes, sizes)
    loose = 0
    for i in range(genes.size - 1, -1, -1):
        group = genes[i]
        if sizes[group] < k:
            genes[i] = LOOSE
            loose += 1
        elif sizes[group] > 2 * k - 1:
            genes[i] = LOOSE
            sizes[group] -= 1
            loose += 1
    count_sizes(genes, sizes)
    return loose


@inner
def empty_group(sizes: Array) -> int:
    """The lowest group number without a record."""
    group = 0
    while sizes[group] > 0:
        group += 1
    return group


@inner
def by_distance(rows: Array, point: Array) -> Array:
    """The records from the nearest to the farthest, the lowest index first among equals."""
    d2 = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        d2[i] = squared_distance(rows, i, point)
    return np.argsort(d2, kind="mergesort")


@inner
def open_group(rows: Array, genes: Array, sizes: Array, k: int) -> None:
    """A group of the first loose record and its k - 1 nearest loose ones."""
    group = empty_group(sizes)
    seed = 0
    while genes[seed] != LOOSE:
        seed += 1
    genes[seed] = group
    sizes[group] = 1
    for i in by_distance(rows, rows[seed]):
        if sizes[group] == k:
            break
        if genes[i] == LOOSE:
            genes[i] = group
            sizes[group] += 1


@inner
def open_with_borrowed(rows: Array, genes: Array, sizes: Array, means: Array, k: int) -> None:
    """A group of all loose records, fewer than k, and of the records nearest to them that others can spare."""
    group = empty_group(sizes)
    for i in range(genes.size):
        if genes[i] == LOOSE:
            genes[i] = group
            sizes[group] += 1
    fill_group_means(rows, genes, sizes, means)
    for i in by_distance(rows, means[group]):
        if sizes[group] == k:
            break
        if genes[i] != group and sizes[genes[i]] > k:
            sizes[genes[i]] -= 1
            genes[i] = group
            sizes[group] += 1


@inner
def join_groups(rows: Array, genes: Array, sizes: Array, means: Array, k: int) -> None:
    """Each loose record to the group with the nearest mean that has room; the means stand still."""
    fill_group_means(rows, genes, sizes, means)
    for i in range(genes.size):
        if genes[i] != LOOSE:
            continue
        best, reach = -1, np.inf
        for group in range(sizes.size):
            if 0 < sizes[group] < 2 * k - 1:
                d2 = squared_distance(means, group, rows[i])
                if d2 < reach:
                    best, reach = group, d2
        genes[i] = best
        sizes[best] += 1


@kernel
def repair(rows: Array, genes: Array, sizes: Array, means: Array, k: int) -> None:
    """Give every group k to 2k - 1 records again; there are at least 2k records and k is at least 2."""
    loose = loosen(genes, sizes, k)
    while loose >= k:
        open_group(rows, genes, sizes, k)
        loose -= k
    room = 0
    for group in range(sizes.size):
        if sizes[group] > 0:
            room += 2 * k - 1 - sizes[group]
    if room < loose:
        open_with_borrowed(rows, genes, sizes, means, k)
    else:
        join_groups(rows, genes, sizes, means, k)


@inner
def mutate(rows: Array, genes: Array, sizes: Array, means: Array, k: int, state: Array) -> None:
    """One record to a random group number: into that group, or as a new one with the nearest others can spare.

    Where the sizes forbid that, the record changes places with a random one.
    """
    record = below(state, genes.size)
    old, new = genes[record], below(state, sizes.size)
    spare = 0
    for group in range(sizes.size):
        spare += max(sizes[group] - k, 0)
    if sizes[old] > k and new != old and 0 < sizes[new] < 2 * k - 1:
        genes[record] = new
    elif sizes[old] > k and sizes[new] == 0 and spare >= k:
        genes[record] = LOOSE
        sizes[old] -= 1
        open_with_borrowed(rows, genes, sizes, means, k)
    else:
        other = below(state, genes.size)
        genes[record] = genes[other]
        genes[other] = old


@kernel
def first_population(rows: Array, k: int, state: Array, population: Array, losses: Array) -> None:
    """Random chromosomes: the records shuffled and cut into groups of k, the last one with what is left."""
    n, m = rows.shape
    groups = n // k
    sizes, means = np.empty(groups, np.int64), np.empty((groups, m))
    order = np.arange(n)
    for chromosome in range(population.shape[0]):
        for i in range(n - 1, 0, -1):
            other = below(state, i + 1)
            order[i], order[other] = order[other], order[i]
        genes = population[chromosome]
        for i in range(n):
            genes[order[i]] = min(i // k, groups - 1)
        number_groups(genes, sizes)
        losses[chromosome] = total_sse(rows, genes, sizes, means)


@inner
def spin(losses: Array, wheel: Array) -> float:
    """The roulette wheel: chromosome c has the sector up to wheel[c]; returns the end of the last one.

    Its width is the square of how far the SSE is below the worst, as a share of the distance from worst to best.
    """
    worst, best = losses.max(), losses.min()
    total = 0.0
    for chromosome in range(losses.size):
        share = (worst - losses[chromosome]) / (worst - best) if worst > best else 1.0
        total += share * share
        wheel[chromosome] = total
    return total


@inner
def chosen(wheel: Array, total: float, state: Array) -> int:
    """The chromosome in whose sector the ball stops."""
    ball = draw(state) * total
    chromosome = 0
    while chromosome < wheel.size - 1 and not ball < wheel[chromosome]:
        chromosome += 1
    return chromosome


@inner
def cross(a: Array, b: Array, state: Array) -> None:
    """Exchange all genes from a random place on."""
    for i in range(1 + below(state, a.size - 1), a.size):
        a[i], b[i] = b[i], a[i]


@kernel
def evolve(
    rows: Array,
    k: int,
    generations: int,
    crossover: float,
    mutation: float,
    state: Array,
    population: Array,
    losses: Array,
) -> None:
    """So many generations further; the best chromosome always lives on, in place 0."""
    count, n = population.shape
    sizes, means = np.empty(n // k, np.int64), np.empty((n // k, rows.shape[1]))
    children, losses_then = np.empty_like(population), np.empty(count)
    wheel, changed = np.empty(count), np.empty(count, np.bool_)
    for _ in range(generations):
        total = spin(losses, wheel)
        changed[:] = False
        for c in range(count):
            parent = losses.argmin() if c == 0 else chosen(wheel, total, state)
            children[c] = population[parent]
            losses_then[c] = losses[parent]
        for c in range(1, count - 1, 2):
            if draw(state) < crossover:
                cross(children[c], children[c + 1], state)
                repair(rows, children[c], sizes, means, k)
                repair(rows, children[c + 1], sizes, means, k)
                changed[c] = changed[c + 1] = True
        for c in range(1, count):
            if draw(state) < mutation:
                count_sizes(children[c], sizes)
                mutate(rows, children[c], sizes, means, k, state)
                changed[c] = True
            if changed[c]:
                number_groups(children[c], sizes)
                losses_then[c] = total_sse(rows, children[c], sizes, means)
        population[:] = children
        losses[:] = losses_then
