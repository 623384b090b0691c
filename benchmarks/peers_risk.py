"""Figures of risk beside those of other tools, on one release of a sample of Adult.

    SHOAL_ANONYMETER=.../bin/python SHOAL_SDCMICRO=.../sdcMicro python benchmarks/peers_risk.py

SHOAL_ANONYMETER is a Python that has anonymeter, which may need an older numpy than Shoal. SHOAL_SDCMICRO is a
copy of the source of sdcMicro; its R functions are run by Rscript. Where one of them is not given, sdcMicro's
figures are computed here by its published formulas, and anonymeter's are left out. Writes
docs/tables/peers_risk.md. Adult is read from ../shared/data (or where SHOAL_SHARED says).
"""

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.csv
from attacks import DATA, SHARED, pair_of

import shoal
import shoal.measures.utility
from shoal.measures.pair import PAIR_MEASURES

TABLE = Path(__file__).parents[1] / "docs" / "tables" / "peers_risk.md"
RECORDS, CONTROL, K = 4000, 1000, 5
ABOUT = DATA["adult"]
NUMBERS = ["age", "education-num", "hours-per-week", "capital-gain"]

ANONYMETER = """
import json, sys, warnings
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

warnings.simplefilter("ignore")
about = json.load(sys.stdin)
ori, syn, control = (pd.read_csv(about[name]) for name in ("original", "released", "control"))
quasi, secrets, found = about["quasi"], about["confidential"], {}


def said(evaluator):
    results = evaluator.results(confidence_level=0.95)
    rates = [results.attack_rate.value, results.control_rate.value, results.baseline_rate.value]
    return [100 * rate for rate in rates] + [100 * results.risk().value]


for mode in ("univariate", "multivariate"):
    evaluator = SinglingOutEvaluator(
        ori[quasi], syn[quasi], n_attacks=500, control=control[quasi], max_attempts=20000, seed=0
    )
    try:
        found[mode] = said(evaluator.evaluate(mode=mode))
    except RuntimeError as error:
        found[mode] = str(error).splitlines()[0]
evaluator = LinkabilityEvaluator(
    ori, syn, aux_cols=(quasi[::2], quasi[1::2]), n_attacks=500, n_neighbors=1, control=control
)
found["linkability"] = said(evaluator.evaluate(n_jobs=1))
for secret in secrets:
    evaluator = InferenceEvaluator(ori, syn, aux_cols=quasi, secret=secret, n_attacks=500, control=control)
    found[secret] = said(evaluator.evaluate(n_jobs=1))
print(json.dumps(found))
"""

SDCMICRO = """
given <- commandArgs(TRUE)
for (file in c("dRisk.R", "dUtility.R")) suppressWarnings(source(file.path(given[1], "R", file)))
x <- read.csv(given[2], check.names = FALSE)
xm <- read.csv(given[3], check.names = FALSE)
found <- c(dRiskWORK(x, xm, k = 0.05), dUtilityWORK(x, xm, "IL1s"), dUtilityWORK(x, xm, "eigen"))
cat(format(found, digits = 17), sep = "\\n")
"""


def by_anonymeter(folder):
    """Attack, control, baseline and risk of each evaluator, in percent; nothing where there is no anonymeter."""
    if not (python := os.environ.get("SHOAL_ANONYMETER")):
        return {}
    about = {name: str(folder / f"{name}.csv") for name in ("original", "released", "control")}
    about |= {"quasi": ABOUT["quasi"], "confidential": ABOUT["confidential"]}
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [python, "-c", ANONYMETER], input=json.dumps(about), capture_output=True, text=True, env=clean, check=False
    )
    if ran.returncode:
        sys.exit(f"anonymeter failed: {ran.stderr}")
    return json.loads(ran.stdout.splitlines()[-1])


