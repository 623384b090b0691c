from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from columns import held_column, text_column
from shoal.errors import ShoalError
from shoal.files.spelling import MISSING
from shoal.privacy.coding import Coding, coded, coding_for, column_of, harmful_values, settled, tree_of
from shoal.privacy.models import AlphaK, LDiversity, TCloseness


def arrow_column(*chunks, signs=(".", "")):
    return column_of("x", pa.chunked_array([pa.array(chunk) for chunk in chunks]), signs)


def check(coding, codes, values, places, measured):
    assert coding.codes.tolist() == codes
    assert coding.values == values
    assert (None if coding.places is None else coding.places.tolist()) == places
    assert coding.measured == measured


# Numbers.


def test_numbers_are_coded_in_their_order():
    check(coded(held_column([10, 9, 10, -3])), [2, 1, 2, 0], ("-3", "9", "10"), [-3, 9, 10], True)
    check(coded(held_column([0.5, None, 0.25])), [1, -1, 0], ("0.25", "0.5"), [0.25, 0.5], True)
    check(coded(held_column([0.0, -0.0, 1.0])), [0, 0, 1], ("0.0", "1.0"), [0, 1], True)
    check(coded(held_column([Decimal("1.10"), Decimal("0.5")])), [1, 0], ("0.50", "1.10"), [0.5, 1.1], True)
    wide = arrow_column(pa.array([2**53 + 1, 2**53, None], pa.int64()))
    assert coded(wide).codes.tolist() == [1, 0, -1]  # a double does not tell them apart


def test_numbers_in_text_are_coded_by_what_they_mean():
    column = text_column(["10", "9", "9.0", " 10 ", "1e1", "+9"])
    check(coded(column), [1, 0, 0, 1, 1, 0], ("9", "10"), [9, 10], True)
    check(coded(arrow_column(["1,5", "1.000,25", "1,50"], signs=(",", "."))), [0, 1, 0], ("1,5", "1.000,25"), [1.5, 1000.25], True)  # fmt: skip


def test_one_word_makes_all_of_a_column_words():
    check(coded(text_column(["10", "9", "ten"])), [0, 1, 2], ("10", "9", "ten"), None, False)


def test_true_and_false_are_coded_as_0_and_1():
    check(coded(held_column([True, False, True])), [1, 0, 1], ("False", "True"), [0, 1], True)
    check(coded(arrow_column([True, None, False])), [1, -1, 0], ("False", "True"), [0, 1], True)
    check(coded(text_column(["yes", "no", "yes"])), [1, 0, 1], ("no", "yes"), [0, 1], False)


# Dates.


def test_dates_are_coded_in_their_order_and_by_the_days_between_them():
    for column in (
        held_column([date(2020, 1, 5), date(2019, 12, 31), None, date(2020, 1, 5)]),
        text_column(["2020-01-05", "2019-12-31", "", "2020-01-05"]),
    ):
        check(coded(column), [1, 0, -1, 1], ("2019-12-31", "2020-01-05"), [0, 5], True)
    # 1 February comes after 3 January.
    check(coded(text_column(["01.02.2020", "03.01.2020"])), [1, 0], ("03.01.2020", "01.02.2020"), [0, 29], True)


def test_points_in_time_and_durations_are_coded_in_their_order():
    moments = [datetime(2020, 1, 5, 12), datetime(2020, 1, 5), None, datetime(2020, 1, 6)]
    found = coded(held_column(moments))
    assert found.codes.tolist() == [1, 0, -1, 2]
    assert np.diff(found.places)[0] == np.diff(found.places)[1] > 0
    lengths = coded(held_column([timedelta(days=3), timedelta(days=1), timedelta(days=2)]))
    assert lengths.codes.tolist() == [2, 0, 1]
    assert np.ptp(np.diff(lengths.places)) == 0
    assert found.measured
    assert lengths.measured


def test_times_of_day_go_round_so_they_have_no_order():
    check(coded(text_column(["10:30", "09:15", "23:59"])), [1, 0, 2], ("09:15", "10:30", "23:59"), None, False)
    assert coded(held_column([time(10, 30), time(9, 15), time(23, 59)])).places is None


# Words.


