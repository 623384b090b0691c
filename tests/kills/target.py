"""Runs of the command that are killed, signalled, starved and crowded at random, and what they leave.

    python tests/kills/target.py --cases 200 --seed 7

After each case: what stands under a name is whole (read by the csv module and pyarrow, k counted, its hash that of the
undisturbed run), nothing says more than lines that begin with "shoal: ", and the status is one of those that the docs
name. Then the same command runs again, and nothing may be left beside its files. The first violation ends it with the
seed and the case. Most runs are forks of this process, which has imported Shoal; their file operations are counted by
an audit hook, so that a signal can be sent at any of them. Work that is resumed is sometimes disturbed again.
"""

import argparse
import contextlib
import csv
import hashlib
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process is forked while it has one thread

import numpy as np
import pyarrow.parquet
from processes import LIMIT, Run, Setup, Violation, count_steps, finish, fork, on_steps, process, signal_at

import shoal.cli
import shoal.pipeline
import shoal.report.page
import shoal.stream.ordering
import shoal.stream.run

shoal.stream.ordering.HELD = 3000  # so that the streamed tables are spread over buckets

K, RECORDS = 3, 400
QUASI = ("age", "weight")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@dataclass
class Kind:
    """A command, and what it gives when nothing disturbs it."""

    name: str
    arguments: list[str]
    output: str | None  # None for standard output
    others: tuple[str, ...] = ()
    sha256: str = ""
    seconds: float = 0.0
    steps: int = 0
    largest: int = 0

    @property
    def files(self) -> set[str]:
        """What stands in the folder afterwards, beside the input."""
        own = {self.output, f"{self.output}.manifest.json"} if self.output else set()
        return own | set(self.others)


KEY = "000102030405060708090a0b0c0d0e0f"  # of the order of the rows, so that every run gives the same bytes
ROLES = ["-k", str(K), "-q", ",".join(QUASI), "-c", "diagnosis", "-i", "name", "--key", KEY]
KINDS = [
    Kind("csv", ["anonymize", "in.csv", *ROLES, "--method", "mdav", "-o", "out.csv"], "out.csv"),
    Kind(
        "report",
        ["anonymize", "in.csv", *ROLES, "--method", "mdav", "-o", "out.csv", "--report", "out.html"],
        "out.csv",
        ("out.html",),
    ),
    Kind("auto", ["anonymize", "in.csv", *ROLES, "-o", "out.parquet"], "out.parquet"),
    Kind("streamed", ["anonymize", "in.csv", "--recipe", "blocks.json", "-o", "out.csv"], "out.csv"),
    Kind("refined", ["anonymize", "in.csv", "--recipe", "refined.json", "-o", "out.csv"], "out.csv"),
    Kind("pipe", ["anonymize", "in.csv", *ROLES, "--method", "mdav", "-o", "-"], None),
]


