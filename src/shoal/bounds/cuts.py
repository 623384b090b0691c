"""Sharper prices for a list of groups: cuts on three records each.

Of the groups that hold at least two of three given records, a partition can use only one. The linear program
does not know that; told so where it matters, its bound rises, and more groups turn out to be in no better
partition. Each cut in force has a fine, at most 0; it is put on the reduced costs of the groups concerned.
"""

from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.pricing import Prices, Problem, Stopped, counts_of

if TYPE_CHECKING:
    from shoal.kernels.proofs.cover import Groups

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_ROUNDS = 30
_MOST_AT_ONCE = 100  # cuts that a round adds
_VIOLATION = 1e-3


class Sharpened(NamedTuple):
    """The groups that a partition below the goal can use, with new reduced costs."""

    groups: "Groups"
    toll: float
    base: float  # the sum of prices and fines
    bound: float  # no partition of the groups below the goal costs less


def sharpen(
    problem: Problem, groups: "Groups", prices: Prices, goal: float, scale: float, stopped: Stopped
) -> Sharpened:
    """Add cuts and drop groups until the bound reaches the goal or no cut is violated."""
    most = problem.most_groups
    table, weights = counts_of(problem, groups)
    costs = groups.costs
    best = Sharpened(groups, prices.toll, float(prices.record.sum()), prices.bound)
    cuts: list[tuple[int, ...]] = []
    for _ in range(_ROUNDS):
        solved = solve(table, weights, costs / scale, cuts, most)
        if solved is None or stopped():
            break
        x, record, toll, fines = solved
        concerned = concerns(table, cuts)
        reduced = costs - scale * (table.T @ record + concerned.T @ fines) - scale * toll
        lowest = min(float(reduced.min()), 0.0)
        toll = scale * toll + lowest
        base = scale * float(weights @ record + fines.sum())
        if base + most * toll > best.bound:
            best = Sharpened(best.groups._replace(reduced=reduced - lowest), toll, base, base + most * toll)
            useful = best.groups.reduced < goal - best.bound
            best = best._replace(groups=chosen(best.groups, useful))
            table, costs, x = table[:, useful], costs[useful], x[useful]
        if best.bound >= goal or not len(costs):
            break
        new = violated(table, weights, x, set(cuts))
        if not new:
            break
        cuts += new
    return best._replace(groups=ordered(best.groups))


def solve(
    table: Float, weights: Int, costs: Float, cuts: list[tuple[int, ...]], most: int
) -> tuple[Float, Float, float, Float] | None:
    """The linear program with its cuts: how much of each group, prices, toll, fines."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    rows: Any = csr_array(np.vstack([np.ones(len(costs)), concerns(table, cuts)]))
    limits = np.concatenate([[most], np.ones(len(cuts))])
    result = linprog(costs, A_eq=csr_array(table), b_eq=weights, A_ub=rows, b_ub=limits, method="highs-ds")
    if result.status != 0:
        return None
    fines = np.minimum(result.ineqlin.marginals, 0.0)
    return result.x, result.eqlin.marginals, float(fines[0]), fines[1:]


def concerns(table: Float, cuts: list[tuple[int, ...]]) -> Float:
    """For each cut, 1 for every group that has two or more of its records."""
    if not cuts:
        return np.zeros((0, table.shape[1]))
    return np.array([table[list(cut)].sum(axis=0) >= 2 for cut in cuts], dtype=np.float64)


def violated(table: Float, weights: Int, x: Float, known: set[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The new cuts that the solution breaks most; only points of one record are cut."""
    used = x > 1e-9
    part, amount = table[:, used], x[used]
    single = weights == 1
    shared = (part * amount) @ part.T
    np.fill_diagonal(shared, 0.0)
    found: dict[tuple[int, ...], float] = {}
    for i in np.flatnonzero(single):
        for j, h in combinations(np.flatnonzero((shared[i] > _VIOLATION) & single).tolist(), 2):
            cut = tuple(sorted((int(i), j, h)))
            if cut not in found and cut not in known:
                total = shared[i, j] + shared[i, h] + shared[j, h]
                if total > 1 + _VIOLATION:
                    excess = total - 2 * float(amount @ (part[i] * part[j] * part[h])) - 1
                    if excess > _VIOLATION:
                        found[cut] = excess
    return sorted(found, key=lambda cut: (-found[cut], cut))[:_MOST_AT_ONCE]


def chosen(groups: "Groups", stays: NDArray[np.bool_]) -> "Groups":
    """Some of the groups."""
    before = np.concatenate([[0], np.cumsum(stays)])
    return type(groups)(
        groups.masks[stays],
        groups.sizes[stays],
        groups.costs[stays],
        groups.reduced[stays],
        before[groups.starts],
    )


def ordered(groups: "Groups") -> "Groups":
    """Each anchor's groups by rising reduced cost again."""
    anchor = np.repeat(np.arange(len(groups.starts) - 1), np.diff(groups.starts))
    order = np.lexsort((groups.reduced, anchor))
    return type(groups)(
        groups.masks[order], groups.sizes[order], groups.costs[order], groups.reduced[order], groups.starts
    )
