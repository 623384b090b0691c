"""The map of regrets: what `Auto` loses beside the best of all methods that are given the same time.

    python benchmarks/regrets.py FILE             all cells, under an hour; a line of JSON for each, kept in FILE
    python benchmarks/regrets.py FILE fitted      only those in even places; `others` for the rest
    python benchmarks/regrets.py FILE small       a fifth of the cells
    python benchmarks/regrets.py FILE tables      no cell: the tables of the docs, from the lines of FILE
    python benchmarks/regrets.py cliffs           the time of `Auto` while tables double
    python benchmarks/regrets.py versions         `Auto` of this version and of another one, whose folder `src` is
                                                  SHOAL_BEFORE; SHOAL_CONSTRAINED is a Python that has
                                                  k-means-constrained

A cell is a table and k. Cells that FILE has already are not done again, so an interrupted run resumes where it
stopped. `Auto` without `seconds` comes first. Then every rival gets the processor time that it took. A rival
counts if it takes 1.1 times that time at most, or 0.3 s more; a slower one is stopped. Clocks count processor
time, on one thread, so other work on the machine matters less. The regret is the loss of `Auto` by the lowest loss
of all that count, less 1. A rule may be changed for what cells in even places of the list show; those in odd
places tell what it is worth.

The data come from ../shared (or where SHOAL_SHARED says). docs/regrets.md says what the tables are.
"""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np

import shoal
from shoal import CBFS, DBA, IMHM, MDAV, PCL, TFRP, VMDAV, Auto, Blocked, PathMHM, Refined
from shoal.estimator import Microaggregator
from shoal.methods.auto import choose

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
sys.path[:0] = [str(ROOT / "tests" / "papers"), str(SHARED / "tools")]

import large  # noqa: E402
from published import points_of, zscores  # noqa: E402

TABLES = ROOT / "docs" / "methods" / "tables"
PART, LEAST = 1.1, 0.3
CELL = 1.2e-6  # seconds for a record and a cell in the first round of PCL
NUMBERS = ["age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"]


class Cell(NamedTuple):
    """A table and k."""

    data: str
    n: int
    m: int
    k: int

    def __str__(self) -> str:
        return f"{self.data} {self.n} x {self.m}, k = {self.k}"


def cells_of(data: str, *tables: tuple[int, int, tuple[int, ...]]) -> list[Cell]:
    """One for each k of each table."""
    return [Cell(data, n, m, k) for n, m, ks in tables for k in ks]


CELLS = [
    *cells_of("gauss", (10_000, 10, (5, 50, 100, 200, 2_000)), (100, 5, (3, 10)), (1_000, 5, (2, 20, 100, 400))),
    *cells_of("eia", (4_092, 11, (3, 50))),
    *cells_of("adult, numbers", (48_842, 6, (20, 100, 500)), (10_000, 6, (3, 50))),
    *cells_of("forest", (20_000, 10, (5, 200)), (1_000, 10, (5,)), (100_000, 10, (50,))),
    *cells_of("gauss", (5_000, 10, (3, 50, 1_000)), (5_000, 100, (5,)), (2_000, 20, (200,)), (1_000, 100, (5,))),
    *cells_of("uniform", (300, 2, (2,)), (3_000, 5, (100,)), (10_000, 2, (5,)), (50_000, 5, (30, 5_000))),
    *cells_of("large_census", (3_000, 13, (30,)), (20_000, 13, (10, 300)), (149_642, 13, (5,))),
    *cells_of("adult, all", (1_000, 0, (50,)), (20_000, 0, (5,))),
    *cells_of("heavy tails", (500, 4, (5,)), (10_000, 10, (5, 100)), (100_000, 5, (200,))),
    *cells_of("clusters", (500, 3, (50,)), (3_000, 10, (10,)), (30_000, 10, (100,)), (200_000, 3, (10,))),
    *cells_of("gauss", (20_000, 3, (10,)), (100_000, 10, (5, 50))),
    *cells_of("uniform", (1_000_000, 2, (5,))),
    *cells_of("forest", (1_000_000, 10, (5,))),
]


# Tables


