import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from shoal.kernels.columns import cheap_groups, neighbouring_groups


def sample(seed, n=14):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    everyone = np.tile(np.arange(n, dtype=np.int32), (n, 1))
    own = np.arange(n)[:, None]
    near = np.concatenate([own, everyone[everyone != own].reshape(n, n - 1)], axis=1).astype(np.int32)
    return X, rng.uniform(0, 3, n), near


def room(most, k):
    return np.full((most, 2 * k), -1, np.int32), np.empty(most, np.int64), np.empty(most)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_cheap_groups_are_those_of_the_naive_twin(seed, k):
    X, prices, near = sample(seed)
    members, sizes, reduced = room(len(X) * k, k)
    found = cheap_groups(X, prices, X, near, k, 2 * k - 1, 0.5, members, sizes, reduced)
    wanted = naive.cheap_groups(X, prices, k, 0.5)
    assert [members[i, : sizes[i]].tolist() for i in range(found)] == [group for group, _ in wanted]
    assert reduced[:found] == pytest.approx([cost for _, cost in wanted], abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 3))
def test_neighbouring_groups_are_all_that_are_one_record_away(seed, k):
    X, prices, near = sample(seed, 9)
    group = np.random.default_rng(seed).permutation(9)[: 2 * k - 1].astype(np.int32)
    members, sizes, reduced = room(5000, k)
    found = neighbouring_groups(
        X, prices, near, group, np.array([0, len(group)]), k, 2 * k - 1, 1.0, members, sizes, reduced
    )
    got = {tuple(sorted(members[i, : sizes[i]].tolist())): reduced[i] for i in range(found)}
    wanted = naive.neighbouring_groups(X, prices, group.tolist(), k, 1.0)
    assert sorted(got) == sorted(wanted)
    assert [got[g] for g in sorted(got)] == pytest.approx([wanted[g] for g in sorted(got)], abs=1e-9)


def test_groups_that_find_no_room_are_left_out():
    X, prices, near = sample(1)
    members, sizes, reduced = room(3, 2)
    starts = np.array([0, 3])
    assert neighbouring_groups(X, prices, near, near[0, :3], starts, 2, 3, np.inf, members, sizes, reduced) == 3
