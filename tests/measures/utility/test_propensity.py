import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive_utility import best_stump, drawn, logistic
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.utility import propensity as fast


def pair_of(*columns):
    return Pair(tuple(columns), np.zeros(len(columns[0].after), np.int64), matched=False)


def figures(pair):
    found = {figure.name: figure for figure in fast.propensity(pair)}
    json.dumps([figure.as_dict() for figure in found.values()], allow_nan=False)
    return found


def test_a_copy_cannot_be_told_and_another_table_can():
    x = drawn(1, 200, gaps=0)
    copy = figures(pair_of(PairColumn("x", "quasi-identifier", x, x)))
    assert copy["pmse_tree"].value == copy["pmse_logistic"].value == pytest.approx(0)
    far = figures(pair_of(PairColumn("x", "quasi-identifier", x, x[:50] + 100)))
    maximum = 0.2 * 0.8
    assert far["pmse_tree"].value == pytest.approx(maximum)
    assert far["pmse_tree"].details == {"maximum": pytest.approx(maximum), "share_of_maximum": pytest.approx(1)}
    assert 0.9 * maximum < far["pmse_logistic"].value < maximum


@given(
    st.integers(0, 10**6), st.sampled_from(["number", "tied", "constant"]), st.integers(2, 12), st.integers(1, 12)
)
def test_one_cut_is_that_of_the_twin(seed, kind, n, m):
    matrix = np.column_stack([drawn(seed + i, n + m, kind, 0) for i in range(2)])
    released = np.repeat([0, 1], [n, m])
    found = fast.pmse(fast.tree_scores(matrix, released, 1), m / (n + m))
    assert found == pytest.approx(best_stump(matrix.tolist(), released.tolist()))


@settings(max_examples=8)
@given(st.integers(0, 10**6))
def test_the_logistic_regression_is_that_of_the_twin(seed):
    matrix = np.column_stack([drawn(seed + i, 20, gaps=0) for i in range(3)])
    released = (drawn(seed + 5, 20, gaps=0) + matrix[:, 0] > 0).astype(int)
    released[:2] = 0, 1
    found = fast.logistic_scores(matrix, released)
    assert found == pytest.approx(logistic(matrix.tolist(), released.tolist(), 1000), abs=2e-3)


def test_squares_and_products_are_terms_but_a_flag_has_no_square():
    matrix = np.array([[2.0, 1.0], [3.0, 0.0]])
    assert fast.crossed(matrix).tolist() == [[2, 1, 4, 2], [3, 0, 9, 0]]


def test_a_change_of_shape_is_seen_by_the_squares():
    x = drawn(1, 2000, gaps=0)
    narrow = figures(pair_of(PairColumn("x", "quasi-identifier", x, x / 3)))
    assert narrow["pmse_logistic"].details["share_of_maximum"] > 0.1


def test_degenerate_tables_give_no_figure_or_a_finite_one():
    for kind in ("constant", "gaps", "tied"):
        for n, m in ((1, 1), (1, 3), (4, 2)):
            figures(pair_of(PairColumn("x", "quasi-identifier", drawn(1, n, kind), drawn(2, m, kind))))


def test_a_search_that_stops_at_the_limit_of_precision_says_nothing(recwarn):
    rng = np.random.default_rng(0)
    numbers = PairColumn("b", "confidential", *[rng.integers(0, 2, 40).astype(float)] * 2, ("u", "v"))
    one = PairColumn("a", "quasi-identifier", *[np.ones(40)] * 2)
    assert figures(pair_of(one, numbers))["pmse_logistic"].value == pytest.approx(0)
    assert not recwarn.list
