"""No bound is above the optimum: every stage alone and all together, looked at after each step and cut off anywhere."""

import signal
from contextlib import contextmanager
from functools import cache
from math import inf

import numpy as np

import naive
from shoal.bounds import Bounding, lower, market, pool, semidefinite

KINDS = ("random", "tied", "duplicated", "clustered", "skewed", "collinear", "huge", "tiny", "far", "mixed")
WAYS = {
    "as chosen": {},
    "prices": {(lower, "_LOCAL"): inf},
    "semidefinite": {(lower, "_LOCAL"): 0, (lower, "_GLOBAL"): 0, **dict.fromkeys([(semidefinite, "_LOOK")], 1)}
    | {(semidefinite, "_RARELY"): 0.0, (semidefinite, "_UNCUT"): 5, (semidefinite, "_EXCHANGE"): 3},
    "market": {(lower, "_MATRIX"): 0, (lower, "_GLOBAL"): inf, (market, "_ROUNDS"): 4}
    | {(market, "_TURNS"): 2, (market, "_CANDIDATES"): 8, (market, "_GATHERED"): 64, (pool, "_STEPS"): 60},
}
"""What to set so that one stage gives the bound."""


def table_of(kind, n, rng):
    """A table of n records and 2 to 4 attributes."""
    X = rng.normal(size=(n, int(rng.integers(2, 5))))
    if kind == "tied":
        return rng.integers(0, 3, X.shape).astype(float)
    if kind == "duplicated":
        return X[rng.integers(0, n, n)]
    if kind == "clustered":
        return np.round(3 * X) + 0.05 * rng.normal(size=X.shape)
    if kind == "skewed":
        return np.exp(2 * X)
    if kind == "collinear":
        return X[:, :1] * X[0] + 5.0
    if kind == "far":
        return 1e9 + 1e-6 * X  # no mean of these is a double
    if kind == "mixed":
        return X * 10.0 ** rng.integers(-9, 9, X.shape[1]) + 10.0 ** rng.integers(0, 9)
    return X * {"huge": 1e100, "tiny": 1e-100}.get(kind, 1.0)


def exact_optimum(X, k):
    """The least SSE as a fraction: no bound may be above it, not even by rounding."""
    return naive.optimum_by_subsets(X, k, naive.exact_group_sse)


def rounding(X):
    """What an SSE computed with rounded means may be wrong by."""
    return X.size * (1e-15 * np.abs(X).max()) ** 2 + 1e-290


@contextmanager
def one_way(way):
    """Only this stage after the first ones."""
    before = {place: getattr(*place) for place in WAYS[way]}
    for (module, name), value in WAYS[way].items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name), value in before.items():
            setattr(module, name, value)


def greatest_bound(X, k, way, rng, steps):
    """The bound after so many steps at most, some of them in slices, in the end interrupted by chance.

    Returns the greatest of all bounds that were ever shown, and the stages that gave them.
    """
    seen, stages = [0.0], set()

    def look(bound):
        seen.append(float(bound))
        stages.add(bound.stage)
        if len(seen) > steps:
            raise KeyboardInterrupt

    with one_way(way):
        bounding = Bounding(X, k)
        if rng.random() < 0.3:
            bounding.learn(rng.permutation(len(X)) % (len(X) // k))  # a bad partition
        while not bounding.done:
            bounding.run(0.01 * rng.random() * rng.integers(2), look)
    return max(seen), stages


@cache
def compiled(way):
    """Load what a stage calls: a signal in the middle of that is the compiler's affair."""
    with one_way(way):
        for k in (2, 4):
            Bounding(table_of("random", 30, np.random.default_rng(0)), k).run(1)


def bound_cut_off(X, k, way, seconds):
    """The bound that is left when a signal comes after so many seconds, wherever it comes."""

    came, over = [], []

    def interrupt(*_):
        came.append(True)
        if not over:
            raise KeyboardInterrupt

    compiled(way)
    with one_way(way):
        bounding = Bounding(X, k)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            bounding.run(20 * seconds)
            over.append(True)
        except BaseException:  # NumPy makes errors of its own of a signal
            if not came:
                raise
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
            signal.signal(signal.SIGALRM, before)
    return float(bounding.bound)
