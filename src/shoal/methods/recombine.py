"""Good partitions combined: the groups of all of them, and cheaper ones between them, by set partitioning.

Each group is a column with its SSE as cost, each record must be covered once. The linear program over the known
columns prices the records; steps like those of k-means find groups below these prices (`kernels/columns.py`),
until there are none. Integer programming then chooses a partition, of the whole table or of some neighbouring
groups at a time. None of it proves anything; it only finds.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.partition import means_of, sse_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Group = tuple[int, ...]
Stopped = Callable[[], bool]

_LISTED = 12  # records near a start, for each of k, from which its group is chosen
_ROUNDS = 30  # of prices and columns, at most
_SLIGHT = 1e-5  # a round that lowers the linear program by less than this part is slight
_PATIENCE = 3  # slight rounds after which there are enough
_NODES = 100  # branches of one integer program
_WHOLE = 1500  # records up to which a table is combined as a whole
_ROOM = 100_000  # groups that are looked at as neighbours of cheap ones
_AREA = 100  # neighbouring groups that are combined in a larger one


class Pool:
    """Groups, each once, with their SSE."""

    def __init__(self, X: Float) -> None:
        self.X = X
        self.groups: list[Group] = []
        self.costs = np.empty(0)
        self._marks = np.random.default_rng(0).integers(0, 2**64, len(X), np.uint64)
        self._known: dict[int, int] = {}
        self._lists = np.empty((len(X), 0), np.int32)

    def add_labels(self, labels: Int) -> int:
        """The groups of a partition; returns how many were new."""
        return self._add(self._keyed(labels))

    def places(self, labels: Int) -> list[int]:
        """The numbers of the groups of a partition that has been added."""
        return [self._known[key] for key, _ in self._keyed(labels)]

    def _keyed(self, labels: Int) -> Iterator[tuple[int, Int]]:
        order = np.argsort(labels, kind="stable")
        sizes = np.bincount(labels)
        ends = np.cumsum(sizes[sizes > 0])
        starts = np.concatenate([[0], ends[:-1]])
        keys = np.add.reduceat(self._marks[order], starts).tolist()
        return ((key, order[start:end]) for key, start, end in zip(keys, starts, ends, strict=True))

    def add(self, groups: Iterable[Iterable[int]]) -> int:
        """Some groups; returns how many were new."""
        rows = (np.sort(np.fromiter(group, np.int64)) for group in groups)
        return self._add((int(self._marks[row].sum()), row) for row in rows)

    def _add(self, keyed: Iterable[tuple[int, Int]]) -> int:
        new: list[Int] = []
        for key, row in keyed:
            if key not in self._known:
                self._known[key] = len(self.groups) + len(new)
                new.append(row)
        costs = np.empty(len(new))
        by_size: dict[int, list[int]] = {}
        for place, row in enumerate(new):
            by_size.setdefault(len(row), []).append(place)
        for places in by_size.values():
            points = self.X[np.stack([new[place] for place in places])]
            costs[places] = ((points - points.mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
        self.groups += [tuple(row.tolist()) for row in new]
        self.costs = np.concatenate([self.costs, costs])
        return len(new)

    def keep(self, chosen: Int) -> None:
        """Drop all others."""
        self.groups = [self.groups[c] for c in chosen]
        self.costs = self.costs[chosen]
        self._known = {int(self._marks[list(group)].sum()): g for g, group in enumerate(self.groups)}

    def lists(self, count: int) -> NDArray[np.int32]:
        """Each record and those nearest to it, so many in all."""
        from shoal.kernels.neighbours import nearest_neighbours

        if self._lists.shape[1] != count:
            own = np.arange(len(self.X), dtype=np.int32)[:, None]
            self._lists = np.concatenate([own, nearest_neighbours(self.X, count - 1)[0]], axis=1)
        return self._lists

    def table(self) -> Any:
        """Which records (rows) are in which groups (columns), sparse."""
        from scipy.sparse import csc_array

        sizes = np.array([len(group) for group in self.groups])
        rows = np.fromiter((record for group in self.groups for record in group), np.int32, int(sizes.sum()))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return csc_array((np.ones(len(rows)), rows, starts), shape=(len(self.X), len(sizes)))


@dataclass(frozen=True)
class Priced:
    """The linear program over a pool: its value, the prices of the records and the reduced costs of the groups."""

    value: float
    prices: Float
    reduced: Float
    used: Int


def recombine(
    X: Float,
    k: int,
    labels: Int,
    columns: Iterable[Iterable[int]] = (),
    seconds: float | None = None,
    pool: Pool | None = None,
    breadth: int = 4,
    stopped: Stopped = lambda: False,
) -> Int:
    """A partition at most as dear as `labels`, from its groups, those of the pool, more columns and new ones.

    Integer programming chooses from `breadth` columns a record. Without `seconds` the result does not depend on
    time.
    """
    deadline = inf if seconds is None else monotonic() + seconds

    def over() -> bool:
        return stopped() or monotonic() >= deadline

    pool = Pool(X) if pool is None else pool
    pool.add_labels(labels)
    pool.add(columns)
    best, labels = sse_of(X, labels), labels
    if best == 0.0 or over():
        return labels
    priced = generate(pool, k, over)
    if priced is None or over():
        return labels
    enrich(pool, k, priced, labels, max(best - priced.value, 0.0), breadth * len(X))
    table = pool.table()
    if len(X) > _WHOLE:
        return by_areas(pool, table, labels, best, deadline, over)
    found = chosen_of(table, pool.costs, left(deadline))
    return labels if found is None else better(X, labels, best, found)[0]


def best_of(pool: Pool, labels: Int, seconds: float) -> Int:
    """The best partition into groups of a pool that integer programming finds, or the one given."""
    pool.add_labels(labels)
    found = chosen_of(pool.table(), pool.costs, seconds)
    return labels if found is None else better(pool.X, labels, sse_of(pool.X, labels), found)[0]


def by_areas(pool: Pool, table: Any, labels: Int, best: float, deadline: float, over: Stopped) -> Int:
    """The same for some neighbouring groups at a time, so that every place has been in the middle or near it."""
    X, sizes = pool.X, np.diff(table.indptr)
    waiting = means_of(X, labels)
    while len(waiting) and not over():
        centroids = means_of(X, labels)
        order = np.argsort(((centroids - waiting[0]) ** 2).sum(axis=1), kind="stable")[:_AREA]
        reach = ((centroids[order[len(order) // 3]] - waiting[0]) ** 2).sum()
        waiting = waiting[((waiting - waiting[0]) ** 2).sum(axis=1) > reach]
        mark = np.isin(labels, order)
        chosen = np.flatnonzero(table.T @ mark == sizes)
        found = chosen_of(table[:, chosen], pool.costs[chosen], left(deadline))
        if found is not None:
            tried = np.where(mark, found + len(X), labels)
            labels, best = better(X, labels, best, np.unique(tried, return_inverse=True)[1])
    return labels


def left(deadline: float) -> float:
    """Seconds that are left."""
    return max(deadline - monotonic(), 0.01)


def better(X: Float, labels: Int, best: float, found: Int) -> tuple[Int, float]:
    """The better of two partitions and its SSE."""
    error = sse_of(X, found)
    return (found, error) if error < best else (labels, best)


def generate(pool: Pool, k: int, over: Stopped) -> Priced | None:
    """Prices and columns in turn, until a round brings too little."""
    last, slight, priced = inf, 0, None
    for _ in range(_ROUNDS):
        solved = solve(pool)
        if solved is None:
            break
        priced = solved
        slight = slight + 1 if priced.value > last * (1 - _SLIGHT) else 0
        if over() or slight == _PATIENCE or not add_cheap(pool, k, priced, 0.0):
            break
        last = min(last, priced.value)
    return priced


def solve(pool: Pool) -> Priced | None:
    """The linear program over the known groups; None if the solver gives up."""
    from scipy.optimize import linprog

    table, scale = pool.table(), float(pool.costs.mean())
    result = linprog(pool.costs / scale, A_eq=table, b_eq=np.ones(len(pool.X)), method="highs-ds")
    if result.status != 0:
        return None
    prices = result.eqlin.marginals * scale
    return Priced(
        float(result.fun) * scale, prices, pool.costs - table.T @ prices, np.flatnonzero(result.x > 1e-9)
    )


def add_cheap(pool: Pool, k: int, priced: Priced, below: float) -> int:
    """Groups whose SSE less prices is below a limit, from every record and group in use; how many are new."""
    from shoal.kernels.columns import cheap_groups

    X, n = pool.X, len(pool.X)
    centres = np.array([X[list(pool.groups[g])].mean(axis=0) for g in priced.used]).reshape(-1, X.shape[1])
    starts = np.concatenate([X, centres])
    lists = pool.lists(min(n, _LISTED * k))
    near = np.concatenate([lists, lists[[pool.groups[g][0] for g in priced.used]]])
    room = len(starts) * k
    members, sizes, reduced = np.empty((room, 2 * k - 1), np.int32), np.empty(room, np.int64), np.empty(room)
    limit = below - 1e-9 * float(pool.costs.mean())
    found = cheap_groups(X, priced.prices, starts, near, k, min(2 * k - 1, n), limit, members, sizes, reduced)
    return pool.add(members[i, : sizes[i]] for i in np.argsort(reduced[:found], kind="stable"))


def enrich(pool: Pool, k: int, priced: Priced, labels: Int, gap: float, most: int) -> None:
    """Keep what is cheap at these prices, and add what is one record away from it and as cheap.

    A group whose SSE less prices is above the gap is in no better partition.
    """
    from shoal.kernels.columns import neighbouring_groups

    X, n = pool.X, len(pool.X)
    add_cheap(pool, k, priced, gap)
    reduced = pool.costs - pool.table().T @ priced.prices
    order = np.argsort(reduced, kind="stable")
    order = order[: int(np.searchsorted(reduced[order], gap, "right"))][:most]
    base = order[: most // 2]
    needed = [*pool.places(labels), *priced.used.tolist()]
    groups = np.concatenate([np.array(pool.groups[g], np.int32) for g in base])
    starts = np.concatenate([[0], np.cumsum([len(pool.groups[g]) for g in base])])
    members, sizes = np.empty((_ROOM, 2 * k), np.int32), np.empty(_ROOM, np.int64)
    costs = np.empty(_ROOM)
    for part in (0.25, 0.06, 0.015, 0.004):  # fewer where there is no room for all
        found = neighbouring_groups(
            X, priced.prices, pool.lists(min(n, _LISTED * k)), groups, starts, k, min(2 * k - 1, n), part * gap,
            members, sizes, costs,
        )  # fmt: skip
        if found < _ROOM:
            break
    pool.add(members[i, : sizes[i]] for i in np.argsort(costs[:found], kind="stable"))
    reduced = pool.costs - pool.table().T @ priced.prices
    order = np.argsort(reduced, kind="stable")
    order = order[: min(most, int(np.searchsorted(reduced[order], gap, "right")))]
    pool.keep(np.union1d(order, needed))


def chosen_of(table: Any, costs: Float, seconds: float) -> Int | None:
    """The best partition into some of the groups that was found; records in none of them get the label -1."""
    from scipy.optimize import LinearConstraint, milp

    rows = np.flatnonzero(table.sum(axis=1) > 0)
    limit: dict[str, float] = {"time_limit": seconds} if seconds < inf else {"node_limit": _NODES}
    result = milp(
        costs / max(float(costs.mean()), 1e-300),
        integrality=np.ones(len(costs)),
        constraints=LinearConstraint(table.tocsr()[rows], 1.0, 1.0),
        options={"mip_rel_gap": 1e-7, **limit},
    )
    if result.x is None:
        return None
    taken = np.flatnonzero(result.x > 0.5)
    times = table[:, taken].sum(axis=1)
    if not np.array_equal(times[rows], np.ones(len(rows))):
        return None
    labels: Int = np.rint(table[:, taken] @ np.arange(1, len(taken) + 1) - 1).astype(np.int64)
    return labels