def test_words_are_coded_by_the_alphabet_and_have_no_order():
    check(coded(text_column(["gout", "flu", " flu", "none"])), [1, 0, 0, 2], ("flu", "gout", "none"), None, False)


def test_two_words_are_in_an_order_whichever_it_is():
    check(coded(text_column(["gout", "flu", "", "flu"])), [1, 0, -1, 0], ("flu", "gout"), [0, 1], False)
    assert coding_for(TCloseness(0.1, "ordered", on="x"), text_column(["gout", "flu"])).places.tolist() == [0, 1]


def test_words_whose_order_is_known_are_coded_in_it():
    column = text_column(["Low", "HIGH", "medium", "", "Low"])
    check(coded(column), [0, 2, 1, -1, 0], ("Low", "medium", "HIGH"), [0, 1, 2], False)
    classes = text_column(["65+", "<18", "25-64", "18-24", "<18"])
    check(coded(classes), [3, 0, 2, 1, 0], ("<18", "18-24", "25-64", "65+"), [0, 1, 2, 3], False)
    gaps = text_column(["low", "high", "very high"])  # the steps are those of the values that are there
    assert coded(gaps).places.tolist() == [0, 1, 2]


def test_words_are_coded_in_an_order_that_is_given():
    column = text_column(["b", "a ", "c", "b", "NA"])
    check(coded(column, ["c", "z", "b", "a"]), [1, 2, 0, 1, -1], ("c", "b", "a"), [0, 1, 2], False)
    assert coded(held_column([1, 2, 3]), ["3", "2", "1"]).codes.tolist() == [2, 1, 0]
    assert coded(text_column(["b", "a"]), [" a ", " b "]).codes.tolist() == [1, 0]


def test_a_value_that_the_order_does_not_name_is_an_error():
    with pytest.raises(
        ShoalError, match="column 'x' has values that its order does not name: 'c', 'd'; add them to it"
    ):
        coded(text_column(["d", "a", "c", "b"]), ["a", "b"])


def test_ordered_categories_of_pandas_have_an_order():
    column = held_column(pd.Series(pd.Categorical(["b", "c", "a"], ["c", "b", "a"], ordered=True)))
    check(coded(column), [1, 0, 2], ("c", "b", "a"), [0, 1, 2], False)


@pytest.mark.parametrize("values", [["b", "a", None, "c", "a"], [7, 3, None, 9, 3]])
def test_columns_of_categories_are_coded_by_their_values(values):
    plain = coded(held_column(pd.Series(values, dtype="object")))
    assert plain.codes.tolist() == [1, 0, -1, 2, 0]
    frames = [held_column(pd.Series(values, dtype="category"))]
    chunks = [pa.array(part).dictionary_encode() for part in (values[:2], values[2:])]
    frames.append(column_of("x", pa.chunked_array(chunks)))
    if isinstance(values[0], str):
        frames.append(held_column(pl.Series(values, dtype=pl.Categorical)))
        frames.append(held_column(pl.Series(values, dtype=pl.Enum(["c", "b", "a", "unused"]))))
    for column in frames:
        found = coded(column)
        assert found.codes.tolist() == plain.codes.tolist()
        assert found.measured == plain.measured
        assert len(found.values) == 3


# Gaps.


def test_a_gap_is_no_value_however_it_is_written():
    spelled = [*MISSING, "NA", "NaN", "N/A", " ", " ? ", None]
    found = coded(text_column(["b", *spelled, "a"]))
    assert found.codes.tolist() == [1, *[-1] * len(spelled), 0]
    assert found.gaps == len(spelled)
    for column in (
        held_column([2.0, float("nan"), 1.0]),
        held_column(pd.Series([2, None, 1], dtype="Int64")),
        held_column(pl.Series([2, None, 1])),
        held_column(["b", None, "a"]),
        held_column(["b", "NA", "a"]),
        held_column(pd.Series(["b", None, "a"], dtype="category")),
        arrow_column(["b", None], ["a"]),
        held_column([date(2020, 1, 2), None, date(2020, 1, 1)]),
    ):
        assert coded(column).codes.tolist() == [1, -1, 0]
        assert coded(column).gaps == 1


