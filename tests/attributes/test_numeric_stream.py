import numpy as np
import pandas as pd
import pytest

from columns import made_of
from shoal.attributes.base import AgainError
from shoal.attributes.numbers import RowsError
from shoal.attributes.numeric_stream import NumericGathering, NumericKept, Part, decimals_of
from shoal.errors import ShoalError


def test_a_column_of_floats_finds_its_decimals_over_all_parts():
    column = NumericKept("x", 1.0, held="float64")
    assert decimals_of(column, lambda: iter([np.array([1.0, 2.5]), np.array([0.125])])) == 3
    assert decimals_of(column, lambda: iter([np.array([1.0]), np.array([1 / 3])])) is None


def test_whole_numbers_of_too_many_digits_are_refused_in_memory_too_where_there_are_gaps():
    wide = [-(2**63), 2**63 - 1, 5, None]
    assert len(made_of(pd.Series(wide[:3]), from_file=False).coordinates()) == 3
    with pytest.raises(
        ShoalError, match="which only a column without gaps .* can have; round it, or fill its gaps"
    ):
        made_of(pd.Series(wide, dtype="Int64"), from_file=False, gaps="value")


def test_parts_of_different_decimals_are_put_on_one_scale():
    facts = NumericGathering("x")
    facts.add_part(Part("integer", np.array([0, 3]), 0, 5, 3, (1, 1), False, from_text=True), 0)
    facts.add_part(Part("float64", np.array([0, 1]), 2, -125, 1, from_text=True), 2)
    column, _ = facts.kept(1.0, lambda: iter(()))
    assert (column.origin, column.decimals, column.held) == (-125, 2, "float64")
    assert facts.shifts(column) == [(2, 100, 625), (2, 1, 0)]


def test_exponents_after_units_ask_for_another_reading():
    facts = NumericGathering("x")
    facts.add_part(Part("integer", np.array([0, 3]), from_text=True), 0)
    with pytest.raises(AgainError):
        facts.add_part(Part("float64", np.array([0.5]), from_text=True), 2)


def test_truth_values_and_numbers_do_not_mix():
    facts = NumericGathering("x")
    facts.add_part(Part("boolean", np.array([0, 1]), spelling=("no", "yes"), from_text=True), 0)
    with pytest.raises(RowsError, match="text such as 'no'"):
        facts.add_part(Part("integer", np.array([1]), from_text=True), 2)


def test_common_values_survive_being_stored():
    column = NumericKept("x", 1.0, held="float32", ends=(0.1, 0.3))
    numbers = column.numbers(np.array([0.1, 0.3]))
    common = numbers.common(np.arange(2), np.array([0, 2]), "mean", False)
    assert column.values(column.codes(common)).text() == common.text()
