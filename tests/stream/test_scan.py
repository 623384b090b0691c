from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes import Wish
from shoal.attributes.numbers import from_column
from shoal.attributes.numeric_stream import NumericKept, quartiles
from shoal.errors import ShoalError
from shoal.files import FORMATS, Said, look, read
from shoal.space import Space
from shoal.stream.scan import joined, scan, scan_apart, settle
from shoal.stream.spill import only, whole
from shoal.table import Roles, Table

TEXT = Path("in.csv")


def nothing(done, total):
    pass


@pytest.fixture
def parts_of_three(monkeypatch):
    monkeypatch.setattr("shoal.files.batches.GROUP", 3)
    monkeypatch.setattr("shoal.stream.spill.rows_of", lambda m: 4)


def scanned(folder, path, names, target="csv", wish=Wish()):
    said = Said(header=True) if path.suffix == ".csv" else Said()
    wishes = {(name,): wish for name in names}
    found = scan(look(path, said, nothing), Roles.of(names), wishes, FORMATS[target], folder / "scan", nothing)
    columns = settle(found, [1.0] * len(names), folder / "scan", folder / "numbers", nothing)
    return found, columns, whole(folder / "numbers", [f"q{number}" for number in range(len(names))])


NUMBERS = {
    "whole, then decimals": ["1", "2", "3", "4", "5", "6.25"],
    "few decimals, then more": ["1.5", "2.5", "3.5", "-4.125", "5.5", "0"],
    "exponents late": ["1", "2.5", "3", "4", "5e3", "6"],
    "exponents and no decimals": ["1", "2", "3", "4", "1e-17", "6"],
    "codes": ["12345", "12346", "99999", "01234", "00001", "12345"],
    "codes of two widths": ["12345", "12346", "99999", "01234", "0001", "12345"],
    "truth": ["TRUE", "TRUE", "TRUE", "no".replace("no", "False"), "true", "false"],
    "all true": ["True"] * 6,
    "long": ["1234567890123456789", "1234567890123456780", "1234567890123456781"] * 2,
    "long and decimals": ["12345678901.25", "1", "2", "3", "0.1234567", "12345678901"],
    "steps": ["10", "20", "40", "70", "80", "1000"],
    "constant": ["7"] * 6,
    "signs and spaces": [" +5", "-5 ", "6", "7", "8", "9"],
}


@pytest.mark.parametrize("case", sorted(NUMBERS))
@pytest.mark.parametrize("sign", [".", ","])
def test_a_column_in_parts_is_the_column_as_a_whole(tmp_path, parts_of_three, case, sign):
    path = tmp_path / TEXT
    texts = [text.replace(".", sign) for text in NUMBERS[case]]
    path.write_text("".join(f"{text};{other}\n" for text, other in zip(["x", *texts], "yabcdef", strict=True)))
    (column,), (stored,) = scanned(tmp_path, path, ["x"])[1:]
    expected = Table.of(read(path), Roles.of("x", "y")).column("x")
    expected = from_column(expected)
    found = column.numbers(stored)
    assert np.array_equal(found.raw(), expected.raw())
    assert found.unit == expected.unit
    order, starts = np.arange(6), np.array([0, 2, 6])
    for exact in (False, True):
        mine, other = (numbers.common(order, starts, "mean", exact) for numbers in (found, expected))
        assert mine.text(sign) == other.text(sign)
        kept = column.values(column.codes(mine))
        assert kept.text(sign) == other.text(sign)
        assert list(kept.native()) == list(other.native())


