import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, drawn_pair, gower, squared_distance
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk.nearest import (
    centre_and_range,
    classes_of,
    coordinates,
    nearest,
    quasi_identifiers_in,
    search_order,
)

SOME = st.lists(st.sampled_from(KINDS), min_size=1, max_size=4)


def apart(where, record, row):
    off = where.records[record] - where.rows[row]
    return float(np.where(where.named, off != 0, off**2).sum())


@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 4), SOME, st.sampled_from([0.0, 0.4]))
def test_distances_of_coordinates_are_those_of_the_twin(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    classes = classes_of(pair)
    where = quasi_identifiers_in(pair, np.arange(n), classes)
    for record in range(n):
        for place, row in enumerate(classes.row):
            expected = squared_distance(pair.quasi_identifiers, record, int(row))
            assert apart(where, record, place) == pytest.approx(expected, abs=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 14), st.integers(1, 4), SOME, st.sampled_from([0.0, 0.4]))
def test_the_nearest_by_plain_differences_has_gowers_least_distance(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    columns, classes, rng = pair.quasi_identifiers, classes_of(pair), np.random.default_rng(seed)
    where = coordinates(
        columns, [c.before for c in columns], [c.after[classes.row] for c in columns], centre_and_range
    )
    nobody, names = np.full(n, -1), rng.permutation(len(classes.sizes))
    found, first = nearest(search_order(where), classes.sizes, nobody, names=names, squared=False)
    assert not found.any()
    for record in range(n):
        away = [gower(columns, [c.before[record] for c in columns], int(row)) for row in classes.row]
        assert away[first[record]] == pytest.approx(min(away), abs=1e-9)
        ties = [g for g, each in enumerate(away) if each == away[first[record]]]
        assert names[first[record]] <= min(names[ties])


def test_group_numbers_that_no_record_has_are_left_out():
    x = np.array([1.0, 1, 5, 5, 5])
    pair = Pair((PairColumn("x", "quasi-identifier", x, x),), np.array([4, 4, 1, 1, 1]), matched=True)
    classes = classes_of(pair)
    assert (classes.sizes.tolist(), classes.row.tolist(), classes.of.tolist()) == ([3, 2], [2, 0], [1, 1, 0, 0, 0])
    assert pair.k == 2
