import numpy as np
import pytest

import naive
from shoal.bounds.closing import collect, equal_ranges, labels_of
from shoal.bounds.master import Duals
from shoal.bounds.points import Points
from shoal.kernels.proofs.cover import cover, masks_of, new_stack, records_of


def open_groups(X, k, goal):
    """All groups that a partition below the goal can have, with the shares of the records as prices."""
    points = Points(X, k, min(2 * k - 1, len(X) - k))
    shares = points.mean_of_equals(np.array(naive.shares(X, k, points.high, points.high - 1)))
    duals = Duals(shares, np.empty((0, 3), np.int64), np.empty(0))
    chosen = collect(points, duals, goal, 10**6, 10**7, lambda: False)
    return points, chosen.ranked(), new_stack(len(X), chosen.bound, len(X) // k)


def best_cover(X, k, chunk):
    points, groups, stack = open_groups(X, k, np.inf)
    best, found = np.array([np.inf]), np.zeros((len(X) // k + 1, stack.rest.shape[1]), np.uint64)
    d2, twins = points.d2[np.ix_(points.places, points.places)], equal_ranges(points.places)
    labels, calls = None, 0
    while stack.depth[0] >= 0:
        count = cover(d2, groups, 0.0, k, twins, stack, best, found, chunk)
        if count:
            labels = labels_of(found[:count], points)
        calls += 1
    return best[0], labels, calls


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("kind", ["round", "repeated"])
def test_the_cheapest_cover_is_the_optimum_however_often_the_search_is_left(k, kind):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(9, 2)) if kind == "round" else np.sort(rng.integers(0, 4, 9))[:, None] * [1.0, 3.0]
    least = naive.optimum(X, k)[0]
    for chunk in (3, 10**6):
        value, labels, calls = best_cover(X, k, chunk)
        assert value == pytest.approx(least, abs=1e-12)
        groups = [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]
        assert naive.sse(X.tolist(), groups) == pytest.approx(least, abs=1e-12)
        assert min(map(len, groups)) >= k
        assert calls == 1 or chunk < 10


def test_sets_of_more_than_64_records():
    members = np.array([[0, 63, 64, 130], [1, 2, 0, 0]])
    masks = masks_of(members, np.array([4, 2]), 3)
    out = np.empty(200, np.int64)
    assert out[: records_of(masks[0], out)].tolist() == [0, 63, 64, 130]
    assert out[: records_of(masks[1], out)].tolist() == [1, 2]
    X = np.repeat(np.arange(35.0), 2)[:, None] + np.tile([0.0, 0.25], 35)[:, None]
    points, groups, stack = open_groups(X, 2, 35 * 0.25**2 / 2 + 0.05)
    best, found = np.array([np.inf]), np.zeros((36, 2), np.uint64)
    while stack.depth[0] >= 0:
        count = cover(points.d2, groups, 0.0, 2, equal_ranges(points.places), stack, best, found, 10**6)
    assert count == 35
    assert best[0] == pytest.approx(35 * 0.25**2 / 2)
