"""Counting the groups of records that come some at a time: a 128-bit hash of each different one, in buckets.

Within a batch the values decide, as in a table in memory; hashes tell only whether the groups of two batches are
one. Equal records have equal hashes, and others in practice never.
"""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.files.sealing import content_of, writing
from shoal.privacy.k_anonymity import Anonymity, distinct, grouped, k_anonymity, no_records

Hashes = NDArray[np.uint64]

BUCKET = 1_000_000  # hashes that are sorted at a time


def count(
    batches: Iterable[pa.Table], quasi_identifiers: Sequence[str], records: int, folder: Path | None = None
) -> Anonymity:
    """Count the groups of about so many records; a folder for buckets is used where there are several batches."""
    coming = iter(batches)
    first, second = next(coming, None), next(coming, None)
    if first is None:
        raise no_records()
    if second is None:
        return k_anonymity(first, quasi_identifiers)
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        buckets = stack.enter_context(Buckets(place, records))
        for batch in chain([first, second], coming):
            buckets.add(hashes_of(batch.select(list(dict.fromkeys(quasi_identifiers)))))
        return Anonymity(np.concatenate(list(buckets.sizes())))


class Buckets(ExitStack):
    """Hashes of about so many records on the disk, of one or two numbers each, counted some at a time.

    Other numbers of a record may stand behind its hash; the first number tells the bucket.
    """

    def __init__(self, folder: Path, records: int, name: str = "bucket", width: int = 2) -> None:
        super().__init__()
        buckets = 1
        while records // buckets > BUCKET and buckets < 256:
            buckets *= 2
        self._width = width
        self._paths = [folder / f"{name}-{number}" for number in range(buckets)]
        self._files = [self.enter_context(writing(path)) for path in self._paths]

    def add(self, hashes: Hashes) -> None:
        """Take some more."""
        hashes = hashes.reshape(-1, self._width)
        bucket = hashes[:, 0] % np.uint64(len(self._files))
        for number, file in enumerate(self._files):
            file.write(hashes[bucket == number].tobytes())

    def sizes(self) -> Iterator[NDArray[np.int64]]:
        """How often each hash occurs, one bucket after the other; they are removed."""
        return map(sizes_of, self.parts())

    def parts(self) -> Iterator[Hashes]:
        """What was taken, one bucket after the other; they are removed."""
        self.close()
        for path in self._paths:
            hashes = np.frombuffer(content_of(path), np.uint64).reshape(-1, self._width)
            path.unlink()
            yield hashes


def sizes_of(hashes: Hashes) -> NDArray[np.int64]:
    """How often each of some hashes occurs."""
    ranked = hashes[np.lexsort(hashes.T[::-1])]
    new = np.ones(len(ranked), bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    return np.diff(np.append(np.flatnonzero(new), len(ranked)))


def hashes_of(table: pa.Table) -> Hashes:
    """Two 64-bit numbers for each record, those of a group side by side."""
    groups, hashes = hashed_groups(table)
    return np.repeat(hashes, np.bincount(groups), axis=0)


def hashes_by_record(table: pa.Table) -> Hashes:
    """The same in the order of the records."""
    groups, hashes = hashed_groups(table)
    return hashes[groups]


def hashed_groups(table: pa.Table) -> tuple[NDArray[np.int64], Hashes]:
    """The group of each record, and the hash of each group."""
    columns = [distinct(name, table[name]) for name in table.column_names]
    groups = grouped([column.codes for column in columns])
    first = np.unique(groups, return_index=True)[1]
    rows = np.hstack([bytes_of(column.values)[column.codes[first]] for column in columns])
    return groups, np.frombuffer(b"".join(map(digest, rows)), np.uint64).reshape(-1, 2)


def bytes_of(values: pa.Array) -> NDArray[np.uint8]:
    """Different bytes for different values, as many for each: the values, or the hashes of texts."""
    kind, missing = values.type, np.asarray(values.is_null().to_numpy(zero_copy_only=False), np.uint8)
    if pa.types.is_null(kind):
        return missing[:, None]
    if is_text(kind):
        texts = values.cast(pa.large_binary()).fill_null(b"").to_pylist()
        plain = np.frombuffer(b"".join(map(digest, texts)), np.uint8)
    else:
        values = values.cast(pa.uint8()) if pa.types.is_boolean(kind) else values
        width = values.type.bit_width // 8
        plain = np.frombuffer(values.buffers()[1], np.uint8)[values.offset * width :][: len(values) * width]
    plain = plain.reshape(len(values), -1)
    return np.hstack([np.where(missing[:, None], 0, plain), missing[:, None]]).astype(np.uint8)


def digest(value: Any) -> bytes:
    """The hash of some bytes."""
    return blake2b(value, digest_size=16).digest()


def is_text(kind: pa.DataType) -> bool:
    """Whether the values of a type have bytes of any number."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )
