"""What columns give away that are released as they are: hashed and sampled by part, counted by partition."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.files.sealing import content_of, sink, source
from shoal.measures import Asked, GivenAway
from shoal.measures.untouched import among
from shoal.privacy.counting import sizes_of
from shoal.progress import quietly
from shoal.stream.cluster.folder import all_whole, whole
from shoal.stream.cluster.job import Job, pieces
from shoal.stream.cluster.writing import Dealing

Hashes = NDArray[np.uint64]

HASHES = 1 << 22
"""Records whose hashes are counted at a time, about."""


def asked_of(job: Job) -> Asked:
    """The columns, by their roles."""
    roles = job.roles
    with job.part(0).opened() as reader:
        others = roles.others(reader.columns)
        signs = reader.dialect.signs
    return Asked(tuple(roles.quasi_identifiers), others, tuple(roles.confidential), job.counts.total, signs)


def partitions_of(job: Job) -> int:
    """How many partitions the hashes of a figure are counted in."""
    return max(1, -(-job.counts.total // HASHES))


def moved(path: Callable[[int], Path], first: int, partition: int) -> Path:
    """The file of a partition, if the first one has this number."""
    return path(first + partition)


def untouched(job: Job, number: int) -> dict[str, Any]:
    """Write the hashes of a part's records to their partitions, and its share of the sample."""
    asked, partitions = asked_of(job), partitions_of(job)
    with (
        all_whole(lambda partition: job.folder.file(f"hashes/{partition:06d}", number)) as path,
        ExitStack() as files,
        job.part(number).opened() as reader,
    ):
        counters = {
            name: Dealing(partial(moved, path, place * partitions), partitions, files)
            for place, name in enumerate(asked.groups)
        }
        sample = asked.seen(reader.batches(asked.names, quietly), job.counts.starts[number], counters)
    if sample:
        table = pa.concat_tables(sample).unify_dictionaries()
        with (
            whole(job.folder.file("seen", number, ending=".arrow")) as there,
            sink(there) as raw,
            pa.ipc.new_stream(raw, table.schema) as writer,
        ):
            writer.write_table(table)
    return {}


def tally(job: Job, partition: int) -> dict[str, Any]:
    """How many groups the records of a partition are in, and how small these are."""
    found = [np.frombuffer(content_of(path), np.uint64) for path in pieces(job.folder, "hashes", partition)]
    sizes = sizes_of(np.concatenate(found).reshape(-1, 1)) if found else np.zeros(0, np.int64)
    return {"among": among(sizes, job.settings.k)}


def figures_of(job: Job, found: list[dict[str, Any]]) -> dict[str, GivenAway]:
    """What was counted in all partitions."""
    sums = np.array([each["among"] for each in found], np.int64).reshape(-1, partitions_of(job), 5).sum(axis=1)
    listed = asked_of(job).groups.values()
    made = (GivenAway(columns, job.settings.k, *each) for columns, each in zip(listed, sums.tolist(), strict=True))
    return dict(zip(asked_of(job).groups, made, strict=True))


def sample_of(job: Job) -> list[pa.Table]:
    """The sample of all parts, in their order."""
    found = []
    for path in sorted((job.folder.path / "seen").glob("*.arrow")):
        with source(path) as raw, pa.ipc.open_stream(raw) as reader:
            found.append(reader.read_all())
    return found
