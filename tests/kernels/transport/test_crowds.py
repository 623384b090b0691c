"""`settle` with heaps against `settle` without and brute force; both promise the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal.kernels.transport.flow import settle


@st.composite
def problems(draw, most_records, most_groups):
    """Arcs with costs, some alike, and sizes that fit; not every record has an arc to every group."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, groups = int(rng.integers(1, most_records + 1)), int(rng.integers(1, most_groups + 1))
    costs = rng.random((n, groups)) * 10
    if draw(st.booleans()):
        costs = np.round(costs / 3)
    whole = draw(st.booleans())
    known = groups if whole else int(rng.integers(1, groups + 1))
    arcs = np.array([np.sort(rng.permutation(groups)[:known]) for _ in range(n)], dtype=np.int32)
    sizes = np.bincount(rng.integers(0, groups, n), minlength=groups)
    freedom = draw(st.integers(0, 2))
    low, high = np.maximum(sizes - rng.integers(0, 3, groups) * (freedom > 0), 0), sizes + freedom
    price = rng.normal(size=groups + 1) * draw(st.sampled_from([0.0, 3.0]))
    price[-1] = 0
    return costs, arcs, low, high, price


def solved(crowded, costs, arcs, low, high, price):
    n = len(costs)
    prices, labels, paid = price.copy(), np.empty(n, np.int64), np.empty(n)
    used = np.full(n, arcs.shape[1], np.int32)
    room = np.concatenate([arcs, np.full_like(arcs, -7)], axis=1)  # unused room at the end of each row
    on_arcs = np.take_along_axis(costs, arcs.astype(np.int64), axis=1)
    on_arcs = np.concatenate([on_arcs, np.full_like(on_arcs, -1e9)], axis=1)
    possible = settle(room, on_arcs, used, low, high, prices, labels, paid, crowded)
    return possible, labels, paid, prices


@settings(max_examples=300)
@given(problems(most_records=40, most_groups=8))
def test_heaps_find_what_lists_find(problem):
    costs, arcs, low, high, _ = problem
    expected, _, least, _ = solved(False, *problem)
    possible, labels, paid, prices = solved(True, *problem)
    assert possible == expected
    if not possible:
        return
    assert paid.sum() == pytest.approx(least.sum())
    assert np.array_equal(paid, costs[np.arange(len(costs)), labels])
    sizes = np.bincount(labels, minlength=len(low))
    assert (sizes >= low).all()
    assert (sizes <= high).all()
    here = paid + prices[labels]
    for x, ways in enumerate(arcs):
        assert here[x] <= (costs[x, ways] + prices[ways]).min() + 1e-9
    assert (prices[:-1][sizes < high] <= prices[-1] + 1e-9).all()
    assert (prices[:-1][sizes > low] >= prices[-1] - 1e-9).all()


@settings(max_examples=100)
@given(problems(most_records=7, most_groups=3))
def test_heaps_find_the_cheapest_of_all(problem):
    costs, _, low, high, price = problem
    arcs = np.tile(np.arange(costs.shape[1], dtype=np.int32), (len(costs), 1))
    possible, _, paid, _ = solved(True, costs, arcs, low, high, price)
    assert possible
    assert paid.sum() == pytest.approx(naive.cheapest_assignment(costs.tolist(), low.tolist(), high.tolist()))


def test_many_records_move_through_the_heaps():
    rng = np.random.default_rng(1)
    costs = rng.random((3000, 6)) + np.arange(6)  # all want the first groups
    arcs = np.tile(np.arange(6, dtype=np.int32), (3000, 1))
    sizes = np.full(6, 500)
    _, labels, paid, prices = solved(True, costs, arcs, sizes, sizes, np.zeros(7))
    assert np.bincount(labels).tolist() == sizes.tolist()
    dual = (costs + prices[:-1]).min(axis=1).sum() - (sizes * prices[:-1]).sum()
    assert paid.sum() == pytest.approx(dual, rel=1e-12)
