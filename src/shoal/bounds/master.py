"""The linear program over the groups known so far, by an interior-point method.

It only proposes prices and fines, so it may stop early: prices from the middle of all good ones lead to fewer
rounds than those of a corner. Each price is kept in a range; two slack columns per row, at its ends, see to that.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Solver = Callable[[Float], Float]
Factor = Callable[[Float], Solver]

_STEPS = 80
_RIDGE = 1e-13
_SPARSE = 1500  # above so many rows the matrix may be better kept sparse
_SHORT = 0.99  # of the way to the border that a step goes


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


def master(
    members: list[Int], costs: Float, weights: Int, cuts: Int, low: Float, high: Float
) -> tuple[Any, Float]:
    """The table of the linear program and its costs.

    members are the rows of each group, rising, a row repeated for equal records; weights how often each row has to
    be covered. cuts (three rows each) come below, for the groups that hold two or more of the three. low and high
    are the ranges of the prices.
    """
    from scipy.sparse import csc_array, eye_array, hstack, vstack

    n, groups = len(weights), len(members)
    starts = np.concatenate([[0], np.cumsum([len(group) for group in members])])
    rows = np.concatenate(members) if groups else np.empty(0, np.int64)
    cover = csc_array((np.ones(len(rows)), rows, starts), shape=(n, groups))
    cover.sum_duplicates()
    blocks = [hstack([cover, eye_array(n), -eye_array(n)])]
    if len(cuts):
        held = concerned(cover, cuts)
        empty = csc_array((len(cuts), 2 * n))
        blocks = [hstack([blocks[0], csc_array((n, len(cuts)))]), hstack([held, empty, eye_array(len(cuts))])]
    table = csc_array(vstack(blocks))
    table.sum_duplicates()
    table.sort_indices()
    return table, np.concatenate([costs, high, -low, np.zeros(len(cuts))])


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
