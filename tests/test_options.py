import pytest

from shoal.errors import ShoalError
from shoal.options import digits_of


def test_digits_for_all_columns_or_for_some():
    assert digits_of([]) is None
    assert digits_of(["2"]) == 2
    assert digits_of(["-2"]) == -2
    assert digits_of(["0"]) == 0
    assert digits_of(["income=-2", "a=b=1"]) == {"income": -2, "a=b": 1}


@pytest.mark.parametrize(
    "given", [["x"], ["1.5"], ["age="], ["age=x"], ["1", "2"], ["a=1", "a=2"], ["a=1", "2"], ["2", "a=1"]]
)
def test_what_is_no_digits_is_an_error(given):
    with pytest.raises(ShoalError, match="column=number for one"):
        digits_of(given)
