"""Points to cells of given sizes at the least total distortion, any distortion, with the costs that prove it.

An exact transport problem: every point is where distortion + cost is least, so nobody could do better alone, and
no other assignment with these sizes is better in all (Theorem 4 of Rebollo-Monedero, Forné, Pallarès and
Parra-Arnau 2013). A point knows a few cells at first; better ones are looked for among all until there are none.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError, some
from shoal.quantizing.distortions import Distortion, cost_chunks

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_KNOWN = 16  # cells that a point knows at first; all, where there are not twice as many
_KEPT = 1 << 23  # costs that are kept in memory; more are computed anew each time
_CROWD = 4  # points a cell beyond which the heaps of kernels/transport/crowds.py pay
_CROWD_CELLS = 2048  # beyond this a heap for each pair of cells takes too much memory

_SAMPLED = 16  # one point in so many is enough for the first costs of large cells


class Costs:
    """All costs of points at centres, each times the weight of the point, kept where they fit into memory."""

    def __init__(
        self, distortion: Distortion, points: Float, centres: Float, weights: Float | None = None
    ) -> None:
        self.distortion, self.points, self.centres, self.weights = distortion, points, centres, weights
        self._kept: Float | None = None
        if len(points) * len(centres) <= _KEPT:
            self._kept = np.concatenate([chunk for _, chunk in self._computed()])

    def _computed(self) -> Iterator[tuple[slice, Float]]:
        for rows, chunk in cost_chunks(self.distortion, self.points, self.centres):
            yield rows, chunk if self.weights is None else chunk * self.weights[rows, None]

    def chunks(self) -> Iterator[tuple[slice, Float]]:
        """The costs of some points at all centres at a time."""
        if self._kept is None:
            yield from self._computed()
        else:
            yield slice(0, len(self.points)), self._kept

    def column(self, cell: int) -> Float:
        """The costs of all points at one centre."""
        if self._kept is None:
            column = self.distortion.costs(self.points, self.centres[cell : cell + 1])[:, 0]
            return column if self.weights is None else column * self.weights
        return self._kept[:, cell]

    def some(self, each: int) -> "Costs":
        """The same for one point in so many."""
        weights = None if self.weights is None else self.weights[::each]
        return Costs(self.distortion, self.points[::each], self.centres, weights)


class Listed(Costs):
    """Costs that are given as an array."""

    def __init__(self, costs: Float) -> None:
        self.points, self.centres = costs, np.empty((costs.shape[1], 0))
        self._kept = costs

    def some(self, each: int) -> "Costs":
        """The same for one point in so many."""
        return Listed(self.points[::each])


def assign_by_costs(
    distortion: Distortion,
    points: Float,
    centres: Float,
    sizes: ArrayLike,
    prices: Float | None = None,
    weights: Float | None = None,
) -> tuple[Int, Float]:
    """The cell of each point and the cost of each cell, at the least total distortion for these sizes.

    Parameters
    ----------
    distortion : what a point costs at a centre
    points, centres : arrays of shape (n, m) and (c, m), as `distortion.check` returns them
    sizes : the number of points of each cell, n in all
    prices : costs of the cells that the search begins with, for instance those of a similar problem
    weights : what the distortion of each point is multiplied by

    Returns
    -------
    labels : the cell of each point; exactly `sizes` of each
    prices : the cost of each cell; a point is where distortion + cost is least
    """
    limits = checked_sizes(sizes, len(centres), "sizes")
    if limits.sum() != len(points):
        raise ShoalError(f"sizes add up to {limits.sum()}, but there are {len(points)} points")
    return assign_within(Costs(distortion, points, centres, weights), limits, limits, prices)


def checked_sizes(sizes: ArrayLike, cells: int, name: str) -> Int:
    """One whole number of at least 0 for each cell."""
    given = np.asarray(sizes)
    if given.shape != (cells,):
        raise ShoalError(
            f"{name} have the shape {given.shape}, but there are {cells} cells; give one number for each"
        )
    if given.dtype.kind not in "iu":
        raise ShoalError(f"{name} must be whole numbers, not {given.dtype}")
    if given.min() < 0:
        raise ShoalError(f"{name} must be at least 0, not {some(given[given < 0])}")
    return given.astype(np.int64)


def assign_within(costs: Costs, low: Int, high: Int, prices: Float | None = None) -> tuple[Int, Float]:
    """The same with sizes within limits: a cell below `high` has no cost above 0, one above `low` none below 0."""
    from shoal.kernels.transport.arcs import call_records, price_out_rows
    from shoal.kernels.transport.flow import solve_on_arcs

    n, cells = len(costs.points), len(costs.centres)

    def fill(known: int, arcs: Int, paid: Float, used: Int) -> None:
        for rows, chunk in costs.chunks():
            if known == cells:
                arcs[rows, :known] = np.arange(cells)
                paid[rows, :known] = chunk
            else:
                cheapest = np.sort(np.argpartition(chunk, known, axis=1)[:, :known], axis=1)
                arcs[rows, :known] = cheapest
                paid[rows, :known] = np.take_along_axis(chunk, cheapest, axis=1)
        for cell in range(cells if known < cells else 0):
            column = costs.column(cell)
            wanted = min(int(high[cell]), n)
            nearest = np.argpartition(column, wanted - 1)[:wanted] if wanted else np.empty(0, np.int64)
            call_records(nearest, cell, column, arcs, paid, used)

    def look_further(known: int, arcs: Int, paid: Float, used: Int, price: Float, labels: Int, pays: Float) -> int:
        if known == cells:
            return 0
        return sum(
            price_out_rows(chunk, rows.start, arcs, paid, used, price, labels, pays)
            for rows, chunk in costs.chunks()
        )

    known = cells if cells <= 2 * _KNOWN else _KNOWN
    crowded = n > _CROWD * cells and cells <= _CROWD_CELLS and n * known < 1 << 30
    if crowded and prices is None and n >= _SAMPLED * _SAMPLED:
        prices = sampled_prices(costs, low, high)
    return solve_on_arcs(n, low, high, prices, fill, look_further, known, crowded)


def sampled_prices(costs: Costs, low: Int, high: Int) -> Float:
    """Costs of the cells to begin with: those of a few of the points, with sizes in proportion."""
    sample = costs.some(_SAMPLED)
    n, few = len(costs.points), len(sample.points)
    return assign_within(sample, low * few // n, -(-high * few // n))[1]


def central_prices(costs: Costs, labels: Int, low: Int, high: Int, prices: Float) -> Float:
    """Costs of the cells with the same proof, in the middle of all that have it.

    The search leaves the points that it moved last exactly between two cells. In the middle, a point is nearer to
    its own cell than to any other, unless the sizes force a tie. O(cells^3).
    """
    from shoal.kernels.transport.arcs import lower_gaps, middle

    cells = len(prices)
    sizes = np.bincount(labels, minlength=cells)
    gaps = np.full((cells + 1, cells + 1), np.inf)  # the last one stands for no cost at all
    for rows, chunk in costs.chunks():
        lower_gaps(chunk, prices, labels[rows], gaps)
    gaps[:-1, -1] = np.where(sizes < high, np.maximum(-prices, 0), np.inf)
    gaps[-1, :-1] = np.where(sizes > low, np.maximum(prices, 0), np.inf)
    fixed = np.array_equal(low, high)
    limited = gaps[:-1, :-1] if fixed else gaps
    apart = limited[~np.eye(len(limited), dtype=bool)]
    widest = apart[np.isfinite(apart)].max(initial=0.0)
    shift = middle(np.minimum(limited, widest))
    moved = prices + shift[:cells] - (0.0 if fixed else shift[-1])
    return np.asarray(moved - moved.min() if fixed else moved)


def least_total(costs: Costs, low: Int, high: Int, prices: Float) -> float:
    """What these costs prove: no assignment with sizes within the limits has a lower total distortion."""
    total = sum(float((chunk + prices).min(axis=1).sum()) for _, chunk in costs.chunks())
    return total - float(np.where(prices > 0, high * prices, low * prices).sum())
