import numpy as np
import pytest

import naive
from shoal.bounds.cuts import concerns, sharpen, violated
from shoal.bounds.pricing import Generation, canonical, collect, counts_of, shares
from shoal.methods.optimal import first_columns, new_problem


def never():
    return False


def converged(X, k):
    problem = new_problem(X, k)
    groups = len(X) // k
    labels = np.minimum(np.arange(len(X)) // k, groups - 1)
    upper = naive.sse(X.tolist(), [np.flatnonzero(labels == g).tolist() for g in range(groups)])
    generation = Generation(problem, first_columns(problem, labels), upper, shares(problem), 10**6)
    while not (generation.converged or generation.stuck):
        generation.round(never)
    return problem, generation.best


@pytest.mark.parametrize("repeated", [False, True])
def test_the_bound_rises_and_stays_below_the_optimum_whose_groups_stay(repeated):
    risen = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(9, 2))
        X = X[np.sort(np.concatenate([np.arange(8), [3]]))] if repeated else X
        problem, prices = converged(X, 2)
        optimum, best = naive.optimum(X, 2)
        goal = optimum * 1.05
        groups = collect(problem, prices, goal - prices.bound, goal, 10**5, 10**6, never)
        sharp = sharpen(problem, groups, prices, goal, optimum / 9, never)
        assert prices.bound <= sharp.bound <= optimum + 1e-9
        risen += sharp.bound > prices.bound + 1e-6
        kept = {
            tuple(i for i in range(9) if int(mask[0]) >> i & 1): g for g, mask in enumerate(sharp.groups.masks)
        }
        used = [kept[canonical(problem, group)] for group in best]
        charged = sharp.base + sum(sharp.groups.reduced[g] + sharp.toll for g in used)
        assert charged <= optimum + 1e-9
        for anchor in range(9):
            part = slice(sharp.groups.starts[anchor], sharp.groups.starts[anchor + 1])
            assert all(sets[0] == anchor for sets, g in kept.items() if part.start <= g < part.stop)
            assert (np.diff(sharp.groups.reduced[part]) >= 0).all()
    assert risen >= 3


def test_where_no_partition_is_below_the_goal_the_bound_reaches_it():
    reached = 0
    for seed in range(12):
        X = np.random.default_rng(seed).normal(size=(9, 2))
        problem, prices = converged(X, 2)
        optimum = naive.optimum(X, 2)[0]
        goal = prices.bound + 0.8 * (optimum - prices.bound)
        groups = collect(problem, prices, goal - prices.bound, goal, 10**5, 10**6, never)
        if len(groups.sizes):
            sharp = sharpen(problem, groups, prices, goal, optimum / 9, never)
            reached += sharp.bound >= goal
    assert reached >= 3


def test_a_cut_concerns_groups_with_two_of_its_three_records():
    table = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 1]], float)
    assert concerns(table, [(0, 1, 2), (0, 1, 3)]).tolist() == [[1, 1, 1, 0], [1, 0, 0, 0]]
    halves = np.array([0.5, 0.5, 0.5, 1.0])
    assert violated(table, np.ones(4, int), halves, set()) == [(0, 1, 2)]
    assert violated(table, np.ones(4, int), halves, {(0, 1, 2)}) == []
    assert violated(table, np.array([1, 2, 1, 1]), halves, set()) == []


def test_counts_of_equal_records_are_added_up():
    X = np.array([[0.0], [0.0], [1.0], [2.0], [2.0], [2.0]])
    problem = new_problem(X, 2)
    groups = collect(problem, shares(problem), np.inf, np.inf, 10**5, 10**6, never)
    table, weights = counts_of(problem, groups)
    assert weights.tolist() == [2, 1, 3]
    assert table.sum(axis=0).tolist() == groups.sizes.tolist()
    assert (table <= weights[:, None]).all()
