"""Prices for tables of any size: found around each record, and proven from its neighbours.

A quick search finds a group around each record that undercuts the prices, and then prices are found at which the
groups that are known hold every record once (`pool.py`, `kernels/proofs/ascent.py`), in turn. At last it is proven
how much any group undercuts them, wherever its records are (`kernels/proofs/nearby.py`). Of groups with different
anchors there are at most n // k, so the sum of all prices and the n // k lowest of these numbers is a lower bound.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import inf
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.pool import Groups, Pool, ranges
from shoal.engines import in_order, using
from shoal.engines.threads import threads

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MOST = 60_000_000  # numbers that are held of all records, half a GB
_NEAR = 8  # times k neighbours among which groups are looked for,
_FEWEST_NEAR, _MOST_NEAR = 40, 80  # within limits
_SIZES = 5  # how many group sizes are tried at most
_MOVES = 4  # of a centre
_START = 1.3  # times its share is a record's first price
_ROUNDS = 12  # of better prices at most in a turn, and fewer
_NEW = 1e-3  # where the part of records around which there is a new group is less
_RISING = 0.4  # part of the time for better prices
_LEAST_TIME = 2.0  # seconds that a part of the work has at least
_WEAK, _LOWER = 0.5, 0.8  # anchors that lose more than this part of their price get so much of it
_TURNS = 12
_GAIN_OF_TURN = 1e-3
_FACTORS = (1.0, 0.97, 0.93, 0.9, 0.86, 0.82, 0.76, 0.7)
_SAMPLE = 600  # anchors from which the result of a factor is estimated
_BLOCK = 12  # records of a block, about
_GATHERED = 8192  # records that one anchor's groups are looked for among at most,
_CANDIDATES = 1200  # and those whose distances from each other are held
_BROUGHT = 4  # groups that a search brings
_NODES = 20_000  # steps of a search
_CHUNK = 4096  # anchors


def fits(n: int, high: int) -> bool:
    """Whether memory allows it."""
    return 2 * n * high <= _MOST


@dataclass
class Market:
    """Prices of a large table, a step at a time; `bound` is what is proven."""

    X: Float
    k: int
    high: int
    shares: Float  # prices that no group undercuts
    n_jobs: int = 1
    until: float = inf
    bound: float = 0.0
    size: float = 0.0  # the sum of all prices behind it
    prices: Float = field(init=False)
    highest: Float = field(init=False)  # prices that a proof has time for

    def __post_init__(self) -> None:
        self.prices, self.highest = _START * self.shares, np.full(len(self.X), inf)
        positive = np.maximum(self.shares, 0.0)  # some shares of divided distances are below 0
        self.scale = positive + 1e-3 * positive.mean()
        self.pool = Pool(self.X, self.high)

    def steps(self) -> Iterator[None]:
        """Better prices and their proof, in turns; may be left at any step."""
        from shoal.kernels.search_tree.neighbours import nearest_neighbours

        count = min(max(_FEWEST_NEAR, min(_NEAR * self.k, _MOST_NEAR), self.high - 1), len(self.X) - 1)
        self.near, d2 = nearest_neighbours(self.X, count)
        self.halves = halves_of(d2, self.high)
        del d2
        self.blocks = Blocks(self.X)
        yield
        for _ in range(_TURNS):
            before = self.bound
            yield from self.rise()
            yield from self.prove()
            if not self.bound > before * (1 + _GAIN_OF_TURN) or monotonic() > self.until:
                break

    def partition(self) -> Int | None:
        """A partition of groups that are in use, if there are any yet."""
        return self.pool.partition(self.prices)

    def time(self, part: float) -> float:
        """The moment when a part of the time left is over."""
        now = monotonic()
        return now + max(_LEAST_TIME, part * (self.until - now))

    def rise(self) -> Iterator[None]:
        """Prices at which known groups hold each record once, and groups that undercut them, in turn."""
        from shoal.kernels.proofs.ascent import fill_groups

        n, end = len(self.X), self.time(_RISING)
        wanted = sizes_to_try(self.k, self.high)
        members, sizes, costs = np.zeros((n, self.high), np.int32), np.zeros(n, np.int64), np.empty(n)
        work = partial(fill, fill_groups, self.X, self.near, wanted, members, sizes, costs)
        for turn in range(_ROUNDS):
            with using(threads):
                parts = [(*part, self.prices) for part in ranges(n, 4 * _CHUNK)]
                for _ in in_order(work, parts, self.n_jobs):
                    yield
            found = sizes > 0
            new = self.pool.add((members[found], sizes[found]))
            if turn and (new < _NEW * n or monotonic() > end):
                break
            self.pool.forget(self.prices)
            for prices in self.pool.balance(self.prices, self.scale, self.highest):
                self.prices = prices.copy()
                yield

    def prove(self) -> Iterator[None]:
        """What the prices are worth, lowered by the factor that promises most."""
        n, end = len(self.X), self.time(1.0)
        sample = np.random.default_rng(0).choice(n, min(_SAMPLE, n), replace=False)
        best, chosen = -inf, _FACTORS[-1]
        for factor in _FACTORS:
            began = monotonic()
            proof = Proof(self, factor * self.prices)
            lowest = proof.lowest(sample)[0]
            yield
            missing = np.sort(lowest)[: len(sample) // self.k].sum() * n / len(sample)
            promised = float(proof.prices.sum()) + float(missing)
            needed = (monotonic() - began) * n / len(sample) / self.n_jobs
            if promised < best:
                break
            if monotonic() + needed < end:
                best, chosen = promised, factor
        yield from self.run(Proof(self, chosen * self.prices))

    def run(self, proof: "Proof") -> Iterator[None]:
        """All anchors, the dearest first.

        Groups whose anchor is still to come have only records that are still to come, so it is enough to lower
        the prices of these to their shares.
        """
        n, prices = len(self.X), proof.prices
        lowest, safe = np.zeros(n), np.minimum(prices, self.shares)
        parts = [proof.order[first : first + _CHUNK] for first in range(0, n, _CHUNK)]
        done, paid, found = 0, float(safe.sum()), []
        with using(threads):
            for part, (values, groups) in zip(parts, in_order(proof.lowest, parts, self.n_jobs), strict=True):
                lowest[done : done + len(part)] = values
                paid += float((prices[part] - safe[part]).sum())
                found.append(groups)
                done += len(part)
                if done == n or done % (16 * _CHUNK) == 0:
                    value = paid + float(np.sort(lowest)[: n // self.k].sum())
                    if value > self.bound:
                        self.bound, self.size = value, float(np.abs(prices).sum())
                yield
        members, sizes = (np.concatenate(part) for part in zip(*found, strict=True))
        self.pool.add((members, sizes))
        weak = proof.order[lowest < -_WEAK * prices[proof.order]]
        self.highest[weak] = np.maximum(self.shares[weak], _LOWER * self.prices[weak])


class Blocks:
    """The records in blocks of neighbours, and boxes around them, in pairs, pairs of pairs, ..."""

    def __init__(self, X: Float) -> None:
        from shoal.kernels.search_tree.order import halve

        self.order = np.arange(len(X))
        count = 1 << max(0, int(np.log2(max(1, len(X) // _BLOCK))))
        self.starts = np.concatenate([[0], halve(X, self.order, count)])
        self.rows = np.ascontiguousarray(X[self.order])
        self.place = np.empty(len(X), np.int64)
        self.place[self.order] = np.arange(len(X))
        self.boxes = np.stack([self.upwards(self.rows, np.minimum), self.upwards(self.rows, np.maximum)], axis=1)

    def upwards(self, values: NDArray[Any], function: np.ufunc) -> NDArray[Any]:
        """What the function makes of each node's records; node 1 is the root, the blocks come last."""
        count = len(self.starts) - 1
        nodes = np.empty((2 * count, *values.shape[1:]), values.dtype)
        nodes[count:] = function.reduceat(values, self.starts[:-1])
        while count > 1:
            count //= 2
            nodes[count : 2 * count] = function(
                nodes[2 * count : 4 * count : 2], nodes[2 * count + 1 : 4 * count : 2]
            )
        nodes[0] = nodes[1]
        return nodes


