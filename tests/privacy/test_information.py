from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.privacy.information import information, mutual

VALUES = st.lists(st.sampled_from([0, 1, 2, 5, -1]), min_size=1, max_size=40)


@given(VALUES.filter(lambda codes: max(codes) >= 0), st.data())
def test_the_information_is_that_of_the_twin(codes, data):
    groups = data.draw(st.lists(st.sampled_from([0, 1, 2, 7]), min_size=len(codes), max_size=len(codes)))
    found = information(np.array(groups), np.array(codes), shuffles=2)
    expected = naive.information(groups, [None if code < 0 else code for code in codes])
    assert found.nats == pytest.approx(expected, abs=1e-12)
    assert found.nats >= 0.0


def test_groups_that_tell_all_and_groups_that_tell_nothing():
    values = np.array([0, 0, 1, 1])
    assert mutual(np.array([0, 0, 1, 1]), values) == pytest.approx(log(2))
    assert mutual(np.array([0, 1, 0, 1]), values) == pytest.approx(0, abs=1e-15)
    assert mutual(np.zeros(4, np.int64), values) == pytest.approx(0, abs=1e-15)
    # Three groups of two values each: a third of the records is told everything.
    assert mutual(np.array([0, 0, 1, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 0])) == pytest.approx(
        log(6) - (4 * log(4) + 2 * log(2)) / 6 - log(2) + 2 * log(2) / 6
    )


def test_records_without_a_value_are_left_out():
    groups, codes = np.array([0, 0, 1, 1, 1, 0]), np.array([0, 1, 1, 1, -1, -1])
    assert information(groups, codes) == information(groups[:4], codes[:4])


def test_chance_alone_is_about_the_published_bias():
    rng = np.random.default_rng(1)
    n, k, values = 20_000, 10, 4
    groups, codes = np.arange(n) // k, rng.integers(0, values, n)
    found = information(groups, codes)
    assert found.by_chance == pytest.approx((values - 1) / (2 * k), rel=0.15)
    assert abs(found.nats - found.by_chance) < 4 * found.spread  # these values are random themselves
    assert 0 < found.spread < 0.05 * found.by_chance


def test_groups_that_tell_more_than_chance_are_seen():
    codes = np.sort(np.random.default_rng(2).integers(0, 4, 400))
    found = information(np.arange(400) // 10, codes)
    assert found.nats > found.by_chance + 10 * found.spread


def test_it_is_the_same_every_time_and_another_for_another_seed():
    rng = np.random.default_rng(3)
    groups, codes = rng.integers(0, 20, 200), rng.integers(0, 4, 200)
    assert information(groups, codes) == information(groups, codes)
    assert information(groups, codes).by_chance != information(groups, codes, seed=1).by_chance
    assert information(groups, codes).nats == information(groups, codes, seed=1).nats
