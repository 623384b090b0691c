"""A cell grouped, as a block of a stream is, by the same code; then the common values of its groups."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

import numpy as np

from shoal.attributes import Stored
from shoal.progress import quietly
from shoal.stream.cluster.folder import all_whole, whole
from shoal.stream.cluster.job import Job
from shoal.stream.groups import check_block, group, read_together
from shoal.stream.groups import release as release_block
from shoal.stream.spill import SpillWriter


def cell_of(job: Job, cell: int) -> Path:
    """The records of a cell as they came from the parts."""
    return job.folder.path / "cells" / f"{cell:06d}"


def labels_of(job: Job, cell: int) -> Path:
    """The groups of these records."""
    return job.folder.file("labels", cell, ending=".npy")


def block_of(job: Job, cell: int) -> tuple[Path, Path]:
    """The records of a cell and their groups, after exchanges with its neighbours if there are any."""
    if job.borders is None or not job.borders.pairs:
        return cell_of(job, cell), labels_of(job, cell)
    return job.folder.file("blocks", cell, ending=".parquet"), job.folder.file("regrouped", cell, ending=".npy")


def grouped(job: Job, cell: int) -> dict[str, Any]:
    """Group a cell."""
    promises, columns = job.promises(), job.columns("scaled")
    block = cell_of(job, cell)
    if promises is not None and job.counts.blocks > 1:
        check_block(block, cell, job.counts.blocks, promises)
    with whole(labels_of(job, cell)) as labels:
        aggregate = job.settings.aggregate
        return asdict(group(block, cell, labels, columns, job.method(), aggregate, quietly, promises))


class ByPart(ExitStack):
    """Writes what records are released with, to one file for each part of the input; a context."""

    def __init__(self, job: Job, cell: int, kinds: Sequence[Any]) -> None:
        super().__init__()
        self._ends, self._kinds = np.array(job.counts.starts[1:]), kinds
        self._rows = read_together(job.counts.blocks, len(kinds) - 1)
        self._writers: dict[int, SpillWriter] = {}
        self._path = self.enter_context(
            all_whole(lambda part: job.folder.file(f"released/{part:06d}", cell, ending=".parquet"))
        )

    def __enter__(self) -> Self:
        return self

    def write(self, columns: Sequence[Stored]) -> None:
        """Some more records, whose rows rise."""
        parts = np.searchsorted(self._ends, columns[0], side="right")
        for part in np.unique(parts).tolist():
            first, last = np.searchsorted(parts, [part, part + 1])
            if part not in self._writers:
                self._writers[part] = self.enter_context(SpillWriter(self._path(part), self._kinds, self._rows))
            self._writers[part].write([values[first:last] for values in columns])


def released(job: Job, cell: int) -> dict[str, Any]:
    """Write what the records of a cell are released with."""
    lost = release_block(
        *block_of(job, cell),
        lambda kinds: ByPart(job, cell, kinds),
        job.columns("rounded"),
        job.settings.k,
        job.settings.aggregate,
        job.settings.exact,
        read_together(job.counts.blocks, len(job.columns("rounded"))),
    )
    return asdict(lost)
