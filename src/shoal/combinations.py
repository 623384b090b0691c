"""A larger k for some of the quasi-identifiers: counted, and enforced by common values over several near groups.

Whoever knows the age and the sex of a person may be meant to find at least 10 records, and not only the k that all
quasi-identifiers together leave. k itself holds for every part of them; a larger one does not. Where it does not,
near groups become one cell of the named columns: all their records get one common value there, and keep their own
groups in the other columns. Demands that share columns are met by cells inside cells, the smallest k first, so
that each column has one value in all cells that its demands ask for.

Whoever knows a person knows their region too. So where columns of strata leave, a larger k is counted on the named
columns together with these, as k itself is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Attribute, CommonValues
from shoal.design import counted_as
from shoal.errors import ShoalError
from shoal.partition import compact
from shoal.privacy.k_anonymity import grouped
from shoal.privacy.persons import sizes_of
from shoal.released_columns import distinct_texts
from shoal.space import Cells, Space

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Combination = tuple[int, tuple[str, ...]]

_NEAR = 8  # cells that are looked at first


@dataclass(frozen=True, eq=False)
class Released:
    """The cells of each quasi-identifier, and their common values.

    `labels` has for each attribute the cell of every record: the groups, where nothing larger is asked for.
    `strata` has for each record the number of what leaves of its stratum; None where nothing does.
    """

    space: Space
    groups: Int
    labels: Cells
    common: Mapping[str, CommonValues]
    strata: Int | None = None

    def codes(self, columns: Sequence[str]) -> Int:
        """For each record the number of its combination of released values in these columns and its stratum."""
        parts = [] if self.strata is None else [self.strata]
        for attribute in self.space.attributes:
            for column in attribute.columns:
                if column in columns:
                    values = self.common[attribute.name].of(column)
                    parts.append(distinct_texts(values)[self.labels[attribute.name]])
        return grouped(parts)

    def found_k(self, columns: Sequence[str], counted: Int | None) -> int:
        """The smallest number of records, or of what is counted, that share these columns and the stratum."""
        return int(sizes_of(self.codes(columns), counted).min())


class Border(NamedTuple):
    """What cells do not cross."""

    parts: Int  # the number of each record's part
    words: str  # such as "in one of the strata, whose borders are kept"


class Counted(NamedTuple):
    """What is counted in cells, and which borders these keep, the finest last."""

    whom: str
    codes: Int | None  # rows with the same number count once; None where every row counts
    borders: Sequence[Border] = ()

    @property
    def parts(self) -> Int | None:
        """The part of each record, by number; None where all are one."""
        return self.borders[-1].parts if self.borders else None


def with_larger_k(
    before: Released,
    demands: Sequence[Combination],
    counted: Counted,
    values: Callable[[Cells], Mapping[str, CommonValues]],
) -> tuple[Released, list[dict[str, Any]]]:
    """What is released where every demand holds, and what was found before and after; `values` are those of cells.

    Where all demands hold already, it is what was there before.
    """
    cells = coarser(before, demands, counted)
    if all(cells[name] is labels for name, labels in before.labels.items()):
        after = before
    else:
        after = replace(before, labels=cells, common=values(cells))
    return after, [
        {"k": k, "columns": list(names), "before": before.found_k(names, counted.codes)}
        | {"found": after.found_k(names, counted.codes)}
        for k, names in demands
    ]


def coarser(released: Released, demands: Sequence[Combination], counted: Counted) -> dict[str, Int]:
    """For each attribute the cell of every record, with near cells joined where a demand does not hold."""
    cells = dict(released.labels)
    wanting = broken(released, demands, counted.codes)
    for together in components(demands, released.space.attributes):
        if any(demand in wanting for demand in together):
            cells |= cells_for(released, together, counted)
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


def cells_for(released: Released, demands: Sequence[Combination], counted: Counted) -> dict[str, Int]:
    """For each attribute that these demands name, the cell of every record; demands come with rising k."""
    asked = {name for _, names in demands for name in names}
    named = [each for each in released.space.attributes if set(each.columns) & asked]
    first = np.unique(released.groups, return_index=True)[1]  # a record of each group
    columns = [column for each in named for column in each.columns]
    codes = [released.codes(columns)[first]]
    codes += [released.labels[each.name][first] for each in named]  # cells that are there already stay whole
    parts = np.zeros(len(first), np.int64) if counted.parts is None else counted.parts[first]
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
    cells: Int, points: Float, parts: Int, groups: Int, counted: Counted, k: int, names: Sequence[str]
) -> Int:
    """The cells of groups, joined with near ones of the same stratum until each has k.

    The smallest comes first, and takes in the nearest cell; the lowest number decides between equals.
    """
    from scipy.spatial import cKDTree

    n = int(cells.max()) + 1
    part = np.empty(n, np.int64)
    part[cells] = parts
    centres = np.column_stack([np.bincount(cells, column) for column in points.T]) / np.bincount(cells)[:, None]
    of_record = cells[groups]
    who = np.arange(len(groups)) if counted.codes is None else counted.codes
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
            raise too_few(np.flatnonzero(np.isin(of_record, own)), counted, who, k, names)
        tree = cKDTree(centres[own])
        for cell in own[np.argsort([len(members[cell]) for cell in own.tolist()], kind="stable")].tolist():
            while len(members[here := top(cell)]) < k:
                other = nearest_other(tree, own, centres[cell], here, top)
                low, high = sorted((here, other))
                root[high] = low
                members[low] |= members[high]
                members[high] = set()
    return compact(np.array([top(cell) for cell in range(n)])[cells])


def too_few(records: Int, counted: Counted, who: Int, k: int, names: Sequence[str]) -> ShoalError:
    """A larger k that cannot be had: these records are all that may share it, and the border that keeps them."""
    total, where = len(np.unique(who)), ""
    for border in counted.borders:
        if total >= k:
            total, where = len(np.unique(who[border.parts == border.parts[records[0]]])), f" {border.words}"
    return ShoalError(
        f"also asks for k={k} on {', '.join(names)}, and there {'is' if total == 1 else 'are'} only "
        f"{counted_as(total, counted.whom)} to share it{where}; choose k <= {total}, or leave it out"
    )


def nearest_other(tree: "cKDTree", own: Int, centre: Float, here: int, top: Callable[[int], int]) -> int:
    """The cell nearest to a centre that is not a part of this one."""
    wanted = min(_NEAR, len(own))
    while True:
        near = np.atleast_1d(tree.query(centre, k=wanted)[1])
        for place in near.tolist():
            if (other := top(int(own[place]))) != here:
                return other
        wanted = min(2 * wanted, len(own))
