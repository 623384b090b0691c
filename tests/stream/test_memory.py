import pytest

from shoal.errors import ShoalError
from shoal.stream import memory


def test_blocks_are_as_many_as_the_memory_needs():
    most = memory.records_within(10**9, 10)
    assert memory.blocks_for(most, 10, 5, 10**9) == 1
    assert memory.blocks_for(most + 1, 10, 5, 10**9) == 2
    assert memory.blocks_for(5 * most, 10, 5, 10**9) == 8
    with pytest.raises(ShoalError, match=r"need blocks of at least .* give it [\d.]+GB"):
        memory.blocks_for(5 * most, 10, most, 10**9)
