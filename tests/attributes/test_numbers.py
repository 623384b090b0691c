from decimal import Decimal
from fractions import Fraction
from statistics import median

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes import numbers as numeric
from shoal.errors import ShoalError

ONE_GROUP = np.array([0, 4])
ORDER = np.arange(4)


def series(values, dtype=None):
    return nw.from_native(pd.Series(values, dtype=dtype), series_only=True)


def common(numbers, aggregate="mean", exact=False, n=4):
    return numbers.common(np.arange(n), np.array([0, n]), aggregate, exact)


def half_even(value: Fraction) -> int:
    return round(value)


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=9), st.sampled_from(["mean", "median"]))
def test_the_common_value_of_integers_is_exact_however_large(values, aggregate):
    numbers = numeric.Fixed.of(np.array(values, dtype=object), 0, "integer")
    expected = half_even(Fraction(sum(values), len(values)) if aggregate == "mean" else middle(values))
    assert list(common(numbers, aggregate, n=len(values)).native()) == [expected]


def middle(values):
    ranked = sorted(values)
    return Fraction(ranked[(len(values) - 1) // 2] + ranked[len(values) // 2], 2)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=9))
def test_64_bit_integers_keep_every_digit(values):
    numbers = numeric.from_series("x", series(np.array(values, np.int64)))
    assert list(common(numbers, n=len(values)).native()) == [half_even(Fraction(sum(values), len(values)))]
    assert numbers.raw().min() >= 0


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=9))
def test_unsigned_integers_too(values):
    numbers = numeric.from_series("x", series(np.array(values, np.uint64)))
    assert list(common(numbers, n=len(values)).native()) == [half_even(Fraction(sum(values), len(values)))]


@given(st.lists(st.integers(-99_999, 99_999), min_size=1, max_size=9), st.integers(0, 6))
def test_floats_keep_the_number_of_decimals_they_came_with(units, decimals):
    values = [unit / 10**decimals for unit in units]
    numbers = numeric.from_series("x", series(values))
    assert isinstance(numbers, numeric.Fixed)
    assert numbers.decimals <= decimals
    released = common(numbers, n=len(values))
    exact = Fraction(sum(units), len(units)) / 10**decimals
    assert released.native()[0] == half_even(exact * 10**numbers.decimals) / 10**numbers.decimals
    assert float(released.text()[0]) == released.native()[0]


@given(st.lists(st.floats(-1e9, 1e9).map(lambda x: x + 1 / 3), min_size=2, max_size=9))
def test_floats_without_a_number_of_decimals_are_averaged_as_they_are(values):
    numbers = numeric.from_floats("x", np.array(values))
    released = common(numbers, n=len(values)).native()[0]
    assert released == pytest.approx(float(sum(map(Fraction, values)) / len(values)), rel=1e-12, abs=1e-6)
    assert common(numbers, "median", n=len(values)).native()[0] == pytest.approx(
        median(values), rel=1e-12, abs=1e-6
    )


def test_float32_stays_float32():
    values = np.array([0.1, 0.2, 1 / 3, 0.7], np.float32)
    numbers = numeric.from_floats("x", values)
    assert common(numbers).native().dtype == np.float32
    tenths = numeric.from_floats("x", values.round(1))
    assert isinstance(tenths, numeric.Fixed)
    assert common(tenths).native().dtype == np.float32


def test_extreme_floats_do_not_overflow():
    for values in ([1e308, 1.7e308, -1.7e308, 1e308], [5e-324, 1e-323, 0.0, 0.0], [1e308, 1e-308, 0.0, 1.0]):
        numbers = numeric.from_floats("x", np.array(values))
        assert np.isfinite(numbers.raw()).all()
        assert np.abs(numbers.raw()).max() <= 2
        assert common(numbers).native()[0] == float(sum(map(Fraction, values)) / 4)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=9), st.integers(0, 4))
def test_the_plain_centroid_is_the_nearest_double(units, decimals):
    numbers = numeric.Fixed.of(np.array(units), decimals, "float64")
    exact = Fraction(sum(units), len(units)) / 10**decimals
    assert common(numbers, exact=True, n=len(units)).native().tolist() == [float(exact)]


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=9), st.integers(1, 1000))
def test_coordinates_do_not_depend_on_the_unit(units, factor):
    one = numeric.Fixed.of(np.array(units), 0, "integer")
    other = numeric.Fixed.of(np.array(units) * factor, 2, "integer")
    assert np.array_equal(one.raw(), other.raw())
    if len(set(units)) > 1:
        assert other.unit == pytest.approx(one.unit * factor / 100)


