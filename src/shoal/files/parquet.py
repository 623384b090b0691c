"""Parquet files."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import ShoalError
from shoal.files import batches
from shoal.files.dialect import Said
from shoal.files.file import File
from shoal.files.formats import Format, Reader, Style, Writer
from shoal.files.stored import bare_schema, plain_categories, storable, trimmed
from shoal.parameters import Progress

_PAGE = 1 << 16  # bytes of each column that are read at a time, not a whole row group
NUMBER = 8  # bytes of a number that is not packed


def library() -> Any:
    """Arrow's own part for Parquet, which is loaded where there is such a file."""
    import pyarrow.parquet

    return pyarrow.parquet


def opened(file: File) -> Any:
    """A file to read schema and records from."""
    if file.content is not None:
        return library().ParquetFile(pa.BufferReader(file.content))
    return library().ParquetFile(file.path, pre_buffer=False, buffer_size=_PAGE)


class Parquet(Format):
    """Parquet."""

    name, title = "parquet", "Parquet"
    suffixes, shown = (".parquet", ".pq"), (".parquet",)
    starts = (b"PAR1",)

    def reader(self, file: File, said: Said) -> Reader:
        """A reader of a Parquet file."""
        try:
            with opened(file) as parquet:
                return ParquetReader(self, file, parquet.schema_arrow)
        except (pa.ArrowException, OSError) as error:
            raise self.unreadable(file.name, error) from None

    def writer(self, path: Path, schema: pa.Schema, style: Style | None = None) -> Writer:
        """A writer of a Parquet file."""
        return ParquetWriter(self, path, schema)

    def stored_type(self, kind: pa.DataType) -> pa.DataType:
        """Parquet has neither runs nor decimals in units of tens or hundreds."""
        kind = plain_categories(kind)
        if pa.types.is_run_end_encoded(kind):
            return self.stored_type(kind.value_type)
        if pa.types.is_decimal(kind) and kind.scale < 0:
            digits = kind.precision - kind.scale
            return pa.decimal128(digits, 0) if digits <= 38 else pa.decimal256(min(digits, 76), 0)
        return kind

    def size_unpacked(self, path: Path) -> int:
        """The bytes of all row groups, which are packed in the file, or of numbers in their place if that is more.

        Values that repeat are stored once, as codes of a few bits; unpacked they take their whole width.
        """
        try:
            metadata = library().read_metadata(path)
        except (pa.ArrowException, OSError):  # not readable: whoever reads it will say so
            return super().size_unpacked(path)
        groups = range(metadata.num_row_groups)
        unpacked = sum(metadata.row_group(group).total_byte_size for group in groups)
        numbers = int(metadata.num_rows) * int(metadata.num_columns) * NUMBER
        return max(super().size_unpacked(path), int(unpacked), numbers)


class ParquetReader(Reader):
    """Reads a Parquet file."""

    def parts(self, columns: list[str], progress: Progress) -> Iterator[pa.Table]:
        """Some records at a time, however large the row groups are."""
        try:
            with opened(self.file) as file:
                done, records = 0, max(1, file.metadata.num_rows)
                size = batches.batch_of(len(columns)) if self.file.content is None else records
                for batch in file.iter_batches(size, columns=columns, use_threads=False):
                    yield pa.Table.from_batches([batch]).select(columns)
                    done += batch.num_rows
                    progress(self.file.size * done // records, self.file.size)
        except pa.ArrowException as error:
            raise self.format.unreadable(self.file.name, error) from None


class ParquetWriter(Writer):
    """Writes a Parquet file: values and their types, nothing else."""

    def __init__(self, kind: Format, path: Path, schema: pa.Schema) -> None:
        self._format, self._schema = kind, bare_schema(schema, kind.stored_type)
        check_types(self._schema)
        self._file = library().ParquetWriter(path, self._schema)

    def write(self, part: pa.Table) -> None:
        """A row group."""
        columns = [trimmed(column) for column in storable(part, self._format.stored_type).columns]
        self._file.write_table(pa.table(columns, schema=self._schema).combine_chunks(), batches.GROUP)

    def close(self) -> None:
        """The directory of the row groups."""
        self._file.close()


def check_types(schema: pa.Schema) -> None:
    """Parquet has a type for each column."""
    for field in schema:
        try:
            library().ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
        except pa.ArrowNotImplementedError:
            raise ShoalError(
                f"column {field.name!r} of type {field.type} has no type that Parquet files know; "
                "write CSV or convert it first"
            ) from None
