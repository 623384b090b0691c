import gc
import json
import weakref
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
import shoal
from columns import held_column, labels_of, made_of, parts_of, text_column
from shoal.attributes import KINDS, Wish, kept_from, kind_of
from shoal.attributes.nominal import MOST_BARS, NominalGathering
from shoal.errors import ShoalError, ShoalWarning

LETTERS = st.lists(st.sampled_from("aabcdé"), min_size=2, max_size=30).filter(lambda values: len(set(values)) > 1)


@st.composite
def grouped(draw):
    """Letters, and groups of two records or more."""
    values = draw(LETTERS)
    order = draw(st.permutations(range(len(values))))
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(values) // 2 - 1)), max_size=4)))
    ends = [0, *(2 * cut for cut in cuts if 2 * cut <= len(values) - 2), len(values)]
    return values, [list(order[a:b]) for a, b in pairwise(ends) if b > a]


def squared(points):
    return ((points[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)


@given(LETTERS)
def test_a_mismatch_costs_the_same_whatever_the_values(values):
    expected = [[naive.nominal_distance(values, a, b) for b in values] for a in values]
    assert squared(made_of(values).coordinates()) == pytest.approx(np.array(expected), rel=1e-12)


@given(LETTERS)
def test_the_variances_of_the_coordinates_sum_up_to_1_with_z_scores(values):
    points = made_of(values).coordinates()
    assert points.var(axis=0).sum() == pytest.approx(1, rel=1e-12)
    assert made_of(values, "robust").coordinates() == pytest.approx(points)


@pytest.mark.parametrize("scaling", ["range", "none"])
def test_with_other_scalings_a_mismatch_costs_1(scaling):
    points = made_of(["a", "b", "c", "a"], scaling).coordinates()
    assert squared(points)[0] == pytest.approx([0, 1, 1, 0])


def test_the_coordinates_of_categories_are_made_once_and_go_with_their_column():
    made = made_of(["a", "b", "c", "a"])
    assert made.kept.table is made.kept.table
    gone = weakref.ref(made.kept.table)
    made.kept.overall(np.zeros(3))[:] = 7.0
    assert made.kept.table.max() < 7.0
    del made
    gc.collect()
    assert gone() is None


def test_two_categories_share_a_coordinate():
    assert made_of(["a", "b", "a"]).coordinates().shape == (3, 1)
    assert made_of(["a", "b", "c"]).coordinates().shape == (3, 3)
    assert made_of(["a", "a"]).is_constant


@given(grouped())
def test_the_common_value_is_the_most_frequent_one_and_ties_go_to_the_more_frequent_in_the_table(drawn):
    values, groups = drawn
    common = made_of(values).common_values(*parts_of(groups), "mean", False, None)
    expected = [naive.mode([values[i] for i in group], values) for group in groups]
    assert common.native() == common.text() == expected
    for aggregate in ("median", "mode"):
        assert made_of(values).common_values(*parts_of(groups), aggregate, False, None).text() == expected


@given(grouped(), st.sampled_from(["mean", "set", "share"]))
def test_the_loss_counts_the_values_that_change(drawn, aggregate):
    values, groups = drawn
    made = made_of(values)
    common = made.common_values(*parts_of(groups), aggregate, False, None)
    own = [[values[i] for i in group] for group in groups]
    of = {
        "mean": lambda group: {naive.mode(group, values): 1},
        "set": naive.set_of,
        "share": lambda group: naive.shares_of(group, lambda value: (-values.count(value), value)),
    }[aggregate]
    lost, overall = naive.nominal_loss(values, groups, [of(group) for group in own])
    scale = naive.nominal_scale(values)
    assert made.squared_errors(common, labels_of(groups)) == pytest.approx(
        (float(lost) * scale, overall * scale), rel=1e-12, abs=1e-12
    )
    assert made.kept.sst == pytest.approx(overall * scale)


@given(grouped())
def test_within_a_group_the_loss_is_between_the_sse_of_the_points_and_twice_that(drawn):
    values, groups = drawn
    made = made_of(values)
    points, labels = made.coordinates(), labels_of(groups)
    common = made.common_values(*parts_of(groups), "mean", False, None)
    for group in range(len(groups)):
        own = np.flatnonzero(labels == group)
        sse = ((points[own] - points[own].mean(axis=0)) ** 2).sum()
        loss = ((points[own] - made.placed(common)[group]) ** 2).sum()
        assert sse - 1e-9 <= loss <= 2 * sse + 1e-9


def test_more_values_than_coordinates_make_distances_approximate_and_the_loss_stays_exact():
    values = [f"v{number % 40:02d}" for number in range(300)]
    exact, few = made_of(values), made_of(values, coordinates=8)
    assert few.coordinates().shape == (300, 8)
    assert (exact.said()["distances"], few.said()["distances"]) == ("exact", "approximate")
    assert few.said()["values"] == 40
    groups = [list(range(start, start + 3)) for start in range(0, 300, 3)]
    lost = [
        made.squared_errors(made.common_values(*parts_of(groups), "mean", False, None), labels_of(groups))
        for made in (exact, few)
    ]
    assert lost[0] == lost[1]
    assert exact.warning() is None
    assert "say --coordinates 40 to have them exact" in few.warning()


def test_the_wish_for_more_coordinates_goes_all_the_way():
    table = pd.DataFrame({"x": [f"v{number % 10}" for number in range(60)]})
    with pytest.warns(ShoalWarning, match="distances between the rare ones are approximate"):
        release = shoal.anonymize(table, 3, "x", coordinates=4)
    assert release.space.points.shape[1] == 4
    assert release.manifest["attributes"]["x"]["distances"] == "approximate"
    assert shoal.anonymize(table, 3, "x").space.points.shape[1] == 10


def test_a_value_of_its_own_in_nearly_every_record_is_warned_of():
    assert "may name people" in made_of([f"person {number}" for number in range(20)]).warning()
    assert made_of([f"person {number % 17}" for number in range(20)]).warning() is None
    assert made_of([f"person {number}" for number in range(19)]).warning() is None


CATEGORIES = {
    "pandas": pd.Series(["b", "a", "b", "c"], dtype="category"),
    "pandas, numbers": pd.Series([2, 1, 2, 3], dtype="category"),
    "pandas, texts of days": pd.Series(["2024-02-01", "2024-01-01", "2024-02-01", "2024-01-02"], dtype="category"),
    "pandas, texts of digits": pd.Series(["2", "1", "2", "x"], dtype="category"),
    "polars": pl.Series("x", ["b", "a", "b", "c"], dtype=pl.Categorical),
    "enum": pl.Series("x", ["b", "a", "b", "c"], dtype=pl.Enum(["a", "b", "c"])),
    "arrow": pa.chunked_array([pa.array(["b", "a", "b", "c"]).dictionary_encode()]),
    "arrow, numbers": pa.chunked_array([pa.array([2, 1, 2, 3]).dictionary_encode()]),
    "pandas on arrow": pd.Series(["b", "a", "b", "c"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
    "objects": pd.Series(["b", "a", "b", "c"], dtype=object),
    "views": pa.chunked_array([pa.array(["b", "a", "b", "c"], pa.string_view())]),
    "large": pa.chunked_array([pa.array(["b", "a", "b", "c"], pa.large_string())]),
}


@pytest.mark.parametrize("series", CATEGORIES.values(), ids=CATEGORIES)
def test_columns_of_categories_are_nominal_and_come_back_in_their_type(series):
    column = held_column(series)
    assert kind_of(column) is KINDS["nominal"]
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    table = frames[type(series).__module__.split(".")[0]]({"x": series})
    release = shoal.anonymize(table, 4, "x", method="mdav")
    values = series.to_pylist() if isinstance(series, pa.ChunkedArray) else series.to_list()
    found = release.table["x"]
    assert (found.to_pylist() if isinstance(found, pa.ChunkedArray) else found.to_list()) == [values[0]] * 4
    kept = getattr(series, "type", None), getattr(series, "dtype", None)
    assert (getattr(found, "type", None), getattr(found, "dtype", None)) == kept


def test_numbers_are_nominal_where_that_is_asked_for_and_stay_numbers():
    table = pd.DataFrame({"zip": [10115, 10115, 80331, 80331, 80331, 20095]})
    release = shoal.anonymize(table, 3, "zip", kinds={"zip": "nominal"}, method="mdav")
    assert release.table["zip"].dtype == "int64"
    assert set(release.table["zip"]) <= {10115, 80331}
    assert release.manifest["attributes"]["zip"] == {"kind": "nominal", "values": 3, "distances": "exact"}
    texts = made_of(["7", "7", "8"], kind="nominal").common_values(*parts_of([[0, 1, 2]]), "mean", False, None)
    assert texts.text() == ["7"]


@pytest.mark.parametrize("values", [["−7", "−32"], ["455 864", "34 159"], ["1'500", "2'500"]])
def test_numbers_that_are_written_in_another_way_are_not_taken_for_categories(values):
    with pytest.raises(ShoalError, match=f"holds text such as {values[0]!r}|say --kind x=nominal if these are"):
        made_of(values)
    made_of(values, kind="nominal")


def test_true_and_false_in_a_file_stay_what_they_were():
    assert kind_of(text_column(["true", "False", "TRUE"])) is KINDS["numeric"]
    assert kind_of(held_column([True, False])) is KINDS["numeric"]
    assert kind_of(text_column(["true", "false", "maybe"])) is KINDS["nominal"]
    assert kind_of(text_column(["yes", "no"])) is KINDS["nominal"]


def test_boolean_columns_have_two_values():
    assert made_of(["yes", "no", "no"], kind="boolean").kind == "boolean"
    with pytest.raises(ShoalError, match="'x' has 3 different values, so it is not boolean; say --kind x=nominal"):
        made_of(["yes", "no", "perhaps"], kind="boolean")


@pytest.mark.parametrize("values", [["1", "2", "x", "4"], ["x", "1", "2"], ["1,5", "2", "x"], ["1", "inf", "x"]])
def test_text_beside_numbers_is_an_error_that_names_the_row(values):
    row = values.index("x") + 1
    with pytest.raises(ShoalError, match=rf"'x' holds text such as 'x' beside numbers \(row {row}\); correct it"):
        made_of(values)
    made_of(values, kind="nominal")


def test_text_beside_numbers_is_found_in_any_part():
    made = NominalGathering("x", Wish())
    made.add(text_column(["a", "b"]), 0)
    with pytest.raises(ShoalError, match=r"text such as 'a' beside numbers \(rows 1, 2\)"):
        made.add(text_column(["c", "1"][1:]), 2)


def test_what_is_no_category_is_an_error():
    for odd in (pa.chunked_array([[[1], [2]]]), pa.chunked_array([pa.array([b"a", b"b"])])):
        with pytest.raises(ShoalError, match="'x' of type .* holds neither text nor plain numbers"):
            made_of(odd, from_file=False, kind="nominal")


@pytest.mark.parametrize("aggregate", ["interval", "ancestor"])
def test_a_common_value_that_categories_do_not_have_is_an_error_before_any_work(aggregate):
    table = pd.DataFrame({"sex": ["f", "m", "f", "m"]})
    with pytest.raises(ShoalError, match=f"'sex' is nominal, which has no {aggregate}; choose one of mode, set"):
        shoal.anonymize(table, 2, "sex", aggregate={"sex": aggregate}, progress=lambda *_: pytest.fail("worked"))


def test_sets_and_shares_are_text():
    table = pd.DataFrame({"sex": ["f", "m", "f", "f"], "age": [1, 2, 3, 4]})
    for aggregate, expected in (("set", "f or m"), ("share", "f 75 %, m 25 %")):
        release = shoal.anonymize(table, 4, ["sex", "age"], aggregate={"sex": aggregate, "age": "interval"})
        assert release.table["sex"].unique().tolist() == [expected]
        assert release.table["age"].unique().tolist() == ["1-4"]


def test_a_report_draws_the_most_frequent_categories():
    values = [f"v{number:02d}" for number in range(25) for _ in range(30 - number)]
    made = made_of(values)
    n = len(values)
    profile = made.profile(made.common_values(*parts_of([list(range(n))]), "mean", False, None), np.zeros(n, int))
    assert profile.levels == (*(f"v{number:02d}" for number in range(MOST_BARS)), "5 others")
    assert (profile.before[0], profile.before[-1], profile.after[-1]) == (0, MOST_BARS, 0)


def test_what_a_stream_keeps_comes_back_from_json():
    kept = made_of(["b", "a", "b", "c"]).kept
    again = kept_from(json.loads(json.dumps(kept.as_dict())))
    assert again == kept
    assert again.levels == ("b", "a", "c")


def test_whole_numbers_of_a_file_that_are_categories_stay_whole_numbers_in_the_table(tmp_path):
    import shoal

    rows = "\n".join(f"{20 + each * each % 7},{(11, 12, 21)[each % 3]}" for each in range(12))
    (tmp_path / "a.csv").write_text(f"age,region\n{rows}\n")
    release = shoal.anonymize(
        str(tmp_path / "a.csv"), 3, quasi_identifiers=["age", "region"], kinds={"region": "nominal"}
    )
    assert str(release.table["region"].type) == "int64"
    assert set(release.table["region"].to_pylist()) <= {11, 12, 21}
