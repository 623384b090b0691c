"""The slow, obvious twin of every kernel and method: plain Python, no cleverness, no shared code."""

import itertools
import math
from collections import Counter
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import cache
from hashlib import blake2b

import numpy as np


def squared_distance(a, b):
    total = 0.0
    for x, y in zip(a, b, strict=True):
        total += (x - y) * (x - y)
    return total


def mean(records, weights=None):
    """The mean; with weights the weighted one, unless these are all 0."""
    if weights is None or math.fsum(weights) == 0.0:
        return [math.fsum(column) / len(records) for column in zip(*records, strict=True)]
    total = math.fsum(weights)
    columns = zip(*records, strict=True)
    return [math.fsum(w * x for w, x in zip(weights, column, strict=True)) / total for column in columns]


def mean_of(X, members, weights=None):
    """The mean of some records, of these weights."""
    members = sorted(members)
    return mean([X[i] for i in members], None if weights is None else [weights[i] for i in members])


def below_one(weights):
    """Weights divided by a power of two, so that the largest is below 1 and no product overflows."""
    if weights is None:
        return None
    _, exponent = math.frexp(max(weights))
    return [math.ldexp(float(weight), -exponent) for weight in weights]


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


def join_nearest(X, groups, rest, weights=None):
    """In file order each record joins the group with the nearest centroid, which moves at once."""
    for i in sorted(rest):
        centroids = [mean_of(X, group, weights) for group in groups]
        closest = min(range(len(groups)), key=lambda g: squared_distance(X[i], centroids[g]))
        groups[closest].append(i)


def mdav(X, k, until=2, weights=None):
    """Algorithm A of Rebollo-Monedero et al. (2019); with until=3 the MDAV-generic of 2005."""
    X, weights = plain(X), below_one(weights)
    free = set(range(len(X)))
    groups = []
    while len(free) >= until * k:
        p = farthest(X, free, mean_of(X, free, weights))
        groups.append(group_around(X, free, p, k))
        q = farthest(X, free, X[p])
        groups.append(group_around(X, free, q, k))
    if len(free) >= 2 * k:
        p = farthest(X, free, mean_of(X, free, weights))
        groups.append(group_around(X, free, p, k))
    if len(free) >= k:
        groups.append(sorted(free))
    else:
        join_nearest(X, groups, free, weights)
    return groups


def cbfs(X, k, weights=None):
    """Centroid-based fixed-size microaggregation: Mortazavi et al. (2013), footnote 1."""
    X, weights = plain(X), below_one(weights)
    free = set(range(len(X)))
    groups = []
    while len(free) >= k:
        r = farthest(X, free, mean_of(X, free, weights))
        groups.append(group_around(X, free, r, k))
    join_nearest(X, groups, free, weights)
    return groups


def vmdav(X, k, gamma, weights=None):
    """Variable-size MDAV (Solanas and Martinez-Balleste 2006), with squared distances."""
    X, weights = plain(X), below_one(weights)
    free = set(range(len(X)))
    centroid = mean_of(X, free, weights)
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
    join_nearest(X, groups, free, weights)
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


def group_sse(X, group, weights=None):
    """Summed in the order of the records."""
    centroid = mean_of(X, group, weights)
    total = 0.0
    for i in group:
        total += squared_distance(X[i], centroid) * (1.0 if weights is None else weights[i])
    return total


def labels_of(groups):
    """The label of each record, for a list of groups."""
    labels = [None] * sum(len(group) for group in groups)
    for label, group in enumerate(groups):
        for record in group:
            labels[record] = label
    return labels


def sse(X, groups, weights=None):
    return sum(group_sse(X, sorted(group), weights) for group in groups)


def smallest_group(rows):
    """The size of the smallest class of equal rows."""
    return min(Counter(tuple(row) for row in rows).values())


def cheapest_assignment(costs, low, high):
    """The least total over all ways to give each record a group, sizes within their limits."""
    best = math.inf
    for choice in itertools.product(range(len(low)), repeat=len(costs)):
        if all(low[g] <= choice.count(g) <= high[g] for g in range(len(low))):
            best = min(best, math.fsum(costs[x][g] for x, g in enumerate(choice)))
    return best


def all_cuts(row, k):
    """Every way to cut a row into groups of k to 2k - 1 neighbours."""
    if not row:
        yield []
    for size in range(k, min(2 * k - 1, len(row)) + 1):
        for rest in all_cuts(row[size:], k):
            yield [row[:size], *rest]


def cheapest_cut(X, row, k):
    """The SSE of the best of them."""
    X = plain(X)
    return min(math.fsum(group_sse(X, group) for group in groups) for groups in all_cuts(list(row), k))


def row_through_groups(X, groups, by_records):
    """From the group of the outermost record always on to the nearest centroid."""
    X = plain(X)
    centroids = [mean([X[i] for i in group]) for group in groups]
    outermost = farthest(X, range(len(X)), mean(X))
    here = next(g for g, group in enumerate(groups) if outermost in group)
    left = [g for g in range(len(groups)) if g != here]
    row, before = [], here
    while left:
        points = [X[i] for i in groups[here]] if by_records else [centroids[here]]
        following = min(left, key=lambda g: min(squared_distance(point, centroids[g]) for point in points))
        row += sorted(groups[here], key=lambda i: (-squared_distance(X[i], centroids[following]), i))
        left.remove(following)
        before, here = here, following
    if before == here:
        return sorted(groups[here])
    return row + sorted(groups[here], key=lambda i: (squared_distance(X[i], centroids[before]), i))


def nearest_point_next(X):
    X = plain(X)
    row = [farthest(X, range(len(X)), mean(X))]
    free = set(range(len(X))) - set(row)
    while free:
        row += nearest(X, free | {row[-1]}, row[-1], 1)
        free.discard(row[-1])
    return row


def maximum_distance(X, k):
    """Groups around the two free records that are farthest apart (Domingo-Ferrer and Mateo-Sanz 2002)."""
    X = plain(X)
    free = set(range(len(X)))
    groups = []
    while len(free) >= 2 * k:
        pairs = itertools.combinations(sorted(free), 2)
        r, s = max(pairs, key=lambda pair: squared_distance(X[pair[0]], X[pair[1]]))
        free -= {r, s}
        for seed in (r, s):
            groups.append([seed, *nearest(X, free, seed, k - 1)])
            free -= set(groups[-1])
    if len(free) >= k:
        groups.append(sorted(free))
    else:
        join_nearest(X, groups, free)
    return groups


def imhm(X, groups, k, squared, assign, rounds=100):
    """Mortazavi et al. (2013), Fig. 2, one block; assign(costs, low, high) solves the transport problem."""
    X = plain(X)
    least = 1e-9 * group_sse(X, range(len(X)))
    best = (sse(X, groups), groups)
    flow = math.inf
    for _ in range(rounds):
        centroids = [mean([X[i] for i in group]) for group in groups]
        d2 = [[squared_distance(record, centroid) for centroid in centroids] for record in X]
        costs = d2 if squared else [[math.sqrt(value) for value in row] for row in d2]
        labels = assign(costs, [k] * len(groups), [2 * k - 1] * len(groups))
        groups = [[i for i, label in enumerate(labels) if label == g] for g in range(len(groups))]
        error = sse(X, groups)
        stuck = not error < flow - least
        while stuck:
            row = row_through_groups(X, groups, by_records=True)
            cut = min(all_cuts(row, k), key=lambda cut: sse(X, cut))
            gain = error - sse(X, cut)
            if gain > 0:
                groups, error = cut, sse(X, cut)
            if not gain > least:
                break
        best = min(best, (error, groups), key=lambda found: found[0])
        if stuck and not error < flow - least:
            break
        flow = error
    return best[1]


def mu_approx(X, k, order=None, steps=3):
    """Domingo-Ferrer, Sebe and Solanas (2008); the records in file order or in the order given."""
    X = plain(X)
    order = list(range(len(X))) if order is None else list(order)
    parent = forest(X, k, order)
    groups = []
    for root in (u for u in order if parent[u] is None):
        groups += decompose_component(parent, root, k, order)
    if steps == 3:
        groups = [part for group in groups for part in split_group(X, sorted(group), k)]
    return sorted((sorted(group) for group in groups), key=min)


def forest(X, k, order):
    """FOREST, the component picked being the one whose root comes first in the order."""
    parent = dict.fromkeys(range(len(X)))
    component = {u: {u} for u in range(len(X))}
    while True:
        small = [u for u in order if parent[u] is None and len(component[u]) < k]
        if not small:
            return parent
        u = small[0]
        parent[u] = next(v for v in nearest(X, range(len(X)), u, k - 1) if v not in component[u])
        merged = component[u] | component[parent[u]]
        component.update(dict.fromkeys(merged, merged))


def leaves_first(parent, order):
    """Each record after its children: the leaves in the order, then whoever is ready first."""
    queue = [u for u in order if u not in parent.values()]
    for v in queue:
        above = parent[v]
        if above is not None and all(w in queue[: queue.index(v) + 1] for w in parent if parent[w] == above):
            queue.append(above)
    return queue


def decompose_component(parent, root, k, order):
    """DECOMPOSE-COMPONENT with real Steiner vertices: ("copy", u), which have no weight."""
    most = max(2 * k - 1, 3 * k - 5)
    graph = {u: set() for u in parent}
    for u, v in parent.items():
        if v is not None:
            graph[u].add(v)
            graph[v].add(u)
    walk = [u for u in leaves_first(parent, order) if u in side(graph, root, None)]
    components = [side(graph, root, None)]
    groups = []
    while components:
        component = components.pop()
        records = sorted(records_of(component))
        parts = cut_component(graph, component, parent, walk, k, order) if len(records) > most else None
        if parts is None:
            groups.append(records)
        else:
            components += parts
    return groups


def side(graph, start, away):
    """All vertices that can be reached from start without going through `away`."""
    seen = {start}
    stack = [start]
    while stack:
        for v in graph[stack.pop()]:
            if v != away and v not in seen:
                seen.add(v)
                stack.append(v)
    return seen


def records_of(vertices):
    return {v for v in vertices if not isinstance(v, tuple)}


