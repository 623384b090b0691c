"""Draws the pictures of the docs; some from tables that benchmarks wrote."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from shoal import IMHM, MDAV, PCL, allocate, anonymize
from shoal.kernels.search_tree.tree import build_tree
from shoal.quantizing.distortions import distortion_of

HERE = Path(__file__).parent
INK, SOFT, TEAL, AMBER = "#1f2933", "#cbd2d9", "#0f766e", "#d97706"


def cloud(n: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    return np.concatenate(
        [rng.normal((-1, 0), (0.8, 0.5), (n // 2, 2)), rng.normal((1.5, 0.6), 0.6, (n - n // 2, 2))]
    )


def bare(axes: Axes) -> None:
    axes.set_aspect("equal")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)


PEOPLE = {
    "name": ["Ada", "Ben", "Clara", "David", "Elif", "Felix", "Greta", "Hugo", "Ida"],
    "age": [38, 69, 45, 29, 71, 49, 32, 65, 43],
    "height": [172, 181, 174, 165, 178, 176, 167, 186, 170],
    "income": [27800, 17800, 41500, 22700, 19200, 44800, 25000, 18400, 39900],
    "diagnosis": ["none", "asthma", "none", "migraine", "none", "diabetes", "asthma", "none", "migraine"],
}
"""Nine invented people for the first picture of the docs."""


def before_after() -> None:
    """A table of nine people before and after, the groups of three in colours."""
    quasi = ["age", "height", "income"]
    release = anonymize(
        pa.table(PEOPLE), k=3, quasi_identifiers=quasi, confidential="diagnosis", identifiers="name"
    )
    tints = ["#cdeae6", "#fbe3c0", "#dfe5f7"]
    figure = Figure(figsize=(9, 3.3), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[5, 4])
    for axes, title, table in (
        (left, "before: every person is unique", PEOPLE),
        (right, "after, k = 3: three people look alike", release.table.to_pydict()),
    ):
        axes.set_xlim(0, len(table))
        axes.set_ylim(len(release.labels) + 1, 0)
        axes.axis("off")
        axes.set_title(title, fontsize=11, color=INK)
        for place, (name, column) in enumerate(table.items()):
            axes.text(place + 0.08, 0.55, name, va="center", fontsize=9, weight="bold", color=INK)
            for row, (value, group) in enumerate(zip(column, release.labels, strict=True), start=1):
                alike = name in quasi and axes is right
                tint = tints[group] if alike or axes is left else "none"
                axes.add_patch(Rectangle((place, row), 1, 0.94, fc=tint, ec="none"))
                axes.text(place + 0.08, row + 0.5, f"{value}", va="center", fontsize=9, color=INK)
    figure.savefig(HERE / "before_after.svg", metadata={"Date": None})


def groups() -> None:
    """The first groups that MDAV forms, and the last."""
    X = cloud(200)
    model = MDAV(k=8).fit(X)
    figure = Figure(figsize=(8, 3), layout="constrained")
    for axes, upto, title in zip(
        figure.subplots(1, 2), (2, model.n_groups_), ("P and Q", "all groups"), strict=True
    ):
        axes.scatter(*X.T, s=8, color=SOFT)
        for group in range(upto):
            members = X[model.labels_ == group]
            centre = members.mean(axis=0)
            for point in members:
                axes.plot(*np.array([centre, point]).T, lw=0.6, color=TEAL if group % 2 == 0 else AMBER)
            axes.scatter(*members.T, s=10, color=TEAL if group % 2 == 0 else AMBER)
            if upto == 2:
                seed = members[((members - X.mean(axis=0)) ** 2).sum(axis=1).argmax()]
                axes.annotate("PQ"[group], seed, xytext=(6, 6), textcoords="offset points", color=INK)
        if upto == 2:
            axes.plot(*X.mean(axis=0), "x", color=INK)
            axes.annotate("C", X.mean(axis=0), xytext=(6, 6), textcoords="offset points", color=INK)
        axes.set_title(title, fontsize=10, color=INK)
        bare(axes)
    figure.savefig(HERE / "mdav_groups.svg", metadata={"Date": None})


def tree() -> None:
    """The leaves that a search for the nearest and one for the farthest record have to open."""
    X = cloud(3000)
    built = build_tree(X, np.arange(len(X), dtype=np.int32))
    leaves = [built.rows[at : at + 16] for at in range(0, len(X), 16)]
    seed = X[((X - X.mean(axis=0)) ** 2).sum(axis=1).argmax()]
    d2 = ((X - seed) ** 2).sum(axis=1)
    near, far = np.sort(d2)[9], d2.max()
    origin = X.mean(axis=0)
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, title in zip(panels, ("ten nearest to P", "farthest from P"), strict=True):
        opened = 0
        for leaf in leaves:
            low, high = leaf.min(axis=0), leaf.max(axis=0)
            if title.startswith("ten"):
                gap = np.maximum(np.maximum(low - seed, seed - high), 0)
                looks = (gap**2).sum() <= near
            else:  # |x - P|^2 = |x|^2 + |P|^2 - 2 P.x, each term at its worst
                p, reach = seed - origin, ((leaf - origin) ** 2).sum(axis=1).max()
                corner = np.where(p > 0, low - origin, high - origin)
                looks = reach + p @ p - 2 * corner @ p >= far
            opened += looks
            axes.add_patch(
                Rectangle(low, *(high - low), fill=looks, fc="#fde68a", ec=AMBER if looks else SOFT, lw=0.7)
            )
        axes.scatter(*X.T, s=0.6, color="#9aa5b1", rasterized=True)  # thousands of shapes make a large file
        axes.plot(*seed, "o", color=TEAL, ms=5)
        axes.annotate("P", seed, xytext=(6, 6), textcoords="offset points", color=INK)
        if not title.startswith("ten"):
            axes.plot(*X[d2.argmax()], "o", color=AMBER, ms=5)
            axes.annotate("Q", X[d2.argmax()], xytext=(6, 6), textcoords="offset points", color=INK)
        axes.set_title(f"{title}: {opened} of {len(leaves)} leaves opened", fontsize=10, color=INK)
        axes.autoscale_view()
        bare(axes)
    figure.savefig(HERE / "search_tree.svg", metadata={"Date": None}, dpi=200)


def plane() -> None:
    """Figures 6 and 7 of Mortazavi et al. (2013) on draws of our own, MDAV beside IMHM."""
    for name, X, k, blocks in (
        ("uniform", np.random.default_rng(0).random((200, 2)), 35, 1),
        ("gaussian", np.random.default_rng(0).normal(size=(10_000, 2)), 1111, 2),
    ):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        figure = Figure(figsize=(8, 4), layout="constrained")
        for axes, model in zip(figure.subplots(1, 2), (MDAV(k=k), IMHM(k=k, blocks=blocks)), strict=True):
            model.fit(X)
            for group, (x, y) in enumerate(model.centroids_):
                members = X[model.labels_ == group]
                axes.scatter(*members.T, s=400 / np.sqrt(len(X)) / 4, color=f"C{group}", lw=0, rasterized=True)
                axes.text(x, y, str(group + 1), ha="center", va="center", color=INK, fontsize=11, weight="bold")
            axes.set_title(f"{type(model).__name__}: {model.information_loss_:.2f} %", fontsize=10, color=INK)
            bare(axes)
        figure.savefig(HERE / f"imhm_{name}.svg", metadata={"Date": None}, dpi=150)


def cells() -> None:
    """MDAV beside PCL on the plane, after Figs. 12, 14, 16 and 18 of the 2011 paper."""
    rng = np.random.default_rng(0)
    for name, cases in (
        (
            "clustering",
            (
                ("10 000 uniform, 10 cells", rng.random((10_000, 2)), 1000),
                ("10 000 Gaussian, 10 cells", rng.normal(size=(10_000, 2)), 1000),
            ),
        ),
        (
            "microaggregation",
            (
                ("250 uniform, k = 3", rng.random((250, 2)), 3),
                ("250 Gaussian, k = 5", rng.normal(size=(250, 2)), 5),
            ),
        ),
    ):
        figure = Figure(figsize=(8, 7.4), layout="constrained")
        for row, (title, X, k) in zip(figure.subplots(2, 2), cases, strict=True):
            for axes, model in zip(row, (MDAV(k=k), PCL(k=k, n_starts=5, random_state=0)), strict=True):
                draw_cells(axes, model.fit(X), X)
                title_of = f"{title}: {type(model).__name__} {model.information_loss_:.3g} %"
                axes.set_title(title_of, fontsize=9, color=INK)
                bare(axes)
        figure.savefig(HERE / f"pcl_{name}.svg", metadata={"Date": None}, dpi=72)


def draw_cells(axes: Axes, model: MDAV | PCL, X: np.ndarray) -> None:
    """Points in the colours of their groups: PCL's on their cells, MDAV's small groups with lines to centroids."""
    low, high = X.min(axis=0), X.max(axis=0)
    few = len(X) <= 1000
    if isinstance(model, PCL):
        for cell, polygon in enumerate(model.quantizer_.cells(np.column_stack([low, high]))):
            axes.fill(*polygon.T, color=f"C{cell % 10}", alpha=0.2, ec="white")
    elif few:
        for point, group in zip(X, model.labels_, strict=True):
            axes.plot(*np.array([model.centroids_[group], point]).T, lw=0.8, color=f"C{group % 10}")
    colours = [f"C{group % 10}" for group in model.labels_]
    axes.scatter(*X.T, s=8 if few else 0.8, c=colours, lw=0, rasterized=True, antialiased=few)
    if not few:
        axes.plot(*model.centroids_.T, "k.", ms=5)


def rows_of(table: str) -> list[list[str]]:
    """The rows of a table that a benchmark wrote."""
    lines = (HERE.parent / "methods" / "tables" / f"{table}.md").read_text(encoding="utf-8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def bounds_of_records() -> dict[tuple[str, int], float]:
    """The lower bound of each standard case, from the benchmark's table."""
    return {(row[0].split()[0], int(row[0].split()[1])): float(row[-2]) for row in rows_of("refined_records")}


