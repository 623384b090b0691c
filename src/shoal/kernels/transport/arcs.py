"""Arcs from records to groups at costs of any kind, which come as rows of numbers, some records at a time."""

import numpy as np

from shoal.kernels.compiled import Array, kernel
from shoal.kernels.transport.flow import add_arc


@kernel
def call_records(records: Array, group: int, column: Array, arcs: Array, costs: Array, used: Array) -> None:
    """Arcs to a group from some records, as far as there is room; column has the cost of every record there."""
    for x in records:
        add_arc(x, group, column[x], arcs, costs, used)


@kernel
def price_out_rows(
    rows: Array, start: int, arcs: Array, costs: Array, used: Array, price: Array, labels: Array, paid: Array
) -> int:
    """Look for arcs on which a record would do better, and add them; rows are the costs of records from `start`.

    Returns how many arcs were wanted; those beyond the width of `arcs` are left out for the next time.
    """
    wanted = 0
    for i in range(rows.shape[0]):
        x = start + i
        here = paid[x] + price[labels[x]]
        slack = 1e-13 * (abs(here) + abs(paid[x]))
        for g in range(rows.shape[1]):
            if rows[i, g] + price[g] < here - slack:
                before = used[x]
                if not add_arc(x, g, rows[i, g], arcs, costs, used) or used[x] > before:
                    wanted += 1
    return wanted


@kernel
def lower_gaps(rows: Array, price: Array, labels: Array, gaps: Array) -> None:
    """How much dearer each other group is for the record of a group that it is least dear for, kept in `gaps`.

    Rows has costs and labels the groups of the same records.
    """
    for i in range(rows.shape[0]):
        own = labels[i]
        here = rows[i, own] + price[own]
        for g in range(rows.shape[1]):
            gap = max(rows[i, g] + price[g] - here, 0.0)
            if gap < gaps[own, g]:
                gaps[own, g] = gap


@kernel
def middle(gaps: Array) -> Array:
    """Shifts u with u[g] - u[h] <= gaps[g, h] for all pairs, below it wherever that is possible.

    The lengths of the shortest ways from any one node to all others are such shifts, with some pairs at their
    limit; a pair that is at its limit in the mean over all nodes is so in every solution. O(nodes^3).
    """
    nodes = gaps.shape[0]
    length = gaps.T.copy()  # length[h, g]: u[g] may be that much above u[h]
    for a in range(nodes):
        length[a, a] = 0.0
    for via in range(nodes):
        for a in range(nodes):
            first = length[a, via]
            for b in range(nodes):
                if first + length[via, b] < length[a, b]:
                    length[a, b] = first + length[via, b]
    shift = np.zeros(nodes)
    for a in range(nodes):
        for b in range(nodes):
            shift[b] += length[a, b] / nodes
    return shift
