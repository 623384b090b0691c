import warnings
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import shoal
from shoal.attributes import numbers as numeric
from shoal.attributes.digits import (
    checked_digits,
    decimals_above,
    digits_asked,
    digits_justified,
    digits_used,
)
from shoal.errors import ShoalError, ShoalWarning
from shoal.space import total_of

VALUES = {
    "ordinary": st.floats(-1e3, 1e3),
    "tied": st.sampled_from([0.5, 1 / 3, 2.0]),
    "constant": st.just(1 / 3),
    "tenths": st.integers(-300, 300).map(lambda units: units / 10),
    "huge": st.floats(-1e300, 1e300),
    "tiny": st.floats(-1e-200, 1e-200),
    "any": st.floats(allow_nan=False, allow_infinity=False),
    "negative": st.floats(-60, -50),
}
KINDS = st.sampled_from(["float64", "float32", "float16"])


@st.composite
def columns(draw):
    """Floats of one kind in groups of at least k."""
    k = draw(st.integers(1, 4))
    kind = draw(KINDS)
    element = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    groups = draw(st.lists(st.lists(element, min_size=k, max_size=2 * k), min_size=1, max_size=5))
    with np.errstate(over="ignore"):
        cast = [np.nan_to_num(np.array(group).astype(kind)) for group in groups]
    return cast, k, kind


def laid_out(groups):
    """The records group by group."""
    return np.arange(sum(map(len, groups))), np.concatenate([[0], np.cumsum([len(group) for group in groups])])


def hangs_by_a_hair(exact, k, aggregate, decimals):
    near = {naive.digits_of(exact, k, aggregate, decimals, 1 + Fraction(sign, 10**9)) for sign in (-1, 1)}
    return len(near) > 1


@given(columns(), st.sampled_from(["mean", "median"]))
def test_floats_are_rounded_to_what_their_spread_justifies(case, aggregate):
    groups, k, kind = case
    column = np.concatenate(groups)
    numbers = numeric.from_floats("x", column)
    decimals = numbers.decimals if isinstance(numbers, numeric.Fixed) else None
    if decimals is None:
        exact = [[Fraction(float(value)) for value in group] for group in groups]
    else:  # the decimals that the floats stand for
        exact = [[round(Fraction(float(v)) * 10**decimals) / Fraction(10) ** decimals for v in g] for g in groups]
    order, starts = laid_out(groups)
    squares = total_of([numbers.squares(order, starts, aggregate)])
    digits = digits_justified(numbers, squares, len(column), k)
    if decimals == 0:
        assert digits is None
        return
    if not hangs_by_a_hair(exact, k, aggregate, decimals):
        assert digits == naive.digits_of(exact, k, aggregate, decimals)
    common = numbers.common(order, starts, aggregate, False, digits)
    if digits is None:  # every group has one value, and keeps it
        assert common.native().tolist() == [group[0] for group in groups]
        return
    ends = [end([value for group in exact for value in group]) for end in (min, max)]
    for group, value, text in zip(exact, common.native(), common.text(), strict=True):
        middle = naive.middle_value(group, aggregate)
        if decimals is None:
            middle = Fraction(float(middle))
        expected = naive.rounded_value(middle, digits, *ends)
        assert value == np.float64(float(expected)).astype(kind)
        assert float(text) == float(expected)
        assert abs(digits) > 20 or len(text.partition(".")[2]) == max(0, digits)


@given(st.fractions(min_value=0, max_value=10**9) | st.integers(-150, 150).map(lambda e: Fraction(100) ** e))
def test_the_unit_is_the_largest_power_of_ten_not_above(squared):
    found = decimals_above(squared)
    if squared == 0:
        assert found is None
    else:
        assert Fraction(100) ** -found <= squared < Fraction(100) ** (1 - found)


def test_a_column_in_parts_has_the_digits_of_the_whole():
    values = np.random.default_rng(0).normal(size=60)
    numbers = numeric.from_floats("x", values)
    starts = np.arange(0, 61, 3)
    whole = total_of([numbers.squares(np.arange(60), starts, "mean")])
    parts = [numeric.Real(values[at : at + 30], ends=(values.min(), values.max())) for at in (0, 30)]
    both = total_of([part.squares(np.arange(30), starts[:11], "mean") for part in parts])
    assert float(both) == pytest.approx(float(whole), rel=1e-14)


