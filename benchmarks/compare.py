"""`shoal compare` on public tables and on large ones.

    python benchmarks/compare.py                     all tables, about a quarter of an hour
    python benchmarks/compare.py census twenty       some of them

Writes docs/tables/compare_*.md and docs/pictures/compare_*.svg. A setting that is done is kept in the folder that
SHOAL_CACHE names, where it does, so that a run that was stopped resumes. Census and Adult come from ../shared/data
(or where SHOAL_SHARED says).
"""

import os
import sys
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.csv

import shoal
from shoal.comparison.rows import HEADER, cells_of

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
TABLES, PICTURES = ROOT / "docs" / "tables", ROOT / "docs" / "pictures"
KS, METHODS = (3, 5, 10, 25), ("mdav", "vmdav", "imhm", "pcl", "auto")
LIMIT = 30.0  # seconds a setting


def data(name):
    """A public table, or nothing, with the reason said."""
    path = SHARED / "data" / name
    if not path.exists():
        print(f"skipped: no {path}; say where the benchmark data are with SHOAL_SHARED", flush=True)
        return None
    return pyarrow.csv.read_csv(path)


def census():
    """1080 records, 13 numbers."""
    table = data("census.csv")
    return None if table is None else (table, {"quasi_identifiers": table.column_names})


def adult():
    """48 842 records: age, education and hours, as the first papers use them; 30 s a setting."""
    table = data("adult.csv.gz")
    quasi = ("age", "education-num", "hours-per-week")
    return None if table is None else (table.select([*quasi, "income"]), roles(*quasi) | {"seconds": LIMIT})


def mixed():
    """20 000 records of Adult with all its attributes, most of them categories; 30 s a setting."""
    table = data("adult.csv.gz")
    if table is None:
        return None
    chosen = np.sort(np.random.default_rng(1).choice(table.num_rows, 20_000, replace=False))
    quasi = [name for name in table.column_names if name not in ("fnlwgt", "education", "income")]
    table = table.select([*quasi, "income"]).take(chosen)
    return table, roles(*quasi) | {"gaps": "value", "seconds": LIMIT}


def roles(*quasi):
    return {"quasi_identifiers": list(quasi), "confidential": ["income"]}


def invented(n):
    """Five attributes: related, skewed, rounded."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    X[:, 1] += X[:, 0]
    X[:, 2] = np.round(10 * np.exp(X[:, 2]))
    names = ["a", "b", "c", "d", "e"]
    return pa.table(dict(zip(names, X.T, strict=True))), {"quasi_identifiers": names}


def twenty():
    """20 000 invented records, no limit of time."""
    return invented(20_000)


def hundred():
    """100 000 invented records, 30 s a setting."""
    table, given = invented(100_000)
    return table, given | {"seconds": LIMIT}


def measure(name, table, given):
    """The comparison of a table, its lines and its picture."""
    begin = perf_counter()

    def tell(done, total):
        print(f"{name}: {done} of {total} after {perf_counter() - begin:.0f} s", flush=True)

    cache = os.environ.get("SHOAL_CACHE")
    found = shoal.compare(table, KS, METHODS, cache=cache, progress=tell, **given)
    seconds = perf_counter() - begin
    write(TABLES / f"compare_{name}.md", found)
    found.plot(PICTURES / f"compare_{name}.svg", overwrite=True)
    fresh = "" if not found.cached else f", {found.cached} settings of an earlier run"
    print(f"{name}: {len(found.rows)} settings in {seconds:.1f} s{fresh}")
    print(found.recommendation.says, flush=True)
    return seconds


def write(path, found):
    """The rows as a table of the docs, without columns that are empty."""
    rows = [cells_of(row) for row in found.rows]
    rows = [(*row[:-1], "" if row[-1] == "from the cache" else row[-1]) for row in rows]
    shown = [place for place in range(len(HEADER)) if any(row[place] for row in rows)]
    lines = [[HEADER[place] for place in shown], ["---"] * len(shown), *([row[p] for p in shown] for row in rows)]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    path.write_text(text.replace("\u2009", " "), encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", shoal.ShoalWarning)
    tables = {each.__name__: each for each in (census, adult, mixed, twenty, hundred)}
    for name in sys.argv[1:] or tables:
        if (given := tables[name]()) is not None:
            measure(name, *given)
