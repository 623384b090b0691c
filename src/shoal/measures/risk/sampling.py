"""Shares of records that are found, of all records or of some that were drawn at random."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from shoal.cards import counted
from shoal.measures.pair import Float, Int, Pair

T = TypeVar("T")


def drawn(n: int, most: int, seed: int) -> Int:
    """The numbers of at most so many of n records, in order."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


@dataclass(frozen=True)
class Rate:
    """A share of records, in percent, and its standard error where they were drawn; 0 where all were looked at."""

    percent: float
    error: float
    records: int
    of: int

    @classmethod
    def of_shares(cls, shares: Float, of: int) -> "Rate":
        """The mean of some records for all of them."""
        variance = float(shares.var(ddof=1)) if 1 < len(shares) < of else 0.0
        error = 100.0 * float(np.sqrt(variance / len(shares) * (1.0 - len(shares) / of)))
        return cls(100.0 * float(shares.mean()), error, len(shares), of)

    @property
    def said(self) -> str:
        """The share as a text."""
        return f"{self.percent:.2f} %"

    @property
    def sample_said(self) -> str:
        """How many records it rests on."""
        if self.records == self.of:
            return "all records were looked for"
        return f"{counted(self.records)} records drawn at random, standard error {self.error:.2f} %"

    @property
    def details(self) -> dict[str, float]:
        """What the figure keeps."""
        return {"standard_error": self.error, "sampled": self.records, "records": self.of}


def once(function: Callable[[Pair], T]) -> Callable[[Pair], T]:
    """The function, computed once for each pair: several figures rest on it."""
    kept: WeakKeyDictionary[Pair, T] = WeakKeyDictionary()

    @wraps(function)
    def asked(pair: Pair) -> T:
        if pair not in kept:
            kept[pair] = function(pair)
        return kept[pair]

    return asked