def distances() -> None:
    """How far above the lower bound each method stays at k = 3 and 5, from the benchmarks' tables."""
    text = (HERE.parent / "methods" / "tables" / "rivals.md").read_text(encoding="utf-8")
    above: dict[int, dict[str, list[float]]] = {3: {}, 5: {}}
    for part in text.split("**")[1:]:
        if "," not in part:
            data = part.capitalize()
            continue
        for line in part.splitlines()[4:]:
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) > 2 and "published" not in cells[0]:
                for k, cell in zip((3, 5), cells[1:], strict=False):
                    loss = float(cell.split()[0])
                    gap = 100 * (loss / bounds_of_records()[data, k] - 1)
                    above[k].setdefault(cells[0], []).append(gap)
    figure = Figure(figsize=(9, 4), layout="constrained")
    for axes, (k, methods) in zip(figure.subplots(1, 2, sharey=True), above.items(), strict=True):
        names = list(methods)[::-1]
        for place, (data, mark) in enumerate((("Census", "o"), ("Tarragona", "s"), ("EIA", "^"))):
            x = [max(methods[name][place], 0.05) for name in names]
            axes.plot(x, names, mark, color=(TEAL, AMBER, INK)[place], ms=6, label=data)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
        axes.grid(axis="x", color=SOFT, lw=0.5)
        axes.set_xlabel("above the lower bound, %")
        axes.set_title(f"k = {k}", fontsize=10, color=INK)
    axes.legend(frameon=False)
    figure.savefig(HERE / "optimum_methods.svg", metadata={"Date": None})


