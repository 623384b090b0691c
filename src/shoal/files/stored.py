"""Arrow tables as files hold them: types that a format has, and no trace of what does not leave."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from shoal.files.arrays import decoded

StoredType = Callable[[pa.DataType], pa.DataType]
"""The type that a column of a type gets in a file."""


def storable(table: pa.Table, stored_type: StoredType) -> pa.Table:
    """The same values in types that a file can hold."""
    for place, field in enumerate(table.schema):
        kind = stored_type(field.type)
        if kind != field.type:
            table = table.set_column(place, field.with_type(kind), decoded(table.column(place)).cast(kind))
    return table


def plain_categories(kind: pa.DataType) -> pa.DataType:
    """Categories that are lists or extensions, such as intervals, are stored as values."""
    if not pa.types.is_dictionary(kind):
        return kind
    value = kind.value_type
    odd = pa.types.is_nested(value) or isinstance(value, pa.BaseExtensionType)
    return plain_categories(value) if odd else kind


def bare_schema(schema: pa.Schema, stored_type: StoredType = lambda kind: kind) -> pa.Schema:
    """The names and types of columns, and what belongs to a column unless it may list categories."""
    fields = [field.with_type(stored_type(field.type)) for field in schema]
    return pa.schema(field.remove_metadata() if pa.types.is_dictionary(field.type) else field for field in fields)


def fresh(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in one piece whose memory has the size of its values: Arrow files hold it as it is."""
    if pa.types.is_dictionary(column.type):
        return column.combine_chunks()
    return pa.chunked_array([pa.concat_arrays([*column.chunks, column.chunk(0)[:0]])])


def trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of categories without those that no record has: they may name people who were dropped."""
    if not pa.types.is_dictionary(column.type):
        return column
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    used = pc.unique(whole.indices.drop_null()).sort()
    indices = pc.index_in(whole.indices, value_set=used).cast(column.type.index_type)
    made = pa.DictionaryArray.from_arrays(indices, whole.dictionary.take(used), ordered=column.type.ordered)
    return pa.chunked_array([made])
