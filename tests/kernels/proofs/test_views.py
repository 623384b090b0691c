import itertools

import numpy as np
import pytest

import naive
from shoal.kernels.proofs.views import count_ends, fill_ends, least_views, shares_of
from shoal.kernels.search_tree.neighbours import nearest_neighbours


def edges_of(X, known):
    near, d2 = nearest_neighbours(X, known)
    counts = np.zeros(len(X), np.int64)
    count_ends(near, counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    edges, signs = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int8)
    lengths = np.empty(starts[-1] // 2)
    assert fill_ends(near, starts, edges, signs, lengths, d2) == len(lengths)
    return starts, edges, signs, lengths, d2[:, -1].copy()


def ends(starts, edges, signs):
    """For each edge its lower and its higher record."""
    of_edge = {}
    for i in range(len(starts) - 1):
        for p in range(starts[i], starts[i + 1]):
            of_edge.setdefault(int(edges[p]), {})[int(signs[p])] = i
    return {edge: (both[1], both[-1]) for edge, both in of_edge.items()}


@pytest.mark.parametrize("k", [2, 3, 5])
def test_shares_are_those_of_the_slow_twin(k):
    X = np.random.default_rng(k).normal(size=(14, 3))
    for known in (1, 3, 13):
        out = np.empty(14)
        shares_of(nearest_neighbours(X, known)[1], k, 2 * k - 1, out)
        assert out == pytest.approx(naive.shares(X, k, 2 * k - 1, known), rel=1e-12)


@pytest.mark.parametrize("repeated", [False, True])
def test_every_pair_of_neighbours_is_one_edge_with_two_ends(repeated):
    X = np.random.default_rng(0).normal(size=(20, 2))
    X = X[np.arange(20) // 2] if repeated else X
    near, _ = nearest_neighbours(X, 4)
    starts, edges, signs, lengths, _ = edges_of(X, 4)
    pairs = {tuple(sorted((i, int(j)))) for i in range(20) for j in near[i]}
    found = ends(starts, edges, signs)
    assert sorted(found.values()) == sorted(pairs)
    for edge, (i, j) in found.items():
        assert lengths[edge] == naive.squared_distance(X[i], X[j])


@pytest.mark.parametrize("known", [3, 9])
def test_views_are_those_of_the_slow_twin_and_no_group_costs_less(known):
    rng = np.random.default_rng(known)
    X = rng.normal(size=(10, 3))
    starts, edges, signs, lengths, far = edges_of(X, known)
    shift = rng.normal(size=len(lengths)) * 0.3
    least, slope = np.empty(10), np.empty(len(lengths))
    least_views(starts, edges, signs, lengths, shift, far, 2, 5, least, slope)
    cost = {}
    for edge, (i, j) in ends(starts, edges, signs).items():
        cost[i, j], cost[j, i] = lengths[edge] / 2 + shift[edge], lengths[edge] / 2 - shift[edge]
    assert least == pytest.approx(naive.views(cost, far, 10, 2, 5), rel=1e-12)
    for size in range(2, 6):
        for group in itertools.combinations(range(10), size):
            assert least[list(group)].sum() <= naive.group_sse(X.tolist(), group) + 1e-12
    after = np.empty(10)
    step = 1e-7 * rng.normal(size=len(shift))
    least_views(starts, edges, signs, lengths, shift + step, far, 2, 5, after, np.empty(len(shift)))
    assert after.sum() - least.sum() == pytest.approx(slope @ step, abs=1e-12)
