import numpy as np
import pytest

import naive
from shoal.bounds.generation import Generation, scaled, violated
from shoal.bounds.search import Duals, Points


def generation_of(X, k):
    points = Points(X, k, min(2 * k - 1, len(X) - k))
    shares = points.mean_of_equals(np.array(naive.shares(X, k, points.high, points.high - 1)))
    return Generation(points, shares, 1.3 * naive.optimum_by_subsets(X, k))


@pytest.mark.parametrize("repeated", [False, True])
def test_every_step_is_below_the_optimum_and_the_last_is_close(repeated):
    parts = []
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(11, 2))
        X = X[[*range(9), 2, 2]] if repeated else X
        generation = generation_of(X, 2 + seed % 3)
        optimum = naive.optimum_by_subsets(X, 2 + seed % 3)
        bounds = [generation.bound for _ in generation.steps()]
        assert bounds == sorted(bounds)
        assert generation.bound <= optimum + 1e-9
        parts.append(generation.bound / optimum)
    assert np.mean(parts) > 0.9


def test_groups_are_known_once():
    X = np.random.default_rng(0).normal(size=(9, 2))
    generation = generation_of(X, 3)
    group = np.array([0, 1, 2])
    assert generation.add([(group, generation.points.sse(group))] * 2) == 1
    assert generation.reduced() == pytest.approx(
        generation.points.sse(group) - generation.duals.prices[group].sum()
    )


def test_a_triangle_of_half_used_pairs_breaks_its_cut():
    members = [np.array([0, 1]), np.array([1, 2]), np.array([0, 2]), np.array([3, 4])]
    used = np.array([0.5, 0.5, 0.5, 1.0])
    assert violated(members, used, np.ones(5, bool), set()) == [[0, 1, 2]]
    assert violated(members, used, np.ones(5, bool), {(0, 1, 2)}) == []
    assert violated(members, used, np.array([True, False, True, True, True]), set()) == []
    whole = [np.array([0, 1, 2]), np.array([3, 4])]
    assert violated(whole, np.ones(2), np.ones(5, bool), set()) == []


def test_prices_and_fines_are_lowered_together():
    duals = scaled(Duals(np.array([2.0, 4.0]), np.empty((1, 3), np.int64), np.array([1.0])), 0.5)
    assert duals.prices.tolist() == [1.0, 2.0]
    assert duals.value(np.array([1, 3])) == 1 + 6 - 0.5
