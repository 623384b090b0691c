"""Writing files whole or not at all: under temporary names beside their places, then moved there."""

import hashlib
import os
import re
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from shoal.errors import ShoalError

PATIENCE = 2.0
"""Seconds to wait for another run to give its files their names; somebody else may lock a folder for longer."""


def check_target(path: Path, overwrite: bool) -> None:
    """Whether a file may be written here, asked before any work is done."""
    folder = path.parent
    if not path.name:
        raise ShoalError(f"{str(path)!r} is not the name of a file")
    try:
        exists = path.exists()
    except OSError as error:
        raise ShoalError(f"cannot write {path}: {error.strerror}") from error
    if not folder.is_dir():
        raise ShoalError(f"cannot write {path}: the folder {folder} does not exist; make it first")
    if path.is_dir():
        raise ShoalError(f"cannot write {path}: it is a folder; name a file")
    if exists and not path.is_file():
        raise ShoalError(f"cannot write {path}: it is there and not a regular file")
    if exists and not overwrite:
        raise exists_already(path)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ShoalError(f"cannot write {path}: the folder {folder} is not writable")


def exists_already(path: Path | str) -> ShoalError:
    """A name that is taken."""
    return ShoalError(f"{path} exists already; choose another name or ask to overwrite it (--overwrite)")


@contextmanager
def atomically(path: Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary path beside `path`, moved there when the block ends well and removed when it does not.

    Whatever happens, even a kill, `path` is either what it was before or the whole new file.
    """
    with together([path], overwrite) as (temporary,):
        yield temporary


@contextmanager
def together(paths: Sequence[Path], overwrite: bool = False) -> Iterator[list[Path]]:
    """The same for several files: all of them appear when the block ends well, and none when it does not.

    The last one gets its name last: where it stands, the others stand. A kill between two names leaves some
    without the last one; the next run on the same paths removes them, and the temporary files of killed runs.
    """
    remove_leftovers(paths)
    for path in paths:
        check_target(path, overwrite)
    parts: list[tuple[Path, int]] = []
    try:
        for path in paths:
            with undisturbed(), naming(path):
                parts.append(new_part(path, paths[-1]))
        with naming(paths[-1]):
            yield [part for part, _ in parts]
        give_names([part for part, _ in parts], paths, overwrite)
    finally:
        try:
            remove_parts(parts)
        except BaseException:  # a signal that came before it could be held back
            remove_parts(parts)
            raise


def give_names(made: Sequence[Path], paths: Sequence[Path], overwrite: bool) -> None:
    """Give finished files their names, in their order; no interrupt and no other run comes between two names."""
    with undisturbed():
        for part, path in zip(made, paths, strict=True):
            with naming(path):
                flush_to_disk(part)
                part.chmod(0o666 & ~current_umask())
        given: list[Path] = []
        try:
            with alone_in(paths[-1].parent):
                for part, path in zip(made, paths, strict=True):
                    with naming(path):
                        move(part, path, overwrite)
                    given.append(path)
        except BaseException:
            for path in [] if overwrite else given:
                path.unlink(missing_ok=True)
            raise


def move(temporary: Path, path: Path, overwrite: bool) -> None:
    """Give the finished file its name; without leave to overwrite, never in the place of another."""
    if overwrite:
        temporary.replace(path)
        return
    try:
        os.link(temporary, path)  # unlike a rename, fails where the name is taken
    except FileExistsError:
        if is_one(temporary, path):  # named before, by a run that was killed then
            return
        raise ShoalError(
            f"{path} exists already; choose another name or ask to overwrite it (--overwrite)"
        ) from None
    except OSError:  # a file system without hard links
        check_target(path, overwrite)
        temporary.replace(path)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """An error of the system in one line that names the file."""
    try:
        yield
    except OSError as error:
        raise ShoalError(f"cannot write {path}: {error.strerror or error}; nothing was written") from error


def new_part(path: Path, last: Path) -> tuple[Path, int]:
    """A temporary file beside `path`, locked for as long as its handle is open; it tells which file comes last."""
    prefix = f".{path.name}.{mark_of(last)}"
    while True:
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=".part", dir=path.parent)
        lock(handle)
        if os.fstat(handle).st_nlink:
            return Path(name), handle
        os.close(handle)  # another run took it for a leftover before it was locked


def remove_parts(parts: list[tuple[Path, int]]) -> None:
    """Remove the temporary files of a run, and let go of them."""
    with undisturbed():
        while parts:
            part, handle = parts[-1]
            with suppress(OSError):
                part.unlink()
            os.close(handle)
            parts.pop()


def remove_leftovers(paths: Sequence[Path]) -> None:
    """Remove what a killed run has left: its temporary files, and names that it gave before it gave the last.

    A leftover is a temporary file that nobody has locked. A file that is one and the same with a leftover got its
    name from the killed run. It is taken back only if that run had the same last file: a report, say, may belong
    to another release, which is there. Then the leftover stays too, for the next run on that release.
    """
    complete, mark = os.path.lexists(paths[-1]), mark_of(paths[-1])
    for path in paths:
        for part in parts_of(path):
            with suppress(OSError), part.open("rb") as file:
                if lock(file.fileno()):
                    if is_one(part, path):
                        if not part.name.startswith(f".{path.name}.{mark}"):
                            continue
                        if not complete:
                            path.unlink()
                    part.unlink()


def mark_of(last: Path) -> str:
    """Eight letters that tell the sets of files apart, by the place of the last one."""
    return hashlib.sha256(os.fsencode(last.parent.resolve() / last.name)).hexdigest()[:8]


def is_one(path: Path, other: Path) -> bool:
    """Whether two names are those of one file."""
    try:
        return path.samefile(other)
    except OSError:
        return False


def parts_of(path: Path) -> list[Path]:
    """The temporary files for `path`, of all runs."""
    pattern = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}[a-z0-9_]{{8}}\.part")
    try:
        return [part for part in path.parent.iterdir() if pattern.fullmatch(part.name)]
    except OSError:
        return []


def lock(handle: int) -> bool | None:
    """Lock an open file until it is closed; False if somebody else has it, None where files cannot be locked."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Names in a folder are given by one run at a time, so that the files of two runs do not mix."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # a system that cannot open folders
        yield
        return
    try:
        until = monotonic() + PATIENCE
        while lock(handle) is False and monotonic() < until:
            sleep(0.01)
        yield
    finally:
        os.close(handle)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Signals that Python handles, such as Ctrl-C, wait until the block has ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers: dict[int, Any] = {}
    try:
        for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGALRM"):
            number = getattr(signal, name, None)
            if number is not None and callable(signal.getsignal(number)):
                handlers[number] = signal.signal(number, lambda got, _: came.append(got))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def flush_to_disk(path: Path) -> None:
    """Make sure that the bytes are on the disk before the name is."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def flush_folder(path: Path) -> None:
    """Make sure that the names in a folder are on the disk, where the system can open folders."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def current_umask() -> int:
    """The permissions that new files must not have; temporary files start with none for others."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
