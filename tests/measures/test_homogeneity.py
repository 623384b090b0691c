import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import shoal
from samples import points
from shoal.errors import ShoalError
from shoal.measures import l_e, l_sse


@settings(max_examples=200)
@given(points(widest=8), st.randoms(use_true_random=False))
def test_the_losses_are_those_of_the_naive_twins(sample, random):
    X, k = sample
    labels = [min(i // k, len(X) // k - 1) for i in range(len(X))]
    random.shuffle(labels)
    assert l_e(X, labels) == pytest.approx(naive.lost_distance(X, labels), rel=1e-9, abs=1e-9)
    assert l_sse(X, labels) == pytest.approx(naive.lost_squares(X, labels), rel=1e-9, abs=1e-9)


def test_one_group_loses_everything_and_one_for_each_record_nothing():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for loss in (shoal.l_e, shoal.l_sse):
        assert loss(X, np.zeros(30, int)) == pytest.approx(100.0)
        assert loss(X, np.arange(30)) == 0.0
        assert loss(np.ones((5, 2)), [0, 0, 1, 1, 1]) == 0.0


def test_the_squared_loss_is_the_information_loss():
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = shoal.MDAV(k=4).fit(X)
    assert l_sse(X, model.labels_) == model.information_loss_


def test_a_large_table_is_taken_in_parts():
    X = np.random.default_rng(0).normal(size=(250_000, 2))
    labels = np.arange(250_000) // 5
    means = X.reshape(-1, 5, 2).mean(axis=1)[labels]
    expected = np.linalg.norm(X - means, axis=1).sum() / np.linalg.norm(X - X.mean(axis=0), axis=1).sum()
    assert l_e(X, labels) == pytest.approx(100 * expected)


@pytest.mark.parametrize(
    ("X", "labels", "message"),
    [
        ([[1.0], [np.nan]], [0, 0], "NaN"),
        ([["a"], ["b"]], [0, 0], "could not convert"),
        ([1.0, 2.0], [0, 0], "Expected 2D array"),
        ([[1.0], [2.0]], [0], "labels have the shape"),
        ([[1.0], [2.0]], [0, 2], "label 2 is too large"),
        ([[1.0], [1e200]], [0, 0], "scale it first"),
    ],
)
def test_bad_input_is_an_error(X, labels, message):
    for loss in (l_e, l_sse):
        with pytest.raises(ShoalError, match=message):
            loss(X, labels)
