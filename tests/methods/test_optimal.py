from unittest import mock

import numpy as np
import pytest
from checks import passes_scikit_learns_checks
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points, small_table
from shoal import MDAV, Optimal
from shoal.errors import ShoalError, ShoalWarning
from shoal.methods import optimal


def rounding(X):
    """What the SSE may be wrong by because a mean is rounded."""
    return X.size * (1e-15 * np.abs(X).max()) ** 2 + 1e-290


def is_optimal(model, X, least):
    reached = naive.sse(X.tolist(), [np.flatnonzero(model.labels_ == g).tolist() for g in range(model.n_groups_)])
    assert reached <= least * (1 + 2e-9) + rounding(X)
    assert model.lower_bound_ <= least * (1 + 1e-12) + rounding(X)
    assert model.lower_bound_ >= reached * (1 - 2e-9) - rounding(X)
    assert model.proven_
    assert model.gap_ == 0.0


@settings(max_examples=150)
@given(points(most=9, widest=20))
def test_the_sse_is_the_least_of_all_partitions(sample):
    X, k = sample
    model = Optimal(k=k).fit(X)
    is_optimal(model, X, naive.optimum(X, k)[0])
    assert model.sizes_.min() >= k
    assert model.sizes_.max() <= max(2 * k - 1, 1)


@pytest.mark.parametrize("scale", [1e-147, 1e-155])
def test_squares_that_vanish_beside_1_are_told_apart(scale):
    for seed in (4, 8, 11):
        X = np.random.default_rng(seed).normal(size=(9, 2))
        least = naive.optimum_by_subsets(X * scale, 2, naive.exact_group_sse)
        model = Optimal(k=2).fit(X * scale)
        assert model.lower_bound_ <= least
        np.testing.assert_array_equal(model.labels_, Optimal(k=2).fit(X).labels_)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(11, 13), st.integers(2, 6), st.sampled_from(["round", "grid", "flat"])
)
def test_the_sse_is_that_of_dynamic_programming_over_subsets(seed, n, k, kind):
    rng = np.random.default_rng(seed)
    X = {"round": rng.normal(size=(n, 5)), "grid": rng.integers(0, 3, (n, 3)), "flat": rng.random((n, 2))}[kind]
    is_optimal(Optimal(k=k).fit(X), X.astype(float), naive.optimum_by_subsets(X, k))


@settings(max_examples=100, deadline=None)
@given(points(most=9, widest=4), st.booleans())
def test_the_proof_finds_the_optimum_from_a_bad_start(sample, halving):
    X, k = sample
    with mock.patch.multiple(optimal, _SWEEPS=0, _LARGEST=0, _HALVE=28 * halving):
        is_optimal(Optimal(k=k).fit(X), X, naive.optimum(X, k)[0])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(8, 12), st.integers(2, 4), st.booleans())
def test_the_proof_finds_the_optimum_of_larger_tables_from_a_bad_start(seed, n, k, tied):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (n, 2)).astype(float) if tied else rng.normal(size=(n, 4))
    with mock.patch.multiple(optimal, _SWEEPS=0, _LARGEST=0, _HALVE=0, _ANY_K=0):
        is_optimal(Optimal(k=k).fit(X), X, naive.optimum_by_subsets(X, k))


@pytest.mark.parametrize("block", range(3))
def test_hundreds_of_small_tables_are_solved_as_brute_force_solves_them(block):
    bad_start = {"_SWEEPS": 0, "_LARGEST": 0, "_HALVE": 0, "_ANY_K": 0}
    for seed in range(100 * block, 100 * block + 100):
        X, k = small_table(seed)
        with mock.patch.multiple(optimal, **(bad_start if seed % 3 else {"_SWEEPS": 20})):
            is_optimal(Optimal(k=k).fit(X), X, naive.optimum_by_subsets(X, k))


@pytest.mark.parametrize("k", [2, 5, 8])
def test_sixteen_records_in_thirteen_dimensions(k):
    X = np.random.default_rng(k).normal(size=(16, 13))
    is_optimal(Optimal(k=k).fit(X), X, naive.optimum_by_subsets(X, k))


@pytest.mark.parametrize("k", [2, 3, 6, 7, 8, 9, 12, 13, 25])
@pytest.mark.parametrize("kind", ["round", "repeated", "equal"])
def test_twenty_five_records_are_proven_at_any_k(k, kind):
    rng = np.random.default_rng(k)
    X = rng.normal(size=(25, 13))
    X = {"round": X, "repeated": X[rng.integers(0, 6, 25)], "equal": np.ones((25, 13))}[kind]
    model = Optimal(k=k).fit(X)
    assert model.proven_
    assert model.sse_ <= MDAV(k=k).fit(X).sse_ * (1 + 1e-12)
    assert k <= model.sizes_.min() <= model.sizes_.max() <= max(2 * k - 1, 25 if k > 12 else 0)


