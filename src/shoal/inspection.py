"""A first look at a table: what its columns hold, and which role each may have."""

import os
import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from shoal.files import Source, read
from shoal.privacy import k_anonymity
from shoal.table import framed

Role = Literal["identifier", "quasi-identifier", "confidential", "other"]

_IDENTIFIER = (
    "name first last surname email mail phone mobile fax ssn passport iban account street address url ip id"
)
_CONFIDENTIAL = (
    "diagnosis disease icd condition medication treatment drug salary wage turnover profit debt religion "
    "crime offence grade test result hiv"
)
_QUASI = (
    "age birth born year dob date zip post postcode postal height weight income sex gender race ethnic "
    "education marital occupation job city town region county state country household children employees "
    "surface nationality hours"
)


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

    def suggested(self, role: Role) -> list[str]:
        """The columns that a role is suggested for."""
        return [column.name for column in self.columns if column.role == role]

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)


def inspect(data: Any, **dialect: Any) -> Inspection:
    """Look at a pandas, polars or pyarrow table, or at a file.

    Suggestions come from names and values; the owner of the table decides.
    """
    source = read(data, **dialect) if isinstance(data, (str, os.PathLike)) else data
    table = source.table if isinstance(source, Source) else framed(data).to_arrow()
    columns = tuple(profile(name, table[name]) for name in table.column_names)
    quasi = [column.name for column in columns if column.role == "quasi-identifier"]
    unique = None
    if quasi and table.num_rows:
        unique = int((k_anonymity(table, quasi).sizes == 1).sum())
    return Inspection(table.num_rows, columns, unique)


def profile(name: str, column: pa.ChunkedArray) -> ColumnProfile:
    """One column."""
    empty = pc.equal(column, "") if pa.types.is_string(column.type) else pc.is_null(column)
    missing = column.null_count + (pc.sum(empty).as_py() or 0 if column.null_count == 0 else 0)
    distinct = pc.count_distinct(column).as_py()
    low = high = None
    if is_number(column.type) or pa.types.is_temporal(column.type):
        ends = pc.min_max(column).as_py()
        low, high = ends["min"], ends["max"]
    role, reason = suggestion(name, column, distinct)
    return ColumnProfile(name, str(column.type), missing, distinct, low, high, role, reason)


def suggestion(name: str, column: pa.ChunkedArray, distinct: int) -> tuple[Role, str]:
    """A role, and why."""
    number, n = is_number(column.type), len(column)
    if distinct <= 1:
        return "other", "one value only: it tells nobody apart"
    if word := matched(name, _IDENTIFIER):
        return "identifier", f"called {word!r}: names a person directly"
    if word := matched(name, _CONFIDENTIAL):
        return "confidential", f"called {word!r}: what a release is about, not how people are recognised"
    if not number and distinct == n and n > 1:
        return "identifier", "a different text in every record: names a person directly"
    if number:
        word = matched(name, _QUASI)
        return "quasi-identifier", (
            f"called {word!r}: " if word else ""
        ) + f"{distinct} different numbers may be known to others"
    if word := matched(name, _QUASI):
        return (
            "other",
            f"called {word!r}: people are recognised by it, but it is not a number; encode it or drop it",
        )
    return "other", f"{distinct} different values that are not numbers: check whether others may know them"


def matched(name: str, words: str) -> str | None:
    """The first of the words that a column's name contains as a part of its own."""
    parts = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    listed = words.split()
    return next((part for part in parts if part in listed), None)


def is_number(kind: pa.DataType) -> bool:
    """Whether a column can be a quasi-identifier."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
    )
