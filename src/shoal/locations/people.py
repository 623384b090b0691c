"""People, the cells drawn for them, and what every new cell must have."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Demand(NamedTuple):
    """What a new cell must have: k + slack distinct principals and `places` distinct places."""

    k: int
    slack: int
    places: int

    @property
    def least(self) -> int:
        """The principals of a new cell."""
        return self.k + self.slack


class People(NamedTuple):
    """Homes as unit vectors, whose they are, and a number for each building; numbers may be any integers."""

    homes: Float
    principals: Int
    places: Int

    def some(self, rows: Int) -> "People":
        """Those of some rows."""
        return People(self.homes[rows], self.principals[rows], self.places[rows])


class Drawn(NamedTuple):
    """Cells: the rows of their members, the cell of each member, and a centre and a cost for each cell."""

    members: Int
    cells: Int
    centres: Float
    costs: Float


class Redrawn(NamedTuple):
    """What a redraw makes of atoms and cells.

    `parts` numbers what atoms become, from 0 on over all atoms: a part is an atom kept whole or a piece of one.
    `kept` are the present cells that stay exactly as they are, in rising order. `cells` is the new cell of each
    row, or -1: such a row stays in its present cell if that is kept, and has no cell otherwise.
    """

    parts: Int
    kept: Int
    cells: Int
    centres: Float
    costs: Float


def renumbered(labels: Int) -> Int:
    """The same groups, numbered from 0 on in the order of their first members."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def distinct(values: Int, labels: Int, groups: int) -> Int:
    """How many different values each group has."""
    codes = np.unique(values, return_inverse=True)[1]
    pairs = np.unique(labels * (int(codes.max(initial=0)) + 1) + codes)
    return np.bincount(pairs // (int(codes.max(initial=0)) + 1), minlength=groups)


def meeting(people: People, labels: Int, groups: int, demand: Demand) -> NDArray[np.bool_]:
    """Which groups a new cell may be."""
    enough = distinct(people.principals, labels, groups) >= demand.least
    return np.asarray(enough & (distinct(people.places, labels, groups) >= demand.places))


def enough(people: People, demand: Demand) -> bool:
    """Whether all together may be a cell."""
    principals, places = np.unique(people.principals), np.unique(people.places)
    return len(principals) >= demand.least and len(places) >= demand.places


def means(homes: Float, labels: Int, groups: int) -> Float:
    """The mean of each group; every group has a member."""
    counts = np.bincount(labels, minlength=groups)
    # Sums of differences from the first home keep the last digits of homes that are metres apart.
    base = homes[0] if len(homes) else np.zeros(3)
    sums = [np.bincount(labels, column, groups) for column in (homes - base).T]
    return np.asarray(base + np.column_stack(sums) / counts[:, None])