def ladder() -> None:
    """What each step gained, from the benchmark's table."""
    header = ["MDAV", "exchanges", "1 s", "5 s", "60 s", "300 s"]
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    axes = figure.subplots()
    colours = {"Census": TEAL, "Tarragona": AMBER, "Eia": INK}
    for row in rows_of("refined_records"):
        data, k = row[0].split()
        if k in ("3", "5"):
            losses = zip(header, (row[place] for place in (1, 2, 5, 6, 7, 8)), strict=True)
            steps = [(name, loss) for name, loss in losses if loss]
            gaps = [100 * (float(loss) / float(row[-2]) - 1) for _, loss in steps]
            style = "o-" if k == "3" else "s--"
            name = f"{data.replace('Eia', 'EIA')}, k = {k}"
            axes.plot([step for step, _ in steps], gaps, style, color=colours[data], lw=1, ms=4, label=name)
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_ylabel("above the lower bound, %")
    axes.grid(axis="y", color=SOFT, lw=0.5)
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(HERE / "optimum_steps.svg", metadata={"Date": None})


def quality() -> None:
    """How far four methods are above the lower bound on points without structure, from the benchmark's table."""
    titles = {
        "plane": "uniform in the plane",
        "gauss 2": "Gaussian, 2 dimensions",
        "gauss 5": "Gaussian, 5 dimensions",
        "gauss 10": "Gaussian, 10 dimensions",
    }
    styles = {"MDAV": (SOFT, "s"), "IMHM": (AMBER, "^"), "PCL": (INK, "v"), "Auto": (TEAL, "o")}
    figure = Figure(figsize=(9, 6), layout="constrained")
    for axes, (name, title) in zip(
        figure.subplots(2, 2, sharex=True, sharey=True).flat, titles.items(), strict=True
    ):
        rows = [row for row in rows_of("quality") if row[0] == name]
        for number, (method, (colour, mark)) in enumerate(styles.items()):
            gaps = [float(row[5 + 2 * number]) for row in rows]
            axes.plot([int(row[1]) for row in rows], gaps, color=colour, marker=mark, lw=1.2, ms=4, label=method)
        axes.set_title(title, fontsize=10, color=INK)
        axes.set(xscale="log", yscale="log")
        axes.set_xticks([3, 5, 10, 20, 50, 100], ["3", "5", "10", "20", "50", "100"])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:g}")
        axes.grid(axis="y", color=SOFT, lw=0.5)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    first, _, lower, right = figure.axes
    first.legend(frameon=False, fontsize=8)
    for axes in (first, lower):
        axes.set_ylabel("above the lower bound, %")
    for axes in (lower, right):
        axes.set_xlabel("k")
    figure.savefig(HERE / "quality.svg", metadata={"Date": None})


