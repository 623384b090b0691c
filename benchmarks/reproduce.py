"""Writes the tables of published and own figures that the pages of the methods show.

    python benchmarks/reproduce.py

The standard data and the published figures are read from ../shared (or where SHOAL_SHARED says).
"""

import os
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
sys.path.insert(0, str(ROOT / "tests" / "papers"))

from published import figures, points_of, second_phase, sim_1, sim_2  # noqa: E402

from shoal import CBFS, DBA, MDAV, TFRP, VMDAV  # noqa: E402

PUBLISHED = figures(SHARED)


def cell(published, ours):
    return f"{published} / {ours:.4g} ({100 * (ours / published - 1):+.1f} %)"


def table(name, header, rows):
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]
    path = ROOT / "docs" / "methods" / "tables" / f"{name}.md"
    path.write_text("\n".join([*lines, "", "Published / ours (difference).", ""]), encoding="utf-8")
    print("\n".join(lines), end="\n\n")


def simulated():
    published, rows = PUBLISHED["simulated"], []
    for name, data in (("sim_1", sim_1), ("sim_2", sim_2)):
        rng = np.random.default_rng(0)
        tables = [data(rng) for _ in range(25)]
        for method, kind in (("mdav", MDAV), ("cbfs", CBFS)):
            means = [np.mean([kind(k=k).fit(X).information_loss_ for X in tables]) for k in published["k"]]
            cells = [cell(*pair) for pair in zip(published[name][method], means, strict=True)]
            rows.append([name.replace("sim_", "Sim-"), kind.__name__, *cells])
    table("simulated", ["data", "method", *(f"k = {k}" for k in published["k"])], rows)


def vmdav():
    published, rows = PUBLISHED["vmdav"], []
    for name in ("census", "tarragona", "eia"):
        X = points_of(SHARED, name)
        gammas = published["gamma_eia"] if name == "eia" else [0.2] * 4
        losses = [
            VMDAV(k=k, gamma=g).fit(X).information_loss_ for k, g in zip(published["k"], gammas, strict=True)
        ]
        cells = [cell(*pair) for pair in zip(published[name], losses, strict=True)]
        rows.append([name.capitalize() if name != "eia" else "EIA", *cells])
    table("vmdav", ["data", *(f"k = {k}" for k in published["k"])], rows)


def tfrp():
    published, rows = PUBLISHED["literature"], []
    for name in ("census", "tarragona"):
        X = points_of(SHARED, name)
        for phases in (1, 2):
            losses = [TFRP(k=k, phases=phases).fit(X).information_loss_ for k in published["k"]]
            cells = [cell(*pair) for pair in zip(published[name][f"tfrp_{phases}"], losses, strict=True)]
            rows.append([name.capitalize(), phases, *cells])
    table("tfrp", ["data", "phases", *(f"k = {k}" for k in published["k"])], rows)


def dba():
    published, rows = PUBLISHED["literature"], []
    for name in ("census", "tarragona"):
        X = points_of(SHARED, name)
        for key, losses in (
            ("dba_2", [DBA(k=k).fit(X).information_loss_ for k in published["k"]]),
            ("mdav_2", [second_phase(X, MDAV(k=k).fit(X).labels_.copy(), k) for k in published["k"]]),
        ):
            cells = [f"{p:.4f} / {ours:.4f}" for p, ours in zip(published[name][key], losses, strict=True)]
            rows.append([name.capitalize(), key.upper().replace("_", "-"), *cells])
    table("dba", ["data", "method", *(f"k = {k}" for k in published["k"])], rows)


if __name__ == "__main__":
    simulated()
    vmdav()
    tfrp()
    dba()
