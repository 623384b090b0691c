import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, drawn_pair, plain, suda, uniques
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk import uniqueness as fast

SOME = st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)


def rows_of(pair, which):
    return list(zip(*(plain(getattr(c, which)) for c in pair.quasi_identifiers), strict=True))


def figures(pair):
    found = {figure.name: figure for figure in fast.uniqueness(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


@given(st.integers(0, 10**6), st.integers(1, 16), st.integers(1, 3), SOME, st.sampled_from([0.0, 0.4]))
def test_uniques_before_and_after_are_those_of_the_twin(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    before, after = rows_of(pair, "before"), rows_of(pair, "after")
    found = fast.standing(pair)
    m = len(kinds)
    assert found.plan.complete == m
    expected = [
        (c, len(uniques(before, c)), len(uniques(after, c)))
        for s in range(1, m + 1)
        for c in combinations(range(m), s)
    ]
    assert found.uniques == expected
    shown = figures(pair)
    assert shown["unique_records"].value == pytest.approx(100 * len(uniques(before, range(m))) / n)
    assert shown["unique_records"].details["after"] == pytest.approx(100 * len(uniques(after, range(m))) / n)
    assert len(shown["telling_columns"].table.rows) == sum(len(c) <= 3 for c, *_ in expected)


@given(st.integers(0, 10**6), st.integers(1, 16), SOME, st.integers(1, 4), st.sampled_from([0.0, 0.4]))
def test_scores_of_minimal_uniques_are_those_of_the_twin(seed, n, kinds, largest, gaps):
    pair = drawn_pair(seed, n, 2, kinds, gaps=gaps)
    m = len(kinds)
    largest = min(largest, m)
    codes = [fast.codes_of(c.before) for c in pair.quasi_identifiers]
    levels = tuple(tuple(combinations(range(m), s)) for s in range(1, m + 1))
    found = fast.suda(fast.examined(codes, fast.Plan(levels, m, 1)), m, n, largest)
    scores, minimal = suda(rows_of(pair, "before"), m, largest)
    assert found.scores.tolist() == scores
    for i in range(n):
        assert found.sizes[i].tolist() == [sum(len(c) == s for c in minimal[i]) for s in range(1, largest + 1)]


def test_values_worked_by_hand():
    """Record 3 is alone by its city, the others by pairs at most: 1 column of 3 scores 2 * 1, 2 columns score 1."""
    city, sex, age = [0.0, 0, 0, 1], [0.0, 0, 1, 1], [0.0, 1, 0, 0]
    columns = tuple(
        PairColumn(name, "quasi-identifier", np.array(v), np.zeros(4), ("a", "b"))
        for name, v in (("city", city), ("sex", sex), ("age", age))
    )
    pair = Pair(columns, np.zeros(4, np.int64), False)
    rows = list(zip(city, sex, age, strict=True))
    scores, minimal = suda(rows, 3, 3)
    assert minimal[3] == [(0,)]
    assert minimal[1] == [(2,)]
    assert sorted(minimal[0]) == [(1, 2)]
    assert sorted(minimal[2]) == [(0, 1)]
    assert scores == [1, 2, 1, 2]
    shown = figures(pair)
    assert shown["suda_records"].value == 100
    assert shown["suda_records"].details["highest"] == 2
    assert {row[:2] for row in shown["suda_records"].table.rows} == {(1, 2.0), (3, 2.0), (0, 1.0), (2, 1.0)}
    assert shown["telling_columns"].value == 100
    assert shown["unique_records"].table.rows == (("original", 4, 100.0), ("release", 0, 0.0))
    assert {figure.eyes for figure in shown.values()} == {"owner"}


def test_rows_are_named_by_their_place_in_the_original():
    x = np.array([1.0, 1, 2])
    pair = Pair((PairColumn("x", "quasi-identifier", x, np.ones(3)),), np.zeros(3, np.int64), True)
    table = figures(pair)["suda_records"].table
    assert (table.header[0], table.rows[0][0]) == ("record", 2)
    table = figures(replace(pair, places=np.array([7, 8, 5])))["suda_records"].table
    assert (table.header[0], table.rows[0][0]) == ("original row", 5)


def test_the_risk_of_a_file_worked_by_hand():
    """A tenth in the table, 20 uniques, 10 pairs: 2 / (2 + 2 * 0.9 * 10) = 0.1; where all are, uniques are found."""
    assert fast.file_risk(20, 10, 0.1) == pytest.approx(0.1)
    assert fast.file_risk(20, 10, 1.0) == 1
    assert fast.file_risk(0, 10, 0.5) is None


def test_equal_scores_get_the_risk_of_the_file_and_larger_ones_more():
    assert fast.dis_suda(np.array([3.0, 0, 3, 3]), 0.2, 5) == pytest.approx([0.2, 0, 0.2, 0.2])
    low, high = fast.dis_suda(np.array([1.0, 9]), 0.2, 5)
    assert low < 0.2 < high < 1


@pytest.mark.parametrize(
    ("more", "fraction"),
    [({}, 1.0), ({"weights": np.full(4, 5.0)}, 0.2), ({"population": {"x": np.zeros(16)}}, 0.25)],
)
def test_the_sampling_fraction_is_known_from_weights_or_a_population(more, fraction):
    x = np.arange(4.0)
    pair = Pair((PairColumn("x", "quasi-identifier", x, x),), np.arange(4), False, **more)
    assert fast.sampling_fraction(pair) == pytest.approx(fraction)


def test_where_there_are_many_subsets_some_are_drawn_and_that_is_said():
    plan = fast.planned(12, 1000, 0, work=100_000)
    assert plan.complete == 2
    assert [len(level) for level in plan.subsets] == [12, 66, 22]
    assert plan.said == "all subsets up to size 2, and 22 of 220 of size 3, drawn at random"
    assert fast.planned(3, 10, 0).said == "all subsets of 1 to 3 columns"
    assert fast.planned(1, 10, 0).said == "all single columns"
    assert max(map(len, fast.planned(40, 10, 0).subsets[-1])) == 3


def test_keys_of_very_many_values_do_not_overflow():
    codes = [np.arange(3000) % 2999 for _ in range(8)]
    keys = fast.keys_of(codes)
    assert len(np.unique(keys)) == 2999
    assert keys[0] == keys[2999]