def main() -> int:
    """Run so many cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--forks", action="store_true", help="forks only: nothing is mounted, no process starts")
    given = parser.parse_args()
    for number in SIGNALS[1:]:  # in the background of a script some are ignored, and would be by all runs
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="shoal-kills-") as name:
        return Trial(Path(name), seed).run(given.cases, FORKED if given.forks else TROUBLES)


class Trial:
    """All cases of a seed, in folders of their own."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home, self.seed, self.random = home, seed, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        home.chmod(0o755)
        self.shared = home / "shared"
        self.shared.mkdir()
        make_inputs(self.shared)
        load_kernels()

    def run(self, cases: int, troubles: "list[Trouble]") -> int:
        """Case after case, each kind of trouble in turn, until a promise is broken."""
        began, self.cases = time.monotonic(), cases
        for kind in KINDS:
            self.learn(kind)
        number = 0
        for trouble in itertools.cycle(troubles):
            if number == cases:
                break
            kind = self.random.choice(KINDS)
            folder = self.folder(f"case-{number}")
            what = f"{trouble.__name__} on {kind.name}"
            try:
                if not trouble(self, kind, folder):
                    continue
            except Violation as broken:
                print(f"BROKEN by case {number} of seed {self.seed} ({what}): {broken}", flush=True)
                return 1
            finally:
                if folder.is_dir():
                    folder.chmod(0o755)
                    shutil.rmtree(folder)
            self.counts[trouble.__name__] += 1
            number += 1
            if number % 50 == 0:
                print(f"{number} cases", flush=True)
        listed = ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))
        said = ", ".join(f"{count} of {status}" for status, count in sorted(self.statuses.items()))
        skipped = "".join(f"; skipped: {reason}" for reason in sorted(self.skipped))
        said += f"; undisturbed {', '.join(f'{kind.name} {kind.seconds:.1f} s' for kind in KINDS)}"
        seconds = time.monotonic() - began
        print(
            f"{number} cases, all promises kept ({listed}); statuses: {said}{skipped}; {seconds:.0f} s, seed {self.seed}"
        )
        return 0

    def folder(self, name: str, parent: Path | None = None) -> Path:
        """A fresh folder with the inputs."""
        made = (parent or self.home) / name
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(self.shared, made)
        return made

    def learn(self, kind: Kind) -> None:
        """What a command gives, how long it takes, and how many file operations."""
        folder, noted = self.folder("learned"), self.home / "steps"
        began = time.monotonic()
        run = finish(fork(Setup(folder, kind.arguments, [lambda: count_steps(folder, noted)])))
        kind.seconds = time.monotonic() - began
        if run.status != 0:
            raise SystemExit(f"{kind.name} fails undisturbed: {run.err}")
        content = run.out if kind.output is None else (folder / kind.output).read_bytes()
        kind.sha256, kind.steps = hashlib.sha256(content).hexdigest(), len(noted.read_bytes())
        kind.largest = max(path.stat().st_size for path in folder.iterdir())
        folder.rename(self.home / f"learned-{kind.name}")
        folder = self.home / f"learned-{kind.name}"
        noted.unlink()
        self.check(kind, folder, run)

    def check(self, kind: Kind, folder: Path, run: Run, replaced: bool = False) -> None:
        """What a run has said and left, however it ended; `replaced` says that there was an earlier release."""
        self.statuses[run.status or 0] += 1
        for line in run.err.splitlines():
            if not line.startswith("shoal: ") and kind.output is not None:
                raise Violation(f"it said {run.err!r}")
        if run.status not in (0, 1, 2, 129, 130, 143, -1, -2, -9, -15):
            raise Violation(f"status {run.status}: {run.err!r}")
        if "Traceback" in run.err or "internal error" in run.err:
            raise Violation(f"it said {run.err!r}")
        left = beside(folder)
        if kind.output is None:
            if run.status == 0 and hashlib.sha256(run.out).hexdigest() != kind.sha256:
                raise Violation("standard output is not the release")
        elif kind.output in left:
            check_release(kind, folder)
        if run.status is not None and run.status >= 0:
            parts = [name for name in left if name.endswith(".part")]
            if parts:
                raise Violation(f"status {run.status}, and {parts} are left")
        done = replaced or "exists already" in run.err or "what goes to files was written" in run.err
        if run.status == 2 and kind.output in left and run.err and not done:
            raise Violation(f"an error, and yet a release: {run.err!r}")
        if replaced and not kind.files <= left:
            raise Violation(f"of the earlier release there is only {sorted(left)}")

    def again(self, kind: Kind, folder: Path, replaced: bool = False) -> None:
        """The same command once more: all is there, and nothing else.

        Work that waits needs no leave to overwrite, even where its files have their names, unless it `replaced` others.
        """

        def leave() -> list[str]:
            return ["-f"] if kind.output in beside(folder) and (replaced or not waits(kind, folder)) else []

        if (waits(kind, folder) or kind.output not in beside(folder)) and self.random.random() < 0.4:
            which, at = self.random.choice(SIGNALS), int(kind.steps * self.random.random() ** 2)
            before = [lambda: signal_at(folder, at, which)]
            run = finish(fork(Setup(folder, [*kind.arguments, *leave()], before)))
            self.counts["disturbed again"] += 1
            self.check(kind, folder, run, replaced)
        before = beside(folder)
        run = finish(fork(Setup(folder, [*kind.arguments, *leave()])))
        if run.status != 0:
            raise Violation(f"the next run fails ({run.status}) beside {sorted(before)}: {run.err!r}")
        if beside(folder) != kind.files:
            raise Violation(f"after the next run there is {sorted(beside(folder))}")
        if kind.output is not None:
            check_release(kind, folder)
            if hash_of(folder / kind.output) != kind.sha256:
                raise Violation("the next run gives other bytes")


