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


def mdav(X, k):
    """Algorithm A of Rebollo-Monedero et al. (2019); returns the list of groups."""
    X = [[float(value) for value in record] for record in X]
    free = set(range(len(X)))
    groups = []
    while len(free) >= 2 * k:
        p = farthest(X, free, mean([X[i] for i in sorted(free)]))
        groups.append([p, *nearest(X, free, p, k - 1)])
        free -= set(groups[-1])
        q = farthest(X, free, X[p])
        groups.append([q, *nearest(X, free, q, k - 1)])
        free -= set(groups[-1])
    if len(free) >= k:
        groups.append(sorted(free))
    else:
        for i in sorted(free):
            centroids = [mean([X[j] for j in group]) for group in groups]
            closest = min(range(len(groups)), key=lambda g: squared_distance(X[i], centroids[g]))
            groups[closest].append(i)
    return groups


def labels_of(groups):
    """The label of each record, for a list of groups."""
    labels = [None] * sum(len(group) for group in groups)
    for label, group in enumerate(groups):
        for record in group:
            labels[record] = label
    return labels


def sse(X, groups):
    total = 0.0
    for group in groups:
        centroid = mean([X[i] for i in group])
        total += sum(squared_distance(X[i], centroid) for i in group)
    return total


def smallest_group(rows):
    """The size of the smallest class of equal rows."""
    return min(Counter(tuple(row) for row in rows).values())
