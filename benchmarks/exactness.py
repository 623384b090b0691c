"""The four methods against brute force on 60 000 records: labels must be identical.

    python benchmarks/exactness.py [n]

The brute force is compiled, walks all free records in order for every question, and shares with the library only
the exact sums, which the tests compare with math.fsum. Needs ../shared/tools/large.py (or SHOAL_SHARED).
"""

import os
import sys
import time
from pathlib import Path

import numba
import numpy as np

from shoal import CBFS, MDAV, TFRP, VMDAV
from shoal.kernels.sums.exact import add_rows, centroid, group_means, new_sums

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))


@numba.njit(cache=True)
def distance(a, b):
    total = 0.0
    for j in range(a.size):
        total += (a[j] - b[j]) * (a[j] - b[j])
    return total


@numba.njit(cache=True)
def farthest(X, labels, point):
    best, reach = -1, -1.0
    for i in range(X.shape[0]):
        if labels[i] < 0:
            d2 = distance(X[i], point)
            if d2 > reach:
                best, reach = i, d2
    return best


@numba.njit(cache=True)
def nearest(X, labels, point, besides):
    best, reach = -1, np.inf
    for i in range(X.shape[0]):
        if labels[i] < 0 and i != besides:
            d2 = distance(X[i], point)
            if d2 < reach:
                best, reach = i, d2
    return best, reach


@numba.njit(cache=True)
def take(X, labels, seed, k, label):
    """The seed and its k - 1 nearest free records, by a sort of all distances, stable in the index."""
    labels[seed] = label
    free = np.flatnonzero(labels < 0)
    d2 = np.empty(free.size)
    for i in range(free.size):
        d2[i] = distance(X[free[i]], X[seed])
    if k > 1:
        limit = np.partition(d2, k - 2)[k - 2]
        left = k - 1 - (d2 < limit).sum()
        for i in range(free.size):
            if d2[i] < limit:
                labels[free[i]] = label
            elif d2[i] == limit and left > 0:
                labels[free[i]] = label
                left -= 1


@numba.njit(cache=True)
def extend(X, labels, k, label, gamma):
    members = np.flatnonzero(labels == label)
    reach = np.full(X.shape[0], np.inf)
    for i in range(X.shape[0]):
        if labels[i] < 0:
            for j in members:
                reach[i] = min(reach[i], distance(X[i], X[j]))
    for _ in range(k - 1):
        e, d_in = -1, np.inf
        for i in range(X.shape[0]):
            if labels[i] < 0 and reach[i] < d_in:
                e, d_in = i, reach[i]
        if e < 0:
            return
        _, d_out = nearest(X, labels, X[e], e)
        if not d_in < gamma * d_out:
            return
        labels[e] = label
        for i in range(X.shape[0]):
            if labels[i] < 0:
                reach[i] = min(reach[i], distance(X[i], X[e]))


def mean(X, records):
    sums, out = new_sums(X), np.empty(X.shape[1])
    add_rows(sums, X, records)
    centroid(sums, len(records), out, np.empty(1, np.int64))
    return out


def finish(X, labels, k, label):
    rest = np.flatnonzero(labels < 0)
    if len(rest) >= k:
        labels[rest] = label
        return labels
    for i in rest:
        order = np.argsort(labels, kind="stable")[(labels < 0).sum() :]
        starts = np.concatenate([[0], np.cumsum(np.bincount(labels[order]))])
        centroids = group_means(X, order, starts)
        labels[i] = min(range(label), key=lambda g: (distance(X[i], centroids[g]), g))
    return labels


def mdav(X, k):
    labels, label = np.full(len(X), -1), 0
    while (labels < 0).sum() >= 2 * k:
        p = farthest(X, labels, mean(X, np.flatnonzero(labels < 0)))
        take(X, labels, p, k, label)
        take(X, labels, farthest(X, labels, X[p]), k, label + 1)
        label += 2
    return finish(X, labels, k, label)


def cbfs(X, k):
    labels, label = np.full(len(X), -1), 0
    while (labels < 0).sum() >= k:
        take(X, labels, farthest(X, labels, mean(X, np.flatnonzero(labels < 0))), k, label)
        label += 1
    return finish(X, labels, k, label)


def vmdav(X, k, gamma):
    labels, label, centre = np.full(len(X), -1), 0, mean(X, np.arange(len(X)))
    while (labels < 0).sum() >= k:
        take(X, labels, farthest(X, labels, centre), k, label)
        extend(X, labels, k, label, gamma)
        label += 1
    return finish(X, labels, k, label)


@numba.njit(cache=True)
def nearest_centroids(X, records, centroids, alive, own):
    out = np.empty(records.size, np.int64)
    for i in range(records.size):
        best, reach = -1, np.inf
        for g in range(centroids.shape[0]):
            if alive[g] and g != own:
                d2 = distance(X[records[i]], centroids[g])
                if d2 < reach:
                    best, reach = g, d2
        out[i] = best
    return out


def sse(X, records):
    centre, total = mean(X, records), 0.0
    for i in records:
        total += distance(X[i], centre)
    return total


def tfrp(X, k):
    labels, label = np.full(len(X), -1), 0
    references = (X.min(axis=0), X.max(axis=0))
    while (labels < 0).sum() >= k:
        take(X, labels, farthest(X, labels, references[label % 2]), k, label)
        label += 1
    finish(X, labels, k, label)
    groups = [np.flatnonzero(labels == g) for g in range(label)]
    centroids, alive = np.array([mean(X, group) for group in groups]), np.ones(label, bool)
    for g in np.argsort([-sse(X, group) for group in groups], kind="stable"):
        receivers = nearest_centroids(X, groups[g], centroids, alive, g)
        before, after, grown = sse(X, groups[g]), 0.0, {}
        for h in np.unique(receivers):
            grown[h] = np.sort(np.concatenate([groups[h], groups[g][receivers == h]]))
            before += sse(X, groups[h])
            after += sse(X, grown[h])
        if after < before:
            alive[g] = False
            for h, group in grown.items():
                groups[h], centroids[h] = group, mean(X, group)
    for new, g in enumerate(np.flatnonzero(alive)):
        labels[groups[g]] = new
    return labels


def main():
    n = int(sys.argv[1]) if sys.argv[1:] else 60_000
    sys.path.insert(0, str(SHARED / "tools"))
    import large

    wrong = 0
    print(f"{'data':<14} {'method':<24} {'brute s':>8} {'Shoal s':>8}  labels")
    for name, X in {
        "forest": large.forest(n),
        "forest rounded": np.round(large.forest(n), 1),
    }.items():
        for model, brute in (
            (MDAV(k=10), lambda X: mdav(X, 10)),
            (CBFS(k=10), lambda X: cbfs(X, 10)),
            (VMDAV(k=10, gamma=1.1), lambda X: vmdav(X, 10, 1.1)),
            (TFRP(k=10), lambda X: tfrp(X, 10)),
        ):
            start = time.perf_counter()
            expected = brute(X)
            middle = time.perf_counter()
            same = np.array_equal(model.fit(X).labels_, expected)
            end = time.perf_counter()
            wrong += not same
            verdict = "identical" if same else "DIFFERENT"
            print(f"{name:<14} {model!r:<24} {middle - start:8.1f} {end - middle:8.2f}  {verdict}", flush=True)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
