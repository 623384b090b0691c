"""Grouping a block, then the common values of its groups: as a table in memory is, by the same code."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Kept, Squares, Stored
from shoal.catalogue import described
from shoal.errors import ShoalError, ShoalWarning
from shoal.estimator import Microaggregator
from shoal.files.sealing import reading, writing
from shoal.grouping import grouped
from shoal.measures import information_loss
from shoal.parameters import Aggregates, Progress
from shoal.partition import Partition
from shoal.privacy.information import information
from shoal.privacy.parts import Promises
from shoal.privacy.rules import check_feasible
from shoal.protocol import unfitted
from shoal.space import Space
from shoal.stream.spill import ROW, names_of, whole
from shoal.wrapper import Wrapper

Int = NDArray[np.int64]

MERGED = 1 << 25  # bytes of all blocks together that are read ahead when the release is written


@dataclass(frozen=True)
class Done:
    """What is kept of a block that was grouped, beside its labels."""

    records: int
    groups: int
    smallest: int
    largest: int
    squares: list[Squares]  # inside its groups, for each quasi-identifier
    sse: float  # of its points
    sst: float
    mean: list[float]
    said: dict[str, Any]  # by the fitted method, beside its name and parameters
    unruled: float | None = None  # the SSE without privacy models, where the method says it
    told: dict[str, Any] = field(default_factory=dict)  # that groups tell about columns, of a whole table


@dataclass(frozen=True)
class Lost:
    """What a block has lost, for each quasi-identifier, beside its released numbers."""

    sse: list[float]
    sst: list[float]


def group(
    block: Path,
    number: int,
    target: Path,
    columns: Sequence[Kept],
    model: Microaggregator,
    aggregate: Aggregates,
    progress: Progress,
    promises: Promises | None = None,
) -> Done:
    """Group the records of a block and write their labels.

    They are released later, when the spread inside the groups of all blocks tells to how many digits.
    """
    rows, space = space_of(block, columns, model.k)
    rules = None if promises is None else promises.rules(rows)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "interrupted: ", ShoalWarning)
        fitted = seeded(model, number)
        partition = grouped(fitted, space.points, strata=space.strata, rules=rules, progress=progress)
    if getattr(fitted, "interrupted_", False):  # resumed, the block must give the same bytes
        raise KeyboardInterrupt
    with writing(target) as file:
        np.save(file, partition.labels.astype(np.int32))
    said = {key: value for key, value in described(fitted).items() if key not in ("name", "parameters")}
    unruled = None if rules is None else getattr(fitted, "unruled_sse_", None)
    return done_of(rows, space, partition, columns, aggregate, said, unruled, promises)


def done_of(
    rows: Int,
    space: Space,
    partition: Partition,
    columns: Sequence[Kept],
    aggregate: Aggregates,
    said: dict[str, Any],
    unruled: float | None,
    promises: Promises | None,
) -> Done:
    """What is kept of the groups of a block."""
    squares = space.squares(space.cells(partition.labels), aggregate)
    return Done(
        len(partition.labels),
        partition.n_groups,
        int(partition.sizes.min()),
        int(partition.sizes.max()),
        [squares[column.name] for column in columns],
        partition.sse,
        partition.sst,
        space.points.mean(axis=0).tolist(),
        said,
        unruled,
        told_by(partition, rows, promises),
    )


def told_by(partition: Partition, rows: Int, promises: Promises | None) -> dict[str, Any]:
    """What groups tell about confidential columns, where the block is the whole table; else it is found later."""
    if promises is None or len(rows) < promises.records:
        return {}
    found = promises.by_column(rows)
    return {name: information(partition.labels, codes) for name, codes in found.items()}


def check_block(block: Path, number: int, blocks: int, promises: Promises) -> None:
    """Whether a block keeps every promise as one group; it has no other records to group with."""
    (rows,) = whole(block, [ROW])
    try:
        check_feasible(promises.rules(rows), f"block {number + 1} of {blocks}")
    except ShoalError as error:
        raise ShoalError(f"{error}; use fewer blocks, give more --memory, or ask for less") from None


def release(
    block: Path,
    labels: Path,
    opened: Callable[[Sequence[Any]], AbstractContextManager[Any]],
    columns: Sequence[Kept],
    k: int,
    aggregate: Aggregates,
    exact: bool,
    together: int,
) -> Lost:
    """Write what each record of a grouped block is released with, so many records together."""
    rows, space = space_of(block, columns, k)
    partition = Partition(space.points, labels_in(labels), k)
    cells = space.cells(partition.labels)
    common = space.common_values(cells, aggregate, exact, {column.name: column.digits for column in columns})
    loss = information_loss(space, common, cells)
    codes = [column.codes(common[column.name]) for column in columns]
    with opened([np.dtype(np.int64), *(values.dtype for values in codes)]) as writer:
        for start in range(0, len(rows), together):
            part = partition.labels[start : start + together]
            writer.write([rows[start : start + together], *(values[part] for values in codes)])
    return Lost([part.sse for part in loss.attributes], [part.sst for part in loss.attributes])


def labels_in(path: Path) -> Int:
    """The groups of some records."""
    with reading(path) as file:
        return np.asarray(np.load(file), np.int64)


def space_of(block: Path, columns: Sequence[Kept], k: int) -> tuple[Int, Space]:
    """The rows of a block in the input, and its points."""
    rows, *stored = whole(block, names_of(len(columns)))
    return rows, space_with(stored, columns, k)


def space_with(stored: Sequence[Stored], columns: Sequence[Kept], k: int) -> Space:
    """The points of records of which this is stored."""
    attributes = tuple(column.attribute(values) for column, values in zip(columns, stored, strict=True))
    return Space.around(attributes, len(stored[0]), k)


def read_together(blocks: int, m: int) -> int:
    """How many records of each block are held while all blocks are merged."""
    return min(8192, max(256, MERGED // (8 * (m + 1) * blocks)))


def seeded(model: Microaggregator, number: int) -> Microaggregator:
    """The method for a block; the first block has the seed itself, the others seeds that follow from it."""
    fresh: Microaggregator = unfitted(model)
    inside = fresh
    while isinstance(inside, Wrapper) and inside.method is not None:
        inside = inside.method
    seed = inside.get_params(deep=False).get("random_state")
    if number and seed is not None:
        inside.set_params(random_state=int.from_bytes(sha256(f"{seed} {number}".encode()).digest()[:4]))
    return fresh
