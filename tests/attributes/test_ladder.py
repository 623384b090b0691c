from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.attributes.ladder import RUNGS, fraction_of, rung_below, rung_name, rung_of, rung_used


@given(
    st.lists(st.integers(-(10**18), 10**18) | st.integers(-100, 100).map(lambda h: h * 3600 * 10**9), min_size=1)
)
def test_the_unit_of_a_column_divides_all_its_moments(values):
    from math import gcd

    assert RUNGS[rung_of(gcd(*values))] == naive.finest_unit(values)


@given(
    st.integers(0, 10**32) | st.sampled_from(RUNGS).map(lambda unit: unit * unit),
    st.integers(1, 50),
    st.integers(1, 9),
    st.sampled_from(RUNGS[:4]),
)
def test_the_unit_is_the_largest_that_is_not_above_the_uncertainty_of_a_mean(squares, records, k, finest):
    rung = rung_used(Fraction(squares), records, k, RUNGS.index(finest), 5)
    assert RUNGS[rung] == naive.unit_of_time(squares, records, k, finest, RUNGS[5])


def test_a_spread_below_the_smallest_unit_has_the_smallest():
    assert rung_below(Fraction(0)) == 0
    assert rung_below(Fraction(3599 * 10**9) ** 2) == 4
    assert rung_below(Fraction(3600 * 10**9) ** 2) == 5


def test_units_have_names_and_decimals():
    assert [rung_name(rung) for rung in range(7)] == ["1 ns", "1 us", "1 ms", "1 s", "1 min", "1 h", "1 day"]
    assert [fraction_of(rung) for rung in range(7)] == [9, 6, 3, 0, 0, 0, 0]
