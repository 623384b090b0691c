"""Exact MDAV on the search tree beside linear scans, in one run on one thread.

    python benchmarks/mdav.py          the whole table, growth, first call, progress (about six minutes)
    python benchmarks/mdav.py short    20 000 records of each

Writes benchmarks/mdav.md and docs/pictures/mdav_growth.svg. The data come from ../shared/tools/large.py (or where
SHOAL_SHARED says). The row scan is measured on 60 000 records and extrapolated by n^2. Both form groups only;
`fit` also takes the centroids, the SSE and the fingerprints of the records. Each is run twice in turn, and the
faster of its two runs counts: the machines are shared.
"""

import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scans import lane_scan, row_scan

from shoal import MDAV
from shoal.kernels.sums.exact import centroid
from shoal.methods.mdav import pairs_of_groups
from shoal.steps.peeling import Peeling

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
KS = (2, 5, 10, 50, 100)
SCANNED = 60_000
PUBLISHED = {  # seconds of Rebollo-Monedero et al. (2019), Tables I and III, on the data that ours are shaped like
    "large_census": (987, 394, 197, 40, 20),
    "forest": (14400, 5640, 2853, 570, 285),
}


def seconds(work, *arguments):
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def mdav(X, k):
    return MDAV(k=k)._group(X, None)


def same_pairs(labels, pairs):
    grouped = pairs >= 0
    return bool(np.array_equal(labels[grouped], pairs[grouped]))


