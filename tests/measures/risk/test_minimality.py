import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from naive_risk import KINDS, companions_kept, drawn_pair, linked, squared_distance
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk.minimality import agreement, minimality


@given(
    st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 4),
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_the_group_of_the_nearest_record_is_that_of_the_twin(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    shares = []
    for record in range(n):
        away = np.array([squared_distance(pair.quasi_identifiers, record, row) for row in range(n)])
        near = away <= away.min() * (1 + 1e-9) + 1e-18
        shares.append(np.mean(pair.groups[near] == pair.groups[record]))
    (shown,) = minimality(pair)
    assert shown.value == pytest.approx(100 * np.mean(shares))
    assert shown.details["record_found"] == pytest.approx(linked(pair.quasi_identifiers, n))
    rows = {row[0]: row[1:] for row in shown.table.rows}
    assert rows["nothing: guesses a record"] == pytest.approx(
        (100 * np.mean([np.mean(pair.groups == g) for g in pair.groups]), 100 / n)
    )
    certain = rows["everybody's quasi-identifiers and a method without randomness"]
    assert certain == pytest.approx((100, 100 * len(set(pair.groups)) / n))
    assert certain[1] <= rows["the bound 1/k"][1] + 1e-9


def test_values_worked_by_hand():
    x, after = np.array([0, 1.9, 2, 3]), np.array([0.95, 0.95, 2.5, 2.5])
    pair = Pair((PairColumn("x", "quasi-identifier", x, after),), np.array([0, 0, 1, 1]), True)
    (shown,) = minimality(pair)
    assert shown.value == 75
    assert shown.details["record_found"] == 37.5


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=12))
def test_agreement_is_that_of_the_twin(rows):
    one, two = zip(*rows, strict=True)
    expected = companions_kept(one, two)
    assert agreement(one, two).value == (None if expected is None else pytest.approx(expected))


def test_agreement_worked_by_hand():
    """0 keeps 1 of 1 and 2: a half each for 0 and 1, none for 2; 3 and 4 keep each other."""
    assert shoal.agreement([0, 0, 0, 1, 1], ["a", "a", "b", "b", "b"]).value == pytest.approx(
        100 * (0.5 + 0.5 + 0 + 1 + 1) / 5
    )
    assert agreement([0, 1], [0, 0]).sentence == "Every record is a group of its own."


def test_runs_of_different_tables_are_refused():
    with pytest.raises(shoal.ShoalError, match="they have 2 and 3"):
        agreement([0, 1], [0, 1, 1])
    with pytest.raises(shoal.ShoalError, match="no records"):
        agreement([], [])
