import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ShoalError
from shoal.files import sealing
from shoal.files.sealing import (
    MARK,
    PIECE,
    SealError,
    content_of,
    numbers_in,
    put,
    reading,
    sink,
    source,
    under,
    writing,
)

pytest.importorskip("cryptography")
KEY, OTHER = bytes(range(32)), bytes(32)
SIZES = [0, 1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 2 * PIECE + 5]


def filled(size):
    return np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("size", SIZES)
def test_what_was_put_comes_back(tmp_path, key, size):
    content, path = filled(size), tmp_path / "file"
    with under(key):
        with writing(path) as file:
            for start in range(0, size, 40_000):
                file.write(content[start : start + 40_000])
            assert file.tell() == size
        assert content_of(path) == content
    assert (path.read_bytes() == content) == (key is None)


def test_any_place_can_be_read(tmp_path):
    content, path = filled(2 * PIECE + 77), tmp_path / "file"
    with under(KEY):
        put(path, content)
        with reading(path) as file:

            @given(st.integers(0, len(content) + 9), st.integers(0, 2 * PIECE))
            def check(place, length):
                assert file.seek(place) == place
                assert file.read(length) == content[place : place + length]
                assert file.seek(0, 2) == len(content)

            check()


def test_two_files_with_the_same_content_have_nothing_in_common(tmp_path):
    with under(KEY):
        for name in "ab":
            put(tmp_path / name, bytes(1000))
    one, other = (np.frombuffer((tmp_path / name).read_bytes()[len(MARK) :], np.uint8) for name in "ab")
    assert (one == other).mean() < 0.05


@pytest.mark.parametrize("size", SIZES)
def test_a_wrong_key_and_changed_bytes_are_found_out(tmp_path, size):
    path = tmp_path / "file"
    with under(KEY):
        put(path, filled(size))
    whole = path.read_bytes()
    with under(OTHER), pytest.raises(SealError, match="sealed with another key, or changed"):
        read_any(path)
    for place in (len(MARK), len(whole) - 1, len(whole) // 2 + 20):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with under(KEY), pytest.raises(SealError, match="sealed with another key, or changed"):
            read_any(path)


def read_any(path):
    """All of it; an empty file has one piece, which nobody asks for."""
    with reading(path) as file:
        file._piece(0)
        return file.read()


@pytest.mark.parametrize("left", [0, 20, 47, 47 + PIECE + 16, 47 + 2 * PIECE, -1])
def test_a_file_that_was_cut_off_is_found_out(tmp_path, left):
    path = tmp_path / "file"
    with under(KEY):
        put(path, filled(2 * PIECE + 5))
        path.write_bytes(path.read_bytes()[:left])
        with pytest.raises(SealError, match="cut off|sealed with another key, or changed"):
            read_any(path)


def test_a_plain_file_is_not_taken_for_a_sealed_one(tmp_path):
    put(tmp_path / "file", filled(100))
    with under(KEY), pytest.raises(SealError, match="file is not encrypted"):
        content_of(tmp_path / "file")


@pytest.mark.parametrize("key", [None, KEY])
def test_arrow_and_numpy_write_and_read(tmp_path, key):
    table = pa.table({"a": np.arange(90_000) * 0.7, "b": ["text"] * 90_000})
    with under(key):
        with sink(tmp_path / "p") as raw, pq.ParquetWriter(raw, table.schema) as writer:
            writer.write_table(table, 20_000)
        with source(tmp_path / "p") as raw, pq.ParquetFile(raw, pre_buffer=False) as file:
            assert pa.concat_tables([file.read_row_group(n) for n in (1, 0)])["a"][0].as_py() == 14_000
            assert file.read().equals(table)
        with sink(tmp_path / "i") as raw, pa.ipc.new_stream(raw, table.schema) as stream:
            stream.write_table(table)
        with source(tmp_path / "i") as raw, pa.ipc.open_stream(raw) as stream:
            assert stream.read_all().equals(table)
        with writing(tmp_path / "z") as file:
            np.savez(file, np.arange(30_000), labels=np.arange(3))
        with reading(tmp_path / "z") as raw, np.load(raw) as file:
            assert file["labels"].tolist() == [0, 1, 2]
            assert file["arr_0"].sum() == 30_000 * 29_999 // 2
        with writing(tmp_path / "n") as file:
            np.save(file, np.arange(5))
        with reading(tmp_path / "n") as file:
            assert np.load(file).tolist() == [0, 1, 2, 3, 4]
        put(tmp_path / "k", pickle.dumps({"a": 1}))
        assert pickle.loads(content_of(tmp_path / "k")) == {"a": 1}
    for path in tmp_path.iterdir():
        assert path.read_bytes().startswith(MARK) == (key is not None)


@pytest.mark.parametrize("key", [None, KEY])
def test_some_of_many_numbers_are_taken(tmp_path, key):
    numbers = np.random.default_rng(0).integers(0, 99, 700_000).astype(np.int32)
    with under(key):
        put(tmp_path / "n", numbers.tobytes())
        taken = numbers_in(tmp_path / "n", np.int32)
        for rows in ([], [0], [699_999, 3, 3, 262_144, 262_143], list(range(500, 690_000, 7))):
            assert (taken[np.array(rows, np.int64)] == numbers[rows]).all()
        assert (taken[:] == numbers).all()


def test_without_the_package_it_is_told_how_to_get_it(monkeypatch):
    def missing(name):
        raise ImportError(name)

    sealing.ready()
    monkeypatch.setattr("shoal.files.sealing.import_module", missing)
    with pytest.raises(ShoalError, match=r"pip install 'shoal\[encryption\]'"):
        sealing.ready()
