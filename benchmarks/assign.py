"""How long the exact assignment to cells of given sizes takes, cold and warm; writes nothing.

    python benchmarks/assign.py [adult.csv.gz]

Cold: from prices of 0. Warm: from the last prices, after the centres have gone half the way to the means of their
cells, as between two rounds of PCL; the median of seven such rounds. `transport` solves the same first problem
record by record, where that is feasible.
"""

import csv
import gzip
import sys
from statistics import median
from time import perf_counter

import numpy as np

from shoal import MDAV
from shoal.kernels.transport.flow import transport
from shoal.kernels.transport.power import assign, prepare

ROUNDS = 7


def means(X, labels, cells):
    sums = [np.bincount(labels, column, cells) for column in X.T]
    return np.stack(sums, axis=1) / np.bincount(labels, minlength=cells)[:, None]


def timed(function, *arguments):
    start = perf_counter()
    result = function(*arguments)
    return result, perf_counter() - start


def run(name, X, centres, feasible):
    n, cells = len(X), len(centres)
    sizes = np.full(cells, n // cells)
    sizes[: n % cells] += 1
    plan, preparing = timed(prepare, X)
    (labels, prices), cold = timed(assign, plan, centres, sizes)
    ratio = ""
    if feasible:
        (known, _), slow = timed(transport, X, centres, sizes, sizes, True)
        totals = [((X - centres[choice]) ** 2).sum() for choice in (labels, known)]
        ratio = f"   transport {slow:.2f} s, {slow / cold:.0f} x, totals differ by {totals[0] / totals[1] - 1:.0e}"
    warm = []
    for _ in range(ROUNDS):
        centres = centres + 0.5 * (means(X, labels, cells) - centres)
        (labels, prices), seconds = timed(assign, plan, centres, sizes, prices)
        warm.append(1000 * seconds)
    spread = f"{median(warm):6.0f} ms ({min(warm):.0f} to {max(warm):.0f})"
    print(
        f"{name:34} prepare {1000 * preparing:5.0f} ms   cold {1000 * cold:6.0f} ms   warm {spread}{ratio}",
        flush=True,
    )


def adult(path):
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file))
    X = np.array([[float(row[name]) for name in ("age", "education-num", "hours-per-week")] for row in rows])
    return (X - X.mean(axis=0)) / X.std(axis=0)


def main():
    rng = np.random.default_rng(0)
    small = np.round(rng.normal(size=(400, 2)), 1)
    for cells in (20, 100):  # compile
        assign(prepare(small), small[:cells], np.full(cells, 400 // cells))
    X = rng.normal(size=(65_536, 2))
    assign(prepare(X), X[:500].copy(), np.full(500, 131) + (np.arange(500) < 36))
    transport(small, small[:20], np.full(20, 20), np.full(20, 20), True)
    run("5000 points, 2-D, 100 cells", X[:5000], X[:100].copy(), True)
    run("5000 points, 2-D, 1000 cells", X[:5000], X[:1000].copy(), True)
    run("65 536 points, 2-D, 16 cells", X, X[:16].copy(), False)
    for n in (10_000, 100_000, 1_000_000):
        X = rng.normal(size=(n, 2))
        run(f"{n} points, 2-D, {n // 1000} cells", X, X[: n // 1000].copy(), n == 10_000)
    X = rng.normal(size=(100_000, 4))
    run("100 000 points, 4-D, 200 cells", X, X[:200].copy(), False)
    if len(sys.argv) > 1:
        X = adult(sys.argv[1])
        for k in (500, 2000):
            labels = MDAV(k=k).fit_predict(X)
            run(f"Adult, MDAV's centres, k = {k}", X, means(X, labels, labels.max() + 1), False)


if __name__ == "__main__":
    main()
