"""A file that is read again and again, some records at a time, as `shoal.files.read` would read it whole."""

import codecs
import gzip
import hashlib
import io
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from shoal.errors import ShoalError
from shoal.files import Dialect, Format, Said
from shoal.files.batches import batch_of
from shoal.files.dialect import LONG, START, candidates, not_encoded, unknown_encoding
from shoal.files.layout import layout_of
from shoal.files.read import below_header, csv_options, first_line, kind_of, no_records, ragged, reject_dialect
from shoal.files.write import GROUP
from shoal.parameters import Progress

BLOCK = 1 << 21  # bytes of a CSV file that are parsed at a time
_PAGE = 1 << 16  # bytes of each column of a Parquet file that are read at a time, not a whole row group


@dataclass(frozen=True)
class Input:
    """What is known of a file before its records are read."""

    path: Path
    format: Format
    size: int
    modified: int
    sha256: str
    columns: tuple[str, ...]
    dialect: Dialect = field(default_factory=Dialect)
    zipped: bool = False
    returns: bool = False  # there are carriage returns
    titles: tuple[str, ...] = ()  # of a CSV file: its header as it stands there, if it has one
    skip: int = 0  # characters before it

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.name

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self) | {"path": str(self.path)}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Input":
        """The other way round."""
        rest = {"path": Path(given["path"]), "dialect": Dialect(**given["dialect"])}
        return cls(**{**given, **rest, "columns": tuple(given["columns"]), "titles": tuple(given["titles"])})

    def is_unchanged(self) -> bool:
        """Whether the file has the size and the time that it had."""
        return stamp(self.path) == (self.size, self.modified)

    def check_unchanged(self) -> None:
        """A file that changes while it is read has no release."""
        if not self.is_unchanged():
            raise ShoalError(
                f"{self.path} has changed since the work began; run the command again when it is at rest"
            )

    def tables(self, columns: Iterable[str], progress: Progress) -> Iterator[pa.Table]:
        """Some columns of the records, some at a time, in the order of the file; text where it is CSV."""
        self.check_unchanged()
        chosen = set(columns)
        wanted = [name for name in self.columns if name in chosen]
        match self.format:
            case "csv":
                parts = self._csv_parts(wanted, progress)
            case "parquet":
                parts = self._parquet_parts(wanted, progress)
            case _:
                parts = self._arrow_parts(wanted, progress)
        yield from even(parts, min(GROUP, batch_of(len(wanted))))
        self.check_unchanged()

    def schema(self) -> pa.Schema:
        """The names and types of the columns; a CSV file has text only."""
        if self.format == "csv":
            return pa.schema([(name, pa.string()) for name in self.columns])
        return schema_of(self.path, self.format)

    def _csv_parts(self, wanted: list[str], progress: Progress) -> Iterator[pa.Table]:
        count = 0
        titles = [title for name, title in zip(self.columns, self.titles, strict=False) if name in wanted]
        parse, convert = csv_options(self.dialect, self.columns)
        convert.include_columns = wanted
        with self.path.open("rb") as raw, self._utf8(raw) as file:
            try:
                read = pyarrow.csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=self.columns)
                for batch in pyarrow.csv.open_csv(file, read, parse, convert):
                    table = pa.Table.from_batches([batch])
                    if titles and table.num_rows:
                        table, titles = below_header(self.name, table, titles), []
                    count += table.num_rows
                    yield table
                    progress(raw.tell(), self.size)
            except pa.ArrowException as error:
                raise ragged(self.name, error, self.dialect) from None
        if not count:
            raise no_records(self.name)

    def _utf8(self, raw: BinaryIO) -> BinaryIO:
        text: Any = gzip.GzipFile(fileobj=raw) if self.zipped else raw
        alone = len(self.columns) == 1  # then a blank line is a record with nothing in it
        if self.dialect.encoding.lower() in ("utf-8", "utf8") and not self.skip and not alone:
            return text  # type: ignore[no-any-return]
        return io.BufferedReader(Recoded(text, self.dialect.encoding, self.skip, alone), 1 << 20)

    def _parquet_parts(self, wanted: list[str], progress: Progress) -> Iterator[pa.Table]:
        try:
            with pyarrow.parquet.ParquetFile(self.path, pre_buffer=False, buffer_size=_PAGE) as file:
                done, records = 0, file.metadata.num_rows
                for batch in file.iter_batches(batch_of(len(wanted)), columns=wanted, use_threads=False):
                    yield pa.Table.from_batches([batch]).select(wanted)
                    done += batch.num_rows
                    progress(done, records)
        except pa.ArrowException as error:
            raise ShoalError(f"{self.name} is not a readable Parquet file: {first_line(error)}") from None

    def _arrow_parts(self, wanted: list[str], progress: Progress) -> Iterator[pa.Table]:
        try:
            with pa.memory_map(str(self.path)) as file:
                if is_arrow_file(self.path):
                    reader = pa.ipc.open_file(file)
                    batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
                else:
                    batches = iter(pa.ipc.open_stream(file))
                for batch in batches:
                    yield pa.Table.from_batches([batch]).select(wanted)
                    progress(file.tell(), self.size)
        except pa.ArrowException as error:
            raise ShoalError(f"{self.name} is not a readable Arrow file: {first_line(error)}") from None


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


