import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import weighted_points
from shoal.kernels.exchanges.weighted import (
    create,
    dissolve,
    exchange,
    new_weighed,
    split,
    weighted_sweep,
)


def sse(X, labels, weights):
    groups = [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]
    return naive.sse(X.tolist(), groups, weights.tolist())


def start(n, k, seed=0):
    """Groups of k or more in no order."""
    return np.random.default_rng(seed).permutation(np.minimum(np.arange(n) // k, n // k - 1))


def ones(n):
    return np.ones(n, np.int64)


def members_of(groups, g):
    """The records of a group, along its list."""
    found, i = [], groups.head[g]
    while i >= 0:
        assert groups.before[i] == (found[-1] if found else -1)
        found.append(int(i))
        i = groups.after[i]
    return found


def is_consistent(groups):
    """All that is known of a group is what its records say, the demands hold, and a neighbour is another group."""
    scale = float(np.abs(groups.rows).max()) + 1e-300
    listed = []
    for g in range(len(groups.size)):
        members = members_of(groups, g)
        listed += members
        assert len(members) == groups.size[g]
        assert groups.total[g] == groups.counts[members].sum()
        assert (groups.label[members] == g).all()
        near = [b for b in groups.near[g].tolist() if b >= 0]
        assert len({g, *near}) == 1 + len(near)
        if not members:
            continue
        assert groups.total[g] >= groups.least_count
        assert groups.size[g] >= groups.least_records
        weights = groups.weight[members]
        assert groups.mass[g] == pytest.approx(weights.sum())
        mean = naive.mean(groups.rows[members].tolist(), weights.tolist())
        assert groups.centre[g] == pytest.approx(mean, rel=1e-6, abs=1e-9 * scale)
        error = naive.group_sse(groups.rows.tolist(), members, groups.weight.tolist())
        assert groups.error[g] == pytest.approx(error, rel=1e-6, abs=1e-18 * scale**2)
    assert sorted(listed) == list(range(len(groups.label)))


STEPS = {
    "exchange": lambda groups: exchange(groups, 2.5, 0.0),
    "dissolve": lambda groups: dissolve(groups, 0.0),
    "create": lambda groups: create(groups, 0.0),
    "split": lambda groups: split(groups, 0.0),
}


@settings(max_examples=150)
@given(
    weighted_points(most=30),
    st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5),
    st.integers(0, 99),
    st.booleans(),
)
def test_whatever_is_done_the_groups_hold_together_and_none_gets_worse(sample, steps, seed, households):
    X, k, weights = sample
    weights = np.array(naive.below_one(weights))
    counts, records = ones(len(X)), 1
    labels = start(len(X), k, seed)
    if households and k > 1:
        counts, records = np.random.default_rng(seed).integers(1, 4, len(X)), 2
    groups = new_weighed(X, labels, weights, counts, k, records, 1000)
    for step in steps:
        before = sse(X, groups.label, weights)
        STEPS[step](groups)
        is_consistent(groups)
        assert sse(X, groups.label, weights) <= before * (1 + 1e-9) + 1e-18 * np.abs(X).max() ** 2


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans())
def test_at_the_end_no_move_and_no_swap_gains(seed, k, households):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(14, 2)), rng.choice([0.0, 0.1, 0.3, 0.9], 14)
    counts = rng.integers(1, 4, 14) if households else ones(14)
    groups = new_weighed(X, start(14, k, seed), weights, counts, k, 2, 1000)
    while exchange(groups, np.inf, 1e-12):
        pass
    labels, least = np.asarray(groups.label), sse(X, groups.label, weights) - 1e-9

    def allowed(labels):
        totals = np.bincount(labels, counts)
        return totals[totals > 0].min() >= k and np.bincount(labels)[np.unique(labels)].min() >= 2

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


def test_a_chain_goes_where_no_move_and_no_swap_does():
    # 0 belongs to the second group and 5 to the third; the second has no record to spare.
    X = np.array([[4.0], [0.0], [0.1], [5.0], [5.2], [9.0], [10.0], [10.2]])
    groups = new_weighed(X, np.array([0, 0, 0, 1, 1, 1, 2, 2]), np.full(8, 0.5), ones(8), 2, 1, 1000)
    exchange(groups, 1e9, 0.0)
    is_consistent(groups)
    assert np.asarray(groups.label).tolist() == [1, 0, 0, 1, 1, 2, 2, 2]


def test_a_light_group_between_others_is_dissolved():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [0.05], [10.05], [10.15]])
    groups = new_weighed(X, np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), np.full(9, 0.5), ones(9), 3, 1, 1000)
    assert dissolve(groups, 0.0) == 1
    is_consistent(groups)
    assert np.asarray(groups.label).tolist() == [0, 0, 0, 1, 1, 1, 0, 1, 1]


def test_a_group_is_created_from_what_others_can_spare():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [5.0], [5.1], [5.2]])
    groups = new_weighed(X, np.array([0, 0, 0, 1, 1, 1, 0, 1, 1]), np.full(9, 0.5), ones(9), 3, 1, 1000)
    assert create(groups, 0.0) == 1
    is_consistent(groups)
    assert np.asarray(groups.label).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_group_is_split_where_both_parts_satisfy_the_demands():
    X = np.array([[0.0], [0.1], [9.0], [9.1], [9.2]])
    weights, counts = np.full(5, 0.5), np.array([3, 3, 2, 2, 2])
    whole = np.zeros(5, np.int64)
    assert split(groups := new_weighed(X, whole, weights, counts, 6, 2, 10), 0.0) == 1
    assert len(set(groups.label[:2])) == len(set(groups.label[2:])) == 1
    assert split(new_weighed(X, whole, weights, counts, 7, 2, 10), 0.0) == 0
    assert split(new_weighed(X, whole, weights, counts, 6, 3, 10), 0.0) == 0


def test_a_new_group_in_the_place_of_a_dissolved_neighbour_is_a_neighbour_once():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [0.05], [10.05], [10.15]])
    groups = new_weighed(X, np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), np.full(9, 0.5), ones(9), 2, 1, 1000)
    assert groups.near[0].tolist() == [2, 1]
    assert dissolve(groups, 0.0) == 1
    assert split(groups, 0.0) == 2
    is_consistent(groups)
    assert groups.near[:3].tolist() == [[2, 1], [3, 2], [0, 1]]


def test_a_price_that_rounding_spoils_is_undone():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    weights = np.array(naive.below_one(10.0 ** rng.integers(-14, 15, 200)))
    groups = new_weighed(X, start(200, 4), weights, ones(200), 4, 1, 1000)
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
    first, second = (weighted_sweep(X, labels, weights, ones(3000), 5, 1, 12, 0.0) for _ in range(2))
    assert all(np.array_equal(*pair) for pair in zip(before, (labels, X, weights), strict=True))
    assert np.array_equal(first, second)
    assert sse(X, first, weights) < 0.6 * sse(X, labels, weights)
