"""Borders: groups near a cut exchange records with those on the other side.

Two cells that face each other across a cut are a pair. A group near several cuts belongs to the nearest one, so no
two pairs share a record, and all pairs can be improved side by side. What comes out depends on the cells alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Kept, Stored
from shoal.estimator import Microaggregator
from shoal.files.sealing import reading, writing
from shoal.methods.auto import Auto
from shoal.methods.blocked import Blocked
from shoal.partition import Partition
from shoal.search.weighted import alike, exchanges_for
from shoal.stream.cluster.cells import Cut, Tree
from shoal.stream.cluster.folder import all_whole, whole
from shoal.stream.cluster.grouping import cell_of, labels_of
from shoal.stream.cluster.job import Job
from shoal.stream.groups import done_of, labels_in, space_of, space_with
from shoal.stream.spill import SpillWriter, names_of
from shoal.stream.spill import whole as all_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Box = dict[int, tuple[float, float]]
"""From where to where a cell reaches on each axis on which it was cut, scaled."""

MOST_PAIRS = 4  # of a cell
ROUNDS = 3  # of exchanges
NEAR = 2.0  # standard deviations inside groups, from a cut to the mean of a group
_LARGE = 300  # the largest k at which exchanges of single records are worth their time


@dataclass(frozen=True)
class Pair:
    """Two cells that face each other on an axis."""

    axis: int
    at: float
    left: int
    right: int


@dataclass(frozen=True)
class Borders:
    """All pairs, and the boxes of all cells."""

    pairs: tuple[Pair, ...]
    boxes: tuple[Box, ...]

    def of(self, cell: int) -> Iterator[tuple[int, Pair]]:
        """The pairs of a cell, with their numbers."""
        return ((number, pair) for number, pair in enumerate(self.pairs) if cell in (pair.left, pair.right))


def are_wanted(model: Microaggregator) -> bool:
    """Whether the method exchanges records itself; the groups of others stay what they are."""
    return (isinstance(model, Auto) and model.k <= _LARGE) or (isinstance(model, Blocked) and model.sweeps > 0)


def boxes_of(tree: Tree, columns: Sequence[Kept]) -> list[Box]:
    """The box of each cell."""
    found: list[Box] = []

    def walk(node: Tree, box: Box) -> None:
        if isinstance(node, int):
            found.append(box)
            return
        at = coordinate(columns[node.axis], node.value)
        low, high = box.get(node.axis, (-inf, inf))
        walk(node.left, box | {node.axis: (low, at)})
        walk(node.right, box | {node.axis: (at, high)})

    walk(tree, {})
    return found


def coordinate(column: Kept, value: Any) -> float:
    """The scaled and weighted coordinate of a stored value."""
    place = column.attribute(np.array([value], column.dtype)).coordinates()
    return float(place[0, 0]) * sqrt(column.weight)


def paired(tree: Tree, columns: Sequence[Kept]) -> Borders:
    """The pairs with the widest borders, at most so many for each cell."""
    boxes, found = boxes_of(tree, columns), list[tuple[float, Pair]]()
    for cut, left, right in cuts_of(tree):
        if columns[cut.axis].bare().coordinates().shape[1] != 1:
            continue
        at = coordinate(columns[cut.axis], cut.value)
        near = [cell for cell in left if boxes[cell][cut.axis][1] == at]
        far = [cell for cell in right if boxes[cell][cut.axis][0] == at]
        for one in near:
            for other in far:
                shared = overlap(boxes[one], boxes[other], cut.axis)
                if shared > 0:
                    found.append((shared, Pair(cut.axis, at, one, other)))
    found.sort(key=lambda each: (-each[0], each[1].left, each[1].right))
    often, chosen = [0] * len(boxes), list[Pair]()
    for _, pair in found:
        if max(often[pair.left], often[pair.right]) < MOST_PAIRS:
            often[pair.left] += 1
            often[pair.right] += 1
            chosen.append(pair)
    return Borders(tuple(chosen), tuple(boxes))


def cuts_of(tree: Tree) -> Iterator[tuple[Cut, list[int], list[int]]]:
    """Every cut with the cells on its left and on its right."""
    if isinstance(tree, Cut):
        yield tree, leaves(tree.left), leaves(tree.right)
        yield from cuts_of(tree.left)
        yield from cuts_of(tree.right)


def leaves(tree: Tree) -> list[int]:
    """The cells of a tree."""
    return [tree] if isinstance(tree, int) else leaves(tree.left) + leaves(tree.right)


def overlap(one: Box, other: Box, axis: int) -> float:
    """The share of the smaller cell's width that two cells have in common, over all axes but one."""
    share = 1.0
    for each in (one.keys() | other.keys()) - {axis}:
        both = one.get(each, (-inf, inf)), other.get(each, (-inf, inf))
        common = width(max(low for low, _ in both), min(high for _, high in both))
        share *= common / min(width(*ends) for ends in both)
    return share


def width(low: float, high: float) -> float:
    """How many records of a standard normal column lie between, about."""
    return max(0.0, float(np.tanh(0.8 * high) - np.tanh(0.8 * low))) or (1e-12 if high > low else 0.0)


