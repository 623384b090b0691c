"""Gaps: what counts as a missing value, how it is written, and what is stored of it. A gap is never a number."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes.base import Settle, Stored, Wish
from shoal.attributes.levels import text_like
from shoal.attributes.looking import finite_numbers
from shoal.attributes.numbers import RowsError
from shoal.files.spelling import MISSING
from shoal.table import NO_TYPE, Column, is_text

Mask = NDArray[np.bool_]

GAP = np.iinfo(np.int64).min
"""What is stored of a gap among whole numbers; among floats it is NaN."""

_CATEGORIES = ("nominal", "ordinal", "boolean", "code")  # of which 009 is not 9

CURE = (
    "say what is to be done about them: --gaps drop (leave those records out), pattern (group records with the "
    "same gaps), blank (the same, and blank more cells where a pattern is too rare), value (a gap is a value of "
    "its own) or impute (a typical value); or fill them in or take those records out"
)


def gaps_in(column: Column, wish: Wish) -> Mask:
    """The records of a column that have no value; of several columns as one, those that lack any."""
    if column.parts:
        return np.asarray(np.logical_or.reduce([gaps_in(part, wish) for part in column.parts]), bool)
    try:
        values = column.values()
    except NO_TYPE:
        return np.asarray(column.series.is_null().to_numpy(), dtype=bool)
    missing = np.asarray(pc.is_null(values, nan_is_null=pa.types.is_floating(values.type)).to_numpy(), bool)
    if is_text(values.type):
        texts = pc.utf8_trim_whitespace(values)
        if wish.gap_values is None:
            named = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(MISSING, texts.type))
        else:
            named = pc.is_in(texts, value_set=pa.array(["", *wish.gap_values], texts.type))
        missing |= np.asarray(named.fill_null(False).to_numpy(), bool)
    elif wish.gap_values and (pa.types.is_temporal(values.type) or pa.types.is_boolean(values.type)):
        named = pc.is_in(values, value_set=read_as(wish.gap_values, values.type))
        missing |= np.asarray(named.fill_null(False).to_numpy(), bool)
    if wish.gap_values and wish.kind not in _CATEGORIES:
        marks = np.array([mark for mark in map(number, wish.gap_values) if mark is not None], np.float64)
        if pa.types.is_floating(values.type) and values.type != pa.float64():  # 99.9 as a short float has it
            marks = marks.astype(values.type.to_pandas_dtype()).astype(np.float64)
        missing |= np.isin(finite_numbers(values, column.signs), marks)
    return missing


def read_as(texts: Sequence[str], kind: pa.DataType) -> pa.Array:
    """Texts as values of a type of dates or times, those that can be read so."""
    found = []
    for text in texts:
        with suppress(pa.ArrowException):
            found.append(pc.cast(pa.array([text], pa.string()), kind))
    return pa.concat_arrays(found) if found else pa.array([], kind)


def number(text: str) -> float | None:
    """The number that a text is, if it is one."""
    try:
        return float(text)
    except ValueError:
        return None


def written_gaps(column: Column, wish: Wish) -> Counter[str]:
    """How gaps are written in a text file or a column of text, and how often; "" where there is nothing."""
    if column.parts:
        return sum((written_gaps(part, wish) for part in column.parts), Counter())
    missing = gaps_in(column, wish)
    if not missing.any():
        return Counter()
    if not text_like(column):
        return Counter({"": int(missing.sum())})
    found = pc.value_counts(column.values().filter(pa.array(missing)))
    return Counter({pair["values"] or "": pair["counts"] for pair in found.to_pylist()})


def missing_error(name: str, missing: Mask, before: int = 0) -> RowsError:
    """Missing values stand in the way."""
    return RowsError(name, "missing values", np.flatnonzero(missing) + 1 + before, CURE)


def is_gap(stored: Stored) -> Mask:
    """Where no value is stored."""
    return np.asarray(np.isnan(stored) if stored.dtype == np.float64 else stored == GAP)


def put_together(parts: Sequence[Stored]) -> Stored:
    """What is stored of some records and of others; a part of gaps only may be of another type than the others."""
    if len({part.dtype for part in parts}) > 1:
        parts = [np.where(is_gap(part), np.nan, part.astype(np.float64)) for part in parts]
    return np.concatenate(parts)


def gap_of(kind: "np.dtype[Any]") -> Any:
    """What is stored of a gap."""
    return np.nan if kind == np.float64 else GAP


@dataclass(frozen=True)
class GapFacts:
    """What is known of the gaps of an attribute: how many, how they are written, and what was done about them."""

    name: str
    policy: str
    count: int = 0
    written: dict[str, int] = field(default_factory=dict)
    imputed: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As a manifest holds it."""
        said: dict[str, Any] = {"policy": self.policy, "count": self.count, "written": self.written}
        return said | ({} if self.imputed is None else {"imputed": self.imputed})


def settled(parts: Iterator[Stored], settle: Settle) -> Iterator[Stored]:
    """Parts as the whole column has them, one after the other."""
    done = 0
    for part in parts:
        yield settle(part, done)
        done += len(part)
