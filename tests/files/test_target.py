import csv
import gzip
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import ShoalError
from shoal.files import FORMATS, Dialect, Style, format_of, read, write
from shoal.files.target import write_texts

TABLE = pa.table({"a": [1, 2], "c": ["x", None]}).replace_schema_metadata({"secret": "original path"})


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_tables_come_back_without_metadata_and_with_the_same_bytes(tmp_path, kind):
    write(TABLE, tmp_path / "a", FORMATS[kind])
    write(TABLE, tmp_path / "b", FORMATS[kind])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert b"original path" not in (tmp_path / "a").read_bytes()
    assert read(tmp_path / "a").table.equals(TABLE)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
def test_rows_are_written_in_the_order_that_is_asked_for(tmp_path, monkeypatch, name):
    monkeypatch.setattr("shoal.files.batches.GROUP", 3)
    order, kind = np.array([4, 1, 6, 0, 3, 5, 2]), format_of(tmp_path / name)
    if kind.is_text:
        write_texts(["x"], [list("abcdefg")], tmp_path / name, kind, Style(Dialect()), order)
    else:
        write(pa.table({"x": pa.chunked_array([list("abcd"), list("efg")])}), tmp_path / name, kind, order)
    assert read(tmp_path / name, **({"header": True} if kind.is_text else {})).table["x"].to_pylist() == list(
        "ebgadfc"
    )


@given(
    st.lists(
        st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5), st.integers()),
        min_size=1,
    ),
    st.sampled_from([Dialect(), Dialect(";", "'", "utf-16", ",", "\r\n"), Dialect("\t", encoding="utf-8-sig")]),
    st.booleans(),
)
def test_text_comes_back_as_it_was(tmp_path, rows, dialect, zipped):
    columns = [[text for text, _ in rows], [str(number) for _, number in rows]]
    path = tmp_path / ("t.csv.gz" if zipped else "t.csv")
    write_texts(["text", "number"], columns, path, FORMATS["csv"], Style(dialect, zipped))
    given = {"delimiter": dialect.delimiter, "quote": dialect.quote, "encoding": dialect.encoding}
    back = read(path, **given).text
    assert [column.to_pylist() for column in back.columns] == columns


def test_gzipped_bytes_repeat_and_hold_no_name(tmp_path):
    for name in ("a", "b"):
        write_texts(["x"], [["1"]], tmp_path / name, FORMATS["csv"], Style(Dialect(), True))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert gzip.decompress((tmp_path / "a").read_bytes()) == b"x\n1\n"


def test_the_format_follows_from_the_name():
    assert [format_of(Path(n)).name for n in ("a.CSV", "a.csv.gz", "a.tsv", "a.parquet", "a.feather")] == [
        *("csv", "csv", "csv", "parquet", "arrow")
    ]
    for name in ("a", "a.xlsx", "a.parquet.gz"):
        with pytest.raises(ShoalError, match="cannot tell the format"):
            format_of(Path(name))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_categories_that_no_record_has_do_not_leave(tmp_path, kind):
    values = pa.DictionaryArray.from_arrays(
        pa.array([2, 3, None, 2]), ["Zebulon", "Yvonne", "flu", "gout"], ordered=True
    )
    field = pa.field("d", values.type, metadata={"values": "Zebulon"})
    table = pa.table([values], schema=pa.schema([field]))
    write(table, tmp_path / "t", FORMATS[kind])
    assert b"Zebulon" not in (tmp_path / "t").read_bytes()
    back = read(tmp_path / "t").table["d"]
    assert back.to_pylist() == ["flu", "gout", None, "flu"]
    assert back.type.ordered
    write(pa.table({"d": pa.chunked_array([values, values])}), tmp_path / "two", FORMATS[kind])
    assert read(tmp_path / "two").table["d"].to_pylist() == ["flu", "gout", None, "flu"] * 2


def test_a_line_feed_in_a_file_of_old_lines_does_not_end_a_record(tmp_path):
    columns = [["1", "2"], ["two\nlines", "\n"]]
    write_texts(["x", "note"], columns, tmp_path / "t.csv", FORMATS["csv"], Style(Dialect(newline="\r")))
    with (tmp_path / "t.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["x", "note"], ["1", "two\nlines"], ["2", "\n"]]
