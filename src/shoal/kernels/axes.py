"""The covariance of the attributes and the coordinates of records along axes.

Sums run record by record and attribute by attribute on one thread, so equal records get equal coordinates and
the same input gives the same bits; the matrix products of a linear algebra library promise neither.
"""

import numpy as np

from shoal.kernels.compiled import Array, kernel


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