@pytest.mark.parametrize(
    "values",
    [
        pa.array([1, 2, 3, 4, 5, -6], pa.int8()),
        pa.array([2**64 - 1, 2**64 - 5, 2**64 - 9, 2**64 - 1, 2**64 - 2, 2**64 - 3], pa.uint64()),
        pa.array([True, True, True, False, False, True]),
        pa.array([1.5, 2.5, 3.5, 4.25, 5.5, 6.5], pa.float32()),
        pa.array([1 / 3, 2.5, 3.5, 4.25, 5.5, 6.5]),
        pa.array([1e300, 2.5, 3.5, 4.25, 5.5, 1e308]),
        pa.array(["1.50", "2.25", "3.00", "-4.75", "5.00", "6.00"]).cast(pa.decimal128(9, 2)),
    ],
    ids=str,
)
def test_the_same_for_columns_with_types(tmp_path, parts_of_three, values):
    pyarrow.parquet.write_table(pa.table({"x": values}), tmp_path / "in.parquet")
    (column,), (stored,) = scanned(tmp_path, tmp_path / "in.parquet", ["x"])[1:]
    expected = Table.of(read(tmp_path / "in.parquet"), Roles.of("x")).column("x")
    expected = from_column(expected)
    found = column.numbers(stored)
    assert np.array_equal(found.raw(), expected.raw())
    order, starts = np.arange(6), np.array([0, 2, 6])
    mine, other = (numbers.common(order, starts, "median", False) for numbers in (found, expected))
    assert mine.text() == other.text() == column.values(column.codes(mine)).text()


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["1", "2", "3", "4", "", "6"], r"holds missing values \(row 5\)"),
        (["1", "2", "3", "4", "inf", "6"], r"holds infinity \(row 5\)"),
        (["1", "2", "3", "4", "x", "6"], r"holds text such as 'x' beside numbers \(row 5\)"),
        (["true", "false", "true", "4", "5", "6"], r"holds text such as 'false' beside numbers \(row 1\)"),
        (["1", "2", "3", "true", "true", "true"], r"holds text such as 'true' beside numbers \(row 4\)"),
        (["1", "2", "3", "4", "1" * 200, "6"], r"more than 150 digits \(row 5\)"),
        (["1", "2", "3", "4", "1" * 25, "6"], "more digits than 18"),
        (["1", "2", "3", "1" * 25, "1" * 25, "1" * 25], "more digits than 18"),
    ],
)
def test_what_is_no_number_is_an_error_that_names_column_and_row(tmp_path, parts_of_three, texts, message):
    path = tmp_path / TEXT
    path.write_text("".join(f"{text},{other}\n" for text, other in zip(["x", *texts], "yabcdef", strict=True)))
    with pytest.raises(ShoalError, match=message):
        scanned(tmp_path, path, ["x"])


def test_every_column_that_cannot_be_a_quasi_identifier_is_named(tmp_path, parts_of_three):
    (tmp_path / "in.csv").write_text("x,y,z\n1,1,1\n2,2,2\n3,3,3\n4,a,4\n,5,5\n")
    said = r"^quasi-identifier 'x' .* \(row 5\); say .*; also quasi-identifier 'y' .*'a' beside numbers \(row 4\)"
    with pytest.raises(ShoalError, match=said):
        scanned(tmp_path, tmp_path / "in.csv", ["x", "y", "z"])


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0, None], [1.0, 2.0, 3.0, float("nan")], [1, 2, 3, None]])
def test_missing_values_in_columns_with_types_too(tmp_path, parts_of_three, values):
    pyarrow.parquet.write_table(pa.table({"x": values}), tmp_path / "in.parquet")
    with pytest.raises(ShoalError, match=r"missing values \(row 4\)"):
        scanned(tmp_path, tmp_path / "in.parquet", ["x"])


def test_carriage_returns_are_looked_for_where_they_matter(tmp_path, parts_of_three):
    path = tmp_path / TEXT
    path.write_bytes(b'x,y\r\n1,a\r\n2,b\r\n3,"c\rd"\r\n')
    assert scanned(tmp_path, path, ["x"])[0].returns
    path.write_bytes(b"x,y\r\n1,a\r\n2,b\r\n3,c\r\n")
    assert not scanned(tmp_path, path, ["x"])[0].returns


