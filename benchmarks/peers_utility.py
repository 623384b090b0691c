"""Figures of utility beside those of other programs on the same two tables, and why some differ.

    python benchmarks/peers_utility.py

Needs R (`Rscript` on the PATH). SHOAL_SDCMICRO names a copy of sdcMicro's R/dUtility.R: its function dUtilityWORK
is run as it stands there. pMSE by synthpop's formula is the mean of (p - c)², with p from R's glm, which has no
penalty. Census comes from ../shared/data (or where SHOAL_SHARED says). Writes docs/tables/peers_utility.md.
"""

import csv
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow.csv

import shoal
from shoal.datasets import clinic
from shoal.measures.utility.propensity import crossed, stacked

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
SDCMICRO = os.environ.get("SHOAL_SDCMICRO", "")
TABLE = ROOT / "docs" / "tables" / "peers_utility.md"

R = """
args <- commandArgs(TRUE)
read <- function(name) read.csv(file.path(args[1], name))
x <- read("before.csv"); y <- read("after.csv"); terms <- read("terms.csv")
said <- function(name, value) cat(name, format(value, digits = 12), "\\n")
for (e in parse(args[2])) if (identical(as.character(e[[2]])[1], "dUtilityWORK")) eval(e)
for (m in c("IL1s", "IL1old", "eigen")) said(m, dUtilityWORK(x, y, method = m))
pmse <- function(data, formula) {
  fit <- suppressWarnings(glm(formula, binomial, data, control = list(maxit = 100)))
  mean((fitted(fit) - mean(data$released))^2)
}
said("glm", pmse(terms, released ~ .))
both <- rbind(cbind(x, released = 0), cbind(y, released = 1))
said("synthpop", pmse(both, released ~ .^2))
"""

PEERS = (
    ("il1s_sum", "IL1s", "sdcMicro, dUtility(method = 'IL1s')"),
    ("il1s_mean", "IL1old", "sdcMicro, dUtility(method = 'IL1old')"),
    ("correlation_eigenvalues", "eigen", "sdcMicro, dUtility(method = 'eigen')"),
    ("pmse_logistic", "glm", "R's glm on the terms of Shoal"),
    ("pmse_logistic", "synthpop", "R's glm on the terms of synthpop's default"),
)


def tables():
    """Numeric tables by name."""
    yield "clinic, 3000 x 4", clinic().select(["birth_year", "height", "weight", "income"])
    path = SHARED / "data" / "census.csv"
    if path.exists():
        table = pyarrow.csv.read_csv(path)
        yield f"Census, {table.num_rows} x {table.num_columns}", table


def write(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


def by_r(pair):
    """What R says of a pair."""
    _, matrix, released = stacked(pair)
    terms = np.column_stack([crossed(matrix), released])
    names = [column.name.replace(" ", "_") for column in pair.columns]
    with tempfile.TemporaryDirectory() as folder:
        for side in ("before", "after"):
            rows = np.column_stack([getattr(column, side) for column in pair.columns])
            write(Path(folder) / f"{side}.csv", names, rows.tolist())
        header = [*(f"t{i}" for i in range(terms.shape[1] - 1)), "released"]
        write(Path(folder) / "terms.csv", header, terms.tolist())
        script = Path(folder) / "run.R"
        script.write_text(R, encoding="utf-8")
        run = ["Rscript", "--vanilla", str(script), folder, SDCMICRO]
        lines = subprocess.run(run, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: float(value) for name, value in (line.split() for line in lines)}


def reason(called, other):
    """Why a figure of another program differs."""
    if called == "eigen":
        return "sdcMicro divides by an eigenvalue that is 0 but for rounding; Shoal leaves it out"
    if other > 0.2499:
        return "without a penalty, the fit separates the two tables completely"
    if called == "synthpop":
        return "no squares, which see that variances shrink; no penalty"
    return "Shoal has a ridge penalty of 1/2"


def main():
    if shutil.which("Rscript") is None or not Path(SDCMICRO).is_file():
        print("skipped: Rscript and a copy of sdcMicro's R/dUtility.R (SHOAL_SDCMICRO) are needed")
        return
    rows = [("table", "k", "figure", "Shoal", "peer", "peer's figure", "difference", "why"), ("---",) * 8]
    for name, table in tables():
        for k in (5, 25):
            release = shoal.anonymize(table, k, table.column_names, method="mdav")
            found = shoal.assess(table, release)
            peers = by_r(found.pair)
            for figure, called, peer in PEERS:
                own, other = found.utility[figure].value, peers[called]
                same = abs(own - other) <= 1e-9 * abs(other)
                why = "" if same else reason(called, other)
                far = "none" if same else f"{own - other:+.2g}"
                rows.append((name, str(k), f"`{figure}`", f"{own:.6g}", peer, f"{other:.6g}", far, why))
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    TABLE.write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    main()
