import numpy as np
import pytest

from shoal.attributes.numeric_stream import NumericKept
from shoal.errors import ShoalError
from shoal.files import Dialect
from shoal.stream.spill import SpillWriter
from shoal.stream.writing import Formulas, Released, texts_of

COLUMN = NumericKept("x", 1.0, held="float64", units=True, decimals=1, origin=-5)


def test_blocks_are_put_together_in_the_order_of_the_file(tmp_path):
    for block in range(3):
        rows = np.arange(block, 20, 3)
        with SpillWriter(tmp_path / f"{block}", [np.int64, np.int64], 2) as writer:
            writer.write([rows, rows * 10])
    released = Released([tmp_path / f"{block}" for block in range(3)], [COLUMN])
    assert [released.take(n)[0].tolist() for n in (7, 1, 12)] == [
        list(range(0, 70, 10)), [70], list(range(80, 200, 10)),
    ]  # fmt: skip
    with pytest.raises(ShoalError, match="it has changed"):
        released.take(1)


def test_released_numbers_are_spelled_as_in_memory():
    assert texts_of(COLUMN, "x", np.array([5, 0, 5, 17]), ",").to_pylist() == ["0,0", "-0,5", "0,0", "1,2"]


def test_the_first_formulas_are_listed():
    found = Formulas()
    for start in (0, 5, 10):
        found.add(["=1", "-2", "@x", "a", "-1,5"], Dialect(), start)
    assert found.count == 9
    assert found.listed() == "1, 3, 5, 6, 8 and 4 more"
    commas = Formulas()
    commas.add(["-1.633", "-1,5", "-1.63"], Dialect(";", decimal=",", thousands="."), 0)
    assert commas.listed() == "3"
