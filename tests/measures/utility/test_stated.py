import numpy as np
import pytest

from shoal.measures.pair import Pair, PairColumn
from shoal.measures.utility import stated


def test_numbers_are_such_as_json_takes():
    assert stated.number(None) is stated.number(np.nan) is stated.number(np.inf) is None
    assert stated.number(np.float64(1.23456)) == 1.23456
    assert stated.number(1.23456, 3) == 1.235
    assert type(stated.number(np.float64(2))) is float


def test_gaps_are_left_out_and_equal_values_have_no_spread():
    assert stated.known(np.array([1, np.nan, 3])).tolist() == [1, 3]
    assert stated.spread(np.array([0.1, 0.1, 0.1, np.nan])) == 0
    assert stated.spread(np.array([np.nan])) == stated.spread(np.zeros(0)) == 0
    assert stated.spread(np.array([0, 2, np.nan])) == pytest.approx(np.sqrt(2))
    assert stated.is_constant(np.zeros(1))
    assert not stated.is_constant(np.array([0.0, 1.0]))


def test_means_and_extremes_are_those_of_what_is_known():
    assert stated.mean_of([1, None, 4]) == 2.5
    assert stated.mean_of([None]) is stated.largest_of([None]) is None
    assert stated.largest_of([1, None, -4, 3]) == -4


def test_quasi_identifiers_are_of_interest_where_there_are_any():
    one, two = (
        PairColumn(name, role, *[np.arange(3.0)] * 2)
        for name, role in (("x", "quasi-identifier"), ("y", "confidential"))
    )
    assert stated.of_interest([one, two]) == [one]
    assert stated.of_interest([two]) == [two]


def test_constant_columns_and_categories_are_no_numbers_to_compare():
    columns = (
        PairColumn("x", "other", np.arange(3.0), np.ones(3)),
        PairColumn("still", "other", np.ones(3), np.arange(3.0)),
        PairColumn("c", "other", np.arange(3.0), np.arange(3.0), ("a", "b", "c")),
    )
    pair = Pair(columns, np.zeros(3, np.int64), matched=False)
    assert [column.name for column in stated.numbers_of(pair)] == ["x"]
    before, after = stated.sides_of(columns[:1])
    assert (before[0].tolist(), after[0].tolist()) == ([0, 1, 2], [1, 1, 1])


def test_a_sample_is_said_with_its_error():
    pair = Pair((PairColumn("x", "other", np.arange(9.0), np.arange(4.0)),), np.zeros(4, np.int64), matched=False)
    assert stated.sample_said(pair, 9) == ""
    assert stated.sample_said(pair, 8) == " (of 8 records drawn at random)"
    assert stated.sampling_error(9, 9) == 0
    assert stated.sampling_error(100, 400) == pytest.approx(np.sqrt(0.75) / 10)
