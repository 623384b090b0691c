"""A map of the groups in two dimensions: the first two principal axes of the released quasi-identifiers.

It is drawn from released values alone, so anybody who has the published file can draw it too, and it stands in
both editions.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.report.statistics import scaled
from shoal.report.subject import Subject

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MOST_GROUPS = 400  # points that can still be told apart


@dataclass(frozen=True, eq=False)
class GroupMap:
    """Where groups stand on two axes.

    Attributes
    ----------
    places : the place of each drawn group
    members : how many records each has
    names, axes : the columns, and how much each counts along both axes
    shares : of the variance that the axes hold, in percent
    groups : how many groups there are, drawn or not
    """

    places: Float
    members: Int
    names: tuple[str, ...]
    axes: Float
    shares: Float
    groups: int


def group_map(subject: Subject) -> GroupMap | None:
    """The map, if two columns of numbers vary and there are two groups."""
    numeric = [
        column for column in subject.columns
        if column.role == "quasi-identifier" and not column.levels and not np.isnan(column.after).any()
    ]  # fmt: skip
    standard = [(column.name, standardised(column.after)) for column in numeric]
    standard = [(name, values) for name, values in standard if values.any()]
    members = np.bincount(subject.groups)
    there = members > 0
    if len(standard) < 2 or there.sum() < 2:
        return None
    sums = np.stack([np.bincount(subject.groups, values) for _, values in standard], axis=1)
    centroids = sums[there] / members[there, None]
    weighted = centroids * np.sqrt(members[there, None] / members.sum())
    _, spread, axes = np.linalg.svd(weighted, full_matrices=False)
    axes = np.stack([upright(axis) for axis in axes])
    shares = 100 * np.square(spread) / np.square(spread).sum()
    drawn = chosen_groups(int(there.sum()))
    places = (centroids @ axes[:2].T)[drawn]
    names = tuple(name for name, _ in standard)
    return GroupMap(places, members[there][drawn], names, axes[:2], shares[:2], int(there.sum()))


def standardised(values: Float) -> Float:
    """Numbers in standard deviations from their mean; 0 where all are the same."""
    centred = scaled(values) - scaled(values).mean()
    deviation = float(centred.std())
    return centred / deviation if deviation > 1e-12 else np.zeros(len(values))


def upright(axis: Float) -> Float:
    """An axis with a sign that does not depend on how it was computed: its largest part is positive."""
    return axis if axis[np.abs(axis).argmax()] > 0 else -axis


def chosen_groups(there: int) -> Int:
    """The groups that are drawn: all, or so many at random, the same ones every time."""
    if there <= MOST_GROUPS:
        return np.arange(there)
    rng: Any = np.random.default_rng(0)
    return np.asarray(np.sort(rng.choice(there, MOST_GROUPS, replace=False)))