def cut_component(graph, component, parent, walk, k, order):
    """One pass of the procedure; None if it finds no legal cut."""
    steiner = [v for v in component if isinstance(v, tuple)]
    if steiner:  # only ever the centre of a star
        (u,) = steiner
    else:
        below = {v: side(graph, v, parent[v]) if parent[v] in component else component for v in component}
        u = next(v for v in walk if v in component and len(records_of(below[v])) >= k)
    # The subtrees around u: its children in the order of the records, what is above it last.
    record = u[1] if isinstance(u, tuple) else u
    around = sorted(graph[u], key=lambda v: (v == parent[record], order.index(v)))
    subtrees = [side(graph, v, u) for v in around]
    sizes = [len(records_of(subtree)) for subtree in subtrees]
    s, phi = len(records_of(component)), max(sizes)
    if phi >= k:  # 4a
        assert s - phi >= k
        v = around[sizes.index(phi)]
        graph[u].remove(v)
        graph[v].remove(u)
        return [side(graph, u, None), side(graph, v, None)]
    assert s - phi >= k
    if u == record and phi == k - 1:  # 4c
        return part_star(graph, u, around, {sizes.index(phi)}, True)
    chosen, weight = set(), 0  # 4d
    for i, size in enumerate(sizes):
        if weight < (k - 1 if u == record else k):
            chosen.add(i)
            weight += size
    if u == record:
        return part_star(graph, u, around, chosen, s - 1 - weight != k - 1)
    if s - weight < k:
        chosen = subset_weighing(sizes, k, s - k)
    return None if chosen is None else part_star(graph, u, around, chosen, False)


def part_star(graph, u, around, chosen, along):
    """The chosen subtrees and the others; u goes along with the chosen or stays, a copy stands in for it."""
    copy = ("copy", u[1] if isinstance(u, tuple) else u, len(graph))
    leaving = [v for i, v in enumerate(around) if (i in chosen) != along]
    graph[copy] = set(leaving)
    for v in leaving:
        graph[u].remove(v)
        graph[v].remove(u)
        graph[v].add(copy)
    return [side(graph, u, None), side(graph, copy, None)]


def subset_weighing(sizes, low, high):
    """The first set of items found that weighs low to high together, or None."""
    reached = {0: set()}
    for i, size in enumerate(sizes):
        for total in sorted(reached, reverse=True):
            if total + size <= high and total + size not in reached:
                reached[total + size] = reached[total] | {i}
                if total + size >= low:
                    return reached[total + size]
    return None


def split_group(X, group, k):
    """Step 3: the record farthest from the centroid and its k - 1 nearest, and the rest."""
    parts = []
    free = set(group)
    while len(free) >= 2 * k:
        u = farthest(X, free, mean([X[i] for i in sorted(free)]))
        parts.append(group_around(X, free, u, k))
    return [*parts, sorted(free)]


def spanning_tree(X):
    """Kruskal: the edges (d2, low, high) of the minimum spanning tree in ascending order."""
    X = plain(X)
    component = {i: {i} for i in range(len(X))}
    tree = []
    for d2, a, b in sorted(
        (squared_distance(X[a], X[b]), a, b) for a, b in itertools.combinations(range(len(X)), 2)
    ):
        if b not in component[a]:
            merged = component[a] | component[b]
            component.update(dict.fromkeys(merged, merged))
            tree.append((d2, a, b))
    return tree


def cut_longest(edges, n, k):
    """The pieces of a tree after removing its edges from the last to the first where both sides keep k."""
    graph = {i: set() for i in range(n)}
    for a, b in edges:
        graph[a].add(b)
        graph[b].add(a)
    for a, b in reversed(edges):
        if len(side(graph, a, b)) >= k and len(side(graph, b, a)) >= k:
            graph[a].remove(b)
            graph[b].remove(a)
    return sorted({tuple(sorted(side(graph, i, None))) for i in range(n)})


def mst_partition(X, k, split="d"):
    """Laszlo and Mukherjee (2005): M-d, or with MDAV in place of D."""
    groups = []
    for piece in cut_longest([(a, b) for _, a, b in spanning_tree(X)], len(X), k):
        if len(piece) < 2 * k:
            groups.append(piece)
        else:
            parts = {"d": maximum_distance, "mdav": mdav}[split]([X[i] for i in piece], k)
            groups += [[piece[i] for i in part] for part in parts]
    return sorted((sorted(group) for group in groups), key=min)


def runs_of(values, k):
    """All ways to cut a tuple of values into runs of at least k."""
    if len(values) >= k:
        yield [values]
    for first in range(k, len(values) - k + 1):
        for rest in runs_of(values[first:], k):
            yield [values[:first], *rest]


def partitions_of(records, k):
    """All ways to put records into groups of at least k."""
    if not records:
        yield []
    for size in range(k, len(records) + 1):
        for others in itertools.combinations(records[1:], size - 1):
            rest = [record for record in records[1:] if record not in others]
            for groups in partitions_of(rest, k):
                yield [[records[0], *others], *groups]


@cache
def exact_sse(values):
    """The sum of squared errors of a tuple of numbers, as a fraction."""
    exact = [Fraction(value) for value in values]
    return sum(value * value for value in exact) - sum(exact) ** 2 / len(exact)


def least_sse_of_runs(values, k):
    """The least SSE of sorted numbers in runs of k to 2k - 1, as a fraction: one shortest path after the other."""
    ordered = sorted(map(Fraction, values))
    sums, squares = [Fraction(0)], [Fraction(0)]
    for value in ordered:
        sums.append(sums[-1] + value)
        squares.append(squares[-1] + value * value)
    least = {0: Fraction(0)}
    for j in range(k, len(ordered) + 1):
        starts = [i for i in range(max(0, j - 2 * k + 1), j - k + 1) if i in least]
        least[j] = min(least[i] + squares[j] - squares[i] - (sums[j] - sums[i]) ** 2 / (j - i) for i in starts)
    return least[len(ordered)]


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


def optimum(X, k, cost="sse"):
    """The least cost of all partitions into groups of at least k, by trying them all; and the first such groups."""
    X = plain(X)
    of_group = {"sse": group_sse, "euclidean": group_distances}[cost]
    best = [math.inf, None]

    def extend(groups, record):
        if record == len(X):
            if all(len(group) >= k for group in groups):
                value = math.fsum(of_group(X, group) for group in groups)
                if value < best[0]:
                    best[:] = [value, [list(group) for group in groups]]
            return
        for group in groups:
            group.append(record)
            extend(groups, record + 1)
            group.pop()
        if (len(groups) + 1) * k <= len(X):
            extend([*groups, [record]], record + 1)

    extend([], 0)
    return best[0], best[1]


def group_distances(X, group):
    """The sum of the Euclidean distances to the centroid."""
    centroid = mean([X[i] for i in group])
    return math.fsum(math.sqrt(squared_distance(X[i], centroid)) for i in group)


def exact_group_sse(X, group):
    """The SSE of a group as a fraction: nothing is rounded."""
    total = Fraction(0)
    for column in zip(*X, strict=True):
        values = [Fraction(column[i]) for i in group]
        centre = sum(values) / len(values)
        total += sum((value - centre) ** 2 for value in values)
    return total


def optimum_by_subsets(X, k, group_sse=group_sse):
    """The least SSE, by the least SSE of every set of records: its first record's group, and the rest."""
    X = plain(X)
    n = len(X)
    best = {0: 0}

    def solve(rest):
        if rest not in best:
            records = [i for i in range(n) if rest >> i & 1]
            values = []
            for size in range(k, min(2 * k - 1, len(records)) + 1):
                if 0 < len(records) - size < k:
                    continue
                for others in itertools.combinations(records[1:], size - 1):
                    group = [records[0], *others]
                    left = rest - sum(1 << i for i in group)
                    values.append(cost_of(group) + solve(left))
            best[rest] = min(values)
        return best[rest]

    @cache
    def sse_of(group):
        return group_sse(X, group)

    def cost_of(group):
        return sse_of(tuple(group))

    return solve((1 << n) - 1)


def lost_distance(X, labels):
    """L_E in percent: the Euclidean distances to the group's centroid against those to the centroid of all."""
    X = plain(X)
    groups = [[i for i, label in enumerate(labels) if label == wanted] for wanted in sorted(set(labels))]
    total = group_distances(X, range(len(X)))
    return 100 * math.fsum(group_distances(X, group) for group in groups) / total if total else 0.0


def lost_squares(X, labels):
    """L_SSE in percent."""
    X = plain(X)
    groups = [[i for i, label in enumerate(labels) if label == wanted] for wanted in sorted(set(labels))]
    total = group_sse(X, range(len(X)))
    return 100 * sum(group_sse(X, group) for group in groups) / total if total else 0.0


def two_best(X, centres, costs):
    """The best cell of each point, the second best (-1 if there is none) and the gap between them."""
    answers = []
    for x in plain(X):
        values = [squared_distance(x, centre) + cost for centre, cost in zip(plain(centres), costs, strict=True)]
        order = sorted(range(len(values)), key=lambda q: (values[q], q))
        second = order[1] if len(order) > 1 else -1
        answers.append((order[0], second, values[second] - values[order[0]] if second >= 0 else math.inf))
    return answers


def cost_jacobian(X, centres, costs, rises):
    """Shares of the cells after each cost alone has risen, less those before, by the rise; all points anew."""

    def shares(costs):
        cells = Counter(best for best, _, _ in two_best(X, centres, costs))
        return [cells[q] / len(X) for q in range(len(centres))]

    before = shares(costs)
    columns = []
    for q, rise in enumerate(rises):
        after = shares([cost + rise if r == q else cost for r, cost in enumerate(costs)])
        columns.append([(b - a) / rise if rise else 0.0 for a, b in zip(before, after, strict=True)])
    return [list(row) for row in zip(*columns, strict=True)]


def cheapest_cell(point, centroids, costs):
    """The cell where squared distance + cost is least, the first of equals."""
    sums = [squared_distance(point, centroid) + cost for centroid, cost in zip(centroids, costs, strict=True)]
    return sums.index(min(sums))


