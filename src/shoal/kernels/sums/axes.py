"""The covariance of the attributes and the coordinates of records along axes, given ones or fewer than attributes.

Sums run record by record and attribute by attribute on one thread, so equal records get equal coordinates and
the same input gives the same bits; the matrix products of a linear algebra library promise neither.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel

ROUNDING = 1e-15  # of the longest row: what is left of rows below that is rounding


@kernel
def add_covariance(rows: Array, centre: Array, scale: float, total: Array) -> None:
    """Adds the products of the centred and scaled attributes of all rows, in pairs, to total."""
    m = rows.shape[1]
    shifted = np.empty(m)
    for i in range(rows.shape[0]):
        for j in range(m):
            shifted[j] = (rows[i, j] - centre[j]) * scale
        for a in range(m):
            for b in range(a + 1):
                total[a, b] += shifted[a] * shifted[b]
    for a in range(m):
        for b in range(a):
            total[b, a] = total[a, b]


@kernel
def fill_coordinates(rows: Array, centre: Array, axes: Array, out: Array) -> None:
    """The coordinate of each centred row along each axis; an axis is a row of axes."""
    m = rows.shape[1]
    shifted = np.empty(m)
    for i in range(rows.shape[0]):
        for j in range(m):
            shifted[j] = rows[i, j] - centre[j]
        for a in range(axes.shape[0]):
            total = 0.0
            for j in range(m):
                total += shifted[j] * axes[a, j]
            out[i, a] = total


@inner
def product(a: Array, b: Array) -> float:
    """The sum of products in four running sums: in one, each addition would wait for the one before."""
    sums = (0.0, 0.0, 0.0, 0.0)
    whole = a.size - a.size % 4
    for j in range(0, whole, 4):
        sums = (
            sums[0] + a[j] * b[j],
            sums[1] + a[j + 1] * b[j + 1],
            sums[2] + a[j + 2] * b[j + 2],
            sums[3] + a[j + 3] * b[j + 3],
        )
    total = (sums[0] + sums[1]) + (sums[2] + sums[3])
    for j in range(whole, a.size):
        total += a[j] * b[j]
    return total


@kernel
def fill_fewer_axes(rest: Array, out: Array) -> int:
    """The coordinates of rows along axes through the rows themselves; returns how many axes it took.

    Each axis goes through the row that the axes before say least about; its part is taken off all rows, until
    rounding is left or `out` is full. This is Gram and Schmidt's way, modified and pivoted. Uses up `rest`.
    """
    n, m = rest.shape
    norms, axis = np.empty(n), np.empty(m)
    for i in range(n):
        norms[i] = product(rest[i], rest[i])
    least = ROUNDING * ROUNDING * norms.max()
    for a in range(out.shape[1]):
        longest = np.argmax(norms)
        if not norms[longest] > least:
            return a
        length = np.sqrt(norms[longest])
        for j in range(m):
            axis[j] = rest[longest, j] / length
        for i in range(n):
            part = product(rest[i], axis)
            for j in range(m):
                rest[i, j] -= part * axis[j]
            out[i, a] = part
            norms[i] = product(rest[i], rest[i])
    return out.shape[1]
