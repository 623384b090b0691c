import numpy as np
import pytest

from shoal.kernels.transport.balance import balance, border_graph, gap_at_rank, price_to_fill, soft_counts, solve
from shoal.kernels.transport.blocks import nearest, prepare


@pytest.fixture(scope="module")
def gaussian():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2))
    return prepare(X), X[:25].copy(), np.full(25, 800)


def test_prices_bring_cells_close_to_their_sizes(gaussian):
    plan, centres, sizes = gaussian
    prices, near = balance(plan, centres, sizes, np.zeros(25), 12)
    assert np.abs(near.counts - sizes).sum() // 2 <= 40
    assert (nearest(plan, centres, prices).counts == near.counts).all()


def test_the_gap_at_a_rank_takes_in_that_many_records_and_not_many_more(gaussian):
    plan, centres, _ = gaussian
    near = nearest(plan, centres, np.zeros(25))
    ranks = np.minimum(np.arange(10, 260, 10), near.counts)
    widths, widest = np.empty((2, 25))
    gap_at_rank(near, plan.weights, ranks, 1, widths, widest)
    for q in range(25):
        gaps = np.sort(near.gap[(near.best == q) & (plan.weights > 0)])
        exact = gaps[ranks[q] - 1]
        assert exact <= widths[q] <= 1.5 * exact
        assert gaps[-1] <= widest[q]


def test_soft_counts_have_the_border_graph_as_their_slope(gaussian):
    plan, centres, _ = gaussian
    prices = np.zeros(25)
    near = nearest(plan, centres, prices)
    widths = np.full(25, 0.05)
    starts, to, rate, totals = border_graph(near, plan.weights, widths)
    before = soft_counts(near, plan.weights, widths)
    assert before.sum() == pytest.approx(plan.weights.sum())
    step = 1e-6
    prices[3] += step
    slope = (soft_counts(nearest(plan, centres, prices), plan.weights, widths) - before) / step
    assert slope[3] == pytest.approx(-totals[3], rel=1e-2)
    for e in range(starts[3], starts[4]):
        assert slope[to[e]] == pytest.approx(rate[e], rel=0.05, abs=0.02 * totals[3])


def test_the_solution_lets_the_surplus_flow_off(gaussian):
    plan, centres, sizes = gaussian
    near = nearest(plan, centres, np.zeros(25))
    starts, to, rate, totals = border_graph(near, plan.weights, np.full(25, 0.5))
    surplus, ground = (near.counts - sizes).astype(float), 1e-9 * totals
    step = solve(starts, to, rate, totals, ground, surplus, 200)
    flow = [
        totals[q] * step[q] - rate[starts[q] : starts[q + 1]] @ step[to[starts[q] : starts[q + 1]]]
        for q in range(25)
    ]
    assert flow == pytest.approx(surplus, abs=1e-2 * np.abs(surplus).max())


def test_an_empty_cell_is_priced_to_win_its_size(gaussian):
    plan, centres, _ = gaussian
    centres = np.vstack([centres, [[30.0, 30.0]]])
    prices = np.zeros(26)
    near = nearest(plan, centres, prices)
    assert near.counts[25] == 0
    prices[25] = price_to_fill(plan, near, centres[25], 500)
    assert abs(nearest(plan, centres, prices).counts[25] - 500) <= 1
