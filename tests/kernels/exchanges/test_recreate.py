import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.exchanges.local import LARGE, new_local
from shoal.kernels.exchanges.recreate import anneal, new_state


def start(n, k, seed=0):
    """Groups of k to 2k - 1 in no order."""
    sizes = [k] * (n // k)
    for extra in range(n % k):
        sizes[extra % len(sizes)] += 1
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))


def sse(X, labels):
    return naive.sse(X.tolist(), [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)])


def is_consistent(state, k):
    """Members, labels, sizes, free numbers and neighbours tell the same story, within k and 2k - 1."""
    there = np.flatnonzero(state.size)
    assert np.array_equal(np.bincount(state.label, minlength=len(state.size)), state.size)
    for g in there:
        assert sorted(state.members[g, : state.size[g]]) == np.flatnonzero(state.label == g).tolist()
        assert g not in state.near[g]
    assert state.size[there].min() >= k
    assert state.size[there].max() <= 2 * k - 1
    free = state.free[: state.free[-1]]
    assert sorted([*free, *there]) == list(range(len(state.size)))


@settings(max_examples=150, deadline=None)
@given(points(most=40), st.integers(0, 99), st.sampled_from([0.0, 0.1, 10.0]))
def test_whatever_is_done_the_groups_hold_together(sample, seed, heat):
    X, k = sample
    labels = start(len(X), k, seed)
    state = new_state(X, labels, k, seed)
    before = sse(X, labels)
    anneal(state, new_local(X.shape[1], k, 4), k, 4, 50, heat, 0.1 * heat, 1e-12 * before)
    is_consistent(state, k)
    assert sse(X, state.best) <= before * (1 + 1e-9) + 1e-9
    sizes = np.bincount(state.best)
    assert sizes[sizes > 0].min() >= k


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 50), st.booleans(), st.sampled_from([0.01, 10.0]))
def test_groups_that_are_dissolved_in_part_hold_together(seed, more, tied, heat):
    k = LARGE
    rng = np.random.default_rng(seed)
    n = 40 + more
    X = rng.integers(0, 2, (n, 2)).astype(float) if tied else rng.normal(size=(n, 3))
    labels = start(n, k, seed)
    state = new_state(X, labels, k, seed)
    anneal(state, new_local(X.shape[1], k, 3), k, 3, 40, heat, 0.1 * heat, 1e-12 * sse(X, labels))
    is_consistent(state, k)
    assert state.value[0] == pytest.approx(sse(X, state.label), rel=1e-9, abs=1e-9)
    assert sse(X, state.best) <= sse(X, labels) * (1 + 1e-9) + 1e-9


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_the_running_sse_is_that_of_the_groups_from_scratch(seed, k):
    X = np.random.default_rng(seed).normal(size=(60, 3))
    state = new_state(X, start(60, k, seed), k, seed)
    for _ in range(8):
        anneal(state, new_local(3, k, 3), k, 3, 3, 0.5, 0.5, 1e-12)
        assert state.value[0] == pytest.approx(sse(X, state.label), rel=1e-9)
        assert state.sse[state.size > 0].sum() == pytest.approx(state.value[0], rel=1e-9)
        for g in np.flatnonzero(state.size):
            assert state.centre[g] == pytest.approx(X[state.label == g].mean(axis=0), abs=1e-9)
    assert state.value[1] == pytest.approx(sse(X, state.best), rel=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_few_records_come_to_their_optimum(seed, k):
    X = np.random.default_rng(seed).normal(size=(9, 2))
    state = new_state(X, start(9, k, seed), k, seed)
    anneal(state, new_local(2, k, 4), k, 4, 2000, 1.0, 0.01, 1e-12)
    assert sse(X, state.best) == pytest.approx(naive.optimum(X, k)[0], rel=1e-9)


def test_heat_is_relative_so_that_scale_does_not_matter():
    X = np.random.default_rng(4).normal(size=(90, 3))
    ends = []
    for exponent in (0, 400, -400):
        state = new_state(np.ldexp(X, exponent), start(90, 3), 3, 7)
        anneal(state, new_local(3, 3, 4), 3, 4, 500, 0.3, 0.01, 1e-12 * float(state.value[0]))
        ends.append(state.label.copy())
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])


def test_the_same_seed_does_the_same_and_leaves_its_input_alone():
    X = np.random.default_rng(3).normal(size=(300, 4))
    labels = start(300, 3)
    kept = X.copy(), labels.copy()
    ends = []
    for _ in range(2):
        state = new_state(X, labels, 3, 7)
        for _ in range(3):
            anneal(state, new_local(4, 3, 4), 3, 4, 2000, 0.5, 0.05, 1e-9)
        ends.append(state.best.copy())
    assert np.array_equal(ends[0], ends[1])
    assert sse(X, ends[0]) < 0.5 * sse(X, labels)
    assert np.array_equal(X, kept[0])
    assert np.array_equal(labels, kept[1])
