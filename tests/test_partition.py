import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from samples import points
from shoal import partition
from shoal.errors import ShoalError
from shoal.partition import Partition, by_group, compact, renumbered

X = np.arange(12.0).reshape(6, 2)


def test_a_partition_knows_its_groups():
    partition = Partition(X, [0, 1, 0, 1, 0, 1], k=3)
    assert partition.n_groups == 2
    assert partition.sizes.tolist() == [3, 3]
    assert partition.centroids.tolist() == [[4, 5], [6, 7]]


@pytest.mark.parametrize(
    ("labels", "k", "message"),
    [
        ([0, 0, 0, 0, 1, 1], 3, "group 1 has 2"),
        ([0, 0, 0, 2, 2, 2], 3, "groups without a record: 1"),
        ([0, 0, 0, -1, 0, 0], 1, "records in no group .*first: 3"),
        ([0, 0, 0], 1, "shape"),
        ([0.0] * 6, 1, "whole numbers"),
        ([0, 0, 0, 0, 0, 9], 1, "label 9 is too large"),
    ],
)
def test_it_cannot_be_built_with_a_small_group_or_a_record_left_out(labels, k, message):
    with pytest.raises(ShoalError, match=message):
        Partition(X, labels, k)


def test_it_cannot_be_built_from_nothing():
    with pytest.raises(ShoalError, match="at least one record"):
        Partition(np.empty((0, 2)), np.empty(0, int), 1)


def test_it_cannot_be_changed_afterwards():
    partition = Partition(X, np.zeros(6, int), k=3)
    with pytest.raises(ValueError, match="read-only"):
        partition.labels[0] = 1
    with pytest.raises(AttributeError):
        partition.k = 1


def test_the_labels_given_are_not_held_on_to():
    labels = np.zeros(6, int)
    partition = Partition(X, labels, k=3)
    labels[0] = 5
    assert partition.labels[0] == 0


@given(points())
def test_sse_is_the_twins(sample):
    points_, k = sample
    labels = np.arange(len(points_)) % max(1, len(points_) // k)
    partition = Partition(points_, labels, k)
    groups = [np.flatnonzero(labels == g).tolist() for g in range(partition.n_groups)]
    assert partition.sse == pytest.approx(naive.sse(points_.tolist(), groups), rel=1e-9)
    assert 0 <= partition.information_loss <= 100 + 1e-9


def test_equal_records_lose_nothing():
    assert Partition(np.ones((4, 2)), [0, 0, 1, 1], 2).information_loss == 0


def test_groups_are_numbered_anew_by_their_numbers_or_by_their_first_records():
    labels = np.array([7, 2, 7, 9, 2])
    assert compact(labels).tolist() == [1, 0, 1, 2, 0]
    assert renumbered(labels).tolist() == [0, 1, 0, 2, 1]


@given(st.lists(st.integers(-3, 60), min_size=1, max_size=20))
def test_gaps_are_closed_whatever_the_numbers_are(given_labels):
    found = compact(np.array(given_labels))
    assert found.tolist() == [sorted(set(given_labels)).index(label) for label in given_labels]


@pytest.mark.parametrize("many", [1, 1000])
@given(given_labels=st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_the_records_of_each_group_stand_by_rising_index(many, given_labels):
    labels = compact(np.array(given_labels))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partition, "_MANY", many)
        order, starts = by_group(labels)
    parts = [order[first:last].tolist() for first, last in itertools.pairwise(starts)]
    assert parts == [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]
