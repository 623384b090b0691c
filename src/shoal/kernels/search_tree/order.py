"""Where the records go: axes for the index copy, and the kd order that fills the leaves."""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel
from shoal.kernels.sums.lanes import LANES

SAMPLE_FOR_AXES = 20_000
SAMPLE_FOR_SPLIT = 128
MINUS_ZERO = np.uint64(1 << 63)


@kernel
def column_ranges(rows: Array, records: Array, low: Array, high: Array, mean: Array) -> None:
    """The lowest, highest and mean value of each column."""
    low[:] = np.inf
    high[:] = -np.inf
    mean[:] = 0.0
    for i in records:
        for j in range(rows.shape[1]):
            value = rows[i, j]
            if value < low[j]:
                low[j] = value
            if value > high[j]:
                high[j] = value
            mean[j] += value  # no overflow: values are checked before, see LARGEST in partition.py
    mean /= max(1, records.size)


@kernel
def largest_norm(rows: Array, records: Array, centre: Array, spread: float) -> float:
    """The largest distance from the centre, in units of the spread."""
    largest = 0.0
    # One division instead of one for each value; where its inverse overflows, a power of two does as well.
    factor = 1.0 / spread if spread > 1e-300 else 2.0**600
    for i in records:
        norm2 = 0.0
        for j in range(rows.shape[1]):
            value = (rows[i, j] - centre[j]) * factor
            norm2 += value * value
        if norm2 > largest:
            largest = norm2
    return np.sqrt(largest) / (factor * spread)