@pytest.mark.parametrize("values", [["", "?", "NA"], [None, None]])
def test_nothing_can_be_promised_about_gaps_only(values):
    said = "column 'x' has no value in any record, so nothing can be promised about it"
    with pytest.raises(ShoalError, match=said):
        coded(text_column(values))
    with pytest.raises(ShoalError, match=said):
        coded(held_column([float("nan")] * 3))
    with pytest.raises(ShoalError, match=said):
        coded(arrow_column(pa.nulls(3)))


def test_numbers_and_words_in_one_column_are_an_error_that_names_it():
    with pytest.raises(ShoalError, match="column 'x' holds values of several types, so they cannot be compared"):
        coded(held_column(pd.Series([1, "a", None], dtype="object")))


def test_a_column_that_cannot_be_compared_is_called_what_it_is():
    with pytest.raises(
        ShoalError, match="column 'x' of type .* cannot be compared; no privacy model can be about it"
    ):
        coded(arrow_column([[1], [2]]))


@given(st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=30).filter(any))
def test_the_same_numbers_are_coded_in_the_same_way_in_any_table(values):
    line = sorted({value for value in values if value is not None})
    expected = [-1 if value is None else line.index(value) for value in values]
    texts = [None if value is None else str(value) for value in values]
    for column in (
        held_column(pd.Series(values, dtype="Int64")),
        held_column(pd.Series(values, dtype="float64")),
        held_column(pl.Series(values)),
        arrow_column(values),
        text_column(texts),
        held_column(pd.Series(texts, dtype="category")),
    ):
        found = coded(column)
        assert found.codes.tolist() == expected
        assert found.places.tolist() == line
        assert found.measured


def test_the_codes_of_some_records():
    some = coded(text_column(["b", "a", ""])).of(np.array([2, 0]))
    assert some.codes.tolist() == [-1, 1]
    assert some.values == ("a", "b")


# As a model needs it.


@pytest.mark.parametrize("distance", ["ordered", "ranks", "wasserstein"])
def test_a_line_needs_an_order(distance):
    words = text_column(["flu", "gout", "none"])
    with pytest.raises(
        ShoalError, match=rf"t-closeness by '{distance}' needs an order, .* 'x' have none .*order=\["
    ):
        coding_for(TCloseness(0.1, distance, on="x"), words)
    assert coding_for(TCloseness(0.1, on="x"), words).places is None
    if distance != "wasserstein":
        model = TCloseness(0.1, distance, order=["none", "gout", "flu"], on="x")
        assert coding_for(model, words).codes.tolist() == [2, 1, 0]


def test_wasserstein_needs_numbers():
    model = TCloseness(0.1, "wasserstein", on="x")
    said = "'wasserstein' needs numbers or dates, and 'x' has an order only; choose the distance ordered"
    with pytest.raises(ShoalError, match=said):
        coding_for(model, text_column(["low", "medium", "high"]))
    with pytest.raises(ShoalError, match=said):
        coding_for(TCloseness(0.1, "wasserstein", order=["a", "b"], on="x"), text_column(["a", "b"]))
    assert coding_for(model, text_column(["2020-01-05", "2019-12-31"])).measured
    assert coding_for(model, text_column(["1", "2.5"])).measured


def test_wasserstein_needs_finite_numbers():
    column = held_column([1.0, 2.0, float("inf")])
    said = "'wasserstein' needs finite numbers, and 'x' has infinite ones; choose the distance ordered"
    with pytest.raises(ShoalError, match=said):
        coding_for(TCloseness(0.1, "wasserstein", on="x"), column)
    for distance in ("ordered", "ranks", "equal"):
        assert coding_for(TCloseness(0.1, distance, on="x"), column).codes.tolist() == [0, 1, 2]


def test_a_sensitive_value_that_nobody_has_is_an_error():
    column = text_column(["flu", "hiv", "none"])
    with pytest.raises(ShoalError) as error:
        coding_for(AlphaK(0.5, on="x", sensitive_values=["hiv", "HIV"]), column)
    assert str(error.value) == "no record has the sensitive value 'HIV' in 'x'; there are 'flu', 'hiv', 'none'"
    assert coding_for(LDiversity(2, on="x", sensitive_values=" hiv "), column).values == ("flu", "hiv", "none")
    assert coding_for(AlphaK(0.5, on="x", sensitive_values=[3]), held_column([3, 4])).values == ("3", "4")


