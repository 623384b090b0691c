import numpy as np
import pytest
from checks import large_samples, passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import DBA, DBA2P
from shoal.errors import ShoalError


@settings(max_examples=200)
@given(points(), st.sampled_from([1, 2]))
def test_labels_are_those_of_the_naive_twin(sample, phases):
    X, k = sample
    model = DBA(k=k, phases=phases).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.dba(X, k, phases=phases))
    assert model.sizes_.min() >= k
    assert phases == 1 or model.sizes_.max() < 2 * k


@settings(max_examples=200)
@given(points(), st.integers(0, 12))
def test_labels_after_sparse_groups_are_those_of_the_naive_twin(sample, p):
    X, k = sample
    model = DBA2P(k=k, p=p).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.dba(X, k, sparse=p))
    assert k <= model.sizes_.min() <= model.sizes_.max() < 2 * k


@pytest.mark.parametrize("k", [3, 10])
def test_larger_tables_too(k):
    for name, X in large_samples(120, np.random.default_rng(k)).items():
        assert DBA(k=k).fit(X).labels_.tolist() == naive.labels_of(naive.dba(X, k)), name
        assert DBA2P(k=k, p=4).fit(X).labels_.tolist() == naive.labels_of(naive.dba(X, k, sparse=4)), name


def test_no_sparse_group_is_plain_dba():
    X = np.random.default_rng(0).normal(size=(3000, 5))
    assert np.array_equal(DBA2P(k=4, p=0).fit(X).labels_, DBA(k=4).fit(X).labels_)


def test_more_sparse_groups_than_there_is_room_for():
    X = np.random.default_rng(0).normal(size=(50, 2))
    assert DBA2P(k=4, p=10**12).fit(X).n_groups_ <= 12


def test_the_second_phase_never_loses():
    for X in large_samples(3000, np.random.default_rng(0)).values():
        one, two = DBA(k=3, phases=1).fit(X), DBA(k=3).fit(X)
        assert two.sse_ <= one.sse_


def test_phases_are_one_or_two_and_p_is_not_negative():
    for phases in (0, 3, 1.5):
        with pytest.raises(ShoalError, match="phases must be"):
            DBA(phases=phases).fit(np.zeros((9, 2)))
    with pytest.raises(ShoalError, match="p must be at least 0"):
        DBA2P(p=-1).fit(np.zeros((9, 2)))


@pytest.mark.parametrize("model", [DBA(k=3), DBA2P(k=3, p=2)])
def test_scikit_learns_own_checks_pass(model):
    passes_scikit_learns_checks(model)


@pytest.mark.parametrize("model", [DBA(k=2), DBA2P(k=2, p=100)])
def test_progress(model):
    reports_progress_without_changing_the_groups(model)
