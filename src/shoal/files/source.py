"""Reading a file: some records at a time, from the disk, or whole."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import ShoalError, some
from shoal.files.dialect import Dialect, Said
from shoal.files.file import File
from shoal.files.formats import FORMATS, Format, Reader, format_in
from shoal.files.kinds import typed
from shoal.files.layout import repeated
from shoal.parameters import Progress


@dataclass(frozen=True, eq=False)
class Source:
    """A file as it was read, or some records of it."""

    name: str
    path: Path | None  # None for standard input
    sha256: str
    format: Format
    table: pa.Table
    text: pa.Table | None = None  # every value as it stands in the file, where the format is text
    dialect: Dialect = field(default_factory=Dialect)

    @classmethod
    def of(cls, reader: Reader, table: pa.Table, text: pa.Table | None = None) -> "Source":
        """Records from a reader."""
        file = reader.file
        return cls(file.name, file.path, file.sha256, reader.format, table, text, reader.dialect)


def read(path: str | os.PathLike[str], **dialect: Any) -> Source:
    """Read a CSV (also gzipped), Parquet or Arrow IPC file; `-` is standard input.

    The format follows from the name, or from the content where the name does not tell. `dialect` may hold what
    `Said` lists about a CSV file: delimiter, quote, encoding, decimal, thousands, header, names, number_names.
    The rest is detected.
    """
    said = Said(**dialect)
    reader = reader_of(File.held(path), said)
    table = reader.whole(reader.columns)
    return Source.of(reader, *((typed(table, reader.dialect), table) if reader.format.is_text else (table,)))


def look(path: Path, said: Said, progress: Progress) -> Reader:
    """A reader of a file on the disk: its bytes are read once, for their hash."""
    return reader_of(File.on_disk(path, progress), said)


def reader_of(file: File, said: Said, kind: Format | None = None) -> Reader:
    """The reader of a file, by its format where that is known."""
    kind = kind or format_in(file.name, file.start)
    # The columns of other formats have names of their own; there is nothing to number.
    if not kind.is_text and (named := [name for name in said.given() if name != "number_names"]):
        raise ShoalError(f"{file.name} is not a CSV file, so it has no {some(named)}")
    reader = kind.reader(file, said)
    if twice := repeated(reader.columns):
        raise ShoalError(f"two columns of the same name: {some(map(repr, twice))}; rename one")
    return reader


def reader_from(given: Mapping[str, Any]) -> Reader:
    """The reader that `as_dict` has described."""
    return FORMATS[given["format"]].reader_again(File.from_dict(given["file"]), given["found"])
