from datetime import date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.measures import pair as tested
from shoal.measures.figures import Figure
from shoal.measures.pair import Pair, PairColumn, figures_of_pair, pair_column, pair_measure
from shoal.privacy.coding import column_of


def column(values):
    return column_of("x", pa.chunked_array([pa.array(values)]))


def coded(before, after, *also, **given):
    return pair_column("other", column(before), column(after), *map(column, also), **given)


def shown(found, values):
    return [None if np.isnan(code) else found.levels[int(code)] for code in values]


def test_numbers_stay_numbers_also_as_text():
    found, (third,) = coded([1, 2, None], ["1.5", "", "3"], [7.0])
    assert found.is_number
    assert np.array_equal(found.before, [1, 2, np.nan], equal_nan=True)
    assert np.array_equal(found.after, [1.5, np.nan, 3], equal_nan=True)
    assert third.tolist() == [7]


@pytest.mark.parametrize("written", [str, date.fromisoformat, datetime.fromisoformat])
def test_dates_of_all_tables_count_from_one_day(written):
    days = ["1970-01-11", "1969-12-30", "1970-02-01"], ["1970-01-21", "1970-01-21", None], ["2020-01-01"]
    found, (third,) = coded(*([day and written(day) for day in part] for part in days))
    assert found.is_number
    assert found.unit == "days after 1970-01-01"
    assert np.array_equal(found.before, [10, -2, 31])
    assert np.array_equal(found.after, [20, 20, np.nan], equal_nan=True)
    assert third.tolist() == [18_262]


def test_lengths_of_time_are_hours_in_all_tables():
    found, _ = coded([timedelta(hours=5), timedelta(days=1)], [timedelta(hours=9), timedelta(minutes=30)])
    assert (found.before.tolist(), found.after.tolist(), found.unit) == ([5, 24], [9, 0.5], "hours")


def test_dates_and_years_are_not_compared_as_numbers():
    found, _ = coded(["1970-01-11", "1969-12-30"], [1970, 1969])
    assert found.levels == ("1969", "1969-12-30", "1970", "1970-01-11")


@given(*[st.lists(st.sampled_from(["a", "b", "c", None, "*"]), min_size=1)] * 3)
def test_categories_keep_their_values_and_a_star_is_a_gap_where_it_is_new(before, after, also):
    before, after, also = (["z", *each] for each in (before, after, also))
    found, (third,) = coded(before, after, also)
    assert shown(found, found.before) == before
    hidden = None if "*" not in before else "*"
    assert shown(found, found.after) == [hidden if value == "*" else value for value in after]
    assert shown(found, third) == also


@pytest.mark.parametrize(
    ("text", "middle"),
    [("[20, 30[", 25), ("(20;30]", 25), ("20-30", 25), ("20\u201330", 25), ("-5 to -3", -4), ("1.5..2.5", 2),
     (">=90", 90), ("< 20", 20), ("90+", 90), ("\u2265 7", 7), ("12", 12), ("*", None), ("", None)],
)  # fmt: skip
def test_intervals_count_as_their_middles(text, middle):
    found, _ = coded([1.0, 2.0], [text, "1-2"])
    assert found.is_number
    assert found.after[1] == 1.5
    assert np.isnan(found.after[0]) if middle is None else found.after[0] == middle


def test_what_is_no_interval_makes_categories():
    found, _ = coded([1.0, 2.0], ["young", "1-2"])
    assert not found.is_number
    assert shown(found, found.after) == ["young", "1-2"]


def test_marks_of_gaps_are_gaps():
    found, _ = coded(["1", "-9"], ["2", "-9"], gap_values=("-9",))
    assert np.isnan(found.before[1])
    assert np.isnan(found.after[1])
    found, _ = coded(["a", "none"], ["a", "b"], gap_values=("none",))
    assert shown(found, found.before) == ["a", None]


def small(matched, n=10, m=10):
    columns = (PairColumn("x", "quasi-identifier", np.arange(n) * 1.0, np.arange(m) * 1.0),
               PairColumn("y", "confidential", np.arange(n) * 1.0, np.arange(m) * 1.0))  # fmt: skip
    return Pair(columns, np.arange(m) // 3, matched, np.arange(m) * 1.0, seed=5)


def test_groups_are_counted():
    pair = small(True)
    assert (pair.k, pair.sizes.tolist(), pair.n_before, pair.n_after) == (1, [3, 3, 3, 1], 10, 10)
    assert [each.name for each in (*pair.quasi_identifiers, *pair.confidential)] == ["x", "y"]


def test_a_sample_has_the_same_rows_of_matched_tables():
    sample = small(True).sampled(4)
    assert sample.columns[0].before.tolist() == sample.columns[0].after.tolist() == sample.weights.tolist()
    assert len(set(sample.columns[0].before)) == sample.n_after == 4
    assert sample.groups.tolist() == (sample.columns[0].after // 3).tolist()
    apart = small(False, 10, 3).sampled(4)
    assert (apart.n_before, apart.n_after) == (4, 3)


def test_a_measure_that_needs_rows_gets_the_matched_part_or_is_named(monkeypatch):
    monkeypatch.setattr(tested, "PAIR_MEASURES", {})

    @pair_measure(matched=True)
    def by_rows(pair):
        yield Figure("by_rows", pair.n_after, "", "", "", "", "utility")

    @pair_measure(matched=False)
    def by_tables(pair):
        yield Figure("by_tables", pair.n_after, "", "", "", "", "utility")

    def values(pair):
        found, left_out = figures_of_pair(pair)
        return [figure.value for figure in found], left_out

    assert values(small(True)) == ([10, 10], [])
    assert values(small(False)) == ([10], ["by_rows"])
    whole = small(False)
    part = tested.replace(whole.rows(np.arange(4), np.arange(4)), matched=True)
    assert values(tested.replace(whole, linked=part)) == ([4, 10], [])
