"""Jobs on a Dask cluster whose workers, scheduler or client are killed at random, and what they leave.

    python tests/kills/cluster.py --cases 60 --seed 7

Scheduler, workers and client are processes. In a random task of a step, at a random file operation, one of them gets
a SIGKILL, or a part of the input is cut off or changed; or the disk is small. Every step has every trouble once before
any has it again. What stands under the output's name after that is whole, and has the hash of the undisturbed run; what
was said is a line that begins with "shoal: ". A disturbed job runs again, on what is left of its cluster or on another
one, sometimes disturbed again, and leaves nothing beside its output. The first violation ends it with the seed and the
case.
"""

import argparse
import asyncio
import contextlib
import hashlib
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # a process is forked while it has one thread
os.environ["DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT"] = "2s"  # so long a client looks for a lost scheduler

import distributed
import pyarrow as pa
import pyarrow.parquet as pq
from processes import Run, Setup, Violation, finish, fork, on_steps

import shoal.cli
import shoal.engines.dask
import shoal.stream.cluster.run
import shoal.stream.cluster.writing
from shoal.stream.cluster.steps import SHARES
from shoal.stream.cluster.task import STEPS

shoal.stream.cluster.run.CELL = 140  # so that a small table has several cells and parts
shoal.stream.cluster.run.OUTPUT = 150
shoal.stream.cluster.writing.TUPLES = 250

K, RECORDS, PARTS, WORKERS = 3, 400, 3, 2
QUASI = ["age", "weight"]
KEY = "000102030405060708090a0b0c0d0e0f"
ARGUMENTS = ["anonymize", "in/*.parquet", "-k", str(K), "-q", ",".join(QUASI), "-i", "name", "--key", KEY]
OPERATIONS = 9  # of a task in its folder, about
VICTIMS = ("worker", "scheduler", "client")
SPOILT = ("cut off", "changed")
DONE = [step for step in SHARES if step in STEPS]


@dataclass(frozen=True)
class Trouble:
    """What happens in which step, so many file operations after the start of one of its tasks."""

    step: str
    kind: str
    operations: int


@dataclass
class Cluster:
    """A scheduler and its workers."""

    address: str
    scheduler: int
    workers: list[int] = field(default_factory=list)

    def end(self) -> None:
        """Kill those that are left."""
        for pid in (self.scheduler, *self.workers):
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)


