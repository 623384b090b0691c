import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import ShoalError
from shoal.files import Said, batches, look
from shoal.privacy import counting, k_anonymity

NONE = Said()


def nothing(done, total):
    pass


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.0, -0.0, 1.5, None]),
            st.sampled_from([1, 2, None]),
            st.sampled_from(["", "a", None]),
        ),
        min_size=1,
        max_size=30,
    )
)
def test_it_counts_as_a_table_in_memory_is_counted(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(counting, "BUCKET", 3)
    monkeypatch.setattr(batches, "GROUP", 4)
    columns = list(zip(*rows, strict=True))
    table = pa.table(
        {
            "float": pa.array(columns[0], pa.float64()),
            "whole": pa.array(columns[1], pa.int64()),
            "text": pa.array(columns[2], pa.string()).dictionary_encode(),
        }
    )
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    source = look(tmp_path / "a.parquet", NONE, nothing)
    found = counting.count(source.batches(table.column_names), table.column_names, len(rows), tmp_path)
    expected = k_anonymity(table, table.column_names)
    assert sorted(found.sizes) == sorted(expected.sizes)
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_values_do_not_run_into_each_other():
    table = pa.table({"a": ["1", "12"], "b": ["23", "3"]})
    assert len(np.unique(counting.hashes_of(table), axis=0)) == 2
    assert len(np.unique(counting.hashes_of(pa.table({"a": ["1\x1f2", "1"], "b": ["3", "2\x1f3"]})), axis=0)) == 2


def test_what_cannot_be_compared_cannot_be_counted():
    with pytest.raises(ShoalError, match="'a' of type"):
        counting.hashes_of(pa.table({"a": [[1]]}))


@given(st.lists(st.integers(0, 9), max_size=40))
def test_buckets_count_as_numpy_does(tmp_path, values):
    hashes = np.array(values, np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "BUCKET", 3)
        with counting.Buckets(tmp_path, len(values), "others", width=1) as buckets:
            for part in np.array_split(hashes, 3):
                buckets.add(part)
            sizes = np.concatenate(list(buckets.sizes()))
    assert sorted(sizes) == sorted(np.unique(hashes, return_counts=True)[1])
    assert list(tmp_path.iterdir()) == []


WHOLE = [pa.int64(), pa.uint8(), pa.bool_(), pa.float16(), pa.float32(), pa.date32(), pa.time32("s")]
WHOLE += [pa.timestamp("ns", "UTC"), pa.duration("s"), pa.decimal128(9, 2), pa.decimal256(40, 2), pa.null()]
TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary(1), pa.binary_view()]


@pytest.mark.parametrize("encoded", [False, True])
@pytest.mark.parametrize("kind", WHOLE + TEXTS, ids=str)
def test_values_of_any_type_are_told_apart_in_parts_as_in_one_piece(kind, encoded):
    if encoded and "view" in str(kind):
        pytest.skip("Arrow cannot decode such categories")
    low, high = (False, True) if kind == pa.bool_() else (0, 1)
    values = [None] * 6 if kind == pa.null() else [low, high, low, high, low, None]
    if kind in TEXTS:
        values = [b"a", b"b", b"a", b"b", b"a", None] if "binary" in str(kind) else [*"abaab", None]
    column = pa.array(values, kind)
    table = pa.table({"x": column.dictionary_encode() if encoded else column})
    whole = k_anonymity(table, ["x"])
    assert sorted(whole.sizes) == ([6] if kind == pa.null() else [1, 2, 3])
    parts = [table.slice(0, 2), table.slice(2, 1), table.slice(3)]
    assert sorted(counting.count(parts, ["x"], 6).sizes) == sorted(whole.sizes)


def test_one_batch_is_counted_by_its_values_and_needs_no_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(counting, "hashes_of", None)
    table = pa.table({"x": [1, 1, 2]})
    assert sorted(counting.count([table], ["x"], 3, tmp_path / "not there").sizes) == [1, 2]
    with pytest.raises(ShoalError, match="the table is empty"):
        counting.count([], ["x"], 0)
