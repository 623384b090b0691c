import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import shoal
from columns import held_column, labels_of, made_of, parts_of, text_column
from shoal.attributes import ColumnGathering, Wish, gaps_in, kept_from
from shoal.attributes.gap_attribute import GapAttribute, GapKept, GapValues
from shoal.attributes.gaps import missing_error, written_gaps
from shoal.errors import ShoalError

pytestmark = pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")

LETTERS = st.lists(st.sampled_from(["a", "b", "c", "", ""]), min_size=3, max_size=20)
NUMBERS = st.lists(st.sampled_from(["1", "2", "5", "9", "", ""]), min_size=3, max_size=20)


def has_both(values):
    return "" in values and len(set(values)) > 1


def thirds(n):
    return [group for group in (list(range(start, n, 3)) for start in range(3)) if group]


def squared(points):
    return ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)


@given(st.one_of(LETTERS, NUMBERS).filter(has_both))
def test_a_gap_is_as_far_from_the_values_as_they_spread(values):
    """The points of the values alone, as their kind has them, are what the twin starts from."""
    present = [value for value in values if value]
    plain = iter(np.zeros((len(present), 1)) if len(set(present)) == 1 else made_of(present).coordinates())
    points = [next(plain).tolist() if value else None for value in values]
    assert squared(made_of(values, gaps="value").coordinates()) == pytest.approx(
        squared(np.array(naive.with_gaps(points))), rel=1e-9, abs=1e-12
    )


@given(st.one_of(LETTERS, NUMBERS).filter(has_both), st.sampled_from(["value", "pattern", "blank"]))
def test_the_variances_sum_up_to_1_with_z_scores_also_with_gaps(values, policy):
    points = made_of(values, gaps=policy).coordinates()
    assert points.var(axis=0).sum() == pytest.approx(1, rel=1e-9)


@given(LETTERS.filter(has_both))
def test_the_common_value_is_a_gap_where_more_than_half_are(values):
    groups = thirds(len(values))
    common = made_of(values, gaps="value").common_values(*parts_of(groups), "mean", False, None)
    everybody = [value for value in values if value]
    expected = [
        naive.common_of_gaps([values[i] or None for i in group], lambda own: naive.mode(own, everybody))
        for group in groups
    ]
    assert common.native() == expected
    assert common.text() == [text or "" for text in expected]


@given(st.one_of(LETTERS, NUMBERS).filter(has_both))
def test_the_loss_is_the_squared_distance_between_the_points_of_what_was_and_what_is_released(values):
    """True of every kind whose points are exact, gaps among them."""
    made, groups = made_of(values, gaps="value"), thirds(len(values))
    labels = labels_of(groups)
    common = made.common_values(*parts_of(groups), "mean", True, None)
    overall = made.common_values(*parts_of([list(range(len(values)))]), "mean", True, None)
    points = made.coordinates()
    lost = ((points - made.placed(common)[labels]) ** 2).sum()
    everything = ((points - made.placed(overall)[0]) ** 2).sum()
    assert made.squared_errors(common, labels) == pytest.approx((lost, everything), rel=1e-9, abs=1e-9)
    in_parts = made.kept.scaled("zscore", lambda: iter(np.array_split(made.stored, 2)), False)
    assert in_parts.sst == pytest.approx(everything, rel=1e-9)
    assert (in_parts.far, in_parts.factor) == pytest.approx((made.kept.far, made.kept.factor))


def test_a_column_of_gaps_only_is_constant():
    made = made_of(["", "NA", "?"], gaps="value")
    assert made.is_constant
    common = made.common_values(*parts_of([[0, 1, 2]]), "mean", False, None)
    assert common.text() == [""]
    assert made.squared_errors(common, np.zeros(3, int)) == (0, 0)
    assert (
        shoal.anonymize(pd.DataFrame({"x": [None, None], "y": [1, 2]}), 2, ["x", "y"], gaps="value").verified_k
        == 2
    )


SPELLED = ["", " ", "NA", "n/a", "#N/A", "<NA>", "NaN", "null", "?", "."]


@pytest.mark.parametrize("text", SPELLED)
def test_what_people_write_for_a_missing_value_is_one(text):
    assert gaps_in(text_column(["1", text]), Wish()).tolist() == [False, True]
    assert gaps_in(held_column(["a", text]), Wish()).tolist() == [False, True]


