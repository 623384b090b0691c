"""The groups that are known, how much of each is used, and the prices at which they hold every record once."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Groups = tuple[NDArray[np.int32], Int]  # their records, so many of each row

_KNOWN = 8  # times as many groups as records are remembered at most,
_STAY = 6  # and so many of them once there are more
_STEPS, _FEWEST_STEPS = 300, 60  # of balancing,
_WORK = 2_000_000_000  # as many as look at so many records in all
_AT_ONCE = 40_000_000  # records that balancing looks at between two moments when it can be left
_ROWS = 50_000  # groups whose SSE is computed at once


class Pool:
    """Groups of a table's records."""

    def __init__(self, X: Float, high: int) -> None:
        self.X = X
        self.members = np.zeros((0, high), np.int32)
        self.sizes, self.costs, self.use = np.zeros(0, np.int64), np.zeros(0), np.zeros(0)
        self._keys = np.zeros(0, np.uint64)
        self._key = np.random.default_rng(0).integers(0, 2**63, len(X), dtype=np.uint64)

    def add(self, groups: Groups) -> int:
        """Take groups; how many of them are new."""
        members, sizes = groups
        keys = self._key[members]
        keys[~self._there(sizes)] = 0
        keys, first = np.unique(keys.sum(axis=1, dtype=np.uint64), return_index=True)
        new = ~np.isin(keys, self._keys)
        members, sizes = members[first[new]], sizes[first[new]]
        self.members, self.sizes = np.concatenate([self.members, members]), np.concatenate([self.sizes, sizes])
        self.costs = np.concatenate([self.costs, self._sse(members, sizes)])
        self.use = np.concatenate([self.use, np.zeros(len(sizes))])
        self._keys = np.concatenate([self._keys, keys[new]])
        return len(sizes)

    def forget(self, prices: Float) -> None:
        """Of too many groups keep those that are used, and others that are the next to undercut the prices."""
        if len(self.sizes) > _KNOWN * len(self.X):
            dearer = np.where(self.use > 0, -np.inf, (self.costs - self._sums(prices)) / self.sizes)
            stay = np.sort(np.argsort(dearer, kind="stable")[: _STAY * len(self.X)])
            self.members, self.sizes, self.costs = self.members[stay], self.sizes[stay], self.costs[stay]
            self.use, self._keys = self.use[stay], self._keys[stay]

    def worth(self, prices: Float) -> float:
        """What the prices prove of partitions into known groups."""
        from shoal.kernels.proofs.ascent import charged

        least = np.empty(len(prices))
        charged(self.members, self.sizes, self.costs, prices, least)
        return float(prices.sum() + least.sum())

    def balance(self, prices: Float, scale: Float, highest: Float) -> Iterator[Float]:
        """The prices after each part of so many steps; the last ones are the best that were found."""
        from shoal.kernels.proofs.ascent import balance

        held, total_use, total = np.empty(len(prices)), np.zeros(len(self.use)), np.zeros(len(prices))
        holding = np.bincount(self.members[self._there(self.sizes)], minlength=len(prices))
        lengths = 1.0 / self._sums(scale), scale / np.maximum(holding, 1)
        prices = np.minimum(prices, highest)
        looks = max(1, int(self.sizes.sum()))
        all_steps = min(_STEPS, max(_FEWEST_STEPS, _WORK // looks))
        known = self.members, self.sizes, self.costs
        for first, last in ranges(all_steps, max(1, _AT_ONCE // looks)):
            balance(*known, last - first, self.use, prices, highest, *lengths, held, total_use, total)
            yield prices
        mean = total / all_steps
        if self.worth(mean) > self.worth(prices):
            self.use = total_use / all_steps
            yield mean

    def partition(self, prices: Float) -> Int | None:
        """Groups that share no record, those that are used most first; who is left joins the nearest one."""
        from scipy.spatial import cKDTree

        from shoal.kernels.proofs.ascent import pick

        if not self.use.any():
            return None
        labels = np.full(len(self.X), -1)
        order = np.lexsort(((self.costs - self._sums(prices)) / self.sizes, -self.use))
        count = pick(self.members, self.sizes, order, labels)
        held = np.flatnonzero(labels >= 0)
        centres = np.zeros((count, self.X.shape[1]))
        np.add.at(centres, labels[held], self.X[held])
        centres /= np.bincount(labels[held])[:, None]
        labels[labels < 0] = cKDTree(centres).query(self.X[labels < 0])[1]
        return labels

    def _there(self, sizes: Int) -> NDArray[np.bool_]:
        return np.arange(self.members.shape[1]) < sizes[:, None]

    def _sums(self, values: Float) -> Float:
        sums = np.empty(len(self.sizes))
        for part in ranges(len(sums), _ROWS):
            rows = slice(*part)
            taken = values[self.members[rows]]
            taken[~self._there(self.sizes[rows])] = 0.0
            sums[rows] = taken.sum(axis=1)
        return sums

    def _sse(self, members: NDArray[np.int32], sizes: Int) -> Float:
        costs = np.empty(len(sizes))
        for size in np.unique(sizes):
            these = np.flatnonzero(sizes == size)
            for part in ranges(len(these), _ROWS):
                some = these[slice(*part)]
                rows = self.X[members[some, :size]]
                costs[some] = ((rows - rows.mean(axis=1, keepdims=True)) ** 2).sum(axis=(1, 2))
        return costs


def ranges(n: int, size: int) -> list[tuple[int, int]]:
    """All of n in parts."""
    return [(first, min(first + size, n)) for first in range(0, n, size)]