class Proof:
    """By how much groups undercut prices, anchor by anchor."""

    def __init__(self, given: Market, prices: Float) -> None:
        from shoal.kernels.proofs.nearby import Market as Records

        self.given, self.prices, self.blocks = given, prices, given.blocks
        blocks = given.blocks
        self.order = np.argsort(-prices, kind="stable")
        rank = np.empty(len(prices), np.int64)
        rank[self.order] = np.arange(len(prices))
        prices, rank, halves = prices[blocks.order], rank[blocks.order], given.halves[blocks.order]
        greed = prices - halves[:, given.k - 2] / given.k
        tops = [blocks.upwards(values, np.maximum) for values in (prices, greed, rank)]
        self.market = Records(blocks.rows, prices, rank, halves, blocks.starts, blocks.boxes, *tops)

    def lowest(self, anchors: Int) -> tuple[Float, Groups]:
        """For each anchor a number, by no more than which its groups undercut prices, and groups that do."""
        from shoal.kernels.proofs.nearby import new_room, undercuts

        given, few = self.given, len(anchors)
        room, lowest = new_room(_GATHERED, _CANDIDATES, given.high), np.empty(few)
        members = np.zeros((few, _BROUGHT, given.high), np.int32)
        sizes = np.empty((few, _BROUGHT), np.int64)
        limits = given.k, given.high, _NODES
        undercuts(self.market, self.blocks.place[anchors], *limits, room, lowest, members, sizes)
        found = sizes > 0
        return lowest, (self.blocks.order[members[found]].astype(np.int32), sizes[found])


def halves_of(d2: Float, high: int) -> Float:
    """Half the sum of the t smallest distances, for t from 0; beyond those that are known it stays the same."""
    halves = np.zeros((len(d2), high))
    known = min(d2.shape[1], high - 1)
    np.cumsum(0.5 * d2[:, :known], axis=1, out=halves[:, 1 : known + 1])
    halves[:, known + 1 :] = halves[:, known : known + 1]
    return halves


def sizes_to_try(k: int, high: int) -> Int:
    """Some sizes of groups; most good groups are small."""
    if high - k < _SIZES:
        return np.arange(k, high + 1)
    return np.unique([k, k + 1, k + 2, (3 * k) // 2, high]).astype(np.int64)


def fill(
    function: Callable[..., None],
    X: Float,
    near: Int,
    wanted: Int,
    members: NDArray[np.int32],
    sizes: Int,
    costs: Float,
    part: tuple[int, int, Float],
) -> None:
    """Groups of some records that undercut prices."""
    first, stop, prices = part
    function(first, stop, X, near, prices, wanted, _MOVES, members, sizes, costs)
