"""Writing columns to a file, whole or some records at a time: the same bytes every time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.files import batches
from shoal.files.arrays import taken
from shoal.files.formats import Format, Style, text_schema
from shoal.files.stored import bare_schema, relisted, storable, trimmed

Order = NDArray[np.int64]
"""The places of the rows, in the order in which they are written."""


def write(table: pa.Table, path: Path, kind: Format, order: Order | None = None) -> None:
    """Write an Arrow table: its values and their types, nothing else; its rows as they stand, or in an order."""
    table = storable(table, kind.stored_type)
    if order is not None:
        table = relisted(table).combine_chunks()
    # Categories are one list for the whole table, without those that no record has.
    table = pa.table([trimmed(column) for column in table.columns], schema=bare_schema(table.schema))
    parts = batches.slices(table, batches.GROUP) if order is None else permuted(table, order, batches.GROUP)
    write_parts(parts, table.schema, path, kind)


def permuted(table: pa.Table, order: Order, records: int) -> Iterator[pa.Table]:
    """The rows of a table in another order, so many at a time."""
    for start in range(0, len(order), records):
        rows = order[start : start + records]
        yield pa.table([taken(column, rows) for column in table.columns], schema=table.schema)


def write_texts(
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    path: Path,
    kind: Format,
    style: Style,
    order: Order | None = None,
) -> None:
    """Write columns of text; the rows as they stand, or in an order."""
    returns = any("\r" in value for column in [names, *columns] for value in column)
    if order is not None:
        places = order.tolist()
        columns = [list(map(column.__getitem__, places)) for column in columns]
    write_parts([columns], text_schema(names), path, kind, replace(style, returns=returns))


def write_parts(
    parts: Iterable[Any], schema: pa.Schema, path: Path, kind: Format, style: Style | None = None
) -> None:
    """Write records as they come, `batches.GROUP` at a time: Arrow tables, or columns of text in a style."""
    with kind.writer(path, schema, style) as writer:
        for part in parts:
            writer.write(part)
