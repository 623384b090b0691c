import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from shoal.errors import ShoalError
from shoal.privacy import k_anonymity

cell = st.one_of(st.none(), st.sampled_from(["a", "b", ""]))


@given(st.lists(st.tuples(cell, cell, st.integers(0, 1)), min_size=1, max_size=40))
def test_the_smallest_group_is_the_twins(rows):
    table = pa.table([pa.array(column) for column in zip(*rows, strict=True)], names=["x", "y", "z"])
    found = k_anonymity(table, ["x", "y", "z"])
    assert found.k == naive.smallest_group(rows)
    assert found.n_records == len(rows)
    assert found.n_groups == len(set(rows))
    assert k_anonymity(table, ["x"]).k == naive.smallest_group((x,) for x, _, _ in rows)


def test_floats_are_compared_bit_for_bit_and_missing_ones_form_a_group_of_their_own():
    table = pa.table({"x": [0.1 + 0.2, 0.3, 0.3, None, None, float("nan"), 0.0, -0.0]})
    assert sorted(k_anonymity(table, ["x"]).sizes) == [1, 1, 1, 1, 2, 2]


def test_chunked_and_dictionary_columns_are_counted_by_value():
    chunked = pa.chunked_array(
        [pa.array(["a", "b"]).dictionary_encode(), pa.array(["b", "a"]).dictionary_encode()]
    )
    assert k_anonymity(pa.table({"x": chunked}), ["x"]).sizes.tolist() == [2, 2]
    assert k_anonymity(pa.table({"x": pa.chunked_array([["a"], ["a", "b"], ["b"]])}), ["x"]).k == 2


def test_records_in_small_groups_are_counted():
    found = k_anonymity(pa.table({"x": [1, 1, 1, 2, 2, 3]}), ["x"])
    assert found.records_below(3) == 3
    assert found.records_below(1) == 0


def test_bad_input_is_an_error():
    table = pa.table({"age": [1]})
    with pytest.raises(ShoalError, match="no quasi-identifier"):
        k_anonymity(table, [])
    with pytest.raises(ShoalError, match="no column 'agee'; did you mean 'age'"):
        k_anonymity(table, ["agee"])
    with pytest.raises(ShoalError, match="empty"):
        k_anonymity(table.slice(0, 0), ["age"])
    with pytest.raises(ShoalError, match="column 'l' of type list.* cannot be a quasi-identifier"):
        k_anonymity(pa.table({"l": [[1], [2]]}), ["l"])
