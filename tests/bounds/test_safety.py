import numpy as np
import pytest

from bound_safety import (
    KINDS,
    WAYS,
    bound_cut_off,
    exact_optimum,
    greatest_bound,
    one_way,
    table_of,
)
from shoal import Optimal
from shoal.bounds import lower, lower_bound


@pytest.mark.parametrize("kind", KINDS)
def test_no_stage_ever_shows_a_bound_above_the_optimum_of_brute_force(kind):
    tight, stages = 0.0, set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 10))
        X = table_of(kind, n, rng)
        for k in range(2, n + 1):
            optimum = exact_optimum(X, k)
            for way in WAYS:
                greatest, shown = greatest_bound(X, k, way, rng, int(rng.integers(1, 150)))
                assert greatest <= optimum, (seed, k, way)
                stages |= shown
                if optimum > 0 and 2 * k <= n and shown - {"exact"}:
                    tight = max(tight, greatest / float(optimum))
    assert {"exact", "shares"} < stages
    assert tight > 0.99


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e-158, 1e-161])
@pytest.mark.parametrize("shape", [(3, 1), (5, 2), (9, 1)])
def test_an_optimum_that_needs_no_search_is_not_overstated_wherever_the_values_are(shape, scale):
    rng = np.random.default_rng(0)
    for offset in (0.0, 1e6, 1e9, 1e15):
        X = scale * (offset + 1e-15 * max(offset, 1.0) * rng.integers(0, 9, shape))
        k = 3 if shape[1] == 1 else 4
        optimum, bound = exact_optimum(X, k), lower_bound(X, k, seconds=60)
        assert bound.stage == "exact"
        assert bound <= optimum
        assert bound >= float(optimum) * (1 - 2e-9) - 1e-320
        assert Optimal(k=k).fit(X).lower_bound_ <= optimum


def test_a_signal_at_any_moment_leaves_a_bound_that_holds():
    rng = np.random.default_rng(0)
    X = table_of("random", 24, rng)
    for k in (3, 4, 8):
        best = Optimal(k=k).fit(X).sse_
        for way in WAYS:
            for _ in range(3):
                assert 0 <= bound_cut_off(X, k, way, 0.1 * rng.random() ** 2) <= best


def test_a_stage_is_chosen_for_a_while_only():
    before = lower._LOCAL
    with one_way("semidefinite"):
        assert lower._LOCAL == 0
    assert before == lower._LOCAL
