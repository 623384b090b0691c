"""MDAV beside the obvious vectorised one, in the same run: the compiled scan against plain numpy."""

import time

import numpy as np

from shoal import MDAV


def numpy_mdav(X: np.ndarray, k: int) -> list[np.ndarray]:
    """The reference: the steps of the method in numpy, a mask of free records, no tricks."""
    free = np.arange(len(X))
    groups = []
    while len(free) >= 2 * k:
        points = X[free]
        seed = ((points - points.mean(axis=0)) ** 2).sum(axis=1).argmax()
        for _ in range(2):
            points = X[free]
            distance = ((points - points[seed]) ** 2).sum(axis=1)
            group = np.argpartition(distance, k - 1)[:k]
            groups.append(free[group])
            distance[group] = -1
            farthest = free[distance.argmax()]
            free = np.delete(free, group)
            seed = int(np.searchsorted(free, farthest))
    return [*groups, free]


def seconds(work, *arguments) -> float:
    start = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - start


MDAV(k=2).fit(np.zeros((10, 2)))  # compile
print(f"{'records':>8} {'attributes':>10} {'k':>4} {'numpy s':>9} {'Shoal s':>9} {'ratio':>6}")
rng = np.random.default_rng(0)
for n, m, k in [(1_000, 10, 3), (5_000, 10, 3), (20_000, 10, 5), (20_000, 10, 50), (20_000, 2, 5)]:
    X = rng.normal(size=(n, m))
    reference = seconds(numpy_mdav, X, k)
    ours = seconds(MDAV(k=k).fit, X)
    print(f"{n:8} {m:10} {k:4} {reference:9.2f} {ours:9.2f} {reference / ours:6.1f}")
