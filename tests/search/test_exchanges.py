import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import MDAV
from shoal.partition import Partition, sse_of
from shoal.search.exchanges import Exchanges, halved, turned


def random_groups(n, k, seed=0):
    return np.random.default_rng(seed).permutation(np.minimum(np.arange(n) // k, n // k - 1))


@settings(max_examples=60)
@given(points(most=60))
def test_every_round_is_valid_and_none_is_worse(sample):
    X, k = sample
    exchanges = Exchanges(k, region=10)
    errors = []
    for labels, error in exchanges.rounds(X, random_groups(len(X), k), 4):
        assert Partition(X, labels, k).sse == error
        errors.append(error)
    assert errors == sorted(errors, reverse=True)
    assert len(set(errors)) == len(errors)


def test_the_groups_are_the_same_for_any_number_of_jobs():
    X = np.random.default_rng(1).normal(size=(4000, 3))
    start = random_groups(4000, 5)
    one, two, five = (list(Exchanges(5, n_jobs=jobs, region=600).rounds(X, start, 3)) for jobs in (1, 2, 5))
    for (first, _), (second, _), (third, _) in zip(one, two, five, strict=True):
        assert np.array_equal(first, second)
        assert np.array_equal(first, third)
    assert len(one) == 4


def test_rounds_across_other_borders_mend_what_one_round_cannot():
    X = np.random.default_rng(2).normal(size=(3000, 2))
    labels = MDAV(k=4).fit(X).labels_
    first, *_, last = [error for _, error in Exchanges(4, region=500).rounds(X, labels, 6)]
    whole = [error for _, error in Exchanges(4).rounds(X, labels, 6)][-1]
    assert last < 0.95 * first
    assert last == pytest.approx(whole, rel=0.02)


def test_regions_hold_neighbouring_groups_and_every_round_has_its_own():
    X = np.random.default_rng(3).normal(size=(6000, 2))
    labels = MDAV(k=3).fit(X).labels_
    exchanges = Exchanges(3, region=1500)
    region, other = np.empty(6000, np.int64), np.empty(6000, np.int64)
    for number, (first, second) in enumerate(zip(*(exchanges.regions(X, labels, r) for r in (0, 1)), strict=True)):
        region[first], other[second] = number, number
        assert first.tolist() == sorted(first)
    assert sorted(set(region)) == [0, 1, 2, 3]
    for group in range(labels.max() + 1):
        assert len(set(region[labels == group])) == 1
    assert sse_of(X, region) < 0.6 * sse_of(X, np.zeros(6000, np.int64))
    assert len(set(zip(region, other, strict=True))) > 4


def test_turning_keeps_distances_and_round_zero_turns_nothing():
    X = np.random.default_rng(4).normal(size=(50, 3))
    assert turned(X, 0) is X
    assert np.linalg.norm(turned(X, 3), axis=1) == pytest.approx(np.linalg.norm(X, axis=1))


@pytest.mark.parametrize(("n", "parts"), [(10, 1), (10, 3), (1000, 7), (64, 64)])
def test_halves_of_halves_are_of_equal_size_and_hold_everything(n, parts):
    X = np.random.default_rng(5).normal(size=(n, 3))
    cut = halved(X, parts)
    assert sorted(np.concatenate(cut)) == list(range(n))
    assert {len(part) for part in cut} <= {n // parts, -(-n // parts)}


@given(points(), st.integers(1, 12), st.integers(1, 2))
def test_halves_of_halves_are_those_of_the_twin(sample, parts, n_jobs):
    X = sample[0]
    parts = min(parts, len(X))
    cut = [sorted(part.tolist()) for part in halved(X, parts, n_jobs)]
    assert cut == [sorted(block) for block in naive.kd_blocks(X.tolist(), list(range(len(X))), parts)]


def test_a_table_in_fewer_groups_than_it_would_have_regions():
    X = np.random.default_rng(8).normal(size=(3000, 2))
    regions = Exchanges(5, region=500).regions(X, np.arange(3000) % 2, 0)
    assert sorted(map(len, regions)) == [1500, 1500]


def test_progress_goes_from_round_to_round():
    X = np.random.default_rng(6).normal(size=(2000, 2))
    calls = []
    list(Exchanges(5, region=500).rounds(X, random_groups(2000, 5), 2, lambda *call: calls.append(call)))
    assert len(calls) == 8
    assert calls == sorted(calls)
    assert calls[3] == (1000, 2000)
    assert calls[-1] == (2000, 2000)


def test_an_interruption_reaches_the_caller_from_threads_too():
    X = np.random.default_rng(7).normal(size=(2000, 2))

    def stop(done, total):
        raise KeyboardInterrupt

    for jobs in (1, 2):
        rounds = Exchanges(5, n_jobs=jobs, region=500).rounds(X, random_groups(2000, 5), 2, stop)
        next(rounds)
        with pytest.raises(KeyboardInterrupt):
            next(rounds)
