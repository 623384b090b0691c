import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
import shoal
from samples import points, small_table
from shoal import MDAV, Optimal, Refined, ShoalError
from shoal.bounds import Bounding, LowerBound, lower_bound, search


def rounding(X):
    """What an SSE computed with rounded means may be wrong by."""
    return X.size * (1e-15 * np.abs(X).max()) ** 2 + 1e-290


@pytest.mark.parametrize("block", range(6))
def test_no_bound_of_hundreds_of_tables_is_above_the_optimum_of_brute_force_wherever_it_stops(block, monkeypatch):
    monkeypatch.setattr(search, "_SLICE", 0.0)  # it may stop after any anchor
    stages, tight = set(), 0.0
    for seed in range(50 * block, 50 * block + 50):
        X, k = small_table(seed)
        optimum = naive.optimum_by_subsets(X, k)
        bounding, bound = Bounding(X, k), LowerBound(0.0)
        while not bounding.done:
            before, bound = bound, bounding.run(0.0)
            assert before <= bound <= optimum * (1 + 1e-12) + rounding(X), (seed, bound)
            stages.add(bound.stage)
        if bound.stage == "exact":
            assert bound >= optimum * (1 - 2e-9) - rounding(X)
        elif optimum > 1e-9:
            assert bound > 0.5 * optimum
            tight = max(tight, bound / optimum)
    assert {"exact", "splitting", "prices"} <= stages
    assert tight > 0.9999  # a bound that is wrong by a thousandth would be seen


@settings(max_examples=100, deadline=None)
@given(points(most=8, widest=4), st.integers(0, 12))
def test_no_bound_that_was_stopped_early_is_above_the_optimum_of_brute_force(sample, steps):
    X, k = sample
    left = [steps]

    def stop(_):
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    optimum = naive.optimum(X, k)[0]
    bound = lower_bound(X, k, seconds=60, progress=stop)
    assert 0 <= bound <= optimum * (1 + 1e-12) + rounding(X)
    assert 0 <= lower_bound(X, k, seconds=0) <= optimum * (1 + 1e-12) + rounding(X)


@pytest.mark.parametrize("scale", [2.0**-465, 2.0**-233, 2.0**233, 2.0**460])
def test_the_scale_does_not_matter(scale):
    X, k = np.random.default_rng(0).normal(size=(11, 3)), 3
    bound, scaled = lower_bound(X, k, seconds=60), lower_bound(X * scale, k, seconds=60)
    assert scaled == pytest.approx(bound * scale * scale, rel=2e-3)


def test_the_simple_cases_are_exact():
    X = np.random.default_rng(0).normal(size=(9, 3))
    single = lower_bound(X, 5)
    assert single == pytest.approx(((X - X.mean(axis=0)) ** 2).sum(), rel=1e-8)
    assert single <= ((X - X.mean(axis=0)) ** 2).sum()
    line = lower_bound(X[:, [0]], 2)
    assert line == pytest.approx(naive.optimum(X[:, [0]], 2)[0], rel=1e-8)
    assert lower_bound(X, 1) == 0
    assert lower_bound(np.ones((9, 3)), 2) == 0
    assert {single.stage, line.stage, lower_bound(X, 1).stage, lower_bound(np.ones((9, 3)), 2).stage} == {"exact"}


def test_the_bound_rises_from_stage_to_stage():
    X = np.random.default_rng(1).normal(size=(150, 4))
    seen = []
    bound = lower_bound(X, 3, seconds=60, progress=seen.append)
    stages = list(dict.fromkeys(step.stage for step in seen))
    assert stages[:3] == ["shares", "splitting", "prices"]
    best = Refined(k=3, rounds=3).fit(X).sse_
    assert 0.95 * best < bound <= best
    assert bound.seconds > 0


def test_a_large_table_has_a_bound_without_all_distances():
    X = np.random.default_rng(2).normal(size=(7000, 3))
    bound = lower_bound(X, 5, seconds=1)
    assert bound.stage in ("shares", "splitting")
    assert 0.4 * MDAV(k=5).fit(X).sse_ < bound < MDAV(k=5).fit(X).sse_


def test_slices_of_time_go_on_where_the_last_one_stopped():
    X = np.random.default_rng(3).normal(size=(60, 3))
    bounding = Bounding(X, 3)
    bounds = []
    for _ in range(10_000):
        bounds.append(bounding.run(0.0))
        if bounding.done:
            break
    assert bounding.done
    assert len(bounds) > 10
    assert bounds == sorted(bounds)
    assert bounds[-1] == bounding.bound == pytest.approx(lower_bound(X, 3, seconds=60), rel=1e-3)


def test_what_is_closed_stays_proven_and_goes_no_further():
    bounding = Bounding(np.random.default_rng(6).normal(size=(60, 3)), 3, n_jobs=2)
    bound = bounding.run(0.5)
    bounding.close()
    assert bounding.done
    assert bounding.run(1) == bound == bounding.bound


def test_two_cores_prove_as_much_as_one():
    X = np.random.default_rng(4).normal(size=(80, 4))
    assert lower_bound(X, 4, seconds=60, n_jobs=2) == pytest.approx(lower_bound(X, 4, seconds=60), rel=5e-3)


def test_a_known_partition_and_groups_are_taken_and_groups_handed_out():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    X[7] = X[31]
    bounding = Bounding(X, 3)
    assert bounding.groups() == []
    labels = MDAV(k=3).fit(X).labels_
    bounding.learn(labels)
    bounding.learn_groups([[0, 1, 2], [5, 4, 3, 6], [0, 1], list(range(6))])
    bounding.run(60)
    bounding.learn_groups([[10, 20, 30]])
    listed = bounding.groups()
    assert [reduced for _, _, reduced in listed] == sorted(reduced for _, _, reduced in listed)
    by_members = {tuple(group): cost for group, cost, _ in listed}
    assert {(0, 1, 2), (3, 4, 5, 6), (10, 20, 30)} <= set(by_members)
    for group, cost in by_members.items():
        assert 3 <= len(set(group)) == len(group) <= 5
        assert cost == pytest.approx(naive.group_sse(X.tolist(), group), abs=1e-12)
    assert bounding.bound <= Optimal(k=3, seconds=20).fit(X).sse_
    with pytest.raises(ShoalError, match="a partition must have a label"):
        bounding.learn(np.zeros(39, int))


def test_a_bound_is_a_float_that_says_where_it_comes_from():
    bound = LowerBound(2.5, "prices", 3.0)
    assert bound + 1 == 3.5
    assert repr(bound) == "LowerBound(2.5, stage='prices', seconds=3)"
    copy = pickle.loads(pickle.dumps(bound))
    assert (copy, copy.stage, copy.seconds) == (2.5, "prices", 3.0)
    assert shoal.lower_bound is lower_bound


@pytest.mark.parametrize(
    ("X", "k", "seconds", "message"),
    [
        (np.zeros((3, 2)), 4, 1, "k=4 is more than there are records"),
        (np.zeros((3, 2)), 0, 1, "k must be at least 1"),
        (np.full((3, 2), np.nan), 2, 1, "NaN or infinity"),
        (np.full((3, 2), 1e150), 2, 1, "values above 1e\\+140"),
        (np.zeros(3), 2, 1, "X must be a table of points"),
        (np.zeros((3, 2)), 2, -1, "seconds must be a number of at least 0"),
    ],
)
def test_wrong_input_is_one_clear_error(X, k, seconds, message):
    with pytest.raises(ShoalError, match=message):
        lower_bound(X, k, seconds)
