import numpy as np
import pytest
from checks import large_samples, passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import GSMST2
from shoal.errors import ShoalError


@settings(max_examples=300)
@given(points(), st.sampled_from([1, 2]))
def test_labels_are_those_of_the_naive_twin(sample, phases):
    X, k = sample
    model = GSMST2(k=k, phases=phases).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.gsms_t2(X, k, phases))
    assert model.sizes_.min() >= k


@pytest.mark.parametrize("k", [3, 10])
def test_larger_tables_too(k):
    for name, X in large_samples(120, np.random.default_rng(k)).items():
        assert GSMST2(k=k).fit(X).labels_.tolist() == naive.labels_of(naive.gsms_t2(X, k)), name


def test_the_group_set_aside_leaves_the_least_sse():
    X = np.random.default_rng(3).normal(size=(60, 3))
    first = np.flatnonzero(GSMST2(k=4, phases=1).fit(X).labels_ == 0).tolist()

    def left(group):
        return naive.group_sse(X, group) + naive.group_sse(X, sorted(set(range(60)) - set(group)))

    candidates = [naive.neighbourhood(X, set(range(60)), i, 4) for i in range(60)]
    assert left(first) == pytest.approx(min(map(left, candidates)), rel=1e-12)


def test_the_second_phase_never_loses():
    for X in large_samples(3000, np.random.default_rng(0)).values():
        one, two = GSMST2(k=3, phases=1).fit(X), GSMST2(k=3).fit(X)
        assert two.sse_ <= one.sse_
        assert two.n_groups_ <= one.n_groups_


def test_phases_are_one_or_two():
    for phases in (0, 3, 1.5):
        with pytest.raises(ShoalError, match="phases must be"):
            GSMST2(phases=phases).fit(np.zeros((9, 2)))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(GSMST2(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(GSMST2(k=2))
