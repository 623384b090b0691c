import pytest

from shoal.errors import ShoalError
from shoal.files import Said, dialect
from shoal.files.layout import layout_of, numbered


def layout(text, **said):
    return layout_of("t.csv", text, "utf-8", Said(**said))


def test_columns_without_a_header_are_numbered_or_named():
    found = layout("34,Ulm\n51,Bonn\n", header=False)
    assert (found.columns, found.titles) == (("column1", "column2"), ())
    found = layout("34,Ulm\n51,Bonn\n", header=False, names=["age", "city"])
    assert (found.columns, found.titles, found.dialect.names) == (("age", "city"), (), ("age", "city"))


def test_names_take_the_place_of_those_in_the_header():
    found = layout("zip,zip\n1,2\n", names=["a", "b"])
    assert (found.columns, found.titles, found.dialect.header) == (("a", "b"), ("zip", "zip"), True)


def test_a_wrong_number_of_names_is_an_error_that_says_both():
    with pytest.raises(ShoalError, match=r"3 names are given, but t.csv has 2 columns"):
        layout("x,y\n1,2\n", names=["a", "b", "c"])


def test_names_that_repeat_are_refused_with_the_cures_or_numbered():
    with pytest.raises(ShoalError, match="two columns of the same name: 'zip'; number them with --number-names"):
        layout("zip,age,zip\n1,2,3\n")
    assert layout("zip,age,zip\n1,2,3\n", number_names=True).columns == ("zip", "age", "zip_2")
    assert layout("zip,age\n1,2\n", number_names=True).dialect.names is None


def test_a_number_never_makes_a_name_that_is_there():
    assert numbered(["a", "a", "a_2", "a", "a_2"]) == ("a", "a_3", "a_2", "a_4", "a_2_2")
    assert numbered(["", "", "x"]) == ("", "_2", "x")


@pytest.mark.parametrize(
    ("line", "delimiter"), [("sep=;", ";"), ('"sep=;"', ";"), ("SEP=|", "|"), ("sep=\t", "\t"), ("sep=;;;", ";")]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_that_names_the_separator_is_believed_and_skipped(line, delimiter, end):
    text = f"{line}{end}x{delimiter}a,b{end}1{delimiter}2{end}"
    found = layout(text)
    assert (found.dialect.delimiter, found.columns) == (delimiter, ("x", "a,b"))
    assert found.skip == len(line) + len(end)
    assert found.dialect.newline == end


def test_a_column_that_is_called_sep_is_one():
    assert layout("sep=x\n1\n").columns == ("sep=x",)
    with pytest.raises(ShoalError, match="is empty"):
        layout("sep=;\n\n")


def test_a_first_line_is_judged_however_long_it_is():
    record = ",".join(f"0.{number:06d}" for number in range(15_000))
    names = ",".join(f"gene_{number}" for number in range(15_000))
    assert len(record) > dialect.SAMPLE / 2
    with pytest.raises(ShoalError, match="looks like a record, not like a header"):
        layout(f"{record}\n" * 20)
    assert layout(f"{names}\n" + f"{record}\n" * 20).dialect.header


def test_lines_too_long_to_look_at_two_of_them_are_not_clear(monkeypatch):
    monkeypatch.setattr(dialect, "LONG", dialect.SAMPLE)
    names = ",".join(f"name{number}" for number in range(50_000))
    with pytest.raises(ShoalError, match=r"not clear .* \(its lines are too long to look at two of them\)"):
        layout(f"{names}\n" + "1," * 49_999 + "1\n")
    assert len(layout(f"{names}\n" + "1," * 49_999 + "1\n", header=True).columns) == 50_000
