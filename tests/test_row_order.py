"""The order of the rows: the same by any way, and of no use to whoever knows the order of the input."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import shoal
from shoal.files import read
from shoal.row_order import hashes, order_of

KEYS = st.binary(min_size=16, max_size=16).map(bytes.hex)


@given(KEYS, st.integers(0, 200))
def test_the_order_is_that_of_its_slow_twin(key, n):
    assert order_of(key, np.arange(n)).tolist() == naive.row_order(key, n)


@given(KEYS, st.lists(st.integers(0, 2**40), min_size=1, max_size=20))
def test_the_hash_of_a_row_does_not_depend_on_the_rows_beside_it(key, rows):
    together = hashes(key, np.array(rows))
    alone = [hashes(key, np.array([row]))[0] for row in rows]
    assert together.tolist() == np.array(alone).tolist()


def test_hashes_that_are_made_in_several_parts_are_the_same(monkeypatch):
    whole = hashes("0f" * 16, np.arange(50))
    monkeypatch.setattr("shoal.row_order._TOGETHER", 7)
    assert (hashes("0f" * 16, np.arange(50)) == whole).all()


def test_the_order_of_a_key_stays_what_it_was():
    """Manifests of this version must repeat in later ones."""
    expected = [6, 9, 5, 3, 2, 4, 10, 1, 8, 0, 11, 7]
    assert order_of("000102030405060708090a0b0c0d0e0f", np.arange(12)).tolist() == expected


def test_equal_hashes_leave_in_the_order_of_their_rows(monkeypatch):
    def few(key, rows):
        return np.stack([rows % 2, np.zeros_like(rows)], axis=1).astype(np.uint64)

    monkeypatch.setattr("shoal.row_order.hashes", few)
    assert order_of("00" * 16, np.arange(6)).tolist() == [0, 2, 4, 1, 3, 5]


N = 600


@pytest.fixture
def table(tmp_path):
    """People whose diagnosis tells them apart, so that it is seen who was matched with whom."""
    rng = np.random.default_rng(4)
    columns = {"age": rng.integers(18, 90, N), "weight": rng.normal(70, 12, N).round(1)}
    path = tmp_path / "in.parquet"
    pyarrow.parquet.write_table(pa.table(columns | {"diagnosis": [f"code {row}" for row in range(N)]}), path)
    return path


def matched_by_position(path, output):
    """How many people are found by who takes the record at somebody's place for that of the person."""
    before, after = (read(each).table["diagnosis"].to_pylist() for each in (path, output))
    assert sorted(before) == sorted(after)
    return sum(own == found for own, found in zip(before, after, strict=True))


@pytest.mark.parametrize("blocks", [None, 1, 4])
@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.arrow"])
def test_who_knows_the_order_of_the_input_finds_everybody_in_a_kept_one_and_nobody_by_default(
    tmp_path, table, monkeypatch, name, blocks
):
    monkeypatch.setattr("shoal.stream.ordering.HELD", 4000)  # so that there are buckets, and buckets of buckets
    given = {"k": 5, "quasi_identifiers": ["age", "weight"], "confidential": "diagnosis", "blocks": blocks}
    given |= {"method": "mdav", "overwrite": True}
    with pytest.warns(shoal.ShoalWarning, match="can match every record by its position"):
        shoal.anonymize_file(table, tmp_path / name, keep_order=True, **given)
    assert matched_by_position(table, tmp_path / name) == N
    for key in range(3):  # one is found by chance, on average
        shoal.anonymize_file(table, tmp_path / name, key=f"{key:032x}", **given)
        assert matched_by_position(table, tmp_path / name) <= 6


@pytest.mark.parametrize(
    ("name", "kind"), [("out.parquet", pa.string()), ("out.arrow", pa.string()), ("out.arrow", pa.int64())]
)
def test_categories_do_not_tell_in_which_order_the_records_came(tmp_path, name, kind):
    """Dictionaries list their values as they were met, which would be the order of the rows once more."""
    words = np.random.default_rng(0).permutation(N)
    values = pa.array(words if kind == pa.int64() else [f"{word:04d}" for word in words])
    plain = pa.table({"age": [20 + row % 50 for row in range(N)], "note": values.dictionary_encode()})
    graded = pa.DictionaryArray.from_arrays(plain["note"].chunk(0).indices, values, ordered=True)
    release = shoal.anonymize(plain.append_column("grade", graded), 3, "age", ["note", "grade"], method="mdav")
    release.write(tmp_path / name)
    written = read(tmp_path / name).table.combine_chunks()
    note, grade = (written[column].chunk(0).dictionary for column in ("note", "grade"))
    assert note.to_pylist() == sorted(values.to_pylist())
    assert grade == values  # an order that the owner gave stays
    assert naive.as_they_came(written["note"].to_pylist(), release.manifest) == values.to_pylist()
    assert release.table["note"].chunk(0).dictionary == values


def test_every_release_has_an_order_of_its_own_that_no_seed_gives_away(tmp_path, table):
    given = {"k": 5, "quasi_identifiers": ["age", "weight"], "confidential": "diagnosis", "method": "mdav"}
    made = [shoal.anonymize_file(table, tmp_path / f"{i}.csv", random_state=7, **given) for i in range(2)]
    keys = {each.manifest["key"] for each in made}
    assert len(keys) == 2
    assert all(len(bytes.fromhex(key)) == 16 for key in keys)
    assert made[0].path.read_bytes() != made[1].path.read_bytes()
    again = shoal.anonymize_file(table, tmp_path / "again.csv", key=made[0].manifest["key"], **given)
    assert again.path.read_bytes() == made[0].path.read_bytes()


def test_the_table_in_python_keeps_order_and_index(table):
    frame = read(table).table.to_pandas().set_index(pd.Index([f"p{row}" for row in range(N)]))
    with pytest.warns(shoal.ShoalWarning, match="the index is kept"):
        release = shoal.anonymize(frame, 5, ["age", "weight"], "diagnosis", method="mdav")
    assert (release.table.index == frame.index).all()
    assert (release.table["diagnosis"] == frame["diagnosis"]).all()


def test_the_key_stands_in_the_manifest_and_nowhere_else(tmp_path, table):
    key = "c0ffee00" * 4
    release = shoal.anonymize(table, 5, ["age", "weight"], "diagnosis", method="mdav", key=key)
    release.write(tmp_path / "out.csv", report=tmp_path / "report.html")
    release.write(tmp_path / "out.parquet")
    assert key in (tmp_path / "out.csv.manifest.json").read_text()
    for name in ("out.csv", "out.parquet", "report.html"):
        assert key.encode() not in (tmp_path / name).read_bytes()
    assert "random, by a secret key" in (tmp_path / "report.html").read_text()
    assert key not in release._repr_html_() + repr(release) + repr(release.settings)
