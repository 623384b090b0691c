"""The two cheap bounds: each record's share, and shares with the distances divided unequally.

The SSE of a group of s records is the sum of its pairs' squared distances over s. With each distance divided
between its two ends, a record's part of any group is at least its s - 1 cheapest ends over s, for the worst s. The
sum of these parts is a lower bound however the distances are divided: halved, or so that their sum is as large as
possible, which subgradient steps approach.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]

_CHUNK = 1000
_KNOWN = 64  # neighbours that the first bound knows of each record
_MOST_ENDS = 40_000_000  # of all edges, about 1 GB
_MEMORY = 0.7  # how much of the direction before stays
_PATIENCE = 15  # steps without gain before they are made shorter
_SHORTER = 0.7
_SHORTEST = 1e-4


def halved(X: Float, k: int, high: int) -> Iterator[Float]:
    """The share of each record, chunk by chunk; what is still to come is 0."""
    from shoal.kernels.proofs.views import shares_of
    from shoal.kernels.search_tree.neighbours import fill_neighbours
    from shoal.kernels.search_tree.tree import build_tree

    n = len(X)
    known = min(_KNOWN, high - 1, n - 1)
    shares = np.zeros(n)
    tree = build_tree(X, np.arange(n, dtype=np.int32))
    ids, d2 = np.empty((_CHUNK, known), np.int32), np.empty((_CHUNK, known))
    for start in range(0, n, _CHUNK):
        part = shares[start : start + _CHUNK]
        fill_neighbours(tree, X, start, ids[: len(part)], d2[: len(part)])
        shares_of(d2[: len(part)], k, high, part)
        yield shares


def neighbours_to_split(n: int, k: int) -> int:
    """To how many neighbours the distances are divided anew; 0 where memory does not allow it."""
    wanted = min(max(24, 6 * k), 240, n - 1)
    most = _MOST_ENDS // (2 * n)
    return min(wanted, most) if most >= min(k, 12) else 0


def split(X: Float, k: int, high: int, goal: float) -> Iterator[Float | None]:
    """Ever better shares, None for a step without gain.

    `goal` is about the SSE that they should come to; only the length of the steps depends on it.
    """
    from shoal.kernels.proofs.views import count_ends, fill_ends, least_views
    from shoal.kernels.search_tree.neighbours import fill_neighbours
    from shoal.kernels.search_tree.tree import build_tree

    n = len(X)
    known = neighbours_to_split(n, k)
    near, d2 = np.empty((n, known), np.int32), np.empty((n, known))
    tree = build_tree(X, np.arange(n, dtype=np.int32))
    for start in range(0, n, _CHUNK):
        stop = min(start + _CHUNK, n)
        fill_neighbours(tree, X, start, near[start:stop], d2[start:stop])
        yield None
    counts = np.zeros(n, np.int64)
    count_ends(near, counts)
    starts = np.concatenate([[0], np.cumsum(counts)])
    edges, signs = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int8)
    lengths = np.empty(starts[-1] // 2)
    fill_ends(near, starts, edges, signs, lengths, d2)
    far = np.full(n, np.inf) if known == n - 1 else d2[:, -1].copy()
    del tree, near, d2
    shift, slope, along = np.zeros(len(lengths)), np.zeros(len(lengths)), np.zeros(len(lengths))
    least, best, size, idle = np.empty(n), -np.inf, 1.0, 0
    while size > _SHORTEST:
        least_views(starts, edges, signs, lengths, shift, far, k, high, least, slope)
        total = float(least.sum())
        idle = 0 if total > best + 1e-5 * abs(best) else idle + 1
        if total > best:
            best = total
            yield least.copy()
        else:
            yield None
        if idle > _PATIENCE:
            size, idle = size * _SHORTER, 0
        along *= _MEMORY
        along += slope
        steepness = float(along @ along)
        if steepness == 0.0:
            break
        shift += (size * max(goal - total, 0.05 * goal) / steepness) * along
