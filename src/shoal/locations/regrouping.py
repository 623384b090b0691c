"""A redraw that keeps histories: atoms stay whole, or are split into parts that may each be a cell.

Whoever follows a device from cell to cell learns nothing more than its atom, the people who had the same cells all
the time. So a redraw may only take atoms whole to other cells, or split one into parts that each meet the demand.
The redraw begins at the present cells, divided wherever parts allow it, and goes on with steps of `units.py`; it
begins once more at the parts alone, and keeps what loses less.

Guarantee: every new cell meets the demand, every part of a split atom does, and the loss is not above that of the
present cells, unless cells that lack k principals or people without a cell force it.
"""

import numpy as np

from shoal.locations.fresh import costs_for, groups_that_meet, squares
from shoal.locations.merging import merged
from shoal.locations.people import Demand, Int, People, Redrawn, distinct, enough, means, renumbered
from shoal.locations.units import Regrouping, Units

_GAINED = 1 - 1e-9  # share of its loss that an atom must get below to be split: one building is not split
_WORTH = 0.98  # share of the loss below which cells that begin anew are worth that more people get a new cell


def redraw_whole(people: People, atoms: Int, cells: Int, demand: Demand, seed: int = 0) -> Redrawn:
    """What becomes of atoms and cells; `cells` is the present cell of each row, -1 where there is none."""
    whole, present = renumbered(atoms), renumbered(cells)
    ids = np.empty(int(present.max(initial=-1)) + 1, np.int64)
    ids[present] = cells
    keepable = (ids >= 0) & stays(people, present, len(ids), demand)
    if not enough(people, demand):
        return Redrawn(whole, np.sort(ids[keepable]), np.full(len(whole), -1), np.empty((0, 3)), np.empty(0))
    parts = split(people, whole, demand, seed)
    allowed = {units_of(parts, present == number): int(number) for number in np.flatnonzero(keepable)}
    best = improved(people, parts, divided(people, parts, present, ids, keepable, demand), demand, allowed)
    other = improved(people, parts, merged(people, parts, demand), demand, allowed)
    chosen = other if other.total() < _WORTH * best.total() else best
    return put_together(people, whole, parts, chosen, allowed, ids)


def stays(people: People, present: Int, count: int, demand: Demand) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which cells may stay as they are: slack is for changes, and there are none."""
    principals = distinct(people.principals, present, count) >= demand.k
    return np.asarray(principals & (distinct(people.places, present, count) >= demand.places))


def split(people: People, atoms: Int, demand: Demand, seed: int) -> Int:
    """The part of each row: atoms that are large enough in parts that may be cells."""
    count = int(atoms.max()) + 1
    parts, last = atoms.copy(), count
    for atom in np.flatnonzero(distinct(people.principals, atoms, count) >= 2 * demand.least):
        rows = np.flatnonzero(atoms == atom)
        some = people.some(rows)
        if enough(some, demand):
            labels = groups_that_meet(some, demand, seed)
            if squares(some.homes, labels) < _GAINED * squares(some.homes, np.zeros_like(labels)):
                parts[rows] = last + labels
                last += int(labels.max()) + 1
    return renumbered(parts)


def units_of(parts: Int, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Units:
    """The parts that are in some rows."""
    return tuple(np.unique(parts[chosen]).tolist())


def divided(
    people: People,
    parts: Int,
    present: Int,
    ids: Int,
    keepable: np.ndarray[tuple[int], np.dtype[np.bool_]],
    demand: Demand,
) -> Int:
    """Present cells, each divided if its parts allow it; what may not stay is merged with what is near."""
    groups, last = np.empty(len(parts), np.int64), 0
    order = np.argsort(present, kind="stable")
    for number, rows in enumerate(np.split(order, np.cumsum(np.bincount(present))[:-1])):
        own = renumbered(parts[rows])
        if ids[number] >= 0:
            some = people.some(rows)
            own = merged(some, own, demand) if own.any() and enough(some, demand) else np.zeros_like(own)
        groups[rows] = last + own
        last += int(own.max()) + 1
    fine = np.zeros(last, np.bool_)
    fine[groups[keepable[present]]] = True
    return merged(people, groups, demand, fine)


def improved(people: People, parts: Int, groups: Int, demand: Demand, allowed: dict[Units, int]) -> Regrouping:
    """The parts in these groups, after steps that lower the loss."""
    cell = np.empty(int(parts.max()) + 1, np.int64)
    cell[parts] = groups
    found = Regrouping(people, parts, cell, demand, allowed)
    found.improve()
    return found


def put_together(
    people: People, atoms: Int, parts: Int, chosen: Regrouping, allowed: dict[Units, int], ids: Int
) -> Redrawn:
    """The redraw: cells with the members of present ones are these, and an atom within one cell is whole."""
    group = np.array(chosen.cell)[parts]
    same = {cell: allowed[units] for cell, units in chosen.members.items() if units in allowed}
    kept = np.sort(ids[np.array(sorted(same.values()), np.int64)])
    new = ~np.isin(group, np.array(sorted(same), np.int64))
    cells = np.full(len(atoms), -1)
    cells[new] = renumbered(group[new])
    homes, labels = people.homes[new], cells[new]
    centres = means(homes, labels, int(labels.max(initial=-1)) + 1)
    together = renumbered(atoms * (int(group.max()) + 1) + group)
    return Redrawn(together, kept, cells, centres, costs_for(homes, labels, centres))
