import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, deviation, drawn_pair, plain, within_deviations, within_ranks
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk import intervals as fast


@given(
    st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 4),
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_intervals_are_those_of_the_twins(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    found = {each.name: each for each in fast.intervals_of(pair)}
    numbers = [c for c in pair.quasi_identifiers if c.is_number]
    for column in numbers:
        before, after = plain(column.before), plain(column.after)
        if all(x is None or y is None for x, y in zip(before, after, strict=True)):
            assert column.name not in found
            continue
        for way, naive in (("ranks", within_ranks), ("deviations", within_deviations)):
            expected = np.mean([naive(before, after, p) for p in range(1, 11)])
            assert getattr(found[column.name], way) == pytest.approx(expected)
    if found:
        shown = {figure.name: figure for figure in fast.interval_disclosure(pair)}
        near = [
            all(
                None in (x, y) or x == y or abs(x - y) <= 0.05 * deviation(plain(c.after)) * (1 + 1e-9)
                for c in numbers
                for x, y in [(plain(c.before)[i], plain(c.after)[i])]
            )
            for i in range(n)
        ]
        assert shown["interval_disclosure_at_once"].value == pytest.approx(100 * np.mean(near))
    else:
        assert not list(fast.interval_disclosure(pair))


def test_values_worked_by_hand():
    """100 numbers, each released 5 ranks higher: reached from p = 5 on, but for the 5 lowest, below all released ones."""
    x = np.arange(100.0)
    pair = Pair((PairColumn("x", "quasi-identifier", x, x + 5),), np.arange(100), True)
    (found,) = fast.intervals_of(pair)
    assert found.ranks == pytest.approx(95 * 6 / 10)
    deviation = np.std(x, ddof=1)  # 29.01: 5 is 17.2 % of it
    assert found.deviations == 0
    assert 5 / deviation == pytest.approx(0.1723, abs=1e-4)
    near = Pair((PairColumn("x", "quasi-identifier", x, x + 0.05 * deviation),), np.arange(100), True)
    assert fast.intervals_of(near)[0].deviations == pytest.approx(60)
    assert fast.at_once(near) == 100


def test_equal_released_numbers_stand_at_their_middle_rank():
    """Of 0, 10 ten times and 20, the tens stand at rank 5.5; 20 is 5.5 ranks of 12 away, 45.8 %."""
    after = np.array([0.0, *[10.0] * 10, 20])
    needed = fast.ranks_needed(np.array([10.0, 20, 25, -1]), np.array([10.0, 10, 10, 10]), after)
    assert needed.tolist() == [0, pytest.approx(100 * 5.5 / 12), np.inf, np.inf]


def test_a_constant_column_is_known_exactly():
    same = np.full(6, 3.0)
    pair = Pair((PairColumn("x", "quasi-identifier", same, same),), np.zeros(6, np.int64), True)
    (found,) = fast.intervals_of(pair)
    assert found.ranks == found.deviations == 100


def test_categories_only_have_no_interval():
    assert not list(fast.interval_disclosure(drawn_pair(0, 9, 3, ["category", "ordered"])))


def test_large_tables_are_sampled_and_the_error_is_stated(monkeypatch):
    monkeypatch.setattr(fast, "SAMPLE", 100)
    for shown in fast.interval_disclosure(drawn_pair(0, 900, 3, ["number"])):
        assert "100 records drawn at random, standard error at most 5.00 %" in shown.sentence
        assert shown.details["standard_error"] == 5
        assert shown.eyes == "owner"