def test_whole_numbers_booleans_and_constant_groups_are_left_alone():
    for values in ([1, 5, 9, 20], [True, False, True, True], [3.0, 5.0, 9.0, 20.0]):
        numbers = numeric.from_series("x", nw.from_native(pd.Series(values), series_only=True))
        assert digits_justified(numbers, Fraction(1000), 4, 2) is None
    assert digits_justified(numeric.from_floats("x", np.array([0.25, 0.25])), Fraction(0), 2, 2) == 2
    assert digits_justified(numeric.Real(np.array([1 / 3, 1 / 3])), Fraction(0), 2, 2) is None


def test_the_last_member_cannot_be_computed_from_a_long_mean():
    """What was the leak: k times the mean less the others was the last member, to all digits."""
    table = pd.DataFrame({"x": np.random.default_rng(1).normal(50, 10, 200)})
    release = shoal.anonymize(table, 5, "x", method="mdav")
    digits = release.manifest["digits"]["used"]["x"]
    group = np.flatnonzero(release.labels == 0)
    mean = release.table["x"][group[0]]
    computed = len(group) * mean - table["x"][group[1:]].sum()
    assert mean == round(mean, digits)
    assert abs(computed - table["x"][group[0]]) > 1e-4
    errors = table["x"] - table["x"].groupby(release.labels).transform("mean")
    assert 10.0**-digits <= np.sqrt((errors**2).mean() / 5) < 10.0 ** (1 - digits)


def test_the_loss_is_that_of_the_rounded_values():
    table = pd.DataFrame({"x": np.random.default_rng(2).normal(50, 10, 90)})
    release = shoal.anonymize(table, 3, "x", digits=-1, method="mdav")
    assert set(release.table["x"]) <= {30.0, 40.0, 50.0, 60.0, 70.0}
    error = (table["x"] - release.table["x"]) ** 2
    expected = 100 * error.sum() / ((table["x"] - table["x"].mean()) ** 2).sum()
    assert release.information_loss == pytest.approx(expected)


def test_digits_that_are_asked_for_are_given_for_all_or_for_some():
    table = pa.table(
        {"a": [10.25, 11.5, 13.75, 80.5], "b": [1234, 1333, 9876, 9555], "c": [1 / 3, 0.5, 0.25, 0.125]}
    )
    given = {"k": 2, "quasi_identifiers": ["a", "b", "c"], "method": "mdav"}
    one = shoal.anonymize(table, digits={"b": -2, "a": 0}, **given)
    assert one.manifest["digits"]["asked"] == {"b": -2, "a": 0}
    assert one.manifest["digits"]["used"] | {"c": 0} == {"a": 0, "b": -2, "c": 0}
    assert one.table["b"].to_pylist() == [1300, 1300, 9700, 9700]
    assert one.table["b"].type == pa.int64()
    every = shoal.anonymize(table, digits=0, **given)
    assert every.manifest["digits"] == {"asked": 0, "used": {"a": 0, "b": 0, "c": 0}}
    assert every.table["a"].to_pylist() == [11, 11, 47, 47]
    assert every.table["b"].to_pylist() == [1284, 1284, 9716, 9716]
    with pytest.warns(ShoalWarning, match="column 'c' is rounded to 6 digits, more than the spread"):
        fine = shoal.anonymize(table, digits={"c": 6}, **given)
    assert fine.table["c"].to_pylist() == [0.416667, 0.416667, 0.1875, 0.1875]


def test_a_column_can_hold_what_it_is_rounded_to():
    small = pa.table({"x": pa.array([251, 252, 253, 255], pa.uint8())})
    assert shoal.anonymize(small, 2, "x", digits=-2).table["x"].to_pylist() == [200] * 4
    narrow = pa.table({"x": pa.array(["1.1", "99.8", "99.9", "99.9"]).cast(pa.decimal128(3, 1))})
    assert [str(value) for value in shoal.anonymize(narrow, 2, "x").table["x"].to_pylist()] == [
        "50.0", "50.0", "99.0", "99.0",
    ]  # fmt: skip
    half = pd.DataFrame({"x": np.array([65504, 65000, 1.5, -65504, 3, 4], np.float16)})
    assert np.isfinite(shoal.anonymize(half, 2, "x", digits=-4).table["x"]).all()


