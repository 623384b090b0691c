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
from shoal import MDAV, PSensitive
from shoal.errors import ShoalError
from shoal.privacy.coding import Coding
from shoal.privacy.models import AlphaK, LDiversity, PSensitivity, TCloseness
from shoal.privacy.rules import Rules


@st.composite
def diverse(draw, most=30):
    """Points with ties, duplicates, constants and extremes, k, p, and a confidential column of their units."""
    sample = draw(confidential(most))
    n = len(sample.labels)
    element = VALUES[draw(st.sampled_from(sorted(VALUES)))]
    X = draw(npst.arrays(float, (n, draw(st.integers(1, 3))), elements=element))
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))]
    return X, draw(st.integers(1, n)), draw(st.integers(1, 4)), sample


def first_values(sample):
    """The first value of each unit that is no gap."""
    units = range(len(sample.labels))
    own = [[v for v, other in zip(sample.values, sample.units, strict=True) if other == unit] for unit in units]
    return [next((value for value in values if value is not None), None) for values in own]


def nominal_rules(model, codes):
    texts = tuple(str(code) for code in range(int(max(codes)) + 1))
    return Rules.of([model], [Coding("x", np.asarray(codes), texts, None, False)])


@settings(max_examples=400)
@given(diverse(), st.sampled_from([PSensitivity, LDiversity]))
def test_labels_are_those_of_the_naive_twin(case, kind):
    X, k, p, sample = case
    labels = PSensitive(k=k).fit(X, rules=sample.rules([kind(p, on="x")])).labels_
    assert labels.tolist() == naive.labels_of(naive.p_sensitive(X, k, p, first_values(sample)))


@given(diverse())
def test_every_group_has_k_records_and_p_values_if_units_have_as_many(case):
    X, k, p, sample = case
    rules = sample.rules([PSensitivity(p, on="x")])
    labels = PSensitive(k=k).fit(X, rules=rules).labels_
    assert np.bincount(labels).min() >= k
    if len({*first_values(sample)} - {None}) >= p:
        assert not rules.judge(labels)[1].any()
    else:
        assert not labels.any()


def test_a_group_gathers_different_values_first_and_then_the_nearest():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [5.0], [5.1], [5.2], [5.3], [5.4]])
    codes = [0, 0, 0, 0, 1, 1, 0, 1, 1, 0]
    labels = PSensitive(k=3).fit(X, rules=nominal_rules(PSensitivity(2, on="x"), codes)).labels_
    # from 0.0: 0.4 is the nearest of another value, then 0.1; from 5.4: 5.3, and then 5.2; four are left
    assert labels.tolist() == [0, 0, 2, 2, 0, 2, 2, 1, 1, 1]


def test_records_that_lack_values_at_the_end_join_the_nearest_groups():
    X = np.array([[0.0], [0.1], [9.0], [9.1], [0.2], [8.9], [0.3], [0.4]])
    codes = [0, 1, 0, 1, 0, 0, 0, 0]
    labels = PSensitive(k=2).fit(X, rules=nominal_rules(PSensitivity(2, on="x"), codes)).labels_
    assert labels.tolist() == [1, 1, 0, 0, 1, 0, 1, 1]


def test_p_above_k_makes_groups_of_p():
    rng = np.random.default_rng(1)
    rules = nominal_rules(PSensitivity(5, on="x"), np.arange(100) % 5)
    assert set(PSensitive(k=2).fit(rng.normal(size=(100, 2)), rules=rules).sizes_) == {5}


def test_one_value_is_enough_for_mdav():
    X = np.random.default_rng(1).normal(size=(97, 3))
    rules = nominal_rules(PSensitivity(1, on="x"), np.arange(97) % 3)
    assert np.array_equal(PSensitive(k=4).fit(X, rules=rules).labels_, MDAV(k=4).fit(X).labels_)


def test_fewer_values_than_p_are_one_group():
    X = np.random.default_rng(1).normal(size=(20, 3))
    rules = nominal_rules(PSensitivity(4, on="x"), np.arange(20) % 3)
    assert PSensitive(k=4).fit(X, rules=rules).n_groups_ == 1


@pytest.mark.parametrize("p", [2, 3, 4])
def test_census_with_income_in_classes(shared, p):
    table = pd.read_csv(shared / "data" / "census.csv")
    X = table[["TAXINC", "POTHVAL"]].to_numpy(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    codes = np.searchsorted(np.quantile(table["FICA"], [0.25, 0.5, 0.75]), table["FICA"])
    rules = nominal_rules(PSensitivity(p, on="x"), codes)
    model = PSensitive(k=4).fit(X, rules=rules)
    assert model.sizes_.min() >= 4
    assert not rules.judge(model.labels_)[1].any()


@pytest.mark.parametrize("model", [AlphaK(0.5, on="x"), LDiversity(2, "entropy", on="x"), TCloseness(0.2, on="x")])
def test_rules_without_a_number_of_values_are_an_error(model):
    rules = nominal_rules(model, np.arange(9) % 3)
    with pytest.raises(ShoalError, match=r"PSensitive groups records for p-sensitivity.*PSensitivity\(3, on="):
        PSensitive(k=3).fit(np.zeros((9, 2)), rules=rules)


def test_other_models_are_left_to_the_caller():
    rng = np.random.default_rng(3)
    X, codes = rng.normal(size=(60, 2)), rng.integers(0, 4, 60)
    coding = Coding("x", codes, tuple("abcd"), None, False)
    alone = Rules.of([LDiversity(3, on="x")], [coding])
    beside = Rules.of([AlphaK(0.3, on="x"), LDiversity(2, "entropy", on="x"), LDiversity(3, on="x")], [coding] * 3)
    first, second = (PSensitive(k=3).fit(X, rules=rules).labels_ for rules in (alone, beside))
    assert np.array_equal(first, second)


def test_progress_rises_with_rules_too():
    rng = np.random.default_rng(4)
    rules = nominal_rules(PSensitivity(3, on="x"), rng.integers(0, 5, 1000))
    calls = []
    PSensitive(k=3).fit(rng.normal(size=(1000, 2)), rules=rules, progress=lambda *call: calls.append(call))
    assert len(calls) > 2
    assert calls == sorted(calls)
    assert calls[-1] == (1000, 1000)


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(PSensitive(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(PSensitive(k=2))
