import narwhals as nw
import pandas as pd
import pyarrow as pa
import pytest

from shoal.attributes import Wish
from shoal.inspection import kinds
from shoal.inspection.kinds import Different, Whole, words_for_gaps
from shoal.table import Column


def different(parts, signs=(".", "")):
    found = Different("x", signs)
    for part in parts:
        found.add(pa.chunked_array([pa.array(part)]))
    return found


def whole(values):
    return Whole(Column("x", nw.from_native(pd.Series(values), series_only=True)))


PARTS = {
    "nominal": [["a", "b"], ["c"], ["a"]],
    "ordinal": [["low"], ["high", "low"], ["medium"]],
    "numeric": [["1", "2"], ["3.5"], ["4"]],
    "mixed": [["1", "2"], ["3"], ["x"]],
    "none": [["1"], ["inf"]],
}


@pytest.mark.parametrize("kind", PARTS)
def test_the_kinds_are_asked_whatever_the_parts(kind):
    assert different(PARTS[kind]).kind() == kind
    assert different([[value for part in PARTS[kind] for value in part]]).kind() == kind


@pytest.mark.parametrize("kind", ["nominal", "numeric", "mixed"])
def test_values_that_are_not_held_only_have_to_be_alike(monkeypatch, kind):
    monkeypatch.setattr(kinds, "MOST", 2)
    found = Different("x", (".", ""), 2)
    for part in PARTS[kind]:
        found.add(pa.chunked_array([part]))
    assert found.kind() == kind
    assert len(found.texts()) == 2


def test_numbers_that_come_late_make_a_mixture():
    found = Different("x", (".", ""), 2)
    found.add(pa.chunked_array([["a", "b", "c", "7"]]))
    assert found.kind() == "mixed"


def test_long_texts_take_no_more_than_some_memory():
    found = different([[f"{number}" + "x" * 10_000 for number in range(30)]])
    assert len(found.texts()) == 6
    assert found.kind() == "nominal"


def test_columns_of_other_types():
    assert different([[1, 2], [3]], None).kind() == "numeric"
    assert different([[True], [False]], None).kind() == "numeric"
    assert different([[[1], [2]], [[3]]], None).kind() == "none"
    assert different([["1", "2"]], None).kind() == "none"  # text of digits is text, but in a CSV file
    assert different([["1", "2"]], None).reads(Wish(kind="nominal"))
    assert Different("x", None).kind() == "none"
    assert not Different("x", None).reads(Wish(kind="nominal"))


def test_a_column_in_memory_is_asked_as_it_is():
    ordered = pd.Categorical(["b", "a", None, "c"], ["b", "a", "c"], ordered=True)
    assert whole(ordered).kind() == "ordinal"
    assert whole(["b", "a", None]).kind() == "nominal"
    assert whole([1.5, None]).kind() == "numeric"
    assert whole([None, None]).kind() == "none"
    assert whole([1, "x"]).kind() == "none"
    assert whole(["1", " x", "NA"]).texts() == ["1", "x"]
    assert whole([1, 2]).texts() == []


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["1", "2", "unknown", "-"], ("-", "unknown")),
        (["1", "-inf"], ("-inf",)),
        (["1", "unknown", "90+"], ()),
        (["unknown"], ()),
        (["1", "2"], ()),
    ],
)
def test_words_that_stand_for_a_missing_number(texts, words):
    assert words_for_gaps(texts, (".", "")) == words
