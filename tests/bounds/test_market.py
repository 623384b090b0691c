from itertools import combinations

import numpy as np
import pytest

import naive
from shoal import MDAV, Auto, Refined
from shoal.bounds import lower, market
from shoal.bounds.lower import lower_bound
from shoal.bounds.market import Blocks, Market, Proof, fits, halves_of, sizes_to_try
from shoal.bounds.shares import halved


def market_of(X, k):
    """A market whose neighbours are known."""
    high = min(2 * k - 1, len(X) - k)
    *_, shares = halved(X, k, high)
    given = Market(X, k, high, shares)
    next(given.steps())
    return given


def prices_to_try(rng, given):
    """Good, bad and absurd ones."""
    yield given.shares
    yield 1.6 * given.shares
    yield given.shares.mean() * rng.random(len(given.X)) * 4
    yield given.shares.mean() * rng.normal(size=len(given.X))
    yield given.shares.mean() * np.exp(2 * rng.normal(size=len(given.X)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("nodes", [20_000, 3])
@pytest.mark.parametrize("room", [(8192, 400), (6, 4)])
def test_no_group_anywhere_undercuts_prices_by_more_than_one_of_its_records_says(seed, nodes, room, monkeypatch):
    monkeypatch.setattr(market, "_NODES", nodes)
    monkeypatch.setattr(market, "_BLOCK", 1 + seed % 3)
    monkeypatch.setattr(market, "_GATHERED", room[0])
    monkeypatch.setattr(market, "_CANDIDATES", room[1])
    rng = np.random.default_rng(seed)
    k, n = 2 + seed % 3, 11
    X = [rng.normal(size=(n, 2)), rng.integers(0, 3, (n, 3)).astype(float), np.exp(2 * rng.normal(size=(n, 2)))][
        seed % 3
    ]
    given = market_of(X, k)
    for prices in prices_to_try(rng, given):
        lowest, (members, sizes) = Proof(given, prices).lowest(np.arange(n))
        assert (lowest <= 0).all()
        slack = 1e-12 * np.abs(prices).sum()
        for size in range(k, given.high + 1):
            for group in combinations(range(n), size):
                reduced = naive.group_sse(X.tolist(), group) - prices[list(group)].sum()
                assert reduced >= lowest[list(group)].min() - slack
        for group, size in zip(members, sizes, strict=True):
            assert len(set(group[:size].tolist())) == size
        if nodes > 3 and room[0] > n:
            slow = np.minimum(naive.lowest_undercut(X, prices, k, given.high), 0.0)
            assert lowest.min() == pytest.approx(slow.min(), abs=slack)
            assert (lowest >= slow - slack).all()


def test_a_proof_that_is_left_early_counts_prices_of_those_to_come_as_their_shares(monkeypatch):
    monkeypatch.setattr(market, "_CHUNK", 1)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, k = rng.normal(size=(10, 2)), 2 + seed % 3
        given, optimum = market_of(X, k), naive.optimum_by_subsets(X, k)
        for prices in prices_to_try(rng, given):
            proof = Proof(given, prices)
            for reached, _ in enumerate(given.run(proof), 1):
                safe = np.where(
                    proof.market.rank[given.blocks.place] < reached, prices, np.minimum(prices, given.shares)
                )
                lowest = proof.lowest(proof.order[:reached])[0]
                value = safe.sum() + np.sort(np.append(lowest, np.zeros(len(X))))[: len(X) // k].sum()
                assert value <= optimum + 1e-12
            assert given.bound <= optimum + 1e-12


def test_prices_rise_to_most_of_the_optimum():
    X = np.random.default_rng(0).normal(size=(400, 3))
    given = market_of(X, 3)
    for _ in given.steps():
        pass
    best = Auto(k=3).fit(X).sse_
    assert 0.93 * best < given.bound < best
    assert given.bound > 1.25 * given.shares.sum()
    assert given.size >= given.bound


def test_shares_below_zero_do_no_harm():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    *_, shares = halved(X, 4, 7)
    shares[::5] = -0.1 * shares.mean()
    given = Market(X, 4, 7, shares)
    for _ in given.steps():
        assert np.isfinite(given.prices).all()
    assert 0 < given.bound < Auto(k=4).fit(X).sse_


def test_two_workers_prove_what_one_does():
    X = np.random.default_rng(1).normal(size=(300, 2))
    bounds = []
    for n_jobs in (1, 2):
        given = market_of(X, 3)
        given.n_jobs = n_jobs
        for _ in given.prove():
            pass
        bounds.append(given.bound)
    assert bounds[0] == bounds[1] > 0


def test_a_large_table_gets_prices(monkeypatch):
    monkeypatch.setattr(lower, "_MATRIX", 100)
    X = np.random.default_rng(2).normal(size=(300, 3))
    bound = lower_bound(X, 3, seconds=60)
    assert bound.stage == "market"
    assert bound < MDAV(k=3).fit(X).sse_
    monkeypatch.setattr(market, "_MOST", 100)
    assert lower_bound(X, 3, seconds=60).stage == "splitting"


def test_groups_behind_the_bound_are_a_good_start(monkeypatch):
    monkeypatch.setattr(lower, "_MATRIX", 100)
    X = np.random.default_rng(2).normal(size=(300, 3))
    bounding = lower.Bounding(X, 3)
    assert bounding.partition() is None
    bounding.run(60)
    labels = bounding.partition()
    assert np.bincount(labels).min() >= 3
    refined = Refined(k=3, start=labels, rounds=0).fit(X)
    assert bounding.bound <= refined.sse_ < 0.99 * Refined(k=3, rounds=0).fit(X).sse_


def test_blocks_hold_everybody_and_boxes_hold_their_records():
    rng = np.random.default_rng(3)
    for n in (1, 5, 100):
        X = rng.normal(size=(n, 2))
        blocks = Blocks(X)
        assert sorted(blocks.order.tolist()) == list(range(n))
        assert (blocks.order[blocks.place] == np.arange(n)).all()
        count = len(blocks.starts) - 1
        for node in range(1, 2 * count):
            first = last = node
            while first < count:
                first, last = 2 * first, 2 * last + 1
            rows = blocks.rows[blocks.starts[first - count] : blocks.starts[last - count + 1]]
            assert blocks.boxes[node].tolist() == [rows.min(axis=0).tolist(), rows.max(axis=0).tolist()]


def test_halves_and_sizes():
    assert halves_of(np.array([[1.0, 2.0, 4.0]]), 5).tolist() == [[0.0, 0.5, 1.5, 3.5, 3.5]]
    assert halves_of(np.array([[1.0, 2.0, 4.0]]), 2).tolist() == [[0.0, 0.5]]
    assert sizes_to_try(3, 5).tolist() == [3, 4, 5]
    assert sizes_to_try(10, 19).tolist() == [10, 11, 12, 15, 19]
    assert fits(1_000_000, 9)
    assert not fits(10_000_000, 9)
