import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

import shoal
from shoal.files.stored import bare_schema, fresh, plain_categories, relisted, storable, trimmed


def test_categories_that_no_record_has_are_gone_and_the_others_keep_their_order():
    column = pa.DictionaryArray.from_arrays(pa.array([3, None, 1, 3]), list("abcd"), ordered=True)
    made = trimmed(pa.chunked_array([column, column[2:3]]))
    assert made.to_pylist() == ["d", None, "b", "d", "b"]
    assert made.chunk(0).dictionary.to_pylist() == ["b", "d"]
    assert made.type == column.type


MONTHS = pa.array([pa.MonthDayNano([months, 0, 0]) for months in (3, 1, 2)])
LISTED = [
    (pa.array(["z", None, "b", "a"]), ["a", "b", "z"]),
    (pa.array([9, 3, None, 5]), [3, 5, 9]),
    (pa.array([None, 2.5, 10.5, -1.0]), [-1.0, 2.5, 10.5]),
    (MONTHS, [MONTHS[1].as_py(), MONTHS[2].as_py(), MONTHS[0].as_py()]),
]


@pytest.mark.parametrize(("values", "listed"), LISTED, ids=[str(values.type) for values, _ in LISTED])
def test_categories_without_an_order_are_listed_by_their_values_and_others_stay(values, listed):
    known = values.drop_null()
    coded = [None if value is None else known.to_pylist().index(value) for value in values.to_pylist()]
    column = pa.DictionaryArray.from_arrays(pa.array(coded, pa.int8()), known)
    made = relisted(pa.table({"x": pa.chunked_array([column[:2], column[2:]]), "y": values}))
    assert made["x"].to_pylist() == made["y"].to_pylist() == values.to_pylist()
    assert made["x"].type == column.type
    assert made["x"].chunk(1).dictionary.to_pylist() == listed
    ordered = pa.table({"x": pa.DictionaryArray.from_arrays(column.indices, column.dictionary, ordered=True)})
    assert relisted(ordered).equals(ordered)


def test_categories_of_lists_are_stored_as_values():
    odd = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), pa.array([[1], [2]]))
    assert plain_categories(odd.type) == pa.list_(pa.int64())
    assert plain_categories(pa.dictionary(pa.int8(), pa.string())) == pa.dictionary(pa.int8(), pa.string())
    made = storable(pa.table({"x": odd, "y": [1, 2, 3]}), plain_categories)
    assert made["x"].to_pylist() == [[2], [1], None]
    assert made["y"].to_pylist() == [1, 2, 3]


def test_nothing_but_names_and_types_is_left_of_a_schema():
    listed = pa.field("c", pa.dictionary(pa.int8(), pa.string()), metadata={"values": "Zebulon"})
    plain = pa.field("p", pa.int8(), metadata={"unit": "kg"})
    made = bare_schema(pa.schema([listed, plain], {"pandas": "Zebulon"}))
    assert made.metadata is None
    assert (made.field("c").metadata, made.field("p").metadata) == (None, {b"unit": b"kg"})
    assert bare_schema(made, lambda kind: pa.string()).types == [pa.string(), pa.string()]


@pytest.mark.parametrize("values", [list(range(100)), ["text"] * 100])
def test_a_slice_takes_the_memory_of_its_values_only(values):
    column = pa.chunked_array([values, values])
    made = fresh(column.slice(90, 20))
    assert made.num_chunks == 1
    assert made.equals(column.slice(90, 20))
    assert made.get_total_buffer_size() < column.get_total_buffer_size() / 4
    assert pc.sum(pc.is_null(made)).as_py() == 0


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_categories_inside_lists_and_structures_leave_as_values(tmp_path, suffix):
    names = [f"n{i:03d}" for i in np.random.default_rng(0).permutation(40)]
    inside = pa.array(names).dictionary_encode()
    table = pa.table(
        {
            "age": [i % 9 for i in range(40)],
            "whole": pa.StructArray.from_arrays([inside], ["f"]),
            "many": pa.ListArray.from_arrays(list(range(41)), inside),
        }
    )
    path = tmp_path / f"safe.{suffix}"
    shoal.anonymize(table, 4, "age", ["whole", "many"]).write(path)
    read = pa.parquet.read_table(path) if suffix == "parquet" else pa.ipc.open_file(path).read_all()
    assert read.schema.field("whole").type == pa.struct([("f", pa.string())])
    assert read.schema.field("many").type.value_type == pa.string()
    assert sorted(row["f"] for row in read["whole"].to_pylist()) == sorted(names)
