from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from shoal.attributes.looking import finite_numbers, holds_numbers, numbers_in, whole_where_it_can


def test_numbers_in_any_type():
    assert numbers_in(pa.chunked_array([[True, False]])).tolist() == [1, 0]
    assert numbers_in(pa.chunked_array([[Decimal("1.5"), Decimal("2")]])).tolist() == [1.5, 2.0]
    assert numbers_in(pa.chunked_array([pa.array([2**63], pa.uint64())])).tolist() == [2.0**63]
    assert numbers_in(pa.chunked_array([pa.array([7], pa.uint64())])).dtype == np.int64
    assert whole_where_it_can(np.array([1.0, 2.0])).dtype == np.int64
    assert whole_where_it_can(np.array([1.5, 2.0])).dtype == np.float64
    assert whole_where_it_can(np.array([1e300])).dtype == np.float64


def test_numbers_are_read_from_text_and_types():
    texts = pa.chunked_array([["1,5", " 2 ", "", "x", None, "1.633"]])
    assert np.array_equal(
        finite_numbers(texts, (",", ".")), [1.5, 2, np.nan, np.nan, np.nan, 1633], equal_nan=True
    )
    assert finite_numbers(pa.chunked_array([pa.array([1, None], pa.decimal128(9, 2))]), (".", ""))[0] == 1
    lists = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([[1], [2]]))
    for column in ([True, False], lists, pa.array(["1", "2"], pa.string_view())):
        assert np.isnan(finite_numbers(pa.chunked_array([column]), (".", ""))).all()


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint64(), pa.float16(), pa.decimal128(9, 2), pa.bool_()])
def test_numbers_and_truth_values_can_be_averaged(kind):
    assert holds_numbers(kind)


@pytest.mark.parametrize("kind", [pa.string(), pa.date32(), pa.list_(pa.int8()), pa.null(), pa.duration("s")])
def test_nothing_else_can(kind):
    assert not holds_numbers(kind)
