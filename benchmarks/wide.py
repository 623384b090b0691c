"""Tables with more attributes than records: seconds and memory of a release, from CSV to CSV, verified.

    python benchmarks/wide.py

The reference is numpy, which computes the squared distances of all pairs of records once. Seconds are those of
the processor, the second of two runs, because the machines are shared; each release is a process of its own, whose
memory is the most that it held. `mdav` and `auto` are the methods alone, in this process.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from shoal import MDAV, Auto

SHAPES = ((60, 1_000), (60, 10_000), (200, 5_000))
K = 5
RELEASE = """
import json, resource, sys
from shoal.stream import anonymize_file
source, target, m, k = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
release = anonymize_file(source, target, k, [f"q{j}" for j in range(m)], overwrite=True)
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, release.manifest["output"]["verified_k"]]))
"""


def seconds(work):
    """Processor seconds of the second of two runs."""
    for _ in range(2):
        start = time.process_time()
        work()
        taken = time.process_time() - start
    return taken


def pairs(X):
    """The squared distances of all pairs of records, record by record."""
    return np.array([np.square(X - row).sum(axis=1) for row in X])


def released(X, folder):
    """Processor seconds and megabytes of a release of its own process, k verified."""
    source = folder / "wide.csv"
    names = ",".join(f"q{j}" for j in range(X.shape[1]))
    np.savetxt(source, X, "%.3f", ",", header=names, comments="")
    command = [sys.executable, "-c", RELEASE, str(source), str(folder / "out.csv"), str(X.shape[1]), str(K)]
    for _ in range(2):
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ)
    taken, megabytes, verified = json.loads(done.stdout)
    assert verified >= K
    return taken, megabytes


def main():
    print("| records x attributes | numpy pairs s | mdav s | ratio | auto s | ratio | file to file s | MB |")
    print("|---|---|---|---|---|---|---|---|")
    for n, m in SHAPES:
        X = np.random.default_rng(0).normal(size=(n, m))
        reference = seconds(lambda X=X: pairs(X))
        mdav = seconds(lambda X=X: MDAV(k=K).fit(X))
        auto = seconds(lambda X=X: Auto(k=K).fit(X))
        with tempfile.TemporaryDirectory() as folder:
            whole, megabytes = released(X, Path(folder))
        print(
            f"| {n} x {m} | {reference:.3f} | {mdav:.3f} | {mdav / reference:.1f} | {auto:.2f} | "
            f"{auto / reference:.0f} | {whole:.1f} | {megabytes:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
