"""Several workers on one table: the same bytes, time, memory and loss; prints the table of docs/cluster.md.

    python benchmarks/cluster.py                       500 000 records, up to four workers
    python benchmarks/cluster.py --records 50000       a short form
    python benchmarks/cluster.py --workers 1           with one worker only
    python benchmarks/cluster.py --largest 100000000   and one table of so many records, with two workers
    python benchmarks/cluster.py --folder /scratch     where the files go, which are removed at the end

The records are those of shared/tools/large.py (or where SHOAL_SHARED says) in the units of people. Every run is a
process of its own; seconds of a processor are those of all its processes, which count where a machine is shared.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

ROOT = Path(__file__).parents[1]
SHARED = Path(os.environ.get("SHOAL_SHARED", ROOT.parent / "shared"))

SCALES = [
    (45, 15, 0), (50_000, 12_000, 0), (170, 9, 1), (75, 13, 1), (38_000, 14_000, 0),
    (900, 260, 2), (51, 1.5, 4), (10, 2, 4), (125, 15, 0), (5.4, 0.9, 2),
]  # fmt: skip
NAMES = [f"q{number}" for number in range(len(SCALES))]
PART = 125_000  # records of a part of the input, and of a cell
MIXTURE = 10_000_000  # records of one mixture: larger tables have several, so that they fit into memory while made
KEY = "000102030405060708090a0b0c0d0e0f"


def make(folder, n):
    """Write the table in parts, always the same."""
    sys.path.insert(0, str(SHARED / "tools"))
    from large import forest

    folder.mkdir(parents=True)
    rng = np.random.default_rng(5)
    for start in range(0, n, PART):
        if start % MIXTURE == 0:
            points = forest(min(n - start, MIXTURE), seed=2 + start // MIXTURE)
        rows = points[start % MIXTURE :][:PART]
        columns = [
            np.round(centre + spread * rows[:, place], decimals)
            for place, (centre, spread, decimals) in enumerate(SCALES)
        ]
        table = pa.table([*columns, rng.integers(0, 9, len(rows))], names=[*NAMES, "diagnosis"])
        pyarrow.parquet.write_table(table, folder / f"part-{start // PART:05d}.parquet")


def made(folder, n):
    """In a process of its own, which gives its memory back."""
    if not folder.exists():
        maker = get_context("spawn").Process(target=make, args=(folder, n))
        maker.start()
        maker.join()
    return folder


CODE = """
import json, sys
import shoal
from dataclasses import asdict
if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    names = [f"q{number}" for number in range(10)]
    made = shoal.anonymize_file(k=5, quasi_identifiers=names, confidential="diagnosis", overwrite=True, **given)
    times = {step: asdict(time) for step, time in made.times.items()}
    print(json.dumps({"loss": made.information_loss, "k": made.verified_k, "times": times,
                      "sha256": made.manifest["output"]["sha256"], "blocks": made.blocks}))
"""


def run(source, target, **given):
    """A release in a process of its own: what it says, with its time, that of all processors, and its memory."""
    given = {"path": str(source), "output": str(target), "key": KEY} | given
    script = target.parent / "run.py"
    script.write_text(CODE)
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, str(script), json.dumps(given)], stdout=subprocess.PIPE)
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, given
    found = json.loads(said)
    found |= {"wall": time.perf_counter() - began, "cpu": used.ru_utime + used.ru_stime}
    peaks = [each["peak"] for each in found["times"].values()]
    found["peak"] = max(peaks, default=used.ru_maxrss * 1024 / 1e6)
    print({name: value for name, value in found.items() if name != "times"}, flush=True)
    for step, each in found["times"].items():
        print(
            f"    {step:<10} {each['wall']:8.1f} s {each['work']:8.1f} s of a processor, {each['tasks']} tasks",
            flush=True,
        )
    return found


def row(what, n, found):
    """A line of the table."""
    work = sum(each["work"] for each in found["times"].values()) or found["cpu"]
    return (
        f"| {what} | {n:,} | {found['blocks']} | {found['wall']:.0f} | {found['cpu']:.0f} | "
        f"{1e6 * work / n:.0f} | "
        f"{found['peak']:.0f} | {found['loss']:.4f} | `{found['sha256'][:12]}` |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--largest", type=int)
    parser.add_argument("--folder", type=Path, default=Path("bench-cluster"))
    given = parser.parse_args()
    n, home = given.records, given.folder
    lines = [
        "| run | records | cells | seconds | processor s | µs a record | MB of a worker | loss % | hash |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    home.mkdir(parents=True, exist_ok=True)
    try:
        source, seen = made(home / "in", n), set()
        cells = max(1, n // PART)
        for workers in given.workers:
            found = run(source, home / "out", engine="dask", workers=workers, blocks=cells)
            seen.add(found["sha256"])
            lines.append(row(f"Dask, {workers} worker{'s' * (workers > 1)}", n, found))
        assert len(seen) == 1, seen
        table = pa.concat_tables([pyarrow.parquet.read_table(path) for path in sorted(source.iterdir())])
        pyarrow.parquet.write_table(table, home / "whole.parquet")
        lines.append(row("one machine, stream", n, run(home / "whole.parquet", home / "a.parquet", blocks=cells)))
        lines.append(
            row("one machine, in memory", n, run(home / "whole.parquet", home / "b.parquet", memory="64GB"))
        )
        for workers in given.workers:
            size = n // 2 * workers
            weak = made(home / f"weak-{size}", size)
            found = run(weak, home / "out", engine="dask", workers=workers, blocks=max(1, size // PART))
            lines.append(row(f"weak scaling, {workers}", size, found))
        if given.largest:
            large = made(home / "large", given.largest)
            found = run(large, home / "out", engine="dask", workers=2, memory="4GB")
            lines.append(row("two workers of 4 GB", given.largest, found))
        print("\n".join(lines))
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
