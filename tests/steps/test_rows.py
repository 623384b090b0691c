import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import points
from shoal import MDAV
from shoal.steps.rows import cut_round_trip, cut_with_cost, nearest_point_next, round_trip, row_through_groups


@settings(max_examples=200)
@given(points(widest=6), st.booleans())
def test_rows_through_groups_are_those_of_the_naive_twin(sample, by_records):
    X, k = sample
    labels = MDAV(k=k).fit(X).labels_
    groups = [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]
    expected = naive.row_through_groups(X, groups, by_records)
    assert row_through_groups(X, labels, by_records).tolist() == expected


@settings(max_examples=200)
@given(points(widest=6))
def test_nearest_point_next_is_that_of_the_naive_twin(sample):
    X, _ = sample
    assert nearest_point_next(X).tolist() == naive.nearest_point_next(X)


@settings(max_examples=100)
@given(points(most=30))
def test_a_round_trip_is_cut_at_the_best_of_all_places(sample):
    X, k = sample
    tour = round_trip(X, None)
    assert np.array_equal(np.sort(tour), np.arange(len(X)))
    labels = cut_round_trip(X, tour, k)
    found = naive.sse(naive.plain(X), [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)])
    best = min(cut_with_cost(X, np.roll(tour, -place), k)[1] for place in range(len(X)))
    assert found == pytest.approx(best, rel=1e-9, abs=1e-20 * np.abs(X).max() ** 2)


def test_a_round_trip_is_shorter_than_going_to_the_nearest_point_next():
    X = np.random.default_rng(0).random((500, 2))

    def length(tour):
        return np.sqrt(((X[tour] - X[np.roll(tour, -1)]) ** 2).sum(axis=1)).sum()

    calls = []
    short = length(round_trip(X, lambda done, total: calls.append((done, total))))
    assert short < 0.9 * length(nearest_point_next(X))
    assert short < 0.7124 * np.sqrt(500) * 1.15  # a long random trip has about 0.7124 * sqrt(n * area)