def table(large, short):
    """A row for each data set and k."""
    lines = [
        "| data | records | k | groups s | row scan s | ratio | same | fit s | published s | ratio to fit |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in ("large_census", "forest", "uniform_plane", "isotropic"):
        X = getattr(large, name)(20_000) if short else getattr(large, name)()
        small = X[: min(SCANNED, len(X))]
        for at, k in enumerate(KS):
            runs = [(seconds(mdav, X, k), seconds(row_scan, small, k)) for _ in range(2)]  # in turn, the faster
            ours, scan = (min(run[side][0] for run in runs) for side in range(2))
            fit, model = seconds(MDAV(k=k).fit, X)
            assert np.array_equal(runs[0][0][1], model.labels_)
            same = same_pairs(mdav(small, k), runs[0][1][1])
            whole = scan * (len(X) / len(small)) ** 2
            published = PUBLISHED.get(name, (None,) * 5)[at]
            then = f"{published} | {published / fit:.0f}" if published and not short else " | "
            mark = "≈ " if len(small) < len(X) else ""
            shape = f"{len(X)} × {X.shape[1]}"
            lines.append(
                f"| {name} | {shape} | {k} | {ours:.2f} | {mark}{whole:.1f} | {whole / ours:.0f} | "
                f"{'yes' if same else 'NO'} | {fit:.2f} | {then} |"
            )
            print(lines[-1], flush=True)
    return lines


def against_lanes(large, short):
    """Where there is no structure: the tree beside a scan of sixteen records at a time."""
    X = large.isotropic(20_000) if short else large.isotropic()
    lines = ["| isotropic, k | tree s | lane scan s | tree / better |", "|---|---|---|---|"]
    for k in KS:
        tree, labels = seconds(mdav, X, k)
        lanes, pairs = seconds(lane_scan, X, k)
        same = "" if same_pairs(labels, pairs) else " (OTHER GROUPS)"
        lines.append(f"| {k} | {tree:.2f} | {lanes:.2f} | {tree / min(tree, lanes):.2f}{same} |")
        print(lines[-1], flush=True)
    return lines


def growth(large, short):
    """Seconds against n on forest at k = 10, with a picture."""
    from matplotlib.figure import Figure

    sizes = [5_000, 10_000, 20_000] if short else [72_000, 145_000, 290_000, 581_012]
    times = [min(seconds(mdav, large.forest(n), 10)[0] for _ in range(2)) for n in sizes]
    exponent = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    line = f"forest, k = 10: {', '.join(f'{n} in {t:.2f} s' for n, t in zip(sizes, times, strict=True))}; "
    line += f"time grows with n to the power {exponent:.2f}."
    print(line, flush=True)
    if not short:
        figure = Figure(figsize=(5, 3.2), layout="constrained")
        axes = figure.subplots()
        axes.loglog(sizes, times, "o-", color="#0f766e", label=f"Shoal, slope {exponent:.2f}")
        scan = times[0] * (np.array(sizes) / sizes[0]) ** 2
        axes.loglog(sizes, scan, "--", color="#9aa5b1", label="slope 2, a scan")
        axes.set_xlabel("records (forest, 10 attributes, k = 10)")
        axes.set_ylabel("seconds")
        axes.legend(frameon=False)
        (ROOT / "docs" / "pictures").mkdir(exist_ok=True)
        figure.savefig(ROOT / "docs" / "pictures" / "mdav_growth.svg", metadata={"Date": None})
    return [line]


def drift(large, short):
    """The running centroid against one computed afresh with math.fsum, and against a plain running sum."""
    X = large.forest(20_000) if short else large.forest()
    peeling, checked, equal, worst = Peeling(X, 10, None), 0, 0, 0.0
    plain, centre = X.sum(axis=0), np.empty(X.shape[1])
    before = peeling.labels.copy()
    while peeling.free >= 20:
        peeling.run(pairs_of_groups, floor=20, most=2000)
        for record in np.flatnonzero((peeling.labels >= 0) & (before < 0)):
            plain -= X[record]
        before = peeling.labels.copy()
        free = np.flatnonzero(peeling.labels < 0)
        if len(free) == 0:
            break
        centroid(peeling.sums, len(free), centre, np.empty(1, np.int64))
        afresh = np.array([math.fsum(column) / len(free) for column in X[free].T.tolist()])
        checked += 1
        equal += np.array_equal(centre, afresh)
        worst = max(worst, float(np.abs(plain / len(free) - afresh).max()))
    line = (
        f"Running centroid of {len(X)} records, k = 10, against one computed afresh with `math.fsum`: equal to "
        f"the last bit at {equal} of {checked} checkpoints; a plain running sum would be off by up to {worst:.0e}."
    )
    print(line, flush=True)
    return [line]


def first_call():
    """The first call in a fresh process, with an empty and with a filled compilation cache."""
    code = (
        "import time; start = time.perf_counter(); import numpy as np; from shoal import MDAV; "
        "X = np.random.default_rng(0).normal(size=(1000, 5)); loaded = time.perf_counter(); "
        "MDAV(k=3).fit(X); end = time.perf_counter(); print(loaded - start, end - loaded)"
    )
    lines = []
    with tempfile.TemporaryDirectory() as cache:
        for state in ("empty", "filled"):
            environment = os.environ | {"NUMBA_CACHE_DIR": cache}
            done = subprocess.run(
                [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
            )
            loading, call = map(float, done.stdout.split())
            lines.append(
                f"First call in a fresh process, compilation cache {state}: {call:.1f} s, "
                f"after {loading:.1f} s of imports."
            )
            print(lines[-1], flush=True)
    return lines


def progress_cost(large, short):
    """The same run with and without a callback, in turn, the fastest of each."""
    X = large.forest(20_000 if short else 145_000)
    plain, called, calls = [], [], []
    for _ in range(5):
        plain.append(seconds(MDAV(k=10).fit, X)[0])
        calls.clear()
        start = time.perf_counter()
        MDAV(k=10).fit(X, progress=lambda done, total: calls.append(done))
        called.append(time.perf_counter() - start)
    each = seconds(lambda: [(lambda done, total: None)(i, i) for i in range(100_000)])[0] / 100_000
    share = 100 * each * len(calls) / min(plain)
    line = (
        f"Progress: {len(calls)} calls in a run of {min(plain):.2f} s (with them {min(called):.2f} s); "
        f"the calls themselves take {share:.5f} % of it."
    )
    print(line, flush=True)
    return [line]


def big():
    """5 000 000 records in a process of their own: seconds and peak memory."""
    path = Path(tempfile.gettempdir()) / "shoal_forest_5000000.npy"
    if not path.exists():
        sys.path.insert(0, str(SHARED / "tools"))
        import large

        np.save(path, large.forest(5_000_000))
    done = subprocess.run([sys.executable, __file__, "big", str(path)], capture_output=True, text=True, check=True)
    path.unlink()
    print(done.stdout, end="", flush=True)
    return done.stdout.splitlines()


def peak_memory():
    """The most megabytes this process has held; getrusage would count those of the process that started it."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def measure_big(path):
    X = np.load(path)
    taken, model = seconds(MDAV(k=10).fit, X)
    labels = model.labels_
    peak = peak_memory()
    allowed = 3 * X.nbytes / 2**20 + 300
    print(
        f"forest 5 000 000 × 10, k = 10: {taken:.0f} s, peak memory {peak:.0f} MB "
        f"(input {X.nbytes / 2**20:.0f} MB, three times that and 300 MB are {allowed:.0f} MB), "
        f"smallest group {np.bincount(labels).min()}."
    )


def main():
    if sys.argv[1:2] == ["big"]:
        measure_big(sys.argv[2])
        return
    short = sys.argv[1:] == ["short"]
    if not (SHARED / "tools" / "large.py").is_file():
        sys.exit(f"the generator of large data is not at {SHARED / 'tools'}; set SHOAL_SHARED to its folder")
    sys.path.insert(0, str(SHARED / "tools"))
    import large

    warm = np.random.default_rng(0).normal(size=(400, 3))
    for method in (mdav, row_scan, lane_scan):
        method(warm, 3)
    parts = [
        table(large, short),
        against_lanes(large, short),
        growth(large, short),
        drift(large, short),
        first_call(),
        progress_cost(large, short),
    ]
    if not short:
        parts.append(big())
        text = "\n\n".join("\n".join(part) for part in parts)
        (ROOT / "benchmarks" / "mdav.md").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
