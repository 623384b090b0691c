import numpy as np
import pytest
from checks import passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import VMDAV
from shoal.errors import ShoalError


@settings(max_examples=300)
@given(points(most=25, widest=20), st.sampled_from([0, 0.2, 1.0, 1.1, 5.0]))
def test_labels_are_those_of_the_naive_twin(sample, gamma):
    X, k = sample
    model = VMDAV(k=k, gamma=gamma).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.vmdav(X, k, gamma))
    assert model.sizes_.min() >= k


@pytest.mark.parametrize("gamma", [0.2, 1.1])
def test_a_larger_table_too(gamma):
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(centre, 0.1, size=(40, 3)) for centre in rng.normal(size=(5, 3))]).round(2)
    assert VMDAV(k=4, gamma=gamma).fit(X).labels_.tolist() == naive.labels_of(naive.vmdav(X, 4, gamma))


def test_groups_grow_where_the_data_are_clustered():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(centre, 0.01, size=(5, 2)) for centre in rng.normal(size=(20, 2)) * 10])
    assert VMDAV(k=3, gamma=1.1).fit(X).information_loss_ < VMDAV(k=3, gamma=0).fit(X).information_loss_ / 10


def test_gamma_must_not_be_negative():
    for gamma in (-0.1, float("nan"), float("inf"), "x", None, True):
        with pytest.raises(ShoalError, match="gamma must be a number of at least 0"):
            VMDAV(gamma=gamma).fit(np.zeros((9, 2)))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(VMDAV(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(VMDAV(k=2))
