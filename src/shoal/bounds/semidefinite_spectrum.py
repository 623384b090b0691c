"""The largest eigenvalues of a symmetric matrix that changes little from one step to the next.

A block of vectors is kept. Chebyshev polynomials of the matrix lift what belongs to large eigenvalues above the
rest, then the block is turned to the best approximation within it (Y. Zhou, Y. Saad, M. L. Tiago and J. R.
Chelikowsky, Self-consistent-field calculations using Chebyshev-filtered subspace iteration, Journal of
Computational Physics 219 (2006) 172-184). All work is products of matrices.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.engines import in_order, using
from shoal.engines.threads import threads

Float = NDArray[np.float64]
Block = NDArray[Any]  # (n, vectors) of either precision
Product = Callable[[Block], Block]

_PROBES = 4
_BEYOND = 1.05  # how far beyond the lowest eigenvalue that was seen another is expected
_FULL = 0.5  # blocks of more than this part of n are not kept: all eigenvalues are computed
_USED = 0.9  # of a block, above which it grows,
_UNUSED = 0.6  # and below which it shrinks
_GROWTH = 0.25
_LEAST = 8  # vectors more than are wanted, at least
_TINY = 1e-30


def filtered(product: Product, block: Block, low: float, cut: float, top: float, degree: int) -> Block:
    """The block after a polynomial that is small on [low, cut] and large above; 1 or so at `top`."""
    middle, half = (low + cut) / 2, (cut - low) / 2
    first = half / (top - middle)
    scale = first
    before, now = block, (product(block) - middle * block) * (first / half)
    for _ in range(degree - 1):
        following = 1 / (2 / first - scale)
        ahead = (product(now) - middle * now) * (2 * following / half)
        ahead -= (scale * following) * before
        before, now, scale = now, ahead, following
    return now


def turned(product: Product, block: Block) -> tuple[Float, Block]:
    """Approximate eigenvalues, falling, and orthonormal eigenvectors from the space of some vectors."""
    from scipy.linalg import LinAlgError, cholesky, solve_triangular

    block = block / np.maximum(np.sqrt((block * block).sum(axis=0)), _TINY)
    try:
        factor = cholesky((block.T @ block).astype(np.float64), lower=True)
    except LinAlgError:  # vectors that depend on each other
        block = np.linalg.qr(block)[0]
        factor = np.eye(block.shape[1])
    inside = (block.T @ product(block)).astype(np.float64)
    inside = solve_triangular(factor, solve_triangular(factor, inside, lower=True).T, lower=True)
    values, turns = np.linalg.eigh((inside + inside.T) / 2)
    turns = solve_triangular(factor, turns[:, ::-1], lower=True, trans="T")
    return values[::-1], block @ turns.astype(block.dtype)


def centred(matrix: Block, n_jobs: int = 1) -> Product:
    """What multiplies by a symmetric matrix, on vectors whose sum is 0, its rows in parts."""
    ends = np.linspace(0, len(matrix), n_jobs + 1).astype(np.int64)
    parts = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))

    def product(block: Block) -> Block:
        block = block - block.mean(axis=0)
        with using(threads):
            images = list(in_order(lambda part: matrix[part[0] : part[1]] @ block, parts, n_jobs))
        image: Block = np.concatenate(images)
        image -= image.mean(axis=0)
        return image

    return product


@dataclass
class Spectrum:
    """The greatest eigenvalues of one matrix after the other, on the vectors whose sum is 0."""

    vectors: Block  # to begin with
    n_jobs: int = 1
    degree: int = 4  # of the polynomials
    seed: int = 0
    values: Float = field(default_factory=lambda: np.empty(0))
    low: float = 0.0

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)
        self.least = self.vectors.shape[1]
        self.probes = self.noise(_PROBES)

    def spare(self, wanted: int) -> int:
        """How many vectors more than are wanted."""
        return _LEAST + int(_GROWTH * wanted)

    def noise(self, count: int) -> Block:
        """Random directions."""
        n = len(self.vectors)
        block: Block = self.random.normal(size=(n, count)).astype(self.vectors.dtype)
        block -= block.mean(axis=0)
        return block

    def update(self, S: Block, used: int | None = None) -> tuple[Float, Block]:
        """The greatest eigenvalues, falling, with their vectors.

        If it is said how many of the last ones were of use, the block grows or shrinks to somewhat more.
        """
        n = len(S)
        if used is not None:
            self.resize(max(used, self.least))
        if self.vectors.shape[1] > _FULL * n:
            means = S.mean(axis=0)
            means -= means.mean() / 2
            values, vectors = np.linalg.eigh(S - means[:, None] - means)
            self.values, self.vectors = values[::-1].astype(np.float64), vectors[:, ::-1]
            self.low = float(self.values[-1]) * _BEYOND
            return self.values, self.vectors

        product = centred(S, self.n_jobs)
        for _ in range(1 if self.low else 10):
            image = product(self.probes)
            sizes = np.sqrt((image * image).sum(axis=0))
            self.low = min(0.98 * self.low, -_BEYOND * float(sizes.max()))
            self.probes = image / np.maximum(sizes, _TINY)
        cut = float(self.values[-1]) if len(self.values) else 0.0
        top = max(float(self.values[0]), 0.1) if len(self.values) else 1.0
        self.low = min(self.low, 2 * cut, -_TINY)
        block = filtered(product, self.vectors, self.low, cut, top, self.degree)
        self.values, self.vectors = turned(product, block - block.mean(axis=0))
        return self.values, self.vectors

    def resize(self, used: int) -> None:
        """As many vectors as are of use, and some more."""
        count = self.vectors.shape[1]
        if used > _USED * count:
            self.vectors = np.hstack([self.vectors, self.noise(self.spare(used))])
        elif used < _UNUSED * count:
            keep = used + self.spare(used)
            self.vectors, self.values = np.ascontiguousarray(self.vectors[:, :keep]), self.values[:keep]
