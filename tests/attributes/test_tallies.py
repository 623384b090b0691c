from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes.tallies import Tally

FLOATS = st.floats(-1e100, 1e100, allow_nan=False).map(lambda value: 0.0 if abs(value) < 1e-100 else value)


def check(tally, numbers):
    mean = sum(numbers) / len(numbers)
    assert tally.mean == float(mean)
    assert tally.deviations == float(sum((number - mean) ** 2 for number in numbers))
    assert (tally.count, tally.low, tally.high) == (len(numbers), min(numbers), max(numbers))


@given(st.lists(st.integers(0, 2**62 - 1), min_size=1, max_size=30), st.integers(0, 30))
def test_whole_numbers_are_summed_exactly_however_they_are_cut(numbers, cut):
    parts = [np.array(part, np.int64) for part in (numbers[:cut], numbers[cut:]) if part]
    tally = Tally.of_units(parts[0])
    for part in parts[1:]:
        tally += Tally.of_units(part)
    assert tally == Tally.of_units(np.array(numbers, np.int64))
    check(tally, [Fraction(number) for number in numbers])
    step = int(np.gcd.reduce(numbers))
    assert tally.step == step
    check(tally.in_steps(), [Fraction(number, step or 1) for number in numbers])


@given(st.lists(FLOATS, min_size=1, max_size=30), st.integers(0, 30))
def test_doubles_are_summed_exactly_however_they_are_cut(numbers, cut):
    parts = [np.array(part) for part in (numbers[:cut], numbers[cut:]) if part]
    tally = Tally.of_floats(parts[0])
    for part in parts[1:]:
        tally += Tally.of_floats(part)
    assert Tally(**tally.as_dict()) == Tally.of_floats(np.array(numbers))
    check(tally, [Fraction(number) for number in numbers])


def test_a_sum_that_floats_would_lose_is_kept():
    assert Tally.of_floats(np.array([1e100, 1.0, -1e100])).mean == pytest.approx(1 / 3)
