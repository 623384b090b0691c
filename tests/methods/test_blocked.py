import numpy as np
import pytest
from checks import (
    equal_weights_are_the_same_as_none,
    is_the_same_for_any_number_of_jobs_under_models,
    keeps_the_models,
    passes_scikit_learns_checks,
    progress_rises_under_models,
    reports_progress_without_changing_the_groups,
    ruled_table,
    unless_equal,
    weighted_optima_found,
    weights_change_the_groups_and_the_weighted_loss_falls,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from promises import demanding
from samples import points, weighted_points
from shoal import IMHM, MDAV, Blocked, ShoalError, ShoalWarning
from shoal.methods.blocked import Moving, blocks_by
from shoal.partition import Partition, sse_of
from shoal.search.promised import repaired
from shoal.search.weighted import alike

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
@given(points(most=60), st.integers(1, 3), st.integers(0, 2), st.integers(1, 3))
def test_rounds_of_pcl_never_raise_the_error_and_every_group_keeps_k_records(sample, blocks, sweeps, cell_rounds):
    X, k = sample
    blocks = min(blocks, max(1, len(X) // (2 * k)))
    before = Blocked(MDAV(k=k), blocks=blocks, sweeps=sweeps).fit(X)
    model = Blocked(MDAV(k=k), blocks=blocks, sweeps=sweeps, cell_rounds=cell_rounds).fit(X)
    assert model.sizes_.min() >= k
    assert model.sse_ <= before.sse_
    assert model.history_[: len(before.history_)] == before.history_
    assert model.history_ == sorted(model.history_, reverse=True)
    assert model.sse_ == model.history_[-1]


@settings(max_examples=60)
@given(points(most=40), st.integers(1, 3))
def test_groups_that_move_as_a_whole_keep_their_sizes_and_never_lose(sample, rounds):
    X, k = sample
    labels = MDAV(k=k).fit(X).labels_
    records = np.flatnonzero(labels != labels[0]) if labels.max() > 1 else np.arange(len(X))
    moved = Moving(X, labels, k, rounds)(records)
    numbers, sizes = np.unique(labels[records], return_counts=True)
    assert np.unique(moved).tolist() == numbers.tolist()  # the numbers of other groups are not theirs
    assert sorted(np.bincount(moved)[numbers]) == sorted(sizes)
    assert sse_of(X[records], moved) <= sse_of(X[records], labels[records])


def test_rounds_of_pcl_lower_the_error_the_same_with_any_number_of_jobs():
    X = np.random.default_rng(0).normal(size=(12_000, 4))
    before = Blocked(MDAV(k=20), sweeps=2).fit(X)
    alone, two = (Blocked(MDAV(k=20), sweeps=2, cell_rounds=4, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert alone.sse_ < 0.99 * before.sse_
    assert alone.labels_.tolist() == two.labels_.tolist()


def test_interrupted_in_the_rounds_of_pcl_it_returns_what_it_has(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    X = np.random.default_rng(0).normal(size=(400, 2))
    before = Blocked(MDAV(k=10), sweeps=2).fit(X)
    monkeypatch.setattr(Moving, "__call__", interrupt)
    model = Blocked(MDAV(k=10), sweeps=2, cell_rounds=3)
    with pytest.warns(ShoalWarning, match="interrupted"):
        model.fit(X)
    assert model.interrupted_
    assert model.labels_.tolist() == before.labels_.tolist()


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


@settings(max_examples=80)
@given(weighted_points(most=60), st.sampled_from(WAYS), st.integers(1, 6), st.integers(0, 2))
def test_with_weights_every_group_has_k_records_and_the_weighted_error_never_rises(sample, by, blocks, sweeps):
    X, k, weights = sample
    blocks = min(blocks, max(1, len(X) // (2 * k)))
    model = Blocked(MDAV(k=k), blocks=blocks, by=by, sweeps=sweeps).fit(X, sample_weight=weights)
    assert model.sizes_.min() >= k
    assert model.history_ == sorted(model.history_, reverse=True)
    assert model.sse_ == model.history_[-1]


@settings(max_examples=60)
@given(weighted_points(most=40), st.integers(1, 5))
def test_without_a_sweep_it_is_the_weighted_method_on_each_block(sample, blocks):
    X, k, weights = sample
    blocks = min(blocks, max(1, len(X) // (2 * k)))
    labels = Blocked(MDAV(k=k), blocks=blocks, sweeps=0).fit(X, sample_weight=weights).labels_
    expected = []
    for block in naive.kd_blocks(X.tolist(), list(range(len(X))), blocks):
        own = unless_equal(weights[block])
        expected += [sorted(block[i] for i in group) for group in naive.mdav(X[block].tolist(), k, weights=own)]
    assert sorted(np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)) == sorted(expected)


def test_with_weights_and_sweeps_most_small_tables_get_the_best_of_all_partitions():
    assert weighted_optima_found(lambda k: Blocked(MDAV(k=k), blocks=1, sweeps=12)) >= 15
    assert weighted_optima_found(lambda k: Blocked(MDAV(k=k), blocks=1, sweeps=0)) < 10


@pytest.mark.parametrize("sweeps", [0, 3])
def test_weights_change_the_groups(sweeps):
    equal_weights_are_the_same_as_none(Blocked(MDAV(k=4), blocks=3, sweeps=sweeps))
    weights_change_the_groups_and_the_weighted_loss_falls(Blocked(MDAV(k=4), blocks=5, sweeps=3))


def test_with_weights_the_groups_are_the_same_for_any_number_of_jobs_and_the_sweep_gains():
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(2000, 3)), rng.lognormal(size=2000)
    one, two = (Blocked(MDAV(k=4), blocks=6, n_jobs=jobs).fit(X, sample_weight=weights) for jobs in (1, 2))
    assert np.array_equal(one.labels_, two.labels_)
    assert len(one.history_) == 3
    assert one.history_[-1] < 0.9 * one.history_[0]


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


# Under privacy models.


@settings(max_examples=60)
@given(demanding(most=30), st.integers(1, 4), st.integers(0, 2))
def test_under_models_it_is_never_worse_than_its_groups_put_right_and_always_valid(case, blocks, sweeps):
    X, k, rules = case.X, case.demands.least_count, case.demands.rules
    blocks, own = min(blocks, max(1, len(X) // (2 * k))), unless_equal(case.weights)
    model = Blocked(MDAV(k=k), blocks=blocks, sweeps=sweeps).fit(X, sample_weight=case.weights, rules=rules)
    assert model.sizes_.min() >= k
    assert case.sample.keeps(case.models, model.labels_.tolist())
    plain = Blocked(MDAV(k=k), blocks=blocks, sweeps=sweeps).fit(X, sample_weight=case.weights)
    assert model.unruled_sse_ == pytest.approx(plain.sse_, rel=1e-9)
    weights = None if own is None else case.weights
    begun = repaired(X, plain.labels_, weights, alike(len(X), k, rules))
    assert model.sse_ <= Partition(X, begun, k, weights).sse * (1 + 1e-9)
    assert model.history_ == sorted(model.history_, reverse=True)
    assert model.sse_ == pytest.approx(model.history_[-1])


def test_under_models_the_groups_are_the_same_for_any_number_of_jobs():
    is_the_same_for_any_number_of_jobs_under_models(lambda jobs: Blocked(MDAV(k=4), blocks=3, n_jobs=jobs))


def test_under_models_the_sweep_takes_back_some_of_their_price():
    X, rules = ruled_table(2000)
    swept, plain = (Blocked(MDAV(k=4), blocks=5, sweeps=sweeps).fit(X, rules=rules) for sweeps in (3, 0))
    keeps_the_models(swept, rules)
    keeps_the_models(plain, rules)
    assert swept.unruled_sse_ < swept.sse_ < 0.9 * plain.sse_


def test_under_models_an_interruption_leaves_what_it_has():
    X, rules = ruled_table(1000)

    def make():
        return Blocked(MDAV(k=4), blocks=4, sweeps=2)

    heard = []
    make().fit(X, rules=rules, progress=lambda *call: heard.append(call))
    for after in (4, 5, len(heard) - 2):  # in the exchanges without models and under them
        left = [after]

        def stop(done, total, left=left):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt

        with pytest.warns(ShoalWarning, match="interrupted"):
            model = make().fit(X, rules=rules, progress=stop)
        assert model.interrupted_
        keeps_the_models(model, rules)


def test_progress_under_models_rises():
    progress_rises_under_models(lambda: Blocked(MDAV(k=4), blocks=3))
    progress_rises_under_models(lambda: Blocked(MDAV(k=4), blocks=3, sweeps=0))


def test_without_a_sweep_progress_ends_with_all_records():
    reports_progress_without_changing_the_groups(Blocked(MDAV(k=5), blocks=6, sweeps=0))


def test_exchanges_go_on_while_a_round_gains_much():
    """Clusters of 7 that 8 blocks cut through: two rounds leave records far from their groups."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(170, 5)) * 100, 7, axis=0) + rng.normal(size=(1190, 5))
    more = Blocked(MDAV(k=5), blocks=8, sweeps=2, gain=0.05).fit(X)
    few = Blocked(MDAV(k=5), blocks=8, sweeps=2).fit(X)
    assert more.history_[: len(few.history_)] == few.history_
    assert more.history_[-1] < 0.1 * few.history_[-1]
    assert more.history_[-1] == pytest.approx(more.sse_)
    gains = 1 - np.divide(more.history_[1:], more.history_[:-1])
    assert (gains[1:-1] > 0.05).all()
