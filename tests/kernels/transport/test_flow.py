import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

import naive
from shoal.kernels.transport import flow as module
from shoal.kernels.transport.flow import transport


def costs_of(rows, centres, squared):
    d2 = np.array([[naive.squared_distance(row, centre) for centre in centres.tolist()] for row in rows.tolist()])
    return d2 if squared else np.sqrt(d2)


def certified(costs, labels, prices, low, high):
    """The total, if the sizes are kept and the prices prove that no total is lower."""
    sizes = np.bincount(labels, minlength=len(low))
    assert (sizes >= low).all()
    assert (sizes <= high).all()
    total = costs[np.arange(len(costs)), labels].sum()
    dual = (costs + prices).min(axis=1).sum() - np.where(prices > 0, high * prices, low * prices).sum()
    assert total == pytest.approx(dual, rel=1e-9, abs=1e-9 * costs.max())
    return total


def dense_optimum(costs, low, high):
    """The same problem, all arcs at once, by a solver for linear programmes."""
    n, groups = costs.shape
    each = sparse.kron(sparse.eye(n), np.ones((1, groups)))
    sizes = sparse.kron(np.ones((1, n)), sparse.eye(groups))
    limits = np.concatenate([high, -low])
    return linprog(costs.ravel(), A_ub=sparse.vstack([sizes, -sizes]), b_ub=limits, A_eq=each, b_eq=np.ones(n)).fun


@st.composite
def problems(draw, most):
    """Records, centres (some alike, some far away) and sizes that fit."""
    seed = draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    groups = draw(st.integers(1, most))
    low = rng.integers(0, 4, groups)
    high = low + rng.integers(0, 4, groups)
    high[0] += high.sum() == 0
    n = draw(st.integers(max(1, low.sum()), max(1, high.sum())))
    m = draw(st.integers(1, 3))
    kind = draw(st.sampled_from(["round", "tied", "alike", "outliers"]))
    rows = rng.normal(size=(n, m))
    if kind == "tied":
        rows = np.round(rows)
    elif kind == "alike":
        rows = np.ones((n, m))
    elif kind == "outliers":
        rows[:: n // 3 + 1] *= 1e4
    centres = rows[rng.integers(0, n, groups)] if draw(st.booleans()) else rng.normal(size=(groups, m)) * 3
    return rows, centres, low, high, draw(st.booleans())


@settings(max_examples=150)
@given(problems(most=4))
def test_no_other_assignment_costs_less(problem):
    rows, centres, low, high, squared = problem
    rows = rows[:7]
    low = np.minimum(low, len(rows) // len(low))
    high = np.maximum(high, -(-len(rows) // len(low)))
    labels, prices = transport(rows, centres, low, high, squared)
    costs = costs_of(rows, centres, squared)
    best = naive.cheapest_assignment(costs.tolist(), low.tolist(), high.tolist())
    assert certified(costs, labels, prices, low, high) == pytest.approx(best, rel=1e-9, abs=1e-9)


@settings(max_examples=150)
@given(problems(most=40))
def test_it_agrees_with_a_dense_linear_programme(problem):
    rows, centres, low, high, squared = problem
    labels, prices = transport(rows, centres, low, high, squared)
    costs = costs_of(rows, centres, squared)
    total = certified(costs, labels, prices, low, high)
    assert total == pytest.approx(dense_optimum(costs, low, high), rel=1e-7, abs=1e-7 * (1 + costs.max()))


@settings(max_examples=100)
@given(problems(most=30), st.integers(0, 2**32))
def test_any_prices_may_be_the_beginning(problem, seed):
    rows, centres, low, high, squared = problem
    given_prices = np.random.default_rng(seed).normal(size=len(centres)) * 3
    labels, prices = transport(rows, centres, low, high, squared, given_prices)
    costs = costs_of(rows, centres, squared)
    total = certified(costs, labels, prices, low, high)
    again, _ = transport(rows, centres, low, high, squared, prices)
    assert costs[np.arange(len(rows)), again].sum() == pytest.approx(total, rel=1e-12, abs=1e-9)


@settings(max_examples=100)
@given(problems(most=40))
def test_a_tree_and_all_distances_give_the_same_arcs(problem):
    rows, centres, low, high, squared = problem
    found = []
    for few in (module._FEW, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_FEW", few)
            found.append(transport(rows, centres, low, high, squared))
    costs = costs_of(rows, centres, squared)
    totals = [certified(costs, labels, prices, low, high) for labels, prices in found]
    assert totals[0] == pytest.approx(totals[1], rel=1e-9, abs=1e-9)


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.integers(2, 30), st.integers(1, 6), st.booleans())
def test_fixed_sizes(seed, groups, size, tied):
    """Where groups push out what is too much before chains of moves begin."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(groups * size, 2))
    rows = np.round(rows) if tied else rows
    centres, sizes = rows[rng.permutation(len(rows))[:groups]] * 2, np.full(groups, size)
    labels, prices = transport(rows, centres, sizes, sizes, True, rng.normal(size=groups))
    certified(costs_of(rows, centres, True), labels, prices, sizes, sizes)


def test_many_records_want_the_same_centre():
    """All near one centre, so that most must go far along arcs that are not there at first."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(600, 2)) * 0.01
    centres = np.concatenate([np.zeros((1, 2)), rng.normal(size=(99, 2)) * 50])
    low, high = np.full(100, 6), np.full(100, 6)
    labels, prices = transport(rows, centres, low, high, False)
    certified(costs_of(rows, centres, False), labels, prices, low, high)


def test_sizes_that_cannot_be_are_an_error():
    with pytest.raises(ValueError, match="5 records do not fit into groups of 6 to 9"):
        transport(np.zeros((5, 1)), np.zeros((3, 1)), np.full(3, 2), np.full(3, 3), False)
