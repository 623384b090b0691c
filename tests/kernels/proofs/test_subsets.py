import itertools

import numpy as np
import pytest

import naive
from shoal.bounds.points import Points
from shoal.kernels.proofs.subsets import Fines, groups_below, halve, no_fines


def search(points, prices, toll, anchor, limit, tighten=False, nodes=10**6, room=10_000, fines=None):
    """The groups of an anchor; the points stand in their own order, none of them twice."""
    members, sizes, costs = np.zeros((room, points.high), np.int32), np.zeros(room, np.int64), np.zeros(room)
    lists = points.d2, points.near, np.zeros(points.n, bool), prices, toll, points.k, points.high
    fines = no_fines(points.n) if fines is None else fines
    found, visited, lowest = groups_below(
        *lists, anchor, limit, np.inf, tighten, nodes, fines, members, sizes, costs
    )
    return [tuple(members[i, : sizes[i]].tolist()) for i in range(found)], costs[:found], visited, lowest


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("limit", [-0.5, 0.3, 100.0])
def test_the_groups_below_the_limit_are_all_found(k, limit):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(10, 3))
    points = Points(X, k, min(2 * k - 1, len(X) - k))
    X = points.rows
    prices, toll = rng.random(10), -0.2
    for anchor in range(10):
        got, costs, visited, lowest = search(points, prices, toll, anchor, limit)
        expected = {}
        for size in range(k, points.high + 1):
            for others in itertools.combinations(range(anchor + 1, 10), size - 1):
                group = (anchor, *others)
                reduced = naive.group_sse(X.tolist(), group) - prices[list(group)].sum() - toll
                if reduced < limit:
                    expected[group] = reduced
        assert sorted(got) == sorted(expected)
        assert visited >= 0
        assert lowest == pytest.approx(min(expected.values(), default=np.inf))
        assert costs == pytest.approx([naive.group_sse(X.tolist(), group) for group in got], abs=1e-12)
        tightened, _, _, least = search(points, prices, toll, anchor, limit, tighten=True)
        assert set(tightened) <= set(expected)
        assert least == pytest.approx(lowest)


def test_a_search_without_room_or_steps_says_so():
    points = Points(np.random.default_rng(0).normal(size=(10, 2)), 3, 5)
    assert search(points, np.ones(10), 0.0, 0, 100.0, room=5)[2] == -1
    assert search(points, np.ones(10), 0.0, 0, 100.0, nodes=5)[2] == -1


@pytest.mark.parametrize(("n", "k"), [(4, 2), (7, 3), (9, 4), (9, 2), (8, 1)])
def test_the_best_division_into_two(n, k):
    X = np.random.default_rng(n).normal(size=(n, 2))
    values = [
        naive.sse(X.tolist(), [group, [i for i in range(n) if i not in group]])
        for size in range(k, n - k + 1)
        for group in itertools.combinations(range(n), size)
    ]
    d2 = ((X[:, None] - X) ** 2).sum(axis=2)
    first = np.zeros(n, bool)
    assert halve(d2, np.arange(n)[::-1].copy(), k, np.inf, first) == pytest.approx(min(values))
    sides = [np.flatnonzero(first), np.flatnonzero(~first)]
    assert naive.sse(X.tolist(), sides) == pytest.approx(min(values))
    assert min(map(len, sides)) >= k
    untouched = np.zeros(n, bool)
    halve(d2, np.arange(n), k, min(values) * 0.99, untouched)
    assert not untouched.any()


@pytest.mark.parametrize("k", [2, 4])
def test_groups_that_hold_two_of_three_records_pay_a_fine(k):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(11, 3))
    points = Points(X, k, min(2 * k - 1, len(X) - k))
    X = points.rows
    prices = 2 * rng.random(11)
    cuts = [tuple(sorted(rng.choice(11, 3, replace=False).tolist())) for _ in range(8)]
    amounts = rng.random(8)
    entries = sorted(
        (record, [other for other in cut if other != record], amount)
        for cut, amount in zip(cuts, amounts, strict=True)
        for record in cut
    )
    starts = np.searchsorted([record for record, _, _ in entries], np.arange(12))
    fines = Fines(starts, np.array([pair for _, pair, _ in entries]), np.array([fine for _, _, fine in entries]))
    for anchor in range(11):
        expected = {}
        for size in range(k, points.high + 1):
            for others in itertools.combinations(range(anchor + 1, 11), size - 1):
                group = (anchor, *others)
                paid = sum(a for c, a in zip(cuts, amounts, strict=True) if len(set(c) & set(group)) >= 2)
                reduced = naive.group_sse(X.tolist(), group) - prices[list(group)].sum() + paid
                if reduced < 0.5:
                    expected[group] = reduced
        got, _, visited, lowest = search(points, prices, 0.0, anchor, 0.5, fines=fines)
        assert sorted(got) == sorted(expected)
        assert visited >= 0
        assert lowest == pytest.approx(min(expected.values(), default=np.inf))
