"""Values on a line cut into groups of k to 2k - 1 at the least sum of squared errors: a shortest path.

Differences below 1e-300 times the range count as none. Of equal costs the shorter last group wins, from the
largest values down; equal values are taken by rising record index.
"""

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Progress

Float = NDArray[np.float64]
Int = NDArray[np.int64]

SCANNED = 60
"""Up to this k a scan of the starts is faster than SMAWK (benchmarks/univariate.py)."""

_BATCH = 200_000  # cuts settled between two looks at the outside world


def optimal_groups(values: Float, k: int, progress: Progress | None = None) -> Int:
    """The label of each value, from the smallest values up."""
    order = np.argsort(values, kind="stable")
    cuts, _ = shortest_path(values[order], k, k <= SCANNED, progress)
    labels = np.empty(len(values), np.int64)
    labels[order] = np.repeat(np.arange(len(cuts) - 1), np.diff(cuts))
    return labels


def shortest_path(ordered: Float, k: int, scan: bool, progress: Progress | None = None) -> tuple[Int, float]:
    """Where the groups of sorted values begin, with the end, and their SSE; by a scan or by SMAWK."""
    from shoal.kernels.rows.line import group_starts, new_path, settle_blocks, settle_first

    n, path = len(ordered), new_path(len(ordered), k)
    scaled, exponent = within_squares(ordered)
    settle_first(scaled, k, path)
    following = 2 * k
    batch = min(_BATCH, n // 10)
    while following <= n:
        following = settle_blocks(scaled, k, scan, path, following, following + batch + 1)
        if progress is not None:
            progress(following - 1, n)
    if progress is not None:
        progress(n, n)
    return group_starts(path.start), float(np.ldexp(path.high[n], -2 * exponent))


def within_squares(ordered: Float) -> tuple[Float, int]:
    """The values times a power of two that brings their range near 2^490, and the exponent.

    Squares neither overflow nor, if their roots are above 1e-300 of the range, vanish.
    """
    spread = ordered[-1] - ordered[0]
    exponent = 490 - int(np.frexp(spread)[1]) if spread > 0 else 0
    return np.ldexp(ordered, exponent), exponent
