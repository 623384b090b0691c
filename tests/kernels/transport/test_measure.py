import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal.kernels.transport.measure import fit_prices, improve, mend


@st.composite
def problems(draw):
    """Costs, weights, wanted measures, and labels that keep the least numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cells, low = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    n = cells * low + draw(st.integers(0, 12))
    weights = rng.integers(1, 6, n).astype(float) if draw(st.booleans()) else rng.lognormal(0, 1, n)
    wanted = rng.dirichlet(np.ones(cells)) * weights.sum()
    costs = rng.random((n, cells))
    if draw(st.booleans()):
        costs = np.round(costs, 1)
    labels = rng.permutation(
        np.concatenate([np.repeat(np.arange(cells), low), rng.integers(0, cells, n - cells * low)])
    )
    return costs, weights, wanted, labels, np.full(cells, low)


@settings(max_examples=200)
@given(problems())
def test_no_move_brings_the_measures_nearer_and_none_costs_less(problem):
    costs, weights, wanted, labels, low = problem
    n, slack = len(weights), weights.mean() / 2
    off = np.bincount(labels, weights, len(low)) - wanted
    counts = np.bincount(labels, minlength=len(low))
    before = np.maximum(np.abs(off) - slack, 0).sum()
    for step in (mend, improve, mend):
        cost = costs[np.arange(n), labels].sum()
        missed = np.maximum(np.abs(off) - slack, 0).sum()
        step(costs, weights, off, labels, counts, low, slack)
        assert np.maximum(np.abs(off) - slack, 0).sum() <= missed + 1e-9
        assert step is mend or costs[np.arange(n), labels].sum() <= cost + 1e-9
    assert (counts >= low).all()
    assert np.array_equal(counts, np.bincount(labels, minlength=len(low)))
    loads = naive.loads_of(weights.tolist(), labels.tolist(), len(low))
    assert off == pytest.approx(np.array(loads) - wanted, abs=1e-9)
    assert naive.missed_measure(loads, wanted.tolist(), slack) <= before + 1e-9
    assert naive.moves_that_mend(weights.tolist(), labels.tolist(), wanted.tolist(), low.tolist(), slack) < 1e-9
    most = weights.max() + 1e-9
    assert (counts[off > most] == low[off > most]).all()
    if (off < -most).any():
        assert (counts[off > 1e-9] == low[off > 1e-9]).all()


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.integers(2, 30))
def test_a_price_fits_its_cell_as_nearly_as_any(seed, n):
    """With two cells the price of the last one is fitted exactly."""
    rng = np.random.default_rng(seed)
    costs, weights = rng.random((n, 2)), rng.lognormal(0, 1, n)
    wanted = rng.dirichlet(np.ones(2)) * weights.sum()
    price = np.zeros(2)
    fit_prices(costs, weights, wanted, price, 1)
    paid = costs + weights[:, None] * price
    load = weights[paid[:, 1] < paid[:, 0]].sum()
    limits = (paid[:, 0] - costs[:, 1]) / weights
    best = naive.nearest_measure(limits.tolist(), weights.tolist(), wanted[1])
    assert abs(load - wanted[1]) <= max(best, weights.max() / 2) + 1e-9


def test_prices_share_out_many_records():
    rng = np.random.default_rng(0)
    X, centres = rng.random((2000, 2)), rng.random((8, 2))
    costs = ((X[:, None] - centres) ** 2).sum(axis=2)
    weights = rng.lognormal(0, 0.5, 2000)
    wanted = np.full(8, weights.sum() / 8)
    price = np.zeros(8)
    fit_prices(costs, weights, wanted, price, 50)
    load = np.bincount((costs + weights[:, None] * price).argmin(axis=1), weights, 8)
    assert np.abs(load - wanted).max() < 0.02 * wanted[0]


def test_one_cell_needs_no_price():
    price = np.zeros(1)
    fit_prices(np.ones((3, 1)), np.ones(3), np.array([3.0]), price, 5)
    assert price.tolist() == [0.0]