def make_inputs(folder: Path) -> None:
    """A table, and the recipes that stream it."""
    drawn = random.Random(1)
    with (folder / "in.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *QUASI, "diagnosis"])
        for number in range(RECORDS):
            weight = round(drawn.gauss(70, 12), 1)
            writer.writerow([f"person {number}", drawn.randint(18, 90), weight, drawn.choice(["flu", "gout"])])
    roles = {"quasi_identifiers": list(QUASI), "confidential": ["diagnosis"], "identifiers": ["name"]}
    for name, method in (("blocks", "mdav"), ("refined", "refined")):
        given = {"k": K, "blocks": 3, "method": method, "random_state": 1}
        pid = os.fork()  # whoever reads tables has threads from then on
        if not pid:
            try:
                shoal.anonymize_file(folder / "in.csv", folder / "made.csv", **given, **roles)
                os._exit(0)
            finally:
                os._exit(1)
        if os.waitpid(pid, 0)[1]:
            raise SystemExit("the recipes cannot be made")
        (folder / "made.csv").unlink()
        (folder / "made.csv.manifest.json").rename(folder / f"{name}.json")


def load_kernels() -> None:
    """Forks find compiled code in memory; all threads have ended when this returns."""
    drawn = np.random.default_rng(0).normal(size=(RECORDS, len(QUASI)))
    for method in (shoal.MDAV(k=K), shoal.Refined(k=K, rounds=1)):
        method.fit(drawn)


INPUTS = {"in.csv", "blocks.json", "refined.json"}


def beside(folder: Path) -> set[str]:
    """The names in a folder, but for the inputs."""
    return {path.name for path in folder.iterdir()} - INPUTS


def waits(kind: Kind, folder: Path) -> bool:
    """Whether unfinished work waits for the same command."""
    return (folder / f".{kind.output}.shoal" / "state.json").exists()


def hash_of(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def check_release(kind: Kind, folder: Path) -> None:
    """A release under its name is whole, k-anonymous, that of the undisturbed run, and has all that belongs to it."""
    path = folder / str(kind.output)
    missing = kind.files - beside(folder)
    if missing:
        raise Violation(f"the release stands there without {sorted(missing)}")
    manifest = json.loads((folder / f"{kind.output}.manifest.json").read_text())
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            header, *rows = csv.reader(file)
    else:
        table = pyarrow.parquet.read_table(path)
        header, rows = table.column_names, [list(row.values()) for row in table.to_pylist()]
    if header != [*QUASI, "diagnosis"] or len(rows) != RECORDS:
        raise Violation(f"a release of {len(rows)} records with the columns {header}")
    smallest = min(Counter(tuple(row[:2]) for row in rows).values())
    if smallest < K:
        raise Violation(f"a group of {smallest}")
    if hash_of(path) != manifest["output"]["sha256"]:
        raise Violation("release and manifest do not belong together")
    if hash_of(path) != kind.sha256 and not manifest["method"].get("interrupted"):
        raise Violation("the release is not that of the undisturbed run")
    for name in kind.others:
        if not (folder / name).read_text().rstrip().endswith("</html>"):
            raise Violation(f"{name} is not whole")


# ---- troubles: each makes one case, or says that it cannot

Trouble = Callable[[Trial, Kind, Path], bool]


def moment(trial: Trial, kind: Kind, folder: Path) -> bool:
    """A signal at a random moment."""
    which = trial.random.choice(SIGNALS)
    run = fork(Setup(folder, kind.arguments))
    time.sleep(trial.random.uniform(0, 1.1 * kind.seconds))
    with contextlib.suppress(ProcessLookupError):
        os.kill(run.pid, which)
    trial.check(kind, folder, finish(run))
    trial.again(kind, folder)
    return True


def step(trial: Trial, kind: Kind, folder: Path) -> bool:
    """A signal at a random file operation, perhaps over an earlier release."""
    which, at = trial.random.choice(SIGNALS), trial.random.randrange(kind.steps + 1)
    replaced = kind.output is not None and trial.random.random() < 0.3
    for name in kind.files if replaced else ():
        shutil.copyfile(trial.home / f"learned-{kind.name}" / name, folder / name)
    arguments = [*kind.arguments, *(["-f"] if replaced else [])]
    run = finish(fork(Setup(folder, arguments, [lambda: signal_at(folder, at, which)])))
    trial.check(kind, folder, run, replaced)
    trial.again(kind, folder, replaced)
    return True


def start(trial: Trial, kind: Kind, folder: Path) -> bool:
    """A signal while the interpreter and the libraries start; before Shoal's first line Python speaks for itself."""
    which = trial.random.choice(SIGNALS[:3])
    run = process(folder, kind.arguments)
    time.sleep(trial.random.uniform(0.3, 1.5))
    run.send_signal(which)
    out, err = run.communicate(timeout=LIMIT)
    ended = Run(run.returncode, out, err.decode())
    if "Traceback" in ended.err and "shoal/cli" not in ended.err and "shoal/entry" not in ended.err:
        ended = Run(-which, out)
    trial.check(kind, folder, ended)
    trial.again(kind, folder)
    return True


def full_disk(trial: Trial, kind: Kind, folder: Path) -> bool:
    """A disk with little room, a tmpfs of its own."""
    disk = trial.home / "disk"
    disk.mkdir(exist_ok=True)
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m,mode=755", "tmpfs", disk], capture_output=True
    ).returncode:
        trial.skipped["full_disk (no disk can be mounted here)"] += 1
        return False
    try:
        inside = trial.folder("work", disk)
        ballast = disk / "ballast"
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
        ballast.write_bytes(
            b"\0" * max(0, free - trial.random.choice([0, 4096, 8192, 16384, 32768, 65536, 131072]))
        )
        run = finish(fork(Setup(inside, kind.arguments)))
        trial.check(kind, inside, run)
        ballast.unlink()
        trial.again(kind, inside)
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)  # whoever looks at it now may go on looking
    return True


