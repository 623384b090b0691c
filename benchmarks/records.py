"""Refined against the lowest losses known of the 24 standard cases; writes docs/methods/tables/refined_records.md.

    python benchmarks/records.py                        all cases, 300 s for k up to 6 and 60 s above: over an hour
    python benchmarks/records.py 20 census:3,10 eia:5   chosen cases, 20 s each; writes nothing
    python benchmarks/records.py small                  500 random tables of up to 20 records against the optimum

The columns at 1, 5, 60 and 300 s are what one run had by then (its `history_`). Rounds double in length whatever
the budget, and only the last is fitted to what is left: a run with a smaller budget does about as well or better.
Data and published figures are read from ../shared (or where SHOAL_SHARED says).
"""

import os
import sys
import tomllib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
sys.path.insert(0, str(ROOT / "tests" / "papers"))

from published import figures, points_of  # noqa: E402

import shoal  # noqa: E402
from shoal import Optimal, Refined  # noqa: E402

TABLE = ROOT / "docs" / "methods" / "tables" / "refined_records.md"
RECORDS = tomllib.loads((SHARED / "reference" / "records.toml").read_text())
IMHM = figures(SHARED)["casc"]["imhm"]
SECONDS = (1, 5, 60, 300)


def bound_of(X, k):
    """The loss that no partition is below, in percent, where the library can say it."""
    if not hasattr(shoal, "lower_bound"):
        return None
    total = ((X - X.mean(axis=0)) ** 2).sum()
    return 100 * float(shoal.lower_bound(X, k)) / total


def case(name, k, seconds):
    X, place = points_of(SHARED, name), RECORDS["k"].index(k)
    model = Refined(k=k, seconds=seconds).fit(X)
    percent = 100 / model.partition_.sst
    swept = min(sse for _, sse, stage in model.history_ if stage in ("start", "exchanges")) * percent
    ours = {s: min(sse for when, sse, _ in model.history_ if when <= s) * percent for s in SECONDS if s <= seconds}
    ours[seconds] = model.information_loss_
    return {
        "case": f"{name.capitalize()} {k}",
        "mdav": model.history_[0][1] * percent,
        "swept": swept,
        "imhm": IMHM[name][place],
        "record": RECORDS[name][place],
        "ours": ours,
        "bound": bound_of(X, k),
    }


def row_of(found):
    digits = 5 if found["case"].startswith("Eia") else 4
    last = min(found["ours"].values())
    cells = [found["case"], *(f"{found[key]:.{digits}f}" for key in ("mdav", "swept", "imhm", "record"))]
    cells += [f"{found['ours'][s]:.{digits}f}" if s in found["ours"] else "" for s in SECONDS]
    bound = found["bound"]
    cells += ["", ""] if bound is None else [f"{bound:.{digits}f}", f"{100 * (last / bound - 1):.2f} %"]
    return cells


def table_of(rows):
    header = ["case", "MDAV", "exchanges", "IMHM", "record", *(f"{s} s" for s in SECONDS), "lower bound", "gap"]
    return "\n".join("| " + " | ".join(row) + " |" for row in [header, ["---"] * len(header), *rows]) + "\n"


def summary(cases):
    last = [min(found["ours"].values()) for found in cases]
    above = [100 * (value / found["record"] - 1) for value, found in zip(last, cases, strict=True)]
    gain = np.mean([100 * (1 - found["swept"] / found["mdav"]) for found in cases])
    met = sum(round(value, 4) <= found["record"] for value, found in zip(last, cases, strict=True))
    below = sum(found["ours"].get(5, value) < found["imhm"] for value, found in zip(last, cases, strict=True))
    print(f"exchanges alone: {gain:.1f} % below MDAV on average")
    print(f"after 5 s below IMHM: {below} of {len(cases)}")
    print(f"at the end at or below the record: {met} of {len(cases)}; at most {max(above):.2f} % above")


def small(count=500):
    """Random tables of up to 20 records, with ties and duplicates among them, against the optimum."""
    rng, missed = np.random.default_rng(7), 0
    for number in range(count):
        n, k, m = int(rng.integers(4, 21)), int(rng.integers(2, 6)), int(rng.integers(1, 5))
        X = rng.normal(size=(n, m))
        X, k = [X, np.round(X), X[rng.integers(0, n, n)]][number % 3], min(k, n)
        least = Optimal(k=k).fit(X).sse_
        missed += Refined(k=k).fit(X).sse_ > least * (1 + 1e-9) + 1e-12
    print(f"the optimum in {count - missed} of {count}")


def main(arguments):
    if arguments == ["small"]:
        small()
        return
    Refined(k=3, rounds=2).fit(np.random.default_rng(0).normal(size=(100, 3)))  # compiled before the clock runs
    Refined(k=10).fit(np.random.default_rng(0).normal(size=(100, 3)))
    chosen = [(spec.split(":")[0], int(k)) for spec in arguments[1:] for k in spec.split(":")[1].split(",")]
    everything = [(name, k) for name in ("census", "tarragona", "eia") for k in RECORDS["k"]]
    cases = []
    for name, k in chosen or everything:
        cases.append(case(name, k, float(arguments[0]) if arguments else 300.0 if k <= 6 else 60.0))
        print(table_of([row_of(cases[-1])]).splitlines()[-1], flush=True)
    summary(cases)
    if not arguments:
        TABLE.write_text(table_of([row_of(found) for found in cases]), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
