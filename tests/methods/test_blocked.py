import numpy as np
import pytest
from checks import passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import IMHM, MDAV, Blocked, ShoalError, ShoalWarning
from shoal.methods.blocked import blocks_by
from shoal.partition import sse_of

WAYS = ["kd", "mdav", "pcl", "pca", "zscore"]


@settings(max_examples=80)
@given(points(most=60), st.sampled_from(WAYS), st.integers(1, 6), st.integers(0, 2))
def test_every_group_has_k_records_and_every_block_2k(sample, by, blocks, sweeps):
    X, k = sample
    blocks = min(blocks, max(1, len(X) // (2 * k)))
    model = Blocked(MDAV(k=k), blocks=blocks, by=by, sweeps=sweeps).fit(X)
    assert model.sizes_.min() >= k
    sizes = np.bincount(model.blocks_)
    assert len(sizes) == 1 or sizes.min() >= 2 * k
    assert model.history_ == sorted(model.history_, reverse=True)
    assert model.sse_ == model.history_[-1]


@settings(max_examples=60)
@given(points(most=40), st.integers(1, 5))
def test_without_a_sweep_it_is_the_method_on_each_block(sample, blocks):
    X, k = sample
    blocks = min(blocks, max(1, len(X) // (2 * k)))
    labels = Blocked(MDAV(k=k), blocks=blocks, sweeps=0).fit(X).labels_
    expected = []
    for block in naive.kd_blocks(X.tolist(), list(range(len(X))), blocks):
        expected += [sorted(block[i] for i in group) for group in naive.mdav(X[block].tolist(), k)]
    assert sorted(np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)) == sorted(expected)


@pytest.mark.parametrize("by", WAYS)
def test_blocks_hold_every_record_once_and_are_of_equal_size(by):
    X = np.random.default_rng(0).normal(size=(1000, 3))
    blocks = blocks_by(by, X, 5, 8, n_jobs=2)
    assert sorted(np.concatenate(blocks)) == list(range(1000))
    assert {len(block) for block in blocks} == {125}


def test_max_size_bounds_every_block():
    X = np.random.default_rng(1).normal(size=(1003, 3))
    model = Blocked(MDAV(k=3), max_size=100).fit(X)
    assert np.bincount(model.blocks_).max() <= 100
    assert len(np.bincount(model.blocks_)) == 11


@pytest.mark.parametrize("by", WAYS)
def test_the_sweep_takes_back_more_than_the_borders_cost(by):
    X = np.random.default_rng(2).normal(size=(3000, 3))
    whole = MDAV(k=4).fit(X).sse_
    model = Blocked(MDAV(k=4), blocks=20, by=by, sweeps=3).fit(X)
    assert model.history_[0] > whole
    assert model.sse_ < 0.97 * whole


def test_the_groups_are_the_same_for_any_number_of_jobs():
    X = np.random.default_rng(3).normal(size=(2000, 3))
    one, two = (Blocked(IMHM(k=4), blocks=6, n_jobs=jobs).fit(X).labels_ for jobs in (1, 2))
    assert np.array_equal(one, two)


def test_a_method_that_draws_draws_the_same_with_the_same_seed():
    X = np.random.default_rng(4).normal(size=(400, 2))
    inside = [IMHM(k=4, randomness=0.3, random_state=seed) for seed in (1, 1, 2)]
    first, second, third = (Blocked(model, blocks=3, sweeps=0).fit(X).labels_ for model in inside)
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


def test_what_cannot_be_is_an_error_that_says_what_can():
    X = np.random.default_rng(5).normal(size=(100, 2))
    with pytest.raises(ShoalError, match="blocks=11 leaves fewer than 2k = 10 of 100 records.*at most 10"):
        Blocked(MDAV(k=5), blocks=11).fit(X)
    with pytest.raises(ShoalError, match="max_size must be at least 2k = 10, not 9"):
        Blocked(MDAV(k=5), max_size=9).fit(X)
    with pytest.raises(ShoalError, match="give one of them"):
        Blocked(MDAV(k=5), max_size=50, blocks=2).fit(X)
    with pytest.raises(ShoalError, match="by must be one of"):
        Blocked(MDAV(k=5), by="dice").fit(X)


def test_interrupted_in_the_sweep_it_returns_what_it_has():
    X = np.random.default_rng(6).normal(size=(1000, 2))

    def stop(done, total):
        if done > 500:
            raise KeyboardInterrupt

    with pytest.warns(ShoalWarning, match="interrupted"):
        model = Blocked(MDAV(k=5), blocks=4).fit(X, progress=stop)
    assert model.interrupted_
    assert model.sizes_.min() >= 5
    assert sse_of(X, model.labels_) == model.sse_


def test_it_keeps_the_promises_of_every_method():
    passes_scikit_learns_checks(Blocked(MDAV(k=2), max_size=8))
    reports_progress_without_changing_the_groups(Blocked(MDAV(k=5), blocks=6))
    reports_progress_without_changing_the_groups(Blocked())
