import itertools

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csc_array

import naive
from shoal.bounds import master
from shoal.bounds.master import (
    Duals,
    concerned,
    cover_of,
    dense_factor,
    interior_point,
    propose,
    reach,
    sparse_factor,
    violated,
)
from shoal.bounds.points import Points


def on_a_line(places, k=2):
    return Points(np.array(places, float)[:, None], k, 2 * k - 1)


def table_of(groups, rows):
    """The sparse table of some groups, of single points."""
    points = on_a_line(np.arange(rows))
    return cover_of(np.concatenate(groups), np.array([len(group) for group in groups]), points)


def program(seed, rows=12, columns=60):
    """Groups of three of twelve records, a partition among them."""
    rng = np.random.default_rng(seed)
    groups = [np.sort(rng.choice(rows, 3, replace=False)) for _ in range(columns)]
    groups += list(np.arange(rows).reshape(-1, 3))
    return groups, rng.random(len(groups))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("factor", [dense_factor, sparse_factor])
def test_the_value_is_that_of_another_solver(seed, factor, monkeypatch):
    monkeypatch.setattr(master, "dense_factor", factor)
    groups, costs = program(seed)
    cuts = np.array([[0, 1, 2], [3, 5, 9]])
    low, high = np.full(12, -9.0), np.full(12, 9.0)
    points = on_a_line(np.arange(12), 5)
    table, right, all_costs = master.master(points, table_of(groups, 12), costs, cuts, low, high)
    assert right.tolist() == [1.0] * 14 + [2.0]
    solved = interior_point(table, right, all_costs, 1e-7)
    expected = linprog(all_costs, A_eq=table, b_eq=right)
    assert solved.value == pytest.approx(expected.fun, abs=1e-5)
    assert right @ solved.prices == pytest.approx(expected.fun, abs=1e-5)
    assert (all_costs - table.T @ solved.prices).min() > -1e-5
    assert np.abs(table @ solved.x - right).max() < 1e-4


def test_prices_stay_in_their_ranges():
    groups, costs = program(1)
    low, high = np.full(12, 0.1), np.full(12, 0.15)
    points, cover, none = on_a_line(np.arange(12), 3), table_of(groups, 12), np.empty((0, 3), int)
    table, right, all_costs = master.master(points, cover, costs + 1, none, low, high)
    prices = interior_point(table, right, all_costs, 1e-7).prices
    assert prices == pytest.approx(high, abs=1e-4)


def test_equal_records_are_one_row_and_cuts_concern_groups_with_two_of_three():
    groups = [np.array([0, 0, 1]), np.array([1, 2, 3])]
    cuts = np.array([[0, 1, 2], [1, 2, 3], [0, 2, 3]])
    points, cover = on_a_line([0, 0, 1, 2, 3]), table_of(groups, 4)
    table, right, costs = master.master(points, cover, np.ones(2), cuts, np.zeros(4), np.ones(4))
    assert right.tolist() == [2, 1, 1, 1, 1, 1, 1, 2]
    assert table.toarray()[:4, 0].tolist() == [2, 1, 0, 0]
    assert table.toarray()[7].tolist() == [1, 1] + [0] * 11 + [1]
    assert table.shape == (8, 2 + 8 + 4)
    assert len(costs) == 14
    cover = csc_array(np.array([[0, 1], [1, 1], [1, 0], [0, 0]]))
    assert concerned(cover, cuts).toarray().tolist() == [[1, 1], [1, 0], [0, 0]]


def test_a_step_ends_at_the_border():
    assert reach(np.array([1.0, 2.0]), np.array([1.0, -4.0])) == 0.5
    assert reach(np.array([1.0, 2.0]), np.array([1.0, 4.0])) == 1.0


def test_proposed_duals_are_those_of_the_linear_program_and_no_known_group_undercuts_them():
    X = np.random.default_rng(0).normal(size=(11, 2))
    points = Points(X, 3, 5)
    groups = [np.array(group) for size in (3, 4, 5) for group in itertools.combinations(range(11), size)]
    cover, costs = table_of(groups, 11), np.array([points.sse(group) for group in groups])
    wide = np.full(11, 100.0)
    cuts = np.array([[0, 1, 2], [4, 5, 6]])
    duals, used, value, held = propose(points, cover, costs, cuts, -wide, wide, 1.0, 1e-8)
    assert value == pytest.approx(duals.value(points), rel=1e-5)
    assert held < 1e-4
    assert duals.toll <= 0
    assert duals.fines.min() >= 0
    assert duals.reduced(cover, costs).min() > -1e-5
    assert used @ costs == pytest.approx(value, rel=1e-4)
    assert value <= naive.optimum_by_subsets(X, 3) + 1e-5


def test_a_triangle_of_half_used_pairs_breaks_its_cut():
    cover = table_of([np.array([0, 1]), np.array([1, 2]), np.array([0, 2]), np.array([3, 4])], 5)
    used, single, none = np.array([0.5, 0.5, 0.5, 1.0]), np.ones(5, int), np.empty((0, 3), int)
    assert violated(cover, used, single, none).tolist() == [[0, 1, 2]]
    assert violated(cover, used, single, np.array([[0, 1, 2]])).tolist() == []
    assert violated(cover, used, np.array([1, 2, 1, 1, 1]), none).tolist() == []
    whole = table_of([np.array([0, 1, 2]), np.array([3, 4])], 5)
    assert violated(whole, np.ones(2), single, none).tolist() == []


def test_prices_fines_and_toll_are_lowered_together():
    points = on_a_line([0, 1, 1, 1])
    duals = Duals(np.array([2.0, 4.0]), np.empty((1, 3), np.int64), np.array([1.0]), -0.5).scaled(0.5)
    assert duals.prices.tolist() == [1.0, 2.0]
    assert duals.value(points) == 1 + 6 - 0.5 - 2 * 0.25
