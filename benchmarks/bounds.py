"""Lower bounds of the standard data sets beside the best partitions known; writes docs/methods/tables/bounds.md.

    python benchmarks/bounds.py SHARED [SECONDS] [DATA:K ...]

SHARED is the folder with `data/` (the standard data sets) and `reference/records.toml` (the lowest losses known).
Each case runs in a process of its own on two cores, SECONDS (300) at most, without any partition to begin with.
Cases given replace or join those of the table.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
OUT = HERE.parent / "docs" / "methods" / "tables" / "bounds.md"
HEAD = [
    "| data | k | best loss known | lower bound | gap | before | stage | seconds | peak memory |",
    "|---|--:|--:|--:|--:|--:|---|--:|--:|",
]
NAMES = ["tarragona", "census", "eia"]
BEFORE = {
    "tarragona": (0.06, 0.06, 0.04, 2.99, 19.00, 19.64, 30.02, 45.35),
    "census": (0.08, 0.34, 0.49, 0.94, 10.08, 32.82, 35.27, 39.94),
    "eia": (1.77, 2.87, 2.79, 3.74, 5.70, 21.26, 29.73, 36.51),
}
"""Gaps in percent before there was a semidefinite stage, for k = 3, 4, 5, 6, 10, 25, 50, 100."""


def case(shared, name, k, seconds):
    """One bound, as information loss, in this process."""
    import resource

    sys.path.insert(0, str(HERE.parent / "tests" / "papers"))
    from published import points_of

    import shoal

    X = points_of(shared, name)
    shoal.lower_bound(X[:60], 3, seconds=20)  # so that everything is compiled
    bound = shoal.lower_bound(X, k, seconds=seconds, n_jobs=2)
    loss = 100 * bound / ((X - X.mean(axis=0)) ** 2).sum()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"loss": loss, "stage": bound.stage, "seconds": bound.seconds, "memory": memory}))


def row(name, k, best, before, found):
    digits = 5 if name == "eia" else 4
    gap = 100 * (best / found["loss"] - 1)
    return (
        f"| {name} | {k} | {best:.{digits}f} | {found['loss']:.{digits}f} | {gap:.2f} % | {before:.2f} % "
        f"| {found['stage']} | {found['seconds']:.0f} | {found['memory']:.2f} GB |"
    )


def known_rows():
    """The rows of the table as it is, by data and k."""
    lines = OUT.read_text().splitlines()[2:] if OUT.is_file() else []
    return {(cells[1].strip(), int(cells[2])): line for line in lines for cells in [line.split("|")]}


def main(shared, seconds, cases):
    records = tomllib.loads((shared / "reference" / "records.toml").read_text())
    rows = known_rows()
    for name, k in cases or [(name, k) for k in records["k"] for name in NAMES]:
        command = [sys.executable, __file__, "case", str(shared), name, str(k), str(seconds)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        place = records["k"].index(k)
        found = json.loads(printed.splitlines()[-1])
        rows[name, k] = row(name, k, records[name][place], BEFORE[name][place], found)
        print(rows[name, k], flush=True)
        ordered = sorted(rows, key=lambda key: (key[1], NAMES.index(key[0])))
        OUT.write_text("\n".join([*HEAD, *(rows[key] for key in ordered)]) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "case":
        case(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
    else:
        chosen = [(name, int(k)) for name, _, k in (text.partition(":") for text in sys.argv[3:])]
        main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 300.0, chosen)
