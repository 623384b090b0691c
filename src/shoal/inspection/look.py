"""A first look at a table: what its columns hold, and which role each may have.

A table is looked at some records at a time, so that a file of any size takes little memory. How the records were
divided makes no difference.
"""

import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.attributes.quantities import MOST
from shoal.cards import Card, counted
from shoal.errors import ShoalError, ShoalWarning
from shoal.files import Dialect, Said, Source, read
from shoal.files.arrays import shown
from shoal.files.batches import batches
from shoal.inspection.profiles import ColumnProfile, Profiler
from shoal.inspection.suggestions import Role
from shoal.privacy import k_anonymity
from shoal.progress import quietly
from shoal.stream.counting import count
from shoal.stream.memory import BASE, FLOOR, bytes_of
from shoal.stream.source import Input, look
from shoal.table import arrow_of

_HELD = 160  # bytes that a different value takes at most, in a set and in a tally
_FEWEST = 100  # different values are counted at least as far as this


@dataclass(frozen=True)
class Inspection:
    """What a table holds; `unique` records stand alone on the suggested quasi-identifiers."""

    records: int
    columns: tuple[ColumnProfile, ...]
    unique: int | None
    numbered: bool = False  # columns of the same name were given numbers

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        figures = [(counted(self.records), "records"), (counted(len(self.columns)), "columns")]
        if self.unique is not None:
            figures.append((counted(self.unique), "unique on the suggested quasi-identifiers"))
        rows = [
            (
                column.name,
                column.type,
                "" if column.low is None else f"{column.low} to {column.high}",
                f"{'more than ' if column.more else ''}{counted(column.distinct)}",
                counted(column.missing) if column.missing else "",
                column.role,
                column.reason,
            )
            for column in self.columns
        ]
        return Card(
            "Inspection",
            figures,
            header=("column", "type", "range", "distinct", "missing", "suggested role", "why"),
            rows=rows,
            notes=["For the owner of the table: the ranges are original values. You decide on the roles."],
        ).html()

    def suggested(self, role: Role) -> list[str]:
        """The columns that a role is suggested for."""
        return [column.name for column in self.columns if column.role == role]

    def roles(self) -> dict[str, list[str]]:
        """The suggested roles as `anonymize` takes them: `anonymize(data, k=5, **inspect(data).roles())`.

        Columns that are not to leave are among the identifiers; those that tell nobody apart have no role.
        """
        return {
            "quasi_identifiers": self.suggested("quasi-identifier"),
            "confidential": self.suggested("confidential"),
            "identifiers": [c.name for c in self.columns if c.role in ("identifier", "drop")],
        }

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it: dates, and numbers that JSON does not know, as text."""
        whole = asdict(self)
        for column in whole["columns"]:
            for end in ("low", "high"):
                value = column[end]
                plain = value is None or (isinstance(value, (int, float)) and abs(value) < float("inf"))
                column[end] = value if plain else str(value)
        return whole


def inspect(data: Any, *, memory: str | int | None = None, **dialect: Any) -> Inspection:
    """Look at a pandas, polars or pyarrow table, or at a file.

    Suggestions come from names and values; the owner of the table decides.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or the path of a CSV, Parquet or Arrow file
        The table.
    memory : str or int
        The most memory to use for a file, such as "1GB"; 512 MB by default. In a table of many columns more
        memory counts more different values.
    dialect
        What is known about a CSV file, as for `shoal.files.read`; the rest is detected.
    """
    limit = FLOOR if memory is None else bytes_of(memory)
    given = {"number_names": True} | dialect
    if isinstance(data, (str, os.PathLike)) and str(data) != "-":
        file = look(Path(data), Said(**given), quietly)
        return inspect_file(file, limit, is_numbered(file.dialect, dialect))
    if memory is not None:
        raise ShoalError("memory is for files: a table in memory, or standard input, is there as a whole")
    table, found = table_of(read(data, **given) if isinstance(data, (str, os.PathLike)) else data)
    numbered = found is not None and is_numbered(found, dialect)
    columns = profiles(table.schema, batches(table), found, limit)
    unique = None
    if (quasi := to_count(columns)) and table.num_rows:
        known = pa.table({name: shown(table[name]) for name in quasi})
        unique = int((k_anonymity(known, quasi).sizes == 1).sum())
    return Inspection(table.num_rows, columns, unique, numbered)


def table_of(source: Any) -> tuple[pa.Table, Dialect | None]:
    """A table to look at; every value as text, and how they are written, where it comes from a CSV file."""
    if not isinstance(source, Source):
        return arrow_of(source, to_look_at=True), None
    return (source.table, None) if source.text is None else (source.text, source.dialect)


def is_numbered(found: Dialect, given: dict[str, Any]) -> bool:
    """Whether columns of the same name were given numbers; whoever did not ask for it is told."""
    numbered = found.names is not None and "names" not in given
    if numbered and not given.get("number_names"):
        warnings.warn(
            "columns of the same name are shown with numbers; say --number-names (number_names=True) to "
            "anonymize them under these names",
            ShoalWarning,
            stacklevel=3,
        )
    return numbered


def inspect_file(source: Input, limit: int, numbered: bool) -> Inspection:
    """The same for a file, some records at a time."""
    counted = Counted(source.tables(source.columns, quietly))
    dialect = source.dialect if source.format == "csv" else None
    columns = profiles(source.schema(), counted, dialect, limit)
    unique = None
    if (quasi := to_count(columns)) and counted.records:
        with tempfile.TemporaryDirectory() as folder:
            unique = int((count(source, quasi, counted.records, Path(folder), quietly).sizes == 1).sum())
    return Inspection(counted.records, columns, unique, numbered)


class Counted:
    """Tables that are passed on, and how many records they had."""

    def __init__(self, tables: Iterable[pa.Table]) -> None:
        self._tables, self.records = tables, 0

    def __iter__(self) -> Iterator[pa.Table]:
        for table in self._tables:
            self.records += table.num_rows
            yield table


def to_count(columns: tuple[ColumnProfile, ...]) -> list[str]:
    """The columns on which records may be unique."""
    return [column.name for column in columns if column.role == "quasi-identifier"]


def profiles(
    schema: pa.Schema, tables: Iterable[pa.Table], dialect: Dialect | None, limit: int
) -> tuple[ColumnProfile, ...]:
    """Every column of a table that comes in parts; a dialect is that of a CSV file."""
    most = max(_FEWEST, min(MOST, (limit - BASE) // (_HELD * max(1, len(schema)))))
    profilers = [Profiler(field.name, field.type, dialect, most) for field in schema]
    for table in tables:
        for profiler in profilers:
            profiler.add(table[profiler.name])
    return tuple(profiler.profile(place) for place, profiler in enumerate(profilers))
