"""Figures of privacy models beside those of pycanon, and small tables for which pycanon has other figures.

    python benchmarks/pycanon.py [PYTHON]

PYTHON (or SHOAL_PYCANON) is an interpreter that has pycanon, for example in an environment of its own:

    python3 -m venv /tmp/pycanon && /tmp/pycanon/bin/pip install pycanon
    SHOAL_PYCANON=/tmp/pycanon/bin/python python benchmarks/pycanon.py

pycanon is no dependency of Shoal. It runs in another process, which takes all tables as JSON and hands its figures
back as JSON.

The first part compares k, the number of different values, the largest share, t-closeness and beta-likeness of 200
random tables. Half of their confidential columns hold numbers (t by the ordered distance), half hold words (t by
the equal distance). A difference above 1e-9 is an error. The tables have a plain index, no gaps and at least two
values, which both programs read in the same way.

The second part shows small tables for which pycanon departs from the definitions. The figures by hand stand beside
both. Shoal's must be the same as those by hand. They are written to docs/tables/models_pycanon.md.

Reference: J. Sáinz-Pardo Díaz, Á. López García, A Python library to check the level of anonymity of a dataset,
Scientific Data 9 (2022) 785.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from math import floor, inf
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.privacy.coding import coding_for, column_of
from shoal.privacy.k_anonymity import groups_in
from shoal.privacy.models import AlphaK, BetaLikeness, DeltaDisclosure, LDiversity, TCloseness
from shoal.privacy.rules import Rules

ROOT = Path(__file__).parents[1]
TABLES, NEAR, SEED = 200, 1e-9, 1
COMPARED = ("k", "l", "alpha", "t", "beta")

OTHER = """
import importlib.metadata, json, sys, warnings
import pandas as pd
from pycanon import anonymity
warnings.simplefilter("ignore")
measures = {
    "k": lambda *a: anonymity.k_anonymity(*a[:2]),
    "l": anonymity.l_diversity,
    "alpha": lambda *a: anonymity.alpha_k_anonymity(*a)[0],
    "t": anonymity.t_closeness,
    "beta": anonymity.basic_beta_likeness,
    "enhanced": anonymity.enhanced_beta_likeness,
    "entropy": anonymity.entropy_l_diversity,
    "recursive": lambda *a: anonymity.recursive_c_l_diversity(*a)[0],
    "delta": anonymity.delta_disclosure,
}
found = []
for table in json.load(sys.stdin):
    frame = pd.DataFrame(table["columns"], index=table["index"])
    others = [name for name in frame.columns if name != "x"]
    found.append({name: float(measures[name](frame, others, ["x"])) for name in table["measures"]})
json.dump({"version": importlib.metadata.version("pycanon"), "found": found}, sys.stdout)
"""


@dataclass(frozen=True)
class Table:
    """Quasi-identifiers and the confidential column x, with an index of pandas where it is not the plain one."""

    columns: dict[str, list]
    measures: tuple[str, ...] = COMPARED
    index: list[int] | None = field(default=None)

    def as_dict(self):
        """As JSON takes it."""
        return {"columns": self.columns, "measures": self.measures, "index": self.index}


def of_pycanon(python, tables):
    """The version of pycanon, and its figures for each table."""
    done = subprocess.run(
        [python, "-I", "-c", OTHER],
        input=json.dumps([table.as_dict() for table in tables]),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{python} cannot run pycanon:\n{done.stderr.strip()[-2000:]}")
    said = json.loads(done.stdout)
    return said["version"], said["found"]


MODELS = {
    "l": LDiversity(1, on="x"),
    "alpha": AlphaK(1, on="x"),
    "t": TCloseness(1, on="x"),  # ordered where x has numbers, else equal
    "beta": BetaLikeness(0, on="x"),
    "entropy": LDiversity(1, "entropy", on="x"),
    "delta": DeltaDisclosure(1, on="x"),
}


def of_shoal(table):
    """Shoal's figures for a table: those of the worst group."""
    arrow = pa.table(table.columns)
    labels = groups_in(arrow, [name for name in arrow.column_names if name != "x"])
    found = {}
    for measure in table.measures:
        if measure == "k":
            found[measure] = int(np.bincount(labels).min())
        elif measure == "recursive":
            found[measure] = recursive(arrow, labels)
        elif measure == "enhanced":
            found[measure] = enhanced(arrow, labels)
        else:
            model = MODELS[measure]
            figures = judged(model, arrow, labels)[0]
            found[measure] = float(figures.min() if model.at_least else figures.max())
    return found


def judged(model, arrow, labels):
    """The figures and the excesses of all groups."""
    values, excess = Rules.of([model], [coding_for(model, column_of("x", arrow["x"]))]).judge(labels)
    return values[0], excess[0]


def recursive(arrow, labels):
    """The smallest whole c, with l as large as every group allows; the ratio must be below c."""
    fewest = int(judged(LDiversity(1, on="x"), arrow, labels)[0].min())
    ratio = float(judged(LDiversity(fewest, "recursive", c=1, on="x"), arrow, labels)[0].max())
    return floor(ratio) + 1.0


