import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.kernels.exchanges.groups import (
    distances,
    enlist,
    file_in,
    fill,
    insert,
    remove,
    replace,
    room_for,
    settle_centre,
    swap,
)
from shoal.kernels.exchanges.swap import Swapping


@numba.njit
def moved(groups, x, g):
    remove(groups, x)
    insert(groups, x, g)


@numba.njit
def swapped(groups, x, y):
    swap(groups, x, y)


@numba.njit
def turned_round(groups, x, y, z):
    of_x, of_y, of_z = groups.label[x], groups.label[y], groups.label[z]
    replace(groups, x, y, of_y)
    replace(groups, y, z, of_z)
    replace(groups, z, x, of_x)


@numba.njit
def listed(groups, x, g):
    enlist(groups, x, g)
    settle_centre(groups, g)


@numba.njit
def measured(groups, own):
    distances(groups, own)


@numba.njit
def filed(ids, reach, values):
    for h in range(values.size):
        file_in(ids, reach, h, values[h])


def new(X, labels, groups=4):
    found = Swapping(*room_for(X, labels, groups, len(X)))
    fill(found)
    return found


def is_consistent(groups):
    """Members, labels, sizes and centroids tell the same story."""
    assert np.array_equal(np.bincount(groups.label, minlength=len(groups.size)), groups.size)
    for g in range(len(groups.size)):
        members = groups.members[g, : groups.size[g]]
        assert sorted(members) == np.flatnonzero(groups.label == g).tolist()
        if len(members):
            assert groups.centre[g] == pytest.approx(groups.rows[members].mean(axis=0), abs=1e-9)


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.lists(st.sampled_from(["move", "swap", "turn"]), max_size=12))
def test_whatever_moves_the_groups_hold_together(seed, moves):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), 4)
    groups = new(rng.normal(size=(12, 2)), labels)
    given_labels = labels.copy()
    for move in moves:
        x, y, z = (rng.choice(groups.members[g, : groups.size[g]]) for g in (0, 1, 2))
        if move == "move" and groups.size[0] > 1:
            moved(groups, x, 3)
        elif move == "swap":
            swapped(groups, x, y)
        elif move == "turn":
            turned_round(groups, x, y, z)
        is_consistent(groups)
    assert np.array_equal(labels, given_labels)


def test_members_come_by_rising_record_and_a_group_that_is_not_there_has_none():
    X = np.arange(10.0).reshape(5, 2)
    groups = new(X, np.array([2, 0, 2, 0, 2]))
    assert groups.size.tolist() == [2, 0, 3, 0]
    assert groups.members[2, :3].tolist() == [0, 2, 4]
    assert groups.centre.tolist() == [[4.0, 5.0], [0.0, 0.0], [4.0, 5.0], [0.0, 0.0]]
    own = np.empty(5)
    measured(groups, own)
    assert own.tolist() == ((X - groups.centre[groups.label]) ** 2).sum(axis=1).tolist()


def test_a_record_is_enlisted_and_the_centroid_settled_without_the_rounding_of_moves():
    X = np.array([[0.1], [0.2], [0.7], [1e17]])
    groups = new(X, np.array([0, 0, 1, 1]))
    moved(groups, 3, 0)
    moved(groups, 3, 1)
    assert groups.centre[0, 0] != (0.1 + 0.2) / 2
    groups.size[0] = 0
    listed(groups, 0, 0)
    listed(groups, 1, 0)
    assert groups.centre[0, 0] == (0.1 + 0.2) / 2
    is_consistent(groups)


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 6))
def test_the_nearest_are_filed_in_order_the_first_of_equals_first(values, room):
    ids, reach = np.full(room, -1), np.full(room, np.inf)
    filed(ids, reach, np.array(values, float))
    wanted = np.argsort(values, kind="stable")[:room].tolist()
    assert ids.tolist() == wanted + [-1] * (room - len(wanted))
