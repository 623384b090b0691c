import gzip
import hashlib
import io

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from shoal.errors import ShoalError
from shoal.files import read

TABLE = pa.table({"a": [1, 2], "b": [1.5, 2.5], "c": ["x", "ÿ"]})


def file(tmp_path, content, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_csv_file_has_types_and_keeps_its_text(tmp_path):
    source = read(file(tmp_path, "a,b,c,d,e\n1,1.50,x,007,\n2,2,y,042,5\n"))
    assert source.table.schema.types == [pa.int64(), pa.float64(), pa.string(), pa.string(), pa.string()]
    assert source.text["b"].to_pylist() == ["1.50", "2"]
    assert source.text["d"].to_pylist() == ["007", "042"]
    assert source.sha256 == hashlib.sha256((tmp_path / "t.csv").read_bytes()).hexdigest()


def test_whole_numbers_of_more_than_64_bits_stay_text(tmp_path):
    assert read(file(tmp_path, "a\n99999999999999999999\n")).table["a"].type == pa.string()


def test_decimal_commas_become_numbers(tmp_path):
    assert read(file(tmp_path, "a;b\n1,5;2\n2,25;3\n")).table["a"].to_pylist() == [1.5, 2.25]


def test_quotes_newlines_and_encodings(tmp_path):
    source = read(file(tmp_path, b'a,b\r\n"x\r\ny ""z""",1\r\n'))
    assert source.table["a"].to_pylist() == ['x\r\ny "z"']
    assert read(file(tmp_path, "a,b\nÄ,1\n".encode("latin-1"))).table["a"].to_pylist() == ["Ä"]


def test_gzip_and_tabs(tmp_path):
    source = read(file(tmp_path, gzip.compress(b"a\tb\n1\t2\n"), "t.csv.gz"))
    assert source.table.to_pydict() == {"a": [1], "b": [2]}


def test_parquet_and_arrow(tmp_path):
    pyarrow.parquet.write_table(TABLE, tmp_path / "t.parquet")
    pyarrow.feather.write_feather(TABLE, tmp_path / "t.feather", compression="uncompressed")
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_stream(sink, TABLE.schema) as writer:
        writer.write_table(TABLE)
    for name, kind in (("t.parquet", "parquet"), ("t.feather", "arrow"), ("t.arrow", "arrow")):
        source = read(tmp_path / name)
        assert source.table.equals(TABLE)
        assert source.format.name == kind
        assert source.text is None
    (tmp_path / "unnamed").write_bytes((tmp_path / "t.parquet").read_bytes())
    assert read(tmp_path / "unnamed").format.name == "parquet"
    (tmp_path / "unnamed").write_bytes((tmp_path / "t.arrow").read_bytes())
    assert read(tmp_path / "unnamed").format.name == "arrow"


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    source = read("-")
    assert (source.name, source.path, source.table["b"].to_pylist()) == ("standard input", None, [2])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "is empty"),
        ("t.csv", " \n\n", "is empty"),
        ("t.csv", "a,b\n", "a header but no records"),
        ("t.csv", "a,b,a\n1,2,3\n", "two columns of the same name: 'a'"),
        ("t.csv", "a,b\n1,2\n1,2,3\n", "row 2 has 3 fields where the header has 2"),
        ("t.csv", "a,b\n1,2\n3\n", "row 2 has 1 fields"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16-le"), "--encoding utf-16-le"),
        ("t.csv", b"\x89PNG\r\n\x1a\n\x00\x00", "binary data"),
        ("t.csv.gz", b"\x1f\x8bgarbage", "not a readable gzip"),
        ("t.parquet", b"PAR1garbage", "not a readable Parquet"),
        ("t.parquet", b"", "not a readable Parquet"),
        ("t.arrow", b"garbage", "not a readable Arrow"),
    ],
)
def test_broken_files_are_errors_of_one_line(tmp_path, name, content, message):
    with pytest.raises(ShoalError, match=message) as caught:
        read(file(tmp_path, content, name))
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_errors(tmp_path):
    with pytest.raises(ShoalError, match="there is no file"):
        read(tmp_path / "none.csv")
    with pytest.raises(ShoalError, match="is a folder"):
        read(tmp_path)
    pyarrow.parquet.write_table(TABLE, tmp_path / "t.parquet")
    with pytest.raises(ShoalError, match="has no delimiter"):
        read(tmp_path / "t.parquet", delimiter=",")


