"""IMHM: records to centres at the least cost, centres to the means of their records, a path when stuck.

Each round solves a transport problem: every record to a centre, every centre with k to 2k - 1 records, at the
least total distance. Centres move to the means. When a round brings nothing, the groups are lined up and the row
is cut anew (ImprovedMHM), which may also change their number; when that brings nothing either, it is over.

Guarantee: every group has k to 2k - 1 records, and the groups are never worse than those it began with (if these
had k to 2k - 1 records). Same start, same groups; with `randomness`, same seed, same groups.
Cost: a transport problem per round, about n^2 in all; larger tables in blocks, O(n) memory.

Reference: R. Mortazavi, S. Jalili and H. Gohargazi, Multivariate microaggregation by iterative optimization,
Applied Intelligence 39 (2013) 529-544.
"""

import warnings
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError, ShoalWarning
from shoal.estimator import Microaggregator, Progress
from shoal.parameters import Maybe, Number, OneOf, Rule, Seed, Whole
from shoal.partition import means_of, sse_of
from shoal.steps.projections import zscore_sum
from shoal.steps.rows import cut, row_through_groups
from shoal.steps.start import Start, StartRule, groups_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_BLOCK = 5_000  # records that a block may have where the number of blocks is not given
_LEAST_GAIN = 1e-9  # of the SST: the MIN_IL_CHANGE of 1e-7 percent in the paper


class IMHM(Microaggregator):
    """Iterative MHM-based microaggregation (Mortazavi, Jalili and Gohargazi 2013).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    start : a method's name, an estimator or the group of each record
        Where to begin; by default MDAV, as in the paper. Groups of more than 2k - 1 records are cut first.
    objective : {"distance", "squared"}
        What the transport problem minimises: the sum of distances, as in the paper, or of squared distances.
    blocks : int
        How many blocks of neighbouring groups are improved one after the other; by default one for every
        5000 records.
    randomness : float from 0 to 1
        Above 0: the randomised form RIMHM. It begins with the records by their sum of z-scores, shuffled within
        blocks of that share of all records.
    random_state : int
        The seed of the shuffling. Without one every run differs.
    rounds : int
        The most rounds in a block.

    Attributes
    ----------
    history_ : the SSE at the start and after each round
    interrupted_ : whether a Ctrl-C ended the search early; the groups are the best found until then
    """

    name = "imhm"
    idea = "an exact assignment to centres of k to 2k - 1, in turn with means and a path"
    cost = "seconds for 5000 records, larger tables in blocks of that, O(n) memory"
    reference = "Mortazavi, Jalili and Gohargazi 2013"

    _parameters: ClassVar[dict[str, Rule]] = {
        "k": Whole(1),
        "start": Maybe(StartRule()),
        "objective": OneOf(("distance", "squared")),
        "blocks": Maybe(Whole(1)),
        "randomness": Number(0, 1),
        "random_state": Seed(),
        "rounds": Whole(1),
    }

    def __init__(
        self,
        k: int = 5,
        start: Start | None = None,
        objective: str = "distance",
        blocks: int | None = None,
        randomness: float = 0.0,
        random_state: int | None = None,
        rounds: int = 100,
    ) -> None:
        self.k = k
        self.start = start
        self.objective = objective
        self.blocks = blocks
        self.randomness = randomness
        self.random_state = random_state
        self.rounds = rounds

    @property
    def _draws(self) -> bool:
        return self.randomness > 0

    def _group(self, X: Float, progress: Progress | None) -> Int:
        if self.start is not None and self.randomness > 0:
            raise ShoalError("randomness brings its own start; give start or randomness, not both")
        labels = self._start(X, progress)
        blocks = blocks_of(X, labels, self.blocks)
        parts = [np.unique(labels[block], return_inverse=True)[1] for block in blocks]
        errors = [sse_of(X[block], part) for block, part in zip(blocks, parts, strict=True)]
        least = _LEAST_GAIN * sse_of(X, np.zeros(len(X), np.int64))
        self.history_ = [sum(errors)]
        self.interrupted_ = False
        done = len(X)  # the start is the first half
        try:
            for at, block in enumerate(blocks):
                for part, error in self._rounds(X[block], parts[at], least):
                    if error < errors[at]:
                        parts[at], errors[at] = part, error
                    self.history_.append(sum(errors))
                    report(progress, done, len(X))
                done += len(block)
            report(progress, done, len(X))
        except KeyboardInterrupt:
            self.interrupted_ = True
            warnings.warn("interrupted: these are the best groups found so far", ShoalWarning, stacklevel=4)
        return joined(blocks, parts)

    def _start(self, X: Float, progress: Progress | None) -> Int:
        if self.randomness > 0:
            return cut(X, semi_random_row(X, self.randomness, self.random_state), self.k)

        def first_half(done: int, total: int) -> None:
            report(progress, done, total)

        labels = groups_of("mdav" if self.start is None else self.start, X, self.k, first_half)
        if np.bincount(labels).max() >= 2 * self.k:
            return cut(X, row_through_groups(X, labels, by_records=True), self.k)
        return labels

    def _rounds(self, X: Float, labels: Int, least: float) -> Iterator[tuple[Int, float]]:
        """The groups and their SSE after each round: Fig. 2 of the paper, lines 9 to 26."""
        from shoal.kernels.transport.flow import transport

        centroids, prices, best = means_of(X, labels), None, np.inf
        for _ in range(self.rounds):
            sizes = np.full(len(centroids), self.k)
            labels, prices = transport(X, centroids, sizes, 2 * sizes - 1, self.objective == "squared", prices)
            error = sse_of(X, labels)
            if not error < best - least:
                labels, refined = self._on_a_path(X, labels, error, least)
                yield labels, refined
                if not refined < best - least:
                    return
                error, prices = refined, None
            else:
                yield labels, error
            centroids, best = means_of(X, labels), error

    def _on_a_path(self, X: Float, labels: Int, error: float, least: float) -> tuple[Int, float]:
        """The groups lined up and cut anew until that brings no more: lines 18 to 21."""
        for _ in range(self.rounds):
            new = cut(X, row_through_groups(X, labels, by_records=True), self.k)
            new_error = sse_of(X, new)
            gain = error - new_error
            if gain > 0:
                labels, error = new, new_error
            if not gain > least:
                break
        return labels, error


