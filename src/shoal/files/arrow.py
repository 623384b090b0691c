"""Arrow IPC files, also called Feather, and streams."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import ShoalError
from shoal.files.dialect import Said
from shoal.files.file import File
from shoal.files.formats import Format, Reader, Style, Writer
from shoal.files.stored import bare_schema, fresh, plain_categories, storable
from shoal.parameters import Progress

_FILE, _STREAM = b"ARROW1", b"\xff\xff\xff\xff"  # what they begin with


def opened(file: File) -> Any:
    """The bytes of a file for Arrow's own readers, which copy nothing."""
    return pa.memory_map(str(file.path)) if file.content is None else pa.BufferReader(file.content)


class Arrow(Format):
    """Arrow IPC."""

    name, title = "arrow", "Arrow"
    suffixes, shown = (".arrow", ".feather", ".ipc"), (".arrow",)
    starts = (_FILE, _STREAM)

    def reader(self, file: File, said: Said) -> Reader:
        """A reader of an Arrow file or stream."""
        try:
            with opened(file) as raw:
                opener = pa.ipc.open_file if file.start.startswith(_FILE) else pa.ipc.open_stream
                return ArrowReader(self, file, opener(raw).schema)
        except (pa.ArrowException, OSError) as error:
            raise self.unreadable(file.name, error) from None

    def writer(self, path: Path, schema: pa.Schema, style: Style | None = None) -> Writer:
        """A writer of an Arrow file."""
        return ArrowWriter(self, path, schema)

    def stored_type(self, kind: pa.DataType) -> pa.DataType:
        """Every type but categories of odd values."""
        return plain_categories(kind)

    def check_parts(self, schema: pa.Schema) -> None:
        """Categories are one list for the whole file."""
        if any(pa.types.is_dictionary(field.type) for field in schema):
            raise ShoalError("columns of categories cannot be streamed into an Arrow file; write Parquet or CSV")


class ArrowReader(Reader):
    """Reads an Arrow file or stream."""

    def parts(self, columns: list[str], progress: Progress) -> Iterator[pa.Table]:
        """A record batch at a time."""
        size = self.file.size
        try:
            with opened(self.file) as raw:
                if self.file.start.startswith(_FILE):
                    file = pa.ipc.open_file(raw)
                    for number in range(file.num_record_batches):
                        yield pa.Table.from_batches([file.get_batch(number)]).select(columns)
                        progress(size * (number + 1) // file.num_record_batches, size)
                else:
                    for batch in pa.ipc.open_stream(raw):
                        yield pa.Table.from_batches([batch]).select(columns)
                        progress(raw.tell(), size)
        except pa.ArrowException as error:
            raise self.format.unreadable(self.file.name, error) from None


class ArrowWriter(Writer):
    """Writes an Arrow file: values and their types, nothing else."""

    def __init__(self, kind: Format, path: Path, schema: pa.Schema) -> None:
        self._format, self._schema = kind, bare_schema(schema, kind.stored_type)
        with ExitStack() as stack:
            sink = stack.enter_context(pa.OSFile(str(path), "wb"))
            self._file = stack.enter_context(pa.ipc.new_file(sink, self._schema))
            self._stack = stack.pop_all()

    def write(self, part: pa.Table) -> None:
        """A record batch."""
        columns = [fresh(column) for column in storable(part, self._format.stored_type).columns]
        self._file.write_table(pa.table(columns, schema=self._schema))

    def close(self) -> None:
        """The directory of the batches."""
        self._stack.close()
