"""Records in the order of the keyed hashes of their rows, however many there are.

They are spread over buckets on the disk by the leading bits of their hashes. Then the buckets are read one after
the other, sorted and handed on; one that is too large to be held is spread again by the bits that follow. How much
is held at a time does not depend on the number of records. A bucket is removed when it has been read.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.files import batches
from shoal.files.arrays import taken
from shoal.files.sealing import sink, source
from shoal.files.stored import trimmed
from shoal.files.target import permuted
from shoal.row_order import Int, hashes, order_of

HELD = 1 << 24  # bytes of records that are held at a time
BITS = 7  # of a hash that tell one bucket from another
HASHED = 64  # bits of a hash that can tell them apart


def ordered(tables: Iterable[pa.Table], key: str, folder: Path) -> Iterator[pa.Table]:
    """The records of tables that come in the order of the input, in the order of their hashes.

    Nothing is handed on before all have come. The folder is made for the buckets, and removed.
    """
    rmtree(folder, ignore_errors=True)  # of a run that was killed
    folder.mkdir(mode=0o700)
    yield from by_hash(numbered(tables), key, folder, 0)
    rmtree(folder)


def numbered(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Tables with one column more, the last: the row of each record in the input."""
    done = 0
    for table in tables:
        rows = np.arange(done, done + table.num_rows)
        done += table.num_rows
        yield table.append_column("row", pa.array(rows))


def by_hash(tables: Iterable[pa.Table], key: str, folder: Path, used: int) -> Iterator[pa.Table]:
    """Numbered records in the order of their hashes, of which so many leading bits are the same."""
    with Spread(key, lambda number: folder / f"{used}-{number}", used, BITS) as spread:
        for table in tables:
            spread.add(table)
        if not spread.sizes:
            yield from sorted_by_hash(spread.held, key)
            return
        spread.flush()
    for number, size in sorted(spread.sizes.items()):
        coming = taken_from(spread.path(number))
        if size > HELD and used + 2 * BITS <= HASHED:
            yield from by_hash(coming, key, folder, used + BITS)
        else:
            yield from sorted_by_hash(list(coming), key)


def sorted_by_hash(held: list[pa.Table], key: str) -> Iterator[pa.Table]:
    """Numbered records that are in memory, without their numbers and in the order of their hashes."""
    whole = together(held)
    table = whole.select(range(whole.num_columns - 1))
    return permuted(table, order_of(key, rows_of(whole)), batches.batch_of(table.num_columns))


def together(held: list[pa.Table]) -> pa.Table:
    """Tables as one, each column in one piece."""
    return pa.concat_tables(held).unify_dictionaries().combine_chunks()


def rows_of(table: pa.Table) -> Int:
    """The numbers of numbered records."""
    rows: Int = table.column(table.num_columns - 1).to_numpy()
    return rows


def read(path: Path) -> Iterator[pa.Table]:
    """The records of a bucket, some at a time."""
    with source(path) as raw, pa.ipc.open_stream(raw) as reader:
        for batch in reader:
            yield pa.Table.from_batches([batch])


def taken_from(path: Path) -> Iterator[pa.Table]:
    """The same; then the bucket is removed."""
    yield from read(path)
    path.unlink()


class Spread(ExitStack):
    """Buckets of numbered records, by those bits of their hashes that follow the leading ones; a context.

    Records are held until there are enough of them to be spread, so that a few need no bucket. `path` gives the
    file of a bucket by its number, which has so many bits.
    """

    def __init__(self, key: str, path: Callable[[int], Path], used: int, bits: int) -> None:
        super().__init__()
        self.path = path
        self._key, self._used, self._bits = key, used, bits
        self._files: dict[int, Any] = {}
        self._size = 0
        self.held: list[pa.Table] = []
        self.sizes: dict[int, int] = {}
        """What the records of each bucket take in memory."""

    def add(self, table: pa.Table) -> None:
        """Take some more records."""
        self.held.append(table)
        self._size += table.nbytes
        if self._size > HELD:
            self.flush()

    def flush(self) -> None:
        """Spread what is held."""
        if not self.held:
            return
        whole, size = together(self.held), self._size
        self.held, self._size = [], 0
        leading = hashes(self._key, rows_of(whole))[:, 0] << np.uint64(self._used)
        numbers = (leading >> np.uint64(HASHED - self._bits)).astype(np.int64)
        order = np.argsort(numbers, kind="stable")
        whole = pa.table([taken(column, order) for column in whole.columns], schema=whole.schema)
        counts, start = np.bincount(numbers), 0
        for number in np.flatnonzero(counts).tolist():
            records = int(counts[number])
            self._write(number, whole.slice(start, records))
            self.sizes[number] = self.sizes.get(number, 0) + size * records // len(order)
            start += records

    def _write(self, number: int, piece: pa.Table) -> None:
        """Put records to a bucket, of categories only those that they have."""
        if number not in self._files:
            raw = self.enter_context(sink(self.path(number)))
            packed = pa.ipc.IpcWriteOptions(compression="zstd", use_threads=False)
            self._files[number] = self.enter_context(pa.ipc.new_stream(raw, piece.schema, options=packed))
        columns = [column if ordered_categories(column.type) else trimmed(column) for column in piece.columns]
        self._files[number].write_table(pa.table(columns, schema=piece.schema))


def ordered_categories(kind: pa.DataType) -> bool:
    """Whether a column has categories whose order must stay whole."""
    return bool(pa.types.is_dictionary(kind) and kind.ordered)
