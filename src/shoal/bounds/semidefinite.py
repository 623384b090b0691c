"""The semidefinite stage: a multiplier whose bound is high, by the alternating direction method of multipliers.

Two copies of a partition's matrix are kept: the rows of one are in their hulls, the eigenvalues of the other are
between 0 and 1, and their sum is at most the number of groups. What pulls the two together is a multiplier, and
any multiplier proves a bound. The steps are in single precision; what they prove is computed in double precision
(`semidefinite_proof.py`).

Reference: the method: S. Boyd, N. Parikh, E. Chu, B. Peleato and J. Eckstein, Distributed optimization and
statistical learning via the alternating direction method of multipliers, Foundations and Trends in Machine
Learning 3 (2011) 1-122. The relaxation: J. Peng and Y. Wei, Approximating k-means-type clustering via semidefinite
programming, SIAM Journal on Optimization 18 (2007) 186-205.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.semidefinite_cuts import Triangles
from shoal.bounds.semidefinite_proof import proven, row_minima
from shoal.bounds.semidefinite_spectrum import Spectrum
from shoal.engines import in_order, using
from shoal.engines.threads import threads

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Single = NDArray[np.float32]

_ALONG = 1.6  # over-relaxation
_LOOK = 10  # steps between two looks at the bound
_UNEVEN = 2.0  # by how much one residual may be above the other before the penalty changes
_EARLY = 200  # steps until which it changes faster
_CHANGES = 1.5, 1.15
_GAIN = 1e-5  # a look at the bound that gains less is idle
_PATIENCE = 20  # looks that are idle before it ends
_UNCUT = 60  # steps before triangles are looked for,
_EXCHANGE = 20  # and between two such looks
_RARELY = 12.0  # times as long as a proof took goes by before the next one
_ROUNDING = 1.5e-15


def half_squares(X: Float) -> Float:
    """Half the squared distances of all pairs."""
    C = np.zeros((len(X), len(X)))
    for column in X.T:
        C += (column[:, None] - column) ** 2
    C *= 0.5
    return C


@dataclass
class Semidefinite:
    """The method of multipliers, a step at a time; `bound` is what is proven."""

    X: Float
    k: int
    high: int
    labels: Int  # a good partition, where it begins
    n_jobs: int = 1
    bound: float = 0.0
    until: float = inf
    estimate: float = field(init=False, default=-inf)  # of the bound that the last multiplier proves

    def __post_init__(self) -> None:
        n, self.groups = len(self.X), len(self.X) // self.k
        self.C = half_squares(self.X)
        self.exponent = int(np.frexp(self.C.mean())[1])
        self.C = np.ldexp(self.C, -self.exponent)
        self.single = self.C.astype(np.float32)
        self.sum = float(self.C.sum())
        sizes = np.bincount(self.labels)
        members = (np.arange(len(sizes)) == self.labels[:, None]) / np.sqrt(sizes)
        members = members.astype(np.float32)
        self.penalty = float(self.k)
        self.Z = members @ members.T
        self.U = self.single * np.float32(-1.0 / self.penalty)
        self.G, self.S = np.empty_like(self.Z), np.empty_like(self.Z)
        self.spectrum = Spectrum((members - members.mean(axis=0))[:, 1:], self.n_jobs)
        self.shifts, self.slack = np.zeros(n), np.full(n, np.inf)
        self.moved, self.used = np.empty((n, 2)), 0
        self.parts = parts_of_triangle(n, 2 * self.n_jobs)
        self.triangles = Triangles(self.k)
        self.cost, self.proved, self.tried = 0.0, monotonic(), -inf

    def steps(self) -> Iterator[None]:
        """Until more steps gain little; may be left at any of them."""
        from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

        one_thread = ThreadpoolController()  # threads of BLAS wait for each other where cores are shared
        step, idle, best = 0, 0, -inf
        while True:
            began = monotonic()
            with one_thread.limit(limits=1, user_api="blas"):
                self.fill_difference()
                values, fractions = self.project_spectrum()
            yield
            step += 1
            looking = step % _LOOK == 0
            if looking:
                self.multiplier()
                self.estimate = self.worth(values, fractions)
                idle = 0 if self.estimate > best * (1 + _GAIN) else idle + 1
                best = max(best, self.estimate)
                yield
                ended = idle > _PATIENCE
                if self.is_time(ended, (monotonic() - began) * _LOOK):
                    with one_thread.limit(limits=1, user_api="blas"):
                        self.prove()
                    yield
                if ended:
                    return
            if step >= _UNCUT and step % _EXCHANGE == 0:
                self.triangles.exchange(self.G, self.Z)
            self.triangles.move(self.G, self.penalty, self.single)
            self.project_rows()
            if looking:
                self.balance(_CHANGES[step > _EARLY])
            yield

    def fill_difference(self) -> None:
        """What the next spectrum is taken of."""
        from shoal.kernels.proofs.hulls import fill_difference

        work = partial(apply, fill_difference, (self.U, self.Z, self.single, 1.0 / self.penalty, self.S))
        self.in_threads(work)

    def project_rows(self) -> None:
        """The copy whose rows are in their hulls."""
        from shoal.kernels.proofs.hulls import project_rows

        arrays = self.U, self.Z, self.G, _ALONG, self.k, self.high, self.shifts, self.slack, self.moved
        self.in_threads(partial(apply, project_rows, arrays))

    def in_threads(self, work: Callable[[tuple[int, int]], None]) -> None:
        """The rows in parts, each its own."""
        with using(threads):
            for _ in in_order(work, self.parts, self.n_jobs):
                pass

    def project_spectrum(self) -> tuple[Float, Float]:
        """The copy with eigenvalues from 0 to 1 and a trace of at most the number of groups."""
        values, vectors = self.spectrum.update(self.S, self.used)
        fractions = capped(values, self.groups - 1)
        used = fractions > 0
        self.used = int(used.sum())
        scaled = vectors[:, used] * np.sqrt(fractions[used]).astype(np.float32)
        self.in_threads(partial(apply, outer, (scaled, self.G)))
        self.G += np.float32(1.0 / len(self.G))
        return values, fractions

    def multiplier(self) -> None:
        """The multiplier after the spectrum's projection, in the place of what that was taken of."""
        np.subtract(self.G, self.Z, out=self.S)
        self.S += self.U
        self.S *= np.float32(self.penalty)

    def worth(self, values: Float, fractions: Float) -> float:
        """About what the multiplier proves; its spectrum is known from the projection."""
        below = np.minimum(np.sort(-self.penalty * (values - fractions))[: self.groups - 1], 0.0)
        total = self.sum + float(self.S.sum(dtype=np.float64))
        return total / len(self.S) + float(below.sum()) + row_minima(self.S, self.k, self.high)[0]

    def is_time(self, ended: bool, until_next: float) -> bool:
        """Whether to prove what the multiplier is worth."""
        gain = np.ldexp(self.estimate, self.exponent) > self.bound
        now = monotonic()
        last = now + 2 * until_next + 2 * self.cost > self.until > now
        return bool(gain) and (ended or last or now - self.proved > _RARELY * self.cost)

    def prove(self) -> None:
        """The bound, in the units of the points."""
        began = monotonic()
        costs, dearer = self.triangles.added(self.C)
        value = proven(costs, self.S, self.k, self.high, self.groups, self.spectrum.vectors, self.n_jobs)
        value -= dearer + abs(value) * _ROUNDING * (self.X.shape[1] + 8)
        self.bound = max(self.bound, float(np.ldexp(value, self.exponent)))
        self.proved = monotonic()
        self.cost = self.proved - began

    def balance(self, change: float) -> None:
        """A penalty under which both copies move alike."""
        apart, step = np.sqrt(self.moved.sum(axis=0))
        if apart > _UNEVEN * step:
            factor = change
        elif step > _UNEVEN * apart:
            factor = 1 / change
        else:
            return
        self.penalty *= factor
        self.U *= np.float32(1 / factor)


def outer(first: int, stop: int, vectors: Single, out: Single) -> None:
    """Some rows of the product of vectors with themselves."""
    np.matmul(vectors[first:stop], vectors.T, out=out[first:stop])


def apply(function: Callable[..., None], arrays: tuple[Any, ...], part: tuple[int, int]) -> None:
    """A kernel on some rows."""
    function(*part, *arrays)


def capped(values: Float, most: int) -> Float:
    """The nearest values between 0 and 1 with a sum of at most `most`; `values` are falling."""
    plain = np.clip(values, 0.0, 1.0)
    if plain.sum() <= most:
        return plain
    low, high = 0.0, float(values[0])
    for _ in range(60):
        middle = (low + high) / 2
        if np.clip(values - middle, 0.0, 1.0).sum() > most:
            low = middle
        else:
            high = middle
    return np.clip(values - high, 0.0, 1.0)


def parts_of_triangle(n: int, parts: int) -> list[tuple[int, int]]:
    """Ranges of rows, of whole blocks, that have about the same part of a lower triangle."""
    ends = np.unique(np.round(n * np.sqrt(np.arange(1, parts) / parts) / 64).astype(np.int64) * 64)
    ends = np.concatenate([[0], ends[(ends > 0) & (ends < n)], [n]])
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