def test_numbers_without_end_are_refused():
    for values in (["9" * 151, "1"], ["0." + "1" * 150, "1"]):
        with pytest.raises(ShoalError, match=r"'x' holds numbers of more than 150 digits \(row 1\)"):
            text(*values)
    for value in (10**200, Decimal(10) ** 200):
        with pytest.raises(ShoalError, match="more than 150 digits"):
            numeric.from_objects("x", [value, type(value)(1)])
    assert common(text("9" * 100, "1", "1", "1"), n=4).native() is not None


def test_float16_stays_float16_in_table_and_text():
    released = common(numeric.from_floats("x", np.array([3.9, 3.9, 3.9, 3.9], np.float16)))
    assert released.native().dtype == np.float16
    assert released.text() == ["3.9"]


def test_exact_releases_the_plain_centroid_as_a_float():
    released = common(numeric.from_series("x", series([1, 2, 2, 2])), exact=True)
    assert released.native().tolist() == [1.75]
    assert released.text() == ["1.75"]
    flags = common(numeric.from_series("x", series([True, False, False, False])), exact=True)
    assert flags.native().tolist() == [0.25]


def test_booleans_take_the_majority_and_half_goes_to_false():
    assert common(numeric.from_series("x", series([True, True, True, False]))).native().tolist() == [True]
    assert common(numeric.from_series("x", series([True, True, False, False]))).native().tolist() == [False]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([Decimal("1.10"), Decimal("2.205"), Decimal(3), Decimal("-4")]),
        pl.Series([Decimal("1.10"), Decimal("2.205"), Decimal(3), Decimal("-4")]),
        pa.chunked_array([pa.array([Decimal("1.10"), Decimal("2.205"), Decimal(3), Decimal("-4")])]),
    ],
)
def test_decimals_stay_decimals(column):
    released = common(numeric.from_series("x", nw.from_native(column, series_only=True)))
    assert list(released.native()) == [Decimal("0.576")]
    assert released.text(",") == ["0,576"]


def test_nullable_and_arrow_backed_pandas_columns_are_read_like_plain_ones():
    for dtype in ("Int64", "int64[pyarrow]", "Float64", "boolean", "UInt8"):
        numbers = numeric.from_series("x", series([1, 0, 1, 1], dtype))
        assert numbers.floats().tolist() == [1, 0, 1, 1]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0, None, 2.0, None], r"'x' holds missing values \(rows 2, 4\)"),
        ([1.0, np.inf, 2.0, 3.0], r"'x' holds infinity \(row 2\)"),
        (["a", "b"], r"'x' holds text, not numbers \(row 1: 'a'\)"),
        ([1, "b", 2], r"'x' holds text or other objects such as 'b' \(row 2\)"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "'x' holds dates or times"),
        (pd.Categorical(["a", "b"]), "'x' holds categories"),
        ([Decimal(1), 2.0], "'x' mixes decimals"),
        ([Decimal(1), Decimal("Infinity")], r"'x' holds infinity or NaN \(row 2\)"),
        (pd.to_timedelta([1, 2]), "'x' holds dates or times.* date, timestamp, time-of-day or duration$"),
    ],
)
def test_what_is_not_a_number_is_an_error_that_names_column_and_rows(values, message):
    with pytest.raises(ShoalError, match=message):
        numeric.from_series("x", series(values))


def text(*values, sign="."):
    return numeric.from_text("x", pa.chunked_array([list(values)]), sign)


def test_text_keeps_its_decimals():
    released = common(text("1.50", "2", "-.25", "+3.0"))
    assert released.text() == ["1.56"]
    assert released.native()[0] == 1.56
    assert common(text("1,5", "2", "3,5", "4,0", sign=",")).text(",") == ["2,8"]
    assert common(text("-0.1", "-0.2", "0", "0")).text() == ["-0.1"]


def test_text_keeps_its_leading_zeros_where_all_codes_are_as_wide():
    assert common(text("01234", "01238", "01240", "01240")).text() == ["01238"]
    assert common(text("0", "10", "20", "30")).text() == ["15"]
    assert common(text("007", "7", "8", "8")).text() == ["8"]


