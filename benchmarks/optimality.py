"""How far methods are from the optimum on small tables, beside the published figures; writes tables of the docs.

    python benchmarks/optimality.py          the comparison
    python benchmarks/optimality.py times    how long the optimum takes

The tables are drawn as in J. Domingo-Ferrer, F. Sebé and A. Solanas, A polynomial-time approximation to optimal
multivariate microaggregation, Computers and Mathematics with Applications 55 (2008) 714-732, Section 6, Tables 6
to 8: 16 records, 13 attributes. The draws are not theirs, so only averages can be compared.
"""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from sklearn.datasets import load_iris

import shoal

METHODS = ["MDAV", "MuApprox", "IMHM", "CBFS", "VMDAV", "TFRP"]
SETTINGS = {"MuApprox": {"random_state": 0}}

OUT = Path(__file__).parents[1] / "docs" / "methods" / "tables"
DRAWS = 20
K = [2, 3, 4, 5, 6]

# k: optimal SSE, SSE of mu-Approx, SSE of MDAV
NORMAL = {
    2: (59.52, 81.46, 68.48),
    3: (95.64, 120.39, 112.92),
    4: (113.28, 145.01, 125.77),
    5: (130.24, 157.65, 145.54),
    6: (153.17, 163.28, 166.06),
}
FIVE_CLUSTERS = {
    2: (109.68, 122.96, 197.88),
    3: (298.16, 325.73, 399.44),
    4: (443.34, 554.76, 458.62),
    5: (698.67, 1064.18, 698.67),
    6: (1064.18, 1064.18, 1154.03),
}
FOUR_CLUSTERS = {
    2: (119.06, 132.51, 335.84),
    3: (179.97, 179.97, 405.69),
    4: (537.08, 544.38, 559.72),
    5: (628.73, 964.24, 680.27),
    6: (964.24, 964.24, 1309.23),
}


def normal(rng):
    return rng.normal(size=(16, 13))


def five_clusters(rng):
    return np.concatenate([rng.normal(3 * c, 1, size=(size, 13)) for c, size in enumerate((2, 2, 3, 4, 5))])


def four_clusters(rng):
    return np.concatenate([rng.normal(4 * c, 1, size=(size, 13)) for c, size in enumerate((3, 4, 4, 5))])


DATA = [
    ("Table 6: no clusters, N(0, 1); published: five draws", normal, NORMAL),
    ("Table 7: clusters of 2, 2, 3, 4, 5 around 0, 3, ..., 12; published: one draw", five_clusters, FIVE_CLUSTERS),
    ("Table 8: clusters of 3, 4, 4, 5 around 0, 4, 8, 12; published: one draw", four_clusters, FOUR_CLUSTERS),
]


def optimum_of(X, k):
    model = shoal.Optimal(k=k).fit(X)
    assert model.proven_
    return model.sse_


def gap(tables, optima, name, k):
    """The mean SSE of a method above the mean optimum, as the paper has it."""
    models = [getattr(shoal, name)(k=k, **SETTINGS.get(name, {})).fit(X) for X in tables]
    return np.mean([model.sse_ for model in models]) / np.mean(optima) - 1


def rows_of(tables, published):
    for k in K:
        optima = [optimum_of(X, k) for X in tables]
        best, approx, mdav = published[k]
        yield [
            k,
            f"{np.mean(optima):.2f} ± {np.std(optima):.2f}",
            *(f"{100 * gap(tables, optima, name, k):.1f}" for name in METHODS),
            best,
            f"{100 * (mdav / best - 1):.1f}",
            f"{100 * (approx / best - 1):.1f}",
        ]


def main():
    header = ["k", "optimal SSE", *METHODS, "published optimum", "published MDAV", "published μ-Approx"]
    lines = []
    for title, draw, published in DATA:
        rng = np.random.default_rng(0)
        tables = [draw(rng) for _ in range(DRAWS)]
        lines += [f"**{title}.**", "", *markdown(header, rows_of(tables, published)), ""]
    lines += [
        f"Ours: {DRAWS} draws, seed 0, mean and standard deviation; methods in percent above the optimum.",
        "",
    ]
    write("optimality", lines)


def times():
    """The slowest of five draws of each kind, in seconds, once everything is compiled."""
    for k in (2, 6):
        optimum_of(np.random.default_rng(9).normal(size=(20, 3)), k)
    ks = range(2, 13)
    rows = []
    for n in (16, 20, 25):
        for name, draw in KINDS.items():
            slowest = []
            for k in ks:
                seconds = []
                for seed in range(5):
                    X = draw(np.random.default_rng(seed), n)
                    start = perf_counter()
                    optimum_of(X, k)
                    seconds.append(perf_counter() - start)
                slowest.append(f"{max(seconds):.2f}")
            rows.append([n, name, *slowest])
    write("optimal_times", [*markdown(["n", "data", *(f"k = {k}" for k in ks)], rows), ""])


def beyond():
    """What a minute proves of larger tables."""
    cases = [(n, m, k) for n, m, ks in BEYOND for k in ks]
    tables = [(f"Gaussian, {m} attributes", np.random.default_rng(1).normal(size=(n, m)), k) for n, m, k in cases]
    tables += [("Fisher's irises", load_iris().data, k) for k in (2, 3, 5)]
    rows = []
    for name, X, k in tables:
        start = perf_counter()
        model = shoal.Optimal(k=k, seconds=60).fit(X)
        gap = "proven" if model.proven_ else f"{100 * model.gap_:.2f} %"
        rows.append([len(X), name, k, f"{perf_counter() - start:.1f}", gap])
    write("optimal_beyond", [*markdown(["n", "data", "k", "seconds", "gap"], rows), ""])


BEYOND = [
    (40, 13, (5, 8, 10)),
    (60, 13, (3, 5)),
    (100, 13, (3, 4)),
    (100, 2, (3, 8)),
    (200, 13, (2, 3)),
    (500, 2, (3,)),
]


KINDS = {
    "Gaussian, 2 attributes": lambda rng, n: rng.normal(size=(n, 2)),
    "Gaussian, 13 attributes": lambda rng, n: rng.normal(size=(n, 13)),
    "6 different records": lambda rng, n: rng.normal(size=(6, 13))[rng.integers(0, 6, n)],
}


def markdown(header, rows):
    return ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]


def write(name, lines):
    (OUT / f"{name}.md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    if "times" in sys.argv:
        times()
        beyond()
    else:
        main()
