"""Costs that give every cell its prescribed share of the points: Levenberg-Marquardt, as the PCL paper has it.

A point x belongs to the cell q where |x - centre_q|^2 + cost_q is least. The shares p_Q(c) of the cells follow
from the costs c, and p(c) = p_Q(c) - p_0 = 0 is solved as a least-squares problem:

1. The Jacobian J by finite differences: the cost of one cell at a time is raised until 5 % of its points leave
   (Brent's method), each for its second-best cell. One pass over the points gives all columns.
2. A symmetric negative semidefinite matrix near it, as the true one is: see `refinement`.
3. A direction d from (J'J + mu D) d = -J'p, where D is the diagonal of J'J (Marquardt) or the identity (Tychonov).
4. Backtracking along d by Armijo's rule on |p|^2.

The method needs some hundred points in a cell: below, the shares are no smooth function of the costs. It ends
within a record or so of each size, not on it; where the data are tied it may end farther off, and says how far.

Cost: one pass over points times cells, then for each step only over the points near a border; O(n) memory beside
the Jacobian, which is dense up to 200 cells and sparse beyond.

Reference: D. Rebollo-Monedero, J. Forné, E. Pallarès and J. Parra-Arnau, A modification of the Lloyd algorithm for
k-anonymous quantization, Information Sciences 222 (2013) 185-202, Appendix A.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError
from shoal.parameters import Number, OneOf, Whole

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Cells = NDArray[np.int32]

_MOST_DENSE = 200  # cells up to which the Jacobian is a dense matrix and loses its positive eigenvalues
_ARMIJO = 1e-4  # part of the decrease foreseen that a step must bring
_HALVINGS = 12
_FAILURES = 4  # directions in a row along which nothing is gained
_LEAST_MU, _MOST_MU = 1e-10, 1e6
_FLAT = 1e-9  # rises and curvatures below this part of the largest count as this part
_CG_ROUNDS, _CG_RESIDUAL = 1000, 1e-8


class Adjusted(NamedTuple):
    """Costs and what comes of them."""

    costs: Float
    counts: Int  # records in each cell
    labels: Int  # the cell of each record
    iterations: int
    error: float  # records by which the cell farthest off misses its size


def adjust_costs(
    points: Float,
    centres: Float,
    sizes: ArrayLike,
    costs: ArrayLike | None = None,
    *,
    damping: str = "marquardt",
    mu: float = 1e-3,
    iterations: int = 300,
    tolerance: float = 1.0,
    change: float = 0.05,
    refinement: str = "balanced",
) -> Adjusted:
    """Find costs under which each cell holds its share of the points.

    Parameters
    ----------
    points : array of shape (n, m)
        The records.
    centres : array of shape (cells, m)
        One for each cell; they stay where they are.
    sizes : array of shape (cells,)
        Records or shares, all above 0; only their proportions matter.
    costs : array of shape (cells,), optional
        Where to begin; zeros if not given. Only differences of costs matter; their mean is kept.
    damping : {"marquardt", "tychonov"}
        What mu multiplies: the diagonal of J'J, or the identity (times the mean of that diagonal, so that mu has
        no unit).
    mu : float
        The damping to begin with. It is divided by 10 after a full step and multiplied by 10 after a failed one.
    iterations : int
        Steps at most.
    tolerance : float
        Stop when no cell misses its size by more records than this.
    change : float
        The share of a cell's points that leave when its column of the Jacobian is taken. It is halved while
        directions fail, because what is left to move is then finer than the Jacobian sees.
    refinement : {"balanced", "nearest"}
        How the estimated Jacobian is made symmetric and negative semidefinite. "nearest" is the paper's: the
        symmetric part, positive eigenvalues set to zero; above 200 cells the symmetric part alone. "balanced"
        takes the symmetric part off the diagonal and the diagonal from it, so that a common rise of all costs
        moves no point: a Laplacian, semidefinite as it stands. It needs far fewer points in a cell.

    Notes
    -----
    A cell without points has no column in the Jacobian. It is given a cost once at which it takes its size from
    the points nearest to it, and no later step may empty a cell. If a cell stays empty all the same (its centre
    equals another), the count says so and the caller should move its centre.
    """
    damping = OneOf(("marquardt", "tychonov")).check("damping", damping)
    mu = Number(0.0).check("mu", mu)
    change = Number(0.0, 1.0).check("change", change)
    tolerance = Number(0.0).check("tolerance", tolerance)
    iterations = Whole(0).check("iterations", iterations)
    balanced = OneOf(("balanced", "nearest")).check("refinement", refinement) == "balanced"
    problem = Problem(points, centres, sizes)
    state = problem.fill_empty(problem.look(problem.first_costs(costs)))
    done = failures = 0
    while done < iterations and failures < _FAILURES and problem.error(state) > tolerance:
        done += 1
        jacobian = symmetric(problem.jacobian(state, change / 2**failures), balanced)
        step, slope = direction(jacobian, problem.residual(state.counts), damping, max(mu, _LEAST_MU))
        share = problem.backtrack(state, step, slope)
        if share is None:
            failures += 1
            mu = min(max(10 * mu, _LEAST_MU), _MOST_MU)
            continue
        failures = 0
        state = problem.shifted(state, share * step)
        if share == 1.0:
            mu /= 10
    return Adjusted(state.costs, state.counts, state.best.astype(np.int64), done, problem.error(state))


class State(NamedTuple):
    """Costs, and how the points lie under them."""

    costs: Float
    best: Cells  # the cell of each point
    second: Cells  # the cell it would go to next; UNKNOWN for many that are far from a border
    gap: Float  # how much its cell's cost may rise before it goes; then a lower bound
    counts: Int


class Problem:
    """Points, centres and sizes, and the shares that costs give."""

    def __init__(self, points: Float, centres: Float, sizes: ArrayLike) -> None:
        self.points = np.ascontiguousarray(points, float)
        self.across = np.ascontiguousarray(np.asarray(centres, float).T)
        self.cells = self.across.shape[1]
        shares = np.asarray(sizes, float)
        if shares.shape != (self.cells,):
            raise ShoalError(f"sizes must be one for each of {self.cells} centres, not {shares.size}")
        if not (np.isfinite(shares).all() and (shares > 0).all()):
            raise ShoalError("sizes must be numbers above 0; leave out the cells that shall be empty")
        self.shares = shares / shares.sum()
        self.wanted = self.shares * len(self.points)
        reach = np.abs(self.points).max(axis=0) + np.abs(self.across).max(axis=1)
        self.rounding = 1e-14 * float(reach @ reach)  # more than the error of a gap

    def first_costs(self, costs: ArrayLike | None) -> Float:
        """The costs given, or zeros."""
        first = np.zeros(self.cells) if costs is None else np.array(costs, float)
        if first.shape != (self.cells,) or not np.isfinite(first).all():
            raise ShoalError(f"costs must be one finite number for each of {self.cells} centres")
        return first

    def look(self, costs: Float) -> State:
        """One pass over the points."""
        from shoal.kernels.transport.shift import two_best

        n = len(self.points)
        best, second, gap = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n)
        two_best(self.points, self.across, costs, best, second, gap)
        return State(costs, best, second, gap, np.bincount(best, minlength=self.cells))

    def residual(self, counts: Int) -> Float:
        """p(c): the shares less the prescribed ones."""
        return np.asarray(counts / len(self.points) - self.shares)

    def error(self, state: State) -> float:
        """Records by which the cell farthest off misses its size."""
        return float(np.abs(state.counts - self.wanted).max())

    def shifted(self, state: State, step: Float) -> State:
        """The state after a step; the arrays of the old one are used up."""
        from shoal.kernels.transport.shift import shift

        costs = state.costs + step
        _, best, second, gap, counts = state
        shift(self.points, self.across, costs, self.rise(costs, step), best, second, gap, counts)
        return State(costs, best, second, gap, counts)

    def rise(self, costs: Float, step: Float) -> Float:
        """How much a step lifts each cell against the one lifted least, and a little for rounding."""
        return np.asarray((step - step.min()) * (1 + 1e-9) + (self.rounding + 1e-14 * np.abs(costs).max()))

    def fill_empty(self, state: State) -> State:
        """Lower the cost of each cell without points until it takes its size from those nearest to it.

        Again, if that has emptied others, as long as |p|^2 falls.
        """
        while not state.counts.all() and len(self.points) > 1:
            costs = state.costs.copy()
            paid = self.values(state.best, costs)
            for q in map(int, np.flatnonzero(state.counts == 0)):
                here = self.values(q, costs)
                most = min(max(round(self.wanted[q]), 1), len(paid) - 1)
                lead = np.partition(here - paid, [most - 1, most])[most - 1 : most + 1].mean()
                costs[q] -= lead
                paid = np.minimum(paid, here - lead)
            filled = self.look(costs + (state.costs - costs).mean())
            if square(self.residual(filled.counts)) >= square(self.residual(state.counts)):
                break
            state = filled
        return state

    def values(self, cells: Cells | int, costs: Float) -> Float:
        """Squared distance + cost of each point in a cell."""
        away = self.points - self.across.T[cells]
        return np.asarray(np.einsum("ij,ij->i", away, away) + costs[cells])

    def backtrack(self, state: State, step: Float, slope: float) -> float | None:
        """The first of the shares 1, 1/2, 1/4 ... of a step that gains enough.

        |p|^2 must fall by a part of what its slope foresees (Armijo), and no cell may lose its last point.
        """
        from shoal.kernels.transport.shift import count_shifted

        now = square(self.residual(state.counts))
        filled = state.counts > 0
        share = 1.0
        for _ in range(_HALVINGS):
            costs = state.costs + share * step
            rise = self.rise(costs, share * step)
            counts = count_shifted(self.points, self.across, costs, state.best, state.gap, rise)
            then = square(self.residual(counts))
            if then < now and then <= now + 2 * _ARMIJO * share * slope and (counts[filled] > 0).all():
                return share
            share /= 2
        return None

    def jacobian(self, state: State, change: float) -> "Jacobian":
        """Finite differences: where the points of each cell go when the share `change` of them leave."""
        from shoal.kernels.transport.shift import rises, uncover

        _, best, second, gap, counts = state
        while True:
            rise = rises(best, gap, counts, change)
            rise = np.where(counts > 0, np.maximum(rise, _FLAT * rise.max()), 0.0)
            if not uncover(self.points, self.across, state.costs, 2 * rise, best, second, gap):
                break
        leaving = gap < rise[best]
        places, moves = np.unique(second[leaving] * np.int64(self.cells) + best[leaving], return_counts=True)
        rows, columns = np.divmod(places, self.cells)
        unit = float(rise.sum() / max(np.count_nonzero(rise), 1))
        entries = moves / len(best) / (rise[columns] / unit)
        return Jacobian(rows, columns, entries, -sums_of(columns, entries, self.cells), unit)


class Jacobian(NamedTuple):
    """The entries of a Jacobian off its diagonal and the diagonal, for costs in a unit of their own."""

    rows: Int
    columns: Int
    entries: Float
    diagonal: Float
    unit: float  # the mean rise


def square(vector: Float) -> float:
    """The squared length of a vector."""
    return float(vector @ vector)


def sums_of(places: Int, entries: Float, cells: int) -> Float:
    """The sum of the entries at each place."""
    return np.asarray(np.bincount(places, entries, cells), float)


def symmetric(jacobian: Jacobian, balanced: bool) -> Jacobian:
    """The symmetric part; balanced, its diagonal makes every row sum to zero."""
    rows, columns, entries, diagonal, unit = jacobian
    cells = len(diagonal)
    both = np.concatenate([rows * cells + columns, columns * cells + rows])
    places, where = np.unique(both, return_inverse=True)
    halves = np.bincount(where, np.concatenate([entries, entries]) / 2, len(places)).astype(float)
    rows, columns = np.divmod(places, cells)
    if balanced:
        diagonal = -sums_of(rows, halves, cells)
    return Jacobian(rows, columns, halves, diagonal, unit)


def direction(jacobian: Jacobian, residual: Float, damping: str, mu: float) -> tuple[Float, float]:
    """The step of costs that solves the damped normal equation, and the slope of |p|^2 / 2 along it."""
    cells = len(residual)
    matrix = Dense(jacobian) if cells <= _MOST_DENSE else Sparse(jacobian)
    curvature = matrix.curvature()
    if not curvature.any():
        return np.zeros(cells), 0.0
    if damping == "marquardt":
        weights = np.maximum(curvature, _FLAT * curvature.max())
    else:
        weights = np.full(cells, curvature.mean())
    gradient = matrix.times(residual)
    step = matrix.solve(mu * weights, -gradient)
    return (step - step.mean()) * jacobian.unit, float(gradient @ step)


class Dense:
    """The negative semidefinite matrix nearest to a symmetric one: its positive eigenvalues are set to zero."""

    def __init__(self, jacobian: Jacobian) -> None:
        whole = np.diag(jacobian.diagonal)
        whole[jacobian.rows, jacobian.columns] = jacobian.entries
        eigenvalues, vectors = np.linalg.eigh(whole)
        self.whole = (vectors * np.minimum(eigenvalues, 0.0)) @ vectors.T

    def times(self, vector: Float) -> Float:
        """J times a vector."""
        return np.asarray(self.whole @ vector)

    def curvature(self) -> Float:
        """The diagonal of J'J."""
        return np.asarray((self.whole * self.whole).sum(axis=0))

    def solve(self, damping: Float, right: Float) -> Float:
        """The solution d of (J'J + damping) d = right; damping is a diagonal."""
        return np.asarray(np.linalg.solve(self.whole @ self.whole + np.diag(damping), right))