def exchanges(X, groups, k, reach):
    """One look at every record: its best move, swap or chain of two moves, by the SSE of all groups anew.

    `groups` are lists of members in the order they are kept, changed in place.
    """
    X = plain(X)

    def changes_of(x, home):
        own = squared_distance(X[x], mean([X[i] for i in groups[home]]))
        for g, members in enumerate(groups):
            if g == home or not members:
                continue
            if len(groups[home]) > k and len(members) < 2 * k - 1:
                yield {home: [i for i in groups[home] if i != x], g: [*members, x]}, ("move", g, None, None)
            if squared_distance(X[x], mean([X[i] for i in members])) >= reach * own:
                continue
            for y in members:
                place = {g: [x if i == y else i for i in members]}
                yield place | {home: [y if i == x else i for i in groups[home]]}, ("swap", g, y, None)
                for h, others in enumerate(groups):
                    if len(groups[home]) > k and h not in (home, g) and 0 < len(others) < 2 * k - 1:
                        left = [i for i in groups[home] if i != x]
                        yield place | {home: left, h: [*others, y]}, ("chain", g, y, h)

    def take_out(group, x):
        group[group.index(x)] = group[-1]
        group.pop()

    for home in range(len(groups)):
        for x in list(groups[home]):
            if x not in groups[home]:
                continue
            least, best = 0.0, None
            for new, change in changes_of(x, home):
                delta = sse(X, new.values()) - sse(X, [groups[g] for g in new])
                if delta < least:
                    least, best = delta, change
            if best is None:
                continue
            kind, g, y, h = best
            if kind == "swap":
                groups[home][groups[home].index(x)] = y
                groups[g][groups[g].index(y)] = x
            else:
                take_out(groups[home], x)
                if kind == "move":
                    groups[g].append(x)
                else:
                    groups[g][groups[g].index(y)] = x
                    groups[h].append(y)


def cycles(X, groups, reach, followed=4):
    """One look at every record x for its best cycle: x to the place of y, y to that of z, z to that of x.

    Followed are the pairs x, y that cost least, and only where x would gain by leaving more than its entry costs.
    `groups` are lists of members in the order they are kept, changed in place.
    """
    X = plain(X)

    def away(x, g):
        return squared_distance(X[x], mean([X[i] for i in groups[g]]))

    def with_instead(g, new, old):
        return [new if i == old else i for i in groups[g]]

    def cost_of(g, new, old):
        return group_sse(X, with_instead(g, new, old)) - group_sse(X, groups[g])

    for home in range(len(groups)):
        for x in list(groups[home]):
            if x not in groups[home]:
                continue
            leaving = group_sse(X, groups[home]) - group_sse(X, [i for i in groups[home] if i != x])
            others = [g for g in range(len(groups)) if g != home and groups[g]]
            near = [g for g in others if away(x, g) < reach * away(x, home)]
            pairs = sorted((cost_of(g, x, y), y, g) for g in near for y in groups[g])
            least, best = 0.0, None
            for entering, y, g in [pair for pair in pairs if pair[0] < leaving][:followed]:
                for h in others:
                    if h == g or away(y, h) >= reach * away(y, g):
                        continue
                    for z in groups[h]:
                        delta = entering + cost_of(h, y, z) + cost_of(home, z, x)
                        if delta < least:
                            least, best = delta, (g, y, h, z)
            if best is not None:
                g, y, h, z = best
                groups[g], groups[h] = with_instead(g, x, y), with_instead(h, y, z)
                groups[home] = with_instead(home, z, x)


def polished(X, labels, k, least):
    """Pair after pair of groups the best move or swap, by the SSE of both anew, until no pair has one."""
    X, labels = plain(X), list(labels)

    def cost(labels, *groups):
        return sum(group_sse(X, [i for i, g in enumerate(labels) if g == group]) for group in groups)

    again = True
    while again:
        again = False
        for pair in itertools.combinations(sorted(set(labels)), 2):
            best, before, better = -least, cost(labels, *pair), None
            records = [i for i, g in enumerate(labels) if g in pair]
            for changing in [*((x,) for x in records), *itertools.combinations(records, 2)]:
                if len({labels[x] for x in changing}) < len(changing):
                    continue
                after = [sum(pair) - g if i in changing else g for i, g in enumerate(labels)]
                if not all(k <= after.count(g) <= 2 * k - 1 for g in pair):
                    continue
                change = cost(after, *pair) - before
                if change < best:
                    best, better = change, after
            if better is not None:
                labels, again = better, True
    return labels


def best_chain(X, labels, k, first, length, least):
    """The most that a chain or cycle changes the SSE that begins with a record; every part of it must gain."""
    X = plain(X)
    groups = {g: [i for i, h in enumerate(labels) if h == g] for g in labels}

    def cost(g, comes, goes):
        after = [i for i in groups[g] if i != goes] + ([] if comes is None else [comes])
        return group_sse(X, after) - group_sse(X, groups[g])

    def best(path, sofar, leaving):
        x, used = path[-1], {labels[i] for i in path}
        ends = [0.0]
        if leaving:
            ends += [sofar + cost(g, x, None) for g in set(groups) - used if len(groups[g]) < 2 * k - 1]
        elif len(path) > 1:
            ends.append(sofar + cost(labels[first], x, first))
        if len(path) < length:
            for y in range(len(X)):
                if labels[y] not in used and sofar + cost(labels[y], x, y) < -least:
                    ends.append(best([*path, y], sofar + cost(labels[y], x, y), leaving))
        return min(ends)

    found = best([first], 0.0, False)
    if len(groups[labels[first]]) > k:
        found = min(found, best([first], cost(labels[first], None, first), True))
    return found if found < -least else 0.0


