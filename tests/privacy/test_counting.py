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
