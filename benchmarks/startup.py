"""How long `shoal --help` takes, beside a bare interpreter: heavy imports wait until a command runs."""

import statistics
import subprocess
import sys
import time

RUNS = 15


def seconds(command: list[str]) -> float:
    """The median time of a command on a warm cache."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


bare = seconds([sys.executable, "-c", "pass"])
print(f"{'command':<24} {'seconds':>8} {'ratio to a bare interpreter':>28}")
for name, arguments in {
    "python -c pass": ["-c", "pass"],
    "import shoal": ["-c", "import shoal"],
    "shoal --help": ["-m", "shoal", "--help"],
    "shoal --version": ["-m", "shoal", "--version"],
    "shoal methods": ["-m", "shoal", "methods"],
}.items():
    taken = seconds([sys.executable, *arguments])
    print(f"{name:<24} {taken:8.3f} {taken / bare:28.1f}")
