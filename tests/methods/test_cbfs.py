import numpy as np
from checks import passes_scikit_learns_checks, reports_progress_without_changing_the_groups
from hypothesis import given, settings

import naive
from samples import points
from shoal import CBFS


@settings(max_examples=300)
@given(points(widest=20))
def test_labels_are_those_of_the_naive_twin(sample):
    X, k = sample
    model = CBFS(k=k).fit(X)
    assert model.labels_.tolist() == naive.labels_of(naive.cbfs(X, k))
    assert k <= model.sizes_.min() <= model.sizes_.max() <= 2 * k - 1


def test_a_larger_table_too():
    X = np.random.default_rng(3).normal(size=(500, 5)).round(1)
    assert CBFS(k=4).fit(X).labels_.tolist() == naive.labels_of(naive.cbfs(X, 4))


def test_scikit_learns_own_checks_pass():
    passes_scikit_learns_checks(CBFS(k=3))


def test_progress():
    reports_progress_without_changing_the_groups(CBFS(k=2))