def test_a_mark_of_utf_8_does_not_stick_to_the_first_column(tmp_path):
    path = file(tmp_path, "age,code\n1.0,007\n".encode("utf-8-sig"))
    for given in ({}, {"encoding": "utf-8"}, {"encoding": "utf-8-sig"}):
        assert read(path, **given).text.to_pydict() == {"age": ["1.0"], "code": ["007"]}


def test_old_line_ends_are_lines_too(tmp_path):
    source = read(file(tmp_path, b"a,b\r1,2\r3,4\r"))
    assert source.table.to_pydict() == {"a": [1, 3], "b": [2, 4]}
    assert source.dialect.newline == "\r"


def test_carriage_returns_within_quotes_do_not_end_old_lines(tmp_path):
    source = read(file(tmp_path, b'a,b\r1,"x\ry"\r2,"z\nw"\r3,"\r\n"\r'))
    assert source.text.to_pydict() == {"a": ["1", "2", "3"], "b": ["x\ry", "z\nw", "\r\n"]}
    assert source.dialect.newline == "\r"


@pytest.mark.parametrize(
    ("values", "types", "numbers"),
    [
        (["941;1,78", "1.633;2,5"], [pa.int64(), pa.float64()], [941, 1633]),
        (["941;1.78", "1,633;2.5"], [pa.int64(), pa.float64()], [941, 1633]),
        (["941,5;1", "1.633,25;2"], [pa.float64(), pa.int64()], [941.5, 1633.25]),
        (["941;1", "1.633;2"], [pa.string(), pa.int64()], ["941", "1.633"]),  # in doubt
        (["0.941;1", "1.633;2"], [pa.float64(), pa.int64()], [0.941, 1.633]),
        (["+5;1", "-6;2"], [pa.int64(), pa.int64()], [5, -6]),
    ],
)
def test_thousands_are_read_where_the_file_tells(tmp_path, values, types, numbers):
    source = read(file(tmp_path, "\n".join(["x;y", *values, ""])))
    assert source.table.schema.types == types
    assert source.table["x"].to_pylist() == numbers
    assert source.text["x"].to_pylist() == [value.split(";")[0] for value in values]


def test_a_name_that_tells_the_format_is_believed(tmp_path):
    assert read(file(tmp_path, "PAR1,b\n1,2\n")).table.column_names == ["PAR1", "b"]


def test_codes_that_look_like_numbers_stay_text(tmp_path):
    table = read(file(tmp_path, "a,b,c\n1E5,1e-05,1\n10E4,2.5e3,2\n")).table
    assert table.schema.types == [pa.string(), pa.float64(), pa.int64()]


def test_whole_numbers_with_plus_signs_are_whole(tmp_path):
    table = read(file(tmp_path, "age,size\n+1,+1.5\n-2,2\n0,-0.5\n")).table
    assert table.schema.types == [pa.int64(), pa.float64()]
    assert table["age"].to_pylist() == [1, -2, 0]


def test_a_blank_line_in_a_file_of_one_column_is_a_record(tmp_path):
    assert read(file(tmp_path, "x\n1\n\n3\n\n")).text["x"].to_pylist() == ["1", "", "3"]
    assert read(file(tmp_path, "x,y\n1,2\n\n3,4\n\n")).text.num_rows == 2


def test_an_option_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(TypeError, match="sep"):
        read(file(tmp_path, "a,b\n1,2\n"), sep=";")
