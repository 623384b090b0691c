"""Section V of Rebollo-Monedero et al. (2019) repeated, with a plain quadratic MDAV inside and with Shoal's.

    python benchmarks/scale.py                      all sections, about a quarter of an hour
    python benchmarks/scale.py components census    some of them: components, macrocells, distal, anonymity,
                                                    recursive, others, census
    python benchmarks/scale.py --quick              small tables, nothing is written

Writes docs/methods/tables/scale_*.md and docs/pictures/scale_*.svg. The data come from ../shared/tools/large.py,
shaped like the paper's two, and Census from ../shared/data (or where SHOAL_SHARED says). The plain MDAV runs on
75 000 records drawn at random, as many as in Figs. 11, 12, 18 and 19 of the paper, and on more where k is large;
Shoal's on the whole tables where the paper does. Times are CPU seconds of one thread, `fit` as a whole; models
that are compared run in turn, and where all of them take less than ten seconds they do so twice and the faster
counts.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import NamedTuple

for variable in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import matplotlib  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
sys.path[:0] = [str(ROOT / "tests" / "papers"), str(SHARED / "tools")]

import large  # noqa: E402
from plain_mdav import PlainMDAV  # noqa: E402
from published import figures, points_of  # noqa: E402

from shoal import (  # noqa: E402
    DBA,
    GSMST2,
    IMHM,
    MDAV,
    VMDAV,
    MuApprox,
    PCAReduced,
    ProximalDistal,
)
from shoal.methods.pca_reduced import principal_axes  # noqa: E402

PUBLISHED = figures(SHARED)
TABLES, PICTURES = ROOT / "docs" / "methods" / "tables", ROOT / "docs" / "pictures"
QUICK = "--quick" in sys.argv
KS = (5, 50) if QUICK else (2, 5, 10, 50, 100)
TWICE_BELOW = 10  # seconds for all models of a comparison
PLAIN, FAST = "plain MDAV", "Shoal's MDAV"
INSIDE = {PLAIN: PlainMDAV, FAST: MDAV}
COLOURS = {PLAIN: "#b45309", FAST: "#0f766e"}


class Setting(NamedTuple):
    """How many records take part, in macrocells of what size, and how many of these are distal."""

    records: int
    macrocell: int
    distal: int


@dataclass(frozen=True)
class Data:
    """A table and the paper's settings for it; the plain MDAV gets fewer records where k is small."""

    name: str
    title: str
    k: int  # of the sweep over distal macrocells
    axes: int  # that hold 90 % in the paper
    whole: Setting
    small_k: Setting
    large_k: Setting

    def setting(self, inside, k):
        """The records that a method can be asked to group at this k."""
        return self.whole if inside == FAST else self.small_k if k <= 10 else self.large_k

    def points(self, records):
        """So many records of the whole table, drawn at random, in their order."""
        X = getattr(large, self.name)(self.whole.records)
        return X[np.sort(np.random.default_rng(0).permutation(len(X))[:records])]


if QUICK:
    small = Setting(6_000, 300, 8), Setting(6_000, 300, 8)
    CENSUS = Data("large_census", "Large Census", 10, 6, Setting(30_000, 300, 40), *small)
    FOREST = Data("forest", "Forest", 100, 7, Setting(30_000, 500, 40), *small)
else:
    whole = Setting(149_642, 1_000, 59)
    CENSUS = Data("large_census", "Large Census", 10, 6, whole, Setting(75_000, 1_000, 30), whole)
    whole = Setting(581_012, 10_000, 39)
    FOREST = Data("forest", "Forest", 100, 7, whole, Setting(75_000, 2_500, 20), Setting(300_000, 5_000, 40))
BOTH = (CENSUS, FOREST)


def measured(models, X):
    """(CPU seconds, information loss) of each model; the first is what the others are compared with."""
    seconds = np.array([fit_seconds(model, X) for model in models])
    if seconds.sum() < TWICE_BELOW:
        seconds = np.minimum(seconds, [fit_seconds(model, X) for model in models])
    return seconds, np.array([model.information_loss_ for model in models])


def fit_seconds(model, X):
    begin = process_time()
    model.fit(X)
    return process_time() - begin


def compared(models, X):
    """Relative time and distortion increment, in percent, of all models but the first; the first's own figures."""
    seconds, losses = measured(models, X)
    return 100 * seconds[1:] / seconds[0], losses[1:] - losses[0], seconds[0], losses[0]


