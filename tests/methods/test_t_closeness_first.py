from fractions import Fraction

import numpy as np
import pytest
from checks import passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st
from test_t_closeness_merging import PUBLISHED_T, census, close, numeric_rules

import naive
from shoal import TClosenessFirst
from shoal.errors import ShoalError
from shoal.methods.t_closeness_first import least_size
from shoal.privacy.coding import Coding
from shoal.privacy.models import LDiversity, TCloseness
from shoal.privacy.rules import Rules

PUBLISHED_SIZES = (49, 10, 6, 4, 3, 3, 2)  # at k = 2, for PUBLISHED_T


def order_of(case):
    """The units by the mean of their ranks or numbers, those without a value first; without an order by the first."""
    sample, distance = case.sample, case.model.distance
    numbers = [None if value is None else sample.line.index(value) for value in sample.values]
    if distance == "ranks":
        numbers = naive.ranks(sample.values, sample.line)
    means = []
    for unit in range(len(case.X)):
        own = [numbers[i] for i, other in enumerate(sample.units) if other == unit and numbers[i] is not None]
        along = distance in ("ordered", "ranks", "wasserstein")
        means.append(-1 if not own else Fraction(sum(own), len(own)) if along else own[0])
    return sorted(range(len(case.X)), key=lambda unit: (means[unit], unit))


@settings(max_examples=300)
@given(close(most=30))
def test_labels_are_those_of_the_naive_twin(case):
    labels = TClosenessFirst(k=case.k).fit(case.X, rules=case.rules).labels_
    groups = naive.t_closeness_first(case.X, case.k, case.t, case.far(), order_of(case))
    assert labels.tolist() == naive.labels_of(groups)


@given(close(most=40))
def test_every_group_has_k_records_and_is_within_t(case):
    case.holds(TClosenessFirst(k=case.k).fit(case.X, rules=case.rules).labels_)


@given(st.integers(2, 12), st.integers(1, 12), st.booleans(), st.randoms(use_true_random=False))
def test_a_record_of_each_stratum_is_within_the_published_bound(size, groups, lowest, random):
    """By ranks, whichever record is taken from a stratum; all lowest or all highest ones are as far as the bound."""
    n = size * groups
    bound = (n - size) / (2 * (n - 1) * size)
    values = np.arange(n)
    rules = numeric_rules(TCloseness(0, "ranks", on="x"), values)
    labels = np.concatenate([random.sample(range(groups), groups) for _ in range(size)])
    assert rules.judge(labels)[0].max() <= bound + 1e-12
    labels = np.tile(np.arange(groups), size)
    assert rules.judge(labels)[0][0, 0 if lowest else -1] == pytest.approx(bound)


@pytest.mark.parametrize("column", ["FEDTAX", "FICA"])
def test_sizes_of_groups_on_census_are_the_published_ones(shared, column):
    X, values = census(shared, column)
    for t, size in zip(PUBLISHED_T, PUBLISHED_SIZES, strict=True):
        rules = numeric_rules(TCloseness(t, "ranks", on="x"), values)
        model = TClosenessFirst(k=2).fit(X, rules=rules)
        assert model.sizes_.min() == size
        assert round(1080 / model.n_groups_) == size
        assert model.sizes_.max() <= size + 1
        assert not rules.judge(model.labels_)[1].any()


def test_a_larger_k_counts():
    rng = np.random.default_rng(1)
    rules = numeric_rules(TCloseness(0.25, "ranks", on="x"), rng.normal(size=1080))
    for k in (2, 3, 5, 10, 30):
        assert TClosenessFirst(k=k).fit(rng.normal(size=(1080, 2)), rules=rules).sizes_.min() == k


@pytest.mark.parametrize("t", [0.1, 0.2, 0.3, 0.07, 1 / 3])
def test_the_size_is_that_of_t_as_it_was_written(t):
    """A t that is exactly the bound of a size gives that size, though the double may be a little less."""
    for n in range(2, 400):
        written = Fraction(repr(t))
        size = next(s for s in range(1, n + 1) if Fraction(n - s, 2 * (n - 1) * s) <= written)
        assert least_size(n, 1, t) == size + n % size // (n // size)


@pytest.mark.parametrize(("n", "size", "middle"), [(23, 5, [2] * 3), (22, 4, [1, 2]), (23, 4, [1, 1, 2])])
def test_spare_records_come_from_the_middle_one_to_a_group(n, size, middle):
    t = (n - size) / (2 * (n - 1) * size) + 0.1
    rng = np.random.default_rng(n)
    X, values = rng.normal(size=(n, 2)), rng.permutation(n)
    labels = TClosenessFirst(k=size).fit(X, rules=numeric_rules(TCloseness(t, "ranks", on="x"), values)).labels_
    groups = n // size
    counts = [groups + middle.count(s) for s in range(size)]
    strata = np.repeat(np.arange(size), counts)[values]
    for group in range(groups):
        own = sorted(strata[labels == group].tolist())
        extra = middle[group : group + 1]
        assert own == sorted([*range(size), *extra])


def test_with_ties_the_size_rises_until_the_distance_asked_for_holds():
    rng = np.random.default_rng(5)
    X, values = rng.normal(size=(120, 2)), rng.permutation(np.repeat([0.0, 1.0], [44, 76]))
    ranks = TClosenessFirst(k=2).fit(X, rules=numeric_rules(TCloseness(0.17, "ranks", on="x"), values))
    assert set(ranks.sizes_) == {3}
    rules = numeric_rules(TCloseness(0.04, "ordered", on="x"), values)
    first = least_size(120, 2, 0.04)
    ordered = TClosenessFirst(k=2).fit(X, rules=rules)
    assert ordered.sizes_.min() > first
    assert not rules.judge(ordered.labels_)[1].any()


def test_in_the_worst_case_there_is_one_group():
    rng = np.random.default_rng(5)
    values = np.zeros(21)
    values[0] = 1.0
    rules = numeric_rules(TCloseness(0.01, "equal", on="x"), values)
    assert TClosenessFirst(k=2).fit(rng.normal(size=(21, 2)), rules=rules).n_groups_ == 1


def test_rules_without_t_closeness_are_an_error():
    rules = Rules.of([LDiversity(2, on="x")], [Coding("x", np.arange(9) % 3, tuple("abc"), None, False)])
    with pytest.raises(ShoalError, match="TClosenessFirst groups records for t-closeness"):
        TClosenessFirst(k=3).fit(np.zeros((9, 2)), rules=rules)


def test_progress_rises_though_there_are_several_attempts():
    rng = np.random.default_rng(4)
    rules = numeric_rules(TCloseness(0.02, "equal", on="x"), rng.integers(0, 7, 900))
    calls = []
    X = rng.normal(size=(900, 2))
    model = TClosenessFirst(k=2).fit(X, rules=rules, progress=lambda *call: calls.append(call))
    assert len(calls) > 2
    assert calls == sorted(calls)
    assert calls[-1] == (900, 900)
    assert np.array_equal(model.labels_, TClosenessFirst(k=2).fit(X, rules=rules).labels_)


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(TClosenessFirst(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(TClosenessFirst(k=2))
