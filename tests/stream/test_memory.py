import sys

import pytest

from peaks import measured
from shoal.errors import ShoalError
from shoal.stream import memory


def test_blocks_are_as_many_as_the_memory_needs():
    most = memory.records_within(10**9, 10)
    assert memory.blocks_for(most, 10, 5, 10**9) == 1
    assert memory.blocks_for(most + 1, 10, 5, 10**9) == 2
    assert memory.blocks_for(5 * most, 10, 5, 10**9) == 8
    with pytest.raises(ShoalError, match=r"need blocks of at least .* give it [\d.]+GB"):
        memory.blocks_for(5 * most, 10, most, 10**9)


@pytest.mark.parametrize("m", [1, 10, 200])
def test_as_many_records_as_fit_take_the_memory_that_there_is(m):
    most = memory.records_within(10**9, m)
    assert memory.size_in_blocks(most, m, 1) <= 10**9 < memory.size_in_blocks(most + 1, m, 1)
    assert memory.size_in_blocks(4 * most, m, 4) == memory.size_in_blocks(most, m, 1)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a process in one place")
def test_the_estimate_is_of_the_order_of_what_is_measured():
    base, growth, expected_base, expected_growth = measured("blocks")
    assert base / 2 < expected_base < 2 * base
    assert growth / 10 < expected_growth < 10 * growth
