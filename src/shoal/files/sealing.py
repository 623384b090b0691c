"""Temporary files that can be sealed: encrypted with a key that does not stand on the disk.

Whoever works `under` a key reads and writes sealed files here. Without one files are plain, and nothing is slower.
A sealed file has a key of its own, which follows from the key and from a random number at its start. Its content
is encrypted by AES-GCM in pieces. The number of each and whether it is the last are authenticated, so that nothing
can be cut off, and any place can be read without what stands before it.
"""

import hmac
import io
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import ShoalError

MARK = b"shoal sealed 1\n"
"""What a sealed file begins with."""

PIECE = 1 << 16  # bytes that are encrypted together
_TAG = 16  # bytes by which each piece is known to be whole
_SALT = 32

_key: ContextVar[bytes | None] = ContextVar("key", default=None)


class SealError(ShoalError):
    """A file cannot be opened with the key that there is."""


@contextmanager
def under(key: bytes | None) -> Iterator[None]:
    """Files that are opened in here are sealed with this key; with None they are plain."""
    before = _key.set(key)
    try:
        yield
    finally:
        _key.reset(before)


def ready() -> None:
    """An error where files cannot be sealed."""
    cipher_of(bytes(32), b"")


def cipher_of(key: bytes, salt: bytes) -> Any:
    """What seals and opens one file."""
    try:
        ciphers: Any = import_module("cryptography.hazmat.primitives.ciphers.aead")
    except ImportError:
        raise SealError("encrypted files need cryptography: pip install 'shoal[encryption]'") from None
    return ciphers.AESGCM(hmac.digest(key, salt, "sha256"))


def nonce_of(number: int, is_last: bool) -> bytes:
    """A different one for each piece of a file, whose key is its own."""
    return number.to_bytes(11, "big") + bytes([is_last])


def writing(path: Path) -> BinaryIO:
    """A file to write bytes to."""
    key = _key.get()
    return path.open("wb") if key is None else cast(BinaryIO, Sealing(path, key))


def reading(path: Path) -> BinaryIO:
    """A file to read bytes from, at any place."""
    key = _key.get()
    return path.open("rb") if key is None else cast(BinaryIO, Opening(path, key))


def sink(path: Path) -> Any:
    """A file that Arrow writes to."""
    key = _key.get()
    return pa.OSFile(str(path), "wb") if key is None else pa.PythonFile(Sealing(path, key), "w")


def source(path: Path) -> Any:
    """A file that Arrow reads from."""
    key = _key.get()
    return pa.OSFile(str(path)) if key is None else pa.PythonFile(Opening(path, key), "r")


def put(path: Path, content: bytes) -> None:
    """Write a file."""
    with writing(path) as file:
        file.write(content)


def content_of(path: Path) -> bytes:
    """All bytes of a file."""
    with reading(path) as file:
        return file.read()


def numbers_in(path: Path, kind: Any) -> Any:
    """Numbers in a file, of which some are taken at a time, as from an array."""
    return np.memmap(path, kind, "r") if _key.get() is None else SealedNumbers(path, kind)


class Sealing(io.RawIOBase):
    """A sealed file that is written from its start to its end."""

    def __init__(self, path: Path, key: bytes) -> None:
        super().__init__()
        salt = secrets.token_bytes(_SALT)
        self._cipher = cipher_of(key, salt)
        self._file = path.open("wb")
        self._file.write(MARK + salt)
        self._held = bytearray()
        self._pieces = self._written = 0

    def writable(self) -> bool:
        """Nothing else."""
        return True

    def tell(self) -> int:
        """How many bytes were written."""
        return self._written

    def write(self, content: Any) -> int:
        """Write some bytes; the last piece is held until the end is known."""
        view = memoryview(content)
        if not view.nbytes:
            return 0
        self._held += view.cast("B")
        full = (len(self._held) - 1) // PIECE * PIECE
        for start in range(0, full, PIECE):
            self._put(self._held[start : start + PIECE], False)
        del self._held[:full]
        self._written += view.nbytes
        return view.nbytes

    def _put(self, piece: bytearray, is_last: bool) -> None:
        self._file.write(self._cipher.encrypt(nonce_of(self._pieces, is_last), bytes(piece), None))
        self._pieces += 1

    def close(self) -> None:
        """Write the rest."""
        if self.closed:
            return
        try:
            self._put(self._held, True)
        finally:
            self._file.close()
            super().close()


