"""In which encoding a text file is written, and its text as UTF-8, some bytes at a time."""

import codecs
import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, BinaryIO

from shoal.errors import ShoalError
from shoal.files.dialect import LONG

Opener = Callable[[], AbstractContextManager[BinaryIO]]
"""Opens the bytes of a text from the first on."""

START = 1000
"""Bytes by which an encoding is guessed."""

_GUESSES = ("utf-8", "cp1252", "latin-1")
_PIECE = 1 << 22  # bytes that are looked at together


@dataclass(frozen=True)
class Encoded:
    """What the bytes of a text show."""

    encoding: str
    start: str  # of the text, without a mark; more than LONG characters where there are more
    returns: bool  # there are carriage returns


def encoded(name: str, opened: Opener, encoding: str | None) -> Encoded:
    """The encoding of a text, as it was said or as the first one in which all of it can be read."""
    start, binary, returns = b"", False, False
    with opened() as file:
        while piece := file.read(_PIECE):
            start = start or piece[:START]
            binary = binary or b"\x00" in piece
            returns = returns or b"\r" in piece
    tried = candidates(name, start, binary, encoding)
    for candidate in tried:
        try:
            return Encoded(candidate, start_of(opened, candidate).removeprefix("\ufeff"), returns)
        except LookupError:
            raise unknown_encoding(candidate) from None
        except UnicodeDecodeError as error:
            if len(tried) == 1:
                raise not_encoded(name, candidate, error.start) from None
    raise AssertionError("latin-1 decodes anything")


def start_of(opened: Opener, encoding: str) -> str:
    """Decode all of a text, and keep its start; an error tells its place in all bytes."""
    "a".encode(encoding)  # raises where Python has no such encoding, or one that is not of text
    decoder, start, before = codecs.getincrementaldecoder(encoding)(), "", 0
    with opened() as file:
        while True:
            piece = file.read(_PIECE)
            held = len(decoder.getstate()[0])  # bytes of a letter that was cut
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                error.start += before - held
                raise
            before += len(piece)
            if len(start) <= LONG:  # one more shows that there is more
                start += text[: LONG + 1]
            if not piece:
                return start


def unknown_encoding(encoding: str) -> ShoalError:
    """Python has no such encoding."""
    return ShoalError(f"unknown encoding {encoding!r}; try utf-8, latin-1 or cp1252")


def not_encoded(name: str, encoding: str, byte: int) -> ShoalError:
    """The file is written in another encoding."""
    return ShoalError(f"{name} is not written in {encoding} (byte {byte}); try another encoding")


def candidates(name: str, content: bytes, binary: bool, encoding: str | None) -> list[str]:
    """The encodings to try, from how a file begins and whether it holds zero bytes."""
    for mark, marked in (
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF32_LE, "utf-32"),  # begins with the mark of UTF-16
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if encoding is None and content.startswith(mark):
            encoding = marked
    if content.startswith(b"PK\x03\x04"):
        raise ShoalError(f"{name} is not a CSV file but a spreadsheet or a zip archive; save it as CSV first")
    if encoding is None and binary:
        wide = wide_encoding(content)
        hint = f"; if it is text, say --encoding {wide} (encoding={wide!r})" if wide else ""
        raise ShoalError(f"{name} is not a CSV file: it holds binary data{hint}")
    return [encoding] if encoding else list(_GUESSES)


def wide_encoding(content: bytes) -> str | None:
    """The encoding of several bytes a letter that would have zero bytes where the start of a file has them."""
    start = content[:START]
    zeros = [start[place::4].count(0) / max(1, len(start[place::4])) for place in range(4)]
    places = tuple(place for place, share in enumerate(zeros) if share > 0.5)
    wide = {(1, 3): "utf-16-le", (0, 2): "utf-16-be", (1, 2, 3): "utf-32-le", (0, 1, 2): "utf-32-be"}
    return wide.get(places)


class Recoded(io.RawIOBase):
    """A text file as UTF-8, without its first characters; of one column, without blank lines around it."""

    def __init__(self, raw: BinaryIO, encoding: str, skip: int, alone: bool) -> None:
        self._raw, self._skip, self._alone = raw, skip, alone
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._ready, self._blank, self._marked, self._started, self._ended = b"", "", True, False, False

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def close(self) -> None:
        """Close the file below."""
        self._raw.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        while not self._ready and not self._ended:
            self._ready = self._next().encode("utf-8")
        taken = self._ready[: len(buffer)]
        buffer[: len(taken)] = taken
        self._ready = self._ready[len(taken) :]
        return len(taken)

    def _next(self) -> str:
        piece = self._raw.read(1 << 20)
        self._ended = not piece
        text = self._decoder.decode(piece, final=self._ended)
        if self._marked and text:
            text, self._marked = text.removeprefix("\ufeff"), False
        skipped = min(self._skip, len(text))
        text, self._skip = text[skipped:], self._skip - skipped
        return self._within(text) if self._alone else text

    def _within(self, text: str) -> str:
        """The text without the line ends at either end of the file: those that may be the last are held back."""
        if not self._started:
            text = text.lstrip("\r\n")
        self._started = self._started or bool(text)
        bare = text.rstrip("\r\n")
        if self._ended:
            return self._blank + bare + "\n" if bare else "\n"
        ready, self._blank = (self._blank + bare, text[len(bare) :]) if bare else ("", self._blank + text)
        return ready
