import re
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
    with pytest.raises(ShoalError, match="there are only 12 records to share it in one of the strata"):
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


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@settings(max_examples=100, deadline=None)
@given(demanded(), st.booleans())
def test_strata_that_leave_count_along(sample, leaves):
    """Whoever knows a person knows the region too, so the larger k holds in every region."""
    frame, k, also, by_person = sample
    frame["region"] = frame["who"] % 2
    persons = frame["who"].tolist() if by_person else list(range(len(frame)))
    most = max(larger for larger, _ in also)
    assume(all(len({persons[row] for row in rows}) >= most for rows in frame.groupby("region").groups.values()))
    said = {"person": "who"} if by_person else {"identifiers": ["who"]}
    if not leaves:
        said["identifiers"] = [*said.get("identifiers", []), "region"]
    along = ["region"] if leaves else []
    plain = shoal.anonymize(frame, k, NAMES, within="region", method="mdav", **said)
    release = shoal.anonymize(frame, k, NAMES, within="region", method="mdav", also=also, **said)
    figures = {each.name: each for each in release.figures}
    for larger, names in also:
        found = smallest(release.table, [*names, *along], persons)
        assert found >= larger
        figure = figures[f"k_on_{', '.join(names)}"]
        assert (figure.value, figure.details["strata"]) == (found, along)
        assert figure.details["before"] == smallest(plain.table, [*names, *along], persons)
    if all(smallest(plain.table, [*names, *along], persons) >= larger for larger, names in also):
        pd.testing.assert_frame_equal(plain.table, release.table)


def test_a_larger_k_that_holds_in_the_table_and_not_in_a_stratum_is_enforced_and_counted_so(tmp_path):
    frame = pd.DataFrame({"a": [1, 1, 2, 2] * 4, "region": ["n", "s"] * 8})
    assert frame.groupby("a").size().min() == 8
    release = shoal.anonymize(frame, 2, ["a"], within="region", also=[(5, ["a"])], method="mdav")
    assert release.table.groupby(["a", "region"]).size().min() == 8
    figure = {each.name: each for each in release.figures}["k_on_a"]
    assert figure.sentence.startswith("k = 8 records on a within region (asked for 5; it was 4)")
    found = release.write(tmp_path / "safe.csv").combinations
    assert [(each.asked, each.columns, each.k) for each in found] == [(5, ("a",), 8)]


@pytest.mark.filterwarnings("ignore:exact centroids")
def test_the_nearest_cell_is_joined():
    """Four pairs on a line: 1 and 2 are near each other, 50 and 51 too."""
    frame = pd.DataFrame({"a": [50, 50, 1, 1, 51, 51, 2, 2], "b": [0, 0, 30, 30, 60, 60, 90, 90]})
    release = shoal.anonymize(frame, 2, ["a", "b"], also=[(4, ["a"])], exact=True, method="mdav")
    assert release.table["a"].tolist() == [50.5, 50.5, 1.5, 1.5] * 2
    assert release.table["b"].tolist() == [0, 0, 30, 30, 60, 60, 90, 90]


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({}, "there are only 12 records to share it; choose k <= 12"),
        ({"within": "region"}, "only 6 records to share it in one of the strata, whose borders are kept; choose"),
        ({"gaps": "pattern"}, "only 4 records to share it among the rows with the same gaps, which stay together"),
        (
            {"person": "who", "pseudonym": "who"},
            "only 4 persons to share it among the persons with as many rows, whose rows a pseudonym links",
        ),
        ({"household": "home"}, "there are only 2 households to share it; choose k <= 2, or leave it out"),
    ],
)
def test_a_larger_k_that_cannot_be_had_names_what_is_in_the_way(tmp_path, said, message):
    frame = pd.DataFrame({
        "a": [None] * 4 + [1.0] * 8 if "gaps" in said else list(map(float, range(12))),
        "region": ["n", "s"] * 6,
        "who": [*"aabbccdd", *"efgh"],
        "home": [1] * 6 + [2] * 6,
    })  # fmt: skip
    if "pseudonym" in said:
        said = said | {"pseudonym_key": tmp_path / "key"}
    k = 13 if not said else 7 if "person" not in said else 5
    with pytest.raises(ShoalError, match=re.escape(message)):
        shoal.anonymize(frame, 2, ["a"], also=[(k, ["a"])], method="mdav", **said)


@pytest.mark.filterwarnings("ignore:k=1 hides nobody")
def test_one_that_is_there_is_said_as_one():
    frame = pd.DataFrame({"a": range(4), "home": [1] * 4})
    with pytest.raises(ShoalError, match="and there is only 1 household to share it"):
        shoal.anonymize(frame, 1, ["a"], household="home", also=[(2, ["a"])], method="mdav")
