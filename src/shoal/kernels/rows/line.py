"""Sorted values cut into groups of k to 2k - 1 at the least sum of squared errors: a shortest path.

A cut j stands before value j; best[j] is the least cost of the first j values and start[j] the cut where their
last group begins. Cuts are settled in blocks of k: those from t to t + k - 1 rest on cuts before t only, and every
last group of theirs holds value t - 1. So a group is a left side that ends with this value and a right side after
it, and with SSE and mean distance from value t - 1 of either side

    SSE = left_sse + right_sse + nl * nr / (nl + nr) * (left_mean + right_mean)^2.

Nothing is subtracted that could cancel: a far outlier or a common offset leaves no trace in the other groups.
Costs of paths are pairs of doubles, high + low, so that a large group does not swallow the small ones after it.

The group cost is Monge, hence the best start of a cut does not move back as the cut moves on: SMAWK finds the k
minima of a block in O(k) steps. A plain scan takes k steps for each cut, and less time where k is small.
"""

from typing import NamedTuple

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel


class Path(NamedTuple):
    """The shortest paths to the cuts settled so far, and what a block needs."""

    high: Array  # float64 (n + 1,): the least cost, rounded
    low: Array  # float64 (n + 1,): what rounding took from it
    start: Array  # int64 (n + 1,): where the last group begins
    left_sse: Array  # float64 (2k,): of the last nl values up to the anchor
    left_mean: Array  # float64 (2k,): their mean distance from the anchor
    right_sse: Array  # float64 (k,): of the next nr values after the anchor
    right_mean: Array  # float64 (k,)
    columns: Array  # int64 (2k,): the starts that SMAWK still looks at, level by level
    offsets: Array  # int64 (64,): where each level of them begins


def new_path(n: int, k: int) -> Path:
    """Room for the paths through n values."""
    return Path(
        high=np.zeros(n + 1),
        low=np.zeros(n + 1),
        start=np.zeros(n + 1, np.int64),
        left_sse=np.zeros(2 * k),
        left_mean=np.zeros(2 * k),
        right_sse=np.zeros(k),
        right_mean=np.zeros(k),
        columns=np.zeros(2 * k, np.int64),
        offsets=np.zeros(64, np.int64),
    )


@inner
def longer(high: float, low: float, cost: float) -> tuple[float, float]:
    """The pair high + low, lengthened by a cost, as a pair whose low part is what rounding took."""
    total = high + cost
    part = total - high
    rest = (high - (total - part)) + (cost - part) + low
    rounded = total + rest
    return rounded, rest - (rounded - total)


@inner
def fill_side(values: Array, anchor: int, first: int, step: int, count: int, sse: Array, mean: Array) -> None:
    """SSE and mean distance from the anchor of the first 1, 2, ... count values from `first` on."""
    sse[0] = mean[0] = 0.0
    error, error_low, total, total_low = 0.0, 0.0, 0.0, 0.0
    for c in range(1, count + 1):
        distance = abs(values[first + step * (c - 1)] - values[anchor])
        gap = distance - mean[c - 1]
        error, error_low = longer(error, error_low, gap * gap * ((c - 1) / c))
        total, total_low = longer(total, total_low, distance)
        sse[c] = error
        mean[c] = total / c


@inner
def reach(path: Path, t: int, i: int, j: int) -> tuple[float, float]:
    """The least cost of the first j values whose last group begins at cut i, in the block of t."""
    nl, nr = t - i, j - t
    between = path.left_mean[nl] + path.right_mean[nr]
    cost = path.left_sse[nl] + path.right_sse[nr] + nl * nr / (nl + nr) * (between * between)
    return longer(path.high[i], path.low[i], cost)


@inner
def settle(path: Path, t: int, j: int, k: int, columns: Array, first: int, last: int) -> int:
    """Settle cut j by looking at the starts columns[first..last]; returns the place of the best.

    Of equal costs the later start wins, that is the shorter last group.
    """
    place = -1
    high, low = np.inf, 0.0
    for c in range(first, last + 1):
        i = columns[c]
        if i <= j - 2 * k:
            continue
        if i > j - k:
            break
        new_high, new_low = reach(path, t, i, j)
        if new_high < high or (new_high == high and new_low <= low):
            place, high, low = c, new_high, new_low
    path.high[j], path.low[j], path.start[j] = high, low, columns[place]
    return place


