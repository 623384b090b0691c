from fractions import Fraction
from itertools import pairwise
from math import fsum

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from samples import VALUES, weights
from shoal.attributes import weighing

SORTS = st.sampled_from(sorted(VALUES)).flatmap(
    lambda sort: st.lists(VALUES[sort] | st.floats(-1.0, 1.0), min_size=1, max_size=15)
)


def as_array(given_weights):
    """Whole numbers as the attributes take them: Python integers where they are large."""
    return np.array(given_weights, np.int64 if max(given_weights) < 2**63 else object)


def cut(labels):
    return np.argsort(labels, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(labels))])


@st.composite
def weighed(draw, values=SORTS):
    """Values in groups, and their weights."""
    drawn = draw(values)
    labels = draw(st.lists(st.integers(0, 2), min_size=len(drawn), max_size=len(drawn)))
    labels = np.unique(labels, return_inverse=True)[1].tolist()
    return drawn, labels, draw(weights(labels))


def members(values, labels):
    return [[value for value, own in zip(values, labels, strict=True) if own == g] for g in range(max(labels) + 1)]


@given(weighed())
def test_records_that_count_are_those_with_a_weight_in_lowest_terms(drawn):
    _, labels, given_weights = drawn
    order, starts, counts = weighing.counting(*cut(labels), as_array(given_weights))
    for group, own in enumerate(members(range(len(labels)), labels)):
        held = order[starts[group] : starts[group + 1]].tolist()
        assert held == [i for i in own if given_weights[i]]
        shared = np.gcd.reduce([given_weights[i] for i in held])
        expected = [given_weights[i] // shared for i in held]
        assert expected == (
            [1] * len(held) if counts is None else counts[starts[group] : starts[group + 1]].tolist()
        )


@pytest.mark.parametrize("weight", [1, 7, 2**62, 10**30])
def test_equal_weights_are_none(weight):
    order, starts = np.array([2, 0, 1]), np.array([0, 1, 3])
    found = weighing.counting(order, starts, as_array([weight] * 3))
    assert found[2] is None
    assert np.array_equal(found[0], order)
    assert np.array_equal(found[1], starts)
    assert weighing.counting(order, starts, None)[0] is order


def test_weights_that_become_small_are_plain_integers():
    _, _, counts = weighing.counting(np.arange(2), np.array([0, 2]), as_array([10**30, 3 * 10**30]))
    assert counts.dtype == np.int64
    assert counts.tolist() == [1, 3]


def test_groups_without_any_weight_count_once_for_each_record():
    given_weights = as_array([0, 5, 0, 0])
    found = weighing.never_all_zero(given_weights, np.array([3, 1, 0, 2]), np.array([0, 2, 4]))
    assert found.tolist() == [1, 5, 1, 0]
    assert given_weights.tolist() == [0, 5, 0, 0]
    assert weighing.never_all_zero(found, np.array([3, 1, 0, 2]), np.array([0, 2, 4])) is found


@given(weighed(st.lists(st.integers(0, 2**62 - 1) | st.integers(0, 9), min_size=1, max_size=15)))
def test_sums_of_whole_numbers_are_exact(drawn):
    values, labels, given_weights = drawn
    order, starts, counts = weighing.counting(*cut(labels), as_array(given_weights))
    found = weighing.summed(np.array(values)[order], starts, counts).tolist()
    sizes = weighing.sizes_of(starts, counts).tolist()
    for total, size, own, heavy in zip(
        found, sizes, members(values, labels), members(given_weights, labels), strict=True
    ):
        assert Fraction(total, size) == naive.weighted_mean(own, heavy)


@given(weighed(st.lists(st.integers(0, 5), min_size=1, max_size=15)))
def test_the_middle_places_are_where_half_of_the_weight_is_reached_and_exceeded(drawn):
    values, labels, given_weights = drawn
    order, starts, counts = weighing.counting(*cut(labels), as_array(given_weights))
    ranked = np.lexsort((np.array(values)[order], np.array(labels)[order]))
    places = weighing.middle_places(starts, None if counts is None else counts[ranked])
    found = [np.array(values)[order][ranked][place].tolist() for place in places]
    expected = map(naive.weighted_middles, members(values, labels), members(given_weights, labels))
    assert list(zip(*found, strict=True)) == list(expected)


@given(weighed())
def test_means_of_doubles_are_exact_sums_rounded_once(drawn):
    values, labels, given_weights = drawn
    order, starts, counts = weighing.counting(*cut(labels), as_array(given_weights))
    found = weighing.means(np.array([values, values]).T.copy(), order, starts, counts)
    assert np.array_equal(found[:, 0], found[:, 1])
    if counts is None:
        counts = np.ones(len(order), np.int64)
    for mean, (a, b) in zip(found[:, 0].tolist(), pairwise(starts.tolist()), strict=True):
        own, often = [values[i] for i in order[a:b]], counts[a:b].tolist()
        whole = sum(often)
        exact = naive.weighted_mean(own, often)
        assert mean == (float(exact * whole) / whole if whole < 2**52 else float(exact))


@given(weighed(), st.randoms(use_true_random=False))
def test_means_do_not_depend_on_the_order_of_the_records(drawn, rng):
    values, labels, given_weights = drawn
    shuffled = list(zip(values, labels, given_weights, strict=True))
    rng.shuffle(shuffled)
    found = []
    for part in (zip(values, labels, given_weights, strict=True), shuffled):
        own, groups, heavy = zip(*part, strict=True)
        found.append(weighing.means(np.array(own)[:, None], *weighing.counting(*cut(groups), as_array(heavy))))
    assert found[0].tobytes() == found[1].tobytes()


@given(weighed())
def test_the_pieces_of_a_product_add_up_to_it(drawn):
    values, _, given_weights = drawn
    counts = np.array(given_weights, object) % 2**52
    parts = weighing.exact_products(np.array(values), counts.astype(np.int64))
    for column, value, count in zip(parts.T.tolist(), values, counts.tolist(), strict=True):
        assert sum(map(Fraction, column)) == Fraction(value) * count


@given(weighed())
def test_weighted_squares_are_those_of_each_record_times_its_weight(drawn):
    values, _, given_weights = drawn
    errors = np.array([values, values]).T / 1e100
    squares = [fsum(row**2) for row in errors]
    expected = fsum(float(weight) * square for weight, square in zip(given_weights, squares, strict=True))
    assert weighing.weighted_squares(errors, as_array(given_weights)) == pytest.approx(expected, rel=1e-12)
    assert weighing.weighted_squares(errors, np.ones(len(values), int)) == weighing.weighted_squares(errors, None)
