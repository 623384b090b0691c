import numpy as np
import pytest
from hypothesis import given, settings

import naive
from samples import points
from shoal.kernels.search_tree.neighbours import nearest_neighbours


@settings(max_examples=200)
@given(points(widest=6))
def test_neighbours_are_those_of_the_naive_twin(sample):
    X, k = sample
    ids, d2 = nearest_neighbours(X, k - 1)
    plain = naive.plain(X)
    for i, record in enumerate(plain):
        expected = naive.nearest(plain, range(len(plain)), i, k - 1)
        assert ids[i].tolist() == expected
        assert d2[i].tolist() == [naive.squared_distance(plain[j], record) for j in expected]


def test_a_record_with_many_twins_is_not_its_own_neighbour():
    ids, d2 = nearest_neighbours(np.ones((20, 2)), 3)
    assert ids[10].tolist() == [0, 1, 2]
    assert ids[1].tolist() == [0, 2, 3]
    assert not d2.any()


KINDS = {
    "plain": lambda X, rng: X,
    "tied": lambda X, rng: np.round(X * 2),
    "duplicated": lambda X, rng: X[rng.integers(0, len(X), len(X))],
    "skewed": lambda X, rng: np.exp(3 * X),
    "one far out": lambda X, rng: np.vstack([X[1:] * 1e-9, np.ones(X.shape[1])]),
    "huge": lambda X, rng: X * 1e140,
    "tiny": lambda X, rng: X * 1e-160,
    "on a line": lambda X, rng: np.outer(X[:, 0], np.ones(X.shape[1])),
}


@pytest.mark.parametrize(("n", "m", "count"), [(1000, 3, 24), (700, 9, 5), (600, 2, 70)])
@pytest.mark.parametrize("kind", KINDS)
def test_neighbours_of_many_records_are_those_of_a_scan(kind, n, m, count):
    rng = np.random.default_rng(n)
    X = np.ascontiguousarray(KINDS[kind](rng.normal(size=(n, m)), rng))
    ids, d2 = nearest_neighbours(X, count)
    for i in range(0, n, 7):
        away = np.zeros(n)
        for column in range(m):  # as squared_distance sums
            away += (X[:, column] - X[i, column]) ** 2
        expected = np.argsort(away, kind="stable")
        expected = expected[expected != i][:count]
        assert ids[i].tolist() == expected.tolist()
        assert d2[i].tolist() == away[expected].tolist()
