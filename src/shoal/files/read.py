"""Reading a file: its bytes once, their hash, and the table in them."""

import gzip
import hashlib
import io
import os
import re
import sys
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shoal.errors import ShoalError, some
from shoal.files.dialect import Dialect, Said, decode
from shoal.files.kinds import TypeFacts, typed_as
from shoal.files.layout import layout_of

Format = Literal["csv", "parquet", "arrow"]

SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


STREAM = b"\xff\xff\xff\xff"
"""What a stream of Arrow begins with."""


@dataclass(frozen=True, eq=False)
class Source:
    """A file as it was read."""

    name: str
    path: Path | None  # None for standard input
    sha256: str
    format: Format
    table: pa.Table
    text: pa.Table | None = None  # CSV: every value as it stands in the file
    dialect: Dialect = field(default_factory=Dialect)


def read(path: str | os.PathLike[str], **dialect: Any) -> Source:
    """Read a CSV (also gzipped), Parquet or Arrow IPC file; `-` is standard input.

    The format follows from the name, or from the content where the name does not tell. `dialect` may hold what
    `Said` lists about a CSV file: delimiter, quote, encoding, decimal, thousands, header, names, number_names.
    The rest is detected.
    """
    said = Said(**dialect)
    name, content = contents_of(path)
    sha256 = hashlib.sha256(content).hexdigest()
    source_path = None if str(path) == "-" else Path(path).resolve()
    match kind_of(name, content):
        case "parquet":
            reject_dialect(name, said)
            return Source(name, source_path, sha256, "parquet", read_parquet(name, content))
        case "arrow":
            reject_dialect(name, said)
            return Source(name, source_path, sha256, "arrow", read_arrow(name, content))
        case _:
            text, found = read_csv(name, unzipped(name, content), said)
            return Source(name, source_path, sha256, "csv", typed(text, found), text, found)


def contents_of(path: str | os.PathLike[str]) -> tuple[str, bytes]:
    """The name and the bytes of a file or of standard input."""
    if str(path) == "-":
        if sys.stdin is None:
            raise ShoalError("standard input is closed; name a file, or send the table through a pipe")
        return "standard input", sys.stdin.buffer.read()
    path = Path(path)
    try:
        return path.name, path.read_bytes()
    except FileNotFoundError:
        raise ShoalError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ShoalError(f"{path} is a folder; name a file") from None
    except OSError as error:
        raise ShoalError(f"cannot read {path}: {error.strerror}") from None


def kind_of(name: str, content: bytes) -> Format:
    """The format of a file, from its name or, where that does not tell, from its first bytes."""
    suffix = Path(name.lower().removesuffix(".gz")).suffix
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if content.startswith(b"PAR1"):
        return "parquet"
    return "arrow" if content.startswith((b"ARROW1", STREAM)) else "csv"


def reject_dialect(name: str, said: Said) -> None:
    """What describes a CSV file cannot be honoured for another format."""
    # The columns of other formats have names of their own; there is nothing to number.
    if named := [name for name in said.given() if name != "number_names"]:
        raise ShoalError(f"{name} is not a CSV file, so it has no {some(named)}")


def read_parquet(name: str, content: bytes) -> pa.Table:
    """The table of a Parquet file."""
    try:
        return pyarrow.parquet.read_table(io.BytesIO(content))
    except (pa.ArrowException, OSError) as error:
        raise ShoalError(f"{name} is not a readable Parquet file: {first_line(error)}") from None


def read_arrow(name: str, content: bytes) -> pa.Table:
    """The table of an Arrow IPC file or stream."""
    try:
        opener = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
        return opener(pa.BufferReader(content)).read_all()
    except (pa.ArrowException, OSError) as error:
        raise ShoalError(f"{name} is not a readable Arrow file: {first_line(error)}") from None


def first_line(error: Exception) -> str:
    """The first line of what a library says."""
    return str(error).split("\n", 1)[0]


def unzipped(name: str, content: bytes) -> bytes:
    """The content, unzipped where it is gzipped."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise ShoalError(f"{name} is not a readable gzip file: {first_line(error)}") from None


def read_csv(name: str, content: bytes, said: Said) -> tuple[pa.Table, Dialect]:
    """Every value of a CSV file as text, and the dialect that it is written in."""
    text, encoding = decode(content, name, said.encoding)
    layout = layout_of(name, text, encoding, said)
    text = text[layout.skip :]
    alone = len(layout.columns) == 1  # then a blank line is a record with nothing in it
    try:
        table = pyarrow.csv.read_csv(
            io.BytesIO((text.strip("\r\n") + "\n" if alone else text).encode("utf-8")),
            pyarrow.csv.ReadOptions(use_threads=False, block_size=1 << 25, column_names=layout.columns),
            *csv_options(layout.dialect, layout.columns),
        )
    except pa.ArrowException as error:
        raise ragged(name, error, layout.dialect) from None
    if layout.titles:
        table = below_header(name, table, layout.titles)
    if table.num_rows == 0:
        raise no_records(name)
    return table, layout.dialect


def csv_options(
    dialect: Dialect, columns: Sequence[str]
) -> tuple[pyarrow.csv.ParseOptions, pyarrow.csv.ConvertOptions]:
    """How Arrow is to parse the lines, and that every value is text."""
    parse = pyarrow.csv.ParseOptions(
        delimiter=dialect.delimiter,
        quote_char=dialect.quote,
        newlines_in_values=True,
        ignore_empty_lines=len(columns) > 1,
    )
    return parse, pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string()))


def below_header(name: str, table: pa.Table, titles: Sequence[str]) -> pa.Table:
    """The records without the header, which comes as the first of them."""
    first = [str(column[0]) for column in table.slice(0, 1).columns]
    if first != list(titles):
        raise ShoalError(f"{name} is not a readable CSV file: its header can be read in two ways")
    return table.slice(1)


def no_records(name: str) -> ShoalError:
    """There is nothing to release."""
    return ShoalError(f"{name} has a header but no records")


def ragged(name: str, error: Exception, dialect: Dialect) -> ShoalError:
    """A line with too few or too many fields."""
    found = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", str(error))
    if not found:
        return ShoalError(f"{name} is not a readable CSV file: {first_line(error)}")
    row, expected, got = found.groups()
    where = f"row {int(row) - dialect.header}" if row else "a row"
    first = "header" if dialect.header else "first line"
    return ShoalError(
        f"{name} is not a readable CSV file: {where} has {got} fields where the {first} has {expected}; "
        "check the delimiter and the quotes"
    )


def typed(text: pa.Table, dialect: Dialect) -> pa.Table:
    """The columns of a CSV file with types: whole numbers, numbers, or text where any value is not one."""
    columns = [typed_column(column, dialect.decimal, dialect.thousands) for column in text.columns]
    return pa.table(columns, names=text.column_names)


def typed_column(column: pa.ChunkedArray, decimal: str, thousands: str = "") -> pa.ChunkedArray:
    """One column with a type; codes with leading zeros, or such as 1E5, and numbers in doubt stay text."""
    facts = TypeFacts()
    facts.add(column, decimal, thousands)
    return typed_as(column, facts.type, decimal, thousands)