def test_clusters_are_found_and_proven_in_larger_tables():
    rng = np.random.default_rng(0)
    sizes = rng.integers(3, 6, 40)
    cluster = np.repeat(np.arange(40), sizes)
    X = 100.0 * rng.permutation(40)[cluster, None] + rng.normal(size=(sizes.sum(), 4))
    shuffled = rng.permutation(sizes.sum())
    model = Optimal(k=3, seconds=60).fit(X[shuffled])
    assert model.proven_
    for group in range(model.n_groups_):
        assert len(set(cluster[shuffled][model.labels_ == group])) == 1


@settings(max_examples=60)
@given(points(most=9, widest=1), st.booleans())
def test_one_varying_attribute_is_a_line(sample, constant):
    X, k = sample
    X = np.column_stack([X, np.full(len(X), 3.0)]) if constant else X
    is_optimal(Optimal(k=k).fit(X), X, naive.optimum(X, k)[0])


def test_one_attribute_has_no_limit():
    X = np.random.default_rng(0).exponential(size=(50_000, 1))
    model = Optimal(k=5).fit(X)
    assert model.proven_
    assert model.sse_ < MDAV(k=5).fit(X).sse_
    order = np.argsort(X[:, 0])
    assert (np.diff(model.labels_[order]) != 0).sum() == model.n_groups_ - 1


def test_a_hopeless_problem_is_refused_before_any_work():
    for n, k in ((5000, 3), (60, 20), (40, 15)):
        with pytest.raises(ShoalError, match="seconds=60, or choose another method"):
            Optimal(k=k).fit(np.random.default_rng(0).normal(size=(n, 3)))
    with pytest.raises(ShoalError, match="seconds must be a number of at least 0"):
        Optimal(seconds=-1).fit(np.zeros((9, 2)))


@pytest.mark.parametrize(
    ("n", "k", "seconds"), [(1400, 4, 2), (4000, 3, 0), (4000, 40, 1), (60, 20, 1), (30, 3, 0)]
)
def test_a_time_limit_leaves_a_valid_partition_a_bound_and_a_gap(n, k, seconds):
    X = np.random.default_rng(1).normal(size=(n, 5))
    model = Optimal(k=k, seconds=seconds).fit(X)
    assert not model.proven_
    assert model.sizes_.min() >= k
    assert 0 < model.lower_bound_ < model.sse_ <= MDAV(k=k).fit(X).sse_ * (1 + 1e-12)
    assert model.gap_ == pytest.approx(1 - model.lower_bound_ / model.sse_, rel=1e-6)


def test_the_bound_of_a_large_table_is_below_the_optimum_of_a_small_one():
    from shoal.methods.optimal import Search

    X = np.random.default_rng(2).normal(size=(24, 3))
    for k in (1, 2, 3, 5, 12):
        optimum = Optimal(k=k).fit(X).sse_
        bound = Search(X, k, np.inf, None).neighbour_bound(2 * k - 1)
        assert 0.4 * optimum < bound <= optimum or optimum == bound == 0


def test_an_interrupted_search_returns_the_best_so_far():
    X = np.random.default_rng(3).normal(size=(150, 6))

    def interrupt(done, total):
        if done < total:
            raise KeyboardInterrupt

    with pytest.warns(ShoalWarning, match="interrupted: these are the best groups found so far"):
        model = Optimal(k=4, seconds=100).fit(X, progress=interrupt)
    assert model.interrupted_
    assert not model.proven_
    assert 0 < model.gap_ < 0.5
    assert model.sse_ <= MDAV(k=4).fit(X).sse_


@pytest.mark.parametrize(("n", "m"), [(60, 4), (25, 13), (3000, 1)])
def test_progress_rises_to_the_end_and_changes_nothing(n, m):
    X = np.random.default_rng(4).normal(size=(n, m))
    calls = []
    model = Optimal(k=4).fit(X, progress=lambda done, total: calls.append((done, total)))
    done = [d for d, _ in calls]
    assert len(calls) > 1
    assert done == sorted(done)
    assert calls[-1] == (n, n)
    assert np.array_equal(model.labels_, Optimal(k=4).fit(X).labels_)


def test_groups_are_numbered_by_their_first_records():
    X = np.random.default_rng(5).normal(size=(25, 2))
    labels = Optimal(k=3).fit(X).labels_
    _, first = np.unique(labels, return_index=True)
    assert first.tolist() == sorted(first)


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(Optimal(k=2, seconds=60))
