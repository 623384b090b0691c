"""Writing columns to a file: CSV (also gzipped), Parquet or Arrow IPC, the same bytes every time."""

import csv
import gzip
import io
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from shoal.errors import ShoalError
from shoal.files.arrays import decoded
from shoal.files.dialect import Dialect
from shoal.files.read import SUFFIXES, Format

GROUP = 65_536
"""Records that are written together in Parquet and Arrow files."""


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
    table = storable(table, as_format)
    if as_format == "arrow":  # its categories are one list for the whole file
        table = pa.table([trimmed(column) for column in table.columns], schema=bare_schema(table.schema))
    slices = (table.slice(start, GROUP) for start in range(0, table.num_rows, GROUP))
    write_slices(slices, table.schema, path, as_format)


def write_slices(slices: Iterable[pa.Table], schema: pa.Schema, path: Path, as_format: Format) -> None:
    """Write tables of GROUP records each, the last one of fewer; their chunks leave no trace in the bytes."""
    bare = bare_schema(
        pa.schema([field.with_type(stored_type(field.type, as_format)) for field in schema], schema.metadata)
    )
    with ExitStack() as stack:
        if as_format == "parquet":
            check_types(bare)
            parquet = stack.enter_context(pyarrow.parquet.ParquetWriter(path, bare))
            for part in slices:
                columns = [trimmed(column) for column in storable(part, as_format).columns]
                parquet.write_table(pa.table(columns, schema=bare).combine_chunks(), GROUP)
        else:
            sink = stack.enter_context(pa.OSFile(str(path), "wb"))
            arrow = stack.enter_context(pa.ipc.new_file(sink, bare))
            for part in slices:
                columns = [fresh(column) for column in storable(part, as_format).columns]
                arrow.write_table(pa.table(columns, schema=bare))


def storable(table: pa.Table, as_format: Format) -> pa.Table:
    """The same values in types that a file can hold."""
    for place, field in enumerate(table.schema):
        kind = stored_type(field.type, as_format)
        if kind != field.type:
            table = table.set_column(place, field.with_type(kind), decoded(table.column(place)).cast(kind))
    return table


def stored_type(kind: pa.DataType, as_format: Format) -> pa.DataType:
    """The type that a column of a type gets in a file: mostly the same.

    Categories that are lists or extensions, such as intervals, are stored as values. Parquet has neither runs nor
    decimals in units of tens or hundreds.
    """
    if pa.types.is_dictionary(kind):
        value = kind.value_type
        odd = pa.types.is_nested(value) or isinstance(value, pa.BaseExtensionType)
        return stored_type(value, as_format) if odd else kind
    if as_format == "parquet" and pa.types.is_run_end_encoded(kind):
        return stored_type(kind.value_type, as_format)
    if as_format == "parquet" and pa.types.is_decimal(kind) and kind.scale < 0:
        digits = kind.precision - kind.scale
        return pa.decimal128(digits, 0) if digits <= 38 else pa.decimal256(min(digits, 76), 0)
    return kind


def check_types(schema: pa.Schema) -> None:
    """Parquet has a type for each column."""
    for field in schema:
        try:
            pyarrow.parquet.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except pa.ArrowNotImplementedError:
            raise ShoalError(
                f"column {field.name!r} of type {field.type} has no type that Parquet files know; "
                "write CSV or convert it first"
            ) from None


def fresh(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in one piece whose memory has the size of its values: Arrow files hold it as it is."""
    if pa.types.is_dictionary(column.type):
        return column.combine_chunks()
    return pa.chunked_array([pa.concat_arrays([*column.chunks, column.chunk(0)[:0]])])


def bare_schema(schema: pa.Schema) -> pa.Schema:
    """The names and types of columns, and what belongs to a column unless it may list categories."""
    return pa.schema(field.remove_metadata() if pa.types.is_dictionary(field.type) else field for field in schema)


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
    """Write columns of text as CSV."""
    returns = any("\r" in value for column in [names, *columns] for value in column)
    write_csv_parts(names, [columns], path, dialect, zipped, returns)


def write_csv_parts(
    names: Sequence[str],
    parts: Iterable[Sequence[Sequence[str]]],
    path: Path,
    dialect: Dialect,
    zipped: bool,
    returns: bool,
) -> None:
    """Write columns of text as CSV, some records at a time; gzipped without a name or a time: bytes repeat.

    `returns` says that a value holds a carriage return, which would end the line for some readers: then all
    values are quoted. So they are where lines end in a carriage return, since a value may hold a line feed.
    """
    with ExitStack() as stack:
        raw = stack.enter_context(path.open("wb"))
        binary = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0)) if zipped else raw
        text = stack.enter_context(io.TextIOWrapper(binary, encoding=dialect.encoding, newline=""))
        writer = csv.writer(
            text,
            delimiter=dialect.delimiter,
            quotechar=dialect.quote,
            lineterminator=dialect.newline,
            quoting=csv.QUOTE_ALL if returns or dialect.newline == "\r" else csv.QUOTE_MINIMAL,
        )
        writer.writerow(names)
        for columns in parts:
            writer.writerows(zip(*columns, strict=True))
