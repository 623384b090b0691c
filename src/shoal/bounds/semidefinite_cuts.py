"""Triangles as cuts: what the matrix of a partition keeps, and a relaxed one breaks.

If records j and h are both in the group of i, they are in one group: X[i, j] + X[i, h] <= X[i, i] + X[j, h]. A
fine on each such triangle, 0 or more, may be added to the costs of pairs, because it makes no partition dearer.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Single = NDArray[np.float32]

_NEAR = 40  # records that most belong to each one's group, among which triangles are looked for
_BROKEN = 0.02  # by how much, as a part of 1/k, a triangle has to be broken
_ROOM = 4_000_000
_AT_ONCE = 3  # new triangles a record
_MOST = 100  # triangles a record
_OWN = 1.5  # what a triangle adds to the curvature by itself; those with the same corner add 1 each
_DIGITS = 50


@dataclass
class Triangles:
    """The triangles that are fined."""

    k: int
    corners: Int = field(default_factory=lambda: np.empty((0, 3), np.int64))
    fines: Float = field(default_factory=lambda: np.empty(0))

    def exchange(self, X: Single, Z: Single) -> None:
        """Drop the triangles without a fine, and add some that X breaks; Z says who is near whom."""
        from shoal.kernels.proofs.triangles import broken_triangles

        n, near = len(X), min(_NEAR, len(X) - 1)
        stays = self.fines > 0
        self.corners, self.fines = self.corners[stays], self.fines[stays]
        most = min(_AT_ONCE, _MOST - len(self.fines) // n) * n
        if most <= 0:
            return
        likely = np.sort(np.argpartition(-Z, near, axis=1)[:, : near + 1], axis=1)
        room = min(_ROOM, n * (near + 1) * near // 2)
        corners, amounts = np.empty((room, 3), np.int32), np.empty(room)
        found = broken_triangles(X, likely, _BROKEN / self.k, corners, amounts)
        worst = np.argsort(-amounts[:found], kind="stable")[:most]
        new = corners[worst].astype(np.int64)
        new = new[~np.isin(numbered(new, n), numbered(self.corners, n))]
        self.corners = np.concatenate([self.corners, new])
        self.fines = np.concatenate([self.fines, np.zeros(len(new))])

    def move(self, X: Single, penalty: float, costs: Single) -> None:
        """A step of the fines, towards what X breaks."""
        from shoal.kernels.proofs.triangles import move_fines

        crowd = np.bincount(self.corners[:, 0], minlength=len(X))[self.corners[:, 0]]
        move_fines(X, self.corners, penalty / (_OWN + crowd), self.fines, costs)

    def added(self, C: Float) -> tuple[Float, float]:
        """The costs of pairs with all fines, and by how much any partition may be dearer by rounding.

        Fines are rounded so that their sums are exact. Every row of a partition's matrix sums to 1.
        """
        from shoal.kernels.proofs.triangles import add_fines

        if len(self.fines) == 0:
            return C, 0.0
        unit = float(np.exp2(np.ceil(np.log2(max(float(self.fines.sum()), 1e-30))) - _DIGITS))
        sums = np.zeros_like(C)
        add_fines(self.corners, np.floor(self.fines / unit) * unit, sums)
        largest = float(np.abs(C).max()) + float(np.abs(sums).max())
        sums += C
        return sums, len(C) * largest * 2.0**-52


def numbered(corners: Int, n: int) -> Int:
    """A number for each triangle."""
    return (corners[:, 0] * n + corners[:, 1]) * n + corners[:, 2]