def file_size(trial: Trial, kind: Kind, folder: Path) -> bool:
    """No file may grow above a limit (ulimit -f)."""
    most = max(1024, int(kind.largest * trial.random.random() ** 2))  # what is said goes to a file too

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    run = finish(fork(Setup(folder, kind.arguments, [limit])))
    trial.check(kind, folder, run)
    trial.again(kind, folder)
    return True


def read_only(trial: Trial, kind: Kind, folder: Path) -> bool:
    """A folder that may not be written; root becomes nobody first."""
    folder.chmod(0o555)

    def nobody() -> None:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)

    if kind.output is None:
        return False
    run = finish(fork(Setup(folder, kind.arguments, [nobody])))
    folder.chmod(0o755)
    if run.status != 2 or beside(folder):
        raise Violation(f"a folder that is read-only: status {run.status}, {beside(folder)}, {run.err!r}")
    trial.check(kind, folder, run)
    trial.again(kind, folder)
    return True


def closed(trial: Trial, kind: Kind, folder: Path) -> bool:
    """Streams that are closed or full."""
    streams = " ".join(trial.random.choice(choices) for choices in CLOSED)
    run = process(folder, [*kind.arguments], streams)
    out, err = run.communicate(timeout=LIMIT)
    refused = kind.output is None and ("1>&-" in streams or "1>/dev/full" in streams)
    expected = 2 if refused or "1>/dev/full" in streams else 0
    if run.returncode != expected:
        raise Violation(f"{streams}: status {run.returncode}, not {expected}: {err!r}")
    if refused:
        out = b""
    trial.check(kind, folder, Run(run.returncode, out, err.decode()))
    trial.again(kind, folder)
    return True


