"""No lower bound is above the optimum: 2000 random tables against brute force, 200 larger ones against Optimal.

    python benchmarks/bounds_safety.py [TABLES [LARGER [STAGE ...]]]

Of each table of 3 to 11 records every k from 2 to n is taken, by the stages that Shoal chooses and by each stage
alone, or only by those given, such as market. Every bound that is shown on the way counts. Runs end after a random
number of steps, and one in four is cut off by a signal instead, at any moment. The optimum is that of
tests/naive.py, in fractions, so that no bound may be above it by any rounding. The tables of 12 to 30 records are
compared with the SSE of `Optimal`. Two processes.
"""

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from bound_safety import KINDS, WAYS, bound_cut_off, exact_optimum, greatest_bound, rounding, table_of
from shoal import Optimal


def checked(number, larger, ways):
    """Of one table: the bounds counted by way, those above the optimum, and the parts of it that were reached."""
    rng = np.random.default_rng([number, larger])
    n = int(rng.integers(12, 31) if larger else rng.integers(3, 12))
    X = table_of(KINDS[number % len(KINDS)], n, rng)
    counts, above, reached = Counter(), [], []
    for k in range(2, n + 1) if not larger else [int(rng.integers(2, n // 2 + 1))]:
        optimum = Optimal(k=k, seconds=20).fit(X).sse_ if larger else exact_optimum(X, k)
        most = optimum * (1 + 1e-12) + rounding(X) if larger else optimum
        for way in ways:
            if rng.random() < 0.25:
                greatest = bound_cut_off(X, k, way, 0.3 * rng.random() ** 3)
            else:
                greatest, _ = greatest_bound(X, k, way, rng, int(10 ** rng.uniform(0, 2.3)))
            counts[way] += 1
            if greatest > most:
                above.append((number, k, way, greatest, float(optimum)))
            if 2 * k <= n and optimum > most - optimum:
                reached.append((way, greatest / float(optimum)))
    return counts, above, reached


def main(tables, larger, ways):
    wrong = 0
    for count, size, name in ((tables, False, "brute force"), (larger, True, "Optimal")):
        counts, reached = Counter(), {}
        with ProcessPoolExecutor(2) as pool:
            for more, above, parts in pool.map(
                partial(checked, larger=size, ways=ways), range(count), chunksize=5
            ):
                counts += more
                wrong += len(above)
                for case in above:
                    print("ABOVE", *case, flush=True)
                for way, part in parts:
                    reached.setdefault(way, []).append(part)
        print(f"{count} tables against {name}: {sum(counts.values())} bounds, {wrong} above the optimum")
        for way, parts in reached.items():
            quarters = ", ".join(f"{part:.4f}" for part in np.quantile(parts, (0.25, 0.5, 0.75, 1.0)))
            print(f"  {way}: bound / optimum, quartiles and the greatest: {quarters}")
    return wrong


if __name__ == "__main__":
    counts = [int(argument) for argument in sys.argv[1:3]]
    sys.exit(main(*counts, *[2000, 200][len(counts) :], sys.argv[3:] or list(WAYS)) > 0)
