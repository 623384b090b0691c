"""What the records of a stream take in memory, and how many blocks they must be cut into."""

from shoal.errors import ShoalError
from shoal.files.memory import BASE, in_gigabytes

PASSING = 100_000_000  # what the records take that are being read or written
RECORD = 400  # bytes that a record takes while it is grouped, whatever its quasi-identifiers
COORDINATE = 64  # and for each of them
PROMISED = 2  # coordinates that each privacy model is like
VALUE = 250  # bytes of each different value that a privacy model is about, whatever the block


def records_within(memory: int, m: int) -> int:
    """How many records of m quasi-identifiers can be grouped at a time."""
    return (memory - BASE - PASSING) // (RECORD + COORDINATE * m)


def size_in_blocks(records: int, m: int, blocks: int) -> int:
    """What it takes to anonymize so many records of m quasi-identifiers in blocks."""
    return BASE + PASSING + (RECORD + COORDINATE * m) * -(-records // blocks)


def room_beside(values: int, memory: int) -> int:
    """What is left of the memory beside so many values that privacy models are about."""
    taken = VALUE * values
    if taken > (memory - BASE - PASSING) // 2:
        needed = BASE + PASSING + 2 * taken
        raise ShoalError(
            f"the privacy models are about {values} different values (every record, where ranks are asked for), "
            f"which take {in_gigabytes(taken)} beside the records; give --memory {-(-needed // 10**8) / 10:g}GB, "
            "or put a coarser column in its place"
        )
    return memory - taken


def blocks_for(records: int, m: int, k: int, memory: int) -> int:
    """How many blocks to cut a table into: a power of two, so that a little more memory changes nothing."""
    most = records_within(memory, m)
    blocks = 1
    while -(-records // blocks) > most:
        blocks *= 2
    if blocks > 1 and records // blocks < 2 * k:
        needed = size_in_blocks(min(records, 4 * k), m, 1)
        raise ShoalError(
            f"groups of {k} need blocks of at least {2 * k} records, more than the memory holds; "
            f"give it {-(-needed // 10**8) / 10:g}GB"
        )
    return blocks
