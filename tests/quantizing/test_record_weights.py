import numpy as np
import pytest

from shoal.errors import ShoalError
from shoal.quantizing.record_weights import RecordWeightsRule, record_weights_of


def test_an_array_is_for_the_distortion():
    found = record_weights_of([1, 2, 3], 3)
    assert found.distortion.tolist() == [0.5, 1.0, 1.5]
    assert found.size is None
    assert not found.equal


def test_each_measure_by_its_name():
    found = record_weights_of({"size": [1, 3], "distortion": None}, 2)
    assert found.size.tolist() == [0.5, 1.5]
    assert found.distortion is None
    assert found.of(np.array([1])).size.tolist() == [1.5]


@pytest.mark.parametrize("given", [None, [7.0, 7.0], {"size": [1, 1], "distortion": [3, 3]}])
def test_equal_weights_are_none(given):
    assert record_weights_of(given, 2).equal


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2, 3], r"distortion have the shape \(3,\), but there are 2 records"),
        ([1, -1], "above 0, and that of record 1 is -1.0"),
        ([np.nan, 1], "record 0 is nan"),
        ([0, 0], "record 0 is 0.0"),
        ([1, np.inf], "record 1 is inf"),
        (["a", "b"], "must be numbers"),
        ({"sizes": [1, 2]}, "weights name distortion and size, not 'sizes'"),
        ({}, "weights name distortion and size, not nothing"),
        ({"size": [1e-10, 1]}, "differ by more than a factor of 1e"),
    ],
)
def test_bad_weights_are_an_error(given, message):
    with pytest.raises(ShoalError, match=message):
        record_weights_of(given, 2)


def test_a_number_is_no_weights():
    with pytest.raises(ShoalError, match="weights must be a number for each record"):
        RecordWeightsRule().check("weights", 3)