def edge(job: Job, cell: int) -> dict[str, Any]:
    """Write the groups of a cell that are near its borders, each for one pair."""
    columns = job.columns("scaled")
    _, space = space_of(cell_of(job, cell), columns, job.settings.k)
    partition = Partition(space.points, labels_in(labels_of(job, cell)), job.settings.k)
    places = place_of(columns)
    spread = np.sqrt(np.square(space.points - partition.centroids[partition.labels]).mean(axis=0))
    nearest: Float = np.full(partition.n_groups, inf)
    chosen: Int = np.full(partition.n_groups, -1)
    for number, pair in job.borders.of(cell):
        here = partition.centroids[:, places[pair.axis]]
        other = job.borders.boxes[pair.right if cell == pair.left else pair.left]
        distance = np.abs(here - pair.at) / (spread[places[pair.axis]] or 1.0)
        faces = distance < NEAR
        for axis, (low, high) in other.items():
            if axis != pair.axis and axis in places:
                there = partition.centroids[:, places[axis]]
                faces &= (there >= low) & (there <= high)
        faces &= distance < nearest
        nearest[faces] = distance[faces]
        chosen[faces] = number
    stored = all_of(cell_of(job, cell), names_of(len(columns)))
    of_record = chosen[partition.labels]
    with all_whole(lambda pair: job.folder.file(f"edges/{pair:06d}", cell, ending=".npz")) as path:
        for number, _ in job.borders.of(cell):
            own = np.flatnonzero(of_record == number)
            with writing(path(number)) as file:
                np.savez(file, *[values[own] for values in stored], labels=partition.labels[own])
    return {"records": int((chosen[partition.labels] >= 0).sum())}


def place_of(columns: Sequence[Kept]) -> dict[int, int]:
    """The column of the points that an attribute of one coordinate has."""
    places, done = {}, 0
    for axis, column in enumerate(columns):
        if column.is_constant or column.weight <= 0:
            continue
        coordinates = column.bare().coordinates().shape[1]
        if coordinates == 1:
            places[axis] = done
        done += coordinates
    return places


def loaded(job: Job, pair: int, cell: int, m: int) -> tuple[list[Stored], Int]:
    """The records of a cell that belong to a pair, and their groups."""
    with reading(job.folder.file(f"edges/{pair:06d}", cell, ending=".npz")) as raw, np.load(raw) as file:
        return [file[f"arr_{number}"] for number in range(m + 1)], file["labels"]


def exchange(job: Job, number: int) -> dict[str, Any]:
    """Exchange records between the groups on both sides of a border."""
    pair, columns = job.borders.pairs[number], job.columns("scaled")
    (left, one), (right, other) = (loaded(job, number, cell, len(columns)) for cell in (pair.left, pair.right))
    stored = [np.concatenate(both) for both in zip(left, right, strict=True)]
    labels = np.unique(np.concatenate([one, other + (one.max(initial=-1) + 1)]), return_inverse=True)[1]
    is_right = np.arange(len(labels)) >= len(one)
    if len(one) and len(other):
        labels = better(job, stored, labels)
    sizes = np.bincount(labels)
    goes_right = 2 * np.bincount(labels, weights=is_right) > sizes
    cells = np.where(goes_right, pair.right, pair.left)[labels] if len(labels) else labels
    with whole(job.folder.file("exchanged", number, ending=".npz")) as path, writing(path) as file:
        np.savez(file, *stored, labels=labels, cells=cells)
    return {"moved": int((cells == pair.left)[is_right].sum() + (cells == pair.right)[~is_right].sum())}


def better(job: Job, stored: Sequence[Stored], labels: Int) -> Int:
    """The groups after rounds of exchanges that break no promise."""
    k, promises = job.settings.k, job.promises()
    points = space_with(stored[1:], job.columns("scaled"), k).points
    demands = None if promises is None else alike(len(labels), k, promises.rules(stored[0]))
    for found, _ in exchanges_for(k, 1, None, demands).rounds(points, labels, ROUNDS):
        labels = found
    return labels


def close(job: Job, cell: int) -> dict[str, Any]:
    """The records of a cell and their groups after the exchanges."""
    columns, before = job.columns("scaled"), job.folder.awaited("group", cell)
    assert before is not None
    stored = all_of(cell_of(job, cell), names_of(len(columns)))
    labels = labels_in(labels_of(job, cell))
    gone, came, groups = np.zeros(len(labels), bool), [stored], int(labels.max()) + 1
    for number, _ in job.borders.of(cell):
        gone |= np.isin(stored[0], loaded(job, number, cell, len(columns))[0][0])
        with reading(job.folder.file("exchanged", number, ending=".npz")) as raw, np.load(raw) as file:
            here = file["cells"] == cell
            came.append([file[f"arr_{place}"][here] for place in range(len(stored))])
            labels = np.concatenate([labels, file["labels"][here] + groups])
            groups += int(file["labels"].max(initial=-1)) + 1
    kept = np.concatenate([~gone, np.ones(len(labels) - len(gone), bool)])
    stored = [np.concatenate(parts)[kept] for parts in zip(*came, strict=True)]
    order = np.argsort(stored[0], kind="stable")
    stored, labels = [values[order] for values in stored], labels[kept][order]
    with (
        whole(job.folder.file("blocks", cell, ending=".parquet")) as path,
        SpillWriter(path, [values.dtype for values in stored]) as writer,
    ):
        writer.write(stored)
    promises, k = job.promises(), job.settings.k
    space = space_with(stored[1:], columns, k)
    partition = Partition(space.points, np.unique(labels, return_inverse=True)[1], k)
    with whole(job.folder.file("regrouped", cell, ending=".npy")) as path, writing(path) as file:
        np.save(file, partition.labels.astype(np.int32))
    said = before["said"], before["unruled"]
    return asdict(done_of(stored[0], space, partition, columns, job.settings.aggregate, *said, promises))
