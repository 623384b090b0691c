import numpy as np
import pytest

import naive
from shoal.kernels.proofs.ascent import balance, charged, fill_groups, pick
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


def random_groups(rng, n, count):
    """Groups of two and three, in all ways that the kernels take them."""
    groups = [rng.choice(n - 1, int(rng.integers(2, 4)), replace=False).tolist() for _ in range(count)]
    members, sizes = np.zeros((count, 3), np.int32), np.array([len(group) for group in groups])
    for g, group in enumerate(groups):
        members[g, : len(group)] = group
    return groups, members, sizes


def test_what_groups_charge_is_that_of_the_slow_twin():
    rng = np.random.default_rng(0)
    groups, members, sizes = random_groups(rng, 10, 25)
    costs, prices, least = rng.random(25), rng.random(10), np.empty(10)
    charged(members, sizes, costs, prices, least)
    assert least == pytest.approx(naive.charged(groups, costs, prices))
    assert least[9] == -prices[9]  # in no group


@pytest.mark.parametrize("seed", range(5))
def test_steps_of_balancing_are_those_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    groups, members, sizes = random_groups(rng, 10, 25)
    costs, use, prices, highest = (
        rng.random(25),
        rng.random(25) * rng.integers(0, 2, 25),
        rng.random(10),
        rng.random(10),
    )
    lengths = 0.3 * rng.random(25), 0.3 * rng.random(10)
    slow_use, slow_prices, sums = use.tolist(), prices.tolist(), [np.zeros(25), np.zeros(10)]
    all_use, all_prices = np.zeros(25), np.zeros(10)
    for steps in (1, 4):
        balance(members, sizes, costs, steps, use, prices, highest, *lengths, np.empty(10), all_use, all_prices)
        for _ in range(steps):
            slow_use, slow_prices = naive.balanced(groups, costs, slow_use, slow_prices, highest, *lengths)
            sums[0] += slow_use
            sums[1] += slow_prices
        assert use == pytest.approx(slow_use)
        assert prices == pytest.approx(slow_prices)
        assert all_use == pytest.approx(sums[0])
        assert all_prices == pytest.approx(sums[1])


def test_groups_are_taken_in_order_where_all_their_records_are_free():
    members = np.array([[0, 1, 2], [2, 3, 0], [3, 4, 0], [5, 6, 7]], np.int32)
    labels = np.full(9, -1)
    assert pick(members, np.array([3, 2, 2, 3]), np.array([1, 0, 2, 3]), labels) == 2
    assert labels.tolist() == [-1, -1, 0, 0, -1, 1, 1, 1, -1]
