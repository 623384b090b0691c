import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from promises import demanding, lively
from samples import weighted_points
from shoal.kernels.exchanges.regroup import create, dissolve, split, weighted_sweep
from shoal.kernels.exchanges.weighted import exchange
from shoal.kernels.promises.rules import no_rules
from shoal.partition import compact, sse_of
from shoal.privacy.coding import Coding
from shoal.privacy.models import BetaLikeness, LDiversity
from shoal.privacy.rules import Rules
from weighed import is_consistent, ones, put_right, sse, start, weighed

STEPS = {
    "exchange": lambda groups: exchange(groups, 0, len(groups.size), 2.5, 0.0),
    "dissolve": lambda groups: dissolve(groups, 0, len(groups.size), 0.0),
    "create": lambda groups: create(groups, 0, len(groups.size), 0.0),
    "split": lambda groups: split(groups, 0, len(groups.size), 0.0),
}


@settings(max_examples=200)
@given(
    weighted_points(most=30),
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5),
    st.integers(0, 99),
    st.sampled_from(["records", "households", "large households"]),
)
def test_whatever_is_done_the_groups_hold_together_and_none_gets_worse(sample, steps, seed, kind):
    X, k, weights = sample
    weights = np.array(naive.below_one(weights))
    counts, records = ones(len(X)), 1
    if kind == "households" and k > 1:
        counts, records = np.random.default_rng(seed).integers(1, 4, len(X)), 2
    if kind == "large households":  # each of them has persons enough, so the number of households decides
        counts, records = np.full(len(X), k), k
    groups = weighed(X, start(len(X), k, seed), weights, counts, k, records)
    for step in steps:
        before = sse(X, groups.label, weights)
        STEPS[step](groups)
        is_consistent(groups)
        assert sse(X, groups.label, weights) <= before * (1 + 1e-9) + 1e-18 * np.abs(X).max() ** 2


def test_a_light_group_between_others_is_dissolved():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [0.05], [10.05], [10.15]])
    groups = weighed(X, np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), np.full(9, 0.5), ones(9), 3, 1)
    assert dissolve(groups, 0, len(groups.size), 0.0) == 1
    is_consistent(groups)
    assert np.asarray(groups.label).tolist() == [0, 0, 0, 1, 1, 1, 0, 1, 1]


def test_a_group_is_created_from_what_others_can_spare():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [5.0], [5.1], [5.2]])
    groups = weighed(X, np.array([0, 0, 0, 1, 1, 1, 0, 1, 1]), np.full(9, 0.5), ones(9), 3, 1)
    assert create(groups, 0, len(groups.size), 0.0) == 1
    is_consistent(groups)
    assert np.asarray(groups.label).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_group_is_split_where_both_parts_satisfy_the_demands():
    X = np.array([[0.0], [0.1], [9.0], [9.1], [9.2]])
    weights, counts = np.full(5, 0.5), np.array([3, 3, 2, 2, 2])
    whole = np.zeros(5, np.int64)
    groups = weighed(X, whole, weights, counts, 6, 2, 10)
    assert split(groups, 0, len(groups.size), 0.0) == 1
    assert len(set(groups.label[:2])) == len(set(groups.label[2:])) == 1
    assert split(groups := weighed(X, whole, weights, counts, 7, 2, 10), 0, len(groups.size), 0.0) == 0
    assert split(groups := weighed(X, whole, weights, counts, 6, 3, 10), 0, len(groups.size), 0.0) == 0


def test_a_new_group_in_the_place_of_a_dissolved_neighbour_is_a_neighbour_once():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [0.05], [10.05], [10.15]])
    groups = weighed(X, np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), np.full(9, 0.5), ones(9), 2, 1)
    assert groups.near[0].tolist() == [2, 1]
    assert dissolve(groups, 0, len(groups.size), 0.0) == 1
    assert split(groups, 0, len(groups.size), 0.0) == 2
    is_consistent(groups)
    assert groups.near[:3].tolist() == [[2, 1], [3, 2], [0, 1]]


def test_a_price_that_rounding_spoils_is_undone():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    weights = np.array(naive.below_one(10.0 ** rng.integers(-14, 15, 200)))
    groups = weighed(X, start(200, 4), weights, ones(200), 4, 1)
    error = groups.error.sum()
    for step in STEPS.values():
        step(groups)
        is_consistent(groups)
        assert groups.error.sum() <= error
        error = groups.error.sum()


def test_a_round_leaves_its_input_alone_and_is_the_same_every_time():
    rng = np.random.default_rng(3)
    X, weights, labels = rng.normal(size=(3000, 4)), rng.random(3000), start(3000, 5)
    before = labels.copy(), X.copy(), weights.copy()
    first, second = (
        weighted_sweep(X, labels, weights, ones(3000), 5, 1, 12, 0.0, no_rules(3000)) for _ in range(2)
    )
    assert all(np.array_equal(*pair) for pair in zip(before, (labels, X, weights), strict=True))
    assert np.array_equal(first, second)
    assert sse(X, first, weights) < 0.6 * sse(X, labels, weights)


# Under privacy models.