def test_a_sensitive_number_is_found_however_it_is_written():
    for column in (
        held_column([3, 4, None]),
        text_column(["3.0", "4"]),
        held_column([Decimal("3.00"), Decimal("4")]),
    ):
        coding = coding_for(AlphaK(0.5, on="x", sensitive_values=[3]), column)
        assert harmful_values(coding, ["3", "3.0", "5", "three"]) == [0, 0, None, None]


def test_the_distance_is_ordered_where_there_is_an_order_and_equal_elsewhere():
    words, numbers = coded(text_column(["a", "b", "c"])), coded(text_column(["1", "2", "3"]))
    assert settled(TCloseness(0.1, on="x"), words).distance == "equal"
    assert settled(TCloseness(0.1, on="x"), numbers).distance == "ordered"
    assert settled(TCloseness(0.1, "equal", on="x"), numbers).distance == "equal"
    model = LDiversity(2, on="x")
    assert settled(model, words) is model


# Trees.


def tree(taxonomy, values):
    model = TCloseness(0.1, "hierarchical", taxonomy=taxonomy, on="x")
    return [each.tolist() for each in tree_of(model.taxonomy, coded(text_column(values)))]


def test_values_are_leaves_of_a_tree():
    taxonomy = {"all": {"lungs": ["flu", "cough"], "gout": {}}}
    # Nodes: all 0, lungs 1, flu 2, cough 3, gout 4. Values: cough, flu, gout.
    assert tree(taxonomy, ["gout", "flu", "cough"]) == [[3, 2, 4], [-1, 0, 1, 1, 0], [2, 1, 0, 0, 0]]


def test_a_value_inside_the_tree_gets_a_leaf_of_its_own():
    taxonomy = {"all": {"lungs": ["flu", "cough"], "gout": {}}}
    # all is node 5, below itself, and lungs is node 6.
    found = tree(taxonomy, ["flu", "lungs", "all"])
    assert found == [[5, 2, 6], [-1, 0, 1, 1, 0, 0, 1], [2, 1, 0, 0, 0, 0, 0]]


def test_how_high_a_node_is_goes_by_its_farthest_leaf_and_not_by_lengths():
    lengths = {"name": "all", "children": [{"name": "a", "length": 7}, {"name": "b", "children": [{"name": "c"}]}]}
    assert tree(lengths, ["a", "c"])[2] == [2, 0, 1, 0]


def test_a_taxonomy_without_a_value_is_an_error():
    with pytest.raises(
        ShoalError, match="the taxonomy does not name 'gout', 'hives' of column 'x'; add them to it"
    ):
        tree({"all": ["flu", "cough"]}, ["gout", "flu", "hives", ""])


def test_a_coding_without_records_has_no_gaps():
    assert Coding("x", np.zeros(0, np.int64), (), None, False).gaps == 0


@pytest.mark.parametrize("named", [["-9", "unknown"], ("unknown", "-9")])
def test_texts_that_are_said_to_mean_a_gap_are_no_values(named):
    coding = coded(text_column(["flu", "unknown", "-9", "NA", None]), gap_values=named)
    assert coding.values == ("NA", "flu")
    assert coding.codes.tolist() == [1, -1, -1, 0, -1]
    assert coded(held_column([3, -9, 4]), gap_values=named).codes.tolist() == [0, -1, 1]


def test_the_order_of_words_is_kept_with_the_distance_and_that_of_numbers_is_not_needed():
    levels = pd.Categorical(["mid", "low", "top"], ["low", "mid", "top"], ordered=True)
    words = held_column(pd.Series(levels))
    for distance in (None, "ordered", "ranks"):
        model = TCloseness(0.1, distance, on="x")
        coding = coded(words)
        assert settled(model, coding).order == ("low", "mid", "top")
        assert settled(model, coded(held_column([3, 4]))).order == ()
    assert settled(TCloseness(0.1, "equal", on="x"), coding).order == ()
