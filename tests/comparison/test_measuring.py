"""The figures of a setting, against a slow twin and counted by hand."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import shoal
from shoal.comparison.grid import grid
from shoal.comparison.measuring import made_ready, row_of, single_value
from shoal.errors import ShoalError

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")


def setting(method="mdav", k=3, quasi=("a", "b"), confidential=None, **options):
    (made,) = grid([k], [method], list(quasi), confidential, None, options)
    return made


def naive_linkage(before, after):
    """Everybody takes the nearest released record, and guesses among those that look the same; ties share."""
    scaled = [(column - column.mean()) / (column.std() if np.ptp(column) else 1.0) for column in before.T]
    own = np.column_stack(scaled)
    released = np.column_stack(
        [(r - c.mean()) / (c.std() if np.ptp(c) else 1.0) for r, c in zip(after.T, before.T, strict=True)]
    )
    found = 0.0
    for person in range(len(own)):
        distances = np.round(np.square(released - own[person]).sum(axis=1), 12)
        near = distances == distances.min()
        if near[person]:
            found += 1 / near.sum()
    return 100 * found / len(own)


def table_of(values):
    return pd.DataFrame(values, columns=["a", "b"])


@given(arrays(np.int64, st.tuples(st.integers(6, 24), st.just(2)), elements=st.integers(-4, 4)))
def test_linkage_is_that_of_an_attacker_who_tries_everybody(values):
    table = table_of(values.astype(float))
    release = shoal.anonymize(table, 3, ["a", "b"], method="mdav", exact=True)
    expected = naive_linkage(table.to_numpy(), release.table.to_numpy(float))
    row = row_of(table, setting(exact=True))
    assert row.linkage == pytest.approx(expected, abs=1e-9)
    assert row.linkage_error == 0
    assert row.linkage <= row.prosecutor_highest + 1e-9


def test_groups_and_risks_are_counted_on_the_released_values():
    table = pd.DataFrame({"a": [1, 1, 1, 5, 5, 5, 5, 9, 9], "b": [0, 0, 0, 7, 7, 7, 7, 3, 3]})
    row = row_of(table, setting(k=2))
    released = shoal.anonymize(table, 2, ["a", "b"], method="mdav").table
    sizes = Counter(zip(released["a"], released["b"], strict=True)).values()
    assert (row.smallest, row.largest) == (min(sizes), max(sizes))
    assert row.prosecutor_highest == 100 / min(sizes)
    assert row.prosecutor_mean == pytest.approx(100 * len(sizes) / 9)
    assert row.records == 9


@pytest.mark.parametrize("method", ["mdav", "vmdav", "auto", "pcl"])
def test_the_loss_of_a_row_is_that_of_the_release_with_its_seed(method):
    rng = np.random.default_rng(3)
    table = table_of(rng.normal(size=(90, 2)).round(2))
    row = row_of(table, setting(method, 4, scaling="range"))
    release = shoal.anonymize(table, 4, ["a", "b"], method=method, scaling="range", random_state=row.seed)
    assert (row.status, row.loss, row.groups) == ("ok", release.information_loss, release.partition.n_groups)


def test_persons_are_counted_where_k_counts_them():
    table = pd.DataFrame({"id": [1, 1, 2, 2, 3, 4, 5, 6], "a": [1.0, 1, 2, 2, 3, 7, 8, 9], "b": [0.0] * 8})
    row = row_of(table, setting(k=3, person="id"))
    assert row.status == "ok"
    assert row.smallest == 3
    assert row.prosecutor_highest == pytest.approx(100 / 3)
    assert row.prosecutor_mean == pytest.approx(100 * 2 / 6)


def test_single_values_are_counted_by_hand():
    classes = np.array([0, 0, 1, 1, 1, 2, 2])
    one, two = np.array([4, 4, 1, 2, 1, 3, 0]), np.array([1, 2, 1, 1, 1, 0, 1])
    assert single_value(classes, []) is None
    assert single_value(classes, [one]) == pytest.approx(100 * 2 / 7)
    assert single_value(classes, [two]) == pytest.approx(100 * 3 / 7)
    assert single_value(classes, [one, two]) == pytest.approx(100 * 5 / 7)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=20))
def test_single_values_are_those_of_a_slow_twin(records):
    classes = np.unique([group for group, _ in records], return_inverse=True)[1]
    codes = np.array([value for _, value in records])
    alone = sum(len(set(codes[classes == group].tolist())) == 1 for group in classes.tolist())
    assert single_value(classes, [codes]) == pytest.approx(100 * alone / len(records))


def test_categories_and_gaps_are_measured_too():
    table = pd.DataFrame({"a": [1.0, None, 3, 4, 5, None, 7, 8], "b": list("xxyyxyxy"), "c": list("pqpqpqpq")})
    row = row_of(table, setting("auto", 2, confidential=["c"], gaps="impute"))
    assert row.status == "ok"
    assert 0 <= row.linkage <= 50
    assert row.single_value is not None


def test_a_setting_that_cannot_be_had_is_refused_with_the_reason():
    table = table_of(np.arange(8.0).reshape(4, 2))
    row = row_of(table, setting(k=5))
    assert row.status == "refused"
    assert "k=5" in row.reason
    assert row.loss is None
    with pytest.raises(ShoalError, match="k=5"):
        shoal.anonymize(table, 5, ["a", "b"], method="mdav")


@pytest.mark.parametrize(
    ("raised", "said"),
    [(ZeroDivisionError("oh"), "ZeroDivisionError: oh"), (MemoryError(), "out of memory")],
)
def test_a_method_that_goes_wrong_is_a_failed_row(monkeypatch, raised, said):
    def broken(*_):
        raise raised

    monkeypatch.setattr("shoal.comparison.measuring.released", broken)
    row = row_of(None, setting())
    assert (row.status, row.reason) == ("failed", said)


def test_a_method_that_was_interrupted_has_no_row(monkeypatch):
    table = table_of(np.random.default_rng(0).normal(size=(30, 2)))
    release = shoal.anonymize(table, 3, ["a", "b"], method="mdav")
    release.manifest["method"]["interrupted"] = True
    monkeypatch.setattr("shoal.comparison.measuring.released", lambda *_: release)
    with pytest.raises(KeyboardInterrupt):
        row_of(table, setting())


def test_a_method_that_cannot_be_made_ready_is_no_error(monkeypatch):
    made_ready(setting())
    monkeypatch.setattr("shoal.comparison.measuring.released", lambda *_: 1 / 0)
    made_ready(setting())