@settings(max_examples=300)
@given(
    demanding(),
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5),
    st.booleans(),
    st.sampled_from([2, 1000]),
)
def test_no_step_breaks_a_promise_and_none_gets_worse(case, steps, whole, near):
    groups = case.weighed(np.zeros_like(case.labels) if whole else case.labels, near)
    put_right(groups)
    for step in steps:
        before = np.asarray(groups.label).copy()
        STEPS[step](groups)
        is_consistent(groups)
        assert case.is_valid(groups.label)
        assert case.is_no_worse(groups.label, before)


@settings(max_examples=100)
@given(demanding())
def test_a_round_breaks_no_promise(case):
    groups = case.weighed(case.labels)
    put_right(groups)
    labels = np.unique(groups.label, return_inverse=True)[1].astype(np.int64)
    own = case.demands
    found = weighted_sweep(
        case.X, labels, case.weights, own.counts, own.least_count, own.least_records, 12, 0.0, own.rules.compiled
    )
    assert case.is_valid(found)
    assert case.is_no_worse(found, labels)


def diverse(texts, l=2):  # noqa: E741
    line = sorted(set(texts))
    codes = np.array([line.index(text) for text in texts])
    return Rules.of([LDiversity(l, on="x")], [Coding("x", codes, tuple(line), None, False)])


def test_a_group_is_split_where_both_parts_keep_the_promise_and_not_where_the_least_is_lost():
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    whole, weights = np.zeros(6, np.int64), np.full(6, 0.5)
    for texts, parts in (("ababab", [3, 3]), ("aabbab", [3, 3]), ("aaabab", [4, 2]), ("aaaaab", [6])):
        groups = weighed(X, whole, weights, ones(6), 2, 1, rules=diverse(texts))
        split(groups, 0, len(groups.size), 0.0)
        is_consistent(groups)
        sizes = np.bincount(groups.label)
        assert sorted(sizes[sizes > 0], reverse=True) == parts, texts


def test_a_group_is_dissolved_only_where_its_records_break_nothing():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [0.05], [10.05], [10.15]])
    labels, weights = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), np.full(9, 0.5)
    for texts, gone in (("abaabaabb", 1), ("ab" * 4 + "a", 1)):
        groups = weighed(X, labels, weights, ones(9), 3, 1, rules=diverse(texts))
        assert dissolve(groups, 0, len(groups.size), 0.0) == gone
        is_consistent(groups)
    # Three values in three records: one more record would be too large a share of one of them.
    groups = weighed(X, labels, weights, ones(9), 3, 1, rules=likeness("abcabcabc"))
    assert dissolve(groups, 0, len(groups.size), 0.0) == 0


def likeness(texts):
    line = sorted(set(texts))
    codes = np.array([line.index(text) for text in texts])
    return Rules.of([BetaLikeness(0.0, on="x")], [Coding("x", codes, tuple(line), None, False)])


def test_a_group_is_created_where_it_and_those_that_are_left_keep_the_promise():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [5.0], [5.1], [5.2]])
    labels, weights = np.array([0, 0, 0, 1, 1, 1, 0, 1, 1]), np.full(9, 0.5)
    groups = weighed(X, labels, weights, ones(9), 3, 1, rules=diverse("abaababba"))
    assert create(groups, 0, len(groups.size), 0.0) == 1
    is_consistent(groups)
    assert np.asarray(groups.label).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    groups = weighed(X, labels, weights, ones(9), 3, 1, rules=diverse("aaaaaabbb"))
    assert create(groups, 0, len(groups.size), 0.0) == 0
    assert np.asarray(groups.label).tolist() == labels.tolist()


def test_of_many_groups_that_just_keep_their_promises_none_is_broken_by_any_step():
    made = dict.fromkeys(STEPS, 0)
    for seed in range(80):
        case = lively(seed, k=2 + seed % 3)
        groups = case.weighed(case.labels)
        put_right(groups)
        for step in ("dissolve", "split", "create", "exchange", "dissolve", "split", "create"):
            before = np.asarray(groups.label).copy()
            made[step] += STEPS[step](groups)
            is_consistent(groups)
            assert case.is_valid(groups.label), (seed, step)
            assert case.is_no_worse(groups.label, before)
    assert min(made.values()) >= 5, made


@pytest.mark.parametrize("slice_", [1, 10**9])
def test_a_round_that_is_ended_anywhere_is_valid_and_no_worse(slice_, monkeypatch):
    monkeypatch.setattr("shoal.kernels.exchanges.groups.SLICE", slice_)
    rng = np.random.default_rng(3)
    X, weights, counts = rng.normal(size=(60, 2)), rng.uniform(0.1, 0.9, 60), ones(60)
    labels, errors = rng.permutation(np.arange(60) % 15), []
    for most in (0, 1, 3, 8, 20, 10**9):
        looks = iter(range(most))
        found = weighted_sweep(
            X, labels, weights, counts, 4, 1, 12, 0.0, no_rules(60), lambda looks=looks: next(looks, -1) < 0
        )
        errors.append(sse_of(X, compact(found), weights))
        assert np.bincount(found)[np.bincount(found) > 0].min() >= 4
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.7 * errors[0]
    if slice_ == 10**9:
        assert np.array_equal(found, weighted_sweep(X, labels, weights, counts, 4, 1, 12, 0.0, no_rules(60)))
