"""Writing a file whole or not at all: under a temporary name beside it, then moved into place."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import ShoalError


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
        raise ShoalError(f"{path} exists already; choose another name or ask to overwrite it")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ShoalError(f"cannot write {path}: the folder {folder} is not writable")


@contextmanager
def atomically(path: Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary path beside `path`, moved there when the block ends well and removed when it does not.

    Whatever happens, even a kill, `path` is either what it was before or the whole new file.
    """
    check_target(path, overwrite)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise ShoalError(f"cannot write {path}: {error.strerror}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        flush_to_disk(temporary)
        temporary.chmod(0o666 & ~current_umask())
        move(temporary, path, overwrite)
    except OSError as error:
        raise ShoalError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()


def move(temporary: Path, path: Path, overwrite: bool) -> None:
    """Give the finished file its name; without leave to overwrite, never in the place of another."""
    if overwrite:
        temporary.replace(path)
        return
    try:
        os.link(temporary, path)  # unlike a rename, fails where the name is taken
    except FileExistsError:
        raise ShoalError(f"{path} exists already; choose another name or ask to overwrite it") from None
    except OSError:  # a file system without hard links
        check_target(path, overwrite)
        temporary.replace(path)


def flush_to_disk(path: Path) -> None:
    """Make sure that the bytes are on the disk before the name is."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def current_umask() -> int:
    """The permissions that new files must not have; temporary files start with none for others."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
