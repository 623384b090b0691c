"""The number at a rank of a column that is too long to sort: counted by its leading bits, 16 at a time."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]
Chunks = Callable[[], Iterator[NDArray[Any]]]

_SIGN = np.uint64(1 << 63)
_FEW = 1 << 20  # keys that are sorted at once


def keys_of(values: NDArray[Any]) -> Keys:
    """Unsigned integers in the order of the int64 or float64 values."""
    bits = np.ascontiguousarray(values).view(np.uint64)
    if values.dtype == np.int64:
        return bits ^ _SIGN
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def value_of(key: int, kind: "np.dtype[Any]") -> Any:
    """The value of a key."""
    bits = np.array([key], np.uint64)
    if kind != np.int64:
        bits = np.where(bits & _SIGN, bits ^ _SIGN, ~bits)
        return bits.view(np.float64)[0]
    return (bits ^ _SIGN).view(np.int64)[0]


def key_at(chunks: Chunks, rank: int) -> tuple[int, int]:
    """The key with so many before it in sorted order (ties anyhow), and how many are less than it."""
    prefix, before = 0, 0
    for shift in (48, 32, 16, 0):
        counts = np.zeros(1 << 16, np.int64)
        for keys in within(chunks, prefix, shift + 16):
            digits = (keys >> np.uint64(shift)) & np.uint64(0xFFFF)
            counts += np.bincount(digits.astype(np.int64), minlength=1 << 16)
        upto = np.cumsum(counts)
        digit = int(np.searchsorted(upto, rank - before, side="right"))
        before += int(upto[digit - 1]) if digit else 0
        prefix = prefix << 16 | digit
        if shift and counts[digit] <= _FEW:
            few = np.sort(np.concatenate(list(within(chunks, prefix, shift))))
            key = few[rank - before]
            return int(key), before + int(np.searchsorted(few, key))
    return prefix, before


def within(chunks: Chunks, prefix: int, shift: int) -> Iterator[Keys]:
    """The keys that begin with a prefix; all of them where there is none yet."""
    for values in chunks():
        keys = keys_of(values)
        yield keys if shift == 64 else keys[keys >> np.uint64(shift) == np.uint64(prefix)]
