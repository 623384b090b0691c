"""The bytes of a file and their hash: on the disk, to be read again and again, or held in memory."""

import hashlib
import io
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from shoal.errors import ShoalError
from shoal.parameters import Progress

_PIECE = 1 << 22  # bytes that are hashed at a time


@dataclass(frozen=True)
class File:
    """The bytes of a file, or of standard input."""

    name: str
    path: Path | None  # None for standard input
    size: int
    modified: int
    sha256: str
    content: bytes | None = field(default=None, repr=False)  # where they are held in memory

    @classmethod
    def held(cls, path: str | os.PathLike[str]) -> "File":
        """A file that is read once, whole; `-` is standard input."""
        if str(path) == "-":
            if sys.stdin is None:
                raise ShoalError("standard input is closed; name a file, or send the table through a pipe")
            name, resolved, modified, content = "standard input", None, 0, sys.stdin.buffer.read()
        else:
            path = Path(path)
            _, modified = stamp(path)
            try:
                name, resolved, content = path.name, path.resolve(), path.read_bytes()
            except OSError as error:
                raise ShoalError(f"cannot read {path}: {error.strerror}") from None
        return cls(name, resolved, len(content), modified, hashlib.sha256(content).hexdigest(), content)

    @classmethod
    def on_disk(cls, path: Path, progress: Progress) -> "File":
        """A file that stays where it is; its bytes are read once, for their hash."""
        size, modified = stamp(path)
        if not os.access(path, os.R_OK):
            raise ShoalError(f"cannot read {path}: Permission denied")
        return cls(path.name, path.resolve(), size, modified, hash_of(path, progress))

    @property
    def start(self) -> bytes:
        """The first bytes, by which a format may be known."""
        with self.open() as file:
            return file.read(8)

    def open(self) -> BinaryIO:
        """The bytes from the first on."""
        if self.content is not None:
            return io.BytesIO(self.content)
        assert self.path is not None
        return self.path.open("rb")

    def is_unchanged(self) -> bool:
        """Whether the file has the size and the time that it had."""
        if self.content is not None or self.path is None:
            return True
        return stamp(self.path) == (self.size, self.modified)

    def check_unchanged(self) -> None:
        """A file that changes while it is read has no release."""
        if not self.is_unchanged():
            raise ShoalError(
                f"{self.path} has changed since the work began; run the command again when it is at rest"
            )

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it: a file on the disk."""
        return {
            "path": str(self.path),
            "name": self.name,
            "size": self.size,
            "modified": self.modified,
            "sha256": self.sha256,
        }

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "File":
        """The other way round."""
        return cls(**{**given, "path": Path(given["path"])})


def stamp(path: Path) -> tuple[int, int]:
    """The size of a file and when it was last changed."""
    try:
        found = path.stat()
        is_folder = path.is_dir()
    except FileNotFoundError:
        raise ShoalError(f"there is no file {path}") from None
    except OSError as error:
        raise ShoalError(f"cannot read {path}: {error.strerror}") from None
    if is_folder:
        raise ShoalError(f"{path} is a folder; name a file")
    return found.st_size, found.st_mtime_ns


def hash_of(path: Path, progress: Progress | None = None) -> str:
    """The hash of a file's bytes."""
    digest, done, size = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            done += len(piece)
            if progress:
                progress(done, size)
    return digest.hexdigest()
