"""The order in which rows leave: that of a keyed hash of their numbers, which nobody can undo without the key.

A release in the order of its input could be matched with it row by row. The hash of a row has 16 bytes: BLAKE2b,
keyed with 16 bytes, over the number of the row in the input, counted from 0, in 8 bytes, lowest first. The rows
leave in the order of their hashes, compared byte by byte; equal ones, which do not occur in practice, in that of
their numbers. So the order depends on nothing but the key and the number of rows, and a stream can find it without
holding all rows.
"""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]
Hashes = NDArray[np.uint64]

_TOGETHER = 1 << 16  # rows whose hashes are held as Python's objects

KEPT = (
    "the rows are written in the order of the input (keep_order); "
    "whoever knows that order can match every record by its position"
)


def hashes(key: str, rows: Int) -> Hashes:
    """The hashes of rows, two numbers each, the one that counts more first."""
    keyed, numbers = blake2b(key=bytes.fromhex(key), digest_size=16), rows.astype("<u8").tobytes()

    def hashed(start: int) -> bytes:
        one = keyed.copy()
        one.update(numbers[start : start + 8])
        return one.digest()

    starts = range(0, len(numbers), 8)
    parts = (starts[first : first + _TOGETHER] for first in range(0, len(starts), _TOGETHER))
    digests = b"".join(b"".join(map(hashed, part)) for part in parts)
    return np.frombuffer(digests, ">u8").astype(np.uint64).reshape(-1, 2)


def order_of(key: str, rows: Int) -> Int:
    """The places of rows, which are given from the lowest on, in the order in which they leave."""
    found = hashes(key, rows)
    return np.lexsort((found[:, 1], found[:, 0]))
