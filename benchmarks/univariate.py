"""Optimal univariate groups: seconds for 1 000 000 values at several k, and the cost beside another program's.

    python benchmarks/univariate.py

The reference is the dynamic program that looks at all k starts of a cut, O(n k); SMAWK takes O(n). Both run on
sorted values. Seconds are those of the processor, the fastest of five runs, because the machines are shared; all
of it is one thread. `groups` sorts and groups as the method does, `fit` also takes centroids, SSE and
fingerprints. Where microagg1d is installed (it is no dependency of Shoal), the costs of its groups and of ours,
summed anew with math.fsum, stand side by side: those of its method "staggered", because "simple", which version
0.4.0 chooses for small k, is not optimal.
"""

import math
import time
from itertools import pairwise

import numpy as np

from shoal import UnivariateOptimal
from shoal.steps.line import SCANNED, optimal_groups, shortest_path

N = 1_000_000
RUNS = 5
KS = (3, 5, 10, 20, 50, 60, 70, 100, 1000, 10_000, 100_000)
SCANNED_HERE = 1000  # beyond this k the reference takes minutes


def fastest(work, *arguments):
    taken = []
    for _ in range(RUNS):
        start = time.process_time()
        result = work(*arguments)
        taken.append(time.process_time() - start)
    return min(taken), result


def speed(rng):
    values = rng.normal(size=N)
    ordered = np.sort(values)
    print(f"{N} normal values; a scan up to k = {SCANNED}, then SMAWK\n")
    print("| k | O(n k) scan s | SMAWK s | groups s | fit s | cost, scan / SMAWK - 1 |\n|---|---|---|---|---|---|")
    for k in KS:
        slow, difference = "", ""
        smawk, (_, cost) = fastest(shortest_path, ordered, k, False)
        if k <= SCANNED_HERE:
            scan, (_, other) = fastest(shortest_path, ordered, k, True)
            slow, difference = f"{scan:.2f}", f"{other / cost - 1:.0e}"
        groups, _ = fastest(optimal_groups, values, k)
        fit, _ = fastest(UnivariateOptimal(k=k).fit, values[:, None])
        print(f"| {k} | {slow} | {smawk:.2f} | {groups:.2f} | {fit:.2f} | {difference} |", flush=True)


def cost_of(ordered, sizes):
    """The SSE of consecutive groups of sorted values, with exact sums."""
    cuts = np.concatenate([[0], np.cumsum(sizes)])
    total = []
    for a, b in pairwise(cuts):
        mean = math.fsum(ordered[a:b]) / (b - a)
        total.append(math.fsum((value - mean) ** 2 for value in ordered[a:b]))
    return math.fsum(total)


def against_microagg1d(rng):
    try:
        from microagg1d import univariate_microaggregation
    except ImportError:
        print("\nmicroagg1d is not installed: no comparison of costs")
        return
    print("\n100 000 values\n\n| values | k | cost | microagg1d's | ours / theirs - 1 |\n|---|---|---|---|---|")
    for name, values in {
        "normal": rng.normal(size=100_000),
        "exponential": rng.exponential(size=100_000),
        "whole numbers to 5000": rng.integers(0, 5000, 100_000).astype(float),
        "normal + 1e9": 1e9 + rng.normal(size=100_000),
    }.items():
        ordered = np.sort(values)
        for k in (2, 3, 10, 100, 1000, 10_000):
            ours = cost_of(ordered, np.bincount(optimal_groups(values, k)))
            theirs = cost_of(ordered, np.bincount(univariate_microaggregation(ordered, k, method="staggered")))
            ratio = ours / theirs - 1 if theirs else ours
            print(f"| {name} | {k} | {ours:.12g} | {theirs:.12g} | {ratio:.1e} |", flush=True)


if __name__ == "__main__":
    generator = np.random.default_rng(0)
    UnivariateOptimal(k=2).fit(generator.normal(size=(100, 1)))  # compiled before anything is timed
    speed(generator)
    against_microagg1d(generator)
