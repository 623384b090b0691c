import numpy as np
import pytest
from checks import large_samples, passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import TFRP
from shoal.errors import ShoalError


@settings(max_examples=300)
@given(points(widest=20), st.sampled_from([1, 2]))
def test_labels_are_those_of_the_naive_twin(sample, phases):
    X, k = sample
    model = TFRP(k=k, phases=phases).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.tfrp(X, k, phases))
    assert model.sizes_.min() >= k


@pytest.mark.parametrize("k", [2, 5])
def test_larger_tables_too(k):
    for name, X in large_samples(250, np.random.default_rng(k)).items():
        assert TFRP(k=k).fit(X).labels_.tolist() == naive.labels_of(naive.tfrp(X, k, 2)), name


def test_the_second_phase_never_loses():
    for X in large_samples(3000, np.random.default_rng(0)).values():
        one, two = TFRP(k=3, phases=1).fit(X), TFRP(k=3).fit(X)
        assert two.sse_ <= one.sse_
        assert two.n_groups_ <= one.n_groups_


def test_phases_are_one_or_two():
    for phases in (0, 3, 1.5):
        with pytest.raises(ShoalError, match="phases must be"):
            TFRP(phases=phases).fit(np.zeros((9, 2)))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(TFRP(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(TFRP(k=2))
