"""Formats of files: each is a class with a reader and a writer, known by names, suffixes and first bytes.

A new format is a file like `parquet.py` that registers its class; whatever reads or writes files then knows it.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import pyarrow as pa

from shoal.errors import ShoalError, some
from shoal.files import batches
from shoal.files.dialect import Dialect, Said
from shoal.files.file import File
from shoal.parameters import Progress
from shoal.progress import quietly


@dataclass(frozen=True)
class Reader(ABC):
    """A file that is read again and again, some records at a time, always in the same order."""

    format: "Format"
    file: File
    schema: pa.Schema  # of a format that is text: text only

    @abstractmethod
    def parts(self, columns: list[str], progress: Progress) -> Iterator[pa.Table]:
        """These columns of all records, in parts of any size; `progress` is told bytes of the file."""

    def found(self) -> dict[str, Any]:
        """What must be known to read the file again without looking for it, as JSON takes it."""
        return {}

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema.names)

    @property
    def dialect(self) -> Dialect:
        """How text is written."""
        return Dialect()

    @property
    def returns(self) -> bool:
        """Whether there may be carriage returns in text."""
        return False

    def batches(self, columns: Iterable[str], progress: Progress = quietly) -> Iterator[pa.Table]:
        """Some columns of the records, some at a time, in the order of the file; text where the format is."""
        self.file.check_unchanged()
        wanted = self._in_order(columns)
        yield from batches.even(self.parts(wanted, progress), batches.batch_of(len(wanted)))
        self.file.check_unchanged()
        progress(self.file.size, self.file.size)

    def whole(self, columns: Iterable[str]) -> pa.Table:
        """The same for all records at once."""
        wanted = self._in_order(columns)
        parts = list(self.parts(wanted, quietly))
        return pa.concat_tables(parts) if parts else self.schema.empty_table().select(wanted)

    def _in_order(self, columns: Iterable[str]) -> list[str]:
        chosen = set(columns)
        return [name for name in self.columns if name in chosen]

    def as_dict(self) -> dict[str, Any]:
        """The file and what was found out about it, as JSON takes it."""
        return {"format": self.format.name, "file": self.file.as_dict(), "found": self.found()}


class Writer(ABC):
    """Writes a file some records at a time; use it as a context."""

    @abstractmethod
    def write(self, part: Any) -> None:
        """Write some more records: an Arrow table, or columns of text where the format is text."""

    @abstractmethod
    def close(self) -> None:
        """All records are written."""

    def __enter__(self) -> "Writer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True)
class Style:
    """How a file of text is written; `returns` says that a value holds a carriage return."""

    dialect: Dialect
    zipped: bool = False
    returns: bool = False


class Format(ABC):
    """A format of files."""

    name: ClassVar[str]
    title: ClassVar[str]
    """As people call it."""

    suffixes: ClassVar[tuple[str, ...]]
    shown: ClassVar[tuple[str, ...]]
    """The suffixes that are recommended."""

    starts: ClassVar[tuple[bytes, ...]] = ()
    """What a file begins with, where its name does not tell."""

    is_text: ClassVar[bool] = False
    """Whether values are text in a dialect, so that their types must be found out."""

    can_be_zipped: ClassVar[bool] = False
    """Whether a file may be gzipped, and then ends in .gz."""

    @abstractmethod
    def reader(self, file: File, said: Said) -> Reader:
        """A reader of a file; `said` is about a file of text."""

    @abstractmethod
    def writer(self, path: Path, schema: pa.Schema, style: Style | None = None) -> Writer:
        """A writer of a file with these columns, in a style where the format is text."""

    def reader_again(self, file: File, found: dict[str, Any]) -> Reader:
        """The reader of a file that was looked at before."""
        return self.reader(file, Said())

    def style_for(self, target: Path, dialect: Dialect) -> Style | None:
        """How a table that came in a dialect is written to a file; None where the format is no text."""
        return None

    def stored_type(self, kind: pa.DataType) -> pa.DataType:
        """The type that a column of a type gets in a file: mostly the same."""
        return kind

    def check_parts(self, schema: pa.Schema) -> None:  # noqa: B027 - most formats can write any columns
        """An error where a table with these columns cannot be written unless it is there as a whole."""

    def size_unpacked(self, path: Path) -> int:
        """About how many bytes the values of a file are."""
        return path.stat().st_size

    def unreadable(self, name: str, error: Exception) -> ShoalError:
        """What a library says of a broken file, in one line."""
        return ShoalError(f"{name} is not a readable {self.title} file: {first_line(error)}")


FORMATS: dict[str, Format] = {}
"""Every format under its name; a file is of the first one where neither its name nor its content tell."""


def register(kind: Format) -> None:
    """Make a format known."""
    known = {each for other in FORMATS.values() for each in (other.name, *other.suffixes)}
    if taken := known.intersection([kind.name, *kind.suffixes]):
        raise ShoalError(f"there is a format already that is known by {some(sorted(taken))}")
    FORMATS[kind.name] = kind


def by_suffix(name: str) -> Format | None:
    """The format that a name tells."""
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    return next((kind for kind in FORMATS.values() if suffix in kind.suffixes), None)


def format_of(path: Path) -> Format:
    """The format that the name of an output asks for."""
    found = by_suffix(path.name)
    if found is None or (path.name.lower().endswith(".gz") and not found.can_be_zipped):
        *shown, last = (suffix for kind in FORMATS.values() for suffix in kind.shown)
        raise ShoalError(f"cannot tell the format of {path.name}; end the name in {', '.join(shown)} or {last}")
    return found


def format_in(name: str, start: bytes) -> Format:
    """The format of an input, from its name or, where that does not tell, from its first bytes."""
    named = by_suffix(name)
    if named is not None:
        return named
    fits = (kind for kind in FORMATS.values() if kind.starts and start.startswith(kind.starts))
    return next(fits, next(iter(FORMATS.values())))


def first_line(error: Exception) -> str:
    """The first line of what a library says."""
    return str(error).split("\n", 1)[0]


def text_schema(columns: Sequence[str]) -> pa.Schema:
    """Columns of text."""
    return pa.schema([(name, pa.string()) for name in columns])
