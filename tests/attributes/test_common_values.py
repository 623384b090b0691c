from decimal import Decimal

import numpy as np

from shoal.attributes.common_values import FixedValues, RealValues, RoundedValues, in_ones, wide


def test_whole_units_are_shown_with_their_decimals_and_leading_zeros():
    units = np.array([-5, 120])
    tenths = FixedValues("decimal", units, units.astype(float), None, 1, units)
    assert tenths.text(",") == ["-0,5", "12,0"]
    assert tenths.native() == [Decimal("-0.5"), Decimal("12.0")]
    assert tenths.floats().tolist() == [-0.5, 12.0]
    codes = FixedValues("integer", np.array([7]), np.zeros(1), None, 0, np.array([7]), width=3)
    assert codes.text() == ["007"]
    hundreds = FixedValues("decimal", np.array([12]), np.zeros(1), None, -2, np.array([12]))
    assert hundreds.text() == ["1200"]
    flags = FixedValues("boolean", np.array([0, 1]), np.zeros(2), None, 0, units, spelling=("no", "yes"))
    assert flags.text() == ["no", "yes"]
    assert flags.native().tolist() == [False, True]


def test_rounded_floats_are_shown_with_their_digits_whatever_their_kind():
    values = np.array([24.6, -1.0])
    rounded = RoundedValues(values, values, 1, "float32")
    assert rounded.text(",") == ["24,6", "-1,0"]
    assert rounded.native().dtype == np.float32
    assert RealValues(values.astype(np.float32), values).text() == ["24.6", "-1.0"]


def test_large_units_become_integers_of_any_length():
    assert in_ones(np.array([3]), -20).tolist() == [3 * 10**20]
    assert in_ones(np.array([3]), 2).tolist() == [3]
    assert wide(np.array([3]), 19).dtype == object
    assert wide(np.array([3]), 18).dtype == np.int64
