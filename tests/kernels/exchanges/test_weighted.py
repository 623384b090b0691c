import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from promises import demanding, lively
from samples import weighted_points
from shoal.kernels.compiled import kernel
from shoal.kernels.exchanges.weighted import excess_with, exchange, keeps
from weighed import is_consistent, ones, put_right, sse, start, weighed

COUNTS = {  # how many persons records have, and how many records a group must have: only one of both may decide
    "records": lambda n, k, rng: (ones(n), 1),
    "households": lambda n, k, rng: (rng.integers(1, 4, n), min(2, k)),
    "large households": lambda n, k, rng: (np.full(n, k), min(2, k)),
    "many households": lambda n, k, rng: (np.full(n, k), k),
}


@settings(max_examples=150)
@given(weighted_points(most=30), st.sampled_from(sorted(COUNTS)), st.integers(0, 99), st.integers(1, 3))
def test_exchanges_hold_groups_together_and_none_gets_worse(sample, kind, seed, rounds):
    X, k, weights = sample
    weights = np.array(naive.below_one(weights))
    counts, records = COUNTS[kind](len(X), k, np.random.default_rng(seed))
    groups = weighed(X, start(len(X), k, seed), weights, counts, k, records)
    for _ in range(rounds):
        before = sse(X, groups.label, weights)
        exchange(groups, 0, groups.size.size, 2.5, 0.0)
        is_consistent(groups)
        assert sse(X, groups.label, weights) <= before * (1 + 1e-9) + 1e-18 * np.abs(X).max() ** 2


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from(sorted(COUNTS)))
def test_at_the_end_no_move_and_no_swap_gains(seed, k, kind):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(14, 2)), rng.choice([0.0, 0.1, 0.3, 0.9], 14)
    counts, records = COUNTS[kind](14, k, rng)
    groups = weighed(X, start(14, k, seed), weights, counts, k, records)
    while exchange(groups, 0, groups.size.size, np.inf, 1e-12):
        pass
    labels, least = np.asarray(groups.label), sse(X, groups.label, weights) - 1e-9

    def allowed(labels):
        totals, sizes = np.bincount(labels, counts), np.bincount(labels)
        return totals[sizes > 0].min() >= k and sizes[sizes > 0].min() >= records

    assert allowed(labels)
    for i in range(14):
        for j in range(14):
            swapped = labels.copy()
            swapped[[i, j]] = labels[[j, i]]
            assert not allowed(swapped) or sse(X, swapped, weights) > least
        for g in np.unique(labels):
            moved = labels.copy()
            moved[i] = g
            fewer = len(np.unique(moved)) < len(np.unique(labels))
            assert fewer or not allowed(moved) or sse(X, moved, weights) > least


def test_a_record_leaves_only_where_enough_persons_and_enough_records_stay():
    # The record at 8.9 belongs to the other group.
    X, labels, weights = np.array([[0.0], [8.9], [9.0], [9.1]]), np.array([0, 0, 1, 1]), np.full(4, 0.5)
    for counts, least_count, least_records, leaves in (
        (np.full(4, 5), 5, 1, True),
        (np.full(4, 5), 5, 2, False),  # a household alone, although it has five persons
        (np.full(4, 5), 6, 1, False),  # five persons, although one household would do
    ):
        groups = weighed(X, labels, weights, counts, least_count, least_records)
        exchange(groups, 0, groups.size.size, 1e9, 0.0)
        is_consistent(groups)
        assert np.asarray(groups.label).tolist() == ([0, 1, 1, 1] if leaves else [0, 0, 1, 1])


def test_a_chain_goes_where_no_move_and_no_swap_does():
    # 0 belongs to the second group and 5 to the third; the second has no record to spare.
    X = np.array([[4.0], [0.0], [0.1], [5.0], [5.2], [9.0], [10.0], [10.2]])
    groups = weighed(X, np.array([0, 0, 0, 1, 1, 1, 2, 2]), np.full(8, 0.5), ones(8), 2, 1)
    exchange(groups, 0, groups.size.size, 1e9, 0.0)
    is_consistent(groups)
    assert np.asarray(groups.label).tolist() == [1, 0, 0, 1, 1, 2, 2, 2]


@settings(max_examples=200)
@given(demanding(), st.sampled_from([2, 1000]), st.sampled_from([0.0, 2.5, np.inf]))
def test_exchanges_break_no_promise_and_none_gets_worse(case, near, reach):
    groups = case.weighed(case.labels, near)
    put_right(groups)
    assert case.is_valid(groups.label)
    for _ in range(3):
        before = np.asarray(groups.label).copy()
        exchange(groups, 0, groups.size.size, reach, 0.0)
        is_consistent(groups)
        assert case.is_valid(groups.label)
        assert case.is_no_worse(groups.label, before)


@kernel
def excess_and_verdict(groups, g, out, into, most):
    return excess_with(groups, g, out, into, most), keeps(groups, g, out, into)


@settings(max_examples=150)
@given(demanding(), st.data())
def test_the_excess_of_a_changed_group_is_that_of_the_group_after_the_change(case, data):
    groups, n = case.weighed(case.labels), len(case.labels)
    x, y = data.draw(st.integers(-1, n - 1)), data.draw(st.integers(-1, n - 1))
    g = int(case.labels[x]) if x >= 0 else data.draw(st.integers(0, int(case.labels.max())))
    if y >= 0 and case.labels[y] == g:
        y = -1
    labels = case.labels.copy()
    own = [i for i in range(n) if (labels[i] == g and i != x) or i == y]
    apart = np.ones(n, np.int64)
    apart[own] = 0
    expected = case.demands.rules.judge(apart)[1][:, 0].sum() if own and not apart.all() else None
    found, holds = excess_and_verdict(groups, g, x, y, np.inf)
    if expected is not None:
        assert abs(found - expected) < 1e-12
        assert holds == (expected == 0.0)
    assert (excess_and_verdict(groups, g, x, y, found / 2)[0] > found / 2) == (found > 0.0)  # it may stop early


@settings(max_examples=40)
@given(demanding(most=14))
def test_at_the_end_no_move_and_no_swap_that_keeps_the_promises_gains(case):
    if np.abs(case.X).max() > 1e6:  # differences of such errors are rounding
        return
    groups, n = case.weighed(case.labels), len(case.labels)
    put_right(groups)
    while exchange(groups, 0, groups.size.size, np.inf, 1e-9):
        pass
    labels, least = np.asarray(groups.label), case.sse(groups.label) - 1e-6
    for i in range(n):
        for j in range(n):
            swapped = labels.copy()
            swapped[[i, j]] = labels[[j, i]]
            assert case.sse(swapped) > least or not case.is_valid(swapped)
        for g in np.unique(labels):
            moved = labels.copy()
            moved[i] = g
            assert case.sse(moved) > least or not case.is_valid(moved)


def test_of_many_groups_that_just_keep_their_promises_none_is_broken_by_exchanges():
    gained = 0
    for seed in range(60):
        case = lively(seed)
        groups = case.weighed(case.labels)
        put_right(groups)
        before = np.asarray(groups.label).copy()
        for _ in range(4):
            exchange(groups, 0, groups.size.size, 1e9, 0.0)
            is_consistent(groups)
            assert case.is_valid(groups.label)
        assert case.is_no_worse(groups.label, before)
        gained += case.sse(groups.label) < 0.9 * case.sse(before)
    assert gained > 50
