import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive_utility import covariance, drawn, pearson, plain, there, variance
from shoal.measures.utility.complete_pairs import complete_pairs, middle


@given(st.lists(st.sampled_from(["number", "tied", "constant", "gaps"]), min_size=1, max_size=4),
       st.integers(0, 10**6), st.sampled_from([0.0, 0.4]), st.integers(1, 12))  # fmt: skip
def test_covariances_of_pairs_with_gaps_are_those_of_the_twin(kinds, seed, gaps, n):
    columns = [drawn(seed + i, n, kind, gaps) for i, kind in enumerate(kinds)]
    found = complete_pairs(columns)
    for i, first in enumerate(columns):
        for j, second in enumerate(columns):
            expected = covariance(plain(first), plain(second))
            assert found.covariances[i, j] == pytest.approx(
                np.nan if expected is None else expected, nan_ok=True, abs=1e-12
            )


def test_parts_of_many_records_are_added_up(monkeypatch):
    columns = [drawn(seed, 50) for seed in range(3)]
    whole = complete_pairs(columns)
    monkeypatch.setattr("shoal.measures.utility.complete_pairs._ROWS", 7)
    parts = complete_pairs(columns)
    assert parts.covariances == pytest.approx(whole.covariances)
    assert parts.variances == pytest.approx(whole.variances)


@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.4]), st.integers(1, 12))
def test_variances_are_those_of_the_records_that_have_both_values(seed, gaps, n):
    a, b = drawn(seed, n, "number", gaps), drawn(seed + 1, n, "tied", gaps)
    found = complete_pairs([a, b])
    own = [x for x, y in zip(plain(a), plain(b), strict=True) if None not in (x, y)]
    assert found.counts[0, 1] == found.counts[1, 0] == len(own)
    expected = variance(own) if len(own) > 1 else np.nan
    assert found.variances[0, 1] == pytest.approx(expected, nan_ok=True, abs=1e-12)
    assert found.variances[0, 0] == pytest.approx(
        variance(there(plain(a))) if len(there(plain(a))) > 1 else np.nan, nan_ok=True, abs=1e-12
    )


def test_correlations_worked_by_hand():
    """Of 1, 2, 3 and 1, 3, 2 the covariance is 1/2 and both variances are 1; the fourth record lacks a value."""
    a, b = np.array([1.0, 2, 3, 9]), np.array([1.0, 3, 2, np.nan])
    found = complete_pairs([a, b])
    assert found.covariances[0, 1] == pytest.approx(0.5)
    assert found.correlations[0, 1] == found.correlations[1, 0] == pytest.approx(0.5)
    assert found.correlations[0, 1] == pytest.approx(pearson(plain(a), plain(b)))
    assert np.isnan(complete_pairs([a, np.full(4, 0.1)]).correlations[0, 1])


def test_large_numbers_that_hardly_differ_keep_their_digits():
    a = 1e9 + np.array([1.0, 2, 3, 4])
    assert complete_pairs([a, a[::-1].copy()]).covariances == pytest.approx(np.array([[5, -5], [-5, 5]]) / 3)


def test_the_middle_of_equal_values_is_that_value():
    assert middle(np.full(3, 0.1)) == 0.1
    assert middle(np.zeros(0)) == 0
    assert middle(np.array([1.0, 2.0])) == 1.5
