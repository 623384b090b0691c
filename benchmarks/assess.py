"""Every figure about 1 000 000 records and their release: how long each takes, and how much memory all need.

    python benchmarks/assess.py              1 000 000 records, some minutes; most of them make the release
    python benchmarks/assess.py 100000       fewer records; the table of the docs stays as it is

Six numeric and two nominal quasi-identifiers, a numeric and a nominal confidential column, k = 10, as CSV files.
The assessment runs in a process of its own, so that its peak memory is its own. Both editions of the report are
written where the package has them. Writes docs/tables/assess_million.md.
"""

import json
import resource
import subprocess
import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.csv

import shoal
from shoal import assessment
from shoal.measures.pair import PAIR_MEASURES

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "tables" / "assess_million.md"
RECORDS, K = 1_000_000, 10
NUMBERS, LETTERS = [f"x{i}" for i in range(6)], ["region", "trade"]
QUASI, CONFIDENTIAL = [*NUMBERS, *LETTERS], ["income", "illness"]


def table_of(n):
    """Numbers that hang together, two columns of categories, and two confidential ones that depend on them."""
    rng = np.random.default_rng(1)
    factors = rng.normal(size=(n, 3))
    numbers = (factors @ rng.normal(size=(3, 6)) + rng.normal(size=(n, 6))).round(3)
    region = np.clip((factors[:, 0] * 3 + rng.normal(size=n) + 6).astype(int), 0, 11)
    trade = np.minimum(rng.geometric(0.15, n), 30)
    income = np.exp(10 + 0.4 * factors[:, 1] + 0.3 * rng.normal(size=n)).round()
    illness = np.clip((factors[:, 2] + rng.normal(size=n) + 3).astype(int), 0, 6)
    columns = {name: numbers[:, i] for i, name in enumerate(NUMBERS)}
    columns |= {"region": np.char.add("r", region.astype(str)), "trade": np.char.add("t", trade.astype(str))}
    return pa.table(columns | {"income": income, "illness": np.char.add("i", illness.astype(str))})


def made(folder, n):
    """The original and its release, as files; the seconds that the release took."""
    pyarrow.csv.write_csv(table_of(n), folder / "original.csv")
    begin = perf_counter()
    release = shoal.anonymize(folder / "original.csv", K, QUASI, CONFIDENTIAL, method="mdav")
    release.write(folder / "released.csv")
    return perf_counter() - begin


def timed(name, function, seconds):
    def call(pair):
        begin = perf_counter()
        found = list(function(pair))
        seconds[name] = perf_counter() - begin, [figure.name for figure in found]
        return found

    return call


def measured(folder):
    """What each measure took, reading and matching, the report, and the peak memory; printed as JSON."""
    seconds, begin = {}, perf_counter()
    for name, measure in PAIR_MEASURES.items():
        PAIR_MEASURES[name] = replace(measure, figures=timed(name, measure.figures, seconds))
    found = assessment.assess(folder / "original.csv", folder / "released.csv")
    whole = perf_counter() - begin
    said = {"measures": seconds, "reading": whole - found.seconds, "whole": whole, "matched": found.matched}
    try:
        for edition in ("owner", "public"):
            begin = perf_counter()
            page = found.report(folder / f"{edition}.html", edition)
            said[edition] = perf_counter() - begin, page.stat().st_size / 1e6
    except ModuleNotFoundError as error:
        print(f"no report: {error}", file=sys.stderr)
    said["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps(said))


def lines_of(said, making):
    """The table: a line for each measure, and what it all comes to."""
    rows = [("reading, matching and coding", "", f"{said['reading']:.1f}")]
    rows += [
        (name.replace("_", " "), ", ".join(f"`{each}`" for each in figures), f"{seconds:.1f}")
        for name, (seconds, figures) in said["measures"].items()
    ]
    rows.append(("all figures", "", f"{said['whole']:.1f}"))
    for edition in ("owner", "public"):
        if edition in said:
            seconds, size = said[edition]
            rows.append((f"report, {edition}'s edition" if edition == "owner" else "report, public edition",
                         f"{size:.2f} MB", f"{seconds:.1f}"))  # fmt: skip
    rows.append(("peak memory", f"{said['peak']:.2f} GB", ""))
    rows.append(("beside it: making and writing the release (MDAV)", "", f"{making:.1f}"))
    header = ("what", "figures", "seconds")
    return ["| " + " | ".join(row) + " |" for row in [header, ("---",) * 3, *rows]]


def main(n):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made(folder, 2_000)  # so that nothing is compiled in the time taken
        for path in folder.iterdir():
            path.rename(folder / f"small-{path.name}")
        making = made(folder, n)
        run = [sys.executable, __file__, "measure", name]
        said = json.loads(subprocess.run(run, check=True, stdout=subprocess.PIPE).stdout)
    lines = lines_of(said, making)
    print("\n".join(lines))
    if n == RECORDS:
        TABLE.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    if sys.argv[1:2] == ["measure"]:
        measured(Path(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else RECORDS)
