"""The rounds of PCL: records to cells of given sizes, reconstruction points to the centroids of their cells."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.partition import means_of, squared_error
from shoal.quantizing.assignment import assign_by_costs
from shoal.quantizing.cost_adjustment import adjust_costs
from shoal.quantizing.distortions import Distortion, Squared, total_cost

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Assign = Callable[[Float, Any, Float], tuple[Int, Float]]
"""Called with (centres, sizes, costs): the cell of each point, and the costs that bring it about."""
Solver = Callable[[Float], Assign]
"""Called with the points, once for many assignments of them."""

_NOISE = 2.0, 0.1  # the first and last standard deviation, in units of that within the cells
_SMALL = 12  # records in a cell, on average
_NEAR = 12  # groups with the nearest centroids that a record may trade places with


@dataclass(frozen=True)
class Cells:
    """Reconstruction points and costs, the records assigned by them, and the distortions of the rounds so far."""

    centres: Float
    costs: Float
    labels: Int
    history: list[float]


Revive = Callable[[Cells, Float, Float], Cells]
"""Called with (cells, centroids, points) where a centroid may be NaN, for want of records: such cells anew."""


def first_cells(centres: Float, n: int) -> Cells:
    """Reconstruction points before any round."""
    return Cells(centres, np.zeros(len(centres)), np.zeros(n, np.int64), [])


def exact_solver(X: Float) -> Assign:
    """At the least sum of squared distances."""
    from shoal.kernels.transport.power import assign, prepare

    plan = prepare(X)
    return lambda centres, sizes, costs: assign(plan, np.ascontiguousarray(centres), sizes, costs)


def shaken_solver(X: Float) -> Assign:
    """The same for points that are assigned once; small cells need none of the other's preparations."""
    from shoal.kernels.transport.flow import transport

    def assign(centres: Float, sizes: Int, costs: Float) -> tuple[Int, Float]:
        if len(X) >= _SMALL * len(sizes):
            return exact_solver(X)(centres, sizes, costs)
        labels, found = transport(X, np.ascontiguousarray(centres), sizes, sizes, True, costs)
        return labels, found - found.mean()

    return assign


def numeric_solver(X: Float) -> Assign:
    """By costs that Levenberg and Marquardt's method adjusts; sizes may be a record or two off."""

    def assign(centres: Float, sizes: Int, costs: Float) -> tuple[Int, Float]:
        found = adjust_costs(X, centres, sizes, costs)
        return found.labels, found.costs

    return assign


def solver_for(distortion: Distortion, weights: Float | None = None) -> Solver:
    """The exact assignment for any distortion."""
    if isinstance(distortion, Squared) and weights is None:
        return exact_solver
    return lambda X: lambda centres, sizes, costs: assign_by_costs(distortion, X, centres, sizes, costs, weights)


def centroids_of(distortion: Distortion, X: Float, labels: Int, cells: int, weights: Float | None = None) -> Float:
    """The generalised centroid of each cell; one without records has none and stays where it is (NaN)."""
    if isinstance(distortion, Squared) and weights is None and np.bincount(labels, minlength=cells).min() > 0:
        return means_of(X, labels)
    places = np.full((cells, X.shape[1]), np.nan)
    for cell, members in members_of(labels, cells):
        places[cell] = distortion.centroid(X[members], None if weights is None else weights[members])
    return places


def members_of(labels: Int, cells: int) -> Iterator[tuple[int, Int]]:
    """The records of each cell that has any."""
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=cells))
    for cell, members in enumerate(np.split(order, ends[:-1])):
        if len(members):
            yield cell, members


def distortion_to(
    distortion: Distortion, X: Float, places: Float, labels: Int, weights: Float | None = None
) -> float:
    """The sum of what all records cost at the points of their cells."""
    if isinstance(distortion, Squared) and weights is None:
        return squared_error(X, places, labels)
    masses = np.ones(len(X)) if weights is None else weights
    return sum(
        total_cost(distortion, X[members], masses[members], places[cell])
        for cell, members in members_of(labels, len(places))
    )


