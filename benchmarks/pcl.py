"""PCL against the published figures of its two papers; writes docs/methods/tables/pcl_*.md.

    python benchmarks/pcl.py            all sections, some minutes
    python benchmarks/pcl.py census     one of them: gaussian, adult, census, noisy, ...

Reductions are of the distortion (SSE) against MDAV on the same data. Data and published figures are read from
../shared (or where SHOAL_SHARED says).
"""

import os
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
sys.path.insert(0, str(ROOT / "tests" / "papers"))

from published import figures, points_of, zscores  # noqa: E402

from shoal import MDAV, PCL, VMDAV  # noqa: E402

PUBLISHED = figures(SHARED)
TABLES = ROOT / "docs" / "methods" / "tables"


def timed(model, X):
    begin = perf_counter()
    model.fit(X)
    return model, perf_counter() - begin


def write(name, header, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]
    TABLES.mkdir(exist_ok=True)
    (TABLES / f"pcl_{name}.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print(f"\n{name}", *lines, sep="\n", flush=True)


def gaussian_points(n, m, rho, seed):
    covariance = np.full((m, m), rho) + (1 - rho) * np.eye(m)
    return np.random.default_rng(seed).multivariate_normal(np.zeros(m), covariance, n, method="cholesky")


def reduction(X, k, **options):
    before, _ = timed(MDAV(k=k), X)
    after, seconds = timed(PCL(k=k, random_state=0, **options), X)
    return 100 * (1 - after.sse_ / before.sse_), seconds, after


def gaussian():
    """65 536 points in the plane, 16 cells; then 2 to 4 dimensions and 2 to 64 cells."""
    n, rows = 65_536, []
    reduction(gaussian_points(4096, 2, 0, 9), 256)
    for rho, published in ((0, "16"), (0.5, "11")):
        for solver, options in (
            ("transport", {}),
            ("levenberg-marquardt", {"cost_solver": "levenberg-marquardt", "speed": 0.5, "rounds": 40}),
        ):
            found = [reduction(gaussian_points(n, 2, rho, seed), 4096, **options)[:2] for seed in range(5)]
            gains, seconds = zip(*found, strict=True)
            spread = f"{min(gains):.1f} to {max(gains):.1f}"
            rows.append([rho, solver, f"{published} %", f"{np.mean(gains):.1f} %", spread, f"{max(seconds):.2f}"])
    write("gaussian", ["rho", "solver", "published", "mean of 5 seeds", "range", "slowest, s"], rows)
    rows = []
    for m in (2, 3, 4):
        for rho in (0, 0.5):
            X = gaussian_points(n, m, rho, 0)
            gains = [reduction(X, n // cells)[0] for cells in (2, 4, 8, 16, 32, 64)]
            rows.append([m, rho, *(f"{gain:.1f}" for gain in gains)])
    write("dimensions", ["dimensions", "rho", *(f"{cells} cells" for cells in (2, 4, 8, 16, 32, 64))], rows)


def adult():
    """Three attributes of Adult from MDAV, with the sizes of its groups."""
    table = pd.read_csv(SHARED / "data" / "adult.csv.gz")
    X = zscores(table[["age", "education-num", "hours-per-week"]].to_numpy(float))
    PCL(k=4000, sizes="start", start=MDAV(k=4000, until="3k")).fit(X)
    rows, total = [], 0.0
    for k in PUBLISHED["pcl_adult"]["k"]:
        before, _ = timed(MDAV(k=k, until="3k"), X)
        variable = min(VMDAV(k=k, gamma=gamma).fit(X).sse_ for gamma in (0, 0.1, 0.2, 0.4, 0.7, 1.1))
        after, seconds = timed(PCL(k=k, sizes="start", start=MDAV(k=k, until="3k")), X)
        total += seconds
        gains = [100 * (1 - after.sse_ / sse) for sse in (before.sse_, variable)]
        rows.append([k, f"{gains[0]:.1f} %", f"{gains[1]:.1f} %", f"{seconds:.2f}"])
    rows.append(["all", "", "", f"{total:.2f}"])
    write("adult", ["k", "below MDAV", "below VMDAV at its best gamma", "s"], rows)


def census():
    """Census with the defaults, five seeds."""
    table, X, rows = PUBLISHED["pcl_census"], points_of(SHARED, "census"), []
    PCL(k=50, random_state=9).fit(X)
    for k, mdav, published, seconds in zip(*(table[key] for key in ("k", "mdav", "pcl", "seconds")), strict=True):
        runs = [timed(PCL(k=k, random_state=seed), X) for seed in range(5)]
        losses = [model.information_loss_ / 100 for model, _ in runs]
        slowest = max(took for _, took in runs)
        rows.append([k, mdav, published, f"{min(losses):.4f}", f"{max(losses):.4f}", seconds, f"{slowest:.1f}"])
    write("census", ["k", "MDAV", "published", "best of 5 seeds", "worst", "published s", "slowest, s"], rows)


def noisy():
    """The noisy variation as published: 1000 points a cell, 150 rounds for the smallest k, 50 for the largest."""
    table, X, rows = PUBLISHED["pcl_census"], points_of(SHARED, "census"), []
    for k, published in zip(table["k"], table["pcl"], strict=True):
        rounds = 150 if k <= 10 else 100 if k <= 50 else 50
        model = PCL(k=k, noise="samples", noise_rounds=rounds, n_starts=1, random_state=0)
        numeric = PCL(
            cost_solver="levenberg-marquardt",
            **{name: value for name, value in model.get_params().items() if name != "cost_solver"},
        )
        cells = [k, published]
        for each in (model, numeric) if k >= 25 else (model,):
            each, seconds = timed(each, X)
            cells += [f"{each.information_loss_ / 100:.4f}", f"{seconds:.0f}"]
        rows.append([*cells, *[""] * (6 - len(cells))])
    write("noisy", ["k", "published", "exact solver", "s", "Levenberg-Marquardt", "s"], rows)


def plane(name, n, ks, **options):
    rows = []
    for kind in ("uniform", "gaussian"):
        gains = []
        for seed in range(10):
            rng = np.random.default_rng(seed)
            X = rng.random((n, 2)) if kind == "uniform" else rng.normal(size=(n, 2))
            gains.append(np.mean([reduction(X, k, **options)[0] for k in ks]))
        published = f"{100 * PUBLISHED['pcl_plane'][f'{name}_{kind}']:.0f} %"
        rows.append([kind, published, f"{np.mean(gains):.1f} %", f"{min(gains):.1f} to {max(gains):.1f}"])
    write(name, ["points", "published, typical", "mean of ten draws", "range over draws"], rows)


def clustering():
    """Section 5.2 of 2011: 10 000 points in 2 to 10 cells, ten draws."""
    plane("clustering", 10_000, [10_000 // cells for cells in range(2, 11)], n_starts=5)


def microaggregation():
    """The same for 250 points at k = 2 to 10."""
    plane("microaggregation", 250, list(range(2, 11)))


def levels():
    """Census with macrocells."""
    X, rows = points_of(SHARED, "census"), []
    for k in (5, 10):
        for hierarchy in (None, 540, 270, 135):
            begin = process_time()
            model = PCL(k=k, hierarchy=hierarchy, random_state=0).fit(X)
            seconds = process_time() - begin
            rows.append([k, hierarchy or "none", f"{model.information_loss_ / 100:.4f}", f"{seconds:.1f}"])
    write("levels", ["k", "macrocells of", "D", "CPU s"], rows)


def one_run(n, cells):
    """Rounds, CPU seconds and peak memory (MB) of 40 rounds on uniform points, in a process of its own."""
    PCL(k=50, rounds=3, noise="none").fit(np.random.default_rng(1).random((1000, 2)))
    X = np.random.default_rng(0).random((n, 2))
    begin = process_time()
    model = PCL(k=n // cells, rounds=40, tolerance=0, noise="none", n_starts=1).fit(X)
    return len(model.history_), process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def large():
    """Growth with n at 1000 records a cell and with the number of cells."""
    cases = [(n, n // 1000) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)]
    cases += [(200_000, cells) for cells in (10, 50, 200, 1000, 2000)]
    rows = []
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as fresh:
        for n, cells in cases:
            rounds, seconds, memory = fresh.submit(one_run, n, cells).result()
            rows.append([n, cells, n // cells, rounds, f"{seconds:.1f}", f"{memory:.0f}"])
    write("large", ["points", "cells", "k", "rounds", "CPU s", "peak memory, MB"], rows)


def hierarchy():
    """100 000 points at k = 5 by macrocells."""
    X = np.random.default_rng(0).random((100_000, 2))
    PCL(k=5, hierarchy=[1000, 500], n_starts=1, random_state=0).fit(X[:2000])
    rows = []
    for name, model in (
        ("MDAV", MDAV(k=5)),
        ("PCL, hierarchy=[10000, 500]", PCL(k=5, hierarchy=[10_000, 500], n_starts=1, random_state=0)),
    ):
        begin = process_time()
        model.fit(X)
        rows.append([name, f"{model.information_loss_:.5f}", f"{process_time() - begin:.1f}"])
    write("hierarchy", ["100 000 uniform points, k = 5", "loss, %", "CPU s"], rows)


SECTIONS = {
    f.__name__: f for f in (gaussian, adult, census, noisy, clustering, microaggregation, levels, large, hierarchy)
}

if __name__ == "__main__":
    for name in sys.argv[1:] or SECTIONS:
        SECTIONS[name]()
