import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import samples
from shoal.errors import ShoalError
from shoal.kernels.transport.flow import transport
from shoal.kernels.transport.shift import rises
from shoal.quantizing.cost_adjustment import Dense, Problem, Sparse, adjust_costs, direction, symmetric


def cloud(n, cells, m=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    return X, X[rng.choice(n, cells, replace=False)]


def whole(jacobian):
    """The matrix in plain units."""
    matrix = np.diag(jacobian.diagonal)
    matrix[jacobian.rows, jacobian.columns] = jacobian.entries
    return matrix / jacobian.unit


def values(X, centres, costs):
    return ((X[:, None] - centres) ** 2).sum(axis=2) + costs


@pytest.mark.parametrize("seed", range(5))
def test_the_jacobian_is_that_of_quantizing_all_points_again(seed):
    X, centres = cloud(400, 6, seed=seed)
    problem = Problem(X, centres, np.ones(6))
    state = problem.look(np.random.default_rng(seed).normal(size=6) / 5)
    rise = rises(state.best, state.gap, state.counts, 0.05)
    twin = naive.cost_jacobian(X, centres, state.costs.tolist(), rise.tolist())
    np.testing.assert_allclose(whole(problem.jacobian(state, 0.05)), twin, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("seed", range(3))
def test_so_it_is_after_shifts(seed):
    X, centres = cloud(600, 6, seed=seed)
    problem = Problem(X, centres, np.ones(6))
    state = problem.look(np.zeros(6))
    rng = np.random.default_rng(seed)
    for _ in range(3):
        state = problem.shifted(state, rng.normal(size=6) / 50)
        fresh = problem.look(state.costs)
        np.testing.assert_array_equal(state.best, fresh.best)
        np.testing.assert_array_equal(state.counts, fresh.counts)
        jacobian = problem.jacobian(state, 0.05)
        rise = rises(state.best, state.gap, state.counts, 0.05)
        twin = naive.cost_jacobian(X, centres, state.costs.tolist(), rise.tolist())
        np.testing.assert_allclose(whole(jacobian), twin, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("balanced", [True, False])
def test_the_refined_jacobian_is_symmetric_and_negative_semidefinite(balanced):
    X, centres = cloud(1000, 15)
    problem = Problem(X, centres, np.ones(15))
    raw = problem.jacobian(problem.look(np.zeros(15)), 0.05)
    part = whole(symmetric(raw, balanced))
    refined = Dense(symmetric(raw, balanced)).whole / raw.unit
    np.testing.assert_allclose(refined, refined.T, atol=1e-12 * abs(refined).max())
    assert np.linalg.eigvalsh(refined).max() <= 1e-12 * abs(refined).max()
    if balanced:
        np.testing.assert_allclose(refined, part, atol=1e-12 * abs(part).max())
        np.testing.assert_allclose(part.sum(axis=0), 0, atol=1e-12 * abs(part).max())
    else:
        np.testing.assert_allclose(part, (whole(raw) + whole(raw).T) / 2)
        positive = np.linalg.eigvalsh(part).clip(0)
        assert np.linalg.norm(refined - part) == pytest.approx(np.linalg.norm(positive))


def test_conjugate_gradients_solve_what_the_dense_solver_does():
    X, centres = cloud(3000, 25)
    problem = Problem(X, centres, np.ones(25))
    state = problem.look(np.zeros(25))
    jacobian = symmetric(problem.jacobian(state, 0.05), balanced=True)
    dense, sparse = Dense(jacobian), Sparse(jacobian)
    np.testing.assert_allclose(sparse.curvature(), dense.curvature())
    right = sparse.times(problem.residual(state.counts))
    np.testing.assert_allclose(right, dense.times(problem.residual(state.counts)))
    damping = 1e-3 * sparse.curvature()
    solution = dense.solve(damping, right)
    np.testing.assert_allclose(sparse.solve(damping, right), solution, rtol=1e-5, atol=1e-5 * abs(solution).max())


@pytest.mark.parametrize("damping", ["marquardt", "tychonov"])
def test_a_direction_leads_downhill(damping):
    X, centres = cloud(3000, 20)
    problem = Problem(X, centres, np.ones(20))
    state = problem.look(np.zeros(20))
    jacobian = symmetric(problem.jacobian(state, 0.05), balanced=False)
    step, slope = direction(jacobian, problem.residual(state.counts), damping, 1e-3)
    assert slope < 0
    assert abs(step.sum()) < 1e-9 * abs(step).max()


@pytest.mark.parametrize("damping", ["marquardt", "tychonov"])
@pytest.mark.parametrize(
    ("n", "cells", "m"), [(2000, 2, 1), (2000, 8, 2), (2000, 20, 2), (5000, 30, 3), (20_000, 30, 5)]
)
def test_sizes_are_reached_within_a_thousandth(n, cells, m, damping):
    for seed in range(3):
        X, centres = cloud(n, cells, m, seed)
        result = adjust_costs(X, centres, np.ones(cells), damping=damping)
        assert result.error <= n / 1000
        np.testing.assert_array_equal(result.labels, values(X, centres, result.costs).argmin(axis=1))
        np.testing.assert_array_equal(result.counts, np.bincount(result.labels, minlength=cells))
        assert result.error == pytest.approx(np.abs(result.counts - n / cells).max())


@pytest.mark.parametrize("damping", ["marquardt", "tychonov"])
def test_the_papers_refinement_does_for_large_cells(damping):
    X, centres = cloud(20_000, 16)
    result = adjust_costs(X, centres, np.ones(16), damping=damping, refinement="nearest")
    assert result.error <= 20


@pytest.mark.parametrize("refinement", ["balanced", "nearest"])
def test_many_cells_are_adjusted_by_conjugate_gradients(refinement):
    X, centres = cloud(30_000, 210)
    result = adjust_costs(X, centres, np.ones(210), refinement=refinement, iterations=25)
    assert result.error < adjust_costs(X, centres, np.ones(210), iterations=0).error
    if refinement == "balanced":
        assert result.error <= 3


def test_sizes_may_differ_and_may_be_shares():
    X, centres = cloud(5000, 4)
    sizes = np.array([500, 1000, 1500, 2000])
    by_size = adjust_costs(X, centres, sizes)
    by_share = adjust_costs(X, centres, sizes / 5000)
    assert np.abs(by_size.counts - sizes).max() <= 2
    np.testing.assert_allclose(by_share.costs, by_size.costs, rtol=1e-6)


def test_it_begins_at_given_costs_and_leaves_them_alone():
    X, centres = cloud(5000, 10)
    first = adjust_costs(X, centres, np.ones(10))
    given_costs = first.costs + 3.0
    kept = given_costs.copy()
    again = adjust_costs(X, centres + 1e-3, np.ones(10), given_costs)
    np.testing.assert_array_equal(given_costs, kept)
    assert again.iterations < first.iterations
    assert again.costs.mean() == pytest.approx(kept.mean())
    stopped = adjust_costs(X, centres, np.ones(10), given_costs, iterations=0)
    np.testing.assert_array_equal(stopped.costs, kept)


@pytest.mark.parametrize("cells", [2, 5, 20])
def test_costs_are_the_prices_of_the_exact_transport(cells):
    """Up to a constant, and as near as the free space at the borders allows."""
    X, centres = cloud(2000, cells, seed=cells)
    sizes = np.full(cells, 2000 // cells)
    result = adjust_costs(X, centres, sizes)
    _, prices = transport(X, centres, sizes, sizes, True)
    ours, theirs = result.costs - result.costs.mean(), prices - prices.mean()
    near_a_border = np.sort(Problem(X, centres, sizes).look(prices).gap)
    assert np.abs(ours - theirs).max() <= near_a_border[20 * cells]


def test_a_cell_without_points_is_filled():
    X, centres = cloud(3000, 6)
    for costs in ([0, 0, 0, 0, 0, 500.0], [0, 900.0, 0, 0, 700.0, 500.0]):
        result = adjust_costs(X, centres, np.ones(6), costs)
        assert result.error <= 3
    far = adjust_costs(X, np.vstack([centres, [[30.0, 30.0]]]), np.ones(7))
    assert far.error <= 3


@settings(max_examples=200)
@given(samples.points(), st.integers(1, 6), st.sampled_from(["marquardt", "tychonov"]), st.integers(0, 2**32))
@pytest.mark.parametrize("refinement", ["balanced", "nearest"])
def test_whatever_the_points_the_result_is_finite_and_no_worse(refinement, sample, cells, damping, seed):
    X, _ = sample
    rng = np.random.default_rng(seed)
    centres = X[rng.integers(0, len(X), cells)]
    sizes = rng.integers(1, 5, cells)
    result = adjust_costs(X, centres, sizes, damping=damping, refinement=refinement)
    before = adjust_costs(X, centres, sizes, iterations=0)
    wanted = sizes / sizes.sum() * len(X)
    assert np.isfinite(result.costs).all()
    assert result.counts.sum() == len(X)
    assert np.square(result.counts - wanted).sum() <= np.square(before.counts - wanted).sum() * (1 + 1e-12)
    fresh = [best for best, _, _ in naive.two_best(X, centres, result.costs.tolist())]
    assert result.labels.tolist() == fresh


def test_one_cell_takes_all():
    result = adjust_costs(np.arange(6.0).reshape(3, 2), np.zeros((1, 2)), [3])
    assert result.counts.tolist() == [3]
    assert (result.iterations, result.error) == (0, 0.0)


def test_equal_centres_share_nothing_but_do_no_harm():
    X, centres = cloud(1000, 4)
    result = adjust_costs(X, centres[[0, 0, 1, 2]], np.ones(4))
    assert np.isfinite(result.costs).all()
    assert result.error >= 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": [1, 2]}, "sizes must be one for each of 3 centres, not 2"),
        ({"sizes": [1, 2, 0]}, "sizes must be numbers above 0; leave out the cells that shall be empty"),
        ({"sizes": [1, 2, np.nan]}, "sizes must be numbers above 0"),
        ({"costs": [1, 2]}, "costs must be one finite number for each of 3 centres"),
        ({"costs": [1, 2, np.inf]}, "costs must be one finite number for each of 3 centres"),
        ({"damping": "none"}, "damping must be one of marquardt, tychonov"),
        ({"refinement": "none"}, "refinement must be one of balanced, nearest"),
        ({"change": 2.0}, "change must be a number from 0 to 1"),
        ({"mu": -1.0}, "mu must be a number of at least 0"),
    ],
)
def test_bad_input_is_an_error(arguments, message):
    X, centres = cloud(100, 3)
    with pytest.raises(ShoalError, match=message):
        adjust_costs(X, centres, **{"sizes": [1, 1, 1], **arguments})
