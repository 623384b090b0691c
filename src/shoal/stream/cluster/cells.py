"""Cells: cut by the client from a sample, halves along the axis of most variance, again and again.

A cut is a number and the hash of a row: records with that very number go to one side or the other by their hashes.
So cells have about the same size whatever ties there are, and nothing depends on how the table is cut into files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Kept, Stored
from shoal.attributes.ranks import keys_of
from shoal.stream.cluster.folder import all_whole
from shoal.stream.cluster.job import Job
from shoal.stream.cluster.reading import hashes_of_rows, settled
from shoal.stream.spill import SpillWriter

Hashes = NDArray[np.uint64]
Int = NDArray[np.int64]


@dataclass(frozen=True)
class Cut:
    """Records below a key of one column are on the left; ties are broken by the hashes of their rows."""

    axis: int
    value: Any  # as it is stored
    key: int
    hash: int
    left: "Cut | int"
    right: "Cut | int"

    def is_left(self, keys: Hashes, hashes: Hashes) -> NDArray[np.bool_]:
        """Which records."""
        key = np.uint64(self.key)
        return np.asarray((keys < key) | ((keys == key) & (hashes < np.uint64(self.hash))))


Tree = Cut | int
"""A cut, or the number of a cell."""


def drawn(columns: Sequence[Kept], sample: Sequence[Stored], cells: int) -> Tree:
    """The cuts of so many cells, numbered from left to right, each of about the same share of a sample."""
    rows, *stored = sample
    raw = [column.along(values) for column, values in zip(columns, stored, strict=True)]
    scales = np.array([column.stretch for column in columns])
    keys = [keys_of(values) for values in stored]
    hashes = hashes_of_rows(rows)

    def cut(own: Int, first: int, wanted: int) -> Tree:
        if wanted == 1:
            return first
        half = wanted // 2
        spread = [float(np.square(values[own] - values[own].mean()).sum()) for values in raw]
        axis = int((np.array(spread) * scales).argmax())
        order = own[np.lexsort((hashes[own], keys[axis][own]))]
        middle = len(order) * half // wanted
        at = order[middle]
        return Cut(
            axis,
            stored[axis][at],
            int(keys[axis][at]),
            int(hashes[at]),
            cut(np.sort(order[:middle]), first, half),
            cut(np.sort(order[middle:]), first + half, wanted - half),
        )

    return cut(np.argsort(rows, kind="stable"), 0, cells)


def cells_of(tree: Tree, rows: Int, stored: Sequence[Stored]) -> Int:
    """The cell of each record."""
    found = np.empty(len(rows), np.int64)
    hashes = hashes_of_rows(rows)
    waiting: list[tuple[Tree, Int]] = [(tree, np.arange(len(rows)))]
    while waiting:
        node, own = waiting.pop()
        if isinstance(node, int):
            found[own] = node
            continue
        left = node.is_left(keys_of(stored[node.axis][own]), hashes[own])
        waiting += [(node.left, own[left]), (node.right, own[~left])]
    return found


def spread(job: Job, number: int) -> dict[str, Any]:
    """Write a file for each cell with the part's records that belong to it."""
    columns, counts = job.columns("scaled"), np.zeros(job.counts.blocks, np.int64)
    kinds = [np.dtype(np.int64), *(column.dtype for column in columns)]
    writers: dict[int, SpillWriter] = {}
    together = max(1024, 2**25 // (8 * len(kinds) * job.counts.blocks))
    with all_whole(lambda cell: job.folder.file(f"cells/{cell:06d}", number, ending=".parquet")) as path:
        try:
            for columns_of in settled(job, number, len(columns)):
                cells = cells_of(job.tree, columns_of[0], columns_of[1:])
                order = np.argsort(cells, kind="stable")
                sizes = np.bincount(cells, minlength=len(counts))
                for cell, own in zip(np.flatnonzero(sizes).tolist(), np.split(order, ends(sizes)), strict=True):
                    if cell not in writers:
                        writers[cell] = SpillWriter(path(cell), kinds, together)
                    writers[cell].write([values[own] for values in columns_of])
                counts += sizes
        finally:
            for writer in writers.values():
                writer.__exit__()
    return {"sizes": counts.tolist()}


def ends(sizes: Int) -> Int:
    """Where the records of one cell end and those of the next begin, among those that have any."""
    return np.asarray(np.cumsum(sizes[sizes > 0])[:-1])
