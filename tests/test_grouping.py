import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import MDAV, ShoalError
from shoal.grouping import grouped


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
    with pytest.raises(ShoalError, match="leave record_weights out"):
        grouped(MDAV(k=3), X, record_weights=np.ones(8))


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
