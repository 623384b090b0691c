import pytest

from shoal.errors import ShoalError
from shoal.files.dialect import Dialect, Said, decode, detect


def detected(text, **given):
    return detect(text, "utf-8", Said(**given))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter):
    text = f"a{delimiter}b{delimiter}c\n1{delimiter}2{delimiter}x y\n3{delimiter}4{delimiter}z\n"
    assert detected(text).delimiter == delimiter


def test_commas_within_quotes_and_in_numbers_do_not_mislead():
    assert detected('a;b\n"x, y";1,5\n"z, w";2,5\n') == Dialect(";", '"', "utf-8", ",", "\n")
    assert detected('a,b\n"x; y; z",1\n"z",2\n').delimiter == ","
    assert detected("a\n1\n2\n").delimiter == ","


def test_the_decimal_sign_is_a_point_where_any_number_has_one():
    assert detected("a;b\n1,5;2.5\n").decimal == "."
    assert detected("a;b\n1;2\n").decimal == "."


def test_single_quotes_are_found():
    assert detected("a,b\n'x, y',1\n'z',2\n").quote == "'"
    assert detected("a,b\n'x',1\n'z',2\n").quote == "'"
    assert detected("a,b\nit's,1\nx,2\n").quote == '"'


def test_line_ends_are_kept():
    assert detected("a,b\r\n1,2\r\n").newline == "\r\n"


def test_what_is_given_is_not_guessed():
    assert detected("a;b\n1;2\n", delimiter=",").delimiter == ","
    assert detected("a;b\n1,5;2\n", decimal=".").decimal == "."


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("ä,1".encode(), "utf-8"),
        ("ä,1".encode("utf-8-sig"), "utf-8-sig"),
        ("ä,1".encode("utf-16"), "utf-16"),
        ("ä,1".encode("cp1252"), "cp1252"),
        (b"\x81\xe4,1", "latin-1"),
    ],
)
def test_the_encoding_is_found(content, encoding):
    text, found = decode(content, "x.csv", None)
    assert found == encoding
    assert text.endswith(",1")


def test_what_is_not_text_is_an_error():
    with pytest.raises(ShoalError, match="binary data"):
        decode(b"\x89PNG\x00\x01", "x.csv", None)
    with pytest.raises(ShoalError, match="spreadsheet"):
        decode(b"PK\x03\x04...", "x.xlsx", None)
    with pytest.raises(ShoalError, match="is not written in ascii"):
        decode("ä".encode(), "x.csv", "ascii")
    with pytest.raises(ShoalError, match="unknown encoding 'utf-9'"):
        decode(b"a", "x.csv", "utf-9")


def test_a_dialect_must_make_sense():
    with pytest.raises(ShoalError, match="one character"):
        Dialect(delimiter="::")
    with pytest.raises(ShoalError, match="also the quote"):
        Dialect(delimiter=",", decimal=",")
    for sign in ("", ";;", "é"):
        with pytest.raises(ShoalError, match="delimiter must be one character of ASCII"):
            detected("a;b\n1;2\n", delimiter=sign)


@pytest.mark.parametrize("padding", range(14))
def test_a_long_file_is_judged_by_whole_rows_wherever_the_sample_ends(padding):
    row = '1;1,5;"line one\nline; two"\n'
    found = detected("id;x;note" + "_" * padding + "\n" + row * 9000)
    assert (found.delimiter, found.decimal) == (";", ",")


def test_a_field_longer_than_the_sample_does_no_harm():
    assert detected("a;b\n1,5;" + "x" * 300_000 + "\n").delimiter == ";"


def test_a_mark_at_the_start_is_dropped_even_where_the_encoding_is_given():
    assert decode("ä".encode("utf-8-sig"), "x.csv", "utf-8") == ("ä", "utf-8")