def by_sdcmicro(x, xm, folder):
    """dRisk, IL1s and the difference of eigenvalues, and how they were found."""
    source = os.environ.get("SHOAL_SDCMICRO")
    if source and shutil.which("Rscript"):
        for name, values in (("x", x), ("xm", xm)):
            np.savetxt(folder / f"{name}.csv", values, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
        ran = subprocess.run(
            ["Rscript", "-e", SDCMICRO, source, folder / "x.csv", folder / "xm.csv"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if ran.returncode:
            sys.exit(f"R failed: {ran.stderr}")
        return [float(line) for line in ran.stdout.split()[-3:]], "its R functions, run"
    far = 0.05 * xm.std(axis=0, ddof=1)
    risk = float((abs(x - xm) <= far).all(axis=1).mean())
    loss = float((abs(x - xm) / (x.std(axis=0, ddof=1) * np.sqrt(2))).sum())
    one, two = (np.linalg.eigvalsh(np.corrcoef(each.T))[::-1] for each in (x, xm))
    return [risk, loss, float((abs(one - two) / one).sum())], "by its published formula"


def rows_of(figures, found):
    """Ours beside anonymeter's: success, control, guessing and risk, and why they differ."""
    singled = {row[0]: row for row in figures["singling_out_success"].table.rows}
    told = {row[0]: row for row in figures["inference_success"].table.rows}
    (linked,) = figures["linkability_success"].table.rows
    pairs = (
        ("singling out, one column", singled["one column, quasi-identifiers"], "univariate",
         "The conditions are the same. Ours are counted in as many people as the control has, theirs in all, and "
         "the control is corrected by a fitted model. Its shares are the middles of Wilson's intervals."),
        ("singling out, three columns", singled["several columns, quasi-identifiers"], "multivariate",
         "As above. Few conditions on a release of groups are true for one record only, so both rest on few."),
        ("linkability", linked, "linkability",
         "Of equally near records it takes the one that its sorting puts first, ours a random group. Records of "
         "one group, which nobody can tell apart, are different for it and one for us."),
        *((f"inference of {secret}", told[secret], secret,
           "It takes the value of one nearest record, ours the most frequent one of its group. Its guessing draws "
           "released records, and loses those whose row numbers are not those of its targets.")
          for secret in ABOUT["confidential"]),
    )  # fmt: skip
    rows = []
    for what, ours, key, why in pairs:
        theirs = found.get(key, "not run")
        mine = (ours[8] if ours[8] is not None else ours[2], ours[7], ours[5], ours[9])
        rows.append((what, said(mine), said(theirs), why))
    return rows


def said(shares):
    """Shares in percent as a text."""
    return shares if isinstance(shares, str) else " / ".join("-" if s is None else f"{s:.1f}" for s in shares)


def main():
    path = SHARED / "data" / ABOUT["file"]
    if not path.exists():
        sys.exit(f"skipped: no {path}; say where the benchmark data are with SHOAL_SHARED")
    table = pyarrow.csv.read_csv(path).select([*ABOUT["quasi"], *ABOUT["confidential"]])
    rows = np.random.default_rng(1).permutation(len(table))[: RECORDS + CONTROL]
    original, control = table.take(pa.array(rows[:RECORDS])), table.take(pa.array(rows[RECORDS:]))
    release = shoal.anonymize(
        original, k=K, quasi_identifiers=ABOUT["quasi"], confidential=ABOUT["confidential"], method="mdav",
        gaps="value", keep_order=True,
    )  # fmt: skip
    pair = pair_of(ABOUT, original, release.table, control)
    figures = {
        figure.name: figure
        for what in ("attacks", "interval_disclosure", "value_errors", "associations")
        for figure in PAIR_MEASURES[what].figures(pair)
    }
    columns = [column for column in pair.quasi_identifiers if column.name in NUMBERS]
    x, xm = (np.column_stack([getattr(column, when) for column in columns]) for when in ("before", "after"))
    with TemporaryDirectory() as name:
        folder = Path(name)
        for what, part in (("original", original), ("released", release.table), ("control", control)):
            pyarrow.csv.write_csv(pa.table(part), folder / f"{what}.csv")
        attacks = rows_of(figures, by_anonymeter(folder))
        (risk, loss, turned), how = by_sdcmicro(x, xm, folder)
    ours = [figures[name].value for name in ("interval_disclosure_at_once", "il1s_sum", "correlation_eigenvalues")]
    theirs = [100 * risk, loss, turned]
    header = ("figure", "Shoal", "other tool", "why they differ")
    called = ("dRisk, k = 0.05, %", "IL1s, sum", "change of eigenvalues")
    micro = [
        (f"{what} (sdcMicro, {how})", f"{mine:.6f}", f"{other:.6f}", "They are the same.")
        for what, mine, other in zip(called, ours, theirs, strict=True)
    ]
    assert np.allclose(ours, theirs, rtol=1e-9), f"figures of one definition differ: {ours}, {theirs}"
    named = [(f"{what}: success / control / guessing / risk, % (anonymeter)", *rest) for what, *rest in attacks]
    lines = ["| " + " | ".join(row) + " |" for row in [header, ("---",) * 4, *named, *micro]]
    note = f"{RECORDS} records of Adult, {CONTROL} others as the control set, mdav with k = {K}, 500 attempts."
    TABLE.write_text("\n".join([*lines, "", note, ""]), encoding="utf-8")
    print(*lines, note, sep="\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    main()
