"""The linear program over some groups, by an interior-point method: prices of the points, fines, a toll.

Each point is covered as often as it has records; there are no more groups than the records suffice for; of the
groups that hold at least two of three given points, a partition can use only one (a cut). It only proposes, so it
may stop early: prices from the middle of all good ones lead to fewer rounds than those of a corner. Each price is
kept in a range; two slack columns per row, at its ends, see to that.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.points import Points

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Solver = Callable[[Float], Float]
Factor = Callable[[Float], Solver]

_STEPS = 80
_RIDGE = 1e-13
_SPARSE = 1500  # above so many rows the matrix may be better kept sparse
_SHORT = 0.99  # of the way to the border that a step goes
_LEFT_OVER = (
    0.005  # part of the records, beyond groups of k, from which the number of groups is a limit of its own
)
_USED = 1e-3  # how much of a group counts as used
_VIOLATION = 0.02  # and by how much a cut has to be broken
_CUTS_AT_ONCE = 250


class Solution(NamedTuple):
    """How much of each column is used, the price of each row, and the value."""

    x: Float
    prices: Float
    value: float


def interior_point(table: Any, right: Float, costs: Float, tolerance: float) -> Solution:
    """Minimise costs @ x with table @ x = right, x >= 0, to a relative gap; table is a csc_array, its rows rising.

    Mehrotra's predictor and corrector on the normal equations.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(1):  # a second thread that has to wait for a core costs more than it gains
        return _interior_point(table, right, costs, tolerance)


def dense_factor(table: Any) -> Factor:
    """A Cholesky factor of table @ diag(weights) @ table.T, for any weights, as what solves with it."""
    from scipy.linalg import cho_factor, cho_solve

    from shoal.kernels.proofs.normal import fill_normal

    starts, rows = table.indptr.astype(np.int64), table.indices.astype(np.int64)
    matrix = np.empty((table.shape[0], table.shape[0]))
    diagonal = np.arange(len(matrix))

    def factor(weights: Float) -> Solver:
        fill_normal(starts, rows, table.data, weights, matrix)
        matrix[diagonal, diagonal] += _RIDGE * matrix[diagonal, diagonal].max()
        found = cho_factor(matrix, lower=True, check_finite=False)
        return lambda right: cho_solve(found, right, check_finite=False)

    return factor


