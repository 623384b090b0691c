"""A first look at a table: what its columns hold, and which role each may have."""

import os
import warnings
from dataclasses import asdict, dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrays import shown
from shoal.errors import ShoalWarning
from shoal.files import Source, read
from shoal.files.words import CONFIDENTIAL, IDENTIFIER, QUASI, matched
from shoal.privacy import k_anonymity
from shoal.table import arrow_of, is_text

Role = Literal["identifier", "quasi-identifier", "confidential", "other"]


@dataclass(frozen=True)
class ColumnProfile:
    """What a column holds, and a suggestion."""

    name: str
    type: str
    missing: int
    distinct: int
    low: Any
    high: Any
    role: Role
    reason: str


@dataclass(frozen=True)
class Inspection:
    """What a table holds; `unique` records stand alone on the suggested quasi-identifiers."""

    records: int
    columns: tuple[ColumnProfile, ...]
    unique: int | None
    numbered: bool = False  # columns of the same name were given numbers

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from shoal.report.card import inspection_card

        return inspection_card(self)

    def suggested(self, role: Role) -> list[str]:
        """The columns that a role is suggested for."""
        return [column.name for column in self.columns if column.role == role]

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it: dates, and numbers that JSON does not know, as text."""
        whole = asdict(self)
        for column in whole["columns"]:
            for end in ("low", "high"):
                value = column[end]
                plain = value is None or (isinstance(value, (int, float)) and abs(value) < float("inf"))
                column[end] = value if plain else str(value)
        return whole


def inspect(data: Any, **dialect: Any) -> Inspection:
    """Look at a pandas, polars or pyarrow table, or at a file.

    Suggestions come from names and values; the owner of the table decides.
    """
    source = read(data, **{"number_names": True} | dialect) if isinstance(data, (str, os.PathLike)) else data
    numbered = isinstance(source, Source) and source.dialect.names is not None and "names" not in dialect
    if numbered and not dialect.get("number_names"):
        warnings.warn(
            "columns of the same name are shown with numbers; say --number-names (number_names=True) to "
            "anonymize them under these names",
            ShoalWarning,
            stacklevel=2,
        )
    table = source.table if isinstance(source, Source) else arrow_of(data, to_look_at=True)
    columns = tuple(profile(name, table[name]) for name in table.column_names)
    quasi = [column.name for column in columns if column.role == "quasi-identifier"]
    unique = None
    if quasi and table.num_rows:
        known = pa.table({name: shown(table[name]) for name in quasi})
        unique = int((k_anonymity(known, quasi).sizes == 1).sum())
    return Inspection(table.num_rows, columns, unique, numbered)


def profile(name: str, column: pa.ChunkedArray) -> ColumnProfile:
    """One column."""
    kind = column.type
    column = shown(column)
    missing = column.null_count
    if is_text(column.type):
        missing += pc.sum(pc.equal(column, "")).as_py() or 0
    distinct = distinct_values(column)
    low = high = None
    if is_number(column.type) or pa.types.is_temporal(column.type):
        ends = pc.min_max(column).as_py()
        low, high = ends["min"], ends["max"]
    role, reason = suggestion(name, column, distinct)
    return ColumnProfile(name, str(kind), missing, distinct, low, high, role, reason)


def distinct_values(column: pa.ChunkedArray) -> int:
    """How many different values a column has; lists and structures count by what they show."""
    try:
        return int(pc.count_distinct(column).as_py())
    except pa.ArrowNotImplementedError:
        return len({repr(value) for value in column.to_pylist()})


def suggestion(name: str, column: pa.ChunkedArray, distinct: int) -> tuple[Role, str]:
    """A role, and why."""
    number, n = is_number(column.type) or is_code(column), len(column)
    if distinct <= 1:
        return "other", "one value only: it tells nobody apart"
    if word := matched(name, IDENTIFIER):
        return "identifier", f"called {word!r}: names a person directly"
    if word := matched(name, CONFIDENTIAL):
        return "confidential", f"called {word!r}: what a release is about, not how people are recognised"
    if not number and distinct == n and n > 1:
        return "identifier", "a different text in every record: names a person directly"
    word = matched(name, QUASI)
    called = f"called {word!r}: " if word else ""
    if number:
        return "quasi-identifier", f"{called}{distinct} different numbers may be known to others"
    if word:
        return "other", f"{called}people are recognised by it, but it is not a number; encode it or drop it"
    return "other", f"{distinct} different values that are not numbers: check whether others may know them"


def is_code(column: pa.ChunkedArray) -> bool:
    """Whether a column of text holds digits only, such as postcodes with leading zeros."""
    return is_text(column.type) and bool(pc.all(pc.match_substring_regex(column, "^[0-9]+$")).as_py())


def is_number(kind: pa.DataType) -> bool:
    """Whether a column can be a quasi-identifier."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
    )
