"""Writing columns to a file: CSV (also gzipped), Parquet or Arrow IPC, the same bytes every time."""

import csv
import gzip
import io
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from shoal.errors import ShoalError
from shoal.files.dialect import Dialect
from shoal.files.read import SUFFIXES, Format


def format_of(path: Path) -> Format:
    """The format that a file's name asks for."""
    name = path.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix not in SUFFIXES or (path.name.lower().endswith(".gz") and SUFFIXES[suffix] != "csv"):
        raise ShoalError(
            f"cannot tell the format of {path.name}; end the name in .csv, .csv.gz, .tsv, .parquet or .arrow"
        )
    return SUFFIXES[suffix]


def write(table: pa.Table, path: Path, as_format: Format) -> None:
    """Write an Arrow table as Parquet or Arrow IPC: its values and their types, nothing else."""
    bare = pa.table(
        [trimmed(column) for column in table.columns],
        schema=pa.schema(
            field.remove_metadata() if pa.types.is_dictionary(field.type) else field for field in table.schema
        ),
    )
    if as_format == "parquet":
        pyarrow.parquet.write_table(bare, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, bare.schema) as writer:
            writer.write_table(bare)


def trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of categories without those that no record has: they may name people who were dropped."""
    if not pa.types.is_dictionary(column.type):
        return column
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    used = pc.unique(whole.indices.drop_null()).sort()
    indices = pc.index_in(whole.indices, value_set=used).cast(column.type.index_type)
    made = pa.DictionaryArray.from_arrays(indices, whole.dictionary.take(used), ordered=column.type.ordered)
    return pa.chunked_array([made])


def write_csv(
    names: Sequence[str], columns: Sequence[Sequence[str]], path: Path, dialect: Dialect, zipped: bool
) -> None:
    """Write columns of text as CSV; gzipped without a name or a time in it, so that bytes repeat."""
    # A carriage return within a value would end the line for some readers unless it is quoted.
    returns = any("\r" in value for column in [names, *columns] for value in column)
    with ExitStack() as stack:
        raw = stack.enter_context(path.open("wb"))
        binary = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0)) if zipped else raw
        text = stack.enter_context(io.TextIOWrapper(binary, encoding=dialect.encoding, newline=""))
        writer = csv.writer(
            text,
            delimiter=dialect.delimiter,
            quotechar=dialect.quote,
            lineterminator=dialect.newline,
            quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL,
        )
        writer.writerow(names)
        writer.writerows(zip(*columns, strict=True))