class Opening(io.RawIOBase):
    """A sealed file that is read."""

    def __init__(self, path: Path, key: bytes) -> None:
        super().__init__()
        self._file, self._name = path.open("rb"), path.name
        head = self._file.read(len(MARK) + _SALT)
        if len(head) < len(MARK) + _SALT or not head.startswith(MARK):
            self._file.close()
            raise self._cut_off()
        self._cipher = cipher_of(key, head[len(MARK) :])
        size = self._file.seek(0, io.SEEK_END) - len(head)
        self._pieces = -(-size // (PIECE + _TAG))
        if not size:
            self._file.close()
            raise self._cut_off()
        self._size, self._place = size - self._pieces * _TAG, 0
        self._held: tuple[int, bytes] = -1, b""

    def _cut_off(self) -> SealError:
        return SealError(f"{self._name} is not encrypted, or was cut off")

    def readable(self) -> bool:
        """Nothing else."""
        return True

    def seekable(self) -> bool:
        """At any place."""
        return True

    def tell(self) -> int:
        """The place of the next byte."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self._place = max(0, offset + (0, self._place, self._size)[whence])
        return self._place

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, but for what is behind the end."""
        view, done = memoryview(buffer).cast("B"), 0
        while done < len(view) and self._place < self._size:
            number, start = divmod(self._place, PIECE)
            part = self._piece(number)[start : start + len(view) - done]
            view[done : done + len(part)] = part
            done += len(part)
            self._place += len(part)
        return done

    def readall(self) -> bytes:
        """All from here to the end."""
        return self.read(max(0, self._size - self._place)) or b""

    def _piece(self, number: int) -> bytes:
        if self._held[0] != number:
            self._file.seek(len(MARK) + _SALT + number * (PIECE + _TAG))
            sealed, nonce = self._file.read(PIECE + _TAG), nonce_of(number, number == self._pieces - 1)
            self._held = number, self._opened(sealed, nonce)
        return self._held[1]

    def _opened(self, sealed: bytes, nonce: bytes) -> bytes:
        try:
            content: bytes = self._cipher.decrypt(nonce, sealed, None)
        except Exception as error:  # InvalidTag, which is not to be imported where nothing is sealed
            if type(error).__name__ != "InvalidTag":
                raise
            raise SealError(f"{self._name} was sealed with another key, or changed") from None
        return content

    def close(self) -> None:
        """Let go of the file."""
        if not self.closed:
            self._file.close()
            super().close()


class SealedNumbers:
    """Numbers in a sealed file."""

    def __init__(self, path: Path, kind: Any) -> None:
        self._path, self._kind = path, np.dtype(kind)

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        """Those of some rows, in their order; a slice is one of all rows."""
        if isinstance(rows, slice):
            return np.frombuffer(content_of(self._path), self._kind)[rows]
        found = np.empty(len(rows), self._kind)
        order = np.argsort(rows, kind="stable")
        together, done = 16 * PIECE // self._kind.itemsize, 0
        with reading(self._path) as file:
            while done < len(order):
                first = int(rows[order[done]]) // together * together
                end = int(np.searchsorted(rows, first + together, sorter=order))
                file.seek(first * self._kind.itemsize)
                part = np.frombuffer(file.read(together * self._kind.itemsize), self._kind)
                found[order[done:end]] = part[rows[order[done:end]] - first]
                done = end
        return found
