from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog

import naive
from shoal.bounds import pool
from shoal.bounds.pool import Pool, ranges
from shoal.partition import sse_of


def all_groups(n, low, high):
    groups = [group for size in range(low, high + 1) for group in combinations(range(n), size)]
    members, sizes = np.zeros((len(groups), high), np.int32), np.array([len(group) for group in groups])
    for g, group in enumerate(groups):
        members[g, : len(group)] = group
    return members, sizes


def pool_of(X, low, high):
    given = Pool(X, high)
    assert given.add(all_groups(len(X), low, high)) == len(given.sizes)
    return given


def balanced(given, rounds, highest=np.inf):
    n = len(given.X)
    prices = np.zeros(n)
    for _ in range(rounds):
        *_, prices = given.balance(prices, np.ones(n), np.full(n, highest))
    return prices


@pytest.mark.parametrize("seed", range(4))
def test_prices_become_those_of_the_linear_program(seed):
    X = np.random.default_rng(seed).normal(size=(9, 2))
    given = pool_of(X, 2, 3)
    prices = balanced(given, 20)
    held = np.zeros((9, len(given.sizes)))
    for g, size in enumerate(given.sizes):
        held[given.members[g, :size], g] = 1.0
    solved = linprog(given.costs, A_eq=held, b_eq=np.ones(9))
    assert given.worth(prices) == pytest.approx(solved.fun, rel=1e-3)
    assert given.worth(prices) <= solved.fun + 1e-9
    assert given.costs @ given.use == pytest.approx(solved.fun, rel=0.01)
    assert held @ given.use == pytest.approx(np.ones(9), abs=0.02)


def test_groups_are_taken_once_at_their_sse():
    X = np.random.default_rng(1).normal(size=(6, 2))
    given = Pool(X, 4)
    first = np.array([[0, 1, 2, 5], [2, 1, 0, 3], [4, 5, 0, 0]], np.int32), np.array([3, 3, 2])
    assert given.add(first) == 2
    assert given.add((np.array([[5, 4, 3, 3], [1, 2, 0, 3]], np.int32), np.array([2, 4]))) == 1
    for members, size, cost in zip(given.members, given.sizes, given.costs, strict=True):
        assert cost == pytest.approx(naive.group_sse(X.tolist(), members[:size].tolist()))


def test_prices_stay_below_their_limits_and_the_best_are_kept(monkeypatch):
    given = pool_of(np.random.default_rng(2).normal(size=(9, 2)), 2, 3)
    monkeypatch.setattr(pool, "_AT_ONCE", given.sizes.sum() * 7)
    prices = balanced(given, 3, highest=0.1)
    assert 0.09 < prices.max() < 0.1 + 1e-12
    seen = [given.worth(prices) for prices in given.balance(np.zeros(9), np.ones(9), np.full(9, np.inf))]
    assert len(seen) >= 300 / 7
    assert seen[-1] == max(seen[-2:])


def test_of_too_many_groups_those_that_are_used_stay(monkeypatch):
    monkeypatch.setattr(pool, "_KNOWN", 3)
    monkeypatch.setattr(pool, "_STAY", 2)
    monkeypatch.setattr(pool, "_ROWS", 4)
    given = pool_of(np.random.default_rng(3).normal(size=(9, 2)), 2, 3)
    given.use[[5, 50]] = 0.5
    used = given.members[[5, 50]].tolist()
    reduced = np.sort(given.costs / given.sizes)
    given.forget(np.zeros(9))
    assert len(given.sizes) == 18
    assert [row for row in used if row in given.members.tolist()] == used
    assert np.sort(given.costs / given.sizes)[:16] == pytest.approx(reduced[:16])
    given.forget(np.zeros(9))
    assert len(given.sizes) == 18
    assert given.add(all_groups(9, 2, 3)) > 0  # may come back


def test_a_partition_of_groups_in_use():
    X = np.random.default_rng(4).normal(size=(9, 2))
    given = pool_of(X, 2, 3)
    assert given.partition(np.zeros(9)) is None
    prices = balanced(given, 20)
    labels = given.partition(prices)
    assert np.bincount(labels).min() >= 2
    least = naive.optimum(X, 2)[0]
    assert sse_of(X, labels) <= 1.3 * least
    given.use[:] = 0.0
    rows = [given.members.tolist().index([0, 8, 0]), given.members.tolist().index([1, 2, 3])]
    given.use[rows] = 1.0, 0.5
    labels = given.partition(np.full(9, -1e9))
    assert labels[0] == labels[8]
    assert labels[1] == labels[2] == labels[3] != labels[0]


def test_fewer_steps_with_many_groups(monkeypatch):
    given = pool_of(np.random.default_rng(2).normal(size=(9, 2)), 2, 3)
    monkeypatch.setattr(pool, "_WORK", given.sizes.sum() * 70)
    monkeypatch.setattr(pool, "_AT_ONCE", given.sizes.sum())
    assert 70 <= len(list(given.balance(np.zeros(9), np.ones(9), np.full(9, np.inf)))) <= 71
    monkeypatch.setattr(pool, "_WORK", 1)
    assert 60 <= len(list(given.balance(np.zeros(9), np.ones(9), np.full(9, np.inf)))) <= 61


def test_ranges():
    assert ranges(10, 4) == [(0, 4), (4, 8), (8, 10)]
