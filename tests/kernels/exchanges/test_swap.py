import numpy as np
import pytest
from hypothesis import given, settings

import naive
from samples import points
from shoal import MDAV
from shoal.quantizing.lloyd import swap


@settings(max_examples=150)
@given(points(most=25))
def test_after_swaps_no_pair_gains_by_trading_places(sample):
    """With fewer than twelve groups every pair of records is looked at."""
    X, k = sample
    before = MDAV(k=k).fit(X)
    labels = before.labels_.copy()
    swap(X, labels)
    assert np.array_equal(np.bincount(labels), before.sizes_)
    plain = naive.plain(X)

    def sse(marks):
        return naive.sse(plain, [np.flatnonzero(marks == g).tolist() for g in range(marks.max() + 1)])

    now = sse(labels)
    least = 1e-9 * now + 1e-20 * np.abs(X).max() ** 2
    assert now <= before.sse_ + least
    if before.n_groups_ <= 12:
        for x in range(len(X)):
            for y in range(x):
                traded = labels.copy()
                traded[x], traded[y] = labels[y], labels[x]
                assert sse(traded) >= now - least


def test_a_pair_in_the_wrong_places_is_put_right():
    X = np.array([[0.0], [0.1], [9.0], [0.2], [9.1], [9.2]])
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert swap(X, labels)
    assert labels.tolist() == [0, 0, 1, 0, 1, 1]
    assert not swap(X, labels)
    assert pytest.approx(0.04) == sum(((X[labels == g] - X[labels == g].mean()) ** 2).sum() for g in (0, 1))
