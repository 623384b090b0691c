"""Groups under privacy models against the best groups there are, on tables that are small enough to try all.

    python benchmarks/constrained_optimum.py [TABLES] [SEED]

Tables of 6 to 12 records with ties and gaps, k of 2 or 3 and one to three models. The optimum is the least SSE of
all partitions into groups of k or more, of any size, that keep the models; these are judged by the twin of the
tests. Way 1 is MDAV with its broken groups put right. Way 2 is `Refined` with one round, without any exact solver.
"""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from promises import Small, small_promised
from shoal import MDAV, Refined
from shoal.partition import sse_of
from shoal.search.promised import repaired
from shoal.search.weighted import alike

WAYS = ("1: MDAV, put right", "2: Refined, one round")


def losses_of(table: Small) -> list[float]:
    """The SSE of both ways."""
    X, k, rules = table.X, table.k, table.rules
    mended = repaired(X, MDAV(k=k).fit(X).labels_, None, alike(len(X), k, rules))
    searched = Refined(k=k, rounds=1, n_jobs=1).fit(X, rules=rules).labels_
    for labels in (mended, searched):
        groups = [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]
        if min(map(len, groups)) < k or not all(map(table.allowed, groups)):
            raise SystemExit(f"a group breaks a promise: {table}")
    return [sse_of(X, labels) for labels in (mended, searched)]


def main(tables: int, seed: int) -> None:
    """All tables, and what was found in them."""
    began, found, hits = perf_counter(), [], np.zeros(2)
    for number in range(seed, seed + tables):
        table = small_promised(number)
        optimum = table.optimum()
        losses = losses_of(table)
        best = [loss <= optimum * (1 + 1e-9) + 1e-9 for loss in losses]
        hits += best
        if optimum > 1e-9:  # else there is no percentage
            found.append([max(0.0, loss / optimum - 1) for loss in losses])
        if not best[1]:
            said = ", ".join(map(str, table.models))
            print(f"table {number}: n={len(table.X)}, k={table.k}, {losses[1]:.6g} and not {optimum:.6g}: {said}")
    none = tables - len(found)
    print(f"\n{tables} tables from seed {seed}; in {none} nothing need be lost; {perf_counter() - began:.0f} s\n")
    print("| way | the optimum, % of tables | mean excess, % | worst excess, % |\n|---|---|---|---|")
    for way, hit, excess in zip(WAYS, hits, np.array(found).T, strict=True):
        print(f"| {way} | {100 * hit / tables:.1f} | {100 * excess.mean():.2f} | {100 * excess.max():.1f} |")


if __name__ == "__main__":
    given = [int(each) for each in sys.argv[1:]]
    main(*(given + [300, 0][len(given) :]))
