"""What the groups of a table tell about a confidential value on average: the information I(W; Q) in nats.

W is the confidential value of a record, Q its group. I(W; Q) is the mean over records of the divergence of the
group's distribution from the table's: the averaged form of t-closeness by Kullback-Leibler. Groups of k records
tell something by chance alone, about (number of values - 1) / 2k nats. So the same figure with the values shuffled
over the records stands beside it.

Reference: D. Rebollo-Monedero, J. Forne and J. Domingo-Ferrer, From t-closeness-like privacy to postrandomization
via information theory, IEEE Transactions on Knowledge and Data Engineering 22 (2010) 1623-1636.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]

SHUFFLES = 20

_DENSE = 50_000_000


class Information(NamedTuple):
    """The information in nats, and the same by chance alone: its mean and its standard deviation."""

    nats: float
    by_chance: float
    spread: float


def information(groups: Int, codes: Int, shuffles: int = SHUFFLES, seed: int = 0) -> Information:
    """What groups tell about values, both by number; records without a value (-1) are left out."""
    there = codes >= 0
    own, values = groups[there], codes[there]
    rng = np.random.default_rng(seed)
    chance = [mutual(own, rng.permutation(values)) for _ in range(shuffles)]
    return Information(mutual(own, values), float(np.mean(chance)), float(np.std(chance)))


def mutual(groups: Int, values: Int) -> float:
    """The mutual information of two columns of numbers, by their relative frequencies."""
    n = len(groups)
    total = together(groups, values) - summed(np.bincount(groups)) - summed(np.bincount(values)) + n * np.log(n)
    return max(0.0, float(total / n))


def together(groups: Int, values: Int) -> float:
    """What pairs of a group and a value add to it."""
    pairs = groups * (int(values.max()) + 1) + values
    if pairs.max() < _DENSE:  # then to count them is faster than to sort them
        return summed(np.bincount(pairs))
    return summed(np.unique(pairs, return_counts=True)[1])


def summed(counts: Int) -> float:
    """The sum of counts times their logarithms."""
    there = counts[counts > 0]
    return float((there * np.log(there)).sum())


class Telling:
    """The same for groups that come some at a time, each of them whole.

    Parameters
    ----------
    counts : how many records of the table have each value
    """

    def __init__(self, counts: Int, shuffles: int = SHUFFLES, seed: int = 0) -> None:
        self._counts, self._rng = counts, np.random.default_rng(seed)
        self._left = np.tile(counts, (shuffles, 1))  # that the groups so far have not, in each shuffled column
        self._pairs, self._groups = np.zeros(1 + shuffles), 0.0

    def add(self, groups: Int, codes: Int) -> None:
        """Some more groups, with all their records."""
        own, values = groups[codes >= 0], codes[codes >= 0]
        if not len(own):
            return
        self._groups += summed(np.bincount(own))
        self._pairs[0] += together(own, values)
        for place, left in enumerate(self._left, 1):
            drawn = self._rng.multivariate_hypergeometric(left, len(own), method="marginals")
            left -= drawn
            shuffled = self._rng.permutation(np.repeat(np.arange(len(drawn)), drawn))
            self._pairs[place] += together(own, shuffled)

    def found(self) -> Information:
        """What all groups tell."""
        n = int(self._counts.sum())
        nats = np.maximum((self._pairs - self._groups - summed(self._counts) + n * np.log(n)) / n, 0.0)
        return Information(float(nats[0]), float(nats[1:].mean()), float(nats[1:].std()))
