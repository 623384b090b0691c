import numpy as np
import pytest

import naive
from shoal.bounds.pricing import collect, shares
from shoal.kernels.proofs.cover import cover, masks_of, new_stack, records_of
from shoal.methods.optimal import equal_ranges, labels_of, new_problem


def best_cover(X, k, chunk):
    problem = new_problem(X, k)
    prices = shares(problem)
    groups = collect(problem, prices, np.inf, np.inf, 10**6, 10**7, lambda: False)
    stack = new_stack(len(X), prices.record.sum(), len(X) // k)
    best, found = np.array([np.inf]), np.zeros((len(X) // k + 1, stack.rest.shape[1]), np.uint64)
    labels, calls = None, 0
    while stack.depth[0] >= 0:
        count = cover(problem.d2, groups, 0.0, k, equal_ranges(problem.twin), stack, best, found, chunk)
        if count:
            labels = labels_of(found[:count], problem)
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
    problem = new_problem(X, 2)
    prices = shares(problem)
    groups = collect(problem, prices, 0.05, 0.2, 10**6, 10**7, lambda: False)
    stack = new_stack(70, prices.record.sum(), 35)
    best, found = np.array([np.inf]), np.zeros((36, 2), np.uint64)
    while stack.depth[0] >= 0:
        count = cover(problem.d2, groups, 0.0, 2, equal_ranges(problem.twin), stack, best, found, 10**6)
    assert count == 35
    assert best[0] == pytest.approx(35 * 0.25**2 / 2)


def test_the_ranges_of_equal_records():
    twin = np.array([False, True, False, True, True, False, False, True])
    assert equal_ranges(twin).tolist() == [[0, 2], [2, 5], [6, 8]]
    assert equal_ranges(np.zeros(3, bool)).shape == (0, 2)
