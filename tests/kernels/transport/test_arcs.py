import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.kernels.transport.arcs import call_records, lower_gaps, middle, price_out_rows


def some_arcs():
    """Three records with room for three arcs each; record 1 has two arcs, the others one."""
    arcs = np.array([[0, -1, -1], [0, 1, -1], [2, -1, -1]], dtype=np.int32)
    costs = np.array([[1.0, 9, 9], [2.0, 3.0, 9], [4.0, 9, 9]])
    return arcs, costs, np.array([1, 2, 1], np.int32)


def test_called_records_get_an_arc_once():
    arcs, costs, used = some_arcs()
    call_records(np.array([0, 1]), 1, np.array([5.0, 3.0, 7.0]), arcs, costs, used)
    assert used.tolist() == [2, 2, 1]
    assert (arcs[0, 1], costs[0, 1]) == (1, 5.0)


def test_better_arcs_are_added_and_counted_also_where_there_is_no_room():
    arcs, costs, used = some_arcs()
    rows = np.array([[2.0, 3.0, 1.0, 1.0]])  # of record 1, which has one free place and wants groups 2 and 3
    price, labels, paid = np.zeros(5), np.array([0, 0, 2]), np.array([1.0, 2.0, 4.0])
    assert price_out_rows(rows, 1, arcs, costs, used, price, labels, paid) == 2
    assert arcs[1].tolist() == [0, 1, 2]
    assert price_out_rows(rows, 1, arcs, costs, used, price + 0.5, labels, paid) == 1
    assert price_out_rows(np.full((1, 4), 2.0), 1, arcs, costs, used, price, labels, paid) == 0


def test_gaps_are_those_of_the_record_that_loses_least():
    rows = np.array([[1.0, 3.0], [1.0, 2.0], [5.0, 1.0]])
    gaps = np.full((2, 2), np.inf)
    lower_gaps(rows, np.array([0.0, 0.5]), np.array([0, 0, 1]), gaps)
    assert gaps.tolist() == [[0.0, 1.5], [3.5, 0.0]]


@given(st.integers(0, 2**32), st.integers(1, 7))
def test_the_middle_is_within_all_limits_and_below_them_wherever_it_can_be(seed, nodes):
    rng = np.random.default_rng(seed)
    gaps = np.round(rng.random((nodes, nodes)) * 2) * rng.random((nodes, nodes))
    shift = middle(gaps)
    shortest = gaps.T.copy()
    np.fill_diagonal(shortest, 0)
    for via in range(nodes):
        shortest = np.minimum(shortest, shortest[:, via, None] + shortest[None, via])
    for g in range(nodes):
        for h in range(nodes):
            if g != h:
                assert shift[g] - shift[h] <= gaps[g, h] + 1e-12
                if gaps[g, h] + shortest[g, h] > 1e-9:  # no circle of limits forces the two together
                    assert shift[g] - shift[h] < gaps[g, h]
