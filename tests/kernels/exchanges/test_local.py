import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal.kernels.exchanges.local import (
    LARGE,
    LOOSE,
    PLACES,
    choose,
    draw,
    local_sse,
    loosen,
    measure_pairs,
    new_local,
    place,
    put,
    receive,
    recreate,
    uniform,
)


@numba.njit
def formed(local, records, groups, k, seed):
    if k < LARGE:
        measure_pairs(local, records)
    recreate(local, records, groups, k, seed)
    return local_sse(local, records, groups)


@numba.njit
def loosened(local, records, groups, seed):
    return loosen(local, records, groups, seed)


@numba.njit
def filled(local, loose, groups, k, seed):
    place(local, loose, loose, groups, k, seed)


@numba.njit
def entered(local, labels, groups, k):
    if k < LARGE:
        measure_pairs(local, labels.size)
    for x in range(labels.size):
        if k < LARGE:
            put(local, x, labels[x], labels.size)
        else:
            receive(local, x, labels[x], labels.size)


@numba.njit
def chosen(local, g, records, k):
    choose(local, g, records, k)
    return local.choice[g]


@numba.njit
def measured(local, records):
    measure_pairs(local, records)


@numba.njit
def drawn(seed, below, count):
    return [draw(seed, below) for _ in range(count)], [uniform(seed) for _ in range(count)]


def copied(X, k, groups, labels=None):
    local = new_local(X.shape[1], k, groups)
    local.ids[: len(X)] = np.arange(len(X))
    local.columns[:, : len(X)] = X.T
    if labels is not None:
        local.label[: len(X)] = labels
    return local


def seeded(number):
    return np.array([number * 2 + 1], np.uint64)


def sample_of(rng, n, tied):
    return rng.integers(0, 2, (n, 3)).astype(float) if tied else rng.normal(size=(n, 3))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([2, 3, 5, LARGE, LARGE + 5]), st.integers(2, 4), st.booleans())
def test_groups_formed_anew_have_k_to_2k_minus_1_records(seed, k, groups, tied):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(groups * k, groups * (2 * k - 1) + 1))
    X = sample_of(rng, n, tied)
    local = copied(X, k, groups)
    error = formed(local, n, groups, k, seeded(seed))
    labels = local.label[:n]
    sizes = np.bincount(labels, minlength=groups)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert np.array_equal(sizes, local.size[:groups])
    assert error == pytest.approx(
        naive.sse(X.tolist(), [np.flatnonzero(labels == g).tolist() for g in range(groups)]), abs=1e-9
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_the_records_around_one_leave_come_first_and_find_a_place(seed, tied):
    k = LARGE
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(3), [k, k + 3, 2 * k - 1]))
    n = len(labels)
    X = sample_of(rng, n, tied)
    local = copied(X, k, 3, labels)
    loose, groups = loosened(local, n, 3, seeded(seed))
    ids = local.ids[:n]
    assert sorted(ids) == list(range(n))
    assert np.array_equal(local.columns[:, :n], X[ids].T)
    assert 2 <= loose <= LOOSE
    assert (local.label[:loose] == -1).all()
    around = [np.sort(((X - x) ** 2).sum(axis=1))[:loose] for x in X]
    reached = [np.sort(((X[ids[:loose]] - x) ** 2).sum(axis=1)) for x in X]
    assert any(np.allclose(a, b) for a, b in zip(around, reached, strict=True))
    for g in range(groups):
        members = local.label[:n] == g
        assert members.sum() == local.size[g]
        assert len(set(labels[ids[members]])) == 1
        middle = X[ids[members]].mean(axis=0)
        assert local.centre[g] == pytest.approx(middle, abs=1e-9)
        assert local.sums[g, :loose] == pytest.approx(((X[ids[:loose]] - middle) ** 2).sum(axis=1), abs=1e-9)
    if n > groups * (2 * k - 1):
        return
    filled(local, loose, groups, k, seeded(seed))
    sizes = np.bincount(local.label[:n], minlength=groups)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


def test_by_pairs_and_by_centroids_are_told_the_same():
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(70, 3)), np.repeat(np.arange(3), [22, 22, 26])
    few, many = copied(X, LARGE - 1, 3), copied(X, LARGE, 3)
    entered(few, labels, 3, LARGE - 1)
    entered(many, labels, 3, LARGE)
    squares = few.pairs[:3] / few.size[:3]
    for g in range(3):
        assert squares[g] == pytest.approx(naive.group_sse(X.tolist(), np.flatnonzero(labels == g).tolist()))
        assert few.sums[g, :70] / few.size[g] - squares[g] / few.size[g] == pytest.approx(many.sums[g, :70])


@pytest.mark.parametrize("m", [1, 3, 4, 5, 8, 11])
def test_the_distances_of_all_pairs(m):
    X = np.random.default_rng(m).normal(size=(30, m))
    local = copied(X, 5, 4)
    measured(local, 30)
    assert local.pairwise[:30, :30] == pytest.approx(((X[:, None] - X) ** 2).sum(axis=2))
    assert np.array_equal(local.pairwise, local.pairwise.T)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 70), st.booleans())
def test_the_record_without_a_group_that_costs_least(seed, records, tied):
    rng = np.random.default_rng(seed)
    local = new_local(2, 10, 4)
    local.size[1] = 3
    local.sums[1, :records] = (
        rng.integers(0, 3, records) if tied else rng.exponential(10.0 ** rng.integers(-9, 9), records)
    )
    grouped = rng.random(records) < 0.5
    grouped[rng.integers(records)] = False
    local.hidden[:records][grouped] = np.iinfo(np.int64).max
    costs = np.where(grouped, np.inf, local.sums[1, :records])
    assert chosen(local, 1, records, 10) == np.argmin(costs)
    assert local.cheapest[1] == pytest.approx(costs.min() / 4)


@pytest.mark.parametrize(("k", "groups"), [(500, 5), (2, 10)])
def test_a_rebuild_of_too_much_is_refused(k, groups):
    assert len(new_local(2, 500, 4).ids) <= PLACES
    with pytest.raises(ValueError, match=f"{groups} groups with {groups * (2 * k - 1)} records"):
        new_local(2, k, groups)


def test_draws_are_spread_and_never_zero_where_they_are_parts():
    wholes, parts = drawn(seeded(3), 10, 5000)
    assert np.bincount(wholes, minlength=10).min() > 400
    assert 0.0 < min(parts) < 0.01
    assert 0.99 < max(parts) <= 1.0
