"""Groups with their members and centroids, and the moves between them: what every local search here rests on.

A search is a named tuple whose first five arrays are these; what follows is its own. The functions take any such
tuple. Centroids that follow moves only guide a search; who calls it computes the SSE of what comes out anew.
"""

from typing import Protocol

import numpy as np

from shoal.kernels.compiled import Array, folded, inner, kernel
from shoal.kernels.sums.exact import squared_distance

SLICE = 20_000_000  # coordinates between two looks at the clock, about: some hundredths of a second


class Groups(Protocol):
    """Groups that records enter and leave; there is room for as many groups as can be."""

    @property
    def rows(self) -> Array:
        """float64 (n, m): the points."""

    @property
    def label(self) -> Array:
        """int32 (n,): the group of each record."""

    @property
    def members(self) -> Array:
        """int32 (groups, most): the records of each group, in no order."""

    @property
    def size(self) -> Array:
        """int32 (groups,): how many these are, 0 for a group that is not there."""

    @property
    def centre(self) -> Array:
        """float64 (groups, m): their means."""


def at_once(work: int) -> int:
    """How many of something that takes so many coordinates are done between two looks at the clock."""
    return max(1, SLICE // max(work, 1))


def room_for(rows: Array, labels: Array, groups: int, most: int) -> tuple[Array, Array, Array, Array, Array]:
    """The five arrays for so many groups of up to so many records; all but points and labels wait for `fill`."""
    return (
        rows,
        labels.astype(np.int32),
        np.zeros((groups, most), np.int32),
        np.zeros(groups, np.int32),
        np.zeros((groups, rows.shape[1])),
    )


@kernel
def fill(groups: Groups) -> None:
    """Members, sizes and centroids from the labels."""
    groups.size[:] = 0
    for i in range(groups.label.size):
        enlist(groups, i, groups.label[i])
    for g in range(groups.size.size):
        settle_centre(groups, g)


@folded
def settle_centre(groups: Groups, g: int) -> None:
    """The centroid of a group from its members, without the rounding of moves; of no records it is 0."""
    size = groups.size[g]
    for j in range(groups.rows.shape[1]):
        total = 0.0
        for slot in range(size):
            total += groups.rows[groups.members[g, slot], j]
        groups.centre[g, j] = total / size if size > 0 else 0.0


@inner
def distances(groups: Groups, own: Array) -> None:
    """The squared distance of each record to the centroid of its group."""
    for i in range(groups.label.size):
        own[i] = squared_distance(groups.rows, i, groups.centre[groups.label[i]])


@folded
def enlist(groups: Groups, x: int, g: int) -> None:
    """A record becomes a member of a group, whose centroid is left as it is."""
    size = groups.size[g]
    groups.members[g, size] = x
    groups.size[g] = size + 1
    groups.label[x] = g


@inner
def insert(groups: Groups, x: int, g: int) -> None:
    """A record enters a group, and the centroid follows."""
    enlist(groups, x, g)
    for j in range(groups.rows.shape[1]):
        groups.centre[g, j] += (groups.rows[x, j] - groups.centre[g, j]) / groups.size[g]


@inner
def remove(groups: Groups, x: int) -> None:
    """A record leaves its group, and the centroid follows; its label is left to the caller."""
    g = groups.label[x]
    last = groups.size[g] - 1
    for slot in range(last):
        if groups.members[g, slot] == x:
            groups.members[g, slot] = groups.members[g, last]
            break
    groups.size[g] = last
    if last > 0:
        for j in range(groups.rows.shape[1]):
            groups.centre[g, j] -= (groups.rows[x, j] - groups.centre[g, j]) / last


@inner
def replace(groups: Groups, x: int, y: int, g: int) -> None:
    """Record x takes the place of y in group g, and the centroid follows; the label of y is left to the caller."""
    size = groups.size[g]
    for slot in range(size):
        if groups.members[g, slot] == y:
            groups.members[g, slot] = x
            break
    groups.label[x] = g
    for j in range(groups.rows.shape[1]):
        groups.centre[g, j] += (groups.rows[x, j] - groups.rows[y, j]) / size


@inner
def swap(groups: Groups, x: int, y: int) -> None:
    """Two records of different groups change places."""
    of_x, of_y = groups.label[x], groups.label[y]
    replace(groups, x, y, of_y)
    replace(groups, y, x, of_x)


@inner
def file_in(ids: Array, reach: Array, h: int, d2: float) -> None:
    """Put h where it belongs in a list sorted by distance, if it does."""
    place = reach.size
    if d2 >= reach[place - 1]:
        return
    while place > 0 and d2 < reach[place - 1]:
        place -= 1
    for p in range(reach.size - 1, place, -1):
        reach[p] = reach[p - 1]
        ids[p] = ids[p - 1]
    reach[place] = d2
    ids[place] = h
