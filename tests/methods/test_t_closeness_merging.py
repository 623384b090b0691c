from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from checks import passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

import naive
from promises import confidential
from samples import VALUES
from shoal import MDAV, TClosenessMerging
from shoal.errors import ShoalError
from shoal.privacy.coding import Coding
from shoal.privacy.models import DISTANCES, AlphaK, LDiversity, TCloseness
from shoal.privacy.rules import Rules

PUBLISHED_T = (0.01, 0.05, 0.09, 0.13, 0.17, 0.21, 0.25)


class Case(NamedTuple):
    """Points, k and a demand for t-closeness on the units of a confidential column."""

    X: np.ndarray
    k: int
    model: TCloseness
    sample: object

    @property
    def rules(self):
        return self.sample.rules([self.model])

    @property
    def t(self):
        return self.model.t

    def far(self):
        """The twin's distance of a group of units from the table."""
        rows = [[i for i, own in enumerate(self.sample.units) if own == unit] for unit in range(len(self.X))]

        @cache
        def distance(units):
            return self.sample.twins(self.model, [[i for unit in units for i in rows[unit]]])[0][0]

        return lambda group: distance(tuple(sorted(group)))

    def holds(self, labels):
        """Every group has k units and is near enough."""
        assert np.bincount(labels).min() >= self.k
        assert not self.rules.judge(labels)[1].any()


@st.composite
def close(draw, most=18, distances=DISTANCES):
    """Ties, duplicates, constants and extremes; gaps, persons and households; every distance."""
    sample = draw(confidential(most))
    n = len(sample.labels)
    element = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    X = draw(npst.arrays(float, (n, draw(st.integers(1, 3))), elements=element))
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))]
    distance = draw(st.sampled_from(distances))
    t = draw(st.sampled_from([0, 0.05, 0.1, 0.125, 0.2, 0.25, 0.3, 0.5]))
    tree = sample.tree if distance == "hierarchical" else None
    return Case(X, draw(st.integers(1, n)), TCloseness(t, distance, tree, on="x"), sample)


def numeric_rules(model, values):
    """The rules of a numeric column without gaps."""
    places, codes = np.unique(values, return_inverse=True)
    texts = tuple(str(place) for place in places)
    return Rules.of([model], [Coding("x", codes.reshape(-1), texts, places.astype(float), True)])


def census(shared, confidential_column):
    """Census: z-scores of two quasi-identifiers, and a confidential attribute."""
    table = pd.read_csv(shared / "data" / "census.csv")
    X = table[["TAXINC", "POTHVAL"]].to_numpy(float)
    return (X - X.mean(axis=0)) / X.std(axis=0), table[confidential_column].to_numpy(float)


@settings(max_examples=300)
@given(close())
def test_labels_are_those_of_the_naive_twin(case):
    labels = TClosenessMerging(k=case.k).fit(case.X, rules=case.rules).labels_
    groups = naive.t_closeness_merging(case.X, case.k, case.t, case.far())
    assert labels.tolist() == naive.labels_of(groups)


@given(close(most=40))
def test_every_group_has_k_records_and_is_within_t(case):
    case.holds(TClosenessMerging(k=case.k).fit(case.X, rules=case.rules).labels_)


def test_groups_that_are_near_enough_stay_as_they_are():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3))
    rules = numeric_rules(TCloseness(1.0, "ranks", on="x"), rng.normal(size=200))
    assert np.array_equal(TClosenessMerging(k=4).fit(X, rules=rules).labels_, MDAV(k=4).fit(X).labels_)


def test_a_distance_of_nothing_is_one_group():
    rng = np.random.default_rng(2)
    rules = numeric_rules(TCloseness(0, "ranks", on="x"), rng.normal(size=50))
    assert TClosenessMerging(k=4).fit(rng.normal(size=(50, 3)), rules=rules).n_groups_ == 1


def test_the_farthest_group_is_merged_with_its_nearest_neighbour():
    X = np.array([[0.0], [0.1], [10.0], [10.1], [21.0], [21.1]])
    rules = numeric_rules(TCloseness(0.3, "ranks", on="x"), np.array([0, 1, 2, 5, 3, 4]))
    assert MDAV(k=2).fit(X).labels_.tolist() == [1, 1, 2, 2, 0, 0]
    assert rules.judge(MDAV(k=2).fit(X).labels_)[0][0] == pytest.approx([4 / 15, 0.4, 0.2])
    assert TClosenessMerging(k=2).fit(X, rules=rules).labels_.tolist() == [1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("column", ["FEDTAX", "FICA"])
def test_census_is_within_t_and_for_a_larger_t_less_is_merged(shared, column):
    X, values = census(shared, column)
    counts = []
    for t in PUBLISHED_T:
        rules = numeric_rules(TCloseness(t, "ranks", on="x"), values)
        model = TClosenessMerging(k=2).fit(X, rules=rules)
        assert model.sizes_.min() >= 2
        assert not rules.judge(model.labels_)[1].any()
        counts.append(model.n_groups_)
    assert counts == sorted(counts)


def test_other_models_are_left_to_the_caller():
    rng = np.random.default_rng(3)
    X, codes = rng.normal(size=(60, 2)), rng.integers(0, 4, 60)
    coding = Coding("x", codes, tuple("abcd"), None, False)
    model = TCloseness(0.2, "equal", on="x")
    alone = Rules.of([model], [coding])
    beside = Rules.of([AlphaK(0.3, on="x"), model, LDiversity(4, on="x")], [coding] * 3)
    first, second = (TClosenessMerging(k=3).fit(X, rules=rules).labels_ for rules in (alone, beside))
    assert np.array_equal(first, second)
    assert not beside.judge(second)[1][1].any()


def test_rules_without_t_closeness_are_an_error():
    rules = Rules.of([LDiversity(2, on="x")], [Coding("x", np.arange(9) % 3, tuple("abc"), None, False)])
    with pytest.raises(
        ShoalError, match=r"TClosenessMerging groups records for t-closeness.*TCloseness\(0.2, on='income'\)"
    ):
        TClosenessMerging(k=3).fit(np.zeros((9, 2)), rules=rules)


def test_an_interrupt_in_the_callback_gets_through_while_groups_are_merged():
    rng = np.random.default_rng(4)
    rules = numeric_rules(TCloseness(0.001, "ranks", on="x"), rng.normal(size=2000))
    calls = []

    def stop(done, total):
        calls.append(done)
        if calls.count(total) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        TClosenessMerging(k=2).fit(rng.normal(size=(2000, 2)), rules=rules, progress=stop)


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(TClosenessMerging(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(TClosenessMerging(k=2))
