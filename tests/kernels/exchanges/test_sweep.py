import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.exchanges.sweep import (
    create,
    cycles,
    dissolve,
    exchange,
    new_sweep,
    sweep,
)


def sse(X, labels):
    return naive.sse(X.tolist(), [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)])


def start(n, k, seed=0):
    """Groups of k to 2k - 1 in no order."""
    sizes = [k] * (n // k)
    for extra in range(n % k):
        sizes[extra % len(sizes)] += 1
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))


def is_consistent(groups, k):
    """Members, labels, sizes, centroids and distances tell the same story, within k and 2k - 1."""
    label = np.asarray(groups.label)
    assert np.array_equal(np.bincount(label, minlength=len(groups.size)), groups.size)
    scale = np.abs(groups.rows).max() + 1e-300
    for g in np.flatnonzero(groups.size):
        members = groups.members[g, : groups.size[g]]
        assert sorted(members) == np.flatnonzero(label == g).tolist()
        mean = groups.rows[members].mean(axis=0)
        assert groups.centre[g] == pytest.approx(mean, rel=1e-6, abs=1e-9 * scale)
    there = groups.size[groups.size > 0]
    assert there.min() >= k
    assert there.max() <= max(2 * k - 1, 1)


def whole(step, groups, *rest):
    """A step over all groups, and all their slots where it takes these."""
    room, most = groups.members.shape
    slots = (0, most) if step in (exchange, cycles) else ()
    return step(groups, 0, room, *slots, *rest)


STEPS = {
    "exchange": lambda groups, k: whole(exchange, groups, k, 2.5, 0.0),
    "dissolve": lambda groups, k: whole(dissolve, groups, k, 0.0),
    "create": lambda groups, k: whole(create, groups, k, 0.0),
    "cycles": lambda groups, k: whole(cycles, groups, 2.5, 0.0),
}


@settings(max_examples=150)
@given(points(most=40), st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5), st.integers(0, 99))
def test_whatever_is_done_the_groups_hold_together_and_none_gets_worse(sample, steps, seed):
    X, k = sample
    groups = new_sweep(X, start(len(X), k, seed), k, 1000)
    for step in steps:
        before = sse(X, groups.label)
        STEPS[step](groups, k)
        is_consistent(groups, k)
        assert sse(X, groups.label) <= before * (1 + 1e-9) + 1e-9


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(10, 24), st.sampled_from([0.8, 1.5, 1e9]))
def test_exchanges_are_those_of_the_naive_twin(seed, k, n, reach):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    groups = new_sweep(X, start(n, k, seed), k, 1000)
    slow = [groups.members[g, : groups.size[g]].tolist() for g in range(len(groups.size))]
    for _ in range(3):
        whole(exchange, groups, k, reach, 1e-12)
        naive.exchanges(X, slow, k, reach)
        for g, members in enumerate(slow):
            assert groups.members[g, : groups.size[g]].tolist() == members


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(15, 40), st.sampled_from([1.5, 2.5, 1e9]))
def test_cycles_are_those_of_the_naive_twin(seed, k, n, reach):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * 10.0 ** rng.uniform(-2, 2, n)[:, None]  # some far out
    groups = new_sweep(X, start(n, k, seed), k, 1000)
    slow = [groups.members[g, : groups.size[g]].tolist() for g in range(len(groups.size))]
    for _ in range(2):
        whole(cycles, groups, reach, 1e-12)
        naive.cycles(X, slow, reach)
        for g, members in enumerate(slow):
            assert groups.members[g, : groups.size[g]].tolist() == members


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_at_the_end_no_move_and_no_swap_gains(seed, k):
    X = np.random.default_rng(seed).normal(size=(14, 2))
    groups = new_sweep(X, start(14, k, seed), k, 1000)
    while whole(exchange, groups, k, np.inf, 1e-12):
        pass
    labels, least = np.asarray(groups.label), sse(X, groups.label) - 1e-9
    for i in range(14):
        for j in range(14):
            swapped = labels.copy()
            swapped[[i, j]] = labels[[j, i]]
            assert sse(X, swapped) > least
        for g in np.unique(labels):
            moved = labels.copy()
            moved[i] = g
            sizes = np.bincount(moved)[np.unique(labels)]
            assert sizes.min() < k or sizes.max() >= 2 * k or sse(X, moved) > least


def test_a_group_between_others_is_dissolved():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [0.05], [10.05], [10.15]])
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    groups = new_sweep(X, labels, 3, 1000)
    assert whole(dissolve, groups, 3, 0.0) == 1
    is_consistent(groups, 3)
    assert np.asarray(groups.label).tolist() == [0, 0, 0, 1, 1, 1, 0, 1, 1]


def test_a_group_is_created_from_what_others_can_spare():
    X = np.array([[0.0], [0.1], [0.2], [10.0], [10.1], [10.2], [5.0], [5.1], [5.2]])
    groups = new_sweep(X, np.array([0, 0, 0, 1, 1, 1, 0, 1, 1]), 3, 1000)
    assert whole(create, groups, 3, 0.0) == 1
    is_consistent(groups, 3)
    assert np.asarray(groups.label).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_cycle_of_three_goes_where_no_swap_does():
    # three pairs on a triangle, in each the second record belongs to the next pair
    corner = np.array([[0.0, 0.0], [10.0, 0.0], [5.0, 8.66]])
    X = np.repeat(corner, 2, axis=0)
    labels = np.array([0, 2, 1, 0, 2, 1])
    groups = new_sweep(X, labels, 2, 1000)
    assert whole(cycles, groups, 1e9, 0.0) >= 1
    is_consistent(groups, 2)
    assert sse(X, groups.label) == 0.0


def test_a_round_leaves_its_input_alone_and_is_the_same_every_time():
    X = np.random.default_rng(3).normal(size=(3000, 4))
    labels = start(3000, 5)
    before = labels.copy(), X.copy()
    first, second = sweep(X, labels, 5, 12, 0.0), sweep(X, labels, 5, 12, 0.0)
    assert np.array_equal(labels, before[0])
    assert np.array_equal(X, before[1])
    assert np.array_equal(first, second)
    assert sse(X, first) < 0.6 * sse(X, labels)


@pytest.mark.parametrize("slice_", [1, 200, 10**9])
def test_a_round_that_is_ended_anywhere_is_valid_and_no_worse(slice_, monkeypatch):
    monkeypatch.setattr("shoal.kernels.exchanges.groups.SLICE", slice_)
    X = np.random.default_rng(3).normal(size=(120, 2))
    labels, errors, slices = start(120, 6), [], 0
    for most in (0, 1, 2, 3, 5, 20, 100, 10**9):
        looks = iter(range(most))
        asked = []
        found = sweep(
            X, labels, 6, 12, 0.0, lambda looks=looks, asked=asked: asked.append(1) or next(looks, -1) < 0
        )
        slices = len(asked)
        errors.append(sse(X, found))
        assert np.bincount(found)[np.bincount(found) > 0].min() >= 6
        assert np.bincount(found).max() <= 11
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == pytest.approx(sse(X, labels))
    assert errors[-1] < 0.7 * errors[0]
    assert slices >= {1: 600, 200: 20, 10**9: 5}[slice_]
    if slice_ == 10**9:
        assert np.array_equal(found, sweep(X, labels, 6, 12, 0.0))
