import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from columns import held_column, text_column
from shoal.attributes.levels import Levels, is_numeric_text, numbers_of, numeric_among, spelled, text_like
from shoal.errors import ShoalError


def test_values_are_numbered_as_they_come_up_over_all_parts():
    levels = Levels("x")
    assert levels.add(text_column(["b", "a", "b"]), 0).tolist() == [0, 1, 0]
    assert levels.add(text_column(["c", "b"]), 3).tolist() == [2, 0]
    assert (levels.values, levels.counts, levels.first) == (["b", "a", "c"], [3, 1, 1], [0, 1, 3])


def test_a_column_of_too_many_different_values_is_refused(monkeypatch):
    monkeypatch.setattr("shoal.attributes.levels.MOST", 3)
    levels = Levels("x")
    levels.add(text_column(["b", "a", "b"]), 0)
    levels.add(text_column(["c", "b"]), 3)
    with pytest.raises(ShoalError, match="'x' has more than 3 different values, too many for categories; drop it"):
        levels.add(text_column(["a", "d"]), 5)
    assert levels.add(text_column(["a", "b", "c"]), 5).tolist() == [1, 0, 2]


def test_values_are_ranked_by_how_often_they_occur_then_by_their_text():
    levels = Levels("x")
    stored = levels.add(text_column(["c", "b", "a", "b", "c", "d"]), 0)
    values, counts, numbers = levels.ranked()
    assert (values, counts) == (["b", "c", "a", "d"], [2, 2, 1, 1])
    assert [values[number] for number in numbers[stored]] == ["c", "b", "a", "b", "c", "d"]


def test_the_ranks_do_not_depend_on_the_order_of_the_records():
    found = set()
    for values in (["b", "a", "c", "a"], ["a", "c", "a", "b"], ["c", "b", "a", "a"]):
        levels = Levels("x")
        levels.add(text_column(values), 0)
        found.add(tuple(levels.ranked()[0]))
    assert found == {("a", "b", "c")}


@pytest.mark.parametrize("values", [[3, 1, 3], [1.5, 2.5, 1.5], [True, False, True]])
def test_numbers_and_truth_can_be_categories(values):
    levels = Levels("x")
    levels.add(held_column(values), 0)
    assert levels.values == values[:2]
    assert levels.column() is None


@pytest.mark.parametrize("odd", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"a", b"b"]])
def test_what_cannot_be_told_apart_is_an_error_that_names_the_type(odd):
    kind = pa.array(odd).type
    with pytest.raises(ShoalError, match="column 'x' of type .* holds neither text nor plain numbers"):
        Levels("x").add(held_column(pa.chunked_array([pa.array(odd, kind)])), 0)
    with pytest.raises(ShoalError, match="turn it into text first"):
        Levels("x").add(held_column(pd.Series([1, "a", None], dtype=object)), 0)


def test_the_different_values_are_a_column_that_tells_the_kind():
    for make, from_file in ((text_column, True), (held_column, False)):
        levels = Levels("x")
        levels.add(make(["b", "a", "b"]), 0)
        column = levels.column()
        assert column.values().to_pylist() == ["b", "a"]
        assert (column.text is not None) == from_file


def test_old_numbers_become_new_ones():
    assert numbers_of([2, 0, 1]).tolist() == [1, 2, 0]


def test_texts_that_are_numbers_or_could_be():
    texts = pa.array(["1", "-2.5", "1,5", "inf", "1e3", "−7", "455 864", "1'234'567.5", "x", "1-2", "", "7 a"])
    assert numeric_among(texts, (".", "")).tolist() == [True] * 8 + [False] * 4
    assert is_numeric_text(text_column([" 1 ", "x"])).tolist() == [True, False]
    assert is_numeric_text(held_column([1, 2])) is None


def test_what_holds_text():
    assert text_like(text_column(["1"]))
    assert text_like(held_column(["a"]))
    assert text_like(held_column(pd.Series(["a"], dtype="category")))
    assert not text_like(held_column([1.5]))
    assert not text_like(held_column(pd.Series([1, "a"], dtype=object)))


def test_a_level_as_a_file_shows_it():
    assert list(map(spelled, ["a ", 3, 1.5, True, np.True_])) == ["a ", "3", "1.5", "True", "True"]
