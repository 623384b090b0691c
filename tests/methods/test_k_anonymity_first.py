from functools import cache

import numpy as np
import pytest
from checks import passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from test_t_closeness_merging import PUBLISHED_T, census, close, numeric_rules

import naive
from shoal import KAnonymityFirst, TClosenessMerging
from shoal.errors import ShoalError
from shoal.methods.k_anonymity_first import refined_groups
from shoal.privacy.coding import Coding
from shoal.privacy.models import LDiversity, TCloseness
from shoal.privacy.rules import Rules


@settings(max_examples=200)
@given(close(most=14))
def test_labels_are_those_of_the_naive_twin(case):
    labels = KAnonymityFirst(k=case.k).fit(case.X, rules=case.rules).labels_
    groups = naive.k_anonymity_first(case.X, case.k, case.t, case.far())
    assert labels.tolist() == naive.labels_of(groups)


def far_on_a_line(values, distance):
    """The distance of a group from the table by numbers on a line, term by term."""
    n = len(values)
    own = sorted(range(n), key=lambda i: (values[i], i))
    rank = {i: place for place, i in enumerate(own)}
    if distance == "ranks":
        places, of = list(range(n)), rank
    else:
        found = sorted(set(values))
        of = {i: found.index(values[i]) for i in range(n)}
        places = found if distance == "wasserstein" else list(range(len(found)))
    table = np.bincount([of[i] for i in range(n)]).cumsum() / n
    steps = np.diff(places) / (places[-1] - places[0])

    @cache
    def far(group):
        own = np.bincount([of[i] for i in group], minlength=len(places)).cumsum() / len(group)
        return float((np.abs(own - table)[:-1] * steps).sum())

    return lambda group: far(tuple(sorted(group)))


@pytest.mark.parametrize("distance", ["ordered", "ranks", "wasserstein"])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("k", "t"), [(1, 0.2), (2, 0.05), (5, 0.02), (12, 0.03)])
def test_a_larger_table_has_the_labels_of_the_twin_too(distance, tied, k, t):
    """Large enough that candidates are lined up and ruled out by what their values can do."""
    rng = np.random.default_rng(k)
    X, values = rng.normal(size=(170, 2)), rng.exponential(size=170)
    if tied:
        X, values = X.round(0), values.round(1)
    rules = numeric_rules(TCloseness(t, distance, on="x"), values)
    labels = KAnonymityFirst(k=k).fit(X, rules=rules).labels_
    assert labels.tolist() == naive.labels_of(
        naive.k_anonymity_first(X, k, t, far_on_a_line(values.tolist(), distance))
    )


def one_by_one(X, k, rules):
    """Every candidate judged with every member, as for persons of several values."""
    from shoal.kernels.single.closeness import refined_steps
    from shoal.kernels.sums.exact import add_all_rows, new_sums
    from shoal.methods.t_closeness_merging import merged

    sums, labels, ids = new_sums(X), np.full(len(X), -1), np.arange(len(X))
    add_all_rows(sums, X)
    refined_steps(X, sums, rules.compiled, 0, False, labels, ids, len(X), 0, k, len(X))
    return merged(X, labels, rules, 0, None)


@pytest.mark.parametrize("distance", ["ordered", "ranks", "wasserstein", "equal", "kullback-leibler"])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_short_way_is_the_long_one_on_a_larger_table(distance, gaps):
    rng = np.random.default_rng(8)
    X, values = rng.normal(size=(300, 2)), np.round(rng.exponential(size=300), 1 if distance == "equal" else 3)
    places, codes = np.unique(values, return_inverse=True)
    codes[rng.random(300) < 0.1 * gaps] = -1
    coding = Coding("x", codes, tuple(map(str, places)), places, True)
    for k, t in ((1, 0.3), (3, 0.1), (7, 0.04), (20, 0.01)):
        rules = Rules.of([TCloseness(t, distance, on="x")], [coding])
        assert np.array_equal(KAnonymityFirst(k=k).fit(X, rules=rules).labels_, one_by_one(X, k, rules))


@given(close(most=40))
def test_every_group_has_k_records_and_is_within_t(case):
    case.holds(KAnonymityFirst(k=case.k).fit(case.X, rules=case.rules).labels_)


def test_groups_have_k_records_each_and_the_last_up_to_2k_minus_1_before_any_is_merged():
    rng = np.random.default_rng(1)
    rules = numeric_rules(TCloseness(0.05, "ranks", on="x"), rng.normal(size=103))
    labels = refined_groups(rng.normal(size=(103, 2)), 4, rules, 0, None)
    assert np.bincount(labels).tolist() == [4] * 24 + [7]


def test_a_member_makes_room_for_the_nearest_record_that_helps():
    X = np.array([[0.0], [0.1], [1.0], [8.8], [9.0], [9.2]])
    rules = numeric_rules(TCloseness(0.2, "ranks", on="x"), np.array([0, 1, 4, 2, 5, 3]))
    # Around 0.0: ranks 0 and 1 are at 0.4; rank 4 comes, and with 0 gone that is 2 / 15, less than with 1 gone.
    # Around 9.2: ranks 3 and 5 are at 0.3; rank 2 comes, and 0.2 is left whoever goes, so the first does.
    assert refined_groups(X, 2, rules, 0, None).tolist() == [2, 0, 0, 1, 2, 1]
    assert rules.judge(np.array([2, 0, 0, 1, 2, 1]))[0][0] == pytest.approx([2 / 15, 0.2, 0.2])


def test_replacing_members_merges_fewer_groups():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(400, 2))
    rules = numeric_rules(TCloseness(0.12, "ranks", on="x"), X[:, 0] + 0.3 * rng.normal(size=400))
    counts = [kind(k=4).fit(X, rules=rules).n_groups_ for kind in (TClosenessMerging, KAnonymityFirst)]
    assert 2 * counts[0] < counts[1]


@pytest.mark.parametrize("column", ["FEDTAX", "FICA"])
def test_census_is_within_t(shared, column):
    X, values = census(shared, column)
    for t in PUBLISHED_T:
        rules = numeric_rules(TCloseness(t, "ranks", on="x"), values)
        model = KAnonymityFirst(k=2).fit(X, rules=rules)
        assert model.sizes_.min() >= 2
        assert not rules.judge(model.labels_)[1].any()


def test_rules_without_t_closeness_are_an_error():
    rules = Rules.of([LDiversity(2, on="x")], [Coding("x", np.arange(9) % 3, tuple("abc"), None, False)])
    with pytest.raises(ShoalError, match="KAnonymityFirst groups records for t-closeness"):
        KAnonymityFirst(k=3).fit(np.zeros((9, 2)), rules=rules)


def test_progress_rises_with_rules_too():
    rng = np.random.default_rng(4)
    rules = numeric_rules(TCloseness(0.2, "ranks", on="x"), rng.normal(size=1000))
    calls = []
    KAnonymityFirst(k=2).fit(rng.normal(size=(1000, 2)), rules=rules, progress=lambda *call: calls.append(call))
    assert len(calls) > 2
    assert calls == sorted(calls)
    assert calls[-1] == (1000, 1000)


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(KAnonymityFirst(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(KAnonymityFirst(k=2))