def table(data: str, n: int, m: int) -> np.ndarray:
    """The z-scored points of a table."""
    rng = np.random.default_rng(n + m)
    if data == "gauss":
        return zscores(rng.normal(size=(n, m)))
    if data == "uniform":
        return zscores(rng.random((n, m)))
    if data == "heavy tails":
        return zscores(rng.standard_t(2.5, size=(n, m)))
    if data == "clusters":
        count = 30
        centres, widths = rng.normal(size=(count, m)), rng.lognormal(-2.0, 0.7, count)
        own = rng.choice(count, size=n, p=rng.dirichlet(np.ones(count)))
        return zscores(centres[own] + widths[own, None] * rng.normal(size=(n, m)))
    if data == "eia":
        return points_of(SHARED, data)
    return adult(data, n) if data.startswith("adult") else getattr(large, data)(n)


def adult(data: str, n: int) -> np.ndarray:
    """The first records of Adult: six numbers, or the points of all 14 attributes as a release has them."""
    import pandas as pd

    frame = pd.read_csv(SHARED / "data" / "adult.csv.gz").head(n)
    if data == "adult, numbers":
        return zscores(frame[NUMBERS].to_numpy(float))
    quasi = [name for name in frame if name != "income"]
    release = shoal.anonymize(
        frame, k=3, method="mdav", quasi_identifiers=quasi, confidential=["income"], gaps="blank"
    )
    return release.space.points


# Methods


class TooSlow(BaseException):
    """Time is up, which no method may catch."""


def stop(*_: object) -> None:
    raise TooSlow


