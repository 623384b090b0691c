"""k in persons: how many different persons share a combination, and how many share all their rows.

Several rows of one person are no crowd, so they count once. Where rows of a person can be linked, by a pseudonym
that is released, the whole sequence of rows is what somebody may recognise: at least k persons must have the same
rows, each as often.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.files.arrays import plain
from shoal.files.spelling import MISSING
from shoal.privacy.k_anonymity import Anonymity, distinct

Int = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Read(NamedTuple):
    """A column that says whose each row is, or to which part of a table it belongs."""

    values: pa.ChunkedArray  # categories decoded, texts without the spaces around them
    codes: Int  # the number of each row's value
    missing: Mask


def read_ids(name: str, column: pa.ChunkedArray) -> Read:
    """Tell the values of a column apart: " 17" and "17" are one, because to take them for two counts too many."""
    values = as_text(plain(column))
    missing = np.asarray(pc.is_null(values, nan_is_null=pa.types.is_floating(values.type)).to_numpy(), bool)
    if pa.types.is_floating(values.type):  # 0.0 and -0.0 are one
        values = pc.add(values.cast(pa.float64()), 0.0)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        values = pc.utf8_trim_whitespace(values)
        named = pc.is_in(pc.utf8_lower(values), value_set=pa.array(MISSING, values.type))
        missing |= np.asarray(named.fill_null(False).to_numpy(), bool)
    return Read(values, distinct(name, values).codes, missing)


def as_text(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Bytes that are text as text, because some Parquet files do not say so; other columns as they are."""
    kind = values.type
    if not (pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)):
        return values
    try:
        return values.cast(pa.large_binary()).cast(pa.large_string())
    except pa.ArrowInvalid:  # not UTF-8
        return values


def persons_of(name: str, column: pa.ChunkedArray) -> Int:
    """The number of each row's person in a file, which a column of it tells; every row must have one."""
    refuse_nested(name, column.type, "says whose row it is", "each person")
    found = read_ids(name, column)
    if lacking := int(found.missing.sum()):
        raise no_identifier(name, "1 row" if lacking == 1 else f"{lacking} rows", "each person")
    return found.codes


def refuse_nested(name: str, kind: pa.DataType, what: str, who: str) -> None:
    """Lists and structures are compared by nobody."""
    if pa.types.is_nested(kind):
        raise ShoalError(
            f"column {name!r} {what}, and holds values of several parts ({kind}), which cannot be compared; give "
            f"{who} one number or one text there"
        )


def no_identifier(name: str, rows: str, who: str) -> ShoalError:
    """Some rows are nobody's."""
    return ShoalError(
        f"column {name!r} says whose row it is, and has no value in {rows}; "
        f"give {who} an identifier in every row, or take those rows out"
    )


def sizes_of(groups: Int, persons: Int | None) -> Int:
    """How many different persons each group has; how many records, where it is not said whose they are."""
    return np.bincount(groups) if persons is None else persons_in(groups, persons).sizes


def persons_below(groups: Int, persons: Int, k: int) -> int:
    """How many different persons are in groups of fewer than k of them; one who is in several counts once."""
    small = persons_in(groups, persons).sizes < k
    return len(np.unique(persons[small[groups]]))


def persons_in(groups: Int, persons: Int) -> Anonymity:
    """How many different persons each group has; both are given by the numbers of each record."""
    pairs = np.unique(groups * (int(persons.max()) + 1) + persons)
    return Anonymity(np.bincount(pairs // (int(persons.max()) + 1)))


def linked(groups: Int, persons: Int, counted: Int | None = None) -> Anonymity:
    """How many persons have the same rows: the same groups, each as often; one number for each such set of rows.

    With `counted`, by its numbers: such as how many different households these persons are of.
    """
    order = np.lexsort((groups, persons))
    rows, sorted_groups = np.bincount(persons), groups[order]
    starts = np.concatenate([[0], np.cumsum(rows)[:-1]])
    same, before = np.empty(len(rows), np.int64), 0
    for count in np.unique(rows):
        own = np.flatnonzero(rows == count)
        sequences = sorted_groups[starts[own][:, None] + np.arange(count)]
        same[own] = np.unique(sequences, axis=0, return_inverse=True)[1].reshape(-1) + before
        before = int(same[own].max()) + 1
    return persons_in(same[persons], persons if counted is None else counted)
