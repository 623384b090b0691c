"""Counting the groups of a file that is not in memory: a 128-bit hash of each record, counted in buckets."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.parameters import Progress
from shoal.privacy import Anonymity
from shoal.stream.source import Input

Hashes = NDArray[np.uint64]

BUCKET = 1_000_000  # hashes that are sorted at a time
_BETWEEN, _MISSING = "\x1f", "\x1e"


def count(
    source: Input, quasi_identifiers: Sequence[str], records: int, folder: Path, progress: Progress
) -> Anonymity:
    """Read a file of about so many records and count; equal ones have equal hashes, others in practice never."""
    with Buckets(folder, records) as buckets:
        for table in source.tables(quasi_identifiers, progress):
            buckets.add(hashes_of(table.select(list(quasi_identifiers))))
        return Anonymity(np.concatenate(list(buckets.sizes())))


class Buckets(ExitStack):
    """Hashes of about so many records on the disk, of one or two numbers each, counted some at a time."""

    def __init__(self, folder: Path, records: int, name: str = "bucket", width: int = 2) -> None:
        super().__init__()
        buckets = 1
        while records // buckets > BUCKET and buckets < 256:
            buckets *= 2
        self._width = width
        self._paths = [folder / f"{name}-{number}" for number in range(buckets)]
        self._files = [self.enter_context(path.open("wb")) for path in self._paths]

    def add(self, hashes: Hashes) -> None:
        """Take some more."""
        hashes = hashes.reshape(-1, self._width)
        bucket = hashes[:, 0] % np.uint64(len(self._files))
        for number, file in enumerate(self._files):
            hashes[bucket == number].tofile(file)

    def sizes(self) -> Iterator[NDArray[np.int64]]:
        """How often each hash occurs, one bucket after the other; they are removed."""
        self.close()
        for path in self._paths:
            yield sizes_of(path, self._width)


def sizes_of(path: Path, width: int) -> NDArray[np.int64]:
    """How often each hash of a bucket occurs; the bucket is removed."""
    hashes = np.fromfile(path, np.uint64).reshape(-1, width)
    path.unlink()
    ranked = hashes[np.lexsort(hashes.T[::-1])]
    new = np.ones(len(ranked), bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return np.diff(np.append(np.flatnonzero(new), len(ranked)))


def hashes_of(table: pa.Table) -> Hashes:
    """Two 64-bit numbers for each record."""
    texts = [text_of(name, table[name]) for name in table.column_names]
    joined = pc.binary_join_element_wise(*texts, _BETWEEN) if len(texts) > 1 else texts[0]
    digests = b"".join(digests_of(joined))
    return np.frombuffer(digests, np.uint64).reshape(-1, 2)


def digests_of(texts: pa.ChunkedArray) -> Iterator[bytes]:
    """The hash of each text."""
    for text in texts.to_pylist():
        yield blake2b(text.encode(), digest_size=16).digest()


def text_of(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Different texts for different values, bit for bit, as `shoal.privacy` tells them apart."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = pc.cast(column, kind.value_type), kind.value_type
    missing = column.is_null()
    if pa.types.is_floating(kind):
        floats = np.ascontiguousarray(column.to_numpy(zero_copy_only=False))
        column = pa.chunked_array([pa.array(floats.view(f"i{floats.dtype.itemsize}"))])
    try:
        texts = column.cast(pa.string())
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise ShoalError(f"column {name!r} of type {kind} cannot be a quasi-identifier") from None
    if pc.any(pc.match_substring_regex(texts, f"[{_BETWEEN}{_MISSING}]")).as_py():
        raise ShoalError(f"column {name!r} holds control characters and cannot be a quasi-identifier")
    return pc.if_else(missing, _MISSING, texts)
