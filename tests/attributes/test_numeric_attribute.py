from fractions import Fraction

import numpy as np
import pytest

from shoal.attributes.numbers import from_floats
from shoal.attributes.numeric_attribute import NumericAttribute

VALUES = np.array([1.5, 2.5, 4.0, 9.0])
ORDER, STARTS, LABELS = np.arange(4), np.array([0, 2, 4]), np.array([0, 0, 1, 1])


def attribute(scaling="zscore"):
    return NumericAttribute.of("x", from_floats("x", VALUES), scaling, 2.0)


def test_coordinates_are_centred_and_divided_by_the_spread():
    assert attribute().coordinates()[:, 0] == pytest.approx((VALUES - VALUES.mean()) / VALUES.std())


def test_the_loss_is_that_of_the_released_values_on_the_scaled_ones():
    made = attribute("range")
    common = made.common_values(ORDER, STARTS, "mean", False, 0)
    assert common.floats().tolist() == [2.0, 6.0]
    sse, sst = made.squared_errors(common, LABELS)
    assert sse == pytest.approx(((VALUES - [2, 2, 6, 6]) ** 2).sum() / 7.5**2)
    assert sst == pytest.approx(((VALUES - VALUES.mean()) ** 2).sum() / 7.5**2)


def test_the_mode_and_the_ends_of_an_interval_are_numbers_of_members_unless_digits_are_asked_for():
    made = NumericAttribute.of("x", from_floats("x", np.array([10.7, 10.7, 1.2, 3.4, 3.4, 1.2])), "zscore", 1.0)
    parts = np.arange(6), np.array([0, 3, 6])
    assert made.squares(*parts, "mode") == made.squares(*parts, "interval") == (0.0, 0)
    assert made.digits_used(None, Fraction(0), 6, 3) == {"x": 1}
    assert made.common_values(*parts, "mode", False, 1).text() == ["10.7", "3.4"]
    assert made.common_values(*parts, "interval", False, 1).text() == ["1.2-10.7", "1.2-3.4"]
    assert made.common_values(*parts, "mode", False, 0).text() == ["10", "3"]  # 11 is above all


def test_a_report_shows_the_values_before_and_after():
    profile = attribute().profile(attribute().common_values(ORDER, STARTS, "mean", False, None), LABELS)
    assert profile.before.tolist() == VALUES.tolist()
    assert profile.after.tolist() == [2.0, 2.0, 6.5, 6.5]
    assert profile.levels == ()


def test_a_constant_column_has_no_part_in_the_loss():
    made = NumericAttribute.of("x", from_floats("x", np.full(3, 7.0)), "zscore", 1.0)
    assert made.is_constant
    assert made.squared_errors(
        made.common_values(np.arange(3), np.array([0, 3]), "mean", False, None), np.zeros(3, int)
    ) == (0, 0)
