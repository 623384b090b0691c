"""The slow, obvious twin of every kernel and method: plain Python, no cleverness, no shared code."""

import math
from collections import Counter


def squared_distance(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total


def mean(records):
    return [math.fsum(column) / len(records) for column in zip(*records, strict=True)]


def farthest(X, free, point):
    """The free record farthest from a point; max() keeps the first, that is the lowest index."""
    return max(sorted(free), key=lambda i: squared_distance(X[i], point))


def nearest(X, free, seed, count):
    """The `count` free records nearest to the record `seed`, without itself, ties by index."""
    others = [i for i in free if i != seed]
    return sorted(others, key=lambda i: (squared_distance(X[i], X[seed]), i))[:count]


def plain(X):
    return [[float(value) for value in record] for record in X]


def group_around(X, free, seed, k):
    """Take the seed and its k - 1 nearest free records out of `free`."""
    group = [seed, *nearest(X, free, seed, k - 1)]
    free -= set(group)
    return group


def join_nearest(X, groups, rest):
    """In file order each record joins the group with the nearest centroid, which moves at once."""
    for i in sorted(rest):
        centroids = [mean([X[j] for j in group]) for group in groups]
        closest = min(range(len(groups)), key=lambda g: squared_distance(X[i], centroids[g]))
        groups[closest].append(i)


def mdav(X, k, until=2):
    """Algorithm A of Rebollo-Monedero et al. (2019); with until=3 the MDAV-generic of 2005."""
    X = plain(X)
    free = set(range(len(X)))
    groups = []
    while len(free) >= until * k:
        p = farthest(X, free, mean([X[i] for i in sorted(free)]))
        groups.append(group_around(X, free, p, k))
        q = farthest(X, free, X[p])
        groups.append(group_around(X, free, q, k))
    if len(free) >= 2 * k:
        p = farthest(X, free, mean([X[i] for i in sorted(free)]))
        groups.append(group_around(X, free, p, k))
    if len(free) >= k:
        groups.append(sorted(free))
    else:
        join_nearest(X, groups, free)
    return groups


def cbfs(X, k):
    """Centroid-based fixed-size microaggregation: Mortazavi et al. (2013), footnote 1."""
    X = plain(X)
    free = set(range(len(X)))
    groups = []
    while len(free) >= k:
        r = farthest(X, free, mean([X[i] for i in sorted(free)]))
        groups.append(group_around(X, free, r, k))
    join_nearest(X, groups, free)
    return groups


def vmdav(X, k, gamma):
    """Variable-size MDAV (Solanas and Martinez-Balleste 2006), with squared distances."""
    X = plain(X)
    free = set(range(len(X)))
    centroid = mean(X)
    groups = []
    while len(free) >= k:
        group = group_around(X, free, farthest(X, free, centroid), k)
        while free and len(group) < 2 * k - 1:
            d_in, e = min((squared_distance(X[i], X[j]), i) for i in free for j in group)
            d_out = min((squared_distance(X[e], X[i]) for i in free if i != e), default=math.inf)
            if not d_in < gamma * d_out:
                break
            group.append(e)
            free.remove(e)
        groups.append(group)
    join_nearest(X, groups, free)
    return groups


def tfrp(X, k, phases):
    """Two fixed reference points (Chang, Li and Huang 2007)."""
    X = plain(X)
    free = set(range(len(X)))
    references = [
        [min(column) for column in zip(*X, strict=True)],
        [max(column) for column in zip(*X, strict=True)],
    ]
    groups = []
    while len(free) >= k:
        reference = references[len(groups) % 2]
        groups.append(group_around(X, free, farthest(X, free, reference), k))
    join_nearest(X, groups, free)
    return dissolve(X, groups) if phases == 2 else groups


def dissolve(X, groups):
    """Phase 2 of TFRP: groups by falling SSE, each dissolved into the nearest ones if that lowers the SSE."""
    groups = {g: sorted(group) for g, group in enumerate(groups)}
    for g in sorted(groups, key=lambda g: (-group_sse(X, groups[g]), g)):
        centroids = {h: mean([X[i] for i in groups[h]]) for h in groups if h != g}
        if not centroids:
            break
        grown = {}
        for i in groups[g]:
            h = min(sorted(centroids), key=lambda h: squared_distance(X[i], centroids[h]))
            grown.setdefault(h, list(groups[h])).append(i)
        before = group_sse(X, groups[g])
        after = 0.0
        for h in sorted(grown):
            before += group_sse(X, groups[h])
            after += group_sse(X, sorted(grown[h]))
        if after < before:
            del groups[g]
            groups.update({h: sorted(grown[h]) for h in grown})
    return [groups[g] for g in sorted(groups)]


def group_sse(X, group):
    """Summed in the order of the records."""
    centroid = mean([X[i] for i in group])
    total = 0.0
    for i in group:
        total += squared_distance(X[i], centroid)
    return total


def labels_of(groups):
    """The label of each record, for a list of groups."""
    labels = [None] * sum(len(group) for group in groups)
    for label, group in enumerate(groups):
        for record in group:
            labels[record] = label
    return labels


def sse(X, groups):
    return sum(group_sse(X, sorted(group)) for group in groups)


def smallest_group(rows):
    """The size of the smallest class of equal rows."""
    return min(Counter(tuple(row) for row in rows).values())


def neighbourhood(X, free, record, k):
    """The record and its k - 1 nearest free ones, ascending."""
    return sorted([record, *nearest(X, free, record, k - 1)])


def dba(X, k, sparse=0, phases=2):
    """Density-based microaggregation (Lin, Wen, Hsieh and Chang 2010), after `sparse` groups of lowest density."""
    X = plain(X)
    free = set(range(len(X)))
    groups = []
    while len(free) >= k:
        sse_around = {i: group_sse(X, neighbourhood(X, free, i, k)) for i in sorted(free)}
        choose = max if len(groups) < sparse else min
        groups.append(group_around(X, free, choose(sse_around, key=sse_around.get), k))
    join_nearest(X, groups, free)
    return split(X, dissolve(X, groups), k) if phases == 2 else groups


def split(X, groups, k):
    """Groups of 2k records or more cut up by MDAV."""
    parts = []
    for group in groups:
        if len(group) < 2 * k:
            parts.append(group)
        else:
            parts += [[group[i] for i in part] for part in mdav([X[i] for i in group], k)]
    return parts


def gsms_t2(X, k, phases=2):
    """Successive group selection (Panagiotakis and Tziritas 2013), then the second phase of TFRP.

    Of equal candidates SSE(G) + SSE(R without G) is smallest where the centroid of G is farthest from that of R.
    """
    X = plain(X)
    free = set(range(len(X)))
    groups = []
    while len(free) >= k:
        centre = mean([X[i] for i in sorted(free)])
        out = {}
        for i in sorted(free):
            out[i] = squared_distance(mean([X[j] for j in neighbourhood(X, free, i, k)]), centre)
        groups.append(group_around(X, free, max(out, key=out.get), k))
    join_nearest(X, groups, free)
    return dissolve(X, groups) if phases == 2 else groups


def splitmix64(seed):
    """Random numbers from 0 to below 1."""
    state, mask = seed, 2**64 - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield ((z ^ (z >> 31)) >> 11) * 2.0**-53


def plain_mean(rows):
    """Added up one by one, unlike mean()."""
    total = [0.0] * len(rows[0])
    for row in rows:
        total = [t + x for t, x in zip(total, row, strict=True)]
    return [t / len(rows) for t in total]


def genes_sse(X, genes):
    means = {g: plain_mean([X[i] for i in range(len(X)) if genes[i] == g]) for g in set(genes)}
    total = 0.0
    for row, g in zip(X, genes, strict=True):
        total += squared_distance(row, means[g])
    return total


def in_order_of_appearance(genes):
    seen = list(dict.fromkeys(genes))
    return [seen.index(g) for g in genes]


def repaired(X, genes, k):
    """Groups below k dissolved, those above 2k - 1 cut short; the loose records gathered or given away."""
    n = len(X)
    groups = {}
    for i, g in enumerate(genes):
        groups.setdefault(g, []).append(i)
    groups = {g: members[: 2 * k - 1] for g, members in groups.items() if len(members) >= k}
    loose = sorted(set(range(n)) - {i for members in groups.values() for i in members})
    while len(loose) >= k:
        nearest_loose = sorted(loose[1:], key=lambda i: (squared_distance(X[i], X[loose[0]]), i))
        new = [loose[0], *nearest_loose[: k - 1]]
        groups[min(set(range(n // k)) - set(groups))] = new
        loose = [i for i in loose if i not in new]
    if sum(2 * k - 1 - len(members) for members in groups.values()) < len(loose):
        middle = plain_mean([X[i] for i in loose])
        new = list(loose)
        while len(new) < k:
            spare = [i for members in groups.values() if len(members) > k for i in members]
            i = min(sorted(spare), key=lambda i: squared_distance(X[i], middle))
            next(members for members in groups.values() if i in members).remove(i)
            new.append(i)
        groups[min(set(range(n // k)) - set(groups))] = new
    else:
        means = {g: plain_mean([X[i] for i in sorted(members)]) for g, members in groups.items()}
        for i in loose:
            room = sorted(g for g, members in groups.items() if len(members) < 2 * k - 1)
            groups[min(room, key=lambda g: squared_distance(means[g], X[i]))].append(i)
    return [next(g for g, members in groups.items() if i in members) for i in range(n)]


def mutated(X, genes, k, below):
    genes = list(genes)
    record = below(len(genes))
    old, new = genes[record], below(len(genes) // k)
    spare = sum(genes.count(g) - k for g in set(genes))
    if genes.count(old) > k and new != old and 0 < genes.count(new) < 2 * k - 1:
        genes[record] = new
    elif genes.count(old) > k and genes.count(new) == 0 and spare >= k:
        new = min(set(range(len(genes) // k)) - set(genes))
        genes[record] = new
        while genes.count(new) < k:
            can_go = [i for i, g in enumerate(genes) if g != new and genes.count(g) > k]
            genes[min(can_go, key=lambda i: squared_distance(X[i], X[record]))] = new
    else:
        other = below(len(genes))
        genes[record], genes[other] = genes[other], old
    return genes


def evolved(X, k, seed, generations, population, crossover, mutation):
    """The genes of one block after so many generations (Solanas et al. 2006)."""
    n, draws = len(X), splitmix64(seed)

    def below(bound):
        return int(next(draws) * bound)

    order, people = list(range(n)), []
    for _ in range(population):
        for i in range(n - 1, 0, -1):
            other = below(i + 1)
            order[i], order[other] = order[other], order[i]
        people.append(in_order_of_appearance([min(order.index(i) // k, n // k - 1) for i in range(n)]))
    losses = [genes_sse(X, genes) for genes in people]
    for _ in range(generations):
        worst, best = max(losses), min(losses)
        wheel, total = [], 0.0
        for loss in losses:
            share = (worst - loss) / (worst - best) if worst > best else 1.0
            total += share * share
            wheel.append(total)
        children = [people[losses.index(best)]]
        for _ in range(population - 1):
            ball = next(draws) * total
            children.append(people[next((c for c in range(population) if ball < wheel[c]), population - 1)])
        for c in range(1, population - 1, 2):
            if next(draws) < crossover:
                cut = 1 + below(n - 1)
                a, b = children[c], children[c + 1]
                children[c] = repaired(X, a[:cut] + b[cut:], k)
                children[c + 1] = repaired(X, b[:cut] + a[cut:], k)
        for c in range(1, population):
            if next(draws) < mutation:
                children[c] = mutated(X, children[c], k, below)
            children[c] = in_order_of_appearance(children[c])
        people, losses = children, [genes_sse(X, genes) for genes in children]
    return people[losses.index(min(losses))]


def genetic(X, k, block, seeds, **settings):
    """Blocks by MDAV, then a genetic algorithm in each."""
    X = plain(X)
    size = max(block, 2 * k)
    blocks = mdav(X, size) if len(X) > size else [list(range(len(X)))]
    groups = []
    for records, seed in zip(blocks, seeds, strict=False):
        records = sorted(records)
        if k == 1:
            groups += [[i] for i in records]
            continue
        if len(records) < 2 * k:
            groups.append(records)
            continue
        out = farthest(X, records, mean([X[i] for i in records]))
        records.sort(key=lambda i: squared_distance(X[i], X[out]))
        genes = evolved([X[i] for i in records], k, int(seed), **settings)
        groups += [[i for i, g in zip(records, genes, strict=True) if g == h] for h in range(max(genes) + 1)]
    return groups