def test_long_whole_numbers_in_text_keep_every_digit():
    assert common(text(*["12345678901234567890"] * 4)).text() == ["12345678901234567890"]
    assert common(text("9007199254740993", "9007199254740995", "9007199254740993", "9007199254740995")).text() == [
        "9007199254740994"
    ]


def test_exponents_and_spaces_in_text_are_numbers():
    assert common(text("1e3", " 2000", "3E+3", "2000")).native()[0] == 2000


def test_booleans_in_text_keep_their_spelling():
    assert common(text("TRUE", "FALSE", "TRUE", "TRUE")).text() == ["TRUE"]
    assert common(text("true", "true", "true", "true")).text() == ["true"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (("1", "", "2", "NA"), r"missing values \(rows 2, 4\)"),
        (("1", "-inf", "2", "3"), r"infinity \(row 2\)"),
        (("1", "2", "abc", "3"), r"text such as 'abc' \(row 3\)"),
        (("1,000", "2", "3", "4"), "text such as '1,000'"),
    ],
)
def test_text_that_is_not_a_number_is_an_error(values, message):
    with pytest.raises(ShoalError, match=message):
        text(*values)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-9, 9)), min_size=1, max_size=30))
def test_groups_are_kept_apart(rows):
    present = sorted({g for g, _ in rows})
    labels = np.array([present.index(g) for g, _ in rows])
    values = np.array([v for _, v in rows])
    order = np.argsort(labels, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
    numbers = numeric.Fixed.of(values, 0, "integer")
    for aggregate, function in (("mean", lambda v: Fraction(sum(v), len(v))), ("median", middle)):
        got = list(numbers.common(order, starts, aggregate, False).native())
        assert got == [half_even(function(values[labels == g].tolist())) for g in range(len(present))]


@pytest.mark.parametrize(
    ("texts", "signs", "expected"),
    [
        (["941", "1.633"], (",", "."), [941, 1633]),
        (["-1.234.567", "0"], (",", "."), [-1234567, 0]),
        (["1,234.5", "7.25"], (".", ","), [1234.5, 7.25]),
        (["1'633", "12"], (".", "'"), [1633, 12]),
        (["1 633", "12"], (".", " "), [1633, 12]),
    ],
)
def test_thousands_separators_are_left_out(texts, signs, expected):
    numbers = numeric.from_text("x", pa.chunked_array([texts]), *signs)
    assert numbers.floats().tolist() == expected


@pytest.mark.parametrize("text", ["1.63", "1.6333", "0.633", "12.34.567", "1234.567", "1.633e5"])
def test_groups_that_are_not_of_three_digits_are_no_thousands(text):
    with pytest.raises(ShoalError, match=r"holds text such as .*say --decimal \. |holds text such as"):
        numeric.from_text("x", pa.chunked_array([[text]]), ",", ".")


def test_numbers_with_another_decimal_sign_are_refused_with_the_option():
    with pytest.raises(ShoalError, match=r"say --decimal , \(decimal=','\) if its comma is a decimal sign; else"):
        numeric.from_text("x", pa.chunked_array([["1,5"]]), ".")
    with pytest.raises(ShoalError, match=r"--decimal ,.* or say --decimal \..* separates thousands; else"):
        numeric.from_text("x", pa.chunked_array([["1,633"]]), ".")
    with pytest.raises(ShoalError, match="holds text such as 'a'.*; turn it into numbers"):
        numeric.from_text("x", pa.chunked_array([["a"]]), ".")


@pytest.mark.parametrize(
    "values",
    [
        ("12345678901234", "0.123456789012"),
        ("0.12573022185234234", "-0.13210486393455773"),
        ("9.234567890123456", "2"),
        ("0.0000000000000001", "0"),
    ],
)
def test_text_with_decimals_and_more_than_15_digits_is_a_column_of_floats(values):
    numbers = text(*values)
    assert isinstance(numbers, numeric.Real)
    assert numbers.values.tolist() == [float(value) for value in values]


def test_text_with_up_to_15_digits_is_a_column_of_units():
    assert text("1.23456789012345", "2").decimals == 14
    assert text("-999999999999.999").origin == -999999999999999
