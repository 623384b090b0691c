import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal import MDAV
from shoal.methods import recombine as module
from shoal.methods.recombine import Pool, recombine
from shoal.partition import sse_of


def is_valid(labels, k):
    sizes = np.bincount(labels)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans())
def test_it_is_never_worse_and_often_the_optimum(seed, k, tied):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (10, 2)).astype(float) if tied else rng.normal(size=(10, 3))
    start = MDAV(k=k).fit(X)
    labels = recombine(X, k, start.labels_)
    is_valid(labels, k)
    assert naive.optimum_by_subsets(X, k) - 1e-9 <= sse_of(X, labels) <= start.sse_


@pytest.mark.parametrize("whole", [True, False])
def test_two_half_good_partitions_make_a_good_one(monkeypatch, whole):
    monkeypatch.setattr(module, "_WHOLE", 1500 if whole else 0)
    X = np.repeat(np.arange(20) * 10.0, 3)[:, None] + np.tile([0.0, 0.1, 0.2], 20)[:, None]
    good = np.repeat(np.arange(20), 3)
    left, right = good.copy(), good.copy()
    left[:30], right[30:] = np.roll(good[:30], 1), np.roll(good[30:], 1)
    groups = [np.flatnonzero(right == g).tolist() for g in range(20)]
    assert sse_of(X, recombine(X, 3, left, groups)) == pytest.approx(sse_of(X, good))


def test_larger_tables_gain_and_the_result_is_the_same_every_time():
    X = np.random.default_rng(5).normal(size=(240, 3))
    start = MDAV(k=3).fit(X)
    labels = recombine(X, 3, start.labels_)
    is_valid(labels, 3)
    assert sse_of(X, labels) < 0.9 * start.sse_
    assert np.array_equal(labels, recombine(X, 3, start.labels_))


def test_with_no_time_the_partition_stays():
    X = np.random.default_rng(5).normal(size=(60, 3))
    labels = MDAV(k=3).fit(X).labels_
    assert np.array_equal(labels, recombine(X, 3, labels, seconds=0.0))
    assert np.array_equal(labels, recombine(X, 3, labels, stopped=lambda: True))


def test_a_pool_holds_each_group_once_with_its_sse():
    X = np.random.default_rng(1).normal(size=(9, 2))
    pool = Pool(X)
    assert pool.add_labels(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])) == 3
    assert pool.add_labels(np.array([5, 5, 5, 0, 0, 1, 1, 1, 1])) == 2
    assert pool.add([[2, 1, 0], [0, 3]]) == 1
    assert pool.costs.tolist() == pytest.approx([naive.group_sse(X.tolist(), group) for group in pool.groups])
    pool.keep(np.array([0, 5]))
    assert pool.groups == [(0, 1, 2), (0, 3)]
    assert pool.add([[0, 3], [3, 4, 5]]) == 1
    assert pool.table().toarray().sum(axis=0).tolist() == [3, 2, 3]