def timed(model: Microaggregator, X: np.ndarray, limit: float = 0.0) -> tuple[float, float]:
    """The loss and the processor seconds of a fit; `TooSlow` beyond a limit."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    try:
        begin = process_time()
        labels = model._group(X, None)
        taken = process_time() - begin
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    if limit and taken > limit:
        raise TooSlow
    assert np.bincount(labels).min() >= model.k
    return shoal.Partition(X, labels, model.k).information_loss, taken


def rivals(n: int, k: int, seconds: float) -> Iterator[tuple[str, Microaggregator]]:
    """All that may lose less in so many seconds, by name."""
    block, whole = max(20_000, 2 * k), CELL * n * n / k < 2 * (seconds + LEAST)
    yield "MDAV, exchanges", Refined(k, MDAV(k=k), rounds=0, n_jobs=1)
    yield "blocks, 3 rounds", Blocked(MDAV(k=k), max_size=block, sweeps=3)
    yield "blocks, 10 rounds", Blocked(MDAV(k=k), max_size=block, sweeps=10)
    moved = Blocked(MDAV(k=k), max_size=block, sweeps=3, cell_rounds=12)
    if n >= 4 * k:
        yield "blocks, 12 rounds of PCL", moved
        yield "blocks, 40 rounds of PCL", Blocked(MDAV(k=k), max_size=block, sweeps=3, cell_rounds=40)
    if whole:
        plain = PCL(k=k, n_starts=1, noise="none", n_jobs=1)
        yield "PCL", plain
        yield "PCL, exchanges", Refined(k, plain, rounds=0, n_jobs=1)
        yield "PCL, then as long as there is time", Refined(k, plain, seconds, n_jobs=1)
        for starts in (1, 4):
            yield f"PCL, {starts} with noise", PCL(k=k, n_starts=starts, noise="jitter", n_jobs=1, random_state=0)
    for size in (5_000, 50_000):
        if n > max(size, 40 * k) and CELL * n * max(size, 40 * k) / k < 2 * (seconds + LEAST):
            plain = PCL(k=k, n_starts=1, noise="none", n_jobs=1)
            yield f"PCL in blocks of {size}, exchanges", Blocked(plain, max_size=max(size, 40 * k), sweeps=2)
    yield "Refined, as long as there is time", Refined(k, MDAV(k=k), seconds, n_jobs=1)
    if k >= 10 and n >= 4 * k:
        yield "12 rounds of PCL, then as long as there is time", Refined(k, moved, seconds, n_jobs=1)
    if n > 200_000 or k > 300:
        yield "auto, as long as there is time", Auto(k, seconds, n_jobs=1)
    yield "annealing, 0.1 of a round", Refined(k, MDAV(k=k), rounds=1, effort=0.1, n_jobs=1)
    if n <= 1_000:
        for kind in (CBFS, VMDAV, TFRP, DBA, PathMHM, IMHM):
            yield kind.__name__, kind(k=k)


def measured(cell: Cell) -> dict[str, object]:
    """The default and all rivals on a cell."""
    X = table(cell.data, cell.n, cell.m)
    n, m = X.shape
    model, chosen = Auto(cell.k, n_jobs=1), choose(n, list(range(m)), cell.k, n_jobs=1)
    loss, seconds = timed(model, X)
    if seconds < 0.5:
        seconds = statistics.median([seconds, *(timed(model, X)[1] for _ in range(2))])
    limit = max(PART * seconds, seconds + LEAST)
    found: dict[str, object] = {}
    for name, rival in rivals(n, cell.k, seconds):
        try:
            found[name] = timed(rival, X, limit)
        except TooSlow:
            found[name] = None
    return {
        "cell": str(cell), "m": m, "loss": loss, "seconds": seconds, "chosen": chosen.reason, "rivals": found
    }  # fmt: skip


def prepared() -> None:
    """Everything compiled or loaded; from here on all clocks count processor time, and so do limits of time."""
    from shoal.engines import timing
    from shoal.search import deadline

    signal.signal(signal.SIGPROF, stop)
    deadline.monotonic = process_time
    timing.perf_counter = process_time
    for n, k in ((400, 3), (400, 40), (400, 5), (6_000, 12), (700, 310)):
        X = zscores(np.random.default_rng(0).normal(size=(n, 3)))
        for model in (Auto(k, n_jobs=1), *(model for _, model in rivals(n, k, 0.2))):
            if n < 5_000 or isinstance(model, Auto | Refined | Blocked):
                model._group(X, None)


def chosen_on(place: int) -> bool:
    """Whether a rule may be changed for what the cell at this place of the list shows."""
    return place % 2 == 0


def regret(line: dict) -> tuple[float, str]:
    """What `Auto` loses more than the best that counts, and the name of that."""
    counted = [(found[0], name) for name, found in line["rivals"].items() if found is not None]
    best, name = min([*counted, (line["loss"], "auto")])
    return line["loss"] / best - 1 if best > 0.0 else 0.0, name


def run(path: Path, which: str) -> None:
    """The cells that are not in the file yet."""
    known = {str(each) for each, _ in kept(path)}
    prepared()
    for place, cell in enumerate(CELLS):
        left_out = {"fitted": not chosen_on(place), "others": chosen_on(place), "small": place % 5 > 0}
        if str(cell) in known or left_out.get(which, False):
            continue
        line = measured(cell)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        more, name = regret(line)
        print(f"{cell}: {line['loss']:.3f} % in {line['seconds']:.2f} s, {100 * more:+.2f} % ({name})", flush=True)


def kept(path: Path) -> Iterator[tuple[Cell, dict]]:
    """The cells of a file with their lines, the last one of each, in the order of the list."""
    if not path.exists():
        return
    lines = {line["cell"]: line for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    for cell in CELLS:
        if str(cell) in lines:
            yield cell, lines[str(cell)]


def tables(path: Path) -> None:
    """The tables of the docs."""
    rows, halves = [], {True: [], False: []}
    for cell, line in kept(path):
        more, name = regret(line)
        half = chosen_on(CELLS.index(cell))
        halves[half].append(100 * more)
        best = min([line["loss"], *(found[0] for found in line["rivals"].values() if found is not None)])
        rows.append(
            f"| {cell.data} | {cell.n} | {line['m']} | {cell.k} | {line['loss']:.3f} | {line['seconds']:.2f} "
            f"| {best:.3f} | {name if more > 0.0 else ''} | {100 * more:.2f} | {'even' if half else 'odd'} |"
        )
    head = "| table | n | m | k | loss of `Auto`, % | s | best, % | by | regret, % | place |\n"
    write("regrets", head + "|---|--:|--:|--:|--:|--:|--:|---|--:|---|\n" + "\n".join(rows))
    rows = [
        f"| {name} | {len(each)} | {max(each):.2f} | {statistics.mean(each):.2f} | {sum(r > 3 for r in each)} |"
        for name, each in (("in even places", halves[True]), ("in odd places", halves[False]))
        if each
    ]
    head = "| cells | number | worst, % | mean, % | above 3 % |\n|---|--:|--:|--:|--:|\n"
    write("regrets_in_short", head + "\n".join(rows))


def write(name: str, content: str) -> None:
    (TABLES / f"{name}.md").write_text(content + "\n", encoding="utf-8")
    print(content)


DOUBLED = [
    (10, 500, (2_500, 5_000, 10_000, 20_000, 40_000)),
    (10, 5, (1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)),
    (10, 50, (2_000, 4_000, 8_000, 16_000)),
    (100, 5, (1_000, 2_000, 4_000, 8_000)),
]


def cliffs() -> None:
    """The time of `Auto`, the median of three, while tables double."""
    prepared()
    rows = []
    for m, k, sizes in DOUBLED:
        before = 0.0
        for n in sizes:
            X = table("gauss", n, m)
            seconds = statistics.median(timed(Auto(k, n_jobs=1), X)[1] for _ in range(3))
            rows.append(f"| {n} | {m} | {k} | {seconds:.2f} | {f'{seconds / before:.2f}' if before else ''} |")
            print(rows[-1], flush=True)
            before = seconds
    head = "| n | m | k | s | by that of half the records |\n|--:|--:|--:|--:|--:|\n"
    write("regrets_cliffs", head + "\n".join(rows))


VERSIONS = [
    *cells_of("gauss", (10_000, 10, (50, 100, 200))),
    *cells_of("forest", (20_000, 10, (200,))),
    *cells_of("adult, numbers", (48_842, 6, (100,))),
    *cells_of("eia", (4_092, 11, (50,))),
    *cells_of("gauss", (5_000, 10, (5,)), (10_000, 10, (5,)), (5_000, 100, (5,))),
]
CONSTRAINED = """
import sys, numpy as np
from time import process_time
from k_means_constrained import KMeansConstrained
X, k = np.load(sys.argv[1]), int(sys.argv[2])
begin = process_time()
labels = KMeansConstrained(len(X) // k, size_min=k, n_init=1, random_state=0).fit(X).labels_
taken = process_time() - begin
assert np.bincount(labels).min() >= k
means = np.array([X[labels == group].mean(axis=0) for group in range(labels.max() + 1)])
print(100 * np.square(X - means[labels]).sum() / np.square(X - X.mean(axis=0)).sum(), taken)
"""


def versions() -> None:
    """Both versions and k-means-constrained on the same tables, each fit in a process of its own."""
    constrained = os.environ.get("SHOAL_CONSTRAINED")
    rows = []
    for cell in VERSIONS:
        fit = [sys.executable, __file__, "fit", *map(str, cell)]
        found = [said([*fit, "auto"], os.environ["SHOAL_BEFORE"]), said([*fit, "auto"]), said([*fit, "pcl"])]
        if constrained and str(cell).startswith("gauss 10000 x 10, k = ") and cell.k >= 50:
            with tempfile.TemporaryDirectory() as folder:
                path = str(Path(folder) / "points.npy")
                np.save(path, table(cell.data, cell.n, cell.m))
                found.append(said([constrained, "-c", CONSTRAINED, path, str(cell.k)]))
        figures = " | ".join(f"{loss:.3f} in {seconds:.2f} s" for loss, seconds in found)
        rows.append(f"| {cell} | {figures} |" + " |" * (4 - len(found)))
        print(rows[-1], flush=True)
    head = "| table | `Auto` before | `Auto` | PCL | k-means-constrained |\n|---|--:|--:|--:|--:|\n"
    write("regrets_versions", head + "\n".join(rows))


def said(command: list[str], source: str | None = None) -> tuple[float, float]:
    """The loss and the processor seconds that a command prints last."""
    environment = os.environ | ({} if source is None else {"PYTHONPATH": source})
    text = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    loss, seconds = text.splitlines()[-1].split()
    return float(loss), float(seconds)


def fit(data: str, n: str, m: str, k: str, name: str) -> None:
    """One fit, after one of some of the records that loads what is compiled."""
    X = table(data, int(n), int(m))
    model = Auto(int(k), n_jobs=1) if name == "auto" else PCL(int(k), n_starts=1, noise="none", n_jobs=1)
    model._group(X[: min(len(X), 20 * int(k) + 400)], None)
    print(*timed(model, X))


if __name__ == "__main__":
    if sys.argv[1:] == ["cliffs"]:
        cliffs()
    elif sys.argv[1:] == ["versions"]:
        versions()
    elif sys.argv[1:2] == ["fit"]:
        fit(*sys.argv[2:])
    elif sys.argv[2:] == ["tables"]:
        tables(Path(sys.argv[1]))
    elif len(sys.argv) > 1:
        run(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "all")
    else:
        sys.exit(__doc__)