def report(progress: Progress | None, done: int, n: int) -> None:
    """Progress through the start, 0 to n, and through the blocks, n to 2n, as one."""
    if progress is not None:
        progress(done // 2, n)


def semi_random_row(X: Float, share: float, seed: int | None) -> Int:
    """The records by their sum of z-scores, shuffled within blocks of that share; the last takes the rest."""
    row = np.argsort(zscore_sum(X), kind="stable")
    size = max(1, int(len(X) * share))
    rng = np.random.default_rng(seed)
    blocks = max(1, len(X) // size)
    return np.concatenate([rng.permutation(part) for part in np.split(row, size * np.arange(1, blocks))])


def blocks_of(X: Float, labels: Int, blocks: int | None) -> list[Int]:
    """The records of each block: the groups by their centroid's distance from the outermost one, cut evenly."""
    from shoal.kernels.single.peel import squared_distances
    from shoal.steps.rows import rim

    centroids = means_of(X, labels)
    groups = len(centroids)
    if blocks is None:
        blocks = min(groups, -(-len(X) // _BLOCK))
    if blocks > groups:
        raise ShoalError(f"blocks={blocks} is more than there are groups ({groups}); choose fewer blocks")
    distances = np.empty(groups)
    squared_distances(centroids, centroids[rim(centroids)], distances)
    place = np.empty(groups, np.int64)
    place[np.argsort(distances, kind="stable")] = np.arange(groups)
    block = np.searchsorted(np.arange(1, blocks) * groups // blocks, place, side="right")
    return [np.flatnonzero(block[labels] == b) for b in range(blocks)]


def joined(blocks: list[Int], parts: list[Int]) -> Int:
    """The groups of all blocks under one numbering."""
    labels = np.empty(sum(map(len, blocks)), np.int64)
    groups = 0
    for block, part in zip(blocks, parts, strict=True):
        labels[block] = part + groups
        groups += part.max() + 1
    return labels
