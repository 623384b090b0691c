"""How many records are read, looked at and written together: a table of many columns takes no more memory."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

GROUP = 65_536
"""Records that are written together, and read together at most."""

CELLS = 1 << 21  # values that are looked at together
_LEAST = 1024  # records that are, whatever their columns


def batch_of(columns: int) -> int:
    """How many records of so many columns are looked at together; no figure and no byte depends on it."""
    return min(GROUP, max(_LEAST, CELLS // max(1, columns)))


def batches(table: pa.Table) -> Iterator[pa.Table]:
    """A table in memory in parts as large as those of a file; nothing is copied."""
    return slices(table, batch_of(table.num_columns))


def slices(table: pa.Table, records: int) -> Iterator[pa.Table]:
    """A table in parts of so many records, the last of fewer."""
    return (table.slice(start, records) for start in range(0, table.num_rows, records))


def even(tables: Iterable[pa.Table], records: int) -> Iterator[pa.Table]:
    """The same for a table that comes in other parts."""
    held: list[pa.Table] = []
    count = 0
    for table in tables:
        held.append(table)
        count += table.num_rows
        if count >= records:
            whole = pa.concat_tables(held)
            full = count - count % records
            yield from slices(whole.slice(0, full), records)
            held, count = [whole.slice(full)], count - full
    if count:
        yield pa.concat_tables(held)
