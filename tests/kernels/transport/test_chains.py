import numpy as np
import pytest

from shoal.kernels.transport.blocks import nearest, prepare
from shoal.kernels.transport.chains import carry_over, exchange, list_arcs, part_ties


def problem(seed, n=300, cells=6):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, 2)), 1)
    return prepare(X), X[rng.choice(n, cells, replace=False)] + 0.01, np.full(cells, n // cells)


@pytest.mark.parametrize("reach", [0.1, 1.0, np.inf])
def test_arcs_are_all_cells_within_reach(reach):
    plan, centres, _ = problem(0)
    prices = np.linspace(0, 0.1, 6)
    near = nearest(plan, centres, prices)
    arcs = list_arcs(plan, centres, prices, near, np.full(6, reach))
    points = plan.points.transpose(0, 2, 1).reshape(-1, 2)
    count = len(plan.starts) - 1
    assert arcs.points.tolist() == np.flatnonzero((near.gap <= reach) & (plan.weights > 0)).tolist()
    for i, x in enumerate(arcs.points):
        d2 = (points[x, 0] - centres[:, 0]) ** 2 + (points[x, 1] - centres[:, 1]) ** 2
        own = slice(arcs.starts[i], arcs.starts[i + 1])
        assert arcs.cells[own].tolist() == np.flatnonzero(d2 + prices <= near.value[x] + reach).tolist()
        assert (arcs.costs[own] == d2[arcs.cells[own]]).all()
        assert arcs.flow[own].sum() == plan.weights[x]
    assert count >= len(arcs.points)


@pytest.mark.parametrize("seed", range(10))
def test_complete_lists_settle_everything(seed):
    plan, centres, sizes = problem(seed)
    prices = np.zeros(6)
    near = nearest(plan, centres, prices)
    arcs = list_arcs(plan, centres, prices, near, np.full(6, np.inf))
    surplus, short = near.counts - sizes, np.zeros(6, bool)
    exchange(arcs, surplus, prices, np.full(6, np.inf), short)
    assert not surplus.any()
    assert not short.any()
    used = arcs.cells[: arcs.starts[-1]]
    flow = arcs.flow[: arcs.starts[-1]]
    assert (np.bincount(used, flow, 6) == sizes).all()
    value = arcs.costs[: arcs.starts[-1]] + prices[used]
    least = np.minimum.reduceat(value, arcs.starts[:-1])[arcs.owner[: arcs.starts[-1]]]
    assert value[flow > 0] == pytest.approx(least[flow > 0], abs=1e-12)


def test_short_lists_are_reported_and_never_trusted():
    plan, centres, sizes = problem(1)
    prices = np.zeros(6)
    near = nearest(plan, centres, prices)
    reach = np.full(6, 1e-3)
    arcs = list_arcs(plan, centres, prices, near, reach)
    surplus, short = near.counts - sizes, np.zeros(6, bool)
    exchange(arcs, surplus, prices, prices + reach, short)
    assert short.any()
    assert (surplus > 0).any()
    wider = list_arcs(plan, centres, prices, nearest(plan, centres, prices), np.full(6, np.inf))
    counts = nearest(plan, centres, prices).counts
    carry_over(arcs, wider, counts)
    assert (counts == np.bincount(wider.cells, wider.flow, 6)[:6]).all()
    assert (counts - sizes == surplus).all()


def test_prices_leave_the_ties_where_they_can():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    plan, centres, sizes = prepare(X), X[:4].copy(), np.full(4, 15)
    prices = np.zeros(4)
    near = nearest(plan, centres, prices)
    arcs = list_arcs(plan, centres, prices, near, np.full(4, np.inf))
    surplus = near.counts - sizes
    exchange(arcs, surplus, prices, np.full(4, np.inf), np.zeros(4, bool))
    part_ties(arcs, prices, np.inf)
    now = nearest(plan, centres, prices)
    assert (now.counts == sizes).all()
    assert now.gap[plan.weights > 0].min() > 1e-9
