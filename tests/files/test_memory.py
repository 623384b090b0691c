import gzip
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from peaks import measured
from shoal.errors import ShoalError
from shoal.files import memory


@pytest.mark.parametrize(
    ("given", "found"),
    [("1GB", 10**9), ("800 mb", 8 * 10**8), ("1.5g", 1_500_000_000), ("1GiB", 2**30), (2 * 10**9, 2 * 10**9)],
)
def test_sizes_as_people_write_them(given, found):
    assert memory.bytes_of(given) == found


@pytest.mark.parametrize("given", ["much", "-1GB", "1 PB", "", True])
def test_what_is_no_size_is_an_error(given):
    with pytest.raises(ShoalError, match='memory is given as "1GB"'):
        memory.bytes_of(given)


def test_too_little_is_an_error_that_says_how_much():
    with pytest.raises(ShoalError, match="at least 512 MB, not 100 MB"):
        memory.bytes_of("100MB")


@pytest.mark.parametrize("free", [10, 10**9, 10**12])
def test_the_default_is_the_same_whatever_is_free(monkeypatch, free):
    monkeypatch.setattr(memory, "free_memory", lambda: free)
    assert memory.bytes_of(None) == memory.DEFAULT


def test_what_is_needed_and_cannot_be_had_is_an_error_that_says_how_much(monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "resident_memory", lambda: 10**8)
    monkeypatch.setattr(memory, "free_memory", lambda: 2 * 10**9)
    memory.check_free(21 * 10**8, "it", "make room")
    with pytest.raises(
        memory.NoRoomError, match=r"^it needs about 2.2 GB of memory and 2.1 GB can be had now; make r"
    ):
        memory.check_free(22 * 10**8, "it", "make room")
    (tmp_path / "a.csv").write_text("a\n1\n")
    memory.check_room(tmp_path / "a.csv")
    monkeypatch.setattr(memory, "free_memory", lambda: 10**8)
    with pytest.raises(memory.NoRoomError, match=r"a.csv needs about 330 MB .* 200 MB .*--memory 512MB"):
        memory.check_room(tmp_path / "a.csv")
    memory.check_room(tmp_path / "none.csv")


def test_a_process_holds_some_memory():
    assert 0 < memory.resident_memory() < 10**11


def test_there_is_some_memory(monkeypatch):
    assert memory.available_memory() > 0
    monkeypatch.setattr(memory, "available_memory", lambda: 10**6)  # it changes from one look to the next
    assert 0 <= memory.free_memory() <= 10**6
    memory.give_back()


def test_a_file_takes_more_in_memory_than_on_the_disk(tmp_path):
    text = b"a,b\n" + b"1,2\n" * 10_000
    (tmp_path / "a.csv").write_bytes(text)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text))
    table = pa.table({"a": ["the same long text, which takes little space in a file"] * 10_000})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 broken")
    sizes = {path.name: memory.size_in_memory(path) for path in tmp_path.iterdir()}
    assert sizes["a.csv"] == memory.BASE + memory.IN_MEMORY * len(text)
    assert all(size > memory.BASE for size in sizes.values())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a process in one place")
def test_the_estimate_is_of_the_order_of_what_is_measured():
    base, growth, expected_base, expected_growth = measured("memory")
    assert base / 2 < expected_base < 2 * base
    assert growth / 10 < expected_growth < 10 * growth


def test_a_packed_file_is_estimated_by_its_values(tmp_path):
    text = b"a,b\n" + b"1,2\n" * 100_000
    (tmp_path / "a.csv").write_bytes(text)
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(text))
    table = pa.table({"a": ["the same long text, which takes little space in a file"] * 10_000})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", use_dictionary=False)
    sizes = {path.name: memory.size_in_memory(path) - memory.BASE for path in tmp_path.iterdir()}
    assert sizes["a.csv.gz"] == 5 * memory.IN_MEMORY * (tmp_path / "a.csv.gz").stat().st_size
    assert sizes["a.parquet"] > memory.IN_MEMORY * 10_000 * 50


def test_values_that_a_file_stores_once_are_counted_as_often_as_they_occur(tmp_path):
    """Numbers of few values take a bit or two each in a Parquet file, and eight bytes in memory."""
    rows = 200_000
    table = pa.table({f"q{place}": np.arange(rows) % 7 for place in range(5)})
    pyarrow.parquet.write_table(table, tmp_path / "few.parquet")
    assert (tmp_path / "few.parquet").stat().st_size < rows * 5
    assert memory.size_in_memory(tmp_path / "few.parquet") - memory.BASE >= memory.IN_MEMORY * table.nbytes
