"""Columns of Arrow whose types its own functions do not know, turned into ones that they do know.

Arrow compares, counts and writes columns of plain types. Categories of lists, runs, extensions such as pandas'
intervals, and decimals of 32 and 64 bits hold the same values in another form.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a column that holds each different one once: of categories, or of runs."""
    if pa.types.is_dictionary(column.type):
        chunks = [chunk.dictionary.take(chunk.indices) for chunk in column.chunks]
        return pa.chunked_array(chunks, type=column.type.value_type)
    if pa.types.is_run_end_encoded(column.type):
        return pa.chunked_array(map(pc.run_end_decode, column.chunks), type=column.type.value_type)
    return column


def taken(column: pa.ChunkedArray, rows: NDArray[np.int64]) -> pa.ChunkedArray:
    """The records of a column at these rows, in their order and in the same type."""
    kind = column.type
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(taken(decoded(column), rows), run_end_type=kind.run_end_type)
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return plain(column).take(pa.array(rows)).cast(kind)
    try:
        return column.take(pa.array(rows))
    except pa.ArrowNotImplementedError:  # such as lists of these: one by one
        whole = pa.concat_arrays(column.chunks)
        return pa.chunked_array([pa.concat_arrays([whole[row : row + 1] for row in rows.tolist()])], kind)


def plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values in a type that Arrow can compare and count, where there is one."""
    kind = column.type
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return plain(decoded(column))
    if isinstance(kind, pa.BaseExtensionType):
        return plain(pa.chunked_array([chunk.storage for chunk in column.chunks], type=kind.storage_type))
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return pc.cast(column, pa.decimal128(kind.precision, kind.scale))
    if pa.types.is_float16(kind):
        return pc.cast(column, pa.float32())
    if pa.types.is_binary_view(kind):
        return pc.cast(column, pa.binary())
    return pc.cast(column, pa.string()) if pa.types.is_string_view(kind) else column


def shown(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same values to look at: plain ones, or text where Arrow cannot compare them."""
    column = plain(column)
    if pa.types.is_null(column.type):
        return column
    try:
        pc.count_distinct(column)
        if pa.types.is_temporal(column.type):
            pc.min_max(column).as_py()
        return column
    except (pa.ArrowNotImplementedError, OverflowError, ValueError):
        return pa.chunked_array([[None if value is None else str(value) for value in listed(column)]], pa.string())


def listed(column: pa.ChunkedArray) -> list[Any]:
    """The values as Python's objects; dates that Python does not have as text."""
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):
        values = pc.cast(column, pa.string()).to_pylist()
    return values
