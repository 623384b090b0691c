"""Rows of partition matrices: projection on their hull, and what the next spectrum is taken of.

Row i of a partition's matrix is 1/s at the s records of i's group, i among them, and 0 elsewhere. The hull of all
such rows with k <= s <= high is: z[i] = t with 1/high <= t <= 1/k, the others between 0 and t, and a sum of 1.
"""

import numpy as np

from shoal.kernels.compiled import Array, inner, kernel

_BLOCK = 64
_NEWTON = 200


@kernel
def project_rows(
    first: int,
    stop: int,
    U: Array,
    Z: Array,
    G: Array,
    along: float,
    k: int,
    high: int,
    shifts: Array,
    slack: Array,
    moved: Array,
) -> None:
    """A step of the method of multipliers for the rows from `first` to `stop`; all tables float32.

    With T = U + along * G + (1 - along) * Z, Z becomes T's projection on the hulls and U the rest of it. shifts[i]
    is what was subtracted from row i, slack[i] how far it may move next time. moved[i] gets the squared distances
    of the new Z to G and to the old Z.
    """
    n = U.shape[1]
    room = np.empty(n, np.float32)
    with_g, with_z = np.float32(along), np.float32(1.0 - along)
    nothing, tiny = np.float32(0.0), 1.0 / high
    for i in range(first, stop):
        for j in range(n):
            U[i, j] = U[i, j] + with_g * G[i, j] + with_z * Z[i, j]
        own = U[i, i]
        U[i, i] = -np.inf
        count, pooled, low = candidates(U[i], room, own, tiny, 1.0 / k, shifts[i], slack[i])
        shift, share = shift_of(room[:count], pooled, low, tiny, 1.0 / k)
        slack[i] = max(2.0 * abs(shift - shifts[i]), 0.5 * slack[i], 1e-6)
        shifts[i] = shift
        U[i, i] = own
        subtracted, most = np.float32(shift), np.float32(share)
        apart, step = 0.0, 0.0
        for j in range(n):
            z = min(max(U[i, j] - subtracted, nothing), most)
            if j == i:
                z = most
            apart += (G[i, j] - z) * (G[i, j] - z)
            step += (Z[i, j] - z) * (Z[i, j] - z)
            U[i, j] -= z
            Z[i, j] = z
        moved[i, 0], moved[i, 1] = apart, step


@inner
def candidates(
    row: Array, room: Array, own: float, least: float, most: float, before: float, slack: float
) -> tuple[int, float, float]:
    """The entries of a row that can be above its shift, the value at which entries are pooled, a lower shift.

    Entries above the diagonal one are pooled with it: all of them are the share t. The pooled value solves
    v = own + sum of (entry - v) over entries above v.
    """
    low = before - slack
    while True:
        count = 0
        for j in range(row.size):
            if row[j] > low:
                room[count] = row[j]
                count += 1
        pooled = float(own)
        while True:
            total, members = float(own), 1
            for p in range(count):
                if room[p] > pooled:
                    total += room[p]
                    members += 1
            if not total / members > pooled:
                break
            pooled = total / members
        if slack == np.inf or total_above(room[:count], pooled, low, least, most)[0] >= 1.0:
            return count, pooled, low
        slack = 8.0 * slack if slack < 1e6 else np.inf
        low = before - slack


@inner
def total_above(
    entries: Array, pooled: float, shift: float, least: float, most: float
) -> tuple[float, float, float]:
    """The sum of a row after a shift, its slope, and the share t."""
    share = min(max(pooled - shift, least), most)
    free = least < pooled - shift < most
    total, slope = share, -1.0 if free else 0.0
    for p in range(entries.size):
        value = entries[p] - shift
        if value >= share:
            total += share
            if free:
                slope -= 1.0
        elif value > 0.0:
            total += value
            slope -= 1.0
    return total, slope, share


@inner
def shift_of(entries: Array, pooled: float, low: float, least: float, most: float) -> tuple[float, float]:
    """The shift after which a row sums to 1, by Newton's method between two ends; and the share t."""
    upper = max(pooled, low)
    for p in range(entries.size):
        upper = max(upper, float(entries[p]))
    if low == -np.inf:
        low = upper
        for p in range(entries.size):
            low = min(low, float(entries[p]))
        low -= 1.0
    shift, share = low, most
    for _ in range(_NEWTON):
        total, slope, share = total_above(entries, pooled, shift, least, most)
        if abs(total - 1.0) < 1e-9:
            break
        if total > 1.0:
            low = shift
        else:
            upper = shift
        ahead = shift - (total - 1.0) / slope if slope < 0.0 else upper
        if not low < ahead < upper:
            ahead = 0.5 * (low + upper)
        if ahead in (shift, low, upper):
            break
        shift = ahead
    return shift, share


@kernel
def fill_difference(first: int, stop: int, U: Array, Z: Array, C: Array, part: float, out: Array) -> None:
    """The symmetric part of Z - U, less `part` of C: its rows from `first` to `stop` and all that mirrors them.

    Only the lower triangle is computed, block by block.
    """
    scaled, half = np.float32(part), np.float32(0.5)
    for top in range(first, stop, _BLOCK):
        for left in range(0, min(top + _BLOCK, stop), _BLOCK):
            for i in range(top, min(top + _BLOCK, stop)):
                for j in range(left, min(left + _BLOCK, i + 1)):
                    value = half * (Z[i, j] - U[i, j] + Z[j, i] - U[j, i]) - scaled * C[i, j]
                    out[i, j] = value
                    out[j, i] = value
