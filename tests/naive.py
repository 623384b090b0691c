"""The slow, obvious twin of every kernel and method: plain Python, no cleverness, no shared code."""

import functools
import itertools
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


def optimum_by_subsets(X, k):
    """The least SSE, by the least SSE of every set of records: its first record's group, and the rest."""
    X = plain(X)
    n = len(X)
    best = {0: 0.0}

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

    @functools.cache
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
