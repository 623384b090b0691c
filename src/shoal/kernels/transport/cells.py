"""The cells of a quantizer for squared distances: which one a point is in, and their polygons in the plane."""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel


@kernel
def cheapest_cells(rows: Array, columns: Array, price: Array, cells: Array) -> None:
    """The cell of each row where squared distance + price is least, the first of equals.

    columns has a row for each attribute and a column for each centroid.
    """
    groups = price.size
    total = np.empty(groups)
    for x in range(rows.shape[0]):
        total[:] = 0.0
        for j in range(rows.shape[1]):
            value = rows[x, j]
            for g in range(groups):
                difference = value - columns[j, g]
                total[g] += difference * difference
        best = 0
        least = total[0] + price[0]
        for g in range(1, groups):
            if total[g] + price[g] < least:
                least = total[g] + price[g]
                best = g
        cells[x] = best


@inner
def clip(corners: Array, count: int, a: float, b: float, limit: float, kept: Array) -> int:
    """The part of a convex polygon where a x + b y <= limit; returns its number of corners, written to `kept`."""
    size = 0
    for i in range(count):
        after = i + 1 if i + 1 < count else 0
        x, y, next_x, next_y = corners[i, 0], corners[i, 1], corners[after, 0], corners[after, 1]
        here = a * x + b * y - limit
        there = a * next_x + b * next_y - limit
        if here <= 0.0:
            kept[size, 0], kept[size, 1] = x, y
            size += 1
        if (here < 0.0 < there) or (there < 0.0 < here):
            share = here / (here - there)
            kept[size, 0], kept[size, 1] = x + share * (next_x - x), y + share * (next_y - y)
            size += 1
    return size


@kernel
def power_cell(cell: int, centres: Array, price: Array, corners: Array, kept: Array) -> int:
    """Cut a convex polygon of four corners down to a cell; returns how many corners are left.

    The corners are relative to the centroid of the cell; both arrays have room for 4 and one for each centroid.

    The cell is what all bisectors leave of the box: 2 (c_r - c_q).(x - c_q) <= |c_r - c_q|^2 + price_r - price_q.
    Of centroids that coincide, the one with the lower price, or the first, has the cell.
    """
    count = 4
    for other in range(centres.shape[0]):
        a, b = centres[other, 0] - centres[cell, 0], centres[other, 1] - centres[cell, 1]
        limit = (a * a + b * b + price[other] - price[cell]) / 2
        if a == 0.0 and b == 0.0:
            if limit < 0.0 or (limit == 0.0 and other < cell):
                count = 0
            continue
        count = clip(corners, count, a, b, limit, kept)
        for i in range(count):
            corners[i, 0], corners[i, 1] = kept[i, 0], kept[i, 1]
    return count if count > 2 else 0


def power_cells(centres: Array, price: Array, box: Array) -> list[Array]:
    """The corners of each cell in a box of four corners, in the order that these have."""
    cells = []
    for cell, centre in enumerate(centres):
        corners, kept = np.empty((4 + len(centres), 2)), np.empty((4 + len(centres), 2))
        corners[:4] = box - centre
        count = power_cell(cell, centres, price, corners, kept)
        cells.append(corners[:count] + centre)
    return cells
