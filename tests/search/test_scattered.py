import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal import MDAV, Blocked
from shoal.partition import sse_of
from shoal.search.scattered import gathered


def clusters(sizes, apart=1000.0, seed=0):
    """Records in clusters that are far from each other."""
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(size, 2)) + apart * place for place, size in enumerate(sizes)])


def test_a_group_of_records_of_two_clusters_is_dissolved():
    X = clusters([63, 62])
    labels = MDAV(k=5).fit(X).labels_.copy()
    one, other = labels[0], labels[100]
    labels[labels == other] = one  # a group that spans both clusters
    labels = np.unique(labels, return_inverse=True)[1]
    new = gathered(X, labels, 5)
    sides = [set((np.flatnonzero(new == group) < 63).tolist()) for group in range(new.max() + 1)]
    assert all(len(side) == 1 for side in sides)
    assert np.bincount(new).min() >= 5
    assert sse_of(X, new) < sse_of(X, labels)


def test_groups_that_are_near_together_stay_as_they_are():
    X = np.random.default_rng(1).normal(size=(200, 3))
    labels = MDAV(k=4).fit(X).labels_
    assert gathered(X, labels, 4) is labels


def test_no_group_gets_more_than_twice_k_less_one():
    # At 0 and at 1000: a group that is full, one beside it with room, and half of a group that is scattered.
    sizes, spots = [9, 5, 9, 5, 3, 3], [0, 30, 1000, 1030, 0, 1000]
    X = np.vstack([clusters([size], seed=seed) + np.array([spots[seed], 0]) for seed, size in enumerate(sizes)])
    labels = np.repeat([0, 1, 2, 3, 4, 4], sizes)
    new = gathered(X, labels, 5)
    assert np.bincount(new).tolist() == [9, 8, 9, 8]


def scattered(rng, count, k):
    """Clusters of some groups each, and groups with records of several clusters."""
    sizes = rng.integers(k, 2 * k, count * 3)
    X = np.vstack([rng.normal(size=(size, 2)) + 1000.0 * (place % count) for place, size in enumerate(sizes)])
    labels = np.repeat(np.arange(len(sizes)), sizes)
    for group in range(len(sizes), len(sizes) + int(rng.integers(1, 3))):
        own = rng.normal(size=(int(rng.integers(k, 2 * k)), 2))
        X = np.vstack([X, own + 1000.0 * rng.integers(0, count, (len(own), 1))])
        labels = np.append(labels, np.full(len(own), group))
    return X, labels


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 6), st.sampled_from(["none", "some", "zeros"]))
def test_the_groups_are_those_of_the_naive_twin(seed, count, k, kind):
    rng = np.random.default_rng(seed)
    X, labels = scattered(rng, count, k)
    drawn = {
        "none": None,
        "some": rng.lognormal(sigma=2.0, size=len(X)),
        "zeros": rng.integers(0, 3, len(X)) * 1.0,
    }
    weights = drawn[kind]
    new = gathered(X, labels, k, weights)
    expected = naive.gathered(X, labels.tolist(), k, None if weights is None else weights.tolist())
    assert [np.flatnonzero(new == group).tolist() for group in range(new.max() + 1)] == expected
    assert sse_of(X, new, weights) <= sse_of(X, labels, weights)
    assert np.bincount(new).min() >= k


def test_a_group_whose_far_record_has_no_weight_is_not_scattered():
    X = clusters([65, 60])
    labels = MDAV(k=5).fit(X).labels_.copy()
    far = np.flatnonzero(labels == labels[100])
    labels[far[0]] = labels[0]  # one record of the other cluster
    weights = np.ones(125)
    assert gathered(X, labels, 4, weights) is not labels
    weights[far[0]] = 0.0
    assert gathered(X, labels, 4, weights) is labels


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_blocks_leave_no_group_of_two_clusters(n_jobs):
    X = clusters([333, 334, 333], seed=2)
    labels = Blocked(MDAV(k=5), max_size=250, n_jobs=n_jobs).fit(X).labels_
    cluster = np.repeat([0, 1, 2], [333, 334, 333])
    assert all(len(set(cluster[labels == group])) == 1 for group in range(labels.max() + 1))
