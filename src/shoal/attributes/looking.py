"""The numbers of any column, to look at: whether it holds some, and which."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.files.spelling import number_pattern, pointed

Float = NDArray[np.float64]

_EXACT = 2**53  # whole numbers up to here are exact in a double


def holds_numbers(kind: pa.DataType) -> bool:
    """Whether a column of a type holds numbers, or true and false."""
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
    )


def numbers_in(column: pa.ChunkedArray) -> NDArray[Any]:
    """Numbers of any Arrow type, as whole numbers of 64 bits or as floats."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    if pa.types.is_decimal(column.type):
        return np.array([float(value) for value in column.to_pylist()])
    values = np.asarray(column.to_numpy())
    if values.dtype == np.uint64:
        return values.astype(np.int64 if values.max() < 2**63 else np.float64)
    return values.astype(np.int64 if values.dtype.kind in "iu" else np.float64)


def whole_where_it_can(values: NDArray[Any]) -> NDArray[Any]:
    """Floats that are all whole numbers as such."""
    if values.dtype.kind != "f" or np.abs(values).max(initial=0) >= _EXACT:
        return values
    return values.astype(np.int64) if np.array_equal(values, np.rint(values)) else values


def finite_numbers(column: pa.ChunkedArray, signs: tuple[str, str]) -> Float:
    """A column as doubles, NaN where it holds no finite number; `signs` are those of numbers in text."""
    kind = column.type
    try:
        if pa.types.is_dictionary(kind):
            column, kind = column.cast(kind.value_type), kind.value_type
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            texts = pc.utf8_trim_whitespace(column)
            plain = pc.match_substring_regex(texts, number_pattern(*signs))
            column = pc.if_else(plain, pointed(texts, *signs), None)
        elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            return np.full(len(column), np.nan)
        values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    except pa.ArrowException:  # types that Arrow makes no numbers of
        return np.full(len(column), np.nan)
    return np.where(np.isfinite(values), values, np.nan)
