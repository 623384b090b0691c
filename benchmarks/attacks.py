"""Attacks on releases of Census and Adult for growing k, beside 1/k, a control set and guessing.

    python benchmarks/attacks.py                  both tables; some minutes
    python benchmarks/attacks.py census           one of them
    SHOAL_K=2,10 python benchmarks/attacks.py     some k

A control set is held out before each release: people like those in the table who are not in it. Writes
docs/tables/attacks_*.md, and docs/pictures/attacks.svg where both tables were attacked. The data come from
../shared/data (or where SHOAL_SHARED says); a table that is not there is skipped.
"""

import os
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.csv
from matplotlib.figure import Figure

import shoal
import shoal.measures.risk
from shoal.measures.pair import PAIR_MEASURES, Pair, pair_column
from shoal.table import Roles, Table

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
TABLES, PICTURES = ROOT / "docs" / "tables", ROOT / "docs" / "pictures"
INK, SOFT, TEAL, AMBER, GREY = "#1f2933", "#cbd2d9", "#0f766e", "#d97706", "#6b7280"

KS = tuple(int(k) for k in os.environ.get("SHOAL_K", "2,3,5,10,25,50,100").split(","))
METHODS = ("mdav", "auto")
DATA = {
    "census": {
        "file": "census.csv", "confidential": ["FEDTAX", "FICA"], "records": 880, "control": 200,
        "quasi": ["AFNLWGT", "AGI", "EMCONTRB", "PTOTVAL", "STATETAX", "TAXINC", "POTHVAL", "INTVAL", "PEARNVAL",
                  "ERNVAL"],
    },
    "adult": {
        "file": "adult.csv.gz", "confidential": ["occupation", "income"], "records": 10_000, "control": 2_000,
        "quasi": ["age", "education-num", "hours-per-week", "capital-gain", "sex", "race", "marital-status"],
    },
}  # fmt: skip
TRIED = (
    "linkage_all", "linkage_one_to_one", "linkage_probabilistic", "linkage_confidential", "attacks",
)  # fmt: skip
ATTACKS = ("singling_out", "linkability", "inference")


def parts(name):
    """The records that are released and the control set, drawn at random; nothing where there are no data."""
    about = DATA[name]
    path = SHARED / "data" / about["file"]
    if not path.exists():
        print(f"skipped: no {path}; say where the benchmark data are with SHOAL_SHARED", flush=True)
        return None
    table = pyarrow.csv.read_csv(path).select([*about["quasi"], *about["confidential"]])
    rows = np.random.default_rng(0).permutation(len(table))
    records, control = about["records"], about["control"]
    return table.take(pa.array(rows[:records])), table.take(pa.array(rows[records : records + control]))


def pair_of(about, original, released, control):
    """The two tables side by side, whose rows have the same order, and the control set."""
    roles = Roles.of(about["quasi"], about["confidential"])
    tables = [Table.of(each, roles) for each in (original, released, control)]
    columns, others = [], {}
    for role, names in (("quasi-identifier", about["quasi"]), ("confidential", about["confidential"])):
        for name in names:
            column, (others[name],) = pair_column(role, *(table.column(name) for table in tables))
            columns.append(column)
    shown = np.column_stack([np.nan_to_num(each.after, nan=-1e300) for each in columns[: len(about["quasi"])]])
    groups = np.unique(shown, axis=0, return_inverse=True)[1].ravel()
    return Pair(tuple(columns), groups, matched=True, control=others)


def attacked(name, original, control, method, k):
    """All attacks on one release."""
    about = DATA[name]
    begin = perf_counter()
    release = shoal.anonymize(
        original, k=k, quasi_identifiers=about["quasi"], confidential=about["confidential"], method=method,
        gaps="value", keep_order=True,
    )  # fmt: skip
    taken, begin = perf_counter() - begin, perf_counter()
    pair = pair_of(about, original, release.table, control)
    found = {figure.name: figure for what in TRIED for figure in PAIR_MEASURES[what].figures(pair)}
    print(name, method, k, f"released in {taken:.1f} s, attacked in {perf_counter() - begin:.1f} s", flush=True)
    for what in ("linkage_all", "linkage_one_to_one", "linkage_probabilistic"):
        assert found[what].value <= 100 / k + 1e-9, f"{what}: {found[what].value} above 1/{k}"
    return release.information_loss, found


def beside(figure):
    """Success of the best attack on as many people as the control has, on the control, and of guessing."""
    told = [row for row in figure.table.rows if row[1] and "all columns" not in row[0]]
    best = max(told, key=lambda row: row[2] - row[5])
    return best[8], best[7], best[5]


