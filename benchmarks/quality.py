"""How good each method really is: its loss beside a lower bound, on points without structure; writes a table.

    python benchmarks/quality.py [SECONDS [WORKERS [DATA:K ...]]]

1000 points uniform in the plane, and Gaussian in 2, 5 and 10 dimensions, seed 7. Each case gets SECONDS (60) for
its bound, on one thread, beginning with the groups of `Auto`; WORKERS (2) cases run side by side. Cases given
replace or join those of docs/methods/tables/quality.md, the table that `make pictures` draws quality.svg from.
"""

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from shoal import IMHM, MDAV, PCL, Auto, lower_bound

TABLE = Path(__file__).parents[1] / "docs" / "methods" / "tables" / "quality.md"
DATA = {
    "plane": lambda rng: rng.random((1000, 2)),
    "gauss 2": lambda rng: rng.normal(size=(1000, 2)),
    "gauss 5": lambda rng: rng.normal(size=(1000, 5)),
    "gauss 10": lambda rng: rng.normal(size=(1000, 10)),
}
K = (3, 4, 5, 7, 10, 15, 20, 30, 50, 100)
METHODS = (MDAV, IMHM, PCL, Auto)
HEAD = [
    "data",
    "k",
    "lower bound",
    "stage",
    *(f"{method.__name__} {what}" for method in METHODS for what in ("loss", "gap")),
]


def case(named, seconds):
    """A row of the table; losses and the bound in percent of the SST, gaps in percent of the bound."""
    name, k = named
    X = DATA[name](np.random.default_rng(7))
    sst = ((X - X.mean(axis=0)) ** 2).sum()
    models = [method(k=k).fit(X) for method in METHODS]
    bound = lower_bound(X, k, seconds, partition=models[-1].labels_)
    row = [name, str(k), f"{100 * bound / sst:.4f}", bound.stage]
    for model in models:
        row += [f"{100 * model.sse_ / sst:.4f}", f"{100 * (model.sse_ / bound - 1):.2f}"]
    return row


def known_rows():
    """The rows of the table as it is, by data and k."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()[2:] if TABLE.is_file() else []
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {(row[0], int(row[1])): row for row in rows}


def write(rows):
    """The table, in order."""
    ordered = [rows[name, k] for name in DATA for k in K if (name, k) in rows]
    cells = [HEAD, ["---", "--:", "--:", "---", *["--:"] * (len(HEAD) - 4)], *ordered]
    TABLE.write_text("\n".join(f"| {' | '.join(row)} |" for row in cells) + "\n", encoding="utf-8")


def main(seconds=60.0, workers=2, *chosen):
    rows = known_rows()
    parts = [text.partition(":") for text in chosen]
    cases = [(name, int(k)) for name, _, k in parts] or [(name, k) for name in DATA for k in K]
    with ProcessPoolExecutor(int(workers)) as pool:
        for row in pool.map(partial(case, seconds=float(seconds)), cases):
            rows[row[0], int(row[1])] = row
            write(rows)
            print(*row, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
