"""How many records are looked at together, so that a table of many columns takes no more memory than another."""

from collections.abc import Iterator

import pyarrow as pa

from shoal.files.write import GROUP

CELLS = 1 << 21  # values that are looked at together
_LEAST = 1024  # records that are, whatever their columns


def batch_of(columns: int) -> int:
    """How many records of so many columns are looked at together; no figure and no byte depends on it."""
    return min(GROUP, max(_LEAST, CELLS // max(1, columns)))


def batches(table: pa.Table) -> Iterator[pa.Table]:
    """A table in memory in parts as large as those of a file; nothing is copied."""
    size = batch_of(table.num_columns)
    return (table.slice(start, size) for start in range(0, table.num_rows, size))
