from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from shoal.attributes.rounding import decimal_text, nearest_even, round_floats, round_units, sum_of_squares

FLOATS = st.one_of(
    st.floats(-1e6, 1e6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-4000, 4000).map(lambda units: units / 8),  # many ties
    st.sampled_from([0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 5e-324, 1.7e308, -1.7e308, 1e22, 2.675]),
)


@given(st.lists(FLOATS, min_size=1, max_size=6), st.integers(-310, 330) | st.integers(-4, 6))
@example([1.7e308, 1.6e308], -308)
@example([-0.04], 1)
def test_doubles_are_rounded_as_fractions_are(values, digits):
    low, high = min(values), max(values)
    found = round_floats(np.array(values), digits, (low, high))
    for value, new in zip(values, found.tolist(), strict=True):
        expected = naive.rounded_value(Fraction(value), digits, Fraction(low), Fraction(high))
        assert new == float(expected)
        assert str(new) != "-0.0"


@given(
    st.lists(st.lists(st.integers(0, 2**61), min_size=1, max_size=4), min_size=1, max_size=4),
    st.integers(-(2**70), 2**70) | st.integers(-30, 30),
    st.integers(0, 20),
)
def test_units_are_rounded_as_fractions_are(groups, origin, zeros):
    values = [value for group in groups for value in group]
    groups = [[value - min(values) for value in group] for group in groups]
    highest = max(values) - min(values)
    total, parts = np.array([sum(group) for group in groups]), np.array([len(group) for group in groups])
    found = round_units(total, parts, origin, highest, 10**zeros)
    for group, above in zip(groups, found.tolist(), strict=True):
        value = origin + Fraction(sum(group), len(group))
        assert origin + above == naive.rounded_value(value, -zeros, Fraction(origin), Fraction(origin + highest))


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=9), st.integers(1, 9), st.integers(-3, 3))
def test_the_nearest_whole_number_is_that_of_the_fraction(numerators, denominator, origin):
    found = nearest_even(np.array(numerators), np.full(len(numerators), denominator), origin)
    assert found.tolist() == [round(Fraction(n, denominator) + origin) - origin for n in numerators]


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (1.5, 1, "1.5"),
        (2.0, 3, "2.000"),
        (1200.0, -2, "1200"),
        (-3.0, 0, "-3"),
        (0.0, 2, "0.00"),
        (1.2e23, -20, "120000000000000000000000"),
        (1.2e300, -299, "12e299"),
        (-1.2e-30, 31, "-12e-31"),
        (0.0, 31, "0"),
        (12345678901234567.0, 2, "12345678901234568.00"),
    ],
)
def test_a_rounded_number_is_written_with_its_decimals(value, digits, text):
    assert decimal_text(value, digits) == text
    assert float(text) == value


@given(st.floats(-1e12, 1e12), st.integers(-6, 12))
def test_what_is_written_reads_back(value, digits):
    new = float(round_floats(np.array([value]), digits, (-1e12, 1e12))[0])
    text = decimal_text(new, digits)
    assert float(text) == new
    assert len(text.partition(".")[2]) == max(0, digits)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9))
def test_squares_neither_vanish_nor_overflow(errors):
    total, exponent = sum_of_squares(np.array(errors), np.array([0, len(errors)]))
    exact = sum((Fraction(error) ** 2 for error in errors), Fraction(0))
    found = Fraction(total) * Fraction(4) ** exponent
    assert abs(found - exact) <= exact / 10**12