def principal_frame(rows: Array, records: Array) -> tuple[Array, float, Array]:
    """(centre, scale, axes): (x - centre) / scale @ axes is inside the unit ball, widest axis first."""
    m = rows.shape[1]
    low, high, centre = np.empty((3, m))
    column_ranges(rows, records, low, high, centre)
    spread = max(np.abs(high - centre).max(), np.abs(low - centre).max())
    if spread == 0.0:
        return centre, 1.0, np.eye(m)
    sample = (rows[records[:: max(1, len(records) // SAMPLE_FOR_AXES)]] - centre) / spread
    axes = np.ascontiguousarray(np.linalg.eigh(sample.T @ sample)[1][:, ::-1])
    if np.abs(axes.T @ axes - np.eye(m)).max() * m > 1e-12:  # so many columns that rounding shows
        axes = np.eye(m)
    # The factor keeps rounding inside the ball.
    return centre, float(spread * largest_norm(rows, records, centre, spread) * (1 + 1e-6)), axes


def widest_attribute(rows: Array, records: Array) -> tuple[Array, float, Array]:
    """The same with one axis, that of the attribute with the widest range: it takes no time to find."""
    low, high, centre = np.empty((3, rows.shape[1]))
    column_ranges(rows, records, low, high, centre)
    away = np.maximum(high - centre, centre - low)
    axis = np.zeros((rows.shape[1], 1))
    axis[away.argmax()] = 1.0
    return centre, float(away.max() * (1 + 1e-6)) or 1.0, axis


@inner
def project(point: Array, centre: Array, scale: float, axes: Array, out: Array) -> float:
    """Writes the point's float32 coordinates in the frame; returns their squared norm."""
    m = point.size
    # One division instead of m * m, unless the scale is so small that its inverse overflows.
    inverse, divisor = (1.0 / scale, 1.0) if scale > 1e-300 else (1.0, scale)
    norm2 = 0.0
    for a in range(axes.shape[1]):
        total = 0.0
        for j in range(m):
            total += (point[j] - centre[j]) * inverse * axes[j, a]
        total /= divisor
        out[a] = total
        norm2 += total * total
    return norm2


@kernel
def project_all(rows: Array, records: Array, centre: Array, scale: float, axes: Array, out: Array) -> None:
    """Write the float32 coordinates of the records in the frame."""
    shifted = np.empty(rows.shape[1])
    for i in range(records.size):
        for j in range(rows.shape[1]):
            shifted[j] = (rows[records[i], j] - centre[j]) / scale
        for a in range(axes.shape[1]):
            total = 0.0
            for j in range(rows.shape[1]):
                total += shifted[j] * axes[j, a]
            out[i, a] = total


@inner
def widest_axis(coords: Array, order: Array, first: int, last: int) -> int:
    """The axis of largest variance in an evenly spaced sample of the segment."""
    step = max(1, (last - first) // SAMPLE_FOR_SPLIT)
    best, best_spread = 0, -1.0
    for a in range(coords.shape[1]):
        count, total, squares = 0, 0.0, 0.0
        for s in range(first, last, step):
            value = coords[order[s], a]
            count += 1
            total += value
            squares += value * value
        spread = squares - total * total / count
        if spread > best_spread:
            best, best_spread = a, spread
    return best


@inner
def before(key_a: float, id_a: int, key_b: float, id_b: int) -> bool:
    """The order of (key, id) pairs."""
    return key_a < key_b or (key_a == key_b and id_a < id_b)


@inner
def median_of_three(keys: Array, order: Array, a: int, b: int, c: int) -> int:
    """The place of the middle one of three pairs."""
    if before(keys[a], order[a], keys[b], order[b]):
        if before(keys[b], order[b], keys[c], order[c]):
            return b
        return c if before(keys[a], order[a], keys[c], order[c]) else a
    if before(keys[a], order[a], keys[c], order[c]):
        return a
    return c if before(keys[b], order[b], keys[c], order[c]) else b


@inner
def select_smallest(keys: Array, order: Array, first: int, last: int, cut: int) -> None:
    """Rearranges [first, last) so that the (key, id) pairs before `cut` are the smallest ones."""
    low, high = first, last - 1
    while low < high:
        middle = median_of_three(keys, order, low, (low + high) >> 1, high)
        key, record = keys[middle], order[middle]
        i, j = low, high
        while i <= j:
            while before(keys[i], order[i], key, record):
                i += 1
            while before(key, record, keys[j], order[j]):
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if cut <= j:
            high = j
        elif cut > i:
            low = i
        else:
            return


@kernel
def kd_order(coords: Array, order: Array, keys: Array) -> None:
    """Permutes order so that every aligned run of 16, 256, 4096, ... records is compact in space.

    A segment is cut between whole subtrees, so all leaves but the last are full.
    """
    n = order.size
    top = LANES
    while top < n:
        top *= LANES
    stack = [(0, n, top)]
    while len(stack) > 0:
        first, last, capacity = stack.pop()
        units = (last - first + capacity - 1) // capacity
        while units == 1 and capacity > LANES:
            capacity //= LANES
            units = (last - first + capacity - 1) // capacity
        if units <= 1:
            continue
        cut = first + units // 2 * capacity
        axis = widest_axis(coords, order, first, last)
        for s in range(first, last):
            keys[s] = coords[order[s], axis]
        select_smallest(keys, order, first, last, cut)
        stack.append((first, cut, capacity))
        stack.append((cut, last, capacity))


@kernel
def cut_across(points: Array, order: Array, parts: int) -> int:
    """Sorts order (stably) along its points' widest axis; returns where parts // 2 of so many parts end."""
    low, high = points[order[0]].copy(), points[order[0]].copy()
    for i in order:
        for a in range(points.shape[1]):
            low[a] = min(low[a], points[i, a])
            high[a] = max(high[a], points[i, a])
    axis = np.argmax(high - low)
    keys = np.empty(order.size)
    for place in range(order.size):
        keys[place] = points[order[place], axis]
    order[:] = order[np.argsort(keys, kind="mergesort")]
    return order.size * (parts // 2) // parts


@kernel
def halve(points: Array, order: Array, parts: int) -> Array:
    """Permutes order into so many parts of about the same size by cuts in two; returns where each ends."""
    ends = np.empty(parts, np.int64)
    stack = [(0, order.size, 0, parts)]
    while len(stack) > 0:
        first, last, part, count = stack.pop()
        if count == 1:
            ends[part] = last
            continue
        middle = first + cut_across(points, order[first:last], count)
        stack.append((first, middle, part, count // 2))
        stack.append((middle, last, part + count // 2, count - count // 2))
    return ends


@kernel
def hash_rows(rows: Array, records: Array, hashes: Array) -> None:
    """A hash of each row, equal for equal rows."""
    bits = rows.view(np.int64)
    for i in range(records.size):
        value = np.uint64(0x9E3779B97F4A7C15)
        for j in range(rows.shape[1]):
            word = np.uint64(bits[records[i], j])
            if word == MINUS_ZERO:
                word = np.uint64(0)  # equal to plus zero, so it has to hash alike
            value = (value ^ word) * np.uint64(0xFF51AFD7ED558CCD)
            value ^= value >> np.uint64(32)
        hashes[i] = value


@kernel
def mark_new_rows(rows: Array, twins: Array, new: Array) -> None:
    """new[i]: whether the row of twins[i] differs from the one before it."""
    new[:] = True
    for i in range(1, twins.size):
        a, b = twins[i - 1], twins[i]
        same = True
        for j in range(rows.shape[1]):
            same = same and rows[a, j] == rows[b, j]
        new[i] = not same


def group_twins(rows: Array, records: Array) -> tuple[Array, Array]:
    """Records with identical rows side by side, ascending, and where each run of them starts."""
    hashes = np.empty(len(records), np.uint64)
    hash_rows(rows, records, hashes)
    ordered = np.sort(hashes)  # several times quicker than argsort, and mostly all that is needed
    if not (ordered[1:] == ordered[:-1]).any():
        return records, np.arange(len(records) + 1, dtype=np.int32)
    del ordered
    twins = records[np.argsort(hashes, kind="stable")]
    del hashes
    new = np.empty(len(records), np.bool_)
    mark_new_rows(rows, twins, new)
    starts = np.append(np.flatnonzero(new), len(records)).astype(np.int32)
    return twins, starts
