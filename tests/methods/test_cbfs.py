import numpy as np
from checks import (
    equal_weights_are_the_same_as_none,
    passes_scikit_learns_checks,
    reports_progress_without_changing_the_groups,
    unless_equal,
)
from hypothesis import given, settings

import naive
from samples import points, weighted_points
from shoal import CBFS


@settings(max_examples=300)
@given(points(widest=20))
def test_labels_are_those_of_the_naive_twin(sample):
    X, k = sample
    model = CBFS(k=k).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.cbfs(X, k))
    assert k <= model.sizes_.min() <= model.sizes_.max() <= 2 * k - 1


@settings(max_examples=300)
@given(weighted_points(widest=8))
def test_labels_of_weighted_records_are_those_of_the_naive_twin(sample):
    X, k, weights = sample
    model = CBFS(k=k).fit(X, sample_weight=weights)
    assert model.labels_.tolist() == naive.labels_of(naive.cbfs(X, k, unless_equal(weights)))
    assert k <= model.sizes_.min() <= model.sizes_.max() <= 2 * k - 1


def test_a_larger_table_too():
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(500, 5)).round(1), rng.lognormal(size=500).round(2)
    assert CBFS(k=4).fit(X).labels_.tolist() == naive.labels_of(naive.cbfs(X, 4))
    weighed = CBFS(k=4).fit(X, sample_weight=weights).labels_
    assert weighed.tolist() == naive.labels_of(naive.cbfs(X, 4, weights.tolist()))


def test_a_heavy_record_draws_the_centroid_to_its_side():
    X = np.array([0.0, 2, 4, 6, 8, 10, 11])[:, None]
    assert CBFS(k=3).fit(X).labels_.tolist() == [0, 0, 0, 1, 1, 1, 1]
    weighed = CBFS(k=3).fit(X, sample_weight=[50, 1, 1, 1, 1, 1, 1]).labels_  # so 11 is the farthest
    assert weighed.tolist() == [1, 1, 1, 1, 0, 0, 0]


def test_equal_weights_are_the_same_as_none():
    equal_weights_are_the_same_as_none(CBFS(k=4))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(CBFS(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(CBFS(k=2))
