"""A first look at a table: what its columns hold, and which role each may have.

A table is looked at some records at a time, so that a file of any size takes little memory. How the records were
divided makes no difference.
"""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from shoal.attributes.quantities import MOST
from shoal.cards import Card, counted
from shoal.errors import ShoalError, ShoalWarning
from shoal.files import Dialect, Said, Source, look
from shoal.files.batches import batches
from shoal.files.file import File
from shoal.files.memory import BASE, FLOOR, bytes_of
from shoal.files.source import reader_of
from shoal.inspection.patterns import GapPatterns, Patterns
from shoal.inspection.places import with_places
from shoal.inspection.profiles import ColumnProfile, Profiler
from shoal.inspection.suggestions import Role
from shoal.privacy import count
from shoal.progress import quietly
from shoal.table import Column, arrow_of, framed

_HELD = 160  # bytes that a different value takes at most, in a set and in a tally
_FEWEST = 100  # different values are counted at least as far as this


@dataclass(frozen=True)
class Inspection:
    """What a table holds; `unique` records stand alone on the suggested quasi-identifiers."""

    records: int
    columns: tuple[ColumnProfile, ...]
    unique: int | None
    numbered: bool = False  # columns of the same name were given numbers
    gaps: "GapPatterns | None" = None  # which of the suggested quasi-identifiers records lack

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        figures = [(counted(self.records), "records"), (counted(len(self.columns)), "columns")]
        if self.unique is not None:
            figures.append((counted(self.unique), "unique on the suggested quasi-identifiers"))
        rows = [
            (
                column.name,
                column.type,
                column.kind,
                "" if column.low is None else f"{column.low} to {column.high}",
                f"{'more than ' if column.more else ''}{counted(column.distinct)}",
                missing_shown(column, counted),
                column.role,
                column.reason,
            )
            for column in self.columns
        ]
        return Card(
            "Inspection",
            figures,
            header=("column", "type", "kind", "range", "distinct", "missing", "suggested role", "why"),
            rows=rows,
            notes=["For the owner of the table: the ranges are original values. You decide on the roles."],
        ).html()

    def suggested(self, role: Role) -> list[str]:
        """The columns that a role is suggested for."""
        return [column.name for column in self.columns if column.role == role]

    def roles(self) -> dict[str, list[str]]:
        """The suggested roles as `anonymize` takes them.

        `anonymize(data, k=5, **found.roles(), **found.options())` makes a release by all that is suggested.
        Columns that are not to leave are among the identifiers; those that tell nobody apart have no role.
        """
        return {
            "quasi_identifiers": self.suggested("quasi-identifier"),
            "confidential": self.suggested("confidential"),
            "identifiers": [c.name for c in self.columns if c.role in ("identifier", "drop")],
        }

    def options(self, blocks: bool = False) -> dict[str, Any]:
        """What `anonymize` is to be told beside the roles: kinds, what means a missing value, a policy for gaps.

        Where the table is to be divided into blocks, a gap is a value: patterns of gaps need it in one.
        """
        made: dict[str, Any] = {}
        for column in self.columns:
            for option, value in column.options.items():
                made.setdefault(option, {})[column.name] = value
        if self.gaps is not None:
            made["gaps"] = "value" if blocks else self.gaps.policy
        return made

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it: dates, and numbers that JSON does not know, as text."""
        whole = asdict(self) | {"options": self.options()}
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
    is_path = isinstance(data, (str, os.PathLike))
    if memory is not None and (not is_path or str(data) == "-"):
        raise ShoalError("memory is for files: a table in memory, or standard input, is there as a whole")
    if not is_path:
        table, found = table_of(data)
        numbered = found is not None and is_numbered(found, dialect)
        frame = None if isinstance(data, Source) else framed(data)

        def parts(names: list[str]) -> Iterator[pa.Table]:
            return batches(table.select(names))

        return inspected(table.schema, parts, found, limit, numbered, frame)
    said = Said(**({"number_names": True} | dialect))
    reader = reader_of(File.held(data), said) if str(data) == "-" else look(Path(data), said, quietly)
    numbered = is_numbered(reader.dialect, dialect)
    found = reader.dialect if reader.format.is_text else None
    return inspected(reader.schema, reader.batches, found, limit, numbered)


def table_of(data: Any) -> tuple[pa.Table, Dialect | None]:
    """A table to look at; every value as text, and how they are written, where it comes from a CSV file."""
    if not isinstance(data, Source):
        return arrow_of(data, to_look_at=True), None
    return (data.table, None) if data.text is None else (data.text, data.dialect)


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


def inspected(
    schema: pa.Schema,
    tables: Callable[[list[str]], Iterator[pa.Table]],
    dialect: Dialect | None,
    limit: int,
    numbered: bool,
    frame: "nw.DataFrame[Any] | None" = None,
) -> Inspection:
    """Look at some records at a time; a dialect is that of a CSV file, a frame that of a table in memory."""
    passed = Counted(tables(schema.names))
    columns = with_places(profiles(schema, passed, dialect, limit, frame))
    chosen = [column for column in columns if column.role == "quasi-identifier"]
    quasi = [column.name for column in chosen]
    unique, patterns = None, Patterns(chosen, dialect.signs if dialect else None)
    if quasi and passed.records:
        unique = int((count(patterns.watching(tables(quasi)), quasi, passed.records).sizes == 1).sum())
    k = min(5, passed.records)
    return Inspection(passed.records, columns, unique, numbered, patterns.found(k))


def missing_shown(column: ColumnProfile, number: Callable[[int], str] = str) -> str:
    """How many values are missing, and how that is written."""
    if not column.missing:
        return ""
    written = [text or "empty" for text in column.gaps]
    if written == ["empty"]:
        return number(column.missing)
    return f"{number(column.missing)} ({', '.join(written[:3])}{', ...' if len(written) > 3 else ''})"


class Counted:
    """Tables that are passed on, and how many records they had."""

    def __init__(self, tables: Iterable[pa.Table]) -> None:
        self._tables, self.records = tables, 0

    def __iter__(self) -> Iterator[pa.Table]:
        for table in self._tables:
            self.records += table.num_rows
            yield table


def profiles(
    schema: pa.Schema,
    tables: Iterable[pa.Table],
    dialect: Dialect | None,
    limit: int,
    frame: "nw.DataFrame[Any] | None" = None,
) -> tuple[ColumnProfile, ...]:
    """Every column of a table that comes in parts; a dialect is that of a CSV file."""
    most = max(_FEWEST, min(MOST, (limit - BASE) // (_HELD * max(1, len(schema)))))
    held = {} if frame is None else {name: Column(name, frame[name]) for name in schema.names}
    profilers = [Profiler(each.name, each.type, dialect, most, held.get(each.name)) for each in schema]
    for table in tables:
        for profiler in profilers:
            profiler.add(table[profiler.name])
    return tuple(profiler.profile(place) for place, profiler in enumerate(profilers))
