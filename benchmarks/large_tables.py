"""Blocks, exchanges across their borders, and `Auto` on tables of up to ten million records.

    python benchmarks/large_tables.py                 all sections, about an hour
    python benchmarks/large_tables.py blocks jobs     some of them: blocks, eia, jobs, exchanges, growth, versions

Section `versions` needs a second version of Shoal: SHOAL_BEFORE is the folder `src` of its checkout, and both run
in turn, each in a process of its own. SHOAL_RECORDS is the number of records of its large table, a million unless
given.

Writes docs/methods/tables/large_*.md and docs/pictures/large_growth.svg. The data come from
../shared/tools/large.py (or where SHOAL_SHARED says), EIA from ../shared/data. Every fit comes after one of 2000
records, so that nothing is compiled in the time taken; where memory is given, it is the peak of a process of
its own, data included. Two threads unless said otherwise.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import matplotlib
import numpy as np
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
sys.path[:0] = [str(ROOT / "tests" / "papers"), str(SHARED / "tools")]

import large  # noqa: E402
from published import points_of  # noqa: E402

from shoal import IMHM, MDAV, Auto, Blocked  # noqa: E402
from shoal.search.exchanges import Exchanges  # noqa: E402

TABLES, PICTURES = ROOT / "docs" / "methods" / "tables", ROOT / "docs" / "pictures"
JOBS = 2
SIZES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)

MODELS = {
    "MDAV": lambda k: MDAV(k=k),
    "auto": lambda k: Auto(k=k, n_jobs=JOBS),
    "Blocked IMHM": lambda k: Blocked(IMHM(k=k), max_size=500, n_jobs=JOBS),
    "MDAV, 1 round": lambda k: Blocked(MDAV(k=k), sweeps=1),
    "MDAV, 2 rounds": lambda k: Blocked(MDAV(k=k), sweeps=2),
}


def lines_of(header, rows):
    return ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]


def write(name, header, rows):
    lines = lines_of(header, rows)
    (TABLES / f"large_{name}.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print(f"\n{name}", *lines, sep="\n", flush=True)


def fitted(model, X):
    """Loss and seconds of a warm fit."""
    model.fit(X[:2000])
    begin = perf_counter()
    model.fit(X)
    return model, perf_counter() - begin


def in_a_process_of_its_own(name, data, n, k, source=None):
    """Loss, seconds and peak memory in GB; `source` is the folder of another version."""
    command = [sys.executable, __file__, "fit", name, data, str(n), str(k)]
    environment = os.environ | ({} if source is None else {"PYTHONPATH": source})
    said = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    result = json.loads(said.splitlines()[-1])
    print(name, data, n, k, result, flush=True)
    return result


def points_for(data, n):
    """The points of a table, from the disk where it is large: to make them takes more memory than a fit."""
    if data == "eia":
        return points_of(SHARED, "eia")
    if data == "gauss":
        return np.random.default_rng(0).normal(size=(n, 10))
    if n < 1_000_000:
        return getattr(large, data)(n)
    path = Path(tempfile.gettempdir()) / f"shoal_{data}_{n}.npy"
    if not path.exists():
        subprocess.run([sys.executable, __file__, "make", data, str(n), str(path)], check=True)
    return np.load(path)


def fit(name, data, n, k):
    """One fit, its figures as JSON on the last line; of small tables the fastest of nine."""
    X, model = points_for(data, int(n)), MODELS[name](int(k))
    model.fit(X[:50_000])
    seconds, processor = [], []
    for _ in range(9 if len(X) <= 50_000 else 1):
        begin = perf_counter(), process_time()
        model.fit(X)
        seconds.append(perf_counter() - begin[0])
        processor.append(process_time() - begin[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    said = {"loss": model.information_loss_, "seconds": min(seconds), "processor": min(processor), "memory": peak}
    print(json.dumps(said | {"reason": getattr(model, "reason_", "")}))


def blocks():
    """The loss of blocking before and after the exchanges, by block size and way of cutting."""
    rows = []
    for data, n in (("large_census", 149_642), ("forest", 200_000)):
        X = getattr(large, data)(n)
        whole, seconds = fitted(MDAV(k=5), X)
        rows.append([data, n, "MDAV, one block", "", f"{seconds:.1f}", f"{whole.information_loss_:.3f}"])
        cases = [("kd", size) for size in (50_000, 20_000, 10_000, 2_000)]
        cases += [(by, 10_000) for by in ("mdav", "pcl", "pca", "zscore")]
        for by, size in cases:
            model, seconds = fitted(Blocked(MDAV(k=5), max_size=size, by=by, sweeps=3, n_jobs=JOBS), X)
            change = [f"{100 * (error / whole.sse_ - 1):+.1f} %" for error in model.history_]
            rows.append([data, n, f"by {by}", size, f"{seconds:.1f}", f"{model.information_loss_:.3f}", *change])
    rows = [row + [""] * (10 - len(row)) for row in rows]
    header = ["data", "records", "blocks", "of", "seconds", "loss %", "before", "round 1", "round 2", "round 3"]
    write("blocks", header, rows)


NPB = {  # Table 3 of paper 002: the loss by k and the number of blocks
    4: {3: 0.37499, 4: 0.52236, 5: 0.75761, 6: 0.94998, 10: 2.1788, 25: 7.3893, 50: 12.9248, 100: 19.9918},
    10: {3: 0.38089, 4: 0.53739, 5: 0.84493, 6: 1.0089, 10: 2.2247, 25: 7.5387, 50: 13.2641},
}


def eia():
    """Blocked IMHM on EIA against Table 3 of paper 002."""
    X = points_of(SHARED, "eia")
    rows = []
    for count, losses in NPB.items():
        for k, published in losses.items():
            model, seconds = fitted(Blocked(IMHM(k=k), blocks=count, by="mdav", n_jobs=JOBS), X)
            before = 100 * model.history_[0] / model.partition_.sst
            rows.append([count, k, published, f"{before:.5f}", f"{model.information_loss_:.5f}", f"{seconds:.2f}"])
    write("eia", ["blocks", "k", "published", "before the exchanges", "after", "seconds"], rows)


def jobs():
    """Two threads against one, in turn, the faster of three runs each."""
    rows = []
    for data, n in (("large_census", 149_642), ("forest", 581_012)):
        X = getattr(large, data)(n)
        for inside in (MDAV(k=5), IMHM(k=5)):
            size = 20_000 if isinstance(inside, MDAV) else 2_000
            seconds, labels = {1: [], 2: []}, {}
            for count in (1, 2) * (3 if isinstance(inside, MDAV) else 1):
                model, taken = fitted(Blocked(inside, max_size=size, n_jobs=count), X)
                seconds[count].append(taken)
                labels[count] = model.labels_
            one, two = min(seconds[1]), min(seconds[2])
            same = "the same" if np.array_equal(labels[1], labels[2]) else "DIFFERENT"
            name = type(inside).__name__
            rows.append([data, n, name, size, f"{one:.1f}", f"{two:.1f}", f"{one / two:.2f}", same])
    header = ["data", "records", "method", "block", "one job, s", "two jobs, s", "ratio", "groups"]
    write("jobs", header, rows)


def exchanges():
    """Rounds of exchanges from MDAV: loss against time."""
    rows = []
    for data, n in (("large_census", 149_642), ("forest", 10_000), ("forest", 100_000), ("forest", 1_000_000)):
        X = getattr(large, data)(n)
        start, mdav = fitted(MDAV(k=5), X)
        Exchanges(5, JOBS).round(X[:2000], np.arange(2000) // 5, 1.0, 0)
        begin, cells = perf_counter(), []
        for _, error in Exchanges(5, JOBS).rounds(X, start.labels_, 4):
            cells.append(f"{100 * (error / start.sse_ - 1):+.1f} % ({perf_counter() - begin:.1f} s)")
        rows.append([data, n, f"{mdav:.1f}", f"{start.information_loss_:.3f}", *cells[1:]])
    write("exchanges", ["data", "records", "MDAV, s", "loss %", *(f"round {r}" for r in range(1, 5))], rows)


def growth():
    """Seconds from 100 000 to 10 000 000 records; loss and memory at a million and ten."""
    found = {name: [in_a_process_of_its_own(name, "forest", n, 5) for n in SIZES] for name in MODELS}
    rows = []
    for place, n in enumerate(SIZES):
        for name, results in found.items():
            loss, whole = results[place]["loss"], found["MDAV"][place]["loss"]
            cells = [f"{results[place]['seconds']:.1f}", f"{results[place]['memory']:.2f}"]
            rows.append(
                [f"{n:,}".replace(",", " "), name, *cells, f"{loss:.4f}", f"{100 * (loss / whole - 1):+.1f} %"]
            )
    write("growth", ["records", "method", "seconds", "peak memory, GB", "loss %", "against MDAV"], rows)
    draw_growth({name: [result["seconds"] for result in results] for name, results in found.items()})


def draw_growth(seconds):
    matplotlib.rcParams["svg.fonttype"] = "none"
    figure = Figure(figsize=(6.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for (name, taken), colour in zip(seconds.items(), ("#b45309", "#0f766e", "#6d28d9"), strict=True):
        exponent = np.polyfit(np.log(SIZES), np.log(taken), 1)[0]
        axes.loglog(SIZES, taken, "o-", color=colour, label=f"{name}, n^{exponent:.2f}")
    axes.set(xlabel="records", ylabel="seconds", title="forest, 10 attributes, k = 5")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(PICTURES / "large_growth.svg", metadata={"Date": None})


def versions():
    """This version and another one, in turn: a large table, large groups, and small tables in milliseconds."""
    before, n = os.environ["SHOAL_BEFORE"], int(os.environ.get("SHOAL_RECORDS", 1_000_000))
    cases = [("auto", "forest", n, 5), ("MDAV", "gauss", 50_000, 1000)]
    cases += [(name, "eia", 4092, k) for name in ("MDAV", "MDAV, 1 round", "MDAV, 2 rounds") for k in (3, 5, 10)]
    rows = []
    for case in cases:
        found = [in_a_process_of_its_own(*case, source) for source in (before, None)]
        rows.append([*case, *(cell for each in found for cell in figures_of(each)), ratio(*found)])
    if n <= 1_000_000:
        whole = in_a_process_of_its_own("MDAV", "forest", n, 5)
        rows.append(["MDAV", "forest", n, 5, *[""] * 4, *figures_of(whole), ""])
    figures = ["loss %", "seconds", "processor s", "GB"]
    header = ["method", "data", "records", "k", *(f"before: {each}" for each in figures), *figures, "processor"]
    print(*lines_of(header, rows), sep="\n", flush=True)  # no table of the docs: these know one version


def figures_of(result):
    times = (f"{result[clock]:.{3 if result['seconds'] < 1 else 1}f}" for clock in ("seconds", "processor"))
    return [f"{result['loss']:.4f}", *times, f"{result['memory']:.2f}"]


def ratio(before, after):
    """The processor time by that of the other version: it says more than the clock on a machine that is shared."""
    return f"{after['processor'] / before['processor']:.2f}"


SECTIONS = {f.__name__: f for f in (blocks, eia, jobs, exchanges, growth, versions)}

if __name__ == "__main__":
    if sys.argv[1:2] == ["fit"]:
        fit(*sys.argv[2:])
    elif sys.argv[1:2] == ["make"]:
        np.save(sys.argv[4], getattr(large, sys.argv[2])(int(sys.argv[3])))
    else:
        for section in sys.argv[1:] or [name for name in SECTIONS if name != "versions"]:
            SECTIONS[section]()
