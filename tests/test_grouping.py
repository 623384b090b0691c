import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import naive
from shoal import MDAV, ShoalError
from shoal.catalogue import METHODS, method_of
from shoal.grouping import Units, grouped


class Different:
    """A toy constraint: so many different values in every group."""

    def __init__(self, values, least):
        self.values, self.least = np.asarray(values), least

    def holds(self, records):
        return len(np.unique(self.values[records])) >= self.least

    def __str__(self):
        return f"{self.least} different values"


def test_without_demands_the_groups_are_those_of_the_method():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert np.array_equal(grouped(MDAV(k=3), X).labels, MDAV(k=3).fit(X).labels_)


@given(st.integers(4, 30), st.integers(1, 4), st.integers(0, 10**6))
def test_every_group_satisfies_its_constraints_and_is_a_union_of_the_groups_of_the_method(n, least, seed):
    rng = np.random.default_rng(seed)
    X, values = rng.normal(size=(n, 2)), rng.integers(0, 5, n)
    demand, plain = Different(values, least), MDAV(k=2).fit(X).labels_
    if not demand.holds(np.arange(n)):
        with pytest.raises(ShoalError, match="every group must have .* different values"):
            grouped(MDAV(k=2), X, constraints=[demand])
        return
    found = grouped(MDAV(k=2), X, constraints=[demand])
    assert all(demand.holds(np.flatnonzero(found.labels == group)) for group in range(found.n_groups))
    assert len(set(zip(plain, found.labels, strict=True))) == plain.max() + 1, "no group was taken apart"
    if all(demand.holds(np.flatnonzero(plain == group)) for group in range(plain.max() + 1)):
        assert np.array_equal(found.labels, plain)


def test_a_group_that_falls_short_is_joined_with_the_nearest():
    X = np.array([[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]])
    values = ["a", "a", "a", "b", "a", "b"]
    found = grouped(MDAV(k=2), X, constraints=[Different(values, 2)])
    assert found.labels[0] == found.labels[1] == found.labels[2] == found.labels[3] != found.labels[4]


def test_groups_never_cross_the_border_of_a_stratum():
    rng = np.random.default_rng(1)
    X, strata = rng.normal(size=(50, 2)), rng.integers(0, 3, 50)
    seen = []
    found = grouped(MDAV(k=3), X, strata=strata, progress=lambda done, total: seen.append((done, total)))
    assert found.sizes.min() >= 3
    for group in range(found.n_groups):
        assert len(np.unique(strata[found.labels == group])) == 1
    for stratum in range(3):
        own = strata == stratum
        assert len(np.unique(found.labels[own])) == MDAV(k=3).fit(X[own]).n_groups_
    assert seen[-1] == (50, 50)


def test_a_constraint_counts_the_records_of_the_table_within_strata_too():
    X, strata = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    values = ["a", "a", "a", "b", "b", "b"] * 2
    found = grouped(MDAV(k=2), X, strata=strata, constraints=[Different(values, 2)])
    for group in range(found.n_groups):
        own = np.flatnonzero(found.labels == group)
        assert len(set(np.array(values)[own])) == 2
        assert len(set(strata[own])) == 1