def lloyd_rounds(
    X: Float,
    sizes: Int | Float,
    cells: Cells,
    distortion: Distortion,
    solver: Solver,
    speed: float,
    rounds: int,
    tolerance: float,
    weights: Float | None = None,
    revive: Revive | None = None,
) -> Iterator[Cells]:
    """The cells after each round, until one gains too little."""
    revive = revive or revived
    assign = solver(X)
    for _ in range(rounds):
        labels, costs = assign(cells.centres, sizes, cells.costs)
        places = centroids_of(distortion, X, labels, len(sizes), weights)
        history = [*cells.history, distortion_to(distortion, X, places, labels, weights)]
        cells = Cells(cells.centres, costs, labels, history)
        yield cells
        if len(history) > 1 and not history[-1] < history[-2] * (1 - tolerance):
            return
        cells = revive(cells, places, X)
        moved = cells.centres + speed * (places - cells.centres)
        cells = replace(cells, centres=np.where(np.isnan(places), cells.centres, moved))


def revived(cells: Cells, places: Float, X: Float) -> Cells:
    """Cells without records, which only the numeric method leaves, split the largest ones.

    Each is reset to a record of a large cell, at that cell's cost: the one farthest from its centroid.
    """
    empty = np.flatnonzero(np.isnan(places).any(axis=1))
    if not len(empty):
        return cells
    centres, costs = cells.centres.copy(), cells.costs.copy()
    largest = np.argsort(-np.bincount(cells.labels, minlength=len(places)), kind="stable")
    for cell, large in zip(empty, largest, strict=False):
        members = np.flatnonzero(cells.labels == large)
        away = ((X[members] - places[large]) ** 2).sum(axis=1)
        centres[cell], costs[cell] = X[members[away.argmax()]], costs[large]
    return replace(cells, centres=centres, costs=costs)


def drawn_anew(cells: Cells, places: Float, X: Float, rng: np.random.Generator) -> Cells:
    """Cells without records by the rule of 2011: each at a record drawn at random, at the lowest of all costs."""
    empty = np.isnan(places).any(axis=1)
    if not empty.any():
        return cells
    centres, costs = cells.centres.copy(), cells.costs.copy()
    centres[empty] = X[rng.integers(len(X), size=np.count_nonzero(empty))]
    costs[empty] = costs[~empty].min()
    return replace(cells, centres=centres, costs=costs)


def noisy_rounds(
    X: Float,
    sizes: Int | Float,
    cells: Cells,
    solver: Solver,
    rounds: int,
    copies: int,
    rng: np.random.Generator,
    revive: Revive | None = None,
) -> Iterator[Cells]:
    """Rounds on shaken copies of the records, whose noise falls geometrically.

    One copy alone stands for the records; several stand beside them, as in the noisy variation of 2011.
    """
    revive = revive or revived
    labels = np.zeros(len(X), np.int64)
    for factor in np.geomspace(*_NOISE, rounds):
        spread = np.sqrt(squared_error(X, means_of(X, labels), labels) / X.size)
        shaken = [X + rng.normal(size=X.shape) * (factor * spread) for _ in range(copies)]
        cloud = np.concatenate(shaken if copies == 1 else [X, *shaken])
        spots, costs = solver(cloud)(cells.centres, sizes * (len(cloud) // len(X)), cells.costs)
        labels = spots[: len(X)]
        source, marks = (X, labels) if copies == 1 else (cloud, spots)
        places = centroids_of(Squared(), source, marks, len(sizes))
        cells = revive(Cells(cells.centres, costs, labels, []), places, X)
        cells = replace(cells, centres=np.where(np.isnan(places), cells.centres, places))
        labels = np.unique(labels, return_inverse=True)[1]
        yield cells


def swap(X: Float, labels: Int) -> bool:
    """Let pairs of records trade places wherever that lowers the SSE, in place; whether any did."""
    from shoal.kernels.exchanges.swap import new_swapping, swap_records
    from shoal.kernels.search_tree.tree import build_tree

    groups = new_swapping(X, labels)
    count, swaps = len(groups.size), 0
    for _ in range(100):
        groups.centre[:] = means_of(X, groups.label)
        tree = build_tree(groups.centre, np.arange(count, dtype=np.int32))
        found = swap_records(groups, tree, min(_NEAR, count))
        swaps += found
        if not found:
            break
    labels[:] = groups.label
    return swaps > 0


def shared_out(n: int, shares: Float) -> Int:
    """n records in whole numbers by the given shares, the largest remainders rounded up, the first of equals."""
    exact = n * shares / shares.sum()
    sizes: Int = np.floor(exact).astype(np.int64)
    sizes[np.argsort(sizes - exact, kind="stable")[: n - sizes.sum()]] += 1
    return sizes
