import numpy as np
import pytest

import naive
from shoal.kernels.proofs.ascent import choose, fill_groups
from shoal.kernels.search_tree.neighbours import nearest_neighbours


def found_groups(X, k, prices, wanted):
    n, high = len(X), 2 * k - 1
    near, _ = nearest_neighbours(X, n - 1)
    members, sizes, costs = np.zeros((n, high), np.int32), np.zeros(n, np.int64), np.empty(n)
    for part in ((0, n // 2), (n // 2, n)):
        fill_groups(*part, X, near, prices, wanted, 5, members, sizes, costs)
    return members, sizes, costs


@pytest.mark.parametrize("seed", range(8))
def test_every_record_gets_a_group_of_its_own_at_its_sse(seed):
    rng = np.random.default_rng(seed)
    k = 2 + seed % 3
    X = rng.integers(0, 3, (14, 2)).astype(float) if seed % 2 else rng.normal(size=(14, 2))
    prices = rng.random(14)
    members, sizes, costs = found_groups(X, k, prices, np.arange(k, 2 * k))
    best = naive.lowest_undercut(X, prices, k, 2 * k - 1)
    for i in range(14):
        group = members[i, : sizes[i]].tolist()
        assert group[0] == i
        assert len(set(group)) == sizes[i]
        assert k <= sizes[i] < 2 * k
        assert costs[i] == pytest.approx(naive.group_sse(X.tolist(), group), abs=1e-12)
        assert costs[i] - prices[group].sum() >= min(best) - 1e-12
    lowest = min(cost - prices[members[i, : sizes[i]]].sum() for i, cost in enumerate(costs))
    assert lowest <= 0.5 * min(best) + 1e-12 or min(best) > 0  # it does find good groups


def test_choices_are_those_of_the_slow_twin():
    rng = np.random.default_rng(0)
    groups = [rng.choice(10, int(rng.integers(2, 4)), replace=False).tolist() for _ in range(25)]
    groups += [[i, (i + 1) % 10] for i in range(10)]
    members, sizes = np.zeros((len(groups), 3), np.int32), np.array([len(group) for group in groups])
    for g, group in enumerate(groups):
        members[g, : len(group)] = group
    costs, prices, softness = rng.random(len(groups)), rng.random(10), 0.1 + rng.random(10)
    values, least, total, chosen = np.empty(len(groups)), np.empty(10), np.empty(10), np.empty(10)
    choose(members, sizes, costs, prices, softness, values, least, total, chosen)
    slow_least, slow_chosen = naive.choices(groups, costs, prices, softness)
    assert least == pytest.approx(slow_least)
    assert chosen == pytest.approx(slow_chosen)
    assert chosen.sum() == pytest.approx(10)


def test_a_partition_chooses_every_record_once():
    members = np.array([[0, 1, 0], [2, 3, 4]], np.int32)
    least, total, chosen = np.empty((3, 5))
    choose(members, np.array([2, 3]), np.ones(2), np.zeros(5), np.ones(5), np.empty(2), least, total, chosen)
    assert chosen == pytest.approx(np.ones(5))
    assert least == pytest.approx([0.5, 0.5, 1 / 3, 1 / 3, 1 / 3])
