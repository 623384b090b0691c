"""A newcomer's path: the built wheel into an empty environment, and the time until the first release after it.

python benchmarks/newcomer.py FOLDER_OF_THE_WHEEL
python benchmarks/newcomer.py NAME=FOLDER NAME=FOLDER ...   a table: every wheel cold and warm, in turns

The table is for the docs. Cold is the first release after an installation: whatever was compiled is taken away
before each run. Every run is a process of its own on two cores, from its start to its end.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import NamedTuple

import numpy as np

RUNS = 5
RECORDS, COLUMNS = 1080, 13  # as many as Census


class Taken(NamedTuple):
    """The seconds of a process: by the clock, and of the processor."""

    wall: float
    cpu: float


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder)
        if "=" not in sys.argv[1]:
            first_steps(installed(Path(sys.argv[1]), room / "env"), room)
            return
        wheels = dict(each.split("=", 1) for each in sys.argv[1:])
        commands = {name: installed(Path(wheel), room / name) for name, wheel in wheels.items()}
        print_table(measured(commands, room))


def installed(wheels: Path, environment: Path) -> Path:
    """The command of a wheel in an environment of its own."""
    wheel = next(wheels.resolve().glob("shoal-*.whl"))
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    install = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    print(f"{wheel.name} installed in {seconds([*install, wheel], environment).wall:.1f} s", flush=True)
    return environment / "bin" / "shoal"


def first_steps(shoal: Path, room: Path) -> None:
    """The built-in example, twice."""
    print(f"first release in {seconds([shoal, 'demo', '--folder', 'demo'], room).wall:.1f} s")
    again = [shoal, "demo", "--folder", "demo", "--overwrite"]
    print(f"second release in {seconds(again, room).wall:.1f} s")
    names = sorted(path.name for path in (room / "demo").iterdir())
    assert names == ["patients.csv", "release.csv", "release.csv.manifest.json", "report.html"], names


def measured(commands: dict[str, Path], room: Path) -> dict[tuple[str, str], list[Taken]]:
    """The times of each wheel, cold and warm, the wheels in turns so that all see the same machine."""
    write_table(room / "cold.csv", RECORDS)
    write_table(room / "warm.csv", 1000)
    found: dict[tuple[str, str], list[Taken]] = {}
    for _ in range(RUNS):
        for name, shoal in commands.items():
            for method in ("auto", "MDAV"):
                forget(shoal)
                for state in ("cold", "warm"):
                    taken = seconds(release(shoal, method, f"{state}.csv"), room)
                    found.setdefault((f"{state}, {method}", name), []).append(taken)
                    print(f"{name}, {state}, {method}: {taken}", file=sys.stderr, flush=True)
            found.setdefault(("`shoal --help`", name), []).append(seconds([shoal, "--help"], room))
            python = [shoal.parent / "python", "-c", "import shoal"]
            found.setdefault(("`import shoal`", name), []).append(seconds(python, room))
    return found


def write_table(path: Path, records: int) -> None:
    """Skewed columns that depend on each other, in whole numbers."""
    rng = np.random.default_rng(1)
    values = np.exp(rng.normal(size=(RECORDS, COLUMNS)) @ rng.normal(size=(COLUMNS, COLUMNS)) / 4 + 8)[:records]
    lines = [",".join(columns()), *(",".join(map(str, row)) for row in values.astype(int).tolist())]
    path.write_text("\n".join(lines) + "\n")


def columns() -> list[str]:
    return [f"q{column}" for column in range(COLUMNS)]


def release(shoal: Path, method: str, file: str) -> list[object]:
    return [
        *(shoal, "anonymize", file, "-k", "5", "-q", ",".join(columns()), "--method", method),
        *("-o", "out.csv", "--overwrite", "--quiet"),
    ]


def forget(shoal: Path) -> None:
    """Whatever was compiled in this environment is gone."""
    for kernels in shoal.parent.parent.glob("lib/python*/site-packages/shoal/kernels"):
        for kept in [*kernels.rglob("*.nbi"), *kernels.rglob("*.nbc")]:
            kept.unlink()
    shutil.rmtree(shoal.parent.parent / "home", ignore_errors=True)


def seconds(command: list[object], folder: Path) -> Taken:
    """The time of a command; its home is empty, and numerical libraries have two threads."""
    own = {"HOME": str(folder / "home"), "XDG_CACHE_HOME": str(folder / "home" / ".cache")}
    before = sum(os.times()[2:4])
    began = monotonic()
    subprocess.run(
        list(map(str, command)), cwd=folder, check=True, stdout=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | own,
    )  # fmt: skip
    return Taken(monotonic() - began, sum(os.times()[2:4]) - before)


def print_table(found: dict[tuple[str, str], list[Taken]]) -> None:
    """Medians of the clock and of the processor, with the least and the most by the clock."""
    names = list(dict.fromkeys(name for _, name in found))
    print(f"| |{''.join(f' {name}: wall (least to most) | CPU |' for name in names)}")
    print(f"|---|{'---:|---:|' * len(names)}")
    for what in dict.fromkeys(what for what, _ in found):
        cells = []
        for name in names:
            walls = [each.wall for each in found[what, name]]
            middle, cpu = statistics.median(walls), statistics.median(each.cpu for each in found[what, name])
            cells.append(f" {middle:.2f} s ({min(walls):.2f} to {max(walls):.2f}) | {cpu:.2f} s |")
        print(f"| {what} |{''.join(cells)}")


if __name__ == "__main__":
    main()
