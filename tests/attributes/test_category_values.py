import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from columns import held_column
from shoal.attributes.category_values import CategoryValues, not_streamed, shared_values

GROUP, LEVEL, COUNT = np.array([0, 0, 1]), np.array([0, 2, 1]), np.array([1, 3, 4])


def test_a_level_is_released_as_it_came():
    values = CategoryValues((7, 9), np.array([1, 0, 1]))
    assert values.native() == [9, 7, 9]
    assert values.text() == ["9", "7", "9"]
    assert values.floats().tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "series",
    [
        pd.Series(["a", "b", "a"]),
        pd.Series(["a", "b", "a"], dtype="category"),
        pd.Series(["a", "b", "a"], dtype="string"),
        pl.Series("x", ["a", "b", "a"]),
        pl.Series("x", ["a", "b", "a"], dtype=pl.Enum(["a", "b"])),
        pa.chunked_array([["a", "b", "a"]]),
        pa.chunked_array([pa.array(["a", "b", "a"]).dictionary_encode()]),
    ],
    ids=lambda series: f"{type(series).__module__}: {getattr(series, 'dtype', '')}",
)
def test_a_column_keeps_its_type(series):
    values = CategoryValues(("a", "b"), np.array([1, 0]))
    made = values.column(held_column(series).series, np.array([0, 0, 1]), True)
    assert made.to_list() == ["b", "b", "a"]
    assert made.dtype == held_column(series).series.dtype


def test_a_set_lists_its_levels_and_a_share_how_frequent_they_are():
    found = shared_values(["a", "b", "c"], GROUP, LEVEL, COUNT, 2, "set")
    assert found.texts == ["a or c", "b"]
    assert found.share.tolist() == [0.5, 0.5, 1.0]
    found = shared_values(["a", "b", "c"], GROUP, LEVEL, COUNT, 2, "share")
    assert found.texts == ["a 25 %, c 75 %", "b"]
    assert found.share.tolist() == [0.25, 0.75, 1.0]
    assert found.raw.tolist() == found.floats().tolist() == [2, 1]


def test_shares_add_up_to_100_percent_as_they_are_shown_and_0_percent_is_not_shown():
    group, level = np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 2, 3, 0, 1])
    found = shared_values(list("abcd"), group, level, np.array([4, 4, 4, 3, 1, 999]), 2, "share")
    assert found.texts == ["a 27 %, b 27 %, c 26 %, d 20 %", "b"]
    assert found.share.tolist() == [0.27, 0.27, 0.26, 0.2, 1.0]
    assert found.shares_of(np.array([0, 1, 1]), np.array([2, 0, 1])).tolist() == [0.26, 0.0, 1.0]
    assert found.raw.tolist() == [0, 1]


def test_the_share_of_a_records_own_level():
    found = shared_values(["a", "b", "c"], GROUP, LEVEL, COUNT, 2, "share")
    labels, codes = np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 1, 2])
    assert found.shares_of(labels, codes).tolist() == [0.25, 0.0, 0.75, 1.0, 0.0]


@pytest.mark.parametrize(
    "series", [pd.Series([7, 9, 7]), pl.Series("x", [7, 9, 7]), pa.chunked_array([[7, 9, 7]])]
)
def test_several_levels_are_text_whatever_the_column_was(series):
    found = shared_values(["7", "8", "9"], GROUP, LEVEL, COUNT, 2, "set")
    made = found.column(held_column(series).series, np.array([0, 1, 0]), True)
    assert made.to_list() == ["7 or 9", "8", "7 or 9"]


def test_texts_of_several_values_need_the_table_in_memory():
    assert "column 'sex': intervals, sets and shares need the table in memory" in str(not_streamed("sex"))


def test_plain_centroids_leave_categories_in_their_type():
    table = pd.DataFrame({"x": pd.Series(["a", "b", "a", None], dtype="category"), "y": [1, 2, 3, 4]})
    for gaps in ("value", "impute"):
        with pytest.warns(shoal.ShoalWarning, match="exact centroids"):
            release = shoal.anonymize(table, 4, ["x", "y"], gaps=gaps, exact=True)
        assert release.table["x"].dtype == table["x"].dtype
        assert release.table["y"].tolist() == [2.5] * 4