def enhanced(arrow, labels):
    """The least beta of enhanced likeness; infinite where no beta is large enough."""
    largest = float(judged(BetaLikeness(0, on="x"), arrow, labels)[0].max())
    holds = not judged(BetaLikeness(largest, enhanced=True, on="x"), arrow, labels)[1].any()
    return largest if holds else inf


def random_tables():
    rng = np.random.default_rng(SEED)
    tables = []
    while len(tables) < TABLES:
        n, values = int(rng.integers(4, 300)), int(rng.integers(2, 12))
        codes = rng.choice(values, n, p=rng.dirichlet(np.full(values, 0.7)))
        if len(np.unique(codes)) < 2:
            continue
        numbers = np.sort(rng.choice(1000, values, replace=False) - 300) / rng.choice([1, 8])
        names = numbers.tolist() if len(tables) % 2 else [f"value {place}" for place in rng.permutation(values)]
        columns = {f"q{place}": rng.integers(0, 3, n).tolist() for place in range(int(rng.integers(1, 4)))}
        tables.append(Table(columns | {"x": [names[code] for code in codes]}))
    return tables


def compared(tables, theirs):
    """The largest difference of each measure; whether all are small enough."""
    apart = dict.fromkeys(COMPARED, 0.0)
    groups = records = 0
    for table, other in zip(tables, theirs, strict=True):
        own = of_shoal(table)
        records += len(table.columns["x"])
        groups += len({*zip(*(column for name, column in table.columns.items() if name != "x"), strict=True)})
        for measure in COMPARED:
            apart[measure] = max(apart[measure], abs(own[measure] - other[measure]))
    print(f"{len(tables)} tables with {records} records in {groups} groups\n")
    print("| measure | largest difference |\n|---|--:|")
    for measure, difference in apart.items():
        print(f"| {measure} | {difference:.1e} |")
    return max(apart.values()) <= NEAR


GROUPS = list("uuvv")
EXAMPLES = (
    (
        "recursive, smallest whole c: counts 4, 2, 1 and l = 3, so 4 < 1 c; pycanon sorts from the rarest on",
        Table({"q": ["u"] * 7, "x": list("aaaabbc")}, ("recursive",)),
        5.0,
    ),
    (
        "entropy: shares 1/2, 1/4, 1/4 have exp(H) = 2 sqrt 2; pycanon cuts it to a whole number",
        Table({"q": ["u"] * 4, "x": list("aabc")}, ("entropy",)),
        8**0.5,
    ),
    (
        "delta: group v has no a, so ln(0 / p) is infinite; pycanon passes over it and has ln 2 of group u",
        Table({"q": GROUPS, "x": list("abbb")}, ("delta",)),
        inf,
    ),
    (
        "l, index 0 2 1 3: group v has c only; pycanon takes the labels 1 and 3 for places, with b and c",
        Table({"q": GROUPS, "x": list("abcc")}, ("l",), [0, 2, 1, 3]),
        1.0,
    ),
    (
        "t, the same table and index: the table has 1/4 a, 1/4 b and 1/2 c, and group v has c only",
        Table({"q": GROUPS, "x": list("abcc")}, ("t",), [0, 2, 1, 3]),
        0.5,
    ),
    (
        "enhanced beta: b has 3/4 of the table and all of v; its gain 1/3 is above -ln(3/4) whatever beta is",
        Table({"q": GROUPS, "x": list("abbb")}, ("enhanced",)),
        inf,
    ),
)


def departures(theirs):
    """The small tables; whether Shoal has the figures by hand."""
    right = True
    lines = ["| table | by hand | Shoal | pycanon |", "| --- | --: | --: | --: |"]
    for (said, table, by_hand), other in zip(EXAMPLES, theirs, strict=True):
        (measure,) = table.measures
        own = of_shoal(table)[measure]
        right &= own == by_hand or abs(own - by_hand) <= NEAR
        lines.append(f"| {said} | {by_hand:.4g} | {own:.4g} | {other[measure]:.4g} |")
    (ROOT / "docs" / "tables" / "models_pycanon.md").write_text("\n".join([*lines, ""]), encoding="utf-8")
    print("", *lines, sep="\n")
    return right


def main(arguments):
    python = arguments[0] if arguments else os.environ.get("SHOAL_PYCANON")
    if not python or not Path(python).exists():
        sys.exit("Give an interpreter that has pycanon, or set SHOAL_PYCANON to it.")
    tables = random_tables()
    version, theirs = of_pycanon(python, [*tables, *(table for _, table, _ in EXAMPLES)])
    print(f"pycanon {version}: ", end="")
    same = compared(tables, theirs[: len(tables)])
    right = departures(theirs[len(tables) :])
    if not same:
        sys.exit("Some figures differ.")
    if not right:
        sys.exit("Some figures of Shoal are not those by hand.")


if __name__ == "__main__":
    main(sys.argv[1:])
