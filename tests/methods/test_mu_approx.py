import numpy as np
import pytest
from checks import large_samples, passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import MuApprox, Optimal
from shoal.errors import ShoalError
from shoal.methods.mu_approx import largest_tree


def order_of(seed, n):
    return None if seed is None else np.random.default_rng(seed).permutation(n).tolist()


@settings(max_examples=250)
@given(points(widest=8), st.sampled_from([None, 0, 7]), st.sampled_from([2, 3]))
def test_labels_are_those_of_the_naive_twin(sample, seed, steps):
    X, k = sample
    model = MuApprox(k=k, random_state=seed, steps=steps).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.mu_approx(X, k, order_of(seed, len(X)), steps))
    assert model.sizes_.min() >= k
    assert model.sizes_.max() <= (2 * k - 1 if steps == 3 else max(largest_tree(k), 3 * k - 3))


@pytest.mark.parametrize("k", [2, 4, 6])
def test_larger_tables_too(k):
    for name, X in large_samples(150, np.random.default_rng(k)).items():
        for seed in (None, 1):
            expected = naive.labels_of(naive.mu_approx(X, k, order_of(seed, 150)))
            assert MuApprox(k=k, random_state=seed).fit(X).labels_.tolist() == expected, name


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_the_cost_stays_within_the_proven_bounds(k):
    """Theorems 1 and 2 on 125 tables for each k."""
    rng = np.random.default_rng(k)
    worst = 0.0
    for trial in range(125):
        n = int(rng.integers(max(k, 6), 10) if k < 5 else rng.integers(10, 12))
        X = rng.normal(size=(n, 2)) if trial % 2 else np.exp(3 * rng.normal(size=(n, 2)))
        model = MuApprox(k=k, steps=2, random_state=trial).fit(X)
        least = Optimal(k=k).fit(X).sse_
        assert model.sse_ <= model.bound_.sse * least
        worst = max(worst, model.sse_ / least)
        if trial < 40:
            groups = [np.flatnonzero(model.labels_ == g).tolist() for g in range(model.n_groups_)]
            distances = sum(naive.group_distances(X.tolist(), group) for group in groups)
            assert distances <= model.bound_.euclidean * naive.optimum(X, k, "euclidean")[0]
    assert worst > 1


def test_the_bounds_are_the_theorems():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert MuApprox(k=3).fit(X).bound_ == (5 * 5, 2 * 5 * 5**2)
    assert MuApprox(k=10).fit(X).bound_ == (19 * 25, 2 * 19 * 25**2)


def test_the_bounds_count_with_a_group_that_could_not_be_cut():
    # A centre c with arms of 3, 3, 3 and 2 records: the first leaves with c, the others cannot be divided.
    along = np.array([1.0, 1.9, 2.7])
    arms = [np.outer(along, d) for d in ([1, 0], [-1, 0], [0, 1])] + [np.outer(along[:2], [0, -1])]
    X = np.concatenate([[[0.0, 0.0]], *arms])
    model = MuApprox(k=4, steps=2).fit(X)
    assert model.sizes_.tolist() == [4, 8]
    assert model.bound_ == (7 * 8, 2 * 7 * 8**2)
    assert MuApprox(k=4).fit(X).sizes_.tolist() == [4, 4, 4]


def test_the_third_step_never_loses():
    for X in large_samples(3000, np.random.default_rng(0)).values():
        trees, groups = MuApprox(k=10, steps=2).fit(X), MuApprox(k=10).fit(X)
        assert groups.sse_ <= trees.sse_
        assert trees.sizes_.max() <= 25
        assert groups.sizes_.max() <= 19


def test_a_seed_gives_the_same_groups_again_and_others_than_another_seed():
    X = np.random.default_rng(2).normal(size=(400, 3))
    first = MuApprox(k=3, random_state=1).fit(X).labels_
    assert np.array_equal(first, MuApprox(k=3, random_state=1).fit(X).labels_)
    assert not np.array_equal(first, MuApprox(k=3, random_state=2).fit(X).labels_)


def test_a_line_of_growing_gaps_makes_a_path_of_a_hundred_thousand():
    X = np.cumsum(1 + np.arange(100_000) * 1e-6)[:, None]
    model = MuApprox(k=3).fit(X)
    assert model.sizes_.max() <= 5


@pytest.mark.parametrize("k", [1, 2, 7])
def test_a_hundred_thousand_equal_records(k):
    model = MuApprox(k=k).fit(np.ones((100_000, 2)))
    assert model.sizes_.min() >= k
    assert model.sizes_.max() <= max(1, 2 * k - 1)


def test_what_the_parameters_may_be():
    for wrong in ({"steps": 1}, {"steps": 4}, {"random_state": -1}, {"random_state": "x"}):
        with pytest.raises(ShoalError, match=f"{next(iter(wrong))} must be"):
            MuApprox(**wrong).fit(np.zeros((9, 2)))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(MuApprox(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(MuApprox(k=2))
