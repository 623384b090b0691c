import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from samples import weighted_points
from shoal import MDAV, ShoalError
from shoal.partition import Partition, sse_of
from shoal.search.exchanges import Exchanges
from shoal.search.weighted import Demands, WeightedExchanges, alike, checked_counts, exchanged, exchanges_for


def random_groups(n, k, seed=0):
    return np.random.default_rng(seed).permutation(np.minimum(np.arange(n) // k, n // k - 1))


def groups_of(labels):
    return [np.flatnonzero(labels == group).tolist() for group in range(labels.max() + 1)]


def same_groups(labels, others):
    return sorted(groups_of(labels)) == sorted(groups_of(others))


def has_enough(labels, demands):
    """Whether every group satisfies the demands, counted one by one."""
    return all(
        sum(demands.counts[i] for i in group) >= demands.least_count and len(group) >= demands.least_records
        for group in groups_of(labels)
    )


def weighted_tables(n, seed):
    """A table whose records weigh 1 or a thousand, and where each of them lies does not tell which."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)), rng.choice([1.0, 1000.0], n)


@settings(max_examples=60)
@given(weighted_points(most=60))
def test_every_round_is_valid_and_none_has_a_larger_weighted_error(sample):
    X, k, weights = sample
    exchanges = WeightedExchanges(k, region=10, weights=weights, demands=alike(len(X), k))
    errors = []
    for labels, error in exchanges.rounds(X, random_groups(len(X), k), 4):
        assert Partition(X, labels, k, weights).sse == error
        errors.append(error)
    assert errors == sorted(errors, reverse=True)
    assert len(set(errors)) == len(errors)


def test_the_error_that_rounds_lower_is_the_weighted_one():
    X, weights = weighted_tables(40, seed=1)
    labels = random_groups(40, 4)
    exchanges = WeightedExchanges(4, weights=weights, demands=alike(40, 4))
    _, error = next(exchanges.rounds(X, labels, 1))
    assert error == pytest.approx(naive.sse(X.tolist(), groups_of(labels), weights.tolist()))
    assert error != pytest.approx(naive.sse(X.tolist(), groups_of(labels)))


def test_a_heavy_record_joins_the_light_group_although_that_is_farther():
    X, weights = np.array([0.0, 1, 5, 8, 9])[:, None], np.array([1.0, 1, 1000, 1000, 1000])
    light, heavy = np.array([0, 0, 0, 1, 1]), np.array([0, 0, 1, 1, 1])
    for begin in (light, heavy):
        assert same_groups(exchanged(X, begin, np.ones(5), alike(5, 2), 3), heavy)
        assert same_groups(exchanged(X, begin, weights, alike(5, 2), 3), light)


def test_exchanges_are_weighted_where_there_are_weights_and_plain_where_not():
    X, weights = weighted_tables(200, seed=2)
    plain, weighed = exchanges_for(4, 2, None), exchanges_for(4, 2, weights)
    assert type(plain) is Exchanges
    assert type(weighed) is WeightedExchanges
    assert (plain.k, plain.n_jobs, weighed.k, weighed.n_jobs) == (4, 2, 4, 2)
    assert np.array_equal(weighed.weights, weights)
    labels = random_groups(200, 4)
    (*_, (one, _)), (*_, (other, error)) = plain.rounds(X, labels, 6), weighed.rounds(X, labels, 6)
    assert error == sse_of(X, other, weights)
    assert error < 0.9 * sse_of(X, one, weights)
    assert sse_of(X, one) < sse_of(X, other)
    assert np.bincount(other).min() >= 4


def test_exchanges_under_demands_have_these_with_weights_and_without():
    X, weights = weighted_tables(120, seed=3)
    demands = Demands(np.random.default_rng(3).integers(1, 4, 120), 6, 3)
    labels = random_groups(120, 6)
    for own in (None, weights):
        exchanges = exchanges_for(6, 1, own, demands)
        assert exchanges.demands is demands
        assert np.array_equal(exchanges.weights, np.ones(120) if own is None else weights)
        *_, (found, error) = exchanges.rounds(X, labels, 3)
        assert has_enough(found, demands)
        assert error < sse_of(X, labels, own)


@st.composite
def households(draw):
    """Weighted points with the persons of each, the demands on groups, and groups that satisfy them."""
    X, _, weights = draw(weighted_points(most=30))
    n = len(X)
    counts = np.array(draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    counts[0] += counts.sum() == 0
    least = draw(st.integers(1, min(n, 3)))
    demands = Demands(counts, draw(st.integers(1, max(1, int(counts.sum()) // 2))), least)
    labels, group = np.empty(n, np.int64), 0
    own: list[int] = []
    for i in draw(st.permutations(range(n))):
        own.append(i)
        labels[i] = group
        if len(own) >= least and counts[own].sum() >= demands.least_count:
            own, group = [], group + 1
    labels[own] = max(group - 1, 0)
    return X, weights, demands, labels


@settings(max_examples=150)
@given(households())
def test_groups_of_households_keep_their_persons_and_their_number_and_none_gets_worse(sample):
    X, weights, demands, labels = sample
    assert has_enough(labels, demands)
    found = exchanged(X, labels, weights, demands, 3)
    assert has_enough(found, demands)
    assert sorted(set(found.tolist())) == list(range(found.max() + 1))
    assert sse_of(X, found, weights) <= sse_of(X, labels, weights)


def test_households_are_exchanged_and_their_weights_decide():
    X, weights = weighted_tables(300, seed=4)
    demands = Demands(np.random.default_rng(4).integers(1, 5, 300), 9, 2)
    labels = random_groups(300, 9)
    plain, weighed = (exchanged(X, labels, own, demands, 6) for own in (np.ones(300), weights))
    assert sse_of(X, plain) < 0.3 * sse_of(X, labels)
    assert sse_of(X, weighed, weights) < 0.9 * sse_of(X, plain, weights)
    assert sse_of(X, plain) < sse_of(X, weighed)


def test_a_household_of_many_persons_does_not_stay_alone():
    # A household alone would lose nothing and has enough persons, but a group must have two households.
    X, labels = np.array([[0.0], [0.1], [9.0], [9.1]]), np.array([0, 1, 0, 1])
    found = exchanged(X, labels, np.ones(4), Demands(np.full(4, 5), 5, 2), 3)
    assert same_groups(found, np.array([0, 0, 1, 1]))
    found = exchanged(X, labels, np.ones(4), Demands(np.full(4, 5), 5, 1), 3)
    assert same_groups(found, np.arange(4))


def test_the_groups_are_the_same_for_any_number_of_jobs():
    X, weights = weighted_tables(3000, seed=5)
    start = random_groups(3000, 5)
    one, two = (
        list(WeightedExchanges(5, jobs, 600, weights=weights, demands=alike(3000, 5)).rounds(X, start, 3))
        for jobs in (1, 2)
    )
    assert len(one) == 4
    assert all(np.array_equal(a, b) for (a, _), (b, _) in zip(one, two, strict=True))


@pytest.mark.parametrize("factor", [2.0**-60, 2.0**60])
def test_the_unit_of_the_weights_does_not_matter(factor):
    X, weights = weighted_tables(200, seed=6)
    labels = MDAV(k=4).fit(X).labels_
    one, other = (exchanged(X, labels, own, alike(200, 4), 3) for own in (weights, weights * factor))
    assert np.array_equal(one, other)


def test_groups_that_have_too_little_are_an_error_that_names_them():
    X, labels = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    with pytest.raises(ShoalError, match="a count of 4 and 2 records: group 0 has 3 and 3"):
        exchanged(X, labels, np.ones(6), Demands(np.array([1, 1, 1, 2, 2, 2]), 4, 2), 1)
    with pytest.raises(ShoalError, match="a count of 1 and 4 records: group 0 has 3 and 3"):
        exchanged(X, labels, np.ones(6), Demands(np.ones(6, np.int64), 1, 4), 1)
    with pytest.raises(ShoalError, match="of at least 1"):
        exchanged(X, labels, np.ones(6), Demands(np.ones(6, np.int64), 0, 1), 1)


@pytest.mark.parametrize("wrong", [np.ones(5, np.int64), np.ones(6), np.array([1, 1, 1, 1, 1, -1])])
def test_counts_are_whole_numbers_of_at_least_0_one_for_each_record(wrong):
    with pytest.raises(ShoalError, match="whole numbers of at least 0, one for each of 6 records"):
        checked_counts(wrong, 6)