def even(tables: Iterable[pa.Table], records: int | None = None) -> Iterator[pa.Table]:
    """The same records in tables of so many, the last of fewer; of GROUP, as files are written, by default."""
    size = records or GROUP
    held: list[pa.Table] = []
    count = 0
    for table in tables:
        held.append(table)
        count += table.num_rows
        if count >= size:
            whole = pa.concat_tables(held)
            full = count - count % size
            for start in range(0, full, size):
                yield whole.slice(start, size)
            held, count = [whole.slice(full)], count - full
    if count:
        yield pa.concat_tables(held)


def stamp(path: Path) -> tuple[int, int]:
    """The size of a file and when it was last changed."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise ShoalError(f"there is no file {path}") from None
    except OSError as error:
        raise ShoalError(f"cannot read {path}: {error.strerror}") from None
    return found.st_size, found.st_mtime_ns


def opened(path: Path, zipped: bool) -> BinaryIO:
    """The bytes of a file, unzipped where it is gzipped."""
    return gzip.open(path) if zipped else path.open("rb")  # type: ignore[return-value]


def is_arrow_file(path: Path) -> bool:
    """Whether an Arrow file is one with a directory of its batches, not a stream."""
    with path.open("rb") as file:
        return file.read(6) == b"ARROW1"


def schema_of(path: Path, kind: Format) -> pa.Schema:
    """The names and types of the columns of a Parquet or Arrow file."""
    try:
        if kind == "parquet":
            return pyarrow.parquet.read_schema(path)
        with pa.memory_map(str(path)) as file:
            return (pa.ipc.open_file if is_arrow_file(path) else pa.ipc.open_stream)(file).schema
    except (pa.ArrowException, OSError) as error:
        called = "Parquet" if kind == "parquet" else "Arrow"
        raise ShoalError(f"{path.name} is not a readable {called} file: {first_line(error)}") from None


def look(path: Path, said: Said, progress: Progress) -> Input:
    """Read the bytes once: their hash and, where it is a CSV file, its encoding and its dialect."""
    size, modified = stamp(path)
    if path.is_dir():
        raise ShoalError(f"{path} is a folder; name a file")
    if not os.access(path, os.R_OK):
        raise ShoalError(f"cannot read {path}: Permission denied")
    with path.open("rb") as file:
        start = file.read(8)
    kind = kind_of(path.name, start)
    sha256 = hash_of(path, progress)
    if kind != "csv":
        reject_dialect(path.name, said)
        return Input(path, kind, size, modified, sha256, tuple(schema_of(path, kind).names))
    zipped = start.startswith(b"\x1f\x8b")
    try:
        return csv_input(Input(path, kind, size, modified, sha256, (), zipped=zipped), said)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ShoalError(f"{path.name} is not a readable gzip file: {first_line(error)}") from None


def hash_of(path: Path, progress: Progress | None = None) -> str:
    """The hash of a file's bytes."""
    digest, done, size = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while piece := file.read(1 << 22):
            digest.update(piece)
            done += len(piece)
            if progress:
                progress(done, size)
    return digest.hexdigest()


@dataclass
class Signs:
    """What the bytes of a text file show."""

    start: bytes = b""
    binary: bool = False
    returns: bool = False

    def add(self, piece: bytes) -> None:
        """Look at some more bytes."""
        self.start = self.start or piece[:START]
        self.binary = self.binary or b"\x00" in piece
        self.returns = self.returns or b"\r" in piece


def csv_input(bare: Input, said: Said) -> Input:
    """The dialect and the columns of a CSV file, as the reader of whole files finds them."""
    signs = Signs()
    with opened(bare.path, bare.zipped) as file:
        for piece in iter(lambda: file.read(1 << 22), b""):
            signs.add(piece)
    encoding, start = decoded(bare, candidates(bare.name, signs.start, signs.binary, said.encoding))
    layout = layout_of(bare.name, start, encoding, said)
    return replace(
        bare,
        columns=layout.columns,
        dialect=layout.dialect,
        returns=signs.returns,
        titles=layout.titles,
        skip=layout.skip,
    )


def decoded(bare: Input, tried: list[str]) -> tuple[str, str]:
    """The first encoding in which the whole file can be read, and the start of its text."""
    for encoding in tried:
        try:
            decoder = codecs.getincrementaldecoder(encoding)()
        except LookupError:
            raise unknown_encoding(encoding) from None
        with opened(bare.path, bare.zipped) as file:
            place = Place()
            try:
                start = start_of(file.read, decoder, place)
                return encoding, start.removeprefix("\ufeff")
            except UnicodeDecodeError as error:
                if len(tried) == 1:
                    raise not_encoded(bare.name, encoding, place.read + error.start) from None
    raise AssertionError("latin-1 decodes anything")


@dataclass
class Place:
    """How many bytes were decoded."""

    read: int = 0


def start_of(read: Callable[[int], bytes], decoder: codecs.IncrementalDecoder, place: Place) -> str:
    """Decode all of a file, and keep the start of its text."""
    start = ""
    while piece := read(1 << 22):
        held = len(decoder.getstate()[0])
        place.read -= held
        text = decoder.decode(piece)
        place.read += held + len(piece)
        if len(start) <= LONG:  # one more shows that there is more
            start += text[: LONG + 1]
    place.read -= len(decoder.getstate()[0])
    decoder.decode(b"", final=True)
    return start
