"""Peaks of memory, measured in a process of its own: `python peaks.py memory|blocks records`, in bytes."""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

import shoal
from shoal.files.memory import size_in_memory
from shoal.stream.memory import size_in_blocks

COLUMNS = ["age", "height", "weight", "income"]


def measured(way, records=60_000):
    """The base and the growth that were measured, and those that were expected."""
    command = [sys.executable, __file__, way, str(records)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    base, whole, expected_base, expected = map(int, said.split())
    return base, whole - base, expected_base, expected - expected_base


def peak():
    """The most memory that this process has had so far."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.split("VmHWM:")[1].split()[0])


def main(way, records):
    """Print what was needed before the table, for the table, and what was expected for both."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        small, large, safe = (Path(folder) / name for name in ("small.csv", "large.csv", "safe.csv"))
        for path, n in ((small, 100), (large, records)):
            columns = {name: rng.normal(100, 20, n).round(2) for name in COLUMNS}
            pyarrow.csv.write_csv(pa.table(columns | {"note": [f"note {i % 50}" for i in range(n)]}), path)
        peaks = [anonymized(path, safe, 1 if way == "blocks" else None) for path in (small, large)]
        estimates = [
            size_in_blocks(n, len(COLUMNS), 1) if way == "blocks" else size_in_memory(path)
            for path, n in ((small, 100), (large, records))
        ]
    print(*peaks, *estimates)


def anonymized(path, target, blocks):
    shoal.anonymize_file(
        path, target, 5, COLUMNS, "note", method="mdav", blocks=blocks, overwrite=True, header=True
    )
    return peak()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
