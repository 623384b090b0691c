"""Units that move whole, in cells: steps that lower the loss, and never one that breaks a demand.

A step takes units of one or two cells to other cells: one unit goes to a near cell, two trade places, a unit that
may be a cell leaves to be one, near units of several cells form a new one, or a cell is dissolved. What lowers the
sum of squared distances to the means of cells most, and leaves every changed cell with what is asked, is done.

Guarantee: the loss never rises. Cost: about 30 steps are tried for each unit in a round, some microseconds each.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from shoal.locations.people import Demand, Float, Int, People, means

Units = tuple[int, ...]
"""The units of a cell, in rising order."""
Cells = dict[int, Units]
"""Some cells and their units; a cell without units is none."""

_NEAR = 8  # units whose cells are tried
_GATHERED = 12  # near units from which a new cell is tried
_ROUNDS = 20
_ROUNDING = 1e-12  # share of the spread below which a gain may be rounding


class Regrouping:
    """Units, and the cells that they are in."""

    def __init__(
        self, people: People, unit: Int, cell: Int, demand: Demand, allowed: Iterable[Units] = ()
    ) -> None:
        """`unit` is the unit of each row, `cell` that of each unit; `allowed` cells may stay as they are."""
        count = len(cell)
        sizes = np.bincount(unit, minlength=count)
        homes = people.homes - people.homes.mean(axis=0)
        middle = means(homes, unit, count)
        self.demand = demand
        self.allowed = set(allowed)
        self.weight: list[int] = sizes.tolist()
        self.sum: list[list[float]] = (middle * sizes[:, None]).tolist()
        self.square: list[float] = (np.square(middle).sum(axis=1) * sizes).tolist()
        self.people = [set[int]() for _ in range(count)]
        self.places = [set[int]() for _ in range(count)]
        columns = (unit.tolist(), people.principals.tolist(), people.places.tolist())
        for number, principal, place in zip(*columns, strict=True):
            self.people[number].add(principal)
            self.places[number].add(place)
        self.alone = [self.meets((each,)) for each in range(count)]
        self.near = nearest_units(middle, _GATHERED).tolist()
        self.cell: list[int] = cell.tolist()
        members: dict[int, list[int]] = {}
        for each, number in enumerate(self.cell):
            members.setdefault(number, []).append(each)
        self.members: Cells = {number: tuple(some) for number, some in members.items()}
        self.spread = {number: self.between(some) for number, some in self.members.items()}
        self.next = max(self.members) + 1
        self.least = _ROUNDING * (sum(self.square) + float(np.square(homes).sum()))

    def meets(self, some: Units) -> bool:
        """Whether these units together have what the demand asks."""
        if sum(len(self.people[each]) for each in some) < self.demand.least:
            return False
        if len(set().union(*(self.people[each] for each in some))) < self.demand.least:
            return False
        return len(set().union(*(self.places[each] for each in some))) >= self.demand.places

    def may_be(self, some: Units) -> bool:
        """Whether these units may be a cell, or none."""
        return not some or self.meets(some) or some in self.allowed

    def between(self, some: Units) -> float:
        """The sum of squared distances of the units' means, each as often as it has homes."""
        if len(some) < 2:
            return 0.0
        weight, x, y, z, square = 0, 0.0, 0.0, 0.0, 0.0
        for each in some:
            a, b, c = self.sum[each]
            weight += self.weight[each]
            x += a
            y += b
            z += c
            square += self.square[each]
        return square - (x * x + y * y + z * z) / weight

    def gain(self, change: Cells) -> float:
        """By how much the loss falls."""
        old = sum(self.spread.get(number, 0.0) for number in change)
        return old - sum(self.between(some) for some in change.values())

    def apply(self, change: Cells) -> None:
        """Do it."""
        for number, some in change.items():
            self.members.pop(number, None)
            self.spread.pop(number, None)
            if some:
                self.members[number] = some
                self.spread[number] = self.between(some)
            for each in some:
                self.cell[each] = number
        self.next = max(self.next, max(change) + 1)

    # what may be tried

    def near_cells(self, one: int) -> list[int]:
        """Other cells of near units, the nearest first."""
        own = self.cell[one]
        return [cell for cell in dict.fromkeys(self.cell[each] for each in self.near[one][:_NEAR]) if cell != own]

    def steps(self, one: int) -> Iterator[Cells]:
        """Changes that move a unit."""
        own = self.cell[one]
        rest = without(self.members[own], one)
        if rest and self.alone[one]:
            yield {own: rest, self.next: (one,)}
        for other in self.near_cells(one):
            yield {own: rest, other: with_unit(self.members[other], one)}
            if rest:
                for each in self.members[other]:
                    yield {own: with_unit(rest, each), other: with_unit(without(self.members[other], each), one)}
        if rest or not self.alone[one]:
            yield self.dissolved(own)
        if rest:
            yield self.gathered(one)

    def dissolved(self, cell: int) -> Cells:
        """Units that may be cells are; each other one goes where it loses least."""
        change: Cells = {cell: ()}
        new = self.next
        some = self.members[cell]
        for one in some:
            if self.alone[one]:
                change[new] = (one,)
                new += 1
        for one in some:
            if self.alone[one]:
                continue
            choices = list(dict.fromkeys([*(n for n in change if n != cell), *self.near_cells(one)]))
            best, found = np.inf, -1
            for other in choices:
                if other == cell:
                    continue
                there = change.get(other, self.members.get(other, ()))
                paid = self.between(with_unit(there, one)) - self.between(there)
                if paid < best:
                    best, found = paid, other
            if found < 0:
                return {}
            change[found] = with_unit(change.get(found, self.members.get(found, ())), one)
        return change

    def gathered(self, one: int) -> Cells:
        """A new cell of a unit and the nearest ones that their cells can spare."""
        change: Cells = {}
        new: Units = ()
        for each in [one, *self.near[one]]:
            cell = self.cell[each]
            rest = without(change.get(cell, self.members[cell]), each)
            if not self.may_be(rest):
                if each == one:
                    return {}
                continue
            change[cell] = rest
            new = with_unit(new, each)
            if self.meets(new):
                change[self.next] = new
                return change
        return {}

    def improve(self) -> None:
        """Take the best step of each unit in turn, until no step lowers the loss."""
        stamp, tried, clock = dict.fromkeys(self.members, 0), [-1] * len(self.cell), 0
        for _ in range(_ROUNDS):
            found = False
            for one in range(len(self.cell)):
                around = [self.cell[one], *(self.cell[each] for each in self.near[one])]
                if max(stamp.get(cell, 0) for cell in around) <= tried[one]:
                    continue
                tried[one] = clock
                best, chosen = self.least, None
                for change in self.steps(one):
                    if change:
                        gain = self.gain(change)
                        if gain > best and all(map(self.may_be, change.values())):
                            best, chosen = gain, change
                if chosen is not None:
                    clock += 1
                    self.apply(chosen)
                    stamp.update(dict.fromkeys(chosen, clock))
                    found = True
            if not found:
                return

    def total(self) -> float:
        """The loss between units; what is within units does not change."""
        return sum(self.spread.values())


def without(some: Units, one: int) -> Units:
    """All but one."""
    return tuple(each for each in some if each != one)


def with_unit(some: Units, one: int) -> Units:
    """One more."""
    return tuple(sorted((*some, one)))


def nearest_units(middle: Float, count: int) -> Int:
    """The nearest others of each unit, the nearest first, ties by number."""
    n = len(middle)
    count = min(count, n - 1)
    found = np.empty((n, count), np.int64)
    step = max(1, (1 << 20) // max(1, n))
    for first in range(0, n, step):
        away = np.zeros((len(middle[first : first + step]), n))
        for column in middle.T:
            away += np.square(column[first : first + step, None] - column)
        away[np.arange(len(away)), np.arange(first, first + len(away))] = np.inf
        if count < n - 1:
            near = np.sort(np.argpartition(away, count, axis=1)[:, :count], axis=1)
        else:
            near = np.broadcast_to(np.arange(n), away.shape)
        order = np.argsort(np.take_along_axis(away, near, axis=1), axis=1, kind="stable")[:, :count]
        found[first : first + step] = np.take_along_axis(near, order, axis=1)
    return found
