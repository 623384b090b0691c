from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from shoal.files.arrays import decoded, plain, shown, taken

LISTS = pa.DictionaryArray.from_arrays([0, 1, None, 0], pa.array([["a"], ["b"], ["nobody"]]))
RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([3, 4], pa.int32()), pa.array([1.5, None]))
PLAIN = [
    pa.array([1, 2, None]).dictionary_encode(),
    pa.array(np.array([1, 2], np.float16)),
    pa.array(["a", "b", None], pa.string_view()),
]
if hasattr(pa, "bool8"):  # an older Arrow does not have it
    PLAIN.append(pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1, None], pa.int8())))
if hasattr(pa, "decimal32"):
    PLAIN.append(pa.array([Decimal("1.5"), Decimal(-2), None], pa.decimal32(5, 1)))


@pytest.mark.parametrize(
    ("array", "values"),
    [(LISTS, [["a"], ["b"], None, ["a"]]), (RUNS, [1.5, 1.5, 1.5, None])],
    ids=["lists", "runs"],
)
def test_categories_and_runs_become_values(array, values):
    assert decoded(pa.chunked_array([array, array])).to_pylist() == values * 2
    assert decoded(pa.chunked_array([], type=array.type)).to_pylist() == []


TAKEN = [
    LISTS,
    RUNS,
    *PLAIN,
    pa.array([["a"], None, ["b", "longer than twelve bytes"]], pa.list_(pa.string_view())),
    pa.array([b"\0", None, b"longer than twelve bytes"], pa.binary_view()),
    pa.UnionArray.from_sparse(pa.array([0, 0, 0], pa.int8()), [pa.array([1, 2, 3])]),
]


@pytest.mark.parametrize("array", TAKEN, ids=[str(array.type) for array in TAKEN])
def test_records_of_any_type_can_be_put_in_any_order(array):
    column = pa.chunked_array([array, array[1:]])
    rows = np.random.default_rng(0).permutation(len(column))
    found = taken(column, rows)
    assert found.type == column.type
    assert found.to_pylist() == [column.to_pylist()[row] for row in rows]


@pytest.mark.parametrize("array", PLAIN, ids=[str(array.type) for array in PLAIN])
def test_plain_values_can_be_compared_and_counted(array):
    found = plain(pa.chunked_array([array]))
    assert found.to_pylist() == pa.chunked_array([array]).to_pylist()
    assert pc.count_distinct(found).as_py() == 2
    pc.min_max(found)


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (LISTS, ["['a']", "['b']", None, "['a']"]),
        (pa.array([{"a": 1}, None]), ["{'a': 1}", None]),
        (pa.array([1, None], pa.duration("s")), ["0:00:01", None]),
        (pa.array([-(10**14), None], pa.timestamp("ms")), ["-1199-02-15 14:13:20.000", None]),
    ],
    ids=["lists", "structures", "durations", "dates that Python does not have"],
)
def test_what_cannot_be_compared_is_shown_as_text(array, texts):
    assert shown(pa.chunked_array([array])).to_pylist() == texts


def test_what_can_be_compared_is_shown_as_it_is():
    dates = pa.chunked_array([pa.array([1, 2], pa.date32())])
    assert shown(dates) is dates
