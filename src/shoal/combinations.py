"""A larger k for some of the quasi-identifiers: counted, and enforced by common values over several near groups.

Whoever knows the age and the sex of a person may be meant to find at least 10 records, and not only the k that all
quasi-identifiers together leave. k itself holds for every part of them; a larger one does not. Where it does not,
near groups become one cell of the named columns: all their records get one common value there, and keep their own
groups in the other columns. Demands that share columns are met by cells inside cells, the smallest k first, so
that each column has one value in all cells that its demands ask for.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from shoal.attributes import Attribute, CommonValues
from shoal.errors import ShoalError
from shoal.partition import compact
from shoal.privacy.k_anonymity import grouped
from shoal.privacy.persons import persons_in
from shoal.space import Space

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Combination = tuple[int, tuple[str, ...]]

_NEAR = 8  # cells that are looked at first


@dataclass(frozen=True, eq=False)
class Released:
    """The cells of each quasi-identifier, and their common values.

    `labels` has for each attribute the cell of every record: the groups, where nothing larger is asked for.
    """

    space: Space
    groups: Int
    labels: Mapping[str, Int]
    common: Mapping[str, CommonValues]

    def codes(self, columns: Sequence[str]) -> Int:
        """For each record the number of its combination of released values in these columns."""
        parts = []
        for attribute in self.space.attributes:
            for column in attribute.columns:
                if column in columns:
                    texts = np.array(self.common[attribute.name].of(column).text())
                    parts.append(np.unique(texts, return_inverse=True)[1][self.labels[attribute.name]])
        return grouped(parts)

    def found_k(self, columns: Sequence[str], counted: Int | None) -> int:
        """The smallest number of records, or of what is counted, that share these columns."""
        codes = self.codes(columns)
        return int((np.bincount(codes) if counted is None else persons_in(codes, counted).sizes).min())


def coarser(
    released: Released, demands: Sequence[Combination], counted: Int | None, strata: Int | None
) -> dict[str, Int]:
    """For each attribute the cell of every record, with near cells joined where a demand does not hold.

    `counted` has the number of each record's person, `strata` that of its stratum.
    """
    cells = dict(released.labels)
    wanting = broken(released, demands, counted)
    for together in components(demands, released.space.attributes):
        if any(demand in wanting for demand in together):
            cells |= cells_for(released, together, counted, strata)
    return cells


def broken(released: Released, demands: Sequence[Combination], counted: Int | None) -> list[Combination]:
    """The demands that do not hold."""
    return [(k, columns) for k, columns in demands if released.found_k(columns, counted) < k]


def components(demands: Sequence[Combination], attributes: Sequence[Attribute]) -> list[list[Combination]]:
    """Demands that share an attribute, together."""
    found: list[tuple[set[str], list[Combination]]] = []
    for demand in demands:
        names = {each.name for each in attributes if set(each.columns) & set(demand[1])}
        near = [each for each in found if each[0] & names]
        found = [each for each in found if not each[0] & names]
        merged = names.union(*(each[0] for each in near))
        found.append((merged, [one for each in near for one in each[1]] + [demand]))
    return [sorted(each[1]) for each in found]


def cells_for(
    released: Released, demands: Sequence[Combination], counted: Int | None, strata: Int | None
) -> dict[str, Int]:
    """For each attribute that these demands name, the cell of every record; demands come with rising k."""
    asked = {name for _, names in demands for name in names}
    named = [each for each in released.space.attributes if set(each.columns) & asked]
    first = np.unique(released.groups, return_index=True)[1]  # a record of each group
    columns = [column for each in named for column in each.columns]
    codes = [released.codes(columns)[first]]
    codes += [released.labels[each.name][first] for each in named]  # cells that are there already stay whole
    parts = np.zeros(len(first), np.int64) if strata is None else strata[first]
    cells = compact(grouped([codes[0], parts]))
    for other in codes[1:]:
        cells = united(cells, other)
    found: dict[str, Int] = {}
    for k, names in demands:
        axes = [each for each in named if set(each.columns) & set(names) and not each.is_constant]
        cells = large_enough(cells, points_of(released, axes, first), parts, released.groups, counted, k, names)
        for each in named:
            if set(each.columns) & set(names):
                found[each.name] = cells[released.groups]
    return found


def united(cells: Int, other: Int) -> Int:
    """The finest cells that both kinds of cells are parts of."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, ones = int(cells.max()) + 1, np.ones(len(cells))
    graph = coo_array((ones, (cells, n + other)), shape=(n + int(other.max()) + 1,) * 2)
    return compact(connected_components(graph, directed=False)[1][cells].astype(np.int64))


def points_of(released: Released, axes: Sequence[Attribute], first: Int) -> Float:
    """The released values of groups as coordinates."""
    parts = []
    for each in axes:
        placed = each.placed(released.common[each.name])
        parts.append(placed[released.labels[each.name][first]] * sqrt(each.weight))
    return np.hstack(parts) if parts else np.zeros((len(first), 1))


def large_enough(
    cells: Int, points: Float, parts: Int, groups: Int, counted: Int | None, k: int, names: Sequence[str]
) -> Int:
    """The cells of groups, joined with near ones of the same stratum until each has k.

    The smallest comes first, and takes in the nearest cell; the lowest number decides between equals.
    """
    n = int(cells.max()) + 1
    part = np.empty(n, np.int64)
    part[cells] = parts
    centres = np.column_stack([np.bincount(cells, column) for column in points.T]) / np.bincount(cells)[:, None]
    of_record = cells[groups]
    who = np.arange(len(groups)) if counted is None else counted
    pairs = np.unique(np.stack([of_record, who]), axis=1)
    ends = np.cumsum(np.bincount(pairs[0], minlength=n))[:-1]
    members = [set(each.tolist()) for each in np.split(pairs[1], ends)]
    root = np.arange(n)

    def top(cell: int) -> int:
        while root[cell] != cell:
            root[cell] = root[root[cell]]
            cell = int(root[cell])
        return cell

    for number in np.unique(part):
        own = np.flatnonzero(part == number)
        total = len(set().union(*(members[cell] for cell in own.tolist())))
        if total < k:
            raise ShoalError(
                f"also asks for k={k} on {', '.join(names)}, and there are only {total} to share it"
                + (" in one of the strata, whose borders are kept" if len(np.unique(part)) > 1 else "")
                + f"; choose k <= {total}"
            )
        tree = cKDTree(centres[own])
        for cell in own[np.argsort([len(members[cell]) for cell in own.tolist()], kind="stable")].tolist():
            while len(members[here := top(cell)]) < k:
                other = nearest_other(tree, own, centres[cell], here, top)
                low, high = sorted((here, other))
                root[high] = low
                members[low] |= members[high]
                members[high] = set()
    return compact(np.array([top(cell) for cell in range(n)])[cells])


def nearest_other(tree: cKDTree, own: Int, centre: Float, here: int, top: Callable[[int], int]) -> int:
    """The cell nearest to a centre that is not a part of this one."""
    wanted = min(_NEAR, len(own))
    while True:
        near = np.atleast_1d(tree.query(centre, k=wanted)[1])
        for place in near.tolist():
            if (other := top(int(own[place]))) != here:
                return other
        wanted = min(2 * wanted, len(own))
