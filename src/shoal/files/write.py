"""Writing columns to a file: CSV (also gzipped), Parquet or Arrow IPC, the same bytes every time."""

import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet

from shoal.errors import ShoalError
from shoal.files.dialect import Dialect
from shoal.files.read import Format

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}


def format_of(path: Path) -> Format:
    """The format that a file's name asks for."""
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix not in _SUFFIXES or (path.name.lower().endswith(".gz") and _SUFFIXES[suffix] != "csv"):
        raise ShoalError(
            f"cannot tell the format of {path.name}; end the name in .csv, .csv.gz, .tsv, .parquet or .arrow"
        )
    return _SUFFIXES[suffix]


def write(table: pa.Table, path: Path, as_format: Format) -> None:
    """Write an Arrow table as Parquet or Arrow IPC, without metadata beyond that of its columns."""
    bare = table.replace_schema_metadata(None)
    if as_format == "parquet":
        pyarrow.parquet.write_table(bare, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, bare.schema) as writer:
            writer.write_table(bare)


def write_csv(
    names: Sequence[str], columns: Iterable[Sequence[str]], path: Path, dialect: Dialect, zipped: bool
) -> None:
    """Write columns of text as CSV; gzipped without a name or a time in it, so that bytes repeat."""
    with ExitStack() as stack:
        raw = stack.enter_context(path.open("wb"))
        binary = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0)) if zipped else raw
        text = stack.enter_context(
            io.TextIOWrapper(binary, encoding=dialect.encoding, newline="", write_through=False)
        )
        writer = csv.writer(
            text, delimiter=dialect.delimiter, quotechar=dialect.quote, lineterminator=dialect.newline
        )
        writer.writerow(names)
        writer.writerows(zip(*columns, strict=True))
