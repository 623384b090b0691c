"""Arrow tables as files hold them: types that a format has, and no trace of what does not leave."""

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from shoal.files.arrays import decoded, plain

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
    """Categories that are lists or extensions, such as intervals, are stored as values; so are those in lists.

    The list of categories inside a list or a structure would tell in which order the rows came, and values of
    records that are not there any more.
    """
    if not pa.types.is_dictionary(kind):
        return without_categories(kind)
    value = kind.value_type
    odd = pa.types.is_nested(value) or isinstance(value, pa.BaseExtensionType)
    return plain_categories(value) if odd else kind


def without_categories(kind: pa.DataType) -> pa.DataType:
    """A type in which no list, map or structure holds categories."""
    if pa.types.is_dictionary(kind):
        return without_categories(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(without_categories(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(without_categories(kind.key_type), without_categories(kind.item_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(without_categories(kind.value_type)), kind.list_size)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        made = pa.list_ if pa.types.is_list(kind) else pa.large_list
        return made(kind.value_field.with_type(without_categories(kind.value_type)))
    return kind


def bare_schema(schema: pa.Schema, stored_type: StoredType = lambda kind: kind) -> pa.Schema:
    """The names and types of columns, and what belongs to a column unless it may list categories."""
    fields = [field.with_type(stored_type(field.type)) for field in schema]
    return pa.schema(field.remove_metadata() if pa.types.is_dictionary(field.type) else field for field in fields)


def fresh(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column in one piece whose memory has the size of its values: Arrow files hold it as it is."""
    if pa.types.is_dictionary(column.type):
        return column.combine_chunks()
    return pa.chunked_array([pa.concat_arrays([*column.chunks, column.chunk(0)[:0]])])


def relisted(table: pa.Table) -> pa.Table:
    """The same with categories listed by their values, unless they have an order of their own.

    In the order in which they were first met, they would tell in which order the rows came.
    """
    for place, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type) and not field.type.ordered:
            column = table.column(place).unify_dictionaries()
            chunks = [by_value(chunk) for chunk in column.chunks]
            table = table.set_column(place, field, pa.chunked_array(chunks, field.type))
    return table


def by_value(chunk: pa.DictionaryArray) -> pa.DictionaryArray:
    """A column of categories, listed by their values."""
    listed = chunk.dictionary
    try:
        order = pc.array_sort_indices(plain(pa.chunked_array([listed])).combine_chunks())
    except pa.ArrowNotImplementedError:
        texts = [repr(value) for value in listed.to_pylist()]
        order = pc.array_sort_indices(pa.array(texts, pa.string()))
    places = pc.array_sort_indices(order)  # where each category stands now
    indices = places.take(chunk.indices).cast(chunk.type.index_type)
    return pa.DictionaryArray.from_arrays(indices, listed.take(order))


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
