from itertools import combinations

import numpy as np
import pytest

import naive
from shoal.kernels.proofs.nearby import Market, new_room, undercuts


def market_of(X, prices, high):
    """All records in one block: a tree that is a leaf."""
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    halves = np.zeros((len(X), high))
    np.cumsum(0.5 * np.sort(d2, axis=1)[:, 1:high], axis=1, out=halves[:, 1:])
    rank = np.empty(len(X), np.int64)
    rank[np.argsort(-prices, kind="stable")] = np.arange(len(X))
    box = np.array([[X.min(axis=0), X.max(axis=0)]] * 2)
    tops = [np.full(2, values.max()) for values in (prices, prices, rank)]
    return Market(X, prices, rank, halves, np.array([0, len(X)]), box, *tops)


def undercut(X, prices, k, high, nodes=100_000, room=(100, 100)):
    market, n = market_of(X, prices, high), len(X)
    lowest, members, sizes = np.empty(n), np.zeros((n, 3, high), np.int32), np.empty((n, 3), np.int64)
    undercuts(market, np.arange(n), k, high, nodes, new_room(*room, high), lowest, members, sizes)
    return lowest, members, sizes


@pytest.mark.parametrize("seed", range(12))
def test_what_undercuts_most_is_that_of_the_slow_twin(seed):
    rng = np.random.default_rng(seed)
    k, X = 2 + seed % 3, rng.integers(0, 4, (10, 2)).astype(float) if seed % 2 else rng.normal(size=(10, 2))
    prices = rng.random(10) * (X**2).sum() / 10
    lowest, members, sizes = undercut(X, prices, k, 2 * k - 1)
    slow = np.minimum(naive.lowest_undercut(X, prices, k, 2 * k - 1), 0.0)
    assert lowest.min() == pytest.approx(slow.min())
    assert (lowest >= slow - 1e-9).all()  # groups that do not matter may be passed over, no others
    for a in range(10):
        found = [members[a, place, :size].tolist() for place, size in enumerate(sizes[a]) if size > 0]
        reduced = [naive.group_sse(X.tolist(), group) - prices[group].sum() for group in found]
        assert (lowest[a] < 0) == (len(found) > 0)
        assert reduced == sorted(reduced)
        assert not found or reduced[0] == pytest.approx(lowest[a])


@pytest.mark.parametrize(("nodes", "room"), [(2, (100, 100)), (100_000, (100, 3)), (100_000, (4, 3))])
@pytest.mark.parametrize("seed", range(6))
def test_with_little_time_or_room_what_is_proven_is_weaker_but_true(seed, nodes, room):
    rng = np.random.default_rng(seed)
    k, X = 2 + seed % 3, rng.normal(size=(10, 2))
    prices = rng.random(10) * (X**2).sum() / 10
    lowest, _, _ = undercut(X, prices, k, 2 * k - 1, nodes, room)
    for size in range(k, 2 * k):
        for group in combinations(range(10), size):
            reduced = naive.group_sse(X.tolist(), group) - prices[list(group)].sum()
            assert reduced >= lowest[list(group)].min() - 1e-9


def test_who_is_far_away_is_left_out_without_loss():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 2)), 5 + rng.normal(size=(200, 2))])
    prices = np.full(400, 0.3)
    lowest, _, sizes = undercut(X, prices, 3, 3, room=(400, 400))
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    for a in range(0, 400, 40):
        later = np.arange(a + 1, 400)  # of equal prices the first is the anchor
        pairs = (d2[a, later][:, None] + d2[a, later] + d2[np.ix_(later, later)]) / 3
        np.fill_diagonal(pairs, np.inf)
        assert lowest[a] == pytest.approx(min(pairs.min() - 0.9, 0.0))
    assert sizes[0, 0] == 3
