import itertools

import numpy as np
import pytest

import naive
from shoal.bounds.pricing import Generation, Prices, canonical, collect, least_sums, shares, solve, whole_solution
from shoal.methods.optimal import first_columns, new_problem


def never():
    return False


def sample(kind="round", n=12, k=3):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3)) if kind == "round" else np.sort(rng.integers(0, 4, n))[:, None] * [1.0, 2.0]
    return X, new_problem(X, k)


def all_groups(X, problem):
    for size in range(problem.low, problem.high + 1):
        for group in itertools.combinations(range(len(X)), size):
            yield group, naive.group_sse(X.tolist(), group)


@pytest.mark.parametrize("kind", ["round", "repeated"])
def test_no_group_costs_less_than_its_shares(kind):
    X, problem = sample(kind)
    prices = shares(problem)
    assert prices.bound == pytest.approx(prices.record.sum())
    for group, sse in all_groups(X, problem):
        assert prices.record[list(group)].sum() <= sse + 1e-12


def test_sums_beyond_the_known_neighbours_are_not_too_large():
    _, problem = sample()
    whole = least_sums(problem, 7)
    problem.near = problem.near[:, :3]
    assert (least_sums(problem, 7) <= whole).all()
    assert np.array_equal(least_sums(problem, 2), np.sort(problem.d2, axis=1)[:, 1:3].sum(axis=1))


@pytest.mark.parametrize("kind", ["round", "repeated"])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_generated_prices_are_valid_and_their_bound_below_the_optimum(kind, k):
    X, problem = sample(kind, 11, k)
    optimum = naive.optimum_by_subsets(X, k)
    labels = np.minimum(np.arange(11) // k, 11 // k - 1)
    upper = naive.sse(X.tolist(), [np.flatnonzero(labels == g).tolist() for g in range(11 // k)])
    generation = Generation(problem, first_columns(problem, labels), upper, shares(problem), 10**6)
    while not (generation.converged or generation.stuck):
        before = generation.best.bound
        generation.round(never)
        assert before <= generation.best.bound <= optimum + 1e-9
    prices = generation.best
    assert prices.toll <= 0
    assert generation.converged
    assert prices.bound >= 0.8 * optimum
    for group, sse in all_groups(X, problem):
        assert sse >= upper or prices.record[list(group)].sum() + prices.toll <= sse + 1e-9


def test_a_search_that_is_cut_short_proves_nothing():
    _, problem = sample(n=20, k=5)
    labels = np.arange(20) // 5
    start = shares(problem)
    generation = Generation(problem, first_columns(problem, labels), 100.0, start, 3)
    assert generation.price(start.record + 1.0, 0.0, never) is None
    generation.most_nodes = 10**6
    assert generation.price(start.record + 1.0, 0.0, lambda: True) is None
    assert generation.price(start.record + 1.0, 0.0, never) < 0


@pytest.mark.parametrize("kind", ["round", "repeated"])
def test_all_groups_below_the_limit_are_collected_once(kind):
    X, problem = sample(kind)
    prices = Prices(shares(problem).record * 1.2, -0.3, 0.0)
    limit, dearest = 4.0, 9.0
    chosen = collect(problem, prices, limit, dearest, 10**5, 10**6, never)
    expected = {
        canonical(problem, group)
        for group, sse in all_groups(X, problem)
        if sse - prices.record[list(group)].sum() - prices.toll < limit and sse < dearest
    }
    got = [tuple(i for i in range(len(X)) if int(mask[0]) >> i & 1) for mask in chosen.masks]
    assert sorted(got) == sorted(expected)
    assert len(got) > 10
    for anchor in range(len(X)):
        part = slice(chosen.starts[anchor], chosen.starts[anchor + 1])
        assert all(group[0] == anchor for group in got[part])
        assert (np.diff(chosen.reduced[part]) >= 0).all()
    for group, cost, reduced in zip(got, chosen.costs, chosen.reduced, strict=True):
        assert cost == pytest.approx(naive.group_sse(X.tolist(), group), abs=1e-12)
        assert reduced == pytest.approx(cost - prices.record[list(group)].sum() - prices.toll, abs=1e-12)
    assert collect(problem, prices, limit, dearest, 10, 10**6, never) is None
    assert collect(problem, prices, limit, dearest, 10**5, 3, never) is None


def test_the_linear_program_of_an_integral_case_is_its_optimum():
    X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    problem = new_problem(X, 2)
    value, prices, toll, reduced = solve(first_columns(problem, np.array([0, 0, 1, 1, 2, 2])), 1.0)
    assert value == pytest.approx(3 * 0.005)
    assert prices.sum() + 3 * toll == pytest.approx(value)
    assert reduced.min() > -1e-9


@pytest.mark.parametrize("kind", ["round", "repeated"])
def test_the_best_partition_into_all_groups_is_the_optimum(kind):
    X, problem = sample(kind, 10, 3)
    groups = collect(problem, shares(problem), np.inf, np.inf, 10**5, 10**6, never)
    chosen = whole_solution(problem, groups, 1.0, 30.0)
    assert groups.costs[chosen].sum() == pytest.approx(naive.optimum_by_subsets(X, 3))
    assert groups.sizes[chosen].sum() == 10
    few = groups._replace(masks=groups.masks[:3], sizes=groups.sizes[:3], costs=groups.costs[:3])
    assert len(whole_solution(problem, few, 1.0, 30.0)) == 0


def test_known_groups_become_bits():
    _, problem = sample()
    columns = first_columns(problem, np.arange(12) // 3)
    groups = columns.as_groups()
    assert [tuple(i for i in range(12) if int(m[0]) >> i & 1) for m in groups.masks] == columns.members
    assert groups.costs.tolist() == columns.costs
