"""Numbers on the disk: Parquet files of equal groups of records, written once and read in order."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from shoal.files.sealing import sink, source

Int = NDArray[np.int64]
Column = NDArray[Any]
Spilled = Path | Any  # the path of a spilled table, or what `opened` gives for it

ROW = "row"


def names_of(m: int) -> list[str]:
    """The columns of a spilled table: the row in the input, and the numbers of each quasi-identifier."""
    return [ROW, *(f"q{number}" for number in range(m))]


def rows_of(m: int) -> int:
    """How many records are held at a time: about 16 MB, whatever the limit, so that sums do not depend on it."""
    return max(1024, (1 << 24) // (8 * (m + 1)))


class SpillWriter:
    """Writes arrays as they come, in row groups of the same size; use it as a context."""

    def __init__(self, path: Path, kinds: Sequence[Any], rows: int | None = None) -> None:
        self._rows = rows or rows_of(len(kinds) - 1)
        names = names_of(len(kinds) - 1)
        self._schema = pa.schema(
            [(name, pa.from_numpy_dtype(kind)) for name, kind in zip(names, kinds, strict=True)]
        )
        # Bytes of the same weight side by side: a third of the size of plain numbers, and no slower.
        self._sink = sink(path)
        self._file = pyarrow.parquet.ParquetWriter(
            self._sink,
            self._schema,
            compression="zstd",
            compression_level=1,
            use_byte_stream_split=True,
            use_dictionary=False,
            write_statistics=False,
        )
        self._held: list[Sequence[Column]] = []
        self._count = 0

    def __enter__(self) -> "SpillWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._flush(0)
        self._file.close()
        self._sink.close()

    def write(self, columns: Sequence[Column]) -> None:
        """Add some records."""
        self._held.append(columns)
        self._count += len(columns[0])
        if self._count >= self._rows:
            self._flush(self._count % self._rows)

    def _flush(self, left: int) -> None:
        """Write all but so many records."""
        if not self._count:
            return
        whole = [np.concatenate(parts) for parts in zip(*self._held, strict=True)]
        full = self._count - left
        if full:
            table = pa.table([pa.array(column[:full]) for column in whole], schema=self._schema)
            self._file.write_table(table, self._rows)
        self._held, self._count = [[column[full:].copy() for column in whole]], left


@contextmanager
def opened(path: Spilled) -> Iterator[Any]:
    """A spilled table to read columns from one by one: each opening reads the names of all of them."""
    if isinstance(path, pyarrow.parquet.ParquetFile):
        yield path
        return
    with source(path) as raw, pyarrow.parquet.ParquetFile(raw, pre_buffer=False) as file:
        yield file


def spilled(path: Spilled, columns: Sequence[str]) -> Iterator[list[Column]]:
    """Some columns of a spilled table, a row group at a time; a folder holds one in the order of its files."""
    if isinstance(path, Path) and path.is_dir():
        for each in sorted(path.glob("*.parquet")):
            yield from spilled(each, columns)
        return
    with opened(path) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group, columns=list(columns), use_threads=False)
            yield [table[name].to_numpy() for name in columns]


def only(path: Spilled, name: str) -> Iterator[Column]:
    """One column of a spilled table, a row group at a time."""
    for (values,) in spilled(path, [name]):
        yield values


def whole(path: Spilled, columns: Sequence[str]) -> list[Column]:
    """Some columns of a spilled table, all records."""
    parts = list(zip(*spilled(path, columns), strict=True))
    return [np.concatenate(pieces) for pieces in parts]