def sparse_factor(table: Any) -> Factor:
    """The same for a table of many rows whose groups lie apart from each other."""
    from scipy.sparse import csc_array, diags_array
    from scipy.sparse.linalg import splu

    transposed = table.T.tocsr()

    def factor(weights: Float) -> Solver:
        matrix = csc_array((table @ diags_array(weights)) @ transposed)
        ridge = diags_array(np.full(matrix.shape[0], _RIDGE * matrix.diagonal().max()))
        found = splu(
            csc_array(matrix + ridge),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        return lambda right: np.asarray(found.solve(right))

    return factor


def _interior_point(table: Any, right: Float, costs: Float, tolerance: float) -> Solution:
    from scipy.linalg import LinAlgError

    transposed = table.T.tocsr()
    sparse = len(right) > _SPARSE and (abs(table) @ abs(transposed)).nnz < 0.05 * len(right) ** 2
    factor = (sparse_factor if sparse else dense_factor)(table)
    x, y, z = start_of(table, transposed, right, costs, factor(np.ones(len(costs))))
    size_right, size_costs = 1 + np.abs(right).max(), 1 + np.abs(costs).max()
    for _ in range(_STEPS):
        missing, unpriced = right - table @ x, costs - transposed @ y - z
        value = float(costs @ x)
        if (
            abs(value - right @ y) < tolerance * (1 + abs(value))
            and np.abs(missing).max() < 1e-5 * size_right
            and np.abs(unpriced).max() < 1e-5 * size_costs
        ):
            break
        weights = x / z
        try:
            solved = factor(weights)
        except (LinAlgError, RuntimeError):  # singular, as far as doubles can tell
            break

        def direction(aim: Float) -> tuple[Float, Float, Float]:
            dy = solved(missing + table @ (weights * unpriced - aim / z))  # noqa: B023
            dz = unpriced - transposed @ dy  # noqa: B023
            return (aim - x * dz) / z, dy, dz  # noqa: B023

        centre = x @ z / len(x)
        dx, dy, dz = direction(-x * z)
        ahead = (x + reach(x, dx) * dx) @ (z + reach(z, dz) * dz) / len(x)
        dx, dy, dz = direction((ahead / centre) ** 3 * centre - x * z - dx * dz)
        if not (np.isfinite(dx).all() and np.isfinite(dy).all()):
            break
        along, across = _SHORT * reach(x, dx), _SHORT * reach(z, dz)
        x, y, z = x + along * dx, y + across * dy, z + across * dz
    return Solution(x, y, float(costs @ x))


def start_of(
    table: Any, transposed: Any, right: Float, costs: Float, solved: Solver
) -> tuple[Float, Float, Float]:
    """Mehrotra's starting point."""
    x = transposed @ solved(right)
    y = solved(table @ costs)
    z = costs - transposed @ y
    x += max(-1.5 * x.min(), 0.0) + 1e-3
    z += max(-1.5 * z.min(), 0.0) + 1e-3
    both = x @ z
    return x + 0.5 * both / z.sum(), y, z + 0.5 * both / x.sum()


def reach(values: Float, change: Float) -> float:
    """How far the values can go along the change, at most 1, and stay at least 0."""
    falling = change < 0
    return min(1.0, float((-values[falling] / change[falling]).min())) if falling.any() else 1.0


class Duals(NamedTuple):
    """A price for each point, a fine (at least 0) for each cut of three points, a toll (at most 0) for each group.

    No partition costs less than all prices less all fines and as many tolls as it may have groups, if no group
    undercuts them: costs less than its prices, less the fines of the cuts of which it holds two, and the toll.
    """

    prices: Float
    cuts: Int
    fines: Float
    toll: float = 0.0

    def value(self, points: Points) -> float:
        """What they come to, if no group undercuts them."""
        paid = float(points.weights @ self.prices) - float(self.fines.sum())
        return paid + points.most_groups * self.toll

    def scaled(self, factor: float) -> "Duals":
        """All of them times a factor."""
        return Duals(self.prices * factor, self.cuts, self.fines * factor, self.toll * factor)

    def reduced(self, cover: Any, costs: Float) -> Float:
        """By how much each group costs more; those below 0 undercut them."""
        fined = concerned(cover, self.cuts).T @ self.fines
        return np.asarray(costs - cover.T @ self.prices + fined - self.toll)


class Proposal(NamedTuple):
    """What a linear program proposes; `used` is how much of each group, `held` what its ranges hold back."""

    duals: Duals
    used: Float
    value: float
    held: float


def propose(
    points: Points, cover: Any, costs: Float, cuts: Int, low: Float, high: Float, scale: float, tolerance: float
) -> Proposal:
    """Prices between low and high, fines and toll for the groups of `cover`; `scale` is a cost of about 1."""
    n, groups = len(points.weights), len(costs)
    table, right, all_costs = master(points, cover, costs, cuts, low, high)
    solved = interior_point(table, right, all_costs / scale, tolerance)
    prices = np.nan_to_num(solved.prices * scale)
    charges = np.minimum(prices[n:], 0.0)
    duals = Duals(prices[:n], cuts, -charges[: len(cuts)], float(charges[len(cuts) :].sum()))
    return Proposal(duals, solved.x[:groups], solved.value * scale, float(solved.x[groups : groups + 2 * n].sum()))


def master(
    points: Points, cover: Any, costs: Float, cuts: Int, low: Float, high: Float
) -> tuple[Any, Float, Float]:
    """The table of the linear program, its right side and its costs.

    cover says how many records of each point (rows) each group (columns) holds. Below come the cuts, for the
    groups that hold two or more of the three points, then the number of groups where their sizes do not
    limit it anyway or almost. low and high are the ranges of the prices.
    """
    from scipy.sparse import block_array, csc_array, csr_array, eye_array, vstack

    n, groups = cover.shape
    most = [points.most_groups] if points.n % points.k > _LEFT_OVER * points.n else []
    limited = vstack([concerned(cover, cuts), csr_array(np.ones((len(most), groups)))])
    ends = [eye_array(n), -eye_array(n)]
    blocks = [[cover, *ends, None], [limited, None, None, eye_array(limited.shape[0])]]
    table = csc_array(block_array(blocks) if limited.shape[0] else block_array([[cover, *ends]]))
    table.sort_indices()
    right = np.concatenate([points.weights, np.ones(len(cuts)), most])
    return table, right, np.concatenate([costs, high, -low, np.zeros(limited.shape[0])])


def cover_of(rows: Int, sizes: Int, points: Points) -> Any:
    """How many records of each point (rows) each group (columns) holds, for groups listed one after the other.

    The points of a group are in rising order, repeated for equal records.
    """
    from scipy.sparse import csc_array

    starts = np.concatenate([[0], np.cumsum(sizes)])
    cover = csc_array((np.ones(len(rows)), rows, starts), shape=(len(points.weights), len(sizes)))
    cover.sum_duplicates()
    return cover


def concerned(cover: Any, cuts: Int) -> Any:
    """For each cut, 1 for every group that holds two or more of its records."""
    from scipy.sparse import csr_array

    picked = csr_array(
        (np.ones(cuts.size), cuts.ravel(), np.arange(0, cuts.size + 1, 3)), shape=(len(cuts), cover.shape[0])
    )
    held = (picked @ cover).tocsr()
    held.data = (held.data >= 2).astype(np.float64)
    held.eliminate_zeros()
    return held


def violated(cover: Any, used: Float, weights: Int, known: Int) -> Int:
    """The new cuts that a solution breaks most; only points of one record are cut."""
    single, old = weights == 1, set(map(tuple, known.tolist()))
    amount: dict[int, dict[int, float]] = {}
    holding: dict[int, list[int]] = {}
    sets: dict[int, set[int]] = {}
    for number in np.flatnonzero(used > _USED).tolist():
        points = cover.indices[cover.indptr[number] : cover.indptr[number + 1]]
        group = points[single[points]].tolist()
        sets[number] = set(group)
        for i in group:
            holding.setdefault(i, []).append(number)
            row = amount.setdefault(i, {})
            for j in group:
                if j > i:
                    row[j] = row.get(j, 0.0) + used[number]
    found: list[tuple[float, tuple[int, int, int]]] = []
    for i, row in amount.items():
        others = sorted(row)
        for place, j in enumerate(others):
            beside = amount.get(j, {})
            for h in others[place + 1 :]:
                total = row[j] + row[h] + beside.get(h, 0.0)
                if total > 1 + _VIOLATION and (i, j, h) not in old:
                    thrice = sum(used[g] for g in holding[i] if j in sets[g] and h in sets[g])
                    if total - 2 * thrice > 1 + _VIOLATION:
                        found.append((2 * thrice - total, (i, j, h)))
    return np.array([cut for _, cut in sorted(found)[:_CUTS_AT_ONCE]], np.int64).reshape(-1, 3)
