import numpy as np
import pytest
from checks import (
    equal_weights_are_the_same_as_none,
    passes_scikit_learns_checks,
    reports_progress_without_changing_the_groups,
    unless_equal,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points, weighted_points
from shoal import VMDAV
from shoal.errors import ShoalError


@settings(max_examples=300)
@given(points(most=25, widest=20), st.sampled_from([0, 0.2, 1.0, 1.1, 5.0]))
def test_labels_are_those_of_the_naive_twin(sample, gamma):
    X, k = sample
    model = VMDAV(k=k, gamma=gamma).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.vmdav(X, k, gamma))
    assert model.sizes_.min() >= k


@settings(max_examples=300)
@given(weighted_points(most=25, widest=8), st.sampled_from([0, 0.2, 1.1, 5.0]))
def test_labels_of_weighted_records_are_those_of_the_naive_twin(sample, gamma):
    X, k, weights = sample
    model = VMDAV(k=k, gamma=gamma).fit(X, sample_weight=weights)
    assert model.labels_.tolist() == naive.labels_of(naive.vmdav(X, k, gamma, unless_equal(weights)))
    assert model.sizes_.min() >= k


@pytest.mark.parametrize("gamma", [0.2, 1.1])
def test_a_larger_table_too(gamma):
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(centre, 0.1, size=(40, 3)) for centre in rng.normal(size=(5, 3))]).round(2)
    weights = rng.lognormal(size=200).round(2)
    model = VMDAV(k=4, gamma=gamma)
    assert model.fit(X).labels_.tolist() == naive.labels_of(naive.vmdav(X, 4, gamma))
    weighed = model.fit(X, sample_weight=weights).labels_
    assert weighed.tolist() == naive.labels_of(naive.vmdav(X, 4, gamma, weights.tolist()))


def test_a_heavy_record_draws_the_centroid_to_its_side():
    X = np.array([0.0, 2, 4, 6, 8, 10, 11])[:, None]
    assert VMDAV(k=3, gamma=0).fit(X).labels_.tolist() == [0, 0, 0, 1, 1, 1, 1]
    weighed = VMDAV(k=3, gamma=0).fit(X, sample_weight=[50, 1, 1, 1, 1, 1, 1]).labels_  # so 11 is the farthest
    assert weighed.tolist() == [1, 1, 1, 1, 0, 0, 0]


def test_equal_weights_are_the_same_as_none():
    equal_weights_are_the_same_as_none(VMDAV(k=4))


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