def tried(name):
    """The attacks on a table for every method and k, as a table of the docs."""
    if (given := parts(name)) is None:
        return None
    original, control = given
    for method in METHODS:  # compile what there is to compile
        attacked(name, original.slice(0, 300), control, method, 5)
    found = {(method, k): attacked(name, original, control, method, k) for method in METHODS for k in KS}
    header = (
        "method", "k", "information loss, %", "1/k, %", "nearest, %", "one-to-one, %", "probabilistic, %",
        "confidential values known, %", *(f"{label}: success / control / guessing, %" for label in
                                          ("singling out", "linkability", "inference")),
    )  # fmt: skip
    rows = [row_of(*setting, *figures) for setting, figures in found.items()]
    about = DATA[name]
    note = (
        f"{len(original)} records of {about['file'].split('.')[0]}, drawn at random, with {len(about['quasi'])} "
        f"quasi-identifiers ({', '.join(about['quasi'])}); confidential {' and '.join(about['confidential'])}; "
        f"{len(control)} others as the control set. The first four linkages are expected shares of records found; "
        "k bounds the first three. Success of the three attacks is that on as many people of the table "
        "as the control has."
    )
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in [header, ["---"] * len(header), *rows]]
    (TABLES / f"attacks_{name}.md").write_text("\n".join([*lines, "", note, ""]), encoding="utf-8")
    print(*lines, note, sep="\n", flush=True)
    return found


def row_of(method, k, loss, found):
    """A line of the table, with standard errors where records were drawn."""
    linked = []
    for what in ("linkage_all", "linkage_one_to_one", "linkage_probabilistic", "linkage_confidential"):
        error = found[what].details["standard_error"]
        linked.append(f"{found[what].value:.2f}" + (f" ± {error:.2f}" if error else ""))
    attacks = [" / ".join(f"{share:.1f}" for share in beside(found[f"{what}_success"])) for what in ATTACKS]
    return method, k, f"{loss:.2f}", f"{100 / k:.2f}", *linked, *attacks


LINKED = {
    "linkage_confidential": ("confidential values known", AMBER, "o-"),
    "linkage_one_to_one": ("all linked at once", TEAL, "s-"),
    "linkage_all": ("nearest record", TEAL, "o-"),
    "linkage_probabilistic": ("probabilistic", GREY, "^-"),
}
COLOURS = dict(zip(ATTACKS, (INK, TEAL, AMBER), strict=True))


def draw(everything):
    """Linkage beside 1/k, and the three attacks beside control and guessing, for `auto`."""
    figure = Figure(figsize=(9, 3.4 * len(everything)), layout="constrained")
    lines = figure.subplots(len(everything), 2, squeeze=False)
    for (left, right), (name, found) in zip(lines, everything.items(), strict=True):
        draw_linked(left, name, found)
        draw_attacks(right, name, found)
        for axes in (left, right):
            axes.set_xscale("log")
            axes.set_xticks(KS, [str(k) for k in KS])
            axes.minorticks_off()
            axes.set_xlabel("k")
            axes.grid(axis="y", color=SOFT, lw=0.5)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
    lines[0][0].legend(frameon=False, fontsize=8)
    lines[0][1].legend(frameon=False, fontsize=8, ncols=3, loc="upper center")
    figure.savefig(PICTURES / "attacks.svg", metadata={"Date": None})


def draw_linked(axes, name, found):
    """The expected share of records found, with 1/k."""
    for what, (label, colour, style) in LINKED.items():
        axes.plot(
            KS, [found["auto", k][1][what].value for k in KS], style, color=colour, ms=4, lw=1.2, label=label
        )
    axes.plot(KS, [100 / k for k in KS], "--", color=INK, lw=1, label="1/k, the most by quasi-identifiers")
    axes.set_yscale("log")
    axes.set_ylim(0.05, 150)
    axes.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.set_ylabel("records found, %")
    axes.set_title(f"{name.capitalize()}: record linkage", fontsize=10, color=INK)


def draw_attacks(axes, name, found):
    """Success, control and guessing of each attack."""
    for what in ATTACKS:
        shares = np.array([beside(found["auto", k][1][f"{what}_success"]) for k in KS]).T
        label = what.replace("_", " ")
        for share, style, said in zip(shares, ("o-", "--", ":"), (label, "control", "guessing"), strict=True):
            axes.plot(KS, share, style, color=COLOURS[what], ms=4, lw=1.2, label=said)
    axes.set_ylim(0, 115)
    axes.set_yticks(range(0, 101, 20))
    axes.set_ylabel("attempts that succeed, %")
    axes.set_title(f"{name.capitalize()}: attacks beside people who are not in it", fontsize=10, color=INK)


if __name__ == "__main__":
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    everything = {name: found for name in sys.argv[1:] or DATA if (found := tried(name)) is not None}
    if len(everything) == len(DATA):
        draw(everything)