def test_what_cannot_be_honoured_is_an_error():
    X = np.arange(8.0)[:, None]
    with pytest.raises(ShoalError, match="stratum 1 has 2 records, fewer than k=3"):
        grouped(MDAV(k=3), X, strata=np.array([0] * 6 + [1] * 2))
    with pytest.raises(ShoalError, match="every group must have 9 persons in 2 households"):
        grouped(MDAV(k=9), X, units=Units(np.arange(8) // 2, np.array([2, 2, 2, 2]), 2))


def test_strata_may_have_any_numbers_and_errors_name_them():
    X = np.arange(8.0)[:, None]
    found = grouped(MDAV(k=2), X, strata=np.array([3, 3, 3, 3, 7, 7, 7, 7]))
    assert found.n_groups == 4
    with pytest.raises(
        ShoalError, match="every group must have 2 different values, and not even stratum 7 together have"
    ):
        grouped(
            MDAV(k=2), X, strata=np.array([3, 3, 3, 3, 7, 7, 7, 7]), constraints=[Different(list("ababcccc"), 2)]
        )


def test_constraints_know_records_by_their_numbers_in_the_whole_table():
    seen = []

    class Watching(Different):
        def holds(self, records):
            seen.extend(records.tolist())
            return True

    grouped(MDAV(k=2), np.arange(6.0)[:, None], rows=np.arange(100, 106), constraints=[Watching([], 0)])
    assert sorted(set(seen)) == list(range(100, 106))


def test_many_groups_are_joined_in_little_time():
    """Each group is looked at once and once more for every group that it takes in, whatever their number."""
    looks = []

    class Counted(Different):
        def holds(self, records):
            looks.append(len(records))
            return super().holds(records)

    rng = np.random.default_rng(0)
    X, values = rng.normal(size=(2000, 2)), rng.integers(0, 2, 2000)
    found = grouped(MDAV(k=2), X, constraints=[Counted(values, 2)])
    assert found.n_groups > 200
    assert len(looks) < 4 * MDAV(k=2).fit(X).n_groups_


def test_an_interruption_in_any_stratum_is_noted():
    class Interrupted(MDAV):
        def _group(self, X, progress):
            self.interrupted_ = len(X) == 4
            return super()._group(X, progress)

    model = Interrupted(k=2)
    grouped(model, np.arange(9.0)[:, None], strata=np.array([0] * 4 + [1] * 5))
    assert model.interrupted_


def same_groups(labels, others):
    pairs = set(zip(labels.tolist(), others.tolist(), strict=True))
    return len(pairs) == len(set(labels.tolist())) == len(set(others.tolist()))


@st.composite
def tables_of_units(draw):
    """Points with the units, strata, weights and persons of their records."""
    n_units = draw(st.integers(6, 25))
    sizes = draw(st.lists(st.integers(1, 5), min_size=n_units, max_size=n_units))
    of = np.repeat(np.arange(n_units), sizes)
    X = draw(arrays(np.int8, (len(of), 2))).astype(float)
    borders = draw(st.booleans())
    strata = (np.arange(n_units) >= n_units // 2).astype(np.int64)[of] if borders else None
    weights = draw(st.none() | arrays(np.int16, len(of), elements=st.integers(0, 50)))
    if weights is not None:
        weights = weights.astype(float) + (weights.max() == 0)
    return X, of, strata, weights, np.array(sizes)


@settings(max_examples=150)
@given(tables_of_units(), st.integers(1, 3))
def test_units_stay_together_and_groups_count_them(sample, k):
    X, of, strata, weights, _ = sample
    found = grouped(MDAV(k=k), X, units=Units(of), strata=strata, record_weights=weights)
    for unit in np.unique(of):
        assert len(set(found.labels[of == unit])) == 1
    for group in range(found.n_groups):
        own = found.labels == group
        assert len(set(of[own])) >= k
        assert strata is None or len(set(strata[own])) == 1
    expected = naive.unit_labels(X, of, weights, strata, k)
    assert same_groups(found.labels, np.array(expected))


@settings(max_examples=100)
@given(tables_of_units(), st.integers(1, 6))
def test_households_have_enough_persons_and_are_two_at_least(sample, k):
    X, of, strata, weights, sizes = sample
    found = grouped(MDAV(k=k), X, units=Units(of, sizes, 2), strata=strata, record_weights=weights)
    for unit in np.unique(of):
        assert len(set(found.labels[of == unit])) == 1
    for group in range(found.n_groups):
        own = found.labels == group
        assert own.sum() >= k
        assert len(set(of[own])) >= 2
        assert strata is None or len(set(strata[own])) == 1


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_groups_units_with_weights_within_strata(name):
    rng = np.random.default_rng(4)
    of = np.repeat(np.arange(40), rng.integers(1, 4, 40))
    X, strata = rng.normal(size=(len(of), 1 if name == "univariate-optimal" else 2)), (np.arange(40) % 2)[of]
    model = method_of(name, 3)
    found = grouped(model, X, units=Units(of), strata=strata, record_weights=rng.uniform(0.5, 9, len(of)))
    for group in range(found.n_groups):
        own = found.labels == group
        assert len(set(of[own])) >= 3
        assert len(set(strata[own])) == 1
    assert all(len(set(found.labels[of == unit])) == 1 for unit in range(40))


def test_weights_of_records_move_groups_where_they_should():
    X = np.array([0.0, 2, 4, 6, 8, 10, 11])[:, None]
    plain = grouped(MDAV(k=3), X)
    weighed = grouped(MDAV(k=3), X, record_weights=np.array([1.0] * 6 + [50]))  # draws its centroid away from 6
    assert same_groups(plain.labels, np.array([0, 0, 0, 1, 1, 1, 1]))
    assert same_groups(weighed.labels, np.array([0, 0, 0, 0, 1, 1, 1]))