@pytest.mark.parametrize("scaling", ["zscore", "range", "robust", "none"])
@pytest.mark.parametrize("values", [[3, 9, 4, 1, 7, 30, 2], [0.1, 1 / 3, 9.5, -4.0, 2.0, 8.25, 7.5], [5] * 7])
def test_the_scaling_part_by_part_is_that_of_the_whole(tmp_path, parts_of_three, scaling, values):
    pyarrow.parquet.write_table(pa.table({"x": values}), tmp_path / "in.parquet")
    _, (column,), _ = scanned(tmp_path, tmp_path / "in.parquet", ["x"])
    table = Table.of(read(tmp_path / "in.parquet"), Roles.of("x"))
    expected = Space.of(table, scaling).attributes[0]
    for alone in (True, False):
        made = column.scaled(scaling, partial(only, tmp_path / "numbers", "q0"), alone)
        assert made.is_constant == expected.is_constant
        assert made.centre == pytest.approx(expected.centre, rel=1e-15)
        assert made.spread == pytest.approx(expected.spread, rel=1e-15)
    raw = expected.numbers.raw()
    assert made.sst == pytest.approx(np.square(raw - raw.mean()).sum() / expected.spread**2)


def test_robust_scaling_without_a_middle_half_is_an_error(tmp_path, parts_of_three):
    pyarrow.parquet.write_table(pa.table({"x": [1, 5, 5, 5, 5, 5, 9]}), tmp_path / "in.parquet")
    _, (column,), _ = scanned(tmp_path, tmp_path / "in.parquet", ["x"])
    with pytest.raises(ShoalError, match="interquartile range is 0"):
        column.scaled("robust", partial(only, tmp_path / "numbers", "q0"), False)


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=30))
def test_quartiles_are_those_of_numpy(values):
    column = NumericKept("x", 1.0, held="float64", ends=(min(values), max(values) or 1.0))
    found = quartiles(column, lambda: iter(np.array_split(np.array(values) + 0.0, 2)), len(values))
    assert np.array_equal(found, np.quantile(column.numbers(np.array(values) + 0.0).raw(), [0.25, 0.5, 0.75]))


@pytest.mark.parametrize("case", NUMBERS)
@pytest.mark.parametrize("cut", [1, 3, 5])
def test_parts_that_are_read_apart_are_joined_as_one_or_not_at_all(tmp_path, case, cut):
    texts, found = NUMBERS[case], []
    for number, part in enumerate([texts[:cut], texts[cut:]]):
        path = tmp_path / f"part-{number}.csv"
        path.write_text("\n".join(["x", *part, ""]))
        given = look(path, Said(header=True), nothing), Roles.of("x"), {("x",): Wish()}, FORMATS["csv"]
        try:
            found.append(scan_apart(*given, tmp_path / f"raw-{number}", nothing))
        except ShoalError:
            return
    try:
        apart = joined(found)
    except ShoalError:
        return
    if apart is None:
        return
    (tmp_path / "in.csv").write_text("\n".join(["x", *texts, ""]))
    whole_table, columns, values = scanned(tmp_path, tmp_path / "in.csv", ["x"])
    kept, settle_again = apart.gatherings[0].kept(1.0, lambda: iter([]))
    raw = [whole(tmp_path / f"raw-{number}", ["q0"])[0] for number in (0, 1)]
    again = np.concatenate([settle_again(part, start) for part, start in zip(raw, [0, cut], strict=True)])
    assert np.array_equal(again, values[0])
    assert kept.seen(again) == columns[0]
    assert apart.records == whole_table.records


def test_floats_that_are_read_apart_have_the_decimals_of_all(tmp_path):
    found = []
    for number, part in enumerate([[0.5, 2.0], [0.25, 7.0], [1e-30]]):
        pa.parquet.write_table(pa.table({"x": part}), tmp_path / f"{number}.parquet")
        source = look(tmp_path / f"{number}.parquet", Said(), nothing)
        raw = tmp_path / f"raw-{number}"
        found.append(scan_apart(source, Roles.of("x"), {("x",): Wish()}, FORMATS["csv"], raw, nothing))
    two, three = joined(found[:2]), joined(found)
    assert two is not None
    assert three is not None
    kept, units = two.gatherings[0].kept(1.0, lambda: iter([]))
    assert (kept.decimals, kept.origin, units(np.array([0.5]), 0).tolist()) == (2, 25, [25])
    assert three.gatherings[0].kept(1.0, lambda: iter([]))[0].dtype == np.float64
