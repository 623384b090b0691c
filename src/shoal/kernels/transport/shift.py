"""Which cell a point belongs to under costs, and which would be next: what a shift of the costs moves.

A point x belongs to the cell q where |x - centre_q|^2 + cost_q is least, the lowest of equals. Its gap is how much
the cost of that cell may rise before the point leaves for its second-best cell.

When costs shift by little, most points stay where they are. Of those only a lower bound of the gap is kept, and
the second-best cell is UNKNOWN until somebody asks.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel

UNKNOWN = -1
_EPSILON = 2.0**-52


@inner
def values_at(points: Array, i: int, across: Array, costs: Array, values: Array) -> None:
    """Squared distance + cost of one point in every cell; across holds the centres, one column each."""
    cells = values.size
    for q in range(cells):
        values[q] = 0.0
    for j in range(across.shape[0]):
        x = points[i, j]
        for q in range(cells):
            difference = x - across[j, q]
            values[q] += difference * difference
    for q in range(cells):
        values[q] += costs[q]


@inner
def two_best_of(values: Array) -> tuple[int, int]:
    """The places of the least and of the second least value, the lowest of equals; -1 if there is but one."""
    best, second = 0, -1
    least, next_least = values[0], np.inf
    for q in range(1, values.size):
        value = values[q]
        if value < next_least:
            if value < least:
                second, next_least = best, least
                best, least = q, value
            else:
                second, next_least = q, value
    return best, second


@kernel
def two_best(points: Array, across: Array, costs: Array, best: Array, second: Array, gap: Array) -> None:
    """Fills each point's best cell, second-best cell and gap; with a single cell -1 and infinity."""
    values = np.empty(costs.size)
    for i in range(points.shape[0]):
        values_at(points, i, across, costs, values)
        b, s = two_best_of(values)
        best[i], second[i] = b, s
        gap[i] = values[s] - values[b] if s >= 0 else np.inf


@kernel
def count_shifted(points: Array, across: Array, costs: Array, best: Array, gap: Array, rise: Array) -> Array:
    """The records in each cell at new costs, from the best cells and gaps at old ones.

    rise[q] is how much the cost of q rose against the cell whose cost rose least. A point with a gap above it
    stays; only the others are looked at again.
    """
    values = np.empty(costs.size)
    counts = np.zeros(costs.size, np.int64)
    for i in range(points.shape[0]):
        b = best[i]
        if gap[i] <= rise[b]:
            values_at(points, i, across, costs, values)
            b = two_best_of(values)[0]
        counts[b] += 1
    return counts


@kernel
def shift(
    points: Array, across: Array, costs: Array, rise: Array, best: Array, second: Array, gap: Array, counts: Array
) -> None:
    """Bring best cells, second-best cells, gaps and counts to new costs, looking only at points that may leave."""
    values = np.empty(costs.size)
    for i in range(points.shape[0]):
        b = best[i]
        if gap[i] > rise[b]:
            gap[i] -= rise[b]
            second[i] = UNKNOWN
            continue
        values_at(points, i, across, costs, values)
        best[i], second[i] = two_best_of(values)
        gap[i] = values[second[i]] - values[best[i]]
        counts[b] -= 1
        counts[best[i]] += 1


@kernel
def uncover(
    points: Array, across: Array, costs: Array, limit: Array, best: Array, second: Array, gap: Array
) -> int:
    """Find the second-best cell and the gap of the points whose gap may be below the limit of their cell.

    Returns how many there were.
    """
    values = np.empty(costs.size)
    found = 0
    for i in range(points.shape[0]):
        if second[i] == UNKNOWN and gap[i] < limit[best[i]]:
            values_at(points, i, across, costs, values)
            values[best[i]], here = np.inf, values[best[i]]
            second[i] = values.argmin()
            gap[i] = max(values[second[i]] - here, 0.0)
            found += 1
    return found


@inner
def count_below(gaps: Array, start: int, end: int, limit: float) -> int:
    """How many of gaps[start:end] are below the limit."""
    count = 0
    for i in range(start, end):
        count += gaps[i] < limit
    return count


@inner
def rise_that_loses(gaps: Array, start: int, end: int, wanted: float, high: float) -> float:
    """Brent's root of (points with a gap below the rise) - wanted, between 0 and high, where all are below.

    The count is a staircase, so half a point off is a root, and where many gaps are equal the two ends close in
    on the jump: then the upper end is the answer, which loses too many rather than none.
    """
    a, fa = 0.0, -wanted
    b, fb = high, end - start - wanted
    c, fc = a, fa
    step = last_step = b - a
    for _ in range(100):
        if (fb > 0) == (fc > 0):
            c, fc = a, fa
            step = last_step = b - a
        if abs(fc) < abs(fb):
            a, b, c = b, c, b
            fa, fb, fc = fb, fc, fb
        tolerance = 2 * _EPSILON * abs(b)
        middle = (c - b) / 2
        if abs(fb) <= 0.5 or abs(middle) <= tolerance:
            break
        if abs(last_step) >= tolerance and abs(fa) > abs(fb):
            s = fb / fa
            if a == c:
                p, q = 2 * middle * s, 1 - s
            else:
                q, r = fa / fc, fb / fc
                p = s * (2 * middle * q * (q - r) - (b - a) * (r - 1))
                q = (q - 1) * (r - 1) * (s - 1)
            if p > 0:
                q = -q
            p = abs(p)
            if 2 * p < min(3 * middle * q - abs(tolerance * q), abs(last_step * q)):
                last_step, step = step, p / q
            else:
                step = last_step = middle
        else:
            step = last_step = middle
        a, fa = b, fb
        b += step if abs(step) > tolerance else np.copysign(tolerance, middle)
        fb = count_below(gaps, start, end, b) - wanted
    return b if fb > -0.75 * wanted else c


@kernel
def rises(best: Array, gap: Array, counts: Array, change: float) -> Array:
    """For each cell the rise of its cost that makes the share `change` of its points leave, at least one.

    A cell gets 0 if it has no points or if all its gaps are 0.
    """
    cells = counts.size
    starts = np.zeros(cells + 1, np.int64)
    for q in range(cells):
        starts[q + 1] = starts[q] + counts[q]
    place = starts[:-1].copy()
    gaps = np.empty(gap.size)
    for i in range(gap.size):
        gaps[place[best[i]]] = gap[i]
        place[best[i]] += 1
    result = np.zeros(cells)
    for q in range(cells):
        start, end = starts[q], starts[q + 1]
        if start == end:
            continue
        most = gaps[start:end].max()
        wanted = max(1.0, change * counts[q])
        if most > 0:
            result[q] = rise_that_loses(gaps, start, end, wanted, most * (1 + 2 * _EPSILON) + 5e-324)
    return result