@pytest.mark.parametrize(
    ("digits", "message"),
    [
        (16, "digits must be at most 15, not 16"),
        (-19, "digits must be at least -18, not -19"),
        (2.0, "digits must be a whole number"),
        (True, "digits must be a whole number"),
        ({"a": "2"}, "the digits of 'a' must be a whole number"),
        ({"aa": 2}, "digits for 'aa', which is no quasi-identifier; did you mean 'a'"),
        ({"a": 2}, "column 'a' came with 1 decimals and cannot be released with 2; give it 1 digits or fewer"),
        ({"b": 1}, "column 'b' came with 0 decimals"),
        ({"t": -1}, "column 't' holds true and false, which have no digits"),
    ],
)
def test_digits_that_cannot_be_had_are_errors_before_any_work(digits, message):
    table = pd.DataFrame({"a": [1.5, 2.5, 3.0], "b": [1, 2, 3], "t": [True, False, True]})

    def never(done, total):
        raise AssertionError("the work has begun")

    with pytest.raises(ShoalError, match=message):
        shoal.anonymize(table, 2, ["a", "b", "t"], digits=digits, progress=never)


def test_plain_centroids_warn_and_are_not_rounded():
    table = pd.DataFrame({"a": [1.5, 2.0, 2.0]})
    with pytest.raises(ShoalError, match="exact and digits contradict each other"):
        shoal.anonymize(table, 3, "a", exact=True, digits=1)
    with pytest.warns(
        ShoalWarning, match="somebody who knows all other members of a group can compute the last one"
    ):
        release = shoal.anonymize(table, 3, "a", exact=True)
    assert release.table["a"][0] == 5.5 / 3
    assert release.manifest["digits"] == {"asked": None, "used": {}}


@pytest.mark.parametrize(
    "values",
    [
        ["red", "blue", "green", "blue"],
        [True, False, True, True],
        pd.to_datetime(
            ["2020-01-01 10:00:01", "2021-03-01 11:00:00", "2020-07-09 08:30:00", "2023-01-01 23:59:59"]
        ),
    ],
)
def test_digits_that_no_column_has_are_warned_of(values, tmp_path):
    table = pd.DataFrame({"a": values, "b": [1.25, 1.5, 7.5, 8.25]})
    with pytest.warns(ShoalWarning, match="digits=0 changes nothing: no quasi-identifier holds numbers"):
        shoal.anonymize(table, 2, "a", "b", digits=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "digits=0")
        warnings.filterwarnings("ignore", "(?!digits=0)", ShoalWarning)
        shoal.anonymize(table, 2, ["a", "b"], digits=0)
    table.to_csv(tmp_path / "in.csv", index=False)
    with pytest.warns(ShoalWarning, match="digits=0 changes nothing"):
        shoal.anonymize_file(tmp_path / "in.csv", tmp_path / "out.csv", 2, "a", "b", digits=0, blocks=1)


def test_the_report_says_the_digits(tmp_path):
    table = pd.DataFrame({"a": [1.5, 2.0, 2.0, 9.25], "b": [1 / 3] * 4, "c": [100, 200, 300, 400]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShoalWarning)
        release = shoal.anonymize(table, 2, ["a", "b", "c"], digits={"c": -2})
    text = release.report(tmp_path / "r.html").read_text()
    assert "a: 0, b: as they came, c: 0 (to the next 100)" in text


def test_nothing_is_checked_where_nothing_is_asked():
    assert checked_digits(None, ("a",), exact=True) is None
    numbers = numeric.from_floats("x", np.array([0.5, 0.25]))
    assert digits_asked("x", numbers, None) is None
    assert digits_asked("x", numbers, {"y": 2}) is None
    assert digits_asked("x", numbers, 5) == 2
    assert digits_used("x", numbers, Fraction(1), 2, 2, None) == {"x": 1}
