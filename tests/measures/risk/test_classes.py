from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, distance_to, drawn_pair, plain
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk import classes as fast

SOME = st.lists(st.sampled_from(KINDS), min_size=1, max_size=3)


def figures(pair):
    return {figure.name: figure for figure in fast.class_risks(pair)}


def pair_of(sizes, **more):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    x = groups.astype(float)
    return Pair((PairColumn("x", "quasi-identifier", x, x),), groups, False, **more)


def test_values_worked_by_hand():
    """Groups of 2, 3 and 5: k = 2, at most 50 %, 3 of 10 found on average."""
    found = figures(pair_of([2, 3, 5]))
    assert found["counted_k"].value == 2
    assert found["counted_k"].table.rows == ((2, 1), (3, 1), (5, 1))
    assert found["prosecutor_risk"].value == 50
    assert found["prosecutor_risk"].details["mean"] == 30
    assert found["marketer_risk"].value == 30
    journalist = found["journalist_risk"]
    assert journalist.value == 50
    assert "neither a population table nor a weight" in journalist.sentence
    assert journalist.details["equals"] == "prosecutor_risk"
    assert journalist.eyes == "public"


def test_weights_say_how_many_people_stand_behind_a_group():
    """Weights of 4 each: 8, 12 and 20 people; those of 1/2 still leave the records themselves."""
    journalist = figures(pair_of([2, 3, 5], weights=np.full(10, 4.0)))["journalist_risk"]
    assert journalist.value == pytest.approx(12.5)
    assert journalist.details["mean"] == pytest.approx(7.5)
    journalist = figures(pair_of([2, 3, 5], weights=np.full(10, 0.5)))["journalist_risk"]
    assert journalist.value == 50
    assert journalist.eyes == "owner"


def test_people_of_a_population_go_to_the_nearest_group():
    """0 to 2.4 four times, 1 twice, 2 thrice: 4 people, but at least 3 and 5 records, stand behind the others."""
    population = {"x": np.array([0, 0.1, -1, 0.4, 1, 1.2, 2, 3, 9])}
    journalist = figures(pair_of([2, 3, 5], population=population))["journalist_risk"]
    assert journalist.value == pytest.approx(100 / 3)
    assert journalist.details["mean"] == pytest.approx(10 * (2 / 4 + 3 / 3 + 5 / 5))
    assert "9 people" in journalist.sentence


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 3), SOME, st.integers(1, 9))
def test_counts_of_a_population_are_those_of_the_twin(seed, n, k, kinds, people):
    pair = drawn_pair(seed, n, k, kinds, gaps=0.2)
    others = drawn_pair(seed + 1, people, 1, kinds, gaps=0.2)
    pair = replace(pair, population={c.name: c.before for c in others.quasi_identifiers})
    counts, looked_up, there = fast.counted_population(pair)
    assert looked_up == there == people
    first = [int(np.flatnonzero(pair.groups == g)[0]) for g in range(len(pair.sizes))]
    assert counts.sum() == people
    assert (counts >= 0).all()
    expected = np.zeros(len(first))
    for person in range(people):
        values = [plain(column.before)[person] for column in others.quasi_identifiers]
        away = [distance_to(pair.quasi_identifiers, values, row) for row in first]
        expected[next(g for g, each in enumerate(away) if each <= min(away) * (1 + 1e-9) + 1e-18)] += 1
    assert counts.tolist() == expected.tolist()


def test_of_a_large_population_some_are_looked_up_and_that_is_said(monkeypatch):
    monkeypatch.setattr(fast, "PEOPLE", 50)
    population = {"x": np.random.default_rng(0).integers(0, 3, 1000).astype(float)}
    journalist = figures(pair_of([2, 3, 5], population=population))["journalist_risk"]
    assert "50 of them drawn at random" in journalist.sentence
    assert "rough" in journalist.definition
    assert 100 / 500 < journalist.value < 100 / 200


def test_an_empty_population_leaves_the_records_themselves():
    journalist = figures(pair_of([2, 3], population={"x": np.zeros(0)}))["journalist_risk"]
    assert journalist.value == 50


@pytest.mark.parametrize("sizes", [[7], [1] * 5, [3, 3]])
def test_k_of_n_of_one_and_of_equal_groups(sizes):
    found = figures(pair_of(sizes))
    assert found["counted_k"].value == min(sizes)
    assert found["marketer_risk"].value == pytest.approx(100 * len(sizes) / sum(sizes))
