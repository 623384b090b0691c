import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal.kernels.single.diameter import split_small
from shoal.kernels.sums.exact import new_sums


@settings(max_examples=150)
@given(points(), st.booleans())
def test_scans_split_as_the_twin_does(sample, by_diameter):
    X, k = sample
    if len(X) < 2 * k:
        return
    labels = np.zeros(len(X), np.int64)
    groups = split_small(X, new_sums(X), np.arange(len(X)), np.array([0, len(X)]), k, by_diameter, labels, 0)
    twin = naive.maximum_distance if by_diameter else naive.mdav
    assert labels.tolist() == naive.labels_of(twin(X, k))
    assert groups == labels.max() + 1


def test_several_groups_are_split_one_by_one():
    X = np.random.default_rng(0).normal(size=(50, 3))
    first, second = np.arange(0, 50, 2), np.arange(1, 50, 2)
    labels = np.zeros(50, np.int64)
    bounds = np.array([0, 25, 50])
    count = split_small(X, new_sums(X), np.concatenate([first, second]), bounds, 4, True, labels, 7)
    parts = [naive.maximum_distance(X[half], 4) for half in (first, second)]
    assert labels[first].tolist() == [7 + g for g in naive.labels_of(parts[0])]
    assert labels[second].tolist() == [7 + len(parts[0]) + g for g in naive.labels_of(parts[1])]
    assert count == 7 + len(parts[0]) + len(parts[1])
