"""The command as a fork or a process of its own, whose file operations are counted."""

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from shoal import entry

LIMIT = 300  # seconds after which a run hangs


class Violation(Exception):  # noqa: N818
    """A promise was not kept."""


@dataclass
class Run:
    """One process: its status and what it said."""

    status: int | None = None
    out: bytes = b""
    err: str = ""


@dataclass
class Setup:
    """What is done in a fork before the command runs."""

    folder: Path
    arguments: list[str]
    before: list[Callable[[], None]] = field(default_factory=list)


@dataclass
class Fork:
    """A run under way."""

    pid: int
    out: Path
    err: Path


_numbers = itertools.count()


def fork(setup: Setup) -> Fork:
    """Run the command in a copy of this process."""
    number = next(_numbers)
    out, err = (
        Path(tempfile.gettempdir()) / f"shoal-kills-{os.getpid()}-{number}.{name}" for name in ("out", "err")
    )
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return Fork(pid, out, err)
    status = 99
    try:
        os.chdir(setup.folder)
        for descriptor, path, flags in ((0, os.devnull, os.O_RDONLY), (1, out, WRITTEN), (2, err, WRITTEN)):
            os.dup2(os.open(path, flags, 0o644), descriptor)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(n, mode, closefd=False) for n, mode in enumerate(("r", "w", "w"))
        )
        for step in setup.before:
            step()
        sys.argv = ["shoal", *setup.arguments]
        entry.main()
    except SystemExit as ended:
        status = int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_TRUNC


def finish(run: Fork) -> Run:
    """Wait for a fork."""
    until = time.monotonic() + LIMIT
    while True:
        pid, ended = os.waitpid(run.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > until:
            os.kill(run.pid, signal.SIGKILL)
            os.waitpid(run.pid, 0)
            raise Violation(f"it did not end within {LIMIT} s")
        time.sleep(0.005)
    said = [path.read_bytes() if path.exists() else b"" for path in (run.out, run.err)]
    for path in (run.out, run.err):
        path.unlink(missing_ok=True)
    return Run(os.waitstatus_to_exitcode(ended), said[0], said[1].decode(errors="replace"))


def process(folder: Path, arguments: list[str], streams: str = "") -> "subprocess.Popen[bytes]":
    """Run the command as a process of its own; `streams` are redirections of a shell."""
    line = f'exec "$0" -m shoal "$@" {streams}'
    command = ["bash", "-c", line, sys.executable, *arguments]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


EVENTS = {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.truncate"}


def on_steps(folder: Path, act: Callable[[], None]) -> None:
    """Do something at every file operation in a folder."""
    places = (str(folder), "out", ".out", "./")

    def hook(event: str, given: tuple[object, ...]) -> None:
        if event in EVENTS and given:
            path = os.fsdecode(given[0]) if isinstance(given[0], str | bytes | os.PathLike) else ""
            if path.startswith(places):
                act()

    sys.addaudithook(hook)


def count_steps(folder: Path, noted: Path) -> None:
    """A byte in a file for every file operation."""
    handle = os.open(noted, WRITTEN, 0o644)
    on_steps(folder, lambda: os.write(handle, b".") and None)


def signal_at(folder: Path, number: int, which: int) -> None:
    """Send this process a signal at so many file operations."""
    left = itertools.count(number, -1)
    on_steps(folder, lambda: os.kill(os.getpid(), which) if next(left) == 0 else None)
