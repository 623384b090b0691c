from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.rows.tour import shorten
from shoal.kernels.search_tree.neighbours import nearest_neighbours


def length(X, tour):
    return np.sqrt(((X[tour] - X[np.roll(tour, -1)]) ** 2).sum(axis=1)).sum()


def shortened(X, tour, near):
    n = len(X)
    tour, place = tour.copy(), np.empty(n, np.int64)
    place[tour] = np.arange(n)
    waiting, queued = tour.copy(), np.ones(n + 2, np.int64)
    queued[n:] = 0, n
    lengths = [length(X, tour)]
    while shorten(X, near, tour, place, waiting, queued, 1):
        lengths.append(length(X, tour))
        assert np.array_equal(place[tour], np.arange(n))
    return tour, lengths


def best_single_move(X, tour):
    """How much the best 2-opt or Or-opt move of any kind would gain, looking at all of them."""
    n, now, best = len(tour), length(X, tour), 0.0
    for i in range(n):
        turned = np.roll(tour, -i)
        for j in range(2, n):
            best = max(best, now - length(X, np.concatenate([turned[:j][::-1], turned[j:]])))
        for size in (1, 2, 3):
            segment, rest = turned[:size], turned[size:]
            for at in range(1, len(rest)):
                for piece in (segment, segment[::-1]):
                    best = max(best, now - length(X, np.concatenate([rest[:at], piece, rest[at:]])))
    return best


@settings(max_examples=60)
@given(st.integers(5, 25), st.integers(0, 2**32), st.sampled_from(["round", "tied", "line"]))
def test_every_move_shortens_and_in_the_end_no_move_would(n, seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    if kind == "tied":
        X = np.round(X)
    elif kind == "line":
        X[:, 1] = 0
    near, _ = nearest_neighbours(X, n - 1)
    tour, lengths = shortened(X, rng.permutation(n), near)
    assert np.array_equal(np.sort(tour), np.arange(n))
    assert all(b <= a + 1e-9 for a, b in pairwise(lengths))
    # The lists hold all neighbours here, so every move has been looked at.
    assert best_single_move(X, tour) <= 1e-6 * lengths[-1] + 1e-12
