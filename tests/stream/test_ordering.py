import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal.stream import ordering
from shoal.stream.ordering import ordered

KEY = "000102030405060708090a0b0c0d0e0f"


def in_parts(table, ends):
    """The table, cut at some places."""
    bounds = [0, *sorted(end for end in ends if end < table.num_rows), table.num_rows]
    return [table.slice(start, stop - start) for start, stop in itertools.pairwise(bounds)]


@settings(max_examples=50)
@given(
    n=st.integers(1, 120),
    ends=st.lists(st.integers(0, 120), max_size=6),
    held=st.sampled_from([60, 500, 1 << 24]),
    bits=st.sampled_from([2, 7, 12]),
)
def test_records_come_in_the_order_of_the_slow_twin_however_they_are_cut_and_held(n, ends, held, bits):
    table = pa.table({"row": range(n), "text": [f"{row}" * (row % 4) for row in range(n)]})
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(ordering, "HELD", held)
        patch.setattr(ordering, "BITS", bits)
        found = pa.concat_tables(ordered(in_parts(table, ends), KEY, Path(folder) / "order"))
        assert not (Path(folder) / "order").exists()
    assert found.equals(table.take(naive.row_order(KEY, n)))


def test_many_records_with_equal_bits_are_sorted_at_last(tmp_path, monkeypatch):
    """Hashes that no bits tell apart would be spread without an end."""
    monkeypatch.setattr(ordering, "HELD", 0)
    monkeypatch.setattr(ordering, "hashes", lambda key, rows: np.zeros((len(rows), 2), np.uint64))
    table = pa.table({"row": range(20)})
    found = pa.concat_tables(ordered(in_parts(table, [7, 9]), KEY, tmp_path / "order"))
    assert found["row"].to_pylist() == naive.row_order(KEY, 20)


def test_no_more_is_held_than_there_may_be_and_buckets_go_when_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr(ordering, "HELD", 1000)
    monkeypatch.setattr(ordering, "BITS", 3)
    seen, real = [], ordering.sorted_by_hash

    def watched(held, key):
        seen.append((sum(table.nbytes for table in held), len(list((tmp_path / "order").iterdir()))))
        return real(held, key)

    monkeypatch.setattr(ordering, "sorted_by_hash", watched)
    table = pa.table({"row": range(1500)})
    found = pa.concat_tables(ordered(in_parts(table, range(0, 1500, 50)), KEY, tmp_path / "order"))
    assert found.num_rows == 1500
    assert max(size for size, _ in seen) <= 1500  # sizes of buckets are estimates
    assert seen[-1][1] == 0


def test_what_a_killed_run_has_left_is_no_part_of_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(ordering, "HELD", 100)
    table = pa.table({"row": range(200)})
    coming = ordered(in_parts(table, range(0, 200, 20)), KEY, tmp_path / "order")
    next(coming)
    coming.close()
    assert list((tmp_path / "order").iterdir())
    found = pa.concat_tables(ordered([table], KEY, tmp_path / "order"))
    assert found["row"].to_pylist() == naive.row_order(KEY, 200)
    assert not (tmp_path / "order").exists()


def test_categories_that_differ_from_part_to_part_come_back_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr(ordering, "HELD", 100)
    grades = pa.array(["low", "mid", "high"])
    parts = [
        pa.table(
            {
                "word": pa.array([f"{start} {row}" for row in range(20)]).dictionary_encode(),
                "grade": pa.DictionaryArray.from_arrays(pa.array([2, 0] * 10), grades, ordered=True),
            }
        )
        for start in range(5)
    ]
    values = pa.concat_tables(parts).take(naive.row_order(KEY, 100))
    found = pa.concat_tables(ordered(parts, KEY, tmp_path / "order"))
    assert found.schema == parts[0].schema
    assert found.to_pylist() == values.to_pylist()
    assert found["grade"].chunk(0).dictionary == grades
