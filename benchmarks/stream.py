"""A table larger than memory: time, memory and the same release after a kill; writes docs/tables/stream.md.

    python benchmarks/stream.py                      3 GB within 1 GB, about half an hour
    python benchmarks/stream.py --gigabytes 0.2      a short form, which writes no table
    python benchmarks/stream.py --folder /scratch    where the files go, which are removed at the end

The records are those of shared/tools/large.py (or where SHOAL_SHARED says) in the units of people: ten numeric
quasi-identifiers, a name, and text.
"""

import argparse
import csv
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))
TABLE = ROOT / "docs" / "tables" / "stream.md"

COLUMNS = {  # centre, spread, decimals
    "age": (45, 15, 0),
    "postcode": (50_000, 12_000, 0),
    "height": (170, 9, 1),
    "weight": (75, 13, 1),
    "income": (38_000, 14_000, 0),
    "rent": (900, 260, 2),
    "latitude": (51, 1.5, 4),
    "longitude": (10, 2, 4),
    "pressure": (125, 15, 0),
    "glucose": (5.4, 0.9, 2),
}
DIAGNOSES = ["none", "flu", "gout", "asthma, chronic", "fracture", "migraine", "diabetes", "anaemia"]
NOTE = (
    "seen by the practice on the day of the visit, advised to come back if it gets no better within two weeks; "
    "letter sent to the family doctor, copy kept in the file"
)
BYTES = 260  # of a record, about


def make(path, n):
    """Write the table, always the same."""
    sys.path.insert(0, str(SHARED / "tools"))
    from large import forest

    points = forest(n)
    rng = np.random.default_rng(5)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *COLUMNS, "diagnosis", "cost", "note"])
        for start in range(0, n, 100_000):
            part = points[start : start + 100_000]
            numbers = [
                [f"{value:.{decimals}f}" for value in centre + spread * part[:, column]]
                for column, (centre, spread, decimals) in enumerate(COLUMNS.values())
            ]
            diagnosis = [DIAGNOSES[number] for number in rng.integers(0, len(DIAGNOSES), len(part))]
            cost = [f"{value:.2f}" for value in rng.lognormal(5, 1, len(part))]
            names = [f"person {number:09d}" for number in range(start, start + len(part))]
            writer.writerows(zip(names, *numbers, diagnosis, cost, [NOTE] * len(part), strict=True))


def peak(process):
    """The most memory that a process has held, in MB; asked of the kernel while it runs."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) * 1024 / 1e6
    except (OSError, AttributeError):
        return 0.0


def blocks_done(output):
    """How many blocks are grouped, and how many there are."""
    folder = output.with_name(f".{output.name}.shoal")
    try:
        blocks = json.loads((folder / "state.json").read_text()).get("blocks", 0)
    except (OSError, ValueError):
        return 0, 0
    return len(list(folder.glob("done-*.json"))), blocks


def run(table, output, memory, method, kill_at_half=False, key=None):
    """Run the command, with a key for the order of the rows or without; returns seconds and peak memory."""
    command = [
        *(sys.executable, "-m", "shoal", "anonymize", str(table), "-k", "5", "-q", ",".join(COLUMNS)),
        *("-c", "diagnosis,cost,note", "-i", "name", "-o", str(output), "--memory", memory, "--method", method),
        *(["--key", key] if key else []),
    ]
    begin, most = time.perf_counter(), 0.0
    stages = {}
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            most = max(most, peak(process))
            done, blocks = blocks_done(output)
            stages.setdefault(stage_of(output), round(time.perf_counter() - begin, 1))
            if kill_at_half and blocks and done >= blocks // 2:
                process.send_signal(signal.SIGKILL)
            time.sleep(0.1)
    print(f"{time.perf_counter() - begin:.0f} s, {most:.0f} MB, exit status {process.returncode}; began {stages}")
    return time.perf_counter() - begin, most


def stage_of(output):
    """What the run is doing."""
    folder = output.with_name(f".{output.name}.shoal")
    if list(folder.glob("bucket-*")):
        return "verify"
    if (folder / f"finished-{output.name}").exists():
        return "write"
    if (folder / "order").exists():
        return "spread"
    try:
        return json.loads((folder / "state.json").read_text())["stage"]
    except (OSError, ValueError):
        return "look"


def sha256(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def rows_of(table, output, memory, method):
    """The rows of the table in the docs."""
    size = table.stat().st_size
    seconds, most = run(table, output, memory, method)
    manifest = json.loads(output.with_name(output.name + ".manifest.json").read_text())
    killed = output.with_name("killed.csv")
    key, figures = manifest["key"], manifest["figures"]
    records = figures["records"]["value"]
    run(table, killed, memory, method, kill_at_half=True, key=key)
    assert not killed.exists()
    rest, again = run(table, killed, memory, method, key=key)
    same = "yes" if sha256(killed) == sha256(output) == manifest["output"]["sha256"] else "NO"
    return [
        ("input", f"{size / 1e9:.2f} GB CSV, {records:,} records, {len(COLUMNS)} quasi-identifiers"),
        ("limit", memory),
        ("peak resident memory", f"{most:.0f} MB"),
        ("time", f"{seconds / 60:.1f} min, {size / 1e6 / seconds:.1f} MB/s"),
        ("blocks", manifest.get("blocks", 1)),
        ("groups", f"{figures['groups']['value']:,}"),
        ("verified k", manifest["output"]["verified_k"]),
        ("information loss", f"{figures['information_loss']['value']:.3f} %"),
        ("killed at half, then resumed", f"{rest / 60:.1f} min more, {again:.0f} MB"),
        ("the same release, to the hash", same),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=3.0)
    parser.add_argument("--memory", default="1GB")
    parser.add_argument("--method", default="mdav")
    parser.add_argument("--folder", type=Path, default=Path("bench-stream"))
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    try:
        table, output = given.folder / "people.csv", given.folder / "safe.csv"
        # In a process of its own, which gives its memory back.
        maker = get_context("spawn").Process(target=make, args=(table, int(given.gigabytes * 1e9 / BYTES)))
        maker.start()
        maker.join()
        rows = rows_of(table, output, given.memory, given.method)
        lines = ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)]
        print("\n".join(lines))
        if given.gigabytes >= 3:
            TABLE.parent.mkdir(exist_ok=True)
            TABLE.write_text("\n".join([*lines, ""]), encoding="utf-8")
    finally:
        shutil.rmtree(given.folder)


if __name__ == "__main__":
    main()
