import numpy as np
import pytest

import naive
from bound_safety import KINDS, WAYS, bound_cut_off, greatest_bound, one_way, rounding, table_of
from shoal import Optimal
from shoal.bounds import lower


@pytest.mark.parametrize("kind", KINDS)
def test_no_stage_ever_shows_a_bound_above_the_optimum_of_brute_force(kind):
    tight, stages = 0.0, set()
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 10))
        X = table_of(kind, n, rng)
        for k in range(2, n + 1):
            optimum = naive.optimum_by_subsets(X, k)
            for way in WAYS:
                greatest, shown = greatest_bound(X, k, way, rng, int(rng.integers(1, 150)))
                assert greatest <= optimum * (1 + 1e-12) + rounding(X), (seed, k, way)
                stages |= shown
                if optimum > rounding(X) and 2 * k <= n and shown - {"exact"}:
                    tight = max(tight, greatest / optimum)
    assert {"exact", "shares"} < stages
    assert tight > 0.99


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