class Sparse:
    """A symmetric matrix by its entries; if anything in its spectrum is positive, it stays.

    J'J is positive semidefinite all the same, so that conjugate gradients hold.
    """

    def __init__(self, jacobian: Jacobian) -> None:
        self.rows, self.columns, self.entries, self.diagonal, _ = jacobian

    def times(self, vector: Float) -> Float:
        """J times a vector."""
        across = sums_of(self.rows, self.entries * vector[self.columns], len(vector))
        return np.asarray(across + self.diagonal * vector)

    def curvature(self) -> Float:
        """The diagonal of J'J."""
        across = sums_of(self.rows, self.entries * self.entries, len(self.diagonal))
        return np.asarray(across + self.diagonal * self.diagonal)

    def solve(self, damping: Float, right: Float) -> Float:
        """The solution d of (J'J + damping) d = right, by conjugate gradients with the diagonal divided out."""
        scale = self.curvature() + damping
        solution = np.zeros(len(right))
        residual = right
        search = residual / scale
        rest = first = float(residual @ search)
        for _ in range(_CG_ROUNDS):
            if rest <= _CG_RESIDUAL**2 * first:
                break
            image = self.times(self.times(search)) + damping * search
            length = rest / float(search @ image)
            solution = solution + length * search
            residual = residual - length * image
            scaled = residual / scale
            rest, before = float(residual @ scaled), rest
            search = scaled + rest / before * search
        return solution