def main() -> int:
    """Run so many cases."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--minutes", type=float, default=None, help="begin no case after so many minutes")
    given = parser.parse_args()
    seed = random.SystemRandom().randrange(10**6) if given.seed is None else given.seed
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="shoal-kills-") as name:
        return Trial(Path(name), seed).run(given.cases, given.minutes)


class Trial:
    """All cases of a seed, in folders of their own."""

    def __init__(self, home: Path, seed: int) -> None:
        self.home, self.seed, self.random = home, seed, random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.expected = ""
        self.learn()

    def learn(self) -> None:
        """What the command gives when nothing disturbs it."""
        folder = self.folder("learned")
        with self.cluster(folder, None) as cluster:
            run = self.job(folder, cluster, None)
            if run.status != 0:
                raise SystemExit(f"it fails undisturbed: {run.err}")
            self.check(folder, run)
        self.expected = hash_in(folder)

    def run(self, cases: int, minutes: float | None) -> int:
        """Case after case, until a promise is broken."""
        began, number = time.monotonic(), 0
        for number, trouble in enumerate(itertools.islice(self.troubles(), cases)):
            if minutes is not None and time.monotonic() > began + 60 * minutes:
                break
            folder = self.folder(f"case-{number}")
            try:
                self.case(folder, trouble)
            except Violation as broken:
                print(f"BROKEN by case {number} of seed {self.seed} ({trouble}): {broken}", flush=True)
                return 1
            shutil.rmtree(folder)
            self.counts[trouble.kind] += 1
        listed = ", ".join(f"{count} {name}" for name, count in sorted(self.counts.items()))
        said = ", ".join(f"{count} of {status}" for status, count in sorted(self.statuses.items()))
        print(
            f"{self.counts.total()} cases, all promises kept ({listed}); statuses: {said}; "
            f"{time.monotonic() - began:.0f} s, seed {self.seed}"
        )
        return 0

    def troubles(self) -> Iterator[Trouble]:
        """Every trouble in every step, in random order; then all of them again."""
        while True:
            every = [(step, kind) for step in DONE for kind in (*VICTIMS, *SPOILT)]
            every += [("", "small disk")] * 5
            self.random.shuffle(every)
            for step, kind in every:
                yield Trouble(step, kind, self.random.randrange(OPERATIONS + 3))

    def case(self, folder: Path, trouble: Trouble) -> None:
        """One trouble, then the same command until it is done."""
        if trouble.kind == "small disk":
            self.small_disk(folder)
            return
        spoilt = trouble.kind in SPOILT
        with self.cluster(folder, trouble) as cluster:
            run = self.job(folder, cluster, trouble)
            self.check(folder, run)
            if trouble.kind == "worker" and run.status != 0:
                raise Violation(f"one worker of {WORKERS} was lost, and the status is {run.status}: {run.err!r}")
            if spoilt and run.status != 0 and beside(folder):
                raise Violation(f"a part was spoilt, and {beside(folder)} is left: {run.err!r}")
            if trouble.kind == "client" and run.status != 0:  # its workers may still be at work
                run = self.job(folder, cluster, None)
                self.check(folder, run)
        while run.status != 0 and not spoilt:
            more = Trouble(
                self.random.choice(DONE), self.random.choice(VICTIMS), self.random.randrange(OPERATIONS)
            )
            wanted = more if self.random.random() < 0.3 else None
            with self.cluster(folder, wanted) as cluster:
                run = self.job(folder, cluster, wanted)
                self.check(folder, run)
            if wanted is None and run.status != 0:
                raise Violation(f"the next run fails: {run.err!r}")
        if run.status == 0 and beside(folder) != {"out", "out.manifest.json"}:
            raise Violation(f"at last there is {beside(folder)}")

    def small_disk(self, folder: Path) -> None:
        """The private folder and the output are on a disk that is soon full; then there is room."""
        disk = folder / "disk"
        disk.mkdir()
        size = self.random.randrange(20, 600)
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", disk]
        if subprocess.run(mount, capture_output=True).returncode:
            return
        try:
            (disk / "in").symlink_to(folder / "in")
            with self.cluster(folder, None) as cluster:
                run = self.job(disk, cluster, None)
                self.check(disk, run)
                if run.status != 0:
                    if "is full" not in run.err:
                        raise Violation(f"on a disk of {size} kB it said {run.err!r}")
                    subprocess.run(["mount", "-o", "remount,size=50m", disk], check=True)
                    run = self.job(disk, cluster, None)
                    self.check(disk, run)
            if run.status != 0 or beside(disk) != {"out", "out.manifest.json"}:
                raise Violation(f"with room at last: status {run.status}, {beside(disk)}, {run.err!r}")
        finally:
            subprocess.run(["umount", disk], check=True)

    @contextlib.contextmanager
    def cluster(self, folder: Path, trouble: Trouble | None) -> Iterator[Cluster]:
        """A scheduler and workers, who make the trouble."""
        notes = Path(tempfile.mkdtemp(dir=self.home))
        said = notes / "address"
        scheduler = forked(lambda: asyncio.run(schedule(said)), notes)
        until = time.monotonic() + 60
        while not said.exists():
            if time.monotonic() > until:
                raise Violation("no scheduler begins")
            time.sleep(0.01)
        cluster = Cluster(said.read_text(), scheduler)
        try:
            for _ in range(WORKERS):
                cluster.workers.append(forked(lambda: worker(cluster, folder, notes, trouble), notes))
            self.notes = notes
            yield cluster
        finally:
            cluster.end()
            shutil.rmtree(notes, ignore_errors=True)

    def job(self, folder: Path, cluster: Cluster, trouble: Trouble | None) -> Run:
        """The command."""
        arguments = [*ARGUMENTS, "-o", "out", "--engine", "dask", "--scheduler", cluster.address, "--quiet"]
        under_way = fork(Setup(folder, arguments))
        if trouble is not None:
            (self.notes / "client.part").write_text(str(under_way.pid))
            (self.notes / "client.part").rename(self.notes / "client")
        return finish(under_way)

    def check(self, folder: Path, run: Run) -> None:
        """What a run has said and left, however it ended."""
        self.statuses[run.status or 0] += 1
        if run.status not in (0, 2, -9):
            raise Violation(f"status {run.status}: {run.err!r}")
        for line in run.err.splitlines():
            if not line.startswith("shoal: "):
                raise Violation(f"it said {run.err!r}")
        left = beside(folder)
        if "out.manifest.json" in left:
            self.check_release(folder)
        elif run.status == 0:
            raise Violation("status 0, and no release")
        if run.status == 2 and left - {".out.shoal"}:
            raise Violation(f"an error, and there is {left}: {run.err!r}")
        if run.status == 2 and "resumes here" not in run.err and ".out.shoal" in left:
            raise Violation(f"it does not resume, and yet keeps its work: {run.err!r}")
        if ".out.shoal" in left and (folder / ".out.shoal").stat().st_mode & 0o077:
            raise Violation("others may open the private folder")

    def check_release(self, folder: Path) -> None:
        """A release whose manifest is there is whole, k-anonymous and that of the undisturbed run."""
        manifest = json.loads((folder / "out.manifest.json").read_text())
        paths = sorted((folder / "out").iterdir())
        if [each["sha256"] for each in manifest["output"]["parts"]] != [sha256_of(path) for path in paths]:
            raise Violation("release and manifest do not belong together")
        rows = pa.concat_tables([pq.read_table(path) for path in paths])
        sizes = Counter(zip(*(rows[name].to_pylist() for name in QUASI), strict=True))
        if rows.num_rows != RECORDS or min(sizes.values()) < K or "name" in rows.column_names:
            raise Violation(f"{rows.num_rows} records, the smallest group has {min(sizes.values())}")
        came = [each["sha256"] for each in manifest["input"]["parts"]]
        spoilt = came != [sha256_of(path) for path in sorted((self.home / "learned" / "in").iterdir())]
        if self.expected and not spoilt and hash_in(folder) != self.expected:
            raise Violation("the release is not that of the undisturbed run")

    def folder(self, name: str) -> Path:
        """A fresh folder with the input."""
        made = self.home / name
        (made / "in").mkdir(parents=True)
        table, ends = people(), [0, 90, 250, RECORDS]
        for number, (first, last) in enumerate(itertools.pairwise(ends)):
            pq.write_table(table.slice(first, last - first), made / "in" / f"part-{number}.parquet")
        return made


def people() -> pa.Table:
    """A table."""
    drawn = random.Random(1)
    return pa.table(
        {
            "name": [f"person {number}" for number in range(RECORDS)],
            "age": [drawn.gauss(50, 12) for _ in range(RECORDS)],
            "weight": [round(drawn.gauss(70, 12), 2) for _ in range(RECORDS)],
            "ill": [drawn.choice(["flu", "gout"]) for _ in range(RECORDS)],
        }
    )


def forked(work: Callable[[], None], notes: Path) -> int:
    """Work in a copy of this process, which says nothing."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setsid()
        said = os.open(notes / f"said-{os.getpid()}", os.O_WRONLY | os.O_CREAT)
        os.dup2(said, 1)
        os.dup2(said, 2)
        work()
    finally:
        os._exit(1)


