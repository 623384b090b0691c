import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.rows.path import cut_row, label_cut


def cut(X, row, k):
    cost, start = np.empty(len(row) + 1), np.empty(len(row) + 1, np.int64)
    cut_row(X, row, k, cost, start)
    labels = np.empty(len(row), np.int64)
    groups = label_cut(row, start, labels)
    return labels, groups, cost[-1]


@settings(max_examples=200)
@given(points(most=12, widest=4), st.randoms())
def test_no_other_cut_of_the_row_has_a_lower_sse(sample, random):
    X, k = sample
    row = list(range(len(X)))
    random.shuffle(row)
    labels, groups, cost = cut(X, np.array(row), k)
    assert [labels[i] for i in row] == sorted(labels)
    assert sorted(set(labels.tolist())) == list(range(groups))
    sizes = np.bincount(labels)
    assert k <= sizes.min()
    assert sizes.max() <= 2 * k - 1
    best = naive.cheapest_cut(X, row, k)
    tolerance = 1e-9 * best + 1e-24 * np.abs(X).max() ** 2
    assert cost <= best + tolerance
    found = naive.sse(naive.plain(X), [np.flatnonzero(labels == g).tolist() for g in range(groups)])
    assert found <= best + tolerance


def test_nothing_drifts_along_a_row_of_large_numbers_with_a_small_spread():
    rng = np.random.default_rng(0)
    X = 1e9 + rng.normal(size=(2000, 2)) * 1e-3
    labels, groups, cost = cut(X, np.argsort(X[:, 0]), 3)
    exact = naive.sse(naive.plain(X), [np.flatnonzero(labels == g).tolist() for g in range(groups)])
    assert cost == pytest.approx(exact, rel=1e-4)


def test_equally_cheap_cuts_have_the_larger_last_group():
    labels, _, _ = cut(np.zeros((7, 1)), np.arange(7), 2)
    assert np.bincount(labels)[-1] == 3
