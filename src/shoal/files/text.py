"""CSV files, also gzipped: text in a dialect that is found out, every value as it stands in the file."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv

from shoal.errors import ShoalError
from shoal.files.dialect import Dialect, Said
from shoal.files.encoding import Recoded, encoded
from shoal.files.file import File
from shoal.files.formats import Format, Reader, Style, Writer, first_line, text_schema
from shoal.files.layout import Layout, layout_of
from shoal.parameters import Progress

BLOCK = 1 << 21  # bytes that are parsed at a time; a record must fit into them
_HELD_BLOCK = 1 << 25  # the same of a file that is held in memory
ZIPPED = 5  # bytes of text for each byte of a gzipped file


class Csv(Format):
    """CSV."""

    name, title = "csv", "CSV"
    suffixes, shown = (".csv", ".tsv", ".txt"), (".csv", ".csv.gz", ".tsv")
    is_text = can_be_zipped = True

    def reader(self, file: File, said: Said) -> Reader:
        """A reader of a CSV file: all of it is looked at once, for its encoding."""
        try:
            found = encoded(file.name, lambda: unzipped(file.open()), said.encoding)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise ShoalError(f"{file.name} is not a readable gzip file: {first_line(error)}") from None
        layout = layout_of(file.name, found.start, found.encoding, said)
        return CsvReader(self, file, text_schema(layout.columns), layout, found.returns)

    def reader_again(self, file: File, found: dict[str, Any]) -> Reader:
        """The same of a file that was looked at before."""
        layout = Layout(
            Dialect(**found["dialect"]), tuple(found["columns"]), tuple(found["titles"]), found["skip"]
        )
        return CsvReader(self, file, text_schema(layout.columns), layout, found["returns"])

    def writer(self, path: Path, schema: pa.Schema, style: Style | None = None) -> Writer:
        """A writer of a CSV file."""
        return CsvWriter(path, schema.names, style or Style(Dialect()))

    def style_for(self, target: Path, dialect: Dialect) -> Style:
        """The dialect of the input, with a header, with tabs for a .tsv."""
        name = target.name.lower()
        delimiter = "\t" if name.removesuffix(".gz").endswith(".tsv") else dialect.delimiter
        return Style(replace(dialect, delimiter=delimiter, header=True, names=None), name.endswith(".gz"))

    def size_unpacked(self, path: Path) -> int:
        """The bytes of the text."""
        with path.open("rb") as file:
            return super().size_unpacked(path) * (ZIPPED if is_zipped(file.read(2)) else 1)


@dataclass(frozen=True)
class CsvReader(Reader):
    """Reads a CSV file."""

    layout: Layout
    returns: bool = False

    @property
    def dialect(self) -> Dialect:
        """How the file is written."""
        return self.layout.dialect

    def found(self) -> dict[str, Any]:
        """The layout."""
        return asdict(self.layout) | {"returns": self.returns}

    def parts(self, columns: list[str], progress: Progress) -> Iterator[pa.Table]:
        """Some lines at a time."""
        count, titles = 0, [t for n, t in zip(self.columns, self.layout.titles, strict=False) if n in columns]
        block = BLOCK if self.file.content is None else _HELD_BLOCK
        read = pyarrow.csv.ReadOptions(use_threads=False, block_size=block, column_names=self.columns)
        with self._opened() as (raw, utf8):
            try:
                for number, batch in enumerate(pyarrow.csv.open_csv(utf8, read, *self._options(columns)), 1):
                    table = pa.Table.from_batches([batch])
                    if titles and table.num_rows:
                        table, titles = self._below_header(table, titles), []
                    count += table.num_rows
                    yield table
                    progress(min(raw.tell(), number * block), self.file.size)  # blocks are read ahead
            except pa.ArrowException as error:
                raise self._ragged(error) from None
        if not count:
            raise ShoalError(f"{self.file.name} has a header but no records")

    @contextmanager
    def _opened(self) -> Iterator[tuple[Any, Any]]:
        """The file, and its text as Arrow reads it, without what stands before the header.

        Arrow reads ahead on a thread of its own, which must not need Python's objects when the interpreter ends.
        So it gets a file or a buffer of its own, unless a file that is not held is to be decoded on the way.
        """
        encoding, skip = self.dialect.encoding, self.layout.skip
        alone = len(self.columns) == 1  # then a blank line is a record with nothing in it
        is_plain = encoding.lower() in ("utf-8", "utf8") and not skip and not alone
        with ExitStack() as stack:
            if is_plain and self.file.content is None:
                raw = stack.enter_context(pa.OSFile(str(self.file.path)))
                zipped = is_zipped(self.file.start)
                yield raw, stack.enter_context(pa.CompressedInputStream(raw, "gzip")) if zipped else raw
                return
            opened = stack.enter_context(self.file.open())
            text = stack.enter_context(unzipped(opened))
            if not is_plain:
                text = stack.enter_context(io.BufferedReader(Recoded(text, encoding, skip, alone), 1 << 20))
            yield opened, pa.BufferReader(text.read()) if self.file.content is not None else text

    def _options(self, columns: list[str]) -> tuple[pyarrow.csv.ParseOptions, pyarrow.csv.ConvertOptions]:
        """How Arrow is to parse the lines, and that every value is text."""
        parse = pyarrow.csv.ParseOptions(
            delimiter=self.dialect.delimiter,
            quote_char=self.dialect.quote,
            newlines_in_values=True,
            ignore_empty_lines=len(self.columns) > 1,
        )
        types = dict.fromkeys(columns, pa.string())
        return parse, pyarrow.csv.ConvertOptions(column_types=types, include_columns=columns)

    def _below_header(self, table: pa.Table, titles: Sequence[str]) -> pa.Table:
        """The records without the header, which comes as the first of them."""
        if [str(column[0]) for column in table.slice(0, 1).columns] != list(titles):
            raise ShoalError(f"{self.file.name} is not a readable CSV file: its header can be read in two ways")
        return table.slice(1)

    def _ragged(self, error: Exception) -> ShoalError:
        """A line with too few or too many fields."""
        found = re.search(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)", str(error))
        if not found:
            return self.format.unreadable(self.file.name, error)
        row, expected, got = found.groups()
        where = f"row {int(row) - self.dialect.header}" if row else "a row"
        first = "header" if self.dialect.header else "first line"
        return ShoalError(
            f"{self.file.name} is not a readable CSV file: {where} has {got} fields where the {first} has "
            f"{expected}; check the delimiter and the quotes"
        )


class CsvWriter(Writer):
    """Writes a CSV file; gzipped without a name or a time, so that bytes repeat.

    A value that holds a carriage return would end the line for some readers: then all values are quoted. So they
    are where lines end in a carriage return, since a value may hold a line feed.
    """

    def __init__(self, path: Path, names: Sequence[str], style: Style) -> None:
        dialect = style.dialect
        with ExitStack() as stack:
            raw = stack.enter_context(path.open("wb"))
            binary = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0)) if style.zipped else raw
            text = stack.enter_context(io.TextIOWrapper(binary, encoding=dialect.encoding, newline=""))
            self._writer = csv.writer(
                text,
                delimiter=dialect.delimiter,
                quotechar=dialect.quote,
                lineterminator=dialect.newline,
                quoting=csv.QUOTE_ALL if style.returns or dialect.newline == "\r" else csv.QUOTE_MINIMAL,
            )
            self._writer.writerow(names)
            self._stack = stack.pop_all()

    def write(self, part: Sequence[Sequence[str]]) -> None:
        """Some lines."""
        self._writer.writerows(zip(*part, strict=True))

    def close(self) -> None:
        """The file is whole."""
        self._stack.close()


def is_zipped(start: bytes) -> bool:
    """Whether a file is gzipped, from its first bytes."""
    return start.startswith(b"\x1f\x8b")


@contextmanager
def unzipped(raw: BinaryIO) -> Iterator[BinaryIO]:
    """The bytes of a text, unzipped where they are gzipped."""
    with raw:
        start = raw.read(2)
        raw.seek(0)
        if not is_zipped(start):
            yield raw
            return
        with gzip.GzipFile(fileobj=raw) as text:
            yield text  # type: ignore[misc]
