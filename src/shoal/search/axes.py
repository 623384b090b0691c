"""Wide tables on fewer axes, for searches that measure distances many times."""

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


def on_fewer_axes(X: Float) -> Float:
    """The points of a wide table on fewer axes than attributes; any other table as it is.

    n points lie in a space of n - 1 axes, so a table with as many attributes as records, or more, is turned until
    these hold it all. Distances stay but for rounding, about 1e-15 of the widest one. So this is for searches for
    a low SSE alone: who promises the groups of a paper, ties included, measures the points as given. Equal
    records stay equal, and the same table gives the same coordinates, on any number of threads.
    """
    from shoal.kernels.sums.axes import fill_fewer_axes

    n, m = X.shape
    if m < n or n == 1:
        return X
    centred = X - X.mean(axis=0)
    size = int(np.frexp(np.abs(centred).max())[1])  # so that no square overflows or vanishes
    turned = np.zeros((n, n - 1))
    axes = max(1, fill_fewer_axes(np.ldexp(centred, -size), turned))
    return np.ldexp(turned[:, :axes], size)
