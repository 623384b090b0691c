import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, drawn_pair, maximised, plain, scale_of
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk import probabilistic as fast


def agree_of(pair, tolerance, record, row):
    """Whether each attribute agrees, and after it, where it has gaps, whether both have one or neither."""
    found = {}
    for column in pair.quasi_identifiers:
        one, two = plain(column.before)[record], plain(column.after)[row]
        if column.levels and not column.ordered:
            found[column.name] = one == two
            continue
        middle, spread = scale_of(column)
        a, b = (0.0 if v is None else round((v - middle) / spread, 12) for v in (one, two))
        found[column.name] = abs(a - b) <= tolerance
        if np.isnan(column.before).any() or np.isnan(column.after).any():
            found[f"{column.name}: a gap"] = (one is None) == (two is None)
    return found


@given(
    st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 4),
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_links_by_weights_are_those_of_the_twin(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    linked = fast.linked_by_weights(pair)
    agree, differ = (dict(zip(linked.names, each, strict=True)) for each in linked.model.weights)
    total = 0.0
    for record in range(n):
        weights = []
        for row in range(n):
            same = agree_of(pair, linked.tolerance, record, row)
            weights.append(sum(agree[name] if yes else differ[name] for name, yes in same.items()))
        best = [row for row in range(n) if weights[row] >= max(weights) - 1e-9]
        total += (record in best) / len(best)
    assert linked.rate.percent == pytest.approx(100 * total / n)
    assert linked.rate.percent <= 100 / pair.k + 1e-9


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(2, 6), st.integers(2, 6))
def test_expectation_maximisation_is_that_of_the_twin(seed, width, people, groups):
    rng = np.random.default_rng(seed)
    patterns = rng.integers(0, 2, (people * groups, width))
    kinds, counts = np.unique(patterns, axis=0, return_counts=True)
    model = fast.maximised(kinds.astype(float), counts.astype(float), 1 / groups)
    m, u = maximised(patterns.tolist(), 1 / groups)
    assert model.m == pytest.approx(m, abs=1e-5)
    assert model.u == pytest.approx(u, abs=1e-5)


def test_probabilities_are_found_again_from_patterns_drawn_by_them():
    rng = np.random.default_rng(0)
    m, u, share, n = np.array([0.95, 0.8, 0.9]), np.array([0.1, 0.3, 0.05]), 0.1, 200_000
    match = rng.random((n, 1)) < share
    patterns = rng.random((n, 3)) < np.where(match, m, u)
    kinds, counts = np.unique(patterns, axis=0, return_counts=True)
    model = fast.maximised(kinds.astype(float), counts.astype(float), share)
    assert model.m == pytest.approx(m, abs=0.02)
    assert model.u == pytest.approx(u, abs=0.01)


def test_weights_worked_by_hand():
    """m = 3/4, u = 1/4: an agreement weighs log2 3, a difference log2 1/3."""
    agree, differ = fast.Model(np.array([0.75]), np.array([0.25])).weights
    assert agree[0] == pytest.approx(np.log2(3))
    assert differ[0] == pytest.approx(-np.log2(3))


def test_an_unchanged_table_of_different_categories_is_linked_whole():
    levels = tuple(f"v{i}" for i in range(9))
    a, b = np.repeat(np.arange(3.0), 3), np.tile(np.arange(3.0), 3)
    columns = tuple(PairColumn(name, "quasi-identifier", x, x, levels) for name, x in (("a", a), ("b", b)))
    (shown,) = fast.linkage_probabilistic(Pair(columns, np.arange(9), True))
    assert shown.value == 100
    assert len(shown.table.rows) == 2
    assert shown.eyes == "owner"


def test_one_group_is_guessed_from():
    x = np.arange(5.0)
    pair = Pair((PairColumn("x", "quasi-identifier", x, np.full(5, 2.0)),), np.zeros(5, np.int64), True)
    (shown,) = fast.linkage_probabilistic(pair)
    assert shown.value == pytest.approx(20)


def test_large_tables_are_sampled_and_the_error_is_stated(monkeypatch):
    monkeypatch.setattr(fast, "PEOPLE", 30)
    monkeypatch.setattr(fast, "GROUPS", 10)
    pair = drawn_pair(1, 300, 3, ["number", "category"])
    (shown,) = fast.linkage_probabilistic(pair)
    assert "standard error" in shown.sentence
    assert shown.details["sampled"] == 30
    assert 0 <= shown.value <= 100 / pair.k
