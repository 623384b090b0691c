import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_risk import KINDS, cheapest, drawn_pair, squared_distance
from shoal.measures.pair import Pair, PairColumn
from shoal.measures.risk import one_to_one as fast
from shoal.measures.risk.nearest import classes_of, coordinates


@given(
    st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4),
    st.lists(st.sampled_from(KINDS), min_size=1, max_size=3), st.sampled_from([0.0, 0.4]),
)  # fmt: skip
def test_everybody_is_assigned_at_the_least_cost(seed, n, k, kinds, gaps):
    pair = drawn_pair(seed, n, k, kinds, gaps=gaps)
    classes, labels = classes_of(pair), []
    solver = fast.transport

    def watched(*given):
        labels.append(solver(*given))
        return labels[-1]

    fast.transport = watched
    try:
        (shown,) = fast.linkage_one_to_one(pair)
    finally:
        fast.transport = solver
    assigned = labels[0][0]
    assert np.bincount(assigned, minlength=len(classes.sizes)).tolist() == classes.sizes.tolist()
    cost = sum(squared_distance(pair.quasi_identifiers, i, int(classes.row[assigned[i]])) for i in range(n))
    assert cost == pytest.approx(cheapest(pair), abs=1e-7)
    right = assigned == classes.of
    assert shown.value == pytest.approx(100 * np.mean(right / classes.sizes[classes.of]))
    assert shown.value <= 100 / pair.k + 1e-9
    assert shown.details["standard_error"] == 0


def test_values_worked_by_hand():
    """0, 1, 10 | 4, 12, 13 at 11/3 and 29/3: the nearest record misses two, and three of each leave 10 and 4 out too."""
    x = np.array([0.0, 1, 10, 4, 12, 13])
    after = np.repeat([11 / 3, 29 / 3], 3)
    pair = Pair((PairColumn("x", "quasi-identifier", x, after),), np.repeat([0, 1], 3), True)
    (shown,) = fast.linkage_one_to_one(pair)
    assert shown.details["right_group"] == pytest.approx(100 * 4 / 6)
    assert shown.value == pytest.approx(100 * 4 / 6 / 3)


def test_linking_at_once_finds_whom_the_nearest_record_misses():
    """2 is nearer to the pair of {2, 3} at 2.5 as {0, 1} at 0.5 is; 1.9 belongs to {0, 1.9} at 0.95, but is nearer to 2.5."""
    x, after = np.array([0, 1.9, 2, 3]), np.array([0.95, 0.95, 2.5, 2.5])
    pair = Pair((PairColumn("x", "quasi-identifier", x, after),), np.array([0, 0, 1, 1]), True)
    from shoal.measures.risk.linkage import links_by_all

    assert links_by_all(pair)[1].tolist() == [0.5, 0, 0.5, 0.5]
    (shown,) = fast.linkage_one_to_one(pair)
    assert shown.value == 50
    assert shown.details["right_group"] == 100


def test_categories_become_points_with_the_same_distances():
    pair = drawn_pair(5, 12, 3, ["category", "number", "category"], gaps=0.3)
    columns, row = pair.quasi_identifiers, classes_of(pair).row
    where = coordinates(columns, [c.before for c in columns], [c.after[row] for c in columns])
    people, centres = fast.points(where)
    for i in range(12):
        for place, each in enumerate(row):
            expected = squared_distance(columns, i, int(each))
            assert ((people[i] - centres[place]) ** 2).sum() == pytest.approx(expected)


def test_of_many_groups_some_are_drawn_whole_and_that_is_said(monkeypatch):
    monkeypatch.setattr(fast, "PEOPLE", 40)
    pair = drawn_pair(2, 300, 4, ["number", "number"])
    classes = classes_of(pair)
    records, groups = fast.people_of_some_groups(classes, 0)
    assert len(records) <= 40
    assert sorted(set(classes.of[records])) == groups.tolist()
    assert len(records) == classes.sizes[groups].sum()
    (shown,) = fast.linkage_one_to_one(pair)
    assert "drawn at random" in shown.sentence
    assert shown.details["standard_error"] > 0
    assert shown.value <= 100 / pair.k


def test_the_people_of_a_large_group_are_limited(monkeypatch):
    monkeypatch.setattr(fast, "_LARGEST", 5)
    pair = drawn_pair(2, 60, 20, ["number"])
    records, groups = fast.people_of_some_groups(classes_of(pair), 0)
    assert len(records) == 5 * len(groups)
    (shown,) = fast.linkage_one_to_one(pair)
    assert shown.value <= 100 / pair.k


def test_the_standard_error_is_that_of_drawn_groups():
    """Two of four groups of two, shares 1, 1 and 0, 0: sums off by 1 and -1, sqrt(2 * 2 * 1/2) / 4 = 35.36 %."""
    assert fast.error_by_groups(np.array([1.0, 1, 0, 0]), np.array([3, 3, 8, 8]), 4) == pytest.approx(
        35.3553, abs=1e-3
    )
    assert fast.error_by_groups(np.array([1.0, 1, 0, 0]), np.array([0, 0, 1, 1]), 2) == 0
    assert fast.error_by_groups(np.array([1.0]), np.array([0]), 9) == 0
