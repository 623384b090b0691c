"""Small jobs for the tests: a table in parts, and what comes of it."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

import shoal

KEY = "000102030405060708090a0b0c0d0e0f"
ROLES = {"quasi_identifiers": ["age", "weight"], "confidential": ["ill"], "identifiers": ["name"], "key": KEY}
STEPS = (
    "look",
    "scan",
    "untouched",
    "tally",
    "measure",
    "spread",
    "group",
    "edge",
    "exchange",
    "close",
    "release",
    "deal",
    "write",
    "check",
    "count",
)


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"person {number}" for number in range(n)],
            "age": rng.normal(50, 12, n),
            "weight": rng.normal(70, 12, n).round(2),
            "ill": [f'flu, or "{number % 7}"' for number in range(n)],
            "room": rng.integers(0, 9, n),
        }
    )


def put(table, folder, parts, ending="parquet"):
    """Write a table in parts of odd sizes."""
    folder.mkdir()
    ends = np.linspace(0, 1, parts + 1) ** 1.5 * table.num_rows
    for number, (first, last) in enumerate(zip(ends.astype(int)[:-1], ends.astype(int)[1:], strict=True)):
        piece, path = table.slice(first, last - first), folder / f"part-{number}.{ending}"
        pq.write_table(piece, path) if ending == "parquet" else pa.csv.write_csv(piece, path)
    return folder


def bytes_in(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def rows_in(folder):
    return pa.concat_tables([pq.read_table(path) for path in sorted(Path(folder).iterdir())])


def release(source, target, k=3, engine="threads", workers=2, method="mdav", **given):
    return shoal.anonymize_file(source, target, k, engine=engine, workers=workers, method=method, **ROLES | given)
