"""k-anonymity: every combination of quasi-identifier values occurs in at least k records.

Counted on the values as they stand in a table, or on the text as it stands in a file: two records are
alike only if nobody can tell their quasi-identifiers apart. A missing value is a value like any other,
so it can only make groups smaller than a more lenient reading would.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ShoalError, no_columns
from shoal.files.arrays import plain


@dataclass(frozen=True, eq=False, repr=False)
class Anonymity:
    """The groups of records that share their quasi-identifiers."""

    sizes: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"Anonymity(k={self.k}, records={self.n_records}, groups={self.n_groups})"

    @property
    def k(self) -> int:
        """The size of the smallest group."""
        return int(self.sizes.min())

    @property
    def n_groups(self) -> int:
        """How many different combinations there are."""
        return len(self.sizes)

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return int(self.sizes.sum())

    def records_below(self, k: int) -> int:
        """How many records are in groups smaller than k."""
        return int(self.sizes[self.sizes < k].sum())


def k_anonymity(table: pa.Table, quasi_identifiers: Sequence[str]) -> Anonymity:
    """Count the groups of an Arrow table (values) or of a CSV file's text."""
    return Anonymity(np.bincount(groups_in(table, quasi_identifiers)))


def groups_in(table: pa.Table, quasi_identifiers: Sequence[str]) -> NDArray[np.int64]:
    """The group of each record of an Arrow table (values) or of a CSV file's text."""
    check_names(quasi_identifiers, table.column_names)
    if table.num_rows == 0:
        raise no_records()
    return grouped([distinct(name, table[name]).codes for name in dict.fromkeys(quasi_identifiers)])


def no_records() -> ShoalError:
    """There is nothing to count."""
    return ShoalError("the table is empty: it has columns but no records")


def check_names(quasi_identifiers: Sequence[str], columns: Sequence[str]) -> None:
    """There are quasi-identifiers, and each is a column."""
    if not quasi_identifiers:
        raise ShoalError("no quasi-identifier: name the columns by which somebody could recognise a person")
    known = set(columns)
    if unknown := [name for name in dict.fromkeys(quasi_identifiers) if name not in known]:
        raise no_columns(unknown, columns)


class Distinct(NamedTuple):
    """The distinct values of a column, and which of them each record has."""

    codes: NDArray[np.int64]
    values: pa.Array


def distinct(name: str, column: pa.ChunkedArray) -> Distinct:
    """The values of a column that differ, bit for bit; missing values are one of their own."""
    try:
        encoded = pc.dictionary_encode(comparable(column), null_encoding="encode").combine_chunks()
    except pa.ArrowNotImplementedError:
        raise ShoalError(f"column {name!r} of type {column.type} cannot be a quasi-identifier") from None
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    codes = np.from_dlpack(encoded.indices)  # to_numpy would load pandas, which takes longer than a small file
    return Distinct(codes.astype(np.int64), encoded.dictionary)


def comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values in a type that Arrow compares bit for bit: floats as whole numbers of as many bits."""
    if not pa.types.is_floating(column.type):
        column = plain(column)
    if not pa.types.is_floating(column.type):
        return column
    floats = np.ascontiguousarray(column.to_numpy(zero_copy_only=False))
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return pa.chunked_array([pa.array(floats.view(f"i{floats.dtype.itemsize}"), mask=missing)])


def grouped(columns: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The group of each record, from the numbers of its values in every column."""
    groups: Any = 0
    for codes in columns:
        # Numbering the pairs anew after every column keeps the numbers below n * n.
        groups = np.unique(groups * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return np.asarray(groups, np.int64)
