import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promises import demanding
from shoal.kernels.compiled import kernel
from shoal.kernels.exchanges.repair import cost_of_merging, excess_of_both, merge, repaired_groups
from shoal.kernels.exchanges.weighted import settle
from shoal.kernels.promises.rules import no_rules
from shoal.privacy.coding import Coding
from shoal.privacy.models import AlphaK, LDiversity, TCloseness
from shoal.privacy.rules import Rules
from weighed import is_consistent, members_of, ones, put_right, start, weighed


@kernel
def merging(groups, g, h):
    """What the excess of two groups as one is, and what it costs; then they are merged."""
    found = excess_of_both(groups, g, h), cost_of_merging(groups, g, h)
    merge(groups, g, h)
    settle(groups, g)
    return found


def rules_on(texts, *models):
    line = sorted(set(texts) - {"."})
    codes = np.array([-1 if text == "." else line.index(text) for text in texts])
    return Rules.of(models, [Coding("x", codes, tuple(line), None, False)] * len(models))


def excess_of(rules, labels):
    """How far all groups are from all promises together."""
    return rules.judge(np.unique(labels, return_inverse=True)[1])[1].sum()


@settings(max_examples=400)
@given(demanding(), st.sampled_from([1, 3, 1000]))
def test_every_group_keeps_all_promises_and_has_enough_records(case, near):
    groups = case.weighed(case.labels, near)
    put_right(groups)
    is_consistent(groups)
    assert case.is_valid(groups.label)
    assert excess_of(case.demands.rules, groups.label) == 0.0


@settings(max_examples=100)
@given(demanding())
def test_groups_that_keep_all_promises_are_left_alone(case):
    groups = case.weighed(case.labels)
    put_right(groups)
    labels = np.asarray(groups.label).astype(np.int64)
    again = case.weighed(np.unique(labels, return_inverse=True)[1])
    before = np.asarray(again.label).tolist()
    put_right(again)
    assert np.asarray(again.label).tolist() == before


@settings(max_examples=200)
@given(demanding(joinable=True))
def test_there_are_never_more_groups_and_never_more_excess(case):
    groups = case.weighed(case.labels)
    before = excess_of(case.demands.rules, case.labels)
    put_right(groups)
    assert len(set(groups.label.tolist())) <= case.labels.max() + 1
    assert excess_of(case.demands.rules, groups.label) <= before


@settings(max_examples=200)
@given(demanding(), st.data())
def test_the_excess_of_two_groups_is_that_of_the_merged_one(case, data):
    groups = case.weighed(case.labels)
    count = case.labels.max() + 1
    if count < 2:
        return
    g, h = data.draw(st.permutations(range(count)))[:2]
    before = groups.error[g] + groups.error[h]
    excess, cost = merging(groups, g, h)
    is_consistent(groups)
    assert members_of(groups, h) == []
    labels = np.where(case.labels == h, g, case.labels)
    assert case.demands.rules.judge(labels)[1][:, g].sum() == pytest.approx(excess, abs=1e-12)
    scale = np.abs(case.X).max() ** 2
    assert groups.error[g] == pytest.approx(before + cost, rel=1e-6, abs=1e-12 * scale)


def test_two_records_change_places_where_that_costs_least():
    X = np.array([[0.0], [1.0], [1.1], [2.0], [50.0], [51.0]])
    rules = rules_on("aabbab", LDiversity(2, on="x"))
    groups = weighed(X, np.array([0, 0, 1, 1, 2, 2]), np.ones(6), ones(6), 2, 1, rules=rules)
    put_right(groups)
    assert np.asarray(groups.label).tolist() == [0, 1, 0, 1, 2, 2]  # 1.0 and 1.1, not 0.0 and 2.0


def test_a_record_that_can_be_spared_comes_where_that_costs_least():
    X = np.array([[0.0], [1.0], [1.1], [5.0], [5.1]])
    rules = rules_on("aabab", LDiversity(2, on="x"))
    groups = weighed(X, np.array([0, 0, 1, 1, 1]), np.ones(5), ones(5), 2, 1, rules=rules)
    put_right(groups)
    assert np.asarray(groups.label).tolist() == [0, 0, 0, 1, 1]


def test_groups_are_merged_where_nothing_else_helps():
    X = np.array([[0.0], [1.0], [5.0], [5.1], [50.0], [51.0]])
    rules = rules_on("aaabab", LDiversity(2, on="x"))
    groups = weighed(X, np.array([0, 0, 1, 1, 2, 2]), np.ones(6), ones(6), 2, 1, rules=rules)
    put_right(groups)
    assert len({*groups.label[:4].tolist()}) == 1
    assert len({*groups.label.tolist()}) == 2


def test_a_value_that_only_a_far_group_has_is_found():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + 99])
    rules = rules_on("a" * 30 + "ab" * 15, LDiversity(2, on="x"))
    groups = weighed(X, np.arange(60) // 3, np.ones(60), ones(60), 3, 1, near=2, rules=rules)
    put_right(groups)
    is_consistent(groups)
    assert excess_of(rules, groups.label) == 0.0
    assert len({*groups.label.tolist()}) >= 10  # fifteen records have b


def test_one_group_is_left_where_nothing_less_keeps_the_promises():
    X, rules = np.random.default_rng(2).normal(size=(20, 2)), rules_on("a" * 19 + "b", LDiversity(2, on="x"))
    groups = weighed(X, start(20, 4), np.ones(20), ones(20), 4, 1, rules=rules)
    put_right(groups)
    assert len({*groups.label.tolist()}) == 1


@pytest.mark.parametrize("seed", range(3))
def test_large_tables_with_several_models_are_put_right_and_most_groups_stay(seed):
    rng = np.random.default_rng(seed)
    X, texts = rng.normal(size=(3000, 3)), "".join(rng.choice(list("aaaabbc."), 3000))
    rules = rules_on(texts, LDiversity(2, on="x"), AlphaK(0.8, on="x"), TCloseness(0.45, "equal", on="x"))
    labels = start(3000, 6, seed)
    first, second = (
        repaired_groups(X, labels, np.ones(3000), ones(3000), 6, 1, 16, rules.compiled) for _ in range(2)
    )
    assert np.array_equal(first, second)
    found = np.unique(first, return_inverse=True)[1]
    assert np.bincount(found).min() >= 6
    assert not len(rules.broken(found))
    kept = set(range(500)) - set(rules.broken(labels).tolist())
    same = [group for group in kept if len(set(first[labels == group])) == 1]
    assert len(same) > 0.5 * len(kept)


def test_without_models_nothing_is_changed():
    X, labels = np.random.default_rng(3).normal(size=(40, 2)), start(40, 3)
    assert np.array_equal(repaired_groups(X, labels, np.ones(40), ones(40), 3, 1, 9, no_rules(40)), labels)
