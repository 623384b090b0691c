import itertools

import numpy as np
import pytest

import naive
from shoal.bounds.generation import Generation
from shoal.bounds.points import Points


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


def test_the_prices_kept_for_the_proof_are_undercut_by_no_group():
    X = np.random.default_rng(1).normal(size=(11, 2))
    generation = generation_of(X, 3)
    for _ in generation.steps():
        pass
    proven, points = generation.proven, generation.points
    assert 0.9 * generation.bound < proven.value(points) <= generation.bound + 1e-9
    assert proven.toll <= 0
    for size in range(3, 6):
        for group in itertools.combinations(range(11), size):
            held = points.kinds[list(group)]
            paid = sum(
                fine
                for cut, fine in zip(proven.cuts.tolist(), proven.fines, strict=True)
                if len(set(cut) & set(held.tolist())) >= 2
            )
            sse = naive.group_sse(X.tolist(), group)
            assert sse > generation.upper or proven.prices[held].sum() - paid + proven.toll <= sse + 1e-9