async def schedule(said: Path) -> None:
    """A scheduler, which writes down its address."""
    async with distributed.Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        said.with_suffix(".part").write_text(scheduler.address)
        said.with_suffix(".part").rename(said)
        await scheduler.finished()


def worker(cluster: Cluster, folder: Path, notes: Path, trouble: Trouble | None) -> None:
    """A worker, which makes a trouble in one task if no other has made it."""
    if trouble is not None:
        make(trouble, cluster, folder, notes)

    async def work() -> None:
        async with distributed.Worker(
            cluster.address, nthreads=1, memory_limit=None, dashboard=False, local_directory=str(notes)
        ) as running:
            await running.finished()

    asyncio.run(work())


def make(trouble: Trouble, cluster: Cluster, folder: Path, notes: Path) -> None:
    """Have a trouble made at the file operation that it names."""
    real, left = STEPS[trouble.step], itertools.repeat(-1)

    def met(job: object, number: int) -> object:
        nonlocal left
        with contextlib.suppress(FileExistsError):
            (notes / "met").open("x").close()
            left = itertools.count(trouble.operations, -1)
        return real(job, number)

    def operation() -> None:
        if next(left) == 0:
            act(trouble.kind, cluster, folder, notes)

    STEPS[trouble.step] = met
    on_steps(folder, operation)


def act(kind: str, cluster: Cluster, folder: Path, notes: Path) -> None:
    """The trouble itself."""
    path = folder / "in" / "part-1.parquet"
    if kind == "cut off":
        os.truncate(path, path.stat().st_size - 100)
    elif kind == "changed":
        with path.open("rb+") as file:
            file.seek(200)
            file.write(b"changed!")
    else:
        pids = {"worker": os.getpid, "scheduler": lambda: cluster.scheduler, "client": lambda: client(notes)}
        os.kill(pids[kind](), signal.SIGKILL)


def client(notes: Path) -> int:
    """The client's process."""
    return int((notes / "client").read_text())


def beside(folder: Path) -> set[str]:
    """The names in a folder, but for the input."""
    return {path.name for path in folder.iterdir()} - {"in", "disk"}


def sha256_of(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def hash_in(folder: Path) -> str:
    """The hash of a release."""
    return str(json.loads((folder / "out.manifest.json").read_text())["output"]["sha256"])


if __name__ == "__main__":
    sys.exit(main())
