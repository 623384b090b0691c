"""What a multiplier proves: the semidefinite bound, with every rounding on the safe side.

A partition as a matrix X has 1/s for each pair of records in a group of s. Its SSE is <C, X>, where C are half the
squared distances. X = ee'/n + Y with 0 <= Y <= I, Ye = 0 and trace Y <= g - 1, where g is the greatest number of
groups. Row i is 1/s at s records, i one of them, k <= s <= high, and 0 elsewhere. Hence for any matrix L

    SSE = <C + L, X> - <L, X>  >=  e'(C + L)e / n  +  min <B, Y>  +  sum over i of min -<L[i], row>

where B is the symmetric part of C + L less a[i] + a[j], with any a, because Ye = 0. If B + FF' - zI has no
negative eigenvalue, for some F and z <= 0, then <B, Y> >= (g - 1) z - |F|^2. That it has none is shown by a
Cholesky factor that can be computed (S. M. Rump, Verification of positive definiteness, BIT 46 (2006) 433-452). So
neither the eigenvectors in F nor L have to be accurate for the bound to hold.
"""

from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.semidefinite_spectrum import Spectrum

Float = NDArray[np.float64]
Single = NDArray[np.float32]

_UNIT = 2.0**-53
_SAFE = 4.0  # times the textbook bound of every rounding
_ROWS = 512
_WIDER = 8.0
_TRIES = 14
_CLOSE = 1e-11  # of the spectrum, about how far its vectors are from eigenvectors at best
_SWEEPS = 3  # of the subspace, in double precision
_DEGREE = 8
_SMALL = 1500  # up to so many records all eigenvalues are computed


def proven(C: Float, L: Single, k: int, high: int, groups: int, V: Single, n_jobs: int = 1) -> float:
    """A number that <C, X> is not below for any partition's matrix X; -inf where rounding leaves none.

    C is symmetric, L any matrix; V holds vectors near the lowest eigenvectors of the two.
    """
    n = len(C)
    first, B, rounded = levelled(C, L)
    if not isfinite(rounded):
        return -inf
    rows, row_rounding = row_minima(L, k, high)
    spectrum = least_of_spectrum(B, rounded, groups - 1, V, n_jobs)
    size = float(np.abs(C).sum()) / n + float(np.abs(L).sum(dtype=np.float64)) / n
    return first + spectrum + rows - row_rounding - _SAFE * (64 + n.bit_length() * 2) * _UNIT * size


def levelled(C: Float, L: Single) -> tuple[float, Float, float]:
    """e'(C + L)e / n, the matrix B, and by how much B is wrong at most, as a norm."""
    n = len(C)
    B = C + 0.5 * (L + L.T.astype(np.float64))
    first = float(B.sum()) / n
    means = B.mean(axis=0)
    means -= 0.5 * means.mean()
    for start in range(0, n, _ROWS):
        B[start : start + _ROWS] -= means[start : start + _ROWS, None] + means
    norm = np.linalg.norm
    size = float(norm(C)) + float(norm(L.astype(np.float64))) + 4 * np.sqrt(n) * float(norm(means))
    return first, B, _SAFE * 4 * _UNIT * size


def row_minima(L: Single, k: int, high: int) -> tuple[float, float]:
    """The sum over all rows of the least -<L[i], row>, and by how much it is wrong at most.

    Given its size s, the best row has the s - 1 largest entries beside that of i itself.
    """
    n = len(L)
    sizes = np.arange(k, high + 1)
    total = size = 0.0
    for start in range(0, n, _ROWS):
        part = L[start : start + _ROWS].astype(np.float64)
        here = np.arange(len(part))
        own = part[here, start + here].copy()
        part[here, start + here] = -inf
        best = np.partition(part, n - high + 1, axis=1)[:, n - high + 1 :]
        best = np.cumsum(np.sort(best, axis=1)[:, ::-1], axis=1)
        if k == 1:
            best = np.concatenate([np.zeros((len(part), 1)), best], axis=1)
        totals = own[:, None] + best[:, sizes - (1 if k == 1 else 2)]
        total -= float((totals / sizes).max(axis=1).sum())
        size += float(np.abs(L[start : start + _ROWS]).max(axis=1).sum(dtype=np.float64))
    return total, _SAFE * (high + 64) * _UNIT * size


def least_of_spectrum(B: Float, rounded: float, most: int, V: Single, n_jobs: int) -> float:
    """At most the sum of the `most` lowest negative eigenvalues of B, which is wrong by `rounded`."""
    if most == 0:
        return 0.0
    from scipy.linalg import LinAlgError, cholesky

    values, vectors = lowest(B, V, n_jobs)
    level = min(float(values[most - 1]), 0.0) if most <= len(values) else 0.0
    below = values < level
    F = vectors[:, below] * np.sqrt(level - values[below])
    lifted = F @ F.T
    trace = float((F * F).sum())
    wrong = rounded + _SAFE * (F.shape[1] + 8) * _UNIT * (trace + float(np.linalg.norm(B)))
    lifted += B
    here = np.arange(len(B))
    diagonal = lifted[here, here].copy()
    more = max(wrong, _CLOSE * float(np.abs(values).max()))
    for _ in range(_TRIES):
        lifted[here, here] = diagonal + (more - level)
        rest = _SAFE * (len(B) + 2) * _UNIT * float(np.abs(lifted[here, here]).sum())
        try:
            factor = cholesky(lifted, lower=True, check_finite=False)
        except LinAlgError:
            more *= _WIDER
            continue
        if not np.isfinite(factor[here, here]).all():
            return -inf
        lost = trace * (1 + _SAFE * (len(B) + F.size) * _UNIT)
        return float(most * (level - more - rest - wrong) - lost)
    return -inf


def lowest(B: Float, V: Single, n_jobs: int) -> tuple[Float, Float]:
    """Low eigenvalues of B, rising, and vectors near their eigenvectors; from V, or all where that is faster."""
    n, count = V.shape
    if n <= _SMALL or 2 * count > n:
        values, vectors = np.linalg.eigh(B)
        return values, vectors
    spectrum, negative = Spectrum(V.astype(np.float64), n_jobs, _DEGREE), -B
    for _ in range(_SWEEPS):
        values, vectors = spectrum.update(negative)
    return -values, vectors
