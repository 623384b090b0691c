"""A newcomer's path: the built wheel into an empty environment, and the time until the first release after it.

python benchmarks/newcomer.py FOLDER_OF_THE_WHEEL
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic


def main() -> None:
    wheel = next(Path(sys.argv[1]).resolve().glob("shoal-*.whl"))
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", room / "env"], check=True)
        python = room / "env" / "bin" / "python"
        install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
        print(f"installed in {seconds(install, room):.1f} s")
        shoal = room / "env" / "bin" / "shoal"
        print(f"first release in {seconds([shoal, 'demo', '--folder', 'demo'], room):.1f} s")
        again = [shoal, "demo", "--folder", "demo", "--overwrite"]
        print(f"second release in {seconds(again, room):.1f} s")
        names = sorted(path.name for path in (room / "demo").iterdir())
        assert names == ["patients.csv", "release.csv", "release.csv.manifest.json", "report.html"], names


def seconds(command: list[object], folder: Path) -> float:
    began = monotonic()
    subprocess.run(list(map(str, command)), cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return monotonic() - began


if __name__ == "__main__":
    main()
