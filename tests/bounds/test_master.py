import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csc_array

from shoal.bounds import master
from shoal.bounds.master import concerned, dense_factor, interior_point, reach, sparse_factor


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
    table, all_costs = master.master(groups, costs, np.ones(12, np.int64), cuts, low, high)
    right = np.ones(14)
    solved = interior_point(table, right, all_costs, 1e-7)
    expected = linprog(all_costs, A_eq=table, b_eq=right)
    assert solved.value == pytest.approx(expected.fun, abs=1e-5)
    assert right @ solved.prices == pytest.approx(expected.fun, abs=1e-5)
    assert (all_costs - table.T @ solved.prices).min() > -1e-5
    assert np.abs(table @ solved.x - right).max() < 1e-4


def test_prices_stay_in_their_ranges():
    groups, costs = program(1)
    low, high = np.full(12, 0.1), np.full(12, 0.15)
    table, all_costs = master.master(groups, costs + 1, np.ones(12, np.int64), np.empty((0, 3), int), low, high)
    prices = interior_point(table, np.ones(12), all_costs, 1e-7).prices
    assert prices == pytest.approx(high, abs=1e-4)


def test_equal_records_are_one_row_and_cuts_concern_groups_with_two_of_three():
    groups = [np.array([0, 0, 1]), np.array([1, 2, 3])]
    cuts = np.array([[0, 1, 2], [1, 2, 3], [0, 2, 3]])
    table, costs = master.master(groups, np.ones(2), np.array([2, 1, 1, 1]), cuts, np.zeros(4), np.ones(4))
    assert table.toarray()[:4, 0].tolist() == [2, 1, 0, 0]
    assert table.shape == (7, 2 + 8 + 3)
    assert len(costs) == 13
    cover = csc_array(np.array([[0, 1], [1, 1], [1, 0], [0, 0]]))
    assert concerned(cover, cuts).toarray().tolist() == [[1, 1], [1, 0], [0, 0]]


def test_a_step_ends_at_the_border():
    assert reach(np.array([1.0, 2.0]), np.array([1.0, -4.0])) == 0.5
    assert reach(np.array([1.0, 2.0]), np.array([1.0, 4.0])) == 1.0
