import numpy as np
import pytest

import naive
from shoal.kernels.proofs.centres import groups_around


def around(X, prices, wanted, limit, room=500, steps=20):
    n = len(X)
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    near = np.argsort(d2, axis=1, kind="stable")[:, 1:]
    members, sizes, costs = np.empty((room, 9), np.int32), np.empty(room, np.int64), np.empty(room)
    found = groups_around(X, near, np.arange(n), X, prices, np.array(wanted), limit, steps, members, sizes, costs)
    return [(members[i, : sizes[i]].tolist(), costs[i]) for i in range(found)]


def test_groups_found_cost_what_they_say_and_less_than_their_prices():
    rng = np.random.default_rng(0)
    X, prices = rng.normal(size=(30, 2)), rng.random(30)
    found = around(X, prices, [3, 5], -0.1)
    assert {len(group) for group, _ in found} == {3, 5}
    for group, cost in found:
        assert group == sorted(set(group))
        assert cost == pytest.approx(naive.group_sse(X.tolist(), group))
        assert cost - prices[group].sum() < -0.1


def test_a_group_is_the_best_for_its_own_mean():
    rng = np.random.default_rng(1)
    X, prices = rng.normal(size=(30, 2)), rng.random(30)
    for group, _ in around(X, prices, [4], np.inf, steps=100):
        values = ((X - X[group].mean(axis=0)) ** 2).sum(axis=1) - prices
        assert values[group].sum() == pytest.approx(np.sort(values)[:4].sum())


def test_there_is_no_more_than_room_for():
    X = np.random.default_rng(2).normal(size=(12, 2))
    assert len(around(X, np.ones(12), [3], np.inf, room=5)) == 5
    assert around(X, np.ones(12), [13], np.inf) == []