CLOSED = (("", "<&-"), ("", "1>&-", "1>/dev/full"), ("", "2>&-", "2>/dev/full"))


def crowd(trial: Trial, kind: Kind, folder: Path) -> bool:
    """Two runs on one output: one wins, or both give the same; no mixture."""
    if kind.output is None:
        return False
    more = trial.random.choice([[], ["-f"]])
    runs = [fork(Setup(folder, [*kind.arguments, *more]))]
    time.sleep(trial.random.uniform(0, 0.6 * kind.seconds) if trial.random.random() < 0.5 else 0)
    runs.append(fork(Setup(folder, [*kind.arguments, *more])))
    ended = [finish(run) for run in runs]
    if not any(run.status == 0 for run in ended):
        raise Violation(f"two runs, and none succeeds: {[run.err for run in ended]}")
    for run in ended:
        if run.status not in (0, 2):
            raise Violation(f"two runs: status {run.status}: {run.err!r}")
    trial.check(kind, folder, Run(0, b"", "".join(run.err for run in ended)))
    trial.again(kind, folder)
    return True


STRANGE = b"somebody else's"


def stranger(trial: Trial, kind: Kind, folder: Path) -> bool:
    """Somebody else's file comes to the output's place at any file operation: without -f it survives every run."""
    if kind.output is None:
        return False
    path, left = folder / kind.output, itertools.count(trial.random.randrange(kind.steps + 1), -1)

    def plant() -> None:
        if next(left) == 0 and not path.exists():
            path.write_bytes(STRANGE)

    run = finish(fork(Setup(folder, kind.arguments, [lambda: on_steps(folder, plant)])))
    if not path.exists() or path.read_bytes() != STRANGE:  # it came too late
        trial.check(kind, folder, run)
        trial.again(kind, folder)
        return True
    for ended in (run, finish(fork(Setup(folder, kind.arguments)))):
        if ended.status != 2 or "exists already" not in ended.err or path.read_bytes() != STRANGE:
            raise Violation(
                f"somebody else's file came: status {ended.status}, {ended.err!r}, {path.read_bytes()!r}"
            )
    if beside(folder) - {kind.output, f".{kind.output}.shoal"}:
        raise Violation(f"beside somebody else's file there is {sorted(beside(folder))}")
    path.unlink()
    trial.again(kind, folder)
    return True


READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && HOME=/dev/null exec "$@"'


def no_cache(trial: Trial, kind: Kind, folder: Path) -> bool:
    """Shoal installed read-only, for a user without a home; compiled anew, so once only."""
    if trial.counts["no_cache"] or kind.name != "csv" or trial.cases < 100:
        return False
    package = Path(shoal.__file__).parents[1]
    arguments = [str(package), sys.executable, "-m", "shoal", *kind.arguments, "--quiet"]
    command = ["unshare", "-m", "bash", "-c", READ_ONLY, "bash", *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if run.returncode == 1 or run.returncode == 32:
        trial.skipped["no_cache (nothing can be mounted here)"] += 1
        return False
    if run.returncode or run.stderr.count("\n") != 1 or "NUMBA_CACHE_DIR" not in run.stderr:
        raise Violation(f"without a cache: status {run.returncode}, {run.stderr!r}")
    trial.check(kind, folder, Run(0, b"", run.stderr))
    trial.again(kind, folder)
    return True


TROUBLES = [
    moment,
    step,
    moment,
    step,
    file_size,
    moment,
    step,
    full_disk,
    crowd,
    moment,
    step,
    stranger,
    read_only,
    closed,
    start,
    no_cache,
]
FORKED = [step, stranger, crowd, moment, file_size, read_only]


if __name__ == "__main__":
    sys.exit(main())
