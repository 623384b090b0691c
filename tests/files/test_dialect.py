import pytest

from shoal.errors import ShoalError
from shoal.files.dialect import Dialect, Said, detect


def detected(text, **given):
    return detect(text, "utf-8", Said(**given))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter):
    text = f"a{delimiter}b{delimiter}c\n1{delimiter}2{delimiter}x y\n3{delimiter}4{delimiter}z\n"
    assert detected(text).delimiter == delimiter


def test_commas_within_quotes_and_in_numbers_do_not_mislead():
    assert detected('a;b\n"x, y";1,5\n"z, w";2,5\n') == Dialect(";", '"', "utf-8", ",", "\n", ".")
    assert detected('a,b\n"x; y; z",1\n"z",2\n').delimiter == ","
    assert detected("a\n1\n2\n").delimiter == ","


@pytest.mark.parametrize(
    ("rows", "signs"),
    [
        ("1,5;2.5", (".", "")),  # columns that contradict each other
        ("1;2", (".", "")),
        ("1,5;2", (",", ".")),
        ("1.5;2", (".", ",")),
        ("1,633;941", (".", "")),  # 1633, or a little more than one and a half
        ("1.633;941", (".", "")),
        ("1.633;1,78", (",", ".")),
        ("1.234.567;3", (",", ".")),
        ("1,234,567;3", (".", ",")),
        ("1.234,5;3", (",", ".")),
        ("0.633;3", (".", ",")),
        ("1234.567;3", (".", ",")),
        ("NA;3\n;3\n1,5;3", (",", ".")),
        ("1,5;a\n2,5;1.50\n3,5;b", (",", ".")),  # a number in a column of text tells nothing
    ],
)
def test_the_columns_show_what_points_and_commas_mean(rows, signs):
    found = detected(f"a;b\n{rows}\n")
    assert (found.decimal, found.thousands) == signs


def test_what_is_said_of_one_sign_settles_the_other():
    for given in ({"decimal": ","}, {"thousands": "."}, {"decimal": ",", "thousands": "."}):
        found = detected("a;b\n1.633;941\n", **given)
        assert (found.decimal, found.thousands) == (",", ".")
    assert detected("a;b\n1'633;9.5\n", thousands="'").thousands == "'"
    with pytest.raises(ShoalError, match="also the thousands separator"):
        detected("a;b\n1;2\n", decimal=".", thousands=".")


def test_quoted_decimal_commas_between_commas_are_found():
    assert detected('a,b\n"1,78",1.633\n"2,5",941\n') == Dialect(",", '"', "utf-8", ",", "\n", ".")


def test_single_quotes_are_found():
    assert detected("a,b\n'x, y',1\n'z',2\n").quote == "'"
    assert detected("a,b\n'x',1\n'z',2\n").quote == "'"
    assert detected("a,b\nit's,1\nx,2\n").quote == '"'
    assert detected("'%'\n'true'\n'false'\n", delimiter="%").quote == "'"


def test_quotes_that_hold_a_delimiter_in_every_row_are_quotes():
    assert detected('"last, first",age\n"Doe, Ada",1\n"Roe, Ben",2\n').quote == '"'
    assert detected("'last; first';age\n'Doe; Ada';1\n'Roe; Ben';2\n").quote == "'"


def test_two_delimiters_that_fit_alike_are_an_error():
    for text in ("1,5;red\n2,5;blue\n", "1,5;2,5\n3,5;4,5\n"):
        with pytest.raises(ShoalError, match="may be divided by ',' or by ';'.* --delimiter"):
            detected(text)
        assert detected(text, delimiter=";").delimiter == ";"


def test_line_ends_are_kept():
    assert detected("a,b\r\n1,2\r\n").newline == "\r\n"
    assert detected('a,b\r1,"x\ny"\r2,"z\r\n"\r').newline == "\r"
    assert detected('a,b\n1,"x\r\ny"\n').newline == "\n"


def test_what_is_given_is_not_guessed():
    assert detected("a;b\n1;2\n", delimiter=",").delimiter == ","
    assert detected("a;b\n1,5;2\n", decimal=".").decimal == "."


def test_what_is_said_must_make_sense():
    with pytest.raises(ShoalError, match="names gives 'a' twice"):
        Said(names=["a", "b", "a"])
    with pytest.raises(ShoalError, match="named by text, not by 1"):
        Said(names=[1])
    with pytest.raises(ShoalError, match="header must be True or False, not 'no'"):
        Said(header="no")
    assert Said(names="a").given() == {"names": ("a",)}


def test_a_dialect_must_make_sense():
    with pytest.raises(ShoalError, match="one character"):
        Dialect(delimiter="::")
    with pytest.raises(ShoalError, match="also the quote"):
        Dialect(delimiter=";", quote=";")
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


@pytest.mark.parametrize("sign", ["1", "e", "-", "+", "\n"])
@pytest.mark.parametrize("name", ["decimal", "thousands"])
def test_what_numbers_are_made_of_separates_nothing_in_them(name, sign):
    with pytest.raises(ShoalError, match=f"{name} cannot be"):
        Said(**{name: sign})


@pytest.mark.parametrize("other", ["06.02", "24.12", "8.30", "17.45"])
def test_the_point_of_a_time_or_of_a_day_decides_nothing(other):
    rows = "".join(f"{number}.083;{other}\n" for number in range(1, 10))
    found = detect(f"income;when\n{rows}", "utf-8", Said())
    assert (found.decimal, found.thousands) == (".", "")
