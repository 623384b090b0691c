import pytest

from shoal.errors import ShoalError
from shoal.option_rules import digits_read, seed_read, weights_read


def test_digits_for_all_columns_or_for_some():
    assert digits_read([]) is None
    assert digits_read(["2"]) == 2
    assert digits_read(["-2"]) == -2
    assert digits_read(["0"]) == 0
    assert digits_read(["income=-2", "a=b=1"]) == {"income": -2, "a=b": 1}


@pytest.mark.parametrize(
    "given", [["x"], ["1.5"], ["age="], ["age=x"], ["1", "2"], ["a=1", "a=2"], ["a=1", "2"], ["2", "a=1"]]
)
def test_what_is_no_digits_is_an_error(given):
    with pytest.raises(ShoalError, match="column=number for one"):
        digits_read(given)


def test_attribute_weights_and_seeds_are_read_from_text():
    assert weights_read(["age=2", "a=b=0.5"]) == {"age": 2.0, "a=b": 0.5}
    assert seed_read(["1", "7"]) == 7
    with pytest.raises(ShoalError, match="the weight of 'age' must be a number, not 'x'"):
        weights_read(["age=x"])
    with pytest.raises(ShoalError, match="the seed must be a whole number"):
        seed_read(["x"])
