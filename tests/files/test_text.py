import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readings import comes_in_steps, nothing, progress_of, streamed
from shoal.errors import ShoalError
from shoal.files import Said, batches, look, read, text
from shoal.files.source import reader_from

NONE = Said()


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(batches, "GROUP", 3)
    monkeypatch.setattr(text, "BLOCK", 300)


TEXTS = {
    "plain": b"a,b\n1,2\n3,4\n5,6\n7,8\n",
    "dos": b"a;b\r\n1,5;2\r\n3,0;x\r\n",
    "mac": b"a,b\r1,2\r3,4\r",
    "mac with a quoted carriage return": b'a,b\r1,"x\ry"\r3,"z\nw"\r4,"\r\n"\r',
    "mac alone": b"\r\ra\r1\r\r2\r\r",
    "sep": b"sep=;\r\na;b\r\n1,5;2\r\n3,0;x\r\n",
    "sep, marked": "sep=|\na|b\nGöteborg|2\n".encode("utf-8-sig"),
    "sep, alone": b"sep=;\n\na\n1\n\n2\n",
    "utf-32": "a,b\nGöteborg,2\nParis,4\n".encode("utf-32"),
    "a line end in the header": b'"a\n1",b\n1,2\n3,4\n',
    "latin": "a,b\nGöteborg,2\nParis,4\n".encode("latin-1"),
    "utf-16": "a,b\nGöteborg,2\nParis,4\n".encode("utf-16"),
    "marked": "a,b\nGöteborg,2\n".encode("utf-8-sig"),
    "quoted": b'a,b\n"1\n,""x",2\n\'3,4\n',
    "alone": b"\n\na\n1\n\n2\n\n\n3\n\n\n",
    "blank lines": b"a,b\n1,2\n\n3,4\n",
    "no last line end": b"a,b\n1,2\n3,4",
}


@pytest.mark.parametrize("kind", sorted(TEXTS))
@pytest.mark.parametrize("zipped", [False, True])
def test_a_csv_file_is_read_as_in_one_piece(tmp_path, small_parts, kind, zipped):
    path = tmp_path / "a.csv"
    path.write_bytes(gzip.compress(TEXTS[kind]) if zipped else TEXTS[kind])
    whole = read(path)
    found, table = streamed(path)
    assert found.dialect == whole.dialect
    assert found.file.sha256 == whole.sha256
    assert table.to_pydict() == whole.text.to_pydict()
    assert reader_from(found.as_dict()) == found


@pytest.mark.parametrize(
    ("content", "given"),
    [
        (b"34,Ulm\n51,Bonn\n7,\n3,x\n", {"header": False}),
        (b"\n\n34\n\n51\n\n", {"header": False}),
        (b"34,Ulm\r51,Bonn\r", {"header": False, "names": ["age", "city"]}),
        (b"sep=;\n34;Ulm\n51;Bonn\n", {"header": False}),
        (b"zip,zip\n1,2\n3,4\n", {"number_names": True}),
        (b"zip,zip\n1,2\n3,4\n", {"names": ["a", "b"]}),
        ("x,y\n1,ä\n".encode("utf-16-le"), {"encoding": "utf-16-le"}),
        ("x,y\n1,ä\n".encode("utf-32-be"), {"encoding": "utf-32-be"}),
        ("x,y\n1,ä\n".encode("utf-8-sig"), {"encoding": "utf-8"}),
        (b"a;b\n1.633;2\n", {"thousands": "."}),
    ],
)
def test_what_is_said_is_believed_as_in_one_piece(tmp_path, small_parts, content, given):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    whole = read(path, **given)
    found, table = streamed(path, **given)
    assert found.dialect == whole.dialect
    assert table.to_pydict() == whole.text.to_pydict()
    assert reader_from(json.loads(json.dumps(found.as_dict()))) == found
    assert reader_from(found.as_dict()) == found
    (part,) = found.batches(found.columns[-1:], nothing) if table.num_rows <= 3 else [table]
    assert part[found.columns[-1]].to_pylist() == table[found.columns[-1]].to_pylist()


@settings(max_examples=60)
@given(
    st.lists(st.text(st.sampled_from('ab1\n\r",; é'), max_size=6), min_size=1, max_size=12),
    st.sampled_from(["utf-8", "utf-16", "cp1252"]),
)
def test_any_text_is_read_as_in_one_piece(tmp_path, monkeypatch, lines, encoding):
    monkeypatch.setattr(batches, "GROUP", 2)
    path = tmp_path / "a.csv"
    path.write_bytes("\n".join(["x", *lines, ""]).encode(encoding))
    try:
        whole = read(path)
    except ShoalError:
        with pytest.raises(ShoalError):
            streamed(path)
        return
    found, table = streamed(path)
    assert found.dialect == whole.dialect
    assert table.to_pydict() == whole.text.to_pydict()


@pytest.mark.parametrize(
    ("content", "given"),
    [
        (b"", {}),
        (b" \n ", {}),
        (b"a,b\n", {}),
        (b"a,a\n1,2\n", {}),
        (b"a,b\n1,2\n1,2,3\n", {}),
        (b"1,2\n1,2\n1,2,3\n", {}),
        (b"1,2\n1,2\n1,2,3\n", {"header": False}),
        (b"a,b\n1,2\n", {"names": ["a"]}),
        ("a,b\n1,2\n".encode("utf-16-le"), {}),
        ("a,b\n1,2\n".encode("utf-32-be"), {}),
        (b"a,b\n1,\x00\n", {}),
        (b"PK\x03\x04zip", {}),
        (b"a\n\xff\n", {"encoding": "utf-8"}),
        (b"a\n1\n", {"encoding": "klingon"}),
        (b"\x1f\x8bbroken", {}),
    ],
)
def test_the_errors_are_those_of_a_file_in_one_piece(tmp_path, content, given):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ShoalError) as whole:
        read(path, **given)
    with pytest.raises(ShoalError) as parts:
        streamed(path, **given)
    assert str(parts.value) == str(whole.value)


def test_only_the_columns_asked_for_are_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,2,3\n")
    (table,) = look(path, NONE, nothing).batches(["c", "a"], nothing)
    assert table.to_pydict() == {"a": ["1"], "c": ["3"]}


@pytest.mark.parametrize("zipped", [False, True])
def test_progress_rises_from_part_to_part_to_the_size_of_the_file(tmp_path, monkeypatch, zipped):
    monkeypatch.setattr(text, "BLOCK", 1 << 18)
    content = b"a,b\n" + b"".join(b"%d,%d\n" % (number, number * 7919 % 10007) for number in range(600_000))
    path = tmp_path / "a.csv"
    path.write_bytes(gzip.compress(content, 1) if zipped else content)
    for encoding in ("utf-8", "latin-1"):
        told = []
        found = look(path, Said(encoding=encoding), lambda *step, told=told: told.append(step))
        assert told[-1] == (path.stat().st_size,) * 2
        assert comes_in_steps(progress_of(found))


def test_a_record_longer_than_a_block_is_read_where_the_file_is_held(tmp_path, small_parts):
    path = tmp_path / "a.csv"
    path.write_text(f"a,b\n1,{'x' * 5000}\n2,y\n")
    assert read(path).text["b"].to_pylist() == ["x" * 5000, "y"]