@inner
def later_is_better(path: Path, t: int, j: int, k: int, early: int, late: int) -> bool:
    """Whether the later of two starts is at least as good for cut j.

    A start that makes the group too long is worse than any later one, and one that makes it too short worse than
    any earlier one. This keeps the matrix of a block totally monotone, limits and ties included.
    """
    if early <= j - 2 * k:
        return True
    if late > j - k:
        return False
    early_high, early_low = reach(path, t, early, j)
    late_high, late_low = reach(path, t, late, j)
    return late_high < early_high or (late_high == early_high and late_low <= early_low)


@inner
def reduce_columns(path: Path, t: int, k: int, level: int, rows: int, source: int, end: int, target: int) -> int:
    """SMAWK's reduction: of columns[source:end] keep at most one per row from `target` on; returns their end."""
    columns = path.columns
    kept = 0
    for c in range(source, end):
        late = columns[c]
        while kept and later_is_better(path, t, t + (kept << level) - 1, k, columns[target + kept - 1], late):
            kept -= 1
        if kept < rows:
            columns[target + kept] = late
            kept += 1
    return target + kept


@inner
def settle_by_smawk(path: Path, t: int, rows: int, k: int, earliest: int) -> None:
    """The cuts t to t + rows - 1: level l has every 2^l-th row, and as many starts as rows at most."""
    columns, offsets = path.columns, path.offsets
    for i in range(earliest, t):
        columns[i - earliest] = i
    offsets[0] = 0
    end = reduce_columns(path, t, k, 0, rows, 0, t - earliest, 0)
    offsets[1] = end
    level = 0
    while rows >> (level + 1):
        level += 1
        end = reduce_columns(path, t, k, level, rows >> level, offsets[level - 1], end, end)
        offsets[level + 1] = end
    while level >= 0:
        settle_level(path, t, k, level, rows >> level)
        level -= 1


@inner
def settle_level(path: Path, t: int, k: int, level: int, rows: int) -> None:
    """Every second row of a level, between the best starts of the rows around it, which are settled.

    Should rounding have put those the wrong way round, the earlier row's start stands for both: it is valid too.
    """
    first, last = path.offsets[level], path.offsets[level + 1] - 1
    for row in range(0, rows, 2):
        j = t + ((row + 1) << level) - 1
        final = first
        if row + 1 < rows:
            while path.columns[final] < path.start[j + (1 << level)]:
                final += 1
        else:
            final = last
        settle(path, t, j, k, path.columns, first, final)
        first = final


@inner
def settle_by_scan(path: Path, t: int, rows: int, k: int, earliest: int) -> None:
    """The cuts t to t + rows - 1, each by looking at all its starts."""
    for i in range(earliest, t):
        path.columns[i - earliest] = i
    for j in range(t, t + rows):
        settle(path, t, j, k, path.columns, max(earliest, j - 2 * k + 1) - earliest, j - k - earliest)


@kernel
def settle_first(values: Array, k: int, path: Path) -> None:
    """The cuts k to 2k - 1, before which there is room for one group only."""
    most = min(2 * k - 1, values.size)
    fill_side(values, 0, 0, 1, most, path.left_sse, path.left_mean)
    for j in range(k, most + 1):
        path.high[j] = path.left_sse[j]


@kernel
def settle_blocks(values: Array, k: int, scan: bool, path: Path, t: int, stop: int) -> int:
    """Block by block from cut t on until `stop` is passed or all are settled; returns the next cut."""
    while t < stop and t <= values.size:
        rows = min(k, values.size + 1 - t)
        earliest = max(k, t - 2 * k + 1)
        fill_side(values, t - 1, t - 1, -1, t - earliest, path.left_sse, path.left_mean)
        fill_side(values, t - 1, t, 1, rows - 1, path.right_sse, path.right_mean)
        if scan:
            settle_by_scan(path, t, rows, k, earliest)
        else:
            settle_by_smawk(path, t, rows, k, earliest)
        t += rows
    return t


@kernel
def group_starts(start: Array) -> Array:
    """The cuts of the shortest path through all values, from 0 to n."""
    count = 1
    j = start.size - 1
    while j > 0:
        count += 1
        j = start[j]
    cuts = np.empty(count, np.int64)
    j = start.size - 1
    for c in range(count - 1, -1, -1):
        cuts[c] = j
        j = start[j]
    return cuts
