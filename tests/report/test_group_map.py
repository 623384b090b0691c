import numpy as np
import pytest

from shoal.report import group_map as module
from shoal.report.group_map import group_map
from shoal.report.subject import ShownColumn, Subject


def subject(groups, *columns):
    shown = tuple(
        ShownColumn(f"c{place}", "quasi-identifier", None, np.asarray(values, float), levels)
        for place, (values, levels) in enumerate(columns)
    )
    sizes = np.bincount(groups)
    return Subject((), (), 2, "records", 2, len(groups), sizes, np.asarray(groups), shown, (), ())


def test_groups_on_a_line_are_on_the_first_axis():
    """Two columns that go together, three groups at -1, 0 and 1: the first axis holds all of the spread."""
    groups = np.repeat([0, 1, 2], 2)
    values = np.repeat([10.0, 20, 30], 2)
    found = group_map(subject(groups, (values, ()), (3 * values, ())))
    step = np.sqrt(1.5)  # ten over the standard deviation of these, which is sqrt(200 / 3)
    assert np.allclose(found.places[:, 0], np.sqrt(2) * step * np.array([-1, 0, 1]))
    assert np.allclose(found.places[:, 1], 0)
    assert found.shares[0] == pytest.approx(100)
    assert found.members.tolist() == [2, 2, 2]
    assert found.names == ("c0", "c1")


def test_columns_without_numbers_take_no_part():
    groups, values = np.repeat([0, 1], 3), np.repeat([1.0, 2], 3)
    words, constant, gaps = (values, ("x", "y", "z")), (np.ones(6), ()), (np.where(values > 1, np.nan, 1), ())
    assert group_map(subject(groups, (values, ()), words, constant, gaps)) is None
    assert group_map(subject(groups, (values, ()), (-values, ()))).names == ("c0", "c1")
    assert group_map(subject(np.zeros(6, int), (np.arange(6), ()), (np.arange(6), ()))) is None


def test_of_many_groups_some_are_drawn_and_all_are_counted(monkeypatch):
    monkeypatch.setattr(module, "MOST_GROUPS", 5)
    groups = np.repeat(np.arange(20), 2)
    rng = np.random.default_rng(0)
    parts = [(rng.normal(size=20)[groups], ()) for _ in range(2)]
    found = group_map(subject(groups, *parts))
    assert (len(found.places), len(found.members), found.groups) == (5, 5, 20)
    assert np.array_equal(group_map(subject(groups, *parts)).places, found.places)