def test_what_means_a_missing_value_can_be_said():
    column = text_column(["-9", "1", "NA", "", " -9 ", "-9.0"])
    assert gaps_in(column, Wish(gap_values=("-9",))).tolist() == [True, False, False, True, True, True]
    assert gaps_in(column, Wish()).tolist() == [False, False, True, True, False, False]
    assert gaps_in(column, Wish(gap_values=("none",))).tolist() == [False, False, False, True, False, False]


COLUMNS = {
    "floats": held_column([1.0, np.nan, -9.0]),
    "whole": held_column([1, None, -9], "Int64"),
    "objects": held_column(["1", None, "-9"], object),
    "polars": held_column(pl.Series("x", [1, None, -9])),
    "arrow": held_column(pa.chunked_array([[1, None, -9]])),
    "categories": held_column(pd.Series(["1", None, "-9"], dtype="category")),
    "dictionary": held_column(pa.chunked_array([pa.array(["1", None, "-9"]).dictionary_encode()])),
    "mixed objects": held_column([1, None, (2, 3)], object),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_gaps_in_dataframes_and_sentinels_that_were_named(name):
    assert gaps_in(COLUMNS[name], Wish()).tolist() == [False, True, False]
    if name != "mixed objects":
        assert gaps_in(COLUMNS[name], Wish(gap_values=("-9",))).tolist() == [False, True, True]


def test_gaps_are_counted_as_they_are_written():
    assert written_gaps(text_column(["", "NA", "1", "NA"]), Wish()) == {"": 1, "NA": 2}
    assert written_gaps(held_column([1.0, None]), Wish()) == {"": 1}
    assert written_gaps(text_column(["1", "2"]), Wish()) == {}


def test_missing_values_are_an_error_that_lists_every_way_out():
    said = str(missing_error("x", np.array([False, True]), 3))
    assert said.startswith("quasi-identifier 'x' holds missing values (row 5); say what is to be done about them")
    for policy in ("drop", "pattern", "blank", "value", "impute"):
        assert f" {policy} (" in said
    with pytest.raises(ShoalError, match=r"missing values \(rows 2, 3\)"):
        made_of(["1", "", "?"])


def test_rows_are_those_of_the_file_whatever_is_missing_before():
    for gaps in ("value", "impute"):
        with pytest.raises(ShoalError, match=r"'x' beside numbers \(row 5\)"):
            made_of(["", "1", "", "2", "x"], gaps=gaps)
        with pytest.raises(ShoalError, match=r"infinity \(row 4\)"):
            made_of(["", "1", "", "inf"], gaps=gaps)
    made = ColumnGathering("x", Wish(gaps="value"))
    made.add(text_column(["", "a", ""]), 0)
    with pytest.raises(ShoalError, match=r"text such as 'a' beside numbers \(row 2\)"):
        made.add(text_column(["", "7"]), 3)


TABLE = {
    "age": [31, None, 62, 29, 65, None, 30, 64],
    "sex": ["f", "m", None, "f", "m", "m", "f", None],
    "ill": list("abcdefgh"),
}


def released(policy, k=2, **more):
    table = pd.DataFrame(TABLE).astype({"age": "Int64"})
    return shoal.anonymize(table, k, ["age", "sex"], "ill", gaps=policy, method="mdav", keep_order=True, **more)


def test_records_with_gaps_are_dropped():
    release = released("drop")
    assert release.table["ill"].tolist() == ["a", "d", "e", "g"]
    assert not release.table.isna().any().any()
    assert release.manifest["figures"]["gaps_age"]["says"] == "2 values missing in 'age': their records left out"
    with pytest.raises(ShoalError, match="k=5 is more than there are records"):
        released("drop", 5)
    with pytest.raises(ShoalError, match=r"every record lacks a value in 'x', so none is left"):
        shoal.anonymize(pd.DataFrame({"x": [None, None]}), 1, "x", gaps="drop")


def test_a_gap_is_a_value_of_its_own():
    release = released("value")
    assert release.verified_k >= 2
    for name in ("age", "sex"):
        lacked, gaps = np.array([value is None for value in TABLE[name]]), release.table[name].isna()
        for group in (release.labels == label for label in set(release.labels)):
            assert set(gaps[group]) == {lacked[group].mean() > 0.5}
    assert release.table["age"].isna().any()


def test_records_with_the_same_gaps_are_grouped():
    release = released("pattern")
    assert release.table["age"].isna().tolist() == [value is None for value in TABLE["age"]]
    assert release.table["sex"].isna().tolist() == [value is None for value in TABLE["sex"]]
    with pytest.raises(ShoalError, match="only 2 records lack 'sex' and nothing else, fewer than k=3"):
        released("pattern", 3)


def test_more_cells_are_blanked_where_a_pattern_is_too_rare():
    release = released("blank", 3)
    assert release.verified_k >= 3
    assert release.table["age"].isna()[[1, 5]].all()
    assert release.table["sex"].isna()[[2, 7]].all()
    assert release.table["age"].isna()[[2, 7]].all()  # joined with those that lack an age


def test_a_typical_value_is_put_into_the_place_of_a_gap():
    release = released("impute")
    assert not release.table.isna().any().any()
    figures = release.manifest["figures"]
    assert figures["gaps_age"]["says"] == "2 values missing in 'age': filled in with '31'"
    assert figures["gaps_sex"]["details"]["imputed"] == "f"


def test_each_column_can_have_its_own_policy():
    release = released({"age": "drop", "sex": "impute"})
    assert release.table["ill"].tolist() == ["a", "c", "d", "e", "g", "h"]
    assert release.table["sex"].notna().all()


def test_gaps_keep_the_way_that_most_of_them_are_written(tmp_path):
    rows = ["NA,f", "NA,f", "?,f", "NA,f", "62,m", "64,m"]
    (tmp_path / "t.csv").write_text("\n".join(["age,sex", *rows]) + "\n")
    shoal.anonymize(tmp_path / "t.csv", 2, ["age", "sex"], gaps="value", method="mdav").write(tmp_path / "o.csv")
    ages = {line.split(",")[0] for line in (tmp_path / "o.csv").read_text().split()[1:]}
    assert ages == {"NA", "63"}


def test_a_sentinel_that_was_named_is_no_number(tmp_path):
    (tmp_path / "t.csv").write_text("age,sex\n31,f\n-9,f\n33,f\n-9,f\n62,m\n64,m\n")
    asked = {"k": 2, "quasi_identifiers": ["age", "sex"], "gaps": "value", "gap_values": {"age": [-9]}}
    release = shoal.anonymize(tmp_path / "t.csv", **asked, method="mdav")
    assert release.manifest["figures"]["gaps_age"]["details"]["written"] == {"-9": 2}
    assert set(release.common["age"].text()) == {"32", "-9", "63"}
    assert np.nanmin(release.common["age"].floats()) == 32


def test_what_a_stream_keeps_comes_back_from_json():
    kept = made_of(["a", "", "b", "c"], gaps="value").kept
    again = kept_from(json.loads(json.dumps(kept.as_dict())))
    assert again == kept
    assert isinstance(again, GapKept)
    nothing = made_of(["", ""], gaps="value").kept
    assert kept_from(json.loads(json.dumps(nothing.as_dict()))) == nothing


def test_what_is_stored_of_a_gap_comes_back_as_one():
    for values in (["a", "", "b"], ["1", "", "2"], ["1e5", "", "2.5e-7"]):
        made = made_of(values, gaps="value")
        assert isinstance(made, GapAttribute)
        common = made.common_values(*parts_of([[0], [1], [2]]), "mean", False, None)
        again = made.kept.values(made.kept.codes(common))
        assert isinstance(again, GapValues)
        assert again.text() == common.text()
        assert again.text()[1] == ""


def test_a_report_shows_a_gap_as_one_more_category_and_not_among_numbers():
    made = made_of(["a", "", "b", "a"], gaps="value")
    groups = [[0, 1], [2, 3]]
    profile = made.profile(made.common_values(*parts_of(groups), "mean", False, None), labels_of(groups))
    assert profile.levels == ("a", "b", "(missing)")
    assert profile.before.tolist() == [0, 2, 1, 0]
    made = made_of(["1", "", "2", "1"], gaps="value")
    profile = made.profile(made.common_values(*parts_of(groups), "mean", False, None), labels_of(groups))
    assert np.isnan(profile.before).tolist() == [False, True, False, False]
