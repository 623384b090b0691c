from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal import MDAV, TFRP
from shoal.partition import sse_of
from shoal.search.recombine import Pool, Recombination, best_of


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans())
def test_of_all_groups_it_takes_those_of_the_optimum(seed, k, tied):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (9, 2)).astype(float) if tied else rng.normal(size=(9, 3))
    pool = Pool(X)
    pool.add(
        [r for r in range(9) if chosen >> r & 1] for chosen in range(512) if k <= chosen.bit_count() <= 2 * k - 1
    )
    labels = best_of(pool, MDAV(k=k).fit(X).labels_, inf)
    assert np.bincount(labels).min() >= k
    assert sse_of(X, labels) == pytest.approx(naive.optimum_by_subsets(X, k), abs=1e-9)


@pytest.mark.parametrize("seconds", [5.0, inf])
def test_two_half_good_partitions_make_a_good_one(seconds):
    X = np.repeat(np.arange(20) * 10.0, 3)[:, None] + np.tile([0.0, 0.1, 0.2], 20)[:, None]
    good = np.repeat(np.arange(20), 3)
    left, right = good.copy(), good.copy()
    left[:30], right[30:] = np.roll(good[:30], 1), np.roll(good[30:], 1)
    pool = Pool(X)
    pool.add_labels(right)
    labels = best_of(pool, left, seconds)
    assert sse_of(X, labels) == pytest.approx(sse_of(X, good))
    assert np.bincount(labels).tolist() == [3] * 20


def test_what_cannot_be_bettered_stays():
    X = np.random.default_rng(5).normal(size=(60, 3))
    labels = MDAV(k=3).fit(X).labels_
    assert best_of(Pool(X), labels, inf) is labels
    pool = Pool(X)
    pool.add_labels(TFRP(k=3).fit(X).labels_)
    assert sse_of(X, best_of(pool, labels, 0.0)) <= sse_of(X, labels)


def test_a_pool_holds_each_group_once_with_its_sse():
    X = np.random.default_rng(1).normal(size=(9, 2))
    pool = Pool(X)
    pool.add_labels(np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]))
    assert len(pool.groups) == 3
    pool.add_labels(np.array([5, 5, 5, 0, 0, 1, 1, 1, 1]))
    assert len(pool.groups) == 5
    pool.add([[2, 1, 0], [0, 3]])
    assert pool.groups[5:] == [(0, 3)]
    assert pool.costs.tolist() == pytest.approx([naive.group_sse(X.tolist(), group) for group in pool.groups])
    assert pool.table().toarray().sum(axis=0).tolist() == [len(group) for group in pool.groups]


def test_the_last_partitions_stay_and_those_on_the_way_count_once():
    X = np.repeat(np.arange(6) * 10.0, 3)[:, None] + np.tile([0.0, 0.1, 0.2], 6)[:, None]
    good = np.repeat(np.arange(6), 3)
    left, right = good.copy(), good.copy()
    left[:9], right[9:] = np.roll(good[:9], 1), np.roll(good[9:], 1)
    recombination = Recombination(X, 2)
    assert recombination.best(left, [left], [], inf) is left
    assert sse_of(X, recombination.best(left, [], [right], inf)) == pytest.approx(sse_of(X, good))
    assert recombination.best(left, [], [], inf) is left
    recombination.best(left, [right], [], inf)
    assert sse_of(X, recombination.best(left, [], [], inf)) == pytest.approx(sse_of(X, good))
    recombination.best(left, [left, left], [], inf)
    assert recombination.best(left, [], [], inf) is left
    recombination.known = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
    assert sse_of(X, recombination.best(left, [], [], inf)) == pytest.approx(sse_of(X, good))
