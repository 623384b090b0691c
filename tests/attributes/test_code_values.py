import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.attributes.code_values import CodeValues, MixedValues
from shoal.attributes.taxonomy import Taxonomy
from shoal.attributes.tree import Tree

TEXT = Tree(Taxonomy(("*", "10", "11"), (-1, 0, 0), (0.0, 1.0, 1.0)))
WHOLE = Tree(Taxonomy(("1", "10", "11"), (-1, 0, 0), (0.0, 1.0, 1.0)))
LABELS = np.array([0, 1, 1])


def series(native):
    return nw.from_native(native, series_only=True)


def released(native, tree, nodes=(0, 1)):
    like = series(native).alias("code")
    new = CodeValues(tree, np.array(nodes)).column(like, LABELS, True)
    assert new.name == "code"
    return new.to_native()


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string()),
    ],
    ids=str,
)
def test_text_of_arrow_keeps_its_type(kind):
    new = released(pa.chunked_array([pa.array(["10", "11", "11"], kind)]), TEXT)
    assert new.type == kind
    assert new.to_pylist() == ["*", "10", "10"]


def test_whole_numbers_stay_so_where_every_node_is_one():
    arrow = pa.chunked_array([pa.array([10, 11, 11], pa.int16())])
    assert released(arrow, WHOLE).type == pa.int16()
    assert released(arrow, WHOLE).to_pylist() == [1, 10, 10]
    for dtype in ("int64", "Int8", "uint16", "float64", "float32"):
        new = released(pd.Series([10, 11, 11], dtype=dtype, index=[7, 8, 9]), WHOLE)
        assert new.dtype == dtype
        assert new.tolist() == [1, 10, 10]
        assert new.index.tolist() == [7, 8, 9]
    new = released(pl.Series([10, 11, 11], dtype=pl.UInt8), WHOLE)
    assert new.dtype == pl.UInt8
    assert new.to_list() == [1, 10, 10]


@pytest.mark.parametrize("nodes", [(0, 1), (1, 2)])
def test_whole_numbers_become_text_where_some_node_is_none_whether_it_is_released_or_not(nodes):
    names = [TEXT.names[nodes[label]] for label in LABELS]
    for native in (
        pa.chunked_array([pa.array([10, 11, 11])]),
        pd.Series([10, 11, 11]),
        pd.Series([10.0, 11.0, 11.0]),
        pl.Series([10, 11, 11]),
    ):
        new = released(native, TEXT, nodes)
        assert series(new).dtype == nw.String
        assert series(new).to_list() == names


def test_numbers_that_the_type_has_no_room_for_become_text():
    wide = Tree(Taxonomy(("1000", "10", "11"), (-1, 0, 0), (0.0, 1.0, 1.0)))
    for native in (pd.Series([10, 11, 11], dtype="int8"), pl.Series([10, 11, 11], dtype=pl.Int8)):
        assert series(released(native, wide)).to_list() == ["1000", "10", "10"]
    huge = pl.Series([10, 11, 11], dtype=pl.Int128)
    assert released(huge, WHOLE).to_list() == ["1", "10", "10"]


@pytest.mark.parametrize("dtype", [object, "string", "str", pd.ArrowDtype(pa.string())], ids=str)
def test_text_of_pandas_keeps_its_type(dtype):
    new = released(pd.Series(["10", "11", "11"], dtype=dtype, index=[7, 8, 9]), TEXT)
    assert new.dtype == pd.Series(["a"], dtype=dtype).dtype
    assert new.tolist() == ["*", "10", "10"]
    assert new.index.tolist() == [7, 8, 9]


def test_categories_of_pandas_stay_where_they_have_every_released_node_and_become_text_elsewhere():
    known = pd.Series(["10", "11", "11"], dtype="category")
    assert released(known, TEXT, (1, 2)).dtype == known.dtype
    assert released(known, TEXT, (1, 2)).tolist() == ["10", "11", "11"]
    assert released(known, TEXT).dtype == pd.Series(["a"]).dtype
    assert released(known, TEXT).tolist() == ["*", "10", "10"]
    numbers = pd.Series([10, 11, 11], dtype="category")  # of numbers: "10" is not among them
    assert released(numbers, TEXT, (1, 2)).tolist() == ["10", "11", "11"]


def test_text_and_categories_of_polars_keep_their_type_where_they_can():
    assert released(pl.Series(["10", "11", "11"]), TEXT).to_list() == ["*", "10", "10"]
    loose = released(pl.Series(["10", "11", "11"], dtype=pl.Categorical), TEXT)
    assert loose.dtype == pl.Categorical
    assert loose.to_list() == ["*", "10", "10"]
    kind = pl.Enum(["10", "11"])
    assert released(pl.Series(["10", "11", "11"], dtype=kind), TEXT, (1, 2)).dtype == kind
    assert released(pl.Series(["10", "11", "11"], dtype=kind), TEXT).dtype == pl.String


def test_a_mixture_is_text_in_every_dataframe():
    mixed = MixedValues(WHOLE, np.array([1, 2, 1]), np.array([0.4, 0.6, 1.0]), np.array([0, 2, 3]), True)
    assert mixed.text() == ["11 60 %, 10 40 %", "10 100 %"]
    assert mixed.floats().tolist() == mixed.raw.tolist() == [2.0, 1.0]
    for native in (pa.chunked_array([[10, 11, 11]]), pd.Series([10, 11, 11]), pl.Series([10, 11, 11])):
        new = mixed.column(series(native), LABELS, True)
        assert new.to_list() == ["11 60 %, 10 40 %", "10 100 %", "10 100 %"]


def test_a_mixture_without_shares_lists_its_codes():
    mixed = MixedValues(WHOLE, np.array([1, 2, 1]), np.array([0.5, 0.5, 1.0]), np.array([0, 2, 3]), False)
    assert mixed.text() == ["10 or 11", "10"]
    assert mixed.raw.tolist() == [1.0, 1.0]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=4), st.integers(0, 9))
def test_members_are_drawn_as_often_as_their_weights_say(counts, seed):
    """Of two groups: the second has as many records of each member as its weight says."""
    tree = Tree(Taxonomy(tuple("abcde"), (-1, 0, 0, 0, 0), (0.0, 1.0, 1.0, 1.0, 1.0)))
    weights = np.concatenate([[1.0], np.array(counts) / sum(counts)])
    members = np.concatenate([[4], np.arange(len(counts))])
    mixed = MixedValues(tree, members, weights, np.array([0, 1, len(members)]), True)
    labels = np.random.default_rng(seed).permutation(np.repeat([0, 1], [3, sum(counts)]))
    drawn = mixed.drawn(labels)
    assert (drawn[labels == 0] == 4).all()
    assert np.bincount(drawn[labels == 1], minlength=len(counts)).tolist() == counts
