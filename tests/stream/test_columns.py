import numpy as np
import pytest

from shoal.attributes.numbers import RowsError
from shoal.stream.columns import Column, Facts, MixedError, Part, decimals_of


def test_a_column_of_floats_finds_its_decimals_over_all_parts():
    column = Column("x", "float64", 1.0)
    assert decimals_of(column, lambda: iter([np.array([1.0, 2.5]), np.array([0.125])])) == 3
    assert decimals_of(column, lambda: iter([np.array([1.0]), np.array([1 / 3])])) is None


def test_parts_of_different_decimals_are_put_on_one_scale():
    facts = Facts("x")
    facts.add(Part("integer", np.array([0, 3]), 0, 5, 3, (1, 1), False, from_text=True), 0)
    facts.add(Part("float64", np.array([0, 1]), 2, -125, 1, from_text=True), 2)
    column = facts.column(1.0)
    assert (column.origin, column.decimals, column.kind) == (-125, 2, "float64")
    assert facts.shifts(column) == [(2, 100, 625), (2, 1, 0)]


def test_exponents_after_units_ask_for_another_reading():
    facts = Facts("x")
    facts.add(Part("integer", np.array([0, 3]), from_text=True), 0)
    with pytest.raises(MixedError, match="x"):
        facts.add(Part("float64", np.array([0.5]), from_text=True), 2)


def test_truth_values_and_numbers_do_not_mix():
    facts = Facts("x")
    facts.add(Part("boolean", np.array([0, 1]), spelling=("no", "yes"), from_text=True), 0)
    with pytest.raises(RowsError, match="text such as 'no'"):
        facts.add(Part("integer", np.array([1]), from_text=True), 2)


def test_common_values_survive_being_stored():
    column = Column("x", "float32", 1.0, ends=(0.1, 0.3))
    numbers = column.numbers(np.array([0.1, 0.3]))
    common = numbers.common(np.arange(2), np.array([0, 2]), "mean", False)
    assert column.values(column.codes(common)).text() == common.text()
