import io

import pytest

from shoal.errors import ShoalError
from shoal.files import encoding as encodings
from shoal.files.encoding import encoded


def decode(content, name, encoding):
    """The text of a short file and its encoding."""
    found = encoded(name, lambda: io.BytesIO(content), encoding)
    return found.start, found.encoding


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("ä,1".encode(), "utf-8"),
        ("ä,1".encode("utf-8-sig"), "utf-8-sig"),
        ("ä,1".encode("utf-16"), "utf-16"),
        ("ä,1".encode("utf-32"), "utf-32"),
        ("ä,1".encode("cp1252"), "cp1252"),
        (b"\x81\xe4,1", "latin-1"),
    ],
)
def test_the_encoding_is_found(content, encoding):
    text, found = decode(content, "x.csv", None)
    assert found == encoding
    assert text.endswith(",1")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_letters_without_a_mark_are_refused_with_their_encoding(encoding):
    content = "age,city\n34,Göteborg\n".encode(encoding)
    with pytest.raises(ShoalError, match=f"binary data; if it is text, say --encoding {encoding} "):
        decode(content, "x.csv", None)
    assert decode(content, "x.csv", encoding) == ("age,city\n34,Göteborg\n", encoding)


def test_what_is_not_text_is_an_error():
    with pytest.raises(ShoalError, match="binary data"):
        decode(b"\x89PNG\x00\x01", "x.csv", None)
    with pytest.raises(ShoalError, match="spreadsheet"):
        decode(b"PK\x03\x04...", "x.xlsx", None)
    with pytest.raises(ShoalError, match="is not written in ascii"):
        decode("ä".encode(), "x.csv", "ascii")
    with pytest.raises(ShoalError, match="unknown encoding 'utf-9'"):
        decode(b"a", "x.csv", "utf-9")


def test_a_mark_at_the_start_is_dropped_even_where_the_encoding_is_given():
    assert decode("ä".encode("utf-8-sig"), "x.csv", "utf-8") == ("ä", "utf-8")


def test_an_encoding_that_is_not_of_text_is_unknown():
    with pytest.raises(ShoalError, match="unknown encoding 'hex'"):
        decode(b"61", "x.csv", "hex")


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_a_letter_may_be_cut_anywhere_and_an_error_tells_its_place_in_the_file(monkeypatch, size):
    monkeypatch.setattr(encodings, "_PIECE", size)
    text = "a,b\näöü€,1\n"
    for encoding in ("utf-8", "utf-16", "utf-32", "cp1252"):
        assert decode(text.encode(encoding), "x.csv", encoding) == (text, encoding)
    for content in ("äb€".encode() + b"\xffb", "äb€".encode() + b"\xc3"):
        with pytest.raises(ShoalError, match=r"not written in utf-8 \(byte 6\)"):
            decode(content, "x.csv", "utf-8")


@pytest.mark.parametrize("size", [1, 3, 100])
def test_carriage_returns_are_seen_wherever_they_stand(monkeypatch, size):
    monkeypatch.setattr(encodings, "_PIECE", size)
    for content, returns in ((b"a,b\n1,2\n", False), (b"a,b\n1,2\r\n", True)):
        assert encoded("x.csv", lambda content=content: io.BytesIO(content), None).returns is returns
