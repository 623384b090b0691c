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
    "| data | k | best loss known | lower bound | gap | stage | seconds | peak memory |",
    "|---|--:|--:|--:|--:|---|--:|--:|",
]
NAMES = ["tarragona", "census", "eia"]


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


def row(name, k, best, found):
    gap = 100 * (best / found["loss"] - 1)
    return (
        f"| {name} | {k} | {best} | {found['loss']:.4f} | {gap:.2f} % | {found['stage']} "
        f"| {found['seconds']:.0f} | {found['memory']:.2f} GB |"
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
        rows[name, k] = row(name, k, records[name][records["k"].index(k)], json.loads(printed.splitlines()[-1]))
        print(rows[name, k], flush=True)
        ordered = sorted(rows, key=lambda key: (key[1], NAMES.index(key[0])))
        OUT.write_text("\n".join([*HEAD, *(rows[key] for key in ordered)]) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "case":
        case(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), float(sys.argv[5]))
    else:
        chosen = [(name, int(k)) for name, _, k in (text.partition(":") for text in sys.argv[3:])]
        main(Path(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 300.0, chosen)
