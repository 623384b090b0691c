from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from shoal.combinations import components, united
from shoal.errors import ShoalError
from shoal.space import Space
from shoal.table import Roles, Table

NAMES = ["a", "b", "c"]


@st.composite
def demanded(draw):
    """A table, k, and larger k on some of its columns."""
    n, k = draw(st.integers(6, 40)), draw(st.integers(1, 3))
    columns = {
        "a": draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n)),
        "b": draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n)),
        "c": draw(st.lists(st.floats(-5, 5).map(lambda value: round(value, 2)), min_size=n, max_size=n)),
        "who": draw(st.lists(st.integers(0, n), min_size=n, max_size=n)),
    }
    names = st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True)
    also = draw(st.lists(st.tuples(st.integers(k + 1, k + 5), names), min_size=1, max_size=3))
    return pd.DataFrame(columns), k, also, draw(st.booleans())


def smallest(table, names, persons):
    """How many persons the smallest combination has, counted one by one."""
    seen = {(*row, who) for *row, who in zip(*(table[name].tolist() for name in names), persons, strict=True)}
    return min(Counter(row[:-1] for row in seen).values())


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@settings(max_examples=150, deadline=None)
@given(demanded())
def test_demands_hold_and_nothing_changes_where_they_held(sample):
    frame, k, also, by_person = sample
    said = {"person": "who"} if by_person else {"identifiers": ["who"]}
    persons = frame["who"].tolist() if by_person else list(range(len(frame)))
    assume(len(set(persons)) >= max(larger for larger, _ in also))
    plain = shoal.anonymize(frame, k, NAMES, method="mdav", **said)
    release = shoal.anonymize(frame, k, NAMES, method="mdav", also=also, **said)
    assert smallest(release.table, NAMES, persons) >= k
    held = all(smallest(plain.table, names, persons) >= larger for larger, names in also)
    for larger, names in also:
        assert smallest(release.table, names, persons) >= larger
    if held:
        pd.testing.assert_frame_equal(plain.table, release.table)
    named = {name for _, names in also for name in names}
    for name in set(NAMES) - named:
        pd.testing.assert_series_equal(plain.table[name], release.table[name])
    assert release.information_loss >= plain.information_loss - 1e-9


def test_cells_do_not_cross_strata():
    frame = pd.DataFrame({"a": np.arange(24) ** 2, "region": ["n", "s"] * 12})
    release = shoal.anonymize(frame, 2, ["a"], within="region", also=[(6, ["a"])], method="mdav")
    both = release.table.groupby(["region", "a"]).size()
    assert both.min() >= 6
    with pytest.raises(ShoalError, match="there are only 12 to share it in one of the strata"):
        shoal.anonymize(frame, 2, ["a"], within="region", also=[(13, ["a"])], method="mdav")


def test_the_extra_loss_is_a_figure():
    frame = pd.DataFrame({"a": np.arange(40) ** 2, "b": np.arange(40) % 7})
    release = shoal.anonymize(frame, 3, ["a", "b"], also=[(10, ["a"])], method="mdav")
    plain = shoal.anonymize(frame, 3, ["a", "b"], method="mdav")
    figure = {each.name: each for each in release.figures}["k_on_a"]
    extra = release.information_loss - plain.information_loss
    assert figure.value >= 10
    assert figure.details["before"] < 10
    assert figure.details["extra_information_loss"] == pytest.approx(extra)
    assert extra > 0


def test_demands_that_share_a_column_are_met_together():
    space = Space.of(Table.of(pd.DataFrame({name: [1, 2] for name in "abcd"}), Roles.of(list("abcd"))))
    found = components([(9, ("a", "b")), (5, ("c",)), (7, ("b", "d"))], space.attributes)
    assert sorted(found) == [[(5, ("c",))], [(7, ("b", "d")), (9, ("a", "b"))]]


def test_the_finest_cells_that_both_are_parts_of():
    assert united(np.array([0, 0, 1, 2, 3]), np.array([0, 1, 1, 2, 3])).tolist() == [0, 0, 0, 1, 2]
