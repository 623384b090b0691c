"""Cutting the records into blocks of nearly equal size: halves along the axis of most variance, again and again.

Cuts are exact: so many records go to the left, ties in the order of the file. They depend on the records and on
the number of blocks, not on the memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Kept
from shoal.attributes.ranks import key_at, keys_of
from shoal.parameters import Progress
from shoal.stream.spill import ROW, SpillWriter, names_of, only, spilled

Float = NDArray[np.float64]

_NODE = "node-"


@dataclass
class Moments:
    """How many numbers there are in each column, their means and their squared deviations, added part by part."""

    count: int
    mean: Float
    squares: Float

    @classmethod
    def none(cls, m: int) -> "Moments":
        """Of no numbers."""
        return cls(0, np.zeros(m), np.zeros(m))

    def add(self, columns: Sequence[NDArray[Any]]) -> None:
        """Some more records."""
        more = len(columns[0])
        if not more:
            return
        means = np.array([values.mean() for values in columns])
        squares = np.array([np.square(values - mean).sum() for values, mean in zip(columns, means, strict=True)])
        total, gap = self.count + more, means - self.mean
        self.mean = self.mean + gap * (more / total)
        self.squares = self.squares + squares + gap * gap * (self.count * more / total)
        self.count = total


@dataclass
class Node:
    """Some of the records, in the order of the file."""

    path: Path
    records: int
    moments: Moments


class Cutter:
    """Cuts a spilled table into blocks."""

    def __init__(self, columns: Sequence[Kept], folder: Path, work: int, progress: Progress) -> None:
        self._names = names_of(len(columns))
        self._kinds = [np.dtype(np.int64), *(column.dtype for column in columns)]
        self._columns = columns
        self._scales = np.array([column.stretch for column in columns])
        self._folder, self._work, self._progress = folder, work, progress
        self._done = self._made = 0

    def root(self, path: Path) -> Node:
        """All records."""
        moments = Moments.none(len(self._names) - 1)
        for columns in spilled(path, self._names[1:]):
            moments.add(self._raw(columns))
        return Node(path, moments.count, moments)

    def _raw(self, stored: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Numbers that can be squared."""
        return [column.along(values) for column, values in zip(self._columns, stored, strict=True)]

    def blocks(self, node: Node, wanted: int) -> Iterator[Path]:
        """So many blocks, from left to right."""
        if wanted == 1:
            yield node.path
            return
        halves = wanted // 2, wanted - wanted // 2
        nodes = self._split(node, node.records * halves[0] // wanted)
        if node.path.name.startswith(_NODE):  # the table itself is kept until all blocks are there
            node.path.unlink()
        for half, number in zip(nodes, halves, strict=True):
            yield from self.blocks(half, number)

    def _split(self, node: Node, left: int) -> tuple[Node, Node]:
        """The records with the lowest numbers on one axis, so many of them, and the others."""
        axis = int((node.moments.squares * self._scales).argmax())
        chunks = partial(only, node.path, self._names[axis + 1])
        key, below = key_at(chunks, left - 1)
        ties = left - below
        halves = self._node(), self._node()
        with (
            SpillWriter(halves[0].path, self._kinds) as lower,
            SpillWriter(halves[1].path, self._kinds) as upper,
        ):
            for columns in spilled(node.path, self._names):
                keys = keys_of(columns[axis + 1])
                equal = keys == key
                first = equal & (np.cumsum(equal) <= ties)
                ties -= int(first.sum())
                goes_left = (keys < key) | first
                for half, writer, chosen in ((halves[0], lower, goes_left), (halves[1], upper, ~goes_left)):
                    taken = [values[chosen] for values in columns]
                    writer.write(taken)
                    half.moments.add(self._raw(taken[1:]))
                    half.records += len(taken[0])
                self._done += len(keys)
                self._progress(self._done, self._work)
        return halves

    def _node(self) -> Node:
        self._made += 1
        path = self._folder / f"{_NODE}{self._made}.parquet"
        return Node(path, 0, Moments.none(len(self._names) - 1))


def cut(path: Path, blocks: int, columns: Sequence[Kept], folder: Path, progress: Progress) -> list[Path]:
    """Cut a spilled table into blocks in a folder; the table itself stays."""
    records = sum(len(rows) for (rows,) in spilled(path, [ROW]))
    cutter = Cutter(columns, folder, records * max(1, ceil(log2(blocks))), progress)
    return list(cutter.blocks(cutter.root(path), blocks))