def kd_blocks(X, records, parts):
    """Records in so many blocks: halves across the widest attribute, by value and then index."""
    if parts == 1:
        return [sorted(records)]
    columns = range(len(X[0]))
    widest = max(columns, key=lambda j: max(X[i][j] for i in records) - min(X[i][j] for i in records))
    row = sorted(records, key=lambda i: (X[i][widest], records.index(i)))
    middle = len(row) * (parts // 2) // parts
    return kd_blocks(X, row[:middle], parts // 2) + kd_blocks(X, row[middle:], parts - parts // 2)


def principal_axes(X):
    """(mean, axes by falling variance, variances), by Jacobi's rotations of the covariance matrix."""
    X = plain(X)
    n, m = len(X), len(X[0])
    centre = mean(X)
    shifted = [[x - c for x, c in zip(record, centre, strict=True)] for record in X]
    matrix = [[math.fsum(r[a] * r[b] for r in shifted) / n for b in range(m)] for a in range(m)]
    axes = [[float(a == b) for b in range(m)] for a in range(m)]
    for _ in range(60):
        for p, q in itertools.combinations(range(m), 2):
            if matrix[p][q] == 0:
                continue
            angle = 0.5 * math.atan2(2 * matrix[p][q], matrix[p][p] - matrix[q][q])
            c, s = math.cos(angle), math.sin(angle)
            for rows in (matrix, axes):
                rows[p], rows[q] = (
                    [c * a + s * b for a, b in zip(rows[p], rows[q], strict=True)],
                    [c * b - s * a for a, b in zip(rows[p], rows[q], strict=True)],
                )
            for row in matrix:
                row[p], row[q] = c * row[p] + s * row[q], c * row[q] - s * row[p]
    order = sorted(range(m), key=lambda a: -matrix[a][a])
    for axis in axes:
        largest = max(axis, key=abs)
        axis[:] = [value if largest > 0 else -value for value in axis]
    return centre, [axes[a] for a in order], [matrix[a][a] for a in order]


def number_of_axes(spectrum, energy):
    held = 0.0
    for count, value in enumerate(spectrum, 1):
        held += value
        if held >= energy * sum(spectrum):
            return count
    return len(spectrum)


def compressed(X, energy=None, count=None):
    """The records along the axes that hold the energy, or along so many."""
    X = plain(X)
    centre, axes, spectrum = principal_axes(X)
    kept = axes[: number_of_axes(spectrum, energy) if count is None else count]
    return [
        [math.fsum((x - c) * a for x, c, a in zip(record, centre, axis, strict=True)) for axis in kept]
        for record in X
    ]


def pca_reduced(X, k, energy=None, count=None, weights=None):
    """Algorithm B of Rebollo-Monedero et al. (2019); weights are for the groups, not for the axes."""
    return mdav(compressed(X, energy, count), k, weights=weights)


def macrocells(X, size):
    """(macrocell, its mean squared error over that of all records), for each."""
    X = plain(X)
    whole = group_sse(X, range(len(X))) / len(X)
    return [(cell, group_sse(X, cell) / len(cell) / whole) for cell in mdav(X, size)]


def portions(X, records, size, is_distal, recursive):
    """(records, whether they are proximal): step 1 of Algorithm C, and again if recursive."""
    cells = macrocells([X[i] for i in records], size)
    ranked = sorted(cells, key=lambda cell: -cell[1])
    number = is_distal([share for _, share in ranked])
    parts = []
    for proximal, some in ((True, ranked[number:]), (False, ranked[:number])):
        part = sorted(records[i] for cell, _ in some for i in cell)
        if not part:
            continue
        deeper = recursive and len(part) < len(records) and len(part) >= 2 * size
        again = portions(X, part, size, is_distal, True) if deeper else []
        parts += again if len(again) > 1 else [(part, proximal)]
    return parts


def proximal_distal(X, k, size, is_distal, energy=None, recursive=False, weights=None):
    """Algorithm C of Rebollo-Monedero et al. (2019); is_distal: how many of these falling distortions.

    Weights are for the groups, not for the portions; where those of a portion are equal, there are none.
    """
    X = plain(X)
    groups = []
    for records, proximal in portions(X, list(range(len(X))), size, is_distal, recursive):
        points = [X[i] for i in records]
        own = None if weights is None else [weights[i] for i in records]
        own = None if own is None or len(set(own)) == 1 else own
        found = mdav(compressed(points, energy) if proximal and energy else points, k, weights=own)
        groups += [[records[i] for i in group] for group in found]
    return groups


def nearest_measure(limits, weights, wanted):
    """The price at which the records that stay (those with limits above it) weigh as nearly `wanted` as may be."""
    prices = sorted(limits, reverse=True)
    tries = [(a + b) / 2 for a, b in itertools.pairwise(prices) if a > b] or prices[:1]
    return min(abs(sum(w for t, w in zip(limits, weights, strict=True) if t > p) - wanted) for p in tries)


def loads_of(weights, labels, cells):
    loads = [0.0] * cells
    for weight, label in zip(weights, labels, strict=True):
        loads[label] += weight
    return loads


def missed_measure(loads, wanted, slack):
    return math.fsum(max(abs(load - want) - slack, 0.0) for load, want in zip(loads, wanted, strict=True))


def moves_that_mend(weights, labels, wanted, low, slack):
    """The best that a move of one record can do for the measures, if cells keep their least numbers."""
    cells = len(wanted)
    counts = Counter(labels)
    now = missed_measure(loads_of(weights, labels, cells), wanted, slack)
    best = 0.0
    for record, label in enumerate(labels):
        for cell in range(cells):
            if cell != label and counts[label] > low[label]:
                moved = [*labels[:record], cell, *labels[record + 1 :]]
                then = missed_measure(loads_of(weights, moved, cells), wanted, slack)
                best = max(best, now - then)
    return best


def weighted_distortion(X, labels, weights):
    """sum w |x - c|^2 about weighted means."""
    total = []
    for cell in set(labels):
        members = [i for i, label in enumerate(labels) if label == cell]
        mass = math.fsum(weights[i] for i in members)
        centre = [math.fsum(weights[i] * X[i][j] for i in members) / mass for j in range(len(X[0]))]
        total += [weights[i] * squared_distance(X[i], centre) for i in members]
    return math.fsum(total)


def shares(X, k, high, known):
    """Each record's least part of a group of k to `high`: half its smallest distances over the size.

    Only the `known` smallest are known; further ones count as the last of these.
    """
    X = plain(X)
    found = []
    for i, x in enumerate(X):
        d2 = sorted(squared_distance(x, y) for j, y in enumerate(X) if j != i)[:known]
        d2 += [d2[-1]] * high
        found.append(min(math.fsum(d2[: s - 1]) / (2 * s) for s in range(k, high + 1)))
    return found


def views(cost, far, n, low, high):
    """Each record's least part of a group, where pair (i, j) costs record i cost[i, j], or else half of far[i]."""
    found = []
    for i in range(n):
        ends = sorted([cost[i, j] for j in range(n) if (i, j) in cost] + [far[i] / 2] * high)
        found.append(min(math.fsum(ends[: s - 1]) / s for s in range(low, high + 1)))
    return found


def cheap_groups(X, prices, k, below):
    """From every record and for every size: the cheapest records around a centre, then their mean, while that helps."""
    X = plain(X)
    found = []
    for start in X:
        for s in range(k, min(2 * k - 1, len(X)) + 1):
            centre, last, group = start, math.inf, []
            for _ in range(20):
                ranked = sorted(range(len(X)), key=lambda i: squared_distance(X[i], centre) - prices[i])
                centre = mean([X[i] for i in ranked[:s]])
                total = group_sse(X, ranked[:s]) - sum(prices[i] for i in ranked[:s])
                if not total < last - 1e-12:
                    break
                last, group = total, sorted(ranked[:s])
            if last < below:
                found.append((group, last))
    return found


def neighbouring_groups(X, prices, group, k, below):
    """Every group of k to 2k - 1 records that has one record more, less or another one, by its SSE less prices."""
    X = plain(X)
    others = [i for i in range(len(X)) if i not in group]
    tried = [[*group, y] for y in others]
    for x in group:
        rest = [i for i in group if i != x]
        tried += [rest, *([*rest, y] for y in others)]
    found = {}
    for records in tried:
        cost = group_sse(X, records) - sum(prices[i] for i in records) if records else math.inf
        if k <= len(records) <= 2 * k - 1 and cost < below:
            found[tuple(sorted(records))] = cost
    return found


def untouched(rows, columns, k):
    """Records unique on some columns, groups below k and records in them; rows are dictionaries."""
    sizes = Counter(tuple(row[name] for name in columns) for row in rows).values()
    below = [size for size in sizes if size < k]
    return sum(size == 1 for size in sizes), len(below), sum(below)


def dependency(column, quasi):
    """(repeated, share, lambda, odds) of a column and a quasi-identifier, pair by pair."""
    sizes = Counter(column)
    shared = [(u, q) for u, q in zip(column, quasi, strict=True) if sizes[u] > 1]
    if not shared:
        return 0.0, 0.0, 0.0, 0.0
    n, totals = len(shared), Counter(q for _, q in shared)
    most = max(totals.values())
    if most == n:
        return n / len(column), 1.0, 0.0, 0.0
    values = {u for u, _ in shared}
    right = sum(max(Counter(q for v, q in shared if v == u).values()) for u in values)
    agree = sum((count / n) ** 2 for count in totals.values())
    return n / len(column), right / n, (right - most) / (n - most), -(n - len(values)) * math.log(agree)


def sums(rows, needed, hidden):
    """All sets of two or three columns of which one is plus or minus the others and a constant, in every row."""
    found = set()
    for size in (2, 3):
        for chosen in itertools.combinations(range(len(rows[0])), size):
            if not {*chosen} & needed or not {*chosen} & hidden or any(old < {*chosen} for old in found):
                continue
            picked = [tuple(row[i] for i in chosen) for row in rows]
            different = set(picked)
            modes = [Counter(column).most_common(1)[0][0] for column in zip(*picked, strict=True)]
            enough = len(different) >= 2 * size + 2 and all(
                sum(row[place] != mode for row in different) >= 3 for place, mode in enumerate(modes)
            )
            for signs in itertools.product((1, -1), repeat=size - 1):
                left = {row[0] + sum(s * v for s, v in zip(signs, row[1:], strict=True)) for row in different}
                if enough and len(left) == 1:
                    found.add(frozenset(chosen))
    return found


def middle_value(values, aggregate):
    """The mean or the median of fractions, not rounded."""
    ranked = sorted(values)
    if aggregate == "median":
        return (ranked[(len(ranked) - 1) // 2] + ranked[len(ranked) // 2]) / 2
    return sum(ranked, Fraction(0)) / len(ranked)


def digits_of(groups, k, aggregate, decimals=None, more=Fraction(1)):
    """The digits of a column of fractions in groups; `decimals` are those it came with, None for long floats.

    `more` multiplies the variance, to see whether the result hangs by a hair.
    """
    errors = [(value - middle_value(group, aggregate)) ** 2 for group in groups for value in group]
    variance = more * sum(errors, Fraction(0)) / len(errors)
    if variance == 0:
        return decimals
    digits = 1100
    while (
        Fraction(10) ** (-2 * (digits - 1)) <= variance / k
    ):  # the next larger power of ten is not above s / sqrt(k)
        digits -= 1
    return digits if decimals is None else min(decimals, max(0, digits))


def rounded_value(value, digits, low, high):
    """A fraction to so many decimals, a tie to even, within the numbers of its column where there is one."""
    unit = Fraction(10) ** -digits
    first, last = math.ceil(low / unit), math.floor(high / unit)
    if first > last:
        return min(first, last, key=abs) * unit
    return min(max(round(value / unit), first), last) * unit


UNITS_OF_TIME = [1, 10**3, 10**6, 10**9, 60 * 10**9, 3600 * 10**9, 86_400 * 10**9]
NANOSECONDS_OF_A_DAY = UNITS_OF_TIME[-1]


def unit_of_time(squares, records, k, finest, coarsest, more=Fraction(1)):
    """The unit, in nanoseconds, that moments are rounded to; `squares` are those inside their groups.

    `more` multiplies the variance, to see whether the result hangs by a hair.
    """
    found = finest
    for unit in UNITS_OF_TIME:
        if finest < unit <= coarsest and unit * unit * records * k <= squares * more:
            found = unit
    return found


def finest_unit(values):
    """The largest unit that all of these nanoseconds are whole numbers of."""
    return max(unit for unit in UNITS_OF_TIME if all(value % unit == 0 for value in values))


def squares_of_moments(groups, aggregate):
    """The squared distances of nanoseconds to the middles of their groups."""
    return sum((Fraction(v) - middle_value(list(map(Fraction, g)), aggregate)) ** 2 for g in groups for v in g)


def rounded_moment(value, unit, low, high):
    """A fraction to whole units, a tie to even, from the first to the last whole unit of its column."""
    return min(max(round(value / unit), math.ceil(Fraction(low, unit))), math.floor(Fraction(high, unit))) * unit


def moment_on_clocks(value, unit, low, high, zone):
    """The same in UTC, for units of the clocks of a zone; all in nanoseconds."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)

    def clocks(instant):
        at = (epoch + timedelta(microseconds=instant // 1000)).astimezone(zone)
        return at.utcoffset() // timedelta(microseconds=1) * 1000

    def instant(wall):
        naive = datetime(1970, 1, 1) + timedelta(microseconds=wall // 1000)
        first, second = (naive.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
        if first.utcoffset() < second.utcoffset():  # leapt over: when the clocks do
            before, after = sorted([first.astimezone(UTC), second.astimezone(UTC)])
            while after - before > timedelta(microseconds=1):
                middle = before + (after - before) / 2
                if middle.astimezone(zone).utcoffset() == second.utcoffset():
                    after = middle
                else:
                    before = middle
            return (after - epoch) // timedelta(microseconds=1) * 1000
        return (first.astimezone(UTC) - epoch) // timedelta(microseconds=1) * 1000

    wall = round((value + clocks(math.floor(value))) / unit) * unit
    if instant(wall) < low:
        wall += unit
    elif instant(wall) > high:
        wall -= unit
    return min(max(instant(wall), low), high)


def arc(a, b):
    """How far two times of day are apart, in the unit that they are in."""
    return min((a - b) % NANOSECONDS_OF_A_DAY, (b - a) % NANOSECONDS_OF_A_DAY)


def chord_of_times(a, b):
    """The distance of two times of day on a circle of 24 hours, in hours."""
    return 24 / math.pi * math.sin(math.pi * arc(a, b) / NANOSECONDS_OF_A_DAY)


def mean_time(times):
    """The time of day in the middle; where there is none, the one that minimises the squared distances in sum."""
    angles = [2 * math.pi * time / NANOSECONDS_OF_A_DAY for time in times]
    x, y = math.fsum(map(math.cos, angles)) / len(times), math.fsum(map(math.sin, angles)) / len(times)
    if math.hypot(x, y) >= 1e-9:
        return math.atan2(y, x) / (2 * math.pi) * NANOSECONDS_OF_A_DAY % NANOSECONDS_OF_A_DAY
    sums = [math.fsum(chord_of_times(time, other) ** 2 for other in times) for time in times]
    return next(time for time, found in zip(times, sums, strict=True) if found <= min(sums) * (1 + 1e-8))


def median_time(times):
    """The member with the least sum of arcs to the others, the earliest of several."""
    return min(times, key=lambda time: (sum(arc(time, other) for other in times), time))


def shortest_arc(times):
    """The first and the last time of the shortest arc that holds all; of several, the one that begins first."""
    day = NANOSECONDS_OF_A_DAY
    arcs = [(max((time - first) % day for time in times), first) for first in times]
    length, first = min(arcs)
    return first, (first + length) % day


def most_frequent(values):
    """The most frequent value, the lowest of several."""
    counts = Counter(values)
    return min(counts, key=lambda value: (-counts[value], value))


def compacted(marks, shares, most, signs):
    """Categories in so many coordinates: the marks that vary most keep their own, the others add their signs."""

    def variance(mark):
        mean = math.fsum(share * row[mark] for share, row in zip(shares, marks, strict=True))
        return math.fsum(share * (row[mark] - mean) ** 2 for share, row in zip(shares, marks, strict=True))

    places = range(len(marks[0]))
    square = max(sum(share * row[mark] ** 2 for share, row in zip(shares, marks, strict=True)) for mark in places)
    unit = max(*(variance(mark) for mark in places), square / 1e6) or 1.0
    ranked = sorted(places, key=lambda mark: (-round(variance(mark) / unit, 9), mark))
    own, others = sorted(ranked[: most // 2]), sorted(ranked[most // 2 :])
    return [
        [row[mark] for mark in own]
        + [sum(row[mark] * signs[mark][axis] for mark in others) for axis in range(most - most // 2)]
        for row in marks
    ]


def way_up(parents, node):
    """A node and all above it, the root last; `parents` of the root is -1."""
    way = [node]
    while parents[way[-1]] >= 0:
        way.append(parents[way[-1]])
    return way


def meeting(parents, a, b):
    """The lowest node that is above both or is one of them."""
    above = way_up(parents, b)
    return next(node for node in way_up(parents, a) if node in above)


def path_length(parents, lengths, a, b):
    """The edges from each of two nodes up to where their ways meet."""
    top = meeting(parents, a, b)
    total = 0.0
    for node in (a, b):
        while node != top:
            total += lengths[node]
            node = parents[node]
    return total


def median_node(parents, lengths, records):
    """Of all nodes the one with the least summed path length to the records, the highest of several."""
    best = []
    for node in range(len(parents)):
        total = math.fsum(path_length(parents, lengths, node, record) for record in records)
        best.append((round(total, 9), len(way_up(parents, node)), node))
    return min(best)[2]


def common_ancestor(parents, records):
    """The lowest node that is above all records."""
    return max(
        (node for node in range(len(parents)) if all(node in way_up(parents, record) for record in records)),
        key=lambda node: len(way_up(parents, node)),
    )


def mode_node(records, everybody):
    """The most frequent record of a group; of several the most frequent of all, then the first."""
    return min(set(records), key=lambda node: (-records.count(node), -everybody.count(node), node))


def whole_percents(counts):
    """Shares in whole percents that add up to 100: the largest remainders are rounded up, the first of equal ones."""
    exact = [Fraction(100 * count, sum(counts)) for count in counts]
    percents = [math.floor(share) for share in exact]
    ranked = sorted(range(len(counts)), key=lambda i: (percents[i] - exact[i], i))
    for i in ranked[: 100 - sum(percents)]:
        percents[i] += 1
    return percents


def haversine(a, b):
    """The great circle between two places (latitude, longitude), in radians."""
    (north_a, east_a), (north_b, east_b) = [[math.radians(angle) for angle in place] for place in (a, b)]
    half = math.sin((north_b - north_a) / 2) ** 2
    half += math.cos(north_a) * math.cos(north_b) * math.sin((east_b - east_a) / 2) ** 2
    return 2 * math.asin(math.sqrt(min(1.0, half)))


def kilometres(a, b):
    return 6371.0088 * haversine(a, b)


def chord(a, b):
    """The straight line between two places, through an earth of radius 1."""
    return 2 * math.sin(haversine(a, b) / 2)


def on_sphere(place):
    """A place (latitude, longitude) as a point of the sphere of radius 1."""
    north, east = map(math.radians, place)
    return [math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north)]


def mean_direction(places):
    """The place below the sum of the unit vectors; None where they cancel out."""
    x, y, z = mean([on_sphere(place) for place in places])
    if math.sqrt(x * x + y * y + z * z) < 1e-6:
        return None
    return math.degrees(math.atan2(z, math.sqrt(x * x + y * y))), math.degrees(math.atan2(y, x))


def medoid(places):
    """The place whose squared chords to all others have the least sum; the first of those that are as good."""
    sums = [sum(chord(one, other) ** 2 for other in places) for one in places]
    return next(place for place, total in zip(places, sums, strict=True) if total < min(sums) + 1e-9)


def common_place(places):
    """The mean direction of a group; the medoid where there is none."""
    return mean_direction(places) or medoid(places)


def place_loss(places, groups, released):
    """Squared chords from all places to the common ones, and to that of all places."""
    lost = sum(chord(places[i], released[g]) ** 2 for g, group in enumerate(groups) for i in group)
    overall = mean_direction(places)
    return lost, sum(1.0 if overall is None else chord(place, overall) ** 2 for place in places)


def mdav_on_sphere(places, k):
    """MDAV of places, where the distance between two is the chord of their great circle."""
    vectors = [on_sphere(place) for place in places]
    free, groups = set(range(len(places))), []

    def around(seed):
        others = sorted((i for i in free if i != seed), key=lambda i: (chord(places[i], places[seed]), i))
        groups.append([seed, *others[: k - 1]])
        free.difference_update(groups[-1])

    while len(free) >= 2 * k:
        first = farthest(vectors, free, mean([vectors[i] for i in sorted(free)]))
        around(first)
        around(max(sorted(free), key=lambda i: chord(places[i], places[first])))
    if len(free) >= k:
        groups.append(sorted(free))
    else:
        join_nearest(vectors, groups, free)
    return groups


def nominal_scale(values):
    """What a mismatch costs with z-scores: 1 / ((1 - sum of squared shares) / 2)."""
    shares = [Fraction(values.count(value), len(values)) for value in set(values)]
    return float(2 / (1 - sum(share**2 for share in shares)))


def nominal_distance(values, a, b):
    """The squared distance between two values of a column, with z-scores."""
    return 0.0 if a == b else nominal_scale(values)


def mode(values, everybody):
    """The most frequent value; of several that which is more frequent in the whole table, then the first as text."""
    return min(set(values), key=lambda value: (-values.count(value), -everybody.count(value), str(value)))


def lower_median(values):
    return sorted(values)[(len(values) - 1) // 2]


def set_of(values):
    """Every different value with the same share: what somebody expects who sees only which there are."""
    return {value: Fraction(1, len(set(values))) for value in values}


def shares_of(values, rank=None):
    """Every different value with its share in whole percents; of equal remainders the first by rank is rounded up."""
    different = sorted(set(values), key=rank)
    percents = whole_percents([values.count(value) for value in different])
    return {value: Fraction(percent, 100) for value, percent in zip(different, percents, strict=True)}


def nominal_loss(values, groups, released):
    """How many values change, on average over a random member of what is released; and if all get the mode."""
    lost = sum(1 - released[g].get(values[i], 0) for g, group in enumerate(groups) for i in group)
    overall = mode(values, values)
    return lost, sum(value != overall for value in values)


def ordinal_loss(ranks, groups, released):
    """Squared ranks to a random member of what is released; and to the lower median of all."""
    lost = sum(
        share * (ranks[i] - rank) ** 2
        for g, group in enumerate(groups)
        for i in group
        for rank, share in released[g].items()
    )
    middle = lower_median(ranks)
    return lost, sum((rank - middle) ** 2 for rank in ranks)


def with_gaps(points):
    """The points of a column of which None is a gap, with z-scores: one coordinate more, and the gap's place in it.

    A gap stands at the mean of the others, as far away as their standard deviation; 1 where that is 0.
    """
    there = [point for point in points if point is not None]
    middle = mean(there)
    far = math.sqrt(math.fsum(squared_distance(point, middle) for point in there) / len(there)) or 1.0
    made = [[*middle, far] if point is None else [*point, 0.0] for point in points]
    centre = mean(made)
    total = math.fsum(squared_distance(point, centre) for point in made) / len(made)
    return [[coordinate / math.sqrt(total) for coordinate in point] for point in made]


def common_of_gaps(values, common):
    """None where more than half of the values are; else what the others have in common."""
    there = [value for value in values if value is not None]
    return None if 2 * len(there) < len(values) else common(there)


def joined_patterns(patterns, free, k, persons=None, least=1):
    """For each record the gaps that it gets, so that k records have each pattern; None where that cannot be.

    Where these are households, k counts their persons, and so many households must have each pattern at least.

    The rarest pattern (the first of several) is joined with the one that costs the fewest blanked cells, again and
    again; only columns in `free` may be blanked.
    """
    final = [tuple(pattern) for pattern in patterns]
    persons = persons or [1] * len(final)
    while True:
        counts = [
            (sum(count for count, own in zip(persons, final, strict=True) if own == pattern), pattern)
            for pattern in sorted(set(final))
        ]
        small = [each for each in counts if each[0] < k or final.count(each[1]) < least]
        if not small:
            return final
        size, rare = min(small)
        best = None
        for count, other in counts:
            both = tuple(a or b for a, b in zip(rare, other, strict=True))
            blanked = [i for i in range(len(rare)) if both[i] and not (rare[i] and other[i])]
            if other != rare and all(free[i] for i in blanked):
                cost = sum(size * (not rare[i]) + count * (not other[i]) for i in blanked)
                if best is None or cost < best[0]:
                    best = cost, other, both
        if best is None:
            return None
        final = [best[2] if pattern in (rare, best[1]) else pattern for pattern in final]


def wildcard_matches(rows):
    """For each row, how many rows agree with it wherever neither has None."""

    def fits(a, b):
        return all(x is None or y is None or x == y for x, y in zip(a, b, strict=True))

    return [sum(fits(row, other) for other in rows) for row in rows]


def mass_of(values):
    """The lowest or the highest number, whichever is more frequent."""
    return max([min(values), max(values)], key=values.count)


def semicontinuous(values):
    """Numbers as points: the number and whether it is at the mass, each with a variance of one half."""
    mass = mass_of(values)
    others = [value for value in values if value != mass]
    middle = math.fsum(others) / len(others)
    numbers = [middle if value == mass else value for value in values]
    return list(zip(halved(numbers), halved([value == mass for value in values]), strict=True))


def halved(numbers):
    """Centred numbers with a variance of one half."""
    middle = math.fsum(numbers) / len(numbers)
    variance = math.fsum((number - middle) ** 2 for number in numbers) / len(numbers)
    return [(number - middle) / math.sqrt(2 * variance) for number in numbers]


def semicontinuous_common(values, mass, aggregate="mean"):
    """The mass where at least half of the values are there, else the mean or the median of the others."""
    others = [Fraction(value) for value in values if value != mass]
    return Fraction(mass) if 2 * len(others) <= len(values) else middle_value(others, aggregate)


def row_order(key, n):
    """The rows in the order in which they leave: sorted by the keyed hash of each."""

    def digest(row):
        return blake2b(row.to_bytes(8, "little"), key=bytes.fromhex(key), digest_size=16).digest()

    return sorted(range(n), key=lambda row: (digest(row), row))


def as_they_came(written, manifest):
    """What stands in the rows of a release, in the order of the input again; the manifest says how they left."""
    if manifest["keep_order"]:
        return list(written)
    order = row_order(manifest["key"], len(written))
    return [value for _, value in sorted(zip(order, written, strict=True), key=lambda pair: pair[0])]


def mixed_distance(numbers, words, ranks, a, b):
    """The squared distance of two records of a mixed table with z-scores, kind by kind."""
    total = 0.0
    for column in (*numbers, *ranks):
        mean = math.fsum(column) / len(column)
        variance = math.fsum((value - mean) ** 2 for value in column) / len(column)
        total += (column[a] - column[b]) ** 2 / variance if variance else 0.0
    return total + sum(nominal_distance(column, column[a], column[b]) for column in words)


def repeated(values, weights):
    """Every value as many times as its weight says: what a whole weight means."""
    return [value for value, weight in zip(values, weights, strict=True) for _ in range(weight)]


def weighted_mean(values, weights):
    """The exact mean of numbers, each of which counts by its weight."""
    pairs = zip(values, weights, strict=True)
    return sum((Fraction(value) * weight for value, weight in pairs), Fraction(0)) / sum(weights)


def weighted_middles(values, weights):
    """The values at which the weight so far first reaches half of the whole weight, and first exceeds it."""
    found, so_far = {}, 0
    for value, weight in sorted(zip(values, weights, strict=True)):
        so_far += weight
        if weight and 2 * so_far >= sum(weights):
            found.setdefault("lower", value)
        if weight and 2 * so_far > sum(weights):
            found.setdefault("upper", value)
    return found["lower"], found["upper"]


def weighted_median(values, weights):
    """Halfway between the lower and the upper weighted median."""
    lower, upper = weighted_middles(values, weights)
    return (Fraction(lower) + Fraction(upper)) / 2


def weighted_middle(values, weights, aggregate):
    """The weighted mean or median, not rounded."""
    return (weighted_mean if aggregate == "mean" else weighted_median)(values, weights)


def weights_of(values, weights):
    """The whole weight of each different value."""
    return {
        one: sum(weight for value, weight in zip(values, weights, strict=True) if value == one)
        for one in set(values)
    }


def weighted_mode(values, weights, rank=lambda value: value):
    """The value with the largest whole weight; of several the first by its rank."""
    whole = weights_of(values, weights)
    return min(whole, key=lambda value: (-whole[value], rank(value)))


def weighted_shares(values, weights, rank=None):
    """Every value that has a weight with its share in whole percents."""
    whole = {value: weight for value, weight in weights_of(values, weights).items() if weight}
    different = sorted(whole, key=rank)
    percents = whole_percents([whole[value] for value in different])
    return {value: Fraction(percent, 100) for value, percent in zip(different, percents, strict=True)}


def weighted_direction(vectors, weights):
    """The mean of vectors, each of which counts by its weight; every coordinate is rounded once."""
    return [float(weighted_mean(column, weights)) for column in zip(*vectors, strict=True)]


def weighted_mean_time(times, weights):
    """The time of day in the middle; None where there is none."""
    angles = [2 * math.pi * time / NANOSECONDS_OF_A_DAY for time in times]
    x, y = weighted_direction([(math.cos(angle), math.sin(angle)) for angle in angles], weights)
    if math.hypot(x, y) < 1e-9:
        return None
    return math.atan2(y, x) / (2 * math.pi) * NANOSECONDS_OF_A_DAY % NANOSECONDS_OF_A_DAY


def weighted_median_time(times, weights):
    """The member that counts with the least weighted sum of arcs to the others, the earliest of several."""
    pairs = [(time, weight) for time, weight in zip(times, weights, strict=True) if weight]
    return min(pairs, key=lambda one: (sum(weight * arc(one[0], time) for time, weight in pairs), one[0]))[0]


def weighted_mean_place(places, weights):
    """The place below the weighted sum of the unit vectors; None where they cancel out."""
    x, y, z = weighted_direction([on_sphere(place) for place in places], weights)
    if math.sqrt(x * x + y * y + z * z) < 1e-6:
        return None
    return math.degrees(math.atan2(z, math.sqrt(x * x + y * y))), math.degrees(math.atan2(y, x))


def weighted_chords(place, places, weights):
    """The squared chords from a place to others, weighted, as a share of the whole weight."""
    chords = [Fraction(chord(place, other) ** 2) for other in places]
    return float(weighted_mean(chords, weights))


def weighted_node(parents, lengths, records, weights):
    """Of all nodes the one with the least weighted sum of path lengths, the highest of several."""
    best = []
    for node in range(len(parents)):
        paths = [Fraction(path_length(parents, lengths, node, record)) for record in records]
        best.append((round(float(weighted_mean(paths, weights)), 9), len(way_up(parents, node)), node))
    return min(best)[2]


def weighted_loss(points, released, weights):
    """Squared distances from points to what they are released as, each of which counts by its weight."""
    pairs = zip(points, released, weights, strict=True)
    return math.fsum(squared_distance(point, other) * float(weight) for point, other, weight in pairs)


def quantile(values, share):
    """Between two values, as far along as the share says."""
    row = sorted(values)
    place = share * (len(row) - 1)
    low = int(place)
    return row[low] + (place - low) * (row[min(low + 1, len(row) - 1)] - row[low])


def gathered(X, labels, k, weights=None):
    """Groups whose error is 20 times what is usual, dissolved where that gains; see `search/scattered.py`."""
    X, labels, n = plain(X), list(labels), len(X)
    each = [1.0] * n if weights is None else list(weights)
    groups = [[i for i in range(n) if labels[i] == group] for group in range(max(labels) + 1)]
    errors = [group_sse(X, group, each) for group in groups]
    usual = quantile(errors, 0.75) or math.fsum(errors) / len(errors)
    worst = sorted((g for g in range(len(groups)) if errors[g] > 20 * usual), key=lambda g: -errors[g])[:500]
    others = [g for g in range(len(groups)) if g not in worst]
    centroids = [mean_of(X, group, weights) for group in groups]
    sizes, masses = [len(group) for group in groups], [math.fsum(each[i] for i in group) for group in groups]
    new = list(labels)
    for group in worst if others else ():
        homes, cost, before = {}, 0.0, (list(sizes), list(masses))
        for i in groups[group]:
            near = sorted(others, key=lambda g: squared_distance(X[i], centroids[g]))[:16]
            home = next((g for g in near if sizes[g] < 2 * k - 1), None)
            if home is None:
                continue
            both = masses[home] + each[i]
            cost += squared_distance(X[i], centroids[home]) * masses[home] * each[i] / both if both else 0.0
            sizes[home] += 1
            masses[home] += each[i]
            homes[i] = home
        if len(homes) == len(groups[group]) and cost < errors[group]:
            for i, home in homes.items():
                new[i] = home
        else:
            sizes, masses = before
    found = [[i for i in range(n) if new[i] == group] for group in sorted(set(new))]
    return found if sse(X, found, each) < sse(X, groups, each) else groups


# Units: records that stay together.


def unit_labels(X, units, weights, strata, k):
    """The groups of MDAV when each unit is the mean of its records, with the weight of all of them."""
    X, n = plain(X), max(units) + 1
    own = [[i for i in range(len(X)) if units[i] == unit] for unit in range(n)]
    each = [1.0] * len(X) if weights is None else list(weights)
    points = [mean([X[i] for i in rows], [each[i] for i in rows]) for rows in own]
    totals = [math.fsum(each[i] for i in rows) for rows in own]
    parts = [0] * n if strata is None else [strata[rows[0]] for rows in own]
    group_of, groups = {}, 0
    for part in sorted(set(parts)):
        members = [unit for unit in range(n) if parts[unit] == part]
        heavy = [totals[unit] for unit in members]
        for group in mdav([points[unit] for unit in members], k, weights=heavy if any(heavy) else None):
            group_of |= {members[place]: groups for place in group}
            groups += 1
    return [group_of[unit] for unit in units]


def levels(values, groups, persons, k):
    """The level of each row on a line: as many levels in a group of persons as k of them have rows at least."""
    along = list(values)
    labels, before = [None] * len(values), 0
    for group in sorted(set(groups)):
        own = {
            person: sorted((i for i in range(len(values)) if persons[i] == person), key=lambda i: (along[i], i))
            for person in sorted({persons[i] for i in range(len(values)) if groups[i] == group})
        }
        count = sorted(map(len, own.values()), reverse=True)[k - 1]
        means = [[] for _ in range(count)]
        for rows in own.values():
            if len(rows) >= count:
                parts = [
                    [i for place, i in enumerate(rows) if place * count // len(rows) == n] for n in range(count)
                ]
                for level, part in enumerate(parts):
                    means[level].append(sum(along[i] for i in part) / len(part))
                    for i in part:
                        labels[i] = before + level
        centres = [sum(each) / len(each) for each in means]
        borders = [(low + high) / 2 for low, high in itertools.pairwise(centres)]
        for rows in own.values():
            for i in rows if len(rows) < count else ():
                labels[i] = before + sum(border < along[i] for border in borders)
        before += count
    return labels


# Privacy models: what the confidential values of a group give away. A gap is None, and None is no value.

SLACK = 1e-9  # what rounding may add to a figure that is exactly as large as promised
TIE = 1e-10  # nearer than this to where a verdict turns, either verdict is right


def value_shares(values, persons):
    """The share of each value: a person counts once, evenly over the rows of theirs that have a value."""
    own = {}
    for value, person in zip(values, persons, strict=True):
        if value is not None:
            own.setdefault(person, []).append(value)
    found = {}
    for held in own.values():
        for value in held:
            found[value] = found.get(value, Fraction(0)) + Fraction(1, len(held) * len(own))
    return found


def holders(values, persons):
    """The persons who have each value, among others."""
    found = {}
    for value, person in zip(values, persons, strict=True):
        if value is not None:
            found.setdefault(value, set()).add(person)
    return found


def having(values, persons):
    """The share of the persons with any value who have this one; with several rows the shares exceed 1 together."""
    own = holders(values, persons)
    everybody = set().union(*own.values())
    return {value: Fraction(len(who), len(everybody)) for value, who in own.items()}


def different_values(values, persons):
    """For how many values there can be a person each who has it: a largest matching.

    By Koenig's theorem, the least there is, over all sets of values, of the persons who have any of them and the
    number of the other values.
    """
    own = holders(values, persons)
    least = len(own)
    for size in range(len(own) + 1):
        for chosen in itertools.combinations(own, size):
            least = min(least, len(set().union(*(own[value] for value in chosen))) + len(own) - size)
    return least


def effective_values(q):
    """exp(H): as many values as there would be if all were equally frequent; 0 where there is none."""
    if not q:
        return 0.0
    return math.exp(-math.fsum(float(share) * math.log(share) for share in q.values()))


def recursive_sides(values, persons, l):  # noqa: E741
    """How many have the most frequent value, and how many have the l-th most frequent one and those after it."""
    counts = sorted((len(who) for who in holders(values, persons).values()), reverse=True)
    return (counts[0] if counts else 0), sum(counts[l - 1 :])


def ordered_distance(q, p, line):
    """The sum over all values of |how much more the group has up to it|, divided by m - 1."""
    if len(line) == 1:
        return Fraction(0)
    total = Fraction(0)
    for i in range(len(line)):
        total += abs(sum(q.get(value, 0) - p.get(value, 0) for value in line[: i + 1]))
    return total / (len(line) - 1)


def wasserstein_distance(q, p, line):
    """The area between the two distribution functions, divided by the range; the values are numbers or texts of these."""
    if len(line) == 1:
        return Fraction(0)
    area = Fraction(0)
    for i, (low, high) in enumerate(itertools.pairwise(line)):
        below = sum(q.get(value, 0) - p.get(value, 0) for value in line[: i + 1])
        area += abs(below) * (Fraction(high) - Fraction(low))
    return area / (Fraction(line[-1]) - Fraction(line[0]))


def equal_distance(q, p):
    """Half of all differences of shares."""
    return sum(abs(q.get(value, 0) - p.get(value, 0)) for value in set(q) | set(p)) / Fraction(2)


def hierarchical_distance(q, p, tree):
    """What has to be carried across each node, times its height above the leaves against that of the root.

    The tree is nested dictionaries: {"all": {"lungs": {"flu": {}, "cough": {}}, "gout": {}}}. A value that is an
    inner node stands for itself below that node.
    """

    def carried(name, below):
        """The surplus below a node, its height, and the cost of everything below it."""
        own = q.get(name, Fraction(0)) - p.get(name, Fraction(0))
        if not below:
            return own, 0, Fraction(0)
        children = [carried(child, rest) for child, rest in below.items()]
        surpluses = [own, *(child[0] for child in children)]
        height = 1 + max(child[1] for child in children)
        too_much = sum(surplus for surplus in surpluses if surplus > 0)
        too_little = -sum(surplus for surplus in surpluses if surplus < 0)
        return sum(surpluses), height, sum(child[2] for child in children) + height * min(too_much, too_little)

    [(root, below)] = tree.items()
    _, height, cost = carried(root, below)
    return cost / height if height else Fraction(0)


def divergence(q, p):
    """Kullback and Leibler's: the sum of q ln(q / p)."""
    return math.fsum(float(share) * math.log(share / p[value]) for value, share in q.items())


def t_distance(distance, q, p, line, tree):
    """The distance of a group from the table, by the name of the distance; ranks are values by then."""
    if not q:
        return Fraction(0)
    if distance in ("ordered", "ranks"):
        return ordered_distance(q, p, line)
    if distance == "wasserstein":
        return wasserstein_distance(q, p, line)
    if distance == "hierarchical":
        return hierarchical_distance(q, p, tree)
    return equal_distance(q, p) if distance == "equal" else divergence(q, p)


def ranks(values, line):
    """The rank of each record that has a value; those of the same value in the order of the table."""
    there = [i for i in range(len(values)) if values[i] is not None]
    order = sorted(there, key=lambda i: (line.index(values[i]), i))
    found = [None] * len(values)
    for rank, i in enumerate(order):
        found[i] = rank
    return found


def at_most(figure, limit):
    """A figure that is to be no larger: it, whether it holds, and whether that is a matter of rounding."""
    return float(figure), figure <= limit + SLACK, abs(figure - limit - SLACK) < TIE


def judged_diversity(model, values, persons, harmful):
    """l-diversity of each kind, and p-sensitivity."""
    kind = model.get("kind", "distinct")
    if kind == "entropy":
        figure = effective_values(value_shares(values, persons))
        return figure, figure >= model["l"] - SLACK, abs(figure - model["l"] + SLACK) < TIE
    if kind == "recursive":
        most, rest = recursive_sides(values, persons, model["l"])
        return (most / rest if rest else math.inf), rest > 0 and most < Fraction(model["c"]) * rest, False
    figure = different_values(values, persons)
    there = {value for value in values if value is not None}
    no_harm = bool(there) and not there & harmful
    return float(figure), no_harm or figure >= model.get("l", model.get("p")), False


def judged_share(model, values, persons, harmful):
    """(alpha, k)-anonymity."""
    own = having(values, persons)
    return at_most(max((own[value] for value in harmful if value in own), default=0), Fraction(model["alpha"]))


def judged_likeness(model, values, persons, usual, harmful):
    """beta-likeness, also the enhanced one: whether every value holds, and the largest gain."""
    own = having(values, persons)
    most, holds, near = 0.0, True, False
    for value in harmful if own else ():
        p = usual[value]
        limit = min(model["beta"], -math.log(p)) if model["enhanced"] else model["beta"]
        gain, kept, tie = at_most((own.get(value, Fraction(0)) - p) / p, limit)
        most, holds, near = max(most, gain), holds and kept, near or tie
    return most, holds, near


def judged_disclosure(model, values, persons, usual, harmful):
    """delta-disclosure privacy: strictly less than delta."""
    own = having(values, persons)
    most = 0.0
    for value in harmful:
        if value in own:
            most = max(most, abs(math.log(own[value] / usual[value])))
        elif model["absent"] == "infinite":
            most = math.inf
    if not own and model["absent"] == "infinite":
        most = math.inf
    return most, (most < model["delta"] or not own) and most < math.inf, abs(most - model["delta"]) < TIE


def naive_judge(model, values, persons, groups, line=None, tree=None):
    """What a model finds in each group of rows: its figure, whether it holds, whether that is a matter of rounding.

    Parameters
    ----------
    model : as a manifest holds it, with the distance of t-closeness
    values : the value of each record of the table, None for a gap
    persons : whose each record is
    groups : the records of each group
    line : the different values from the lowest to the highest, where they have an order
    tree : the taxonomy, as nested dictionaries
    """
    harmful = set(model.get("sensitive_values", ())) or {value for value in values if value is not None}
    if model.get("distance") == "ranks":
        values = ranks(values, line)
        line = sorted(value for value in values if value is not None)
    found = []
    for group in groups:
        own, who = [values[i] for i in group], [persons[i] for i in group]
        if model["model"] in ("l-diversity", "p-sensitivity"):
            found.append(judged_diversity(model, own, who, harmful))
        elif model["model"] == "t-closeness":
            q, p = value_shares(own, who), value_shares(values, persons)
            found.append(at_most(t_distance(model["distance"], q, p, line, tree), Fraction(model["t"])))
        elif model["model"] == "alpha":
            found.append(judged_share(model, own, who, harmful))
        elif model["model"] == "beta-likeness":
            found.append(judged_likeness(model, own, who, having(values, persons), harmful))
        elif model["model"] == "delta-disclosure":
            found.append(judged_disclosure(model, own, who, having(values, persons), harmful))
    return found


def are_kept(models, values, persons, groups, line=None, tree=None):
    """Whether every group of rows keeps every model; what is a matter of rounding counts as kept."""
    return all(
        holds or near
        for model in models
        for _, holds, near in naive_judge(model, values, persons, groups, line, tree)
    )


def constrained_optimum(X, k, allowed):
    """The least SSE of all partitions into groups of k or more, of any size, that are allowed; None if there is none.

    By the least SSE of every set of records: the group of its first record, and the rest.
    """
    X, n = plain(X), len(X)
    costs = {}  # of the allowed groups, by their first record
    for mask in range(1, 1 << n):
        group = [i for i in range(n) if mask >> i & 1]
        if len(group) >= k and allowed(group):
            costs.setdefault(group[0], []).append((mask, group_sse(X, group)))
    best = [0.0] + [math.inf] * ((1 << n) - 1)
    for rest in range(1, 1 << n):
        first = (rest & -rest).bit_length() - 1
        for mask, cost in costs.get(first, ()):
            if mask & rest == mask:
                best[rest] = min(best[rest], cost + best[rest ^ mask])
    return None if math.isinf(best[-1]) else best[-1]


def information(groups, values):
    """What groups tell about values in nats, group by group and value by value; None is no value."""
    rows = [(group, value) for group, value in zip(groups, values, strict=True) if value is not None]
    total, n = 0.0, len(rows)
    for group in {group for group, _ in rows}:
        own = [value for other, value in rows if other == group]
        for value in set(own):
            here, everywhere = own.count(value) / len(own), sum(other == value for _, other in rows) / n
            total += len(own) / n * here * math.log(here / everywhere)
    return total


def taking_part(k, n, participation):
    """The probability that at least k of n take part, term by term of the binomial distribution."""
    chance = Fraction(participation)
    return sum(math.comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(k, n + 1))


# Methods that group records for t-closeness or p-sensitivity. `far` is the distance of a group from the table.


def t_closeness_merging(X, k, t, far):
    """Algorithm 1 of Soria-Comas et al. (2015): MDAV, then merging."""
    return merged_groups(plain(X), mdav(X, k), t, far)


def merged_groups(X, groups, t, far):
    """While a group is too far from the table, the farthest and the one nearest to it become one."""
    groups = {g: sorted(group) for g, group in enumerate(groups)}
    while len(groups) > 1:
        worst = None
        for g, group in sorted(groups.items()):
            if far(group) > t + SLACK and (worst is None or far(group) > far(groups[worst]) + SLACK):
                worst = g
        if worst is None:
            break
        centres = {g: mean_of(X, group) for g, group in groups.items()}
        others = sorted(set(groups) - {worst})
        other = min(others, key=lambda g: squared_distance(centres[g], centres[worst]))
        low, high = sorted([worst, other])
        groups[low] = sorted(groups[low] + groups.pop(high))
    return [groups[g] for g in sorted(groups)]


def k_anonymity_first(X, k, t, far):
    """Algorithm 2 of Soria-Comas et al. (2015): near records, some of them replaced, then merging."""
    X = plain(X)
    free = set(range(len(X)))
    groups = []
    while free:
        p = farthest(X, free, mean_of(X, free))
        groups.append(refined_group(X, free, p, k, t, far))
        if free:
            groups.append(refined_group(X, free, farthest(X, free, X[p]), k, t, far))
    return merged_groups(X, groups, t, far)


def refined_group(X, free, seed, k, t, far):
    """The records nearest to the seed, each replaced by a next nearest one where that lowers the distance."""
    group, others = sorted(free), []
    if len(free) >= 2 * k:
        ranked = [seed, *nearest(X, free, seed, len(free))]
        group, others = ranked[:k], ranked[k:]
    for candidate in others:
        if far(group) <= t + SLACK:
            break
        best = None
        for gone in sorted(group):
            trial = [i for i in group if i != gone] + [candidate]
            if best is None or far(trial) < far(best) - SLACK:
                best = trial
        if far(best) < far(group) - SLACK:
            group = best
    free -= set(group)
    return group


def t_closeness_first(X, k, t, far, order):
    """Algorithm 3 of Soria-Comas et al. (2015): a record of each stratum of the records in this order."""
    n = len(X)
    size = max(k, math.ceil(n / (2 * (n - 1) * Fraction(str(t)) + 1)))
    while True:
        groups = stratified_groups(plain(X), size + (n % size) // (n // size), order)
        if len(groups) == 1 or all(far(group) <= t + SLACK for group in groups):
            return groups
        size += 1


def stratified_groups(X, size, order):
    """Groups with the nearest record of each stratum, and as long as there are any, a spare one from the middle."""
    n = len(X)
    lower, upper = n % size - n % size // 2, n % size // 2
    spares = []  # the stratum of each, for one group each
    while lower + upper:
        spares.append((size - 1) // 2 if lower >= upper else size // 2)
        lower, upper = (lower - 1, upper) if lower >= upper else (lower, upper - 1)
    rest = list(order)
    strata = []
    for s in range(size):
        count = n // size + spares.count(s)
        strata.append(rest[:count])
        rest = rest[count:]
    groups, seed = [], None
    for number in range(n // size):
        free = {i for stratum in strata for i in stratum}
        seed = farthest(X, free, mean_of(X, free) if number % 2 == 0 else X[seed])
        group = []
        for s in [*range(size), *spares[number : number + 1]]:
            near = min(strata[s], key=lambda i: (i != seed, squared_distance(X[i], X[seed]), i))
            group.append(near)
            strata[s].remove(near)
        groups.append(group)
    return groups


def p_sensitive(X, k, p, values):
    """MDAV with groups that gather p different values first; None is no value."""
    X, size = plain(X), max(k, p)
    free = set(range(len(X)))
    groups = []

    def enough(count):
        return len(free) >= count and len({values[i] for i in free} - {None}) >= p

    while enough(2 * size):
        seed = farthest(X, free, mean_of(X, free))
        groups.append(diverse_group(X, free, seed, size, p, values))
        if enough(size):
            groups.append(diverse_group(X, free, farthest(X, free, X[seed]), size, p, values))
    if enough(size) or not groups:
        groups.append(sorted(free))
    else:
        join_nearest(X, groups, free)
    return groups


def diverse_group(X, free, seed, size, p, values):
    """The seed, the nearest records of values that are not there yet up to p of these, then the nearest records."""
    group = [seed]
    others = nearest(X, free, seed, len(free))
    for i in others:
        there = {values[j] for j in group} - {None}
        if len(there) < p and values[i] is not None and values[i] not in there:
            group.append(i)
    for i in others:
        if len(group) < size and i not in group:
            group.append(i)
    free -= set(group)
    return group


def hull_vertices(n, i, k, high):
    """Every row of a partition's matrix that record i can have: 1/s at s records, i among them."""
    for s in range(k, high + 1):
        for others in itertools.combinations([j for j in range(n) if j != i], s - 1):
            yield [1 / s if j == i or j in others else 0.0 for j in range(n)]


def nearest_in_hull(row, i, k, high):
    """The point of the hull that is nearest to a row, by halving: a share t, then a shift for that share."""

    def shifted(t):
        low, high_shift = min(row) - 1, max(row) + 1
        for _ in range(50):
            middle = (low + high_shift) / 2
            total = t + math.fsum(min(max(x - middle, 0.0), t) for j, x in enumerate(row) if j != i)
            low, high_shift = (middle, high_shift) if total > 1 else (low, middle)
        return [t if j == i else min(max(x - low, 0.0), t) for j, x in enumerate(row)]

    def distance(t):
        return squared_distance(shifted(t), row)

    a, b = 1 / high, 1 / k
    for _ in range(70):
        c, d = a + (b - a) / 3, b - (b - a) / 3
        a, b = (a, d) if distance(c) < distance(d) else (c, b)
    return shifted((a + b) / 2)


def semidefinite_bound(X, L, k, high):
    """What a multiplier L proves: all eigenvalues, and every possible row."""
    n = len(X)
    total = [[squared_distance(X[i], X[j]) / 2 + L[i][j] for j in range(n)] for i in range(n)]
    means = [(sum(total[i]) + sum(row[i] for row in total)) / (2 * n) for i in range(n)]
    middle = sum(means) / n
    centred = [
        [(total[i][j] + total[j][i]) / 2 - means[i] - means[j] + middle for j in range(n)] for i in range(n)
    ]
    lowest = sorted(np.linalg.eigvalsh(centred).tolist())[: n // k - 1]
    rows = [
        min(-sum(a * b for a, b in zip(L[i], z, strict=True)) for z in hull_vertices(n, i, k, high))
        for i in range(n)
    ]
    return math.fsum(map(math.fsum, total)) / n + math.fsum(min(x, 0.0) for x in lowest) + math.fsum(rows)


def lowest_undercut(X, prices, k, high):
    """The least SSE less prices of any group of each record with others that are no dearer, and of any group."""
    X = plain(X)
    order = sorted(range(len(X)), key=lambda i: -prices[i])
    lowest = [math.inf] * len(X)
    for place, anchor in enumerate(order):
        for size in range(k, high + 1):
            for others in itertools.combinations(order[place + 1 :], size - 1):
                group = [anchor, *others]
                lowest[anchor] = min(lowest[anchor], group_sse(X, group) - math.fsum(prices[i] for i in group))
    return lowest


def charged(groups, costs, prices):
    """The lowest (SSE - prices) / size of the groups that hold each record; less its price where there are none."""
    least = [math.inf] * len(prices)
    for group, cost in zip(groups, costs, strict=True):
        for i in group:
            least[i] = min(least[i], (cost - sum(prices[j] for j in group)) / len(group))
    return [-price if value == math.inf else value for value, price in zip(least, prices, strict=True)]


def balanced(groups, costs, use, prices, highest, use_steps, price_steps):
    """How much each group is used, and the prices, a step later."""
    used = [
        max(0.0, use[g] + use_steps[g] * (sum(prices[i] for i in group) - costs[g]))
        for g, group in enumerate(groups)
    ]
    held = [sum(2 * used[g] - use[g] for g, group in enumerate(groups) if i in group) for i in range(len(prices))]
    later = [min(prices[i] + price_steps[i] * (1 - held[i]), highest[i]) for i in range(len(prices))]
    return used, later
