"""Writing columns to a file, whole or some records at a time: the same bytes every time."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.files import batches
from shoal.files.formats import Format, Style, text_schema
from shoal.files.stored import bare_schema, storable, trimmed


def write(table: pa.Table, path: Path, kind: Format) -> None:
    """Write an Arrow table: its values and their types, nothing else."""
    table = storable(table, kind.stored_type)
    # Categories are one list for the whole table, without those that no record has.
    table = pa.table([trimmed(column) for column in table.columns], schema=bare_schema(table.schema))
    write_parts(batches.slices(table, batches.GROUP), table.schema, path, kind)


def write_texts(
    names: Sequence[str], columns: Sequence[Sequence[str]], path: Path, kind: Format, style: Style
) -> None:
    """Write columns of text."""
    returns = any("\r" in value for column in [names, *columns] for value in column)
    write_parts([columns], text_schema(names), path, kind, replace(style, returns=returns))


def write_parts(
    parts: Iterable[Any], schema: pa.Schema, path: Path, kind: Format, style: Style | None = None
) -> None:
    """Write records as they come, `batches.GROUP` at a time: Arrow tables, or columns of text in a style."""
    with kind.writer(path, schema, style) as writer:
        for part in parts:
            writer.write(part)
