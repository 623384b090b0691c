import numpy as np
import pytest

from shoal.kernels.segments import best_segments


def obvious(values, k):
    best = [0.0] + [np.inf] * len(values)
    for i in range(1, len(values) + 1):
        for s in range(k, min(2 * k - 1, i) + 1):
            part = values[i - s : i] - values[i - 1]
            best[i] = min(best[i], best[i - s] + ((part - part.mean()) ** 2).sum())
    return best


@pytest.mark.parametrize("k", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", ["round", "tied", "far"])
def test_costs_are_those_of_the_obvious_recurrence(k, kind):
    rng = np.random.default_rng(k)
    values = {"round": rng.normal(size=50), "tied": rng.integers(0, 5, 50) + 0.0, "far": 1e9 + rng.random(50)}[
        kind
    ]
    values = np.sort(values)
    cost, length = np.zeros(51), np.zeros(51, np.int64)
    best_segments(values, k, cost, length, 1, 20)
    best_segments(values, k, cost, length, 21, 50)
    assert cost == pytest.approx(obvious(values, k), rel=1e-9, abs=1e-12)
    end = 50
    while end > 0:
        assert k <= length[end] <= 2 * k - 1
        end -= length[end]
    assert end == 0