def write(name, header, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]
    print(f"\n{name}", *lines, sep="\n", flush=True)
    if not QUICK:
        TABLES.mkdir(exist_ok=True)
        (TABLES / f"scale_{name}.md").write_text("\n".join([*lines, ""]), encoding="utf-8")


def save(name, figure):
    if not QUICK:
        with matplotlib.rc_context({"svg.hashsalt": "shoal"}):
            figure.savefig(PICTURES / f"scale_{name}.svg", metadata={"Date": None})


def panels(rows, columns, height=2.7):
    figure = Figure(figsize=(4.1 * columns, height * rows), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes in grid.flat:
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
    return figure, grid


def components():
    """Figs. 9, 11, 12 and 17 to 19: time and distortion against the number of axes, k = 10, 75 000 records."""
    figure, grid = panels(2, 2)
    for row, data in enumerate(BOTH):
        X = data.points(data.small_k.records)
        m = X.shape[1]
        held = np.cumsum(principal_axes(X).spectrum)
        held *= 100 / held[-1]
        found = {}
        for inside, kind in INSIDE.items():
            reduced = [PCAReduced(kind(k=10), components=c) for c in range(1, m + 1)]
            times, found[inside], seconds, loss = compared([kind(k=10), *reduced], X)
            label = f"{inside}, {seconds:.2f} s"
            grid[row, 0].plot(range(1, m + 1), times, "o-", ms=3, color=COLOURS[inside], label=label)
            if inside == PLAIN:
                plain_times = times
            else:
                fast_times = times
        grid[row, 1].plot(range(1, m + 1), found[PLAIN], "o-", ms=3, color="#1f2933")
        grid[row, 1].set_yscale("symlog", linthresh=0.1)
        rows = [
            [c + 1, f"{held[c]:.1f}", f"{plain_times[c]:.0f}", f"{fast_times[c]:.0f}", f"{found[PLAIN][c]:.3f}"]
            for c in range(m)
        ]
        header = ["axes", "energy %", "plain MDAV: time %", "Shoal's MDAV: time %", "increment, points"]
        write(f"components_{data.name}", header, rows)
        print(f"MDAV k = 10 on {len(X)} records: {loss:.3f} %")
        grid[row, 0].set(ylabel=f"{data.title}: relative time, %", ylim=(0, 125))
        grid[row, 0].legend(frameon=False, fontsize=8, loc="lower right")
        grid[row, 1].set(ylabel="distortion increment, points")
        for axes in grid[row]:
            axes.set_xlabel("principal axes kept")
    save("components", figure)


def macrocells():
    """Figs. 13 and 20: the distortion of each macrocell of the whole table, as a share of the total variance."""
    figure, grid = panels(1, 2)
    rows = []
    for axes, data in zip(grid[0], BOTH, strict=True):
        X, size = data.points(data.whole.records), data.whole.macrocell
        model = ProximalDistal(MDAV(k=10), macrocell=size).fit(X)
        shares = 100 * model.macrocell_distortions_ * model.macrocell_sizes_ / len(X)
        axes.semilogy(range(1, len(shares) + 1), shares, ".", color=COLOURS[FAST])
        axes.set(xlabel=f"macrocell of {size} records", ylabel=f"{data.title}: distortion, %")
        ranked = np.sort(shares)[::-1]
        middle = np.median(ranked)
        rows.append([data.title, len(shares), f"{ranked[0]:.2f}", f"{middle:.3f}", f"{ranked[-1]:.3f}"])
        rows[-1] += [f"{ranked[0] / middle:.1f}", f"{100 * ranked[0] / ranked[1:].sum():.1f} %"]
    header = ["data", "macrocells", "largest %", "median %", "least %", "largest / median", "largest / others"]
    write("macrocells", header, rows)
    save("macrocells", figure)


def distal():
    """Figs. 14 and 21: relative time against distortion, from no distal macrocell to nothing but distal ones."""
    figure, grid = panels(1, 2, 3.2)
    for axes, data in zip(grid[0], BOTH, strict=True):
        rows = {}
        for inside, kind in INSIDE.items():
            records, size, wanted = data.setting(inside, data.k)
            X, cells = data.points(records), records // size
            numbers = sorted({round(cells * step / 10) for step in range(11)} | {wanted})
            models = [
                ProximalDistal(kind(k=data.k), macrocell=size, distal=number, components=data.axes)
                for number in numbers
            ]
            times, increments, _, _ = compared([kind(k=data.k), *models], X)
            axes.plot(times, increments, "o-", ms=3, color=COLOURS[inside], label=inside)
            chosen = numbers.index(wanted)
            axes.plot(times[chosen], increments[chosen], "o", ms=9, mfc="none", color=COLOURS[inside])
            for at, number in enumerate(numbers):
                key = round(10 * number / cells) if at != chosen else "paper's"
                share = f"{100 * number / cells:.0f} %"
                rows.setdefault(key, [share]).extend([f"{times[at]:.0f}", f"{increments[at]:.3f}"])
        header = [
            "distal",
            *(f"{inside}: {what}" for inside in INSIDE for what in ("time %", "increment, points")),
        ]
        full = [row for row in rows.values() if len(row) == len(header)]
        write(f"distal_{data.name}", header, sorted(full, key=lambda row: int(row[0].split()[0])))
        axes.set(xlabel="relative time, %", ylabel="distortion increment, points")
        axes.set_title(f"{data.title}, k = {data.k}", loc="left", fontsize=10)
        axes.legend(frameon=False, fontsize=8)
    save("distal", figure)


def wrappers(data, inside, kind, k):
    """The methods of Figs. 15, 16, 22 and 23."""
    _, size, number = data.setting(inside, k)
    cells = {"macrocell": size, "distal": number}
    return {
        "PCA 90 %": PCAReduced(kind(k=k), energy=0.9),
        "PCA 80 %": PCAReduced(kind(k=k), energy=0.8),
        "proximal, PCA 90 %": ProximalDistal(kind(k=k), **cells),
        "proximal, PCA 80 %": ProximalDistal(kind(k=k), energy=0.8, **cells),
        "proximal, no PCA": ProximalDistal(kind(k=k), pca=False, **cells),
    }


def anonymity():
    """Figs. 15, 16, 22 and 23 and Tables I to IV: time and distortion against k."""
    figure, grid = panels(2, 3, 2.8)
    styles = {"PCA 90 %": "o-", "PCA 80 %": "o:", "proximal, PCA 90 %": "s-", "proximal, PCA 80 %": "s:"}
    for row, data in enumerate(BOTH):
        for column, (inside, kind) in enumerate(INSIDE.items()):
            found = {}
            for k in KS:
                X = data.points(data.setting(inside, k).records)
                found[k] = compared([kind(k=k), *wrappers(data, inside, kind, k).values()], X)
            names = list(wrappers(data, inside, kind, 2))
            published = PUBLISHED["pca_large_census" if data is CENSUS else "pca_forest"]
            rows = [
                [k, data.setting(inside, k).records, *with_published(k, names, found[k], published)] for k in KS
            ]
            rows.append(mean_row([found[k] for k in KS]))
            write(
                f"k_{data.name}_{'plain' if inside == PLAIN else 'fast'}",
                [
                    "k",
                    "records",
                    "MDAV s",
                    "MDAV %",
                    *names,
                    "published: PCA 90 %",
                    "published: proximal, PCA 90 %",
                ],
                rows,
            )
            for at, name in enumerate(names):
                style = styles.get(name, "^--")
                grid[row, column].semilogx(
                    KS, [found[k][0][at] for k in KS], style, ms=3, color=colour_of(name), label=name
                )
                if column == 0:
                    grid[row, 2].semilogx(
                        KS, [found[k][1][at] for k in KS], style, ms=3, color=colour_of(name), label=name
                    )
            grid[row, column].set_title(f"{data.title}, {inside}", loc="left", fontsize=10)
            grid[row, column].set(ylabel="relative time, %", ylim=(0, None))
        grid[row, 2].set_title(f"{data.title}, {PLAIN}", loc="left", fontsize=10)
        grid[row, 2].set(ylabel="distortion increment, points")
        for axes in grid[row]:
            axes.set_xlabel("k")
            axes.set_xticks(KS, [str(k) for k in KS])
            axes.minorticks_off()
    grid[0, 2].legend(frameon=False, fontsize=7)
    save("k", figure)


def colour_of(name):
    return "#1f2933" if "no PCA" in name else "#0f766e" if name.startswith("proximal") else "#b45309"


def with_published(k, names, found, published):
    """What the table says of one k: relative times and increments, ours and the paper's."""
    times, increments, seconds, loss = found
    row = [
        f"{seconds:.2f}",
        f"{loss:.2f}",
        *(f"{times[at]:.0f} %, {increments[at]:+.2f}" for at in range(len(names))),
    ]
    at = published["k"].index(k)
    for form in ("pca", "proximal"):
        time = 100 * published[f"seconds_{form}"][at] / published["seconds_mdav"][at]
        increment = 100 * (published[f"d_{form}"][at] - published["d_mdav"][at])
        row.append(f"{time:.0f} %, {increment:+.2f}")
    return row


def mean_row(found):
    """The means over all k."""
    times, increments = (np.mean([entry[part] for entry in found], axis=0) for part in (0, 1))
    return ["mean", "", "", "", *(f"{t:.0f} %, {d:+.2f}" for t, d in zip(times, increments, strict=True)), "", ""]


def recursive():
    """One split beside many, k = 10."""
    rows = []
    for data in BOTH:
        X = data.points(data.small_k.records)
        for inside, kind in INSIDE.items():
            models = [
                ProximalDistal(kind(k=10), macrocell=1_000, pca=pca, recursive=again)
                for pca in (False, True)
                for again in (False, True)
            ]
            times, increments, seconds, loss = compared([kind(k=10), *models], X)
            portions = [model.n_portions_ for model in models]
            for at, model in enumerate(models):
                rows.append([data.title, len(X), inside, f"{seconds:.2f}", "yes" if model.pca else "no"])
                rows[-1] += ["yes" if model.recursive else "no", portions[at], f"{times[at]:.0f}"]
                rows[-1] += [f"{loss:.2f}", f"{increments[at]:+.2f}"]
    header = [
        "data",
        "records",
        "inside",
        "alone s",
        "PCA",
        "recursive",
        "portions",
        "time %",
        "MDAV %",
        "increment",
    ]
    write("recursive", header, rows)


def others():
    """Slower methods inside, k = 5: where a meta-method has more to save."""
    X = CENSUS.points(1_500 if QUICK else 10_000)
    rows = []
    for kind in (MDAV, VMDAV, MuApprox, GSMST2, DBA, IMHM):
        options = {"random_state": 0} if kind is MuApprox else {}
        inside = kind(k=5, **options)
        fit_seconds(inside, X[:500])  # compiled
        models = [PCAReduced(inside), ProximalDistal(inside, macrocell=len(X) // 10)]
        models.append(ProximalDistal(inside, macrocell=len(X) // 10, pca=False))
        times, increments, seconds, loss = compared([inside, *models], X)
        cells = [f"{t:.0f} %, {d:+.2f}" for t, d in zip(times, increments, strict=True)]
        rows.append([kind.__name__, f"{seconds:.2f}", f"{loss:.2f}", *cells])
    write("others", ["inside", "alone s", "alone %", "PCA 90 %", "proximal, PCA 90 %", "proximal, no PCA"], rows)


def census():
    """Census, 1080 real records of 13 attributes: its spectrum, and what PCA costs."""
    X = points_of(SHARED, "census")
    spectrum = principal_axes(X).spectrum
    held = 100 * np.cumsum(spectrum) / spectrum.sum()
    claimed = {1: "56", 5: "89", 6: "92.9", 8: "98", 9: "99.4"}
    losses = {k: MDAV(k=k).fit(X).information_loss_ for k in (3, 5, 10)}
    rows = [["all, MDAV", "", "", "", *(f"{loss:.3f}" for loss in losses.values())]]
    for c in range(1, X.shape[1] + 1):
        increments = [
            PCAReduced(MDAV(k=k), components=c).fit(X).information_loss_ - loss for k, loss in losses.items()
        ]
        texts = [f"{increment:+.3f}" for increment in increments]
        rows.append([c, f"{spectrum[c - 1]:.4f}", f"{held[c - 1]:.1f}", claimed.get(c, ""), *texts])
    header = ["axes", "eigenvalue", "energy %", "Large Census, published %", "k = 3", "k = 5", "k = 10"]
    write("census", header, rows)


SECTIONS = {part.__name__: part for part in (components, macrocells, distal, anonymity, recursive, others, census)}


def main():
    wanted = [name for name in sys.argv[1:] if not name.startswith("--")] or list(SECTIONS)
    warm = np.random.default_rng(0).normal(size=(2_000, 4))
    plain, fast = (ProximalDistal(kind(k=3), macrocell=500).fit(warm).labels_ for kind in INSIDE.values())
    assert np.array_equal(plain, fast)
    assert np.array_equal(
        PlainMDAV(k=7).fit(CENSUS.points(5_003)).labels_, MDAV(k=7).fit(CENSUS.points(5_003)).labels_
    )
    for name in wanted:
        begin = process_time()
        SECTIONS[name]()
        print(f"{name}: {process_time() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
