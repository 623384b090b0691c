"""Blocked: the table cut into blocks, the method on each block, and a sweep of exchanges across all borders.

A method that takes time n^2 takes n times the size of a block instead, and blocks go to several threads. What the
borders cost, rounds of local exchanges between neighbouring groups bring back, and as a rule more.

Guarantee: every group has at least k records; the exchanges never raise the SSE. The same groups for any number of
jobs. Cost: that of the method on the blocks, and near-linear time for the rest; O(n) memory, no copy of the table
for a thread.

Reference: blocking as such is old practice of statistical offices; R. Mortazavi, S. Jalili and H. Gohargazi,
Multivariate microaggregation by iterative optimization, Applied Intelligence 39 (2013) 529-544, and
D. Rebollo-Monedero et al., An algorithm for k-anonymous microaggregation and clustering inspired by the design of
distortion-optimized quantizers, Data & Knowledge Engineering 70 (2011) 892-921, block by groups and by macrocells.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.engines import in_order
from shoal.errors import ShoalError, warn
from shoal.estimator import Microaggregator, Progress
from shoal.methods.imhm import blocks_of
from shoal.methods.mdav import MDAV
from shoal.methods.pcl import PCL
from shoal.parameters import Maybe, Number, OneOf, Rule, Whole
from shoal.partition import sse_of
from shoal.protocol import unfitted
from shoal.search.exchanges import Exchanges, halved
from shoal.search.promised import repaired
from shoal.search.scattered import gathered
from shoal.search.weighted import alike, exchanges_for
from shoal.steps.projections import first_component, zscore_sum
from shoal.wrapper import MethodRule, Wrapper, part_of

if TYPE_CHECKING:
    from shoal.privacy.rules import Rules

Float = NDArray[np.float64]
Int = NDArray[np.int64]

By = Literal["kd", "mdav", "pcl", "pca", "zscore"]

_FEW = 0.3  # of the groups are broken by privacy models: then one round of exchanges under these is enough

_LONGER = 4  # times as many rounds of exchanges at most, as long as these gain much

_MOVED = 250  # groups of a region that PCL moves together: with more, a round takes longer for each record
_LEAST_MOVED = 5_000  # records of such a region, so that few groups are at a border

LARGEST_BLOCK = 20_000
"""Records that a block may have where neither `blocks` nor `max_size` is given."""


class Blocked(Wrapper):
    """Any method block by block, then exchanges across the borders.

    Parameters
    ----------
    method : estimator
        The method for each block; by default ``MDAV(k=5)``.
    max_size : int
        The most records of a block, at least 2k; by default 20000.
    blocks : int
        The number of blocks, in place of `max_size`.
    by : {"kd", "mdav", "pcl", "pca", "zscore"}
        How to cut: halves across the widest attribute, again and again; the groups of MDAV in the order of their
        distance from the outermost one, as IMHM's paper has it (a block may then have up to 2k records more);
        macrocells of PCL; slices along the first principal component or along the sum of z-scores.
    sweeps : int
        The most rounds of exchanges between neighbouring groups after the blocks; 0 leaves borders as they are.
    gain : float, optional
        More rounds follow, up to four times as many in all, as long as the last one lowered the SSE by this part.
        Tables of small clusters need that if cuts go through many of them. By default none follow.
    cell_rounds : int
        Rounds of PCL on the groups after the exchanges, region by region, then one more round of exchanges. Every
        group keeps its size, and all records trade places at once, so groups move as a whole, which exchanges
        cannot do. None by default, and none where records have weights or under privacy models.
    n_jobs : int
        Workers for blocks and exchanges; the groups do not depend on it.

    Attributes
    ----------
    blocks_ : the block of each record
    history_ : the SSE after the blocks, after each round of exchanges, and after `cell_rounds`
    interrupted_ : whether a Ctrl-C ended the exchanges early; the groups are the best found until then

    Notes
    -----
    Where records have weights, the method inside must take them, and the exchanges lower the weighted SSE. Blocks
    do not depend on the weights. Groups may then have 2k records or more, and under privacy models too: there the
    groups of the blocks are put right, and no exchange breaks a model.
    """

    name = "blocked"
    family = "around another method"
    idea = "the table in blocks, on all cores, then exchanges across the borders"
    cost = "that of the method on 20000 records, n / 20000 times, O(n) memory"
    reference = "Mortazavi et al. 2013; Rebollo-Monedero et al. 2011"
    weighted = True
    ruled = True

    _parameters: ClassVar[dict[str, Rule]] = {
        "method": MethodRule(),
        "max_size": Maybe(Whole(1)),
        "blocks": Maybe(Whole(1)),
        "by": OneOf(("kd", "mdav", "pcl", "pca", "zscore")),
        "sweeps": Whole(0),
        "gain": Maybe(Number(0, 1)),
        "cell_rounds": Whole(0),
        "n_jobs": Whole(1),
    }

    def __init__(
        self,
        method: Microaggregator | None = None,
        max_size: int | None = None,
        blocks: int | None = None,
        by: By = "kd",
        sweeps: int = 2,
        cell_rounds: int = 0,
        n_jobs: int = 1,
        gain: float | None = None,
    ) -> None:
        self.method = method
        self.max_size = max_size
        self.blocks = blocks
        self.by = by
        self.sweeps = sweeps
        self.gain = gain
        self.cell_rounds = cell_rounds
        self.n_jobs = n_jobs

    def check_parameters(self) -> None:
        """Raise an error if a parameter has a value that it cannot take, or two contradict each other."""
        super().check_parameters()
        if self.max_size is not None and self.blocks is not None:
            raise ShoalError("max_size and blocks both say how many blocks there are; give one of them")
        if self.max_size is not None and self.max_size < 2 * self.k:
            raise ShoalError(f"max_size must be at least 2k = {2 * self.k}, not {self.max_size}")

    def _group(self, X: Float, progress: Progress | None) -> Int:
        if not self.cell_rounds:
            return self._in_blocks(X, None, progress)
        labels = self._in_blocks(X, None, staged(progress, 0, 3), 2)
        return self._moved(X, labels, staged(progress, 2, 3))

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        return self._in_blocks(X, weights, progress)

    def _group_ruled(
        self,
        X: Float,
        weights: Float | None,
        rules: "Rules",
        progress: Progress | None,
        before: Callable[[Int], Int] = lambda labels: labels,
    ) -> Int:
        """As the base has it; `before` is what is done to the groups before they are put right."""
        labels = self._in_blocks(X, weights, progress, 3)
        self.unruled_labels_ = labels
        demands = alike(len(X), self.k, rules)
        few = len(rules.broken(labels)) < _FEW * (labels.max() + 1)
        labels = repaired(X, before(labels), weights, demands)
        exchanges, last = exchanges_for(self.k, self.n_jobs, weights, demands), staged(progress, 2, 3)
        rounds = min(1, self.sweeps) if few else self.sweeps
        return self._exchanged(X, labels, exchanges, last if self.sweeps else progress, rounds)

    def _in_blocks(self, X: Float, weights: Float | None, progress: Progress | None, stages: int = 2) -> Int:
        """Blocks, the method on each, then exchanges: two stages of so many."""
        self.interrupted_ = False
        blocks = blocks_by(self.by, X, self.k, self._number(len(X)), self.n_jobs)
        self.blocks_ = np.empty(len(X), np.int64)
        for number, block in enumerate(blocks):
            self.blocks_[block] = number
        stages = stages if self.sweeps else 1
        labels = self._by_block(X, weights, blocks, staged(progress, 0, stages))
        if self.sweeps and len(blocks) > 1:
            labels = gathered(X, labels, self.k, weights)
        second = staged(progress, 1, stages) if self.sweeps else progress
        return self._exchanged(X, labels, exchanges_for(self.k, self.n_jobs, weights), second, self.sweeps)

    def _exchanged(
        self, X: Float, labels: Int, exchanges: Exchanges, progress: Progress | None, rounds: int
    ) -> Int:
        """The groups after rounds of exchanges, or as far as these came before an interruption."""
        self.history_: list[float] = []
        most = rounds if self.gain is None else _LONGER * rounds

        def shown(done: int, total: int) -> None:
            if progress is not None:
                progress(min(done * most // max(rounds, 1), total), total)

        try:
            if not self.interrupted_:
                for better, error in exchanges.rounds(X, labels, most, shown):
                    labels = better
                    self.history_.append(error)
                    if len(self.history_) > rounds and not self._goes_on():
                        break
            if progress is not None:
                progress(len(X), len(X))
        except KeyboardInterrupt:
            self.interrupted_ = True
            warn("interrupted: these are the best groups found so far")
        return labels

    def _goes_on(self) -> bool:
        """Whether the last round lowered the SSE so much that another one should follow."""
        before, after = [np.inf, *self.history_][-2:]
        return self.gain is not None and after < (1.0 - self.gain) * before

    def _moved(self, X: Float, labels: Int, progress: Progress | None) -> Int:
        """The groups after rounds of PCL in each region, and a round of exchanges."""
        if self.interrupted_:
            return labels
        before = self.history_
        try:
            moved = moved_as_a_whole(X, labels, self.k, self.cell_rounds, self.n_jobs, progress)
        except KeyboardInterrupt:
            self.interrupted_ = True
            warn("interrupted: these are the best groups found so far")
            return labels
        labels = self._exchanged(X, moved, exchanges_for(self.k, self.n_jobs, None), None, 1)
        self.history_ = before + self.history_
        return labels

    def _number(self, n: int) -> int:
        """How many blocks there are, each with at least 2k records unless it is the whole."""
        most = max(1, n // (2 * self.k))
        if self.blocks is not None:
            if self.blocks > most:
                raise ShoalError(
                    f"blocks={self.blocks} leaves fewer than 2k = {2 * self.k} of {n} records to a block; "
                    f"choose at most {most}"
                )
            return self.blocks
        return min(most, -(-n // (self.max_size or max(LARGEST_BLOCK, 2 * self.k))))

    def _by_block(self, X: Float, weights: Float | None, blocks: list[Int], progress: Progress | None) -> Int:
        """The groups of all blocks under one numbering."""
        if len(blocks) == 1:
            return self._grouped(X, weights, progress)
        labels = np.empty(len(X), np.int64)
        groups = done = 0
        parts = in_order(Grouping(X, weights, self._fresh()), blocks, self.n_jobs)
        for block, (part, interrupted) in zip(blocks, parts, strict=True):
            self.interrupted_ |= interrupted
            labels[block] = part + groups
            groups += int(part.max()) + 1
            done += len(block)
            if progress is not None:
                progress(done, len(X))
        return labels


@dataclass(frozen=True)
class Grouping:
    """The work of grouping a block."""

    X: Float
    weights: Float | None
    method: Microaggregator

    def __call__(self, block: Int) -> tuple[Int, bool]:
        """The labels of its records, and whether an interruption ended the work early."""
        model: Microaggregator = unfitted(self.method)
        labels = model._group_either(self.X[block], part_of(self.weights, block), None)
        return labels, getattr(model, "interrupted_", False)


@dataclass(frozen=True)
class Moving:
    """The work of moving the groups of a region by PCL, each with as many records as before."""

    X: Float
    labels: Int
    k: int
    rounds: int

    def __call__(self, records: Int) -> Int:
        """The groups of its records: those that it had if PCL finds nothing better."""
        points = self.X[records]
        groups, own = np.unique(self.labels[records], return_inverse=True)
        cells = PCL(k=self.k, sizes="start", start=own, n_starts=1, noise="none", rounds=self.rounds, n_jobs=1)
        found = cells._group(points, None)
        better = sse_of(points, found) < sse_of(points, own)
        moved: Int = groups[found if better else own]
        return moved


def moved_as_a_whole(X: Float, labels: Int, k: int, rounds: int, n_jobs: int, progress: Progress | None) -> Int:
    """The groups after rounds of PCL in each region, each as large as it was."""
    size = max(min(_MOVED * k, LARGEST_BLOCK), _LEAST_MOVED)
    regions = Exchanges(k, n_jobs, region=size).regions(X, labels, 0)
    moved = labels.copy()
    parts = in_order(Moving(X, labels, k, rounds), regions, n_jobs)
    for done, (records, part) in enumerate(zip(regions, parts, strict=True)):
        moved[records] = part
        if progress is not None:
            progress((done + 1) * len(X) // len(regions), len(X))
    return moved


def staged(progress: Progress | None, stage: int, stages: int) -> Progress | None:
    """Progress of one stage of several as progress of all."""
    if progress is None:
        return None

    def report(done: int, total: int) -> None:
        progress((stage * total + done) // stages, total)

    return report


def blocks_by(by: By, X: Float, k: int, count: int, n_jobs: int) -> list[Int]:
    """The records of each block, by rising index; sizes are about equal."""
    if count == 1:
        return [np.arange(len(X))]
    if by == "kd":
        return [np.sort(block) for block in halved(X, count, n_jobs)]
    if by == "mdav":
        return blocks_of(X, MDAV(k=k)._group(X, None), count)
    if by == "pcl":
        return macrocells(X, count)
    line: Callable[[Float], Float] = first_component if by == "pca" else zscore_sum
    row = np.argsort(line(X), kind="stable")
    return [np.sort(block) for block in np.split(row, len(X) * np.arange(1, count) // count)]


def macrocells(X: Float, count: int) -> list[Int]:
    """Blocks that are themselves groups of n / count records."""
    labels = PCL(k=len(X) // count, n_starts=1, noise="none")._group(X, None)
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])
