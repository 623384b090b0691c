"""Groups that lack principals or places are merged with near ones, always the pair that loses least.

What a merge loses is Ward's cost, w v / (w + v) times the squared distance of the two means: by so much the sum of
squared distances to the means of groups rises. O(groups) for each merge, and O(groups) memory for each group that
lacks something.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.locations.people import Demand, Float, Int, People, meeting, renumbered

Mask = NDArray[np.bool_]


def merged(people: People, labels: Int, demand: Demand, fine: Mask | None = None) -> Int:
    """The labels after merging until every group meets the demand; from 0 on in the order of first members.

    Groups that are `fine` need nothing, but others may join them; what they become must meet the demand. All
    people together must meet it, or one group is left that does not.
    """
    groups = int(labels.max(initial=-1)) + 1
    lacking = ~meeting(people, labels, groups, demand)
    if fine is not None:
        lacking &= ~fine
    if not lacking.any():
        return renumbered(labels)
    pool = Pool(people, labels, groups, demand)
    target = np.arange(groups)
    for one, other in pool.merges(lacking):
        target[other] = one
    for group in range(groups):  # a group that was merged into an earlier one, which may have been merged in turn
        target[group] = target[target[group]]
    return renumbered(target[labels])


def ward(weight: float, mean: Float, weights: Float, means: Float) -> Float:
    """What merging one group with each of others loses."""
    away = means - mean
    square = away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1] + away[:, 2] * away[:, 2]
    return np.asarray(weight * weights / (weight + weights) * square)


class Pool:
    """Groups that are merged, with their sums."""

    def __init__(self, people: People, labels: Int, groups: int, demand: Demand) -> None:
        self.demand = demand
        self.weights = np.bincount(labels, minlength=groups).astype(np.float64)
        base = people.homes[0]
        self.sums = np.column_stack([np.bincount(labels, column, groups) for column in (people.homes - base).T])
        self.principals: list[set[int]] = [set() for _ in range(groups)]
        self.places: list[set[int]] = [set() for _ in range(groups)]
        columns = (labels.tolist(), people.principals.tolist(), people.places.tolist())
        for group, principal, place in zip(*columns, strict=True):
            self.principals[group].add(principal)
            self.places[group].add(place)
        self.alive = np.ones(groups, np.bool_)

    def meets(self, group: int) -> bool:
        """Whether a group may be a cell."""
        enough = len(self.principals[group]) >= self.demand.least
        return enough and len(self.places[group]) >= self.demand.places

    def costs(self, group: int) -> Float:
        """What merging a group with each other one loses; infinite where there is none."""
        means = self.sums / self.weights[:, None]
        found = ward(self.weights[group], means[group], self.weights, means)
        found[~self.alive] = np.inf
        found[group] = np.inf
        return found

    def join(self, one: int, other: int) -> None:
        """The second group becomes part of the first."""
        self.weights[one] += self.weights[other]
        self.sums[one] += self.sums[other]
        self.principals[one] |= self.principals[other]
        self.places[one] |= self.places[other]
        self.alive[other] = False

    def merges(self, lacking: Mask) -> list[tuple[int, int]]:
        """The merges in turn, each into the lower number; between equal losses the lowest numbers."""
        done = []
        rows = np.flatnonzero(lacking)
        table = np.array([self.costs(int(row)) for row in rows])
        where = table.argmin(axis=1)
        least = table[np.arange(len(rows)), where]
        while len(rows) and np.isfinite(least.min()):
            tied = np.flatnonzero(least == least.min())
            slot = int(tied[np.argmin(rows[tied])])
            one, other = sorted((int(rows[slot]), int(where[slot])))
            self.join(one, other)
            done.append((one, other))
            keep = (rows >= 0) & (rows != one) & (rows != other)
            changed = self.costs(one)[rows]
            table[:, other], table[:, one] = np.inf, changed
            better = (changed < least) | ((changed == least) & (one < where))
            stale = keep & ((where == one) | (where == other)) & ~better
            least[better], where[better] = changed[better], one
            where[stale] = table[stale].argmin(axis=1)
            least[stale] = table[stale, where[stale]]
            if not self.meets(one):
                keep[slot] = True
                rows[slot], table[slot] = one, self.costs(one)
                where[slot] = table[slot].argmin()
                least[slot] = table[slot, where[slot]]
            least[~keep] = np.inf
            if 2 * np.count_nonzero(keep) < len(rows):
                rows, table, where, least = rows[keep], table[keep], where[keep], least[keep]
            else:
                rows = np.where(keep, rows, -1)
        return done
