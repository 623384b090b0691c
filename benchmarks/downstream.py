"""Downstream accuracy on Adult: models that guess the income, trained on releases, tested on originals.

    python benchmarks/downstream.py                  all settings, some minutes
    SHOAL_K=2,10 python benchmarks/downstream.py     some k
    python benchmarks/downstream.py draw             the picture alone, from the table

A setting that the table has already is not run again: delete docs/tables/downstream.md to begin anew. Writes that
table and docs/pictures/downstream.svg. Adult comes from ../shared/data (or where SHOAL_SHARED says).
"""

import os
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow.csv
from matplotlib.figure import Figure

import shoal
from shoal.measures.pair import Pair, pair_column
from shoal.measures.utility.downstream import all_scores
from shoal.privacy.coding import column_of

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
TABLE, PICTURE = ROOT / "docs" / "tables" / "downstream.md", ROOT / "docs" / "pictures" / "downstream.svg"
INK, SOFT = "#1f2933", "#cbd2d9"
COLOURS = {"mdav": "#d97706", "vmdav": "#9f1239", "cbfs": "#6d28d9", "pcl": "#2563eb", "auto": "#0f766e"}

KS = tuple(int(k) for k in os.environ.get("SHOAL_K", "2,5,10,25,50,100").split(","))
RECORDS, SPLITS = 20_000, 10
TARGET = "income"
LEFT_OUT = ("fnlwgt", "education", TARGET)  # a sampling weight, and what education-num says in numbers
HEADER = (
    "k", "method", "information loss, %", "logistic regression", "± s.e.", "tree", "± s.e.", "seconds to release",
)  # fmt: skip


def adult():
    """A sample of Adult, or nothing, with the reason said."""
    path = SHARED / "data" / "adult.csv.gz"
    if not path.exists():
        print(f"skipped: no {path}; say where the benchmark data are with SHOAL_SHARED", flush=True)
        return None
    table = pyarrow.csv.read_csv(path)
    chosen = np.random.default_rng(1).choice(table.num_rows, RECORDS, replace=False)
    return table.take(np.sort(chosen))


def released(table, k, method):
    """The release, row by row as the original, and the seconds that it took."""
    begin = perf_counter()
    quasi = [name for name in table.column_names if name not in LEFT_OUT]
    release = shoal.anonymize(
        table.select([*quasi, TARGET]), k=k, quasi_identifiers=quasi, confidential=TARGET, gaps="value",
        method=method, keep_order=True, random_state=0,
    )  # fmt: skip
    return release, perf_counter() - begin


def balanced_accuracies(before, after):
    """Of the logistic regression and of the tree, split by split: originals, release, shuffled."""
    columns = []
    for name in before.column_names:
        if name in LEFT_OUT and name != TARGET:
            continue
        role = "confidential" if name == TARGET else "quasi-identifier"
        columns.append(pair_column(role, column_of(name, before[name]), column_of(name, after[name]))[0])
    found = []
    for seed in range(SPLITS):
        pair = Pair(tuple(columns), np.zeros(len(before), np.int64), matched=True, seed=seed)
        scores = [score for score in all_scores(pair, pair.confidential) if score.called == "balanced accuracy"]
        found.append([(score.original, score.release, score.shuffled) for score in scores])
    return np.array(found)


def said(values):
    """Two cells for each model: the mean over splits and its standard error."""
    errors = values.std(axis=0, ddof=1) / np.sqrt(SPLITS)
    pairs = zip(values.mean(axis=0), errors, strict=True)
    return [cell for mean, error in pairs for cell in (f"{mean:.4f}", f"{error:.4f}")]


def kept():
    """The lines that the table has already."""
    if not TABLE.exists():
        return []
    lines = TABLE.read_text(encoding="utf-8").splitlines()[2:]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]


def write(rows):
    rows = sorted(rows, key=lambda row: (row[0] != "", int(row[0] or 0)))
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [HEADER, ["---"] * len(HEADER), *rows]]
    TABLE.write_text("\n".join([*lines, ""]), encoding="utf-8")


def measure():
    """A line for each k and method, and two for what they stand between."""
    if (table := adult()) is None:
        return
    rows = kept()
    for k in KS:
        for method in COLOURS:
            if any(row[:2] == (str(k), method) for row in rows):
                continue
            release, seconds = released(table, k, method)
            scores = balanced_accuracies(table, release.table)
            if not any(row[1] == "originals" for row in rows):
                rows.append(("", "originals", "0.00", *said(scores[:, :, 0]), ""))
                rows.append(("", "shuffled columns", "", *said(scores[:, :, 2]), ""))
            line = (str(k), method, f"{release.information_loss:.2f}", *said(scores[:, :, 1]), f"{seconds:.1f}")
            rows.append(line)
            print(*line, flush=True)
            write(rows)


def draw():
    """Balanced accuracy by k, and by information loss."""
    rows = kept()
    ends = {row[1]: row for row in rows if row[0] == ""}
    figure = Figure(figsize=(9, 6), layout="constrained")
    panels = figure.subplots(2, 2, sharey="row")
    for line, (name, place) in zip(panels, (("logistic regression", 3), ("tree", 5)), strict=True):
        for method, colour in COLOURS.items():
            own = [row for row in rows if row[1] == method]
            scores = [float(row[place]) for row in own]
            line[0].plot([int(row[0]) for row in own], scores, "o-", ms=4, lw=1.3, color=colour, label=method)
            line[1].plot([float(row[2]) for row in own], scores, "o-", ms=4, lw=1.3, color=colour)
        for axes in line:
            for end in ("originals", "shuffled columns"):
                height = float(ends[end][place])
                axes.axhline(height, color=INK, lw=0.8, ls="--")
                axes.annotate(end, (0.99, height), xycoords=("axes fraction", "data"), ha="right", va="bottom")
            axes.grid(axis="y", color=SOFT, lw=0.5)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
        line[0].set_xscale("log")
        line[0].set_xticks(ks := sorted({int(row[0]) for row in rows if row[0]}), [str(k) for k in ks])
        line[0].minorticks_off()
        line[0].set_ylabel(f"{name}:\nbalanced accuracy")
    panels[1][0].set_xlabel("k")
    panels[1][1].set_xlabel("information loss, %")
    panels[0][0].legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0, 0.08))
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    if "draw" not in sys.argv[1:]:
        measure()
    draw()
