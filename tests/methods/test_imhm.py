import numpy as np
import pytest
from checks import large_samples, passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

import naive
from samples import points
from shoal import CBFS, IMHM, MDAV, VMDAV
from shoal.errors import ShoalError, ShoalWarning
from shoal.methods.imhm import blocks_of, semi_random_row

OBJECTIVES = ("distance", "squared")


def by_linear_programme(costs, low, high):
    """The transport problem with all its arcs at once; the corner of a network problem has whole numbers."""
    costs = np.array(costs)
    n, groups = costs.shape
    each = sparse.kron(sparse.eye(n), np.ones((1, groups)))
    sizes = sparse.kron(np.ones((1, n)), sparse.eye(groups))
    solved = linprog(
        costs.ravel(),
        A_ub=sparse.vstack([sizes, -sizes]),
        b_ub=np.concatenate([high, np.negative(low)]),
        A_eq=each,
        b_eq=np.ones(n),
    )
    return solved.x.reshape(n, groups).argmax(axis=1).tolist()


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("seed", range(12))
def test_groups_are_those_of_the_naive_twin(objective, seed):
    """On data without ties, where every transport problem has one solution."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rng.integers(6, 24), 2))
    k = int(rng.integers(2, 5))
    start = MDAV(k=k).fit(X).labels_
    groups = [np.flatnonzero(start == g).tolist() for g in range(start.max() + 1)]
    expected = naive.imhm(X, groups, k, objective == "squared", by_linear_programme)
    found = IMHM(k=k, objective=objective).fit(X)
    assert found.sse_ == pytest.approx(naive.sse(naive.plain(X), expected), rel=1e-9)
    assert {frozenset(np.flatnonzero(found.labels_ == g)) for g in range(found.n_groups_)} == {
        frozenset(group) for group in expected
    }


@settings(max_examples=150)
@given(points(), st.sampled_from(OBJECTIVES), st.integers(1, 3))
def test_groups_are_valid_and_never_worse_than_the_start(sample, objective, blocks):
    X, k = sample
    start = MDAV(k=k).fit(X)
    model = IMHM(k=k, objective=objective, blocks=min(blocks, start.n_groups_)).fit(X)
    assert model.sizes_.min() >= k
    if len(X) >= 2 * k:
        assert model.sizes_.max() <= 2 * k - 1
    if start.sizes_.max() <= 2 * k - 1:
        assert model.sse_ <= start.sse_ * (1 + 1e-9) + 1e-20 * np.abs(X).max() ** 2
    assert np.array_equal(model.labels_, IMHM(k=k, objective=objective, blocks=model.blocks).fit(X).labels_)


def test_it_improves_what_other_methods_begin():
    for X in large_samples(400, np.random.default_rng(1)).values():
        for start in ("cbfs", VMDAV(k=4, gamma=1.0), CBFS(k=5), np.arange(400) // 4):
            model = IMHM(k=4, start=start).fit(X)
            assert model.sizes_.min() >= 4
            assert model.sizes_.max() <= 7
            assert model.sse_ <= model.history_[0]
            assert model.history_ == sorted(model.history_, reverse=True)


def test_blocks_hold_whole_groups_and_every_record_once():
    X = np.random.default_rng(3).normal(size=(100, 3))
    labels = MDAV(k=3).fit(X).labels_
    blocks = blocks_of(X, labels, 4)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(100))
    assert [len(np.unique(labels[block])) for block in blocks] == [8, 8, 8, 9]
    assert len(set().union(*(set(labels[block]) for block in blocks))) == 33
    with pytest.raises(ShoalError, match="blocks=34 is more than there are groups"):
        blocks_of(X, labels, 34)


def test_randomness_shuffles_within_shares_of_the_order():
    X = np.arange(25.0)[:, None]
    row = semi_random_row(X, 0.2, 1)
    assert [sorted(part) for part in np.split(row, 5)] == [list(range(i, i + 5)) for i in range(0, 25, 5)]
    assert row.tolist() != list(range(25))
    assert sorted(semi_random_row(X, 0.3, 1)[14:]) == list(range(14, 25))  # the last takes the rest
    assert semi_random_row(X, 0.0001, 1).tolist() == list(range(25))


def test_a_seed_repeats_and_another_differs():
    X = np.random.default_rng(0).normal(size=(200, 4))
    one = IMHM(k=3, randomness=0.1, random_state=1).fit(X)
    assert np.array_equal(one.labels_, IMHM(k=3, randomness=0.1, random_state=1).fit(X).labels_)
    assert not np.array_equal(one.labels_, IMHM(k=3, randomness=0.1, random_state=2).fit(X).labels_)
    assert one.sizes_.min() >= 3


def test_a_start_and_randomness_contradict_each_other():
    with pytest.raises(ShoalError, match="give start or randomness, not both"):
        IMHM(k=3, start="cbfs", randomness=0.1).fit(np.zeros((9, 2)))


def test_an_interruption_returns_the_best_groups_so_far():
    X = np.random.default_rng(0).normal(size=(300, 4))
    seen = []

    def stop(done, total):
        seen.append(done)
        if seen.count(150) == 4:  # half of 300: the start has been made
            raise KeyboardInterrupt

    complete = IMHM(k=3).fit(X)
    model = IMHM(k=3)
    with pytest.warns(ShoalWarning, match="interrupted"):
        model.fit(X, progress=stop)
    assert model.interrupted_
    assert not complete.interrupted_
    assert model.sizes_.min() >= 3
    assert complete.sse_ <= model.sse_ < complete.history_[0]


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(IMHM(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(IMHM(k=2, blocks=8))