def growth() -> None:
    """CPU time of 40 rounds of PCL over points and over cells, from the benchmark's table."""
    rows = np.array([[float(cell) for cell in row] for row in rows_of("pcl_large")])
    many = rows[:, 2] == 1000
    many[np.flatnonzero(rows[:, 0] == 200_000)] = False
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for axes, part, column, label in zip(
        figure.subplots(1, 2),
        (rows[many], rows[~many]),
        (0, 1),
        ("points, 1000 in a cell", "cells of 200 000 points"),
        strict=True,
    ):
        x, seconds = part[:, column], part[:, 4]
        slope, height = np.polyfit(np.log(x), np.log(seconds), 1)
        axes.loglog(x, seconds, "o", color=TEAL)
        axes.loglog(x, np.exp(height) * x**slope, lw=1, color=AMBER, label=f"exponent {slope:.2f}")
        axes.set_xlabel(label)
        axes.set_ylabel("CPU seconds, 40 rounds")
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}" if column == 1 else "")
        axes.legend(frameon=False)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.savefig(HERE / "pcl_growth.svg", metadata={"Date": None})


def dimensions() -> None:
    """How far PCL is below MDAV over dimensions and cells, after Fig. 4 of the 2013 paper."""
    cells = [2, 4, 8, 16, 32, 64]
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    panels = dict(zip(("0", "0.5"), figure.subplots(1, 2, sharey=True), strict=True))
    for dimension, rho, *gains in rows_of("pcl_dimensions"):
        colour = {"2": TEAL, "3": AMBER, "4": INK}[dimension]
        line = [float(gain) for gain in gains]
        panels[rho].semilogx(
            cells, line, "o-", base=2, ms=4, lw=1.2, color=colour, label=f"{dimension} dimensions"
        )
    for rho, axes in panels.items():
        axes.set_title(f"65 536 Gaussian points, correlation {rho}", fontsize=10, color=INK)
        axes.set_xlabel("cells")
        axes.set_xticks(cells, cells)
        axes.set_ylim(0, 20)
        axes.minorticks_off()
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    panels["0"].set_ylabel("SSE below MDAV, %")
    panels["0"].legend(frameon=False, loc="lower right")
    figure.savefig(HERE / "pcl_dimensions.svg", metadata={"Date": None})


def convergence() -> None:
    """The loss of IMHM after each round, on invented data with correlated attributes."""
    rng = np.random.default_rng(1)
    X = np.exp(rng.normal(size=(1000, 6)) @ rng.normal(size=(6, 6)) * 0.4)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    figure = Figure(figsize=(6, 2.8), layout="constrained")
    axes = figure.subplots()
    for k, colour in ((3, TEAL), (5, AMBER), (10, INK)):
        history = 100 * np.array(IMHM(k=k).fit(X).history_) / len(X) / X.shape[1]
        axes.plot(history, "o-", ms=3, lw=1.2, color=colour, label=f"k = {k}")
    axes.set_xlabel("round")
    axes.set_ylabel("information loss, %")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(HERE / "imhm_rounds.svg", metadata={"Date": None})


def allocation() -> None:
    """The invented city of benchmarks/city.py: nearest with overflow beside the least total distance."""
    sys.path.insert(0, str(HERE.parents[1] / "benchmarks"))
    from city import city, nearest_with_overflow

    homes, sites, capacities = city()
    found = allocate(homes, sites, capacities)
    distances = distortion_of("euclidean").costs(homes, sites)
    overflow = nearest_with_overflow(distances, capacities)
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    for axes, labels, title in zip(
        figure.subplots(1, 2), (overflow, found.labels), ("nearest with overflow", "allocate"), strict=True
    ):
        replace(found, labels=labels).plot(axes)
        axes.collections[0].set(antialiased=False, sizes=[0.8])  # few colours make a small file
        mean = distances[np.arange(len(labels)), labels].mean()
        axes.set_title(f"{title}: {mean:.2f} km on average", fontsize=10, color=INK)
        bare(axes)
    figure.savefig(HERE / "allocate_city.svg", metadata={"Date": None}, dpi=150)


if __name__ == "__main__":
    pictures = (
        before_after,
        groups,
        tree,
        plane,
        convergence,
        cells,
        quality,
        growth,
        dimensions,
        allocation,
        distances,
        ladder,
    )
    for picture in pictures:
        if picture.__name__ in (sys.argv[1:] or [each.__name__ for each in pictures]):
            picture()
