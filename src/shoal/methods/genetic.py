"""A genetic algorithm: partitions of small blocks crossed, mutated and selected by their SSE.

A chromosome gives each record the number of its group. Pairs of chromosomes, drawn with more chance the lower
their SSE, exchange their tails; groups that are then too small or too large are repaired; now and then a record
changes its group. Tables above `block` records are first cut into blocks by MDAV.

Guarantee: every group has k to 2k - 1 records. The same seed gives the same groups.
Cost: per block population x generations x (records of the block) x attributes; so O(n) time in all, with a large
factor; O(n) memory.

Reference: A. Solanas, A. Martinez-Balleste, J. M. Mateo-Sanz and J. Domingo-Ferrer, Multivariate microaggregation
based genetic algorithms, 3rd IEEE Conference on Intelligent Systems (2006).
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.estimator import Microaggregator, Progress
from shoal.methods.mdav import MDAV
from shoal.parameters import Number, Rule, Seed, Whole
from shoal.steps.peeling import orders_from

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_BATCH = 20_000  # genes of one chromosome, over the generations, between two looks at the clock


class Genetic(Microaggregator):
    """Microaggregation by a genetic algorithm (Solanas et al. 2006).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    block : int
        Tables of more records than this are first cut by MDAV into blocks of so many records or somewhat
        more; never fewer than 2k.
    generations : int
        How many generations each block evolves.
    population : int
        How many chromosomes there are, at least 2.
    crossover : float
        The probability, 0 to 1, that a pair of chromosomes exchanges its tails.
    mutation : float
        The probability, 0 to 1, that a chromosome has one record change its group.
    random_state : int or None
        The seed; None takes a fresh one each time.

    Notes
    -----
    Gene i is the group of record i; the records of a block stand in the order of their distance from the one
    farthest from the block's centroid. Parents are drawn by a roulette wheel whose sectors are the square of
    (worst SSE - SSE) / (worst SSE - best SSE). After a one-point crossover, records of groups below k and the last
    ones of groups above 2k - 1 are loose; k of them at a time, the first and its nearest, are a new group, the
    others join the nearest group with room. A mutation gives one record a random group number: it joins that
    group, or opens it with the nearest records that others can spare; where the sizes forbid that, it changes
    places with a random record. The best chromosome always lives on.
    """

    name = "genetic"
    idea = "partitions of small blocks crossed, mutated and selected"
    cost = "population x generations x n x m time, O(n) memory"
    reference = "Solanas, Martinez-Balleste, Mateo-Sanz and Domingo-Ferrer 2006"

    _parameters: ClassVar[dict[str, Rule]] = {
        "k": Whole(1),
        "block": Whole(2),
        "generations": Whole(1),
        "population": Whole(2),
        "crossover": Number(0, 1),
        "mutation": Number(0, 1),
        "random_state": Seed(),
    }

    def __init__(
        self,
        k: int = 5,
        block: int = 50,
        generations: int = 1000,
        population: int = 100,
        crossover: float = 0.5,
        mutation: float = 0.1,
        random_state: int | None = 0,
    ) -> None:
        self.k = k
        self.block = block
        self.generations = generations
        self.population = population
        self.crossover = crossover
        self.mutation = mutation
        self.random_state = random_state

    @property
    def _draws(self) -> bool:
        return True

    def _group(self, X: Float, progress: Progress | None) -> Int:
        n, size = len(X), max(self.block, 2 * self.k)
        blocks = MDAV(k=size)._group(X, None) if n > size else np.zeros(n, np.int64)
        members = np.split(np.argsort(blocks, kind="stable"), np.cumsum(np.bincount(blocks))[:-1])
        seeds = np.random.SeedSequence(self.random_state).generate_state(len(members), np.uint64)
        labels = np.empty(n, np.int64)
        done, groups = 0, 0
        for records, seed in zip(members, seeds, strict=True):
            labels[records] = groups + self._evolve(X[records], seed, done, n, progress)
            groups = labels[records].max() + 1
            done += len(records)
        if progress is not None:
            progress(n, n)
        return labels

    def _evolve(self, X: Float, seed: np.uint64, done: int, total: int, progress: Progress | None) -> Int:
        """The groups of one block, the first of whose records are number `done` of `total`."""
        from shoal.kernels.single.genetic import evolve, first_population

        n, k = len(X), self.k
        if n < 2 * k or k == 1:
            return np.arange(n) if k == 1 else np.zeros(n, np.int64)
        order = gene_order(X)
        rows, state = X[order], np.array([seed])
        population, losses = np.empty((self.population, n), np.int64), np.empty(self.population)
        first_population(rows, k, state, population, losses)
        batch = max(1, _BATCH // n)
        crossover, mutation = float(self.crossover), float(self.mutation)
        for first in range(0, self.generations, batch):
            generations = min(batch, self.generations - first)
            evolve(rows, k, generations, crossover, mutation, state, population, losses)
            if progress is not None:
                progress(done + n * (first + generations) // (self.generations + 1), total)
        labels = np.empty(n, np.int64)
        labels[order] = population[losses.argmin()]
        return labels


def gene_order(X: Float) -> Int:
    """The records by their distance from the one farthest from the centroid, so that near ones share a tail."""
    from shoal.kernels.single.peel import squared_distances
    from shoal.kernels.sums.exact import group_means

    farthest = orders_from(X, group_means(X, np.arange(len(X)), np.array([0, len(X)])))[0][0, 0]
    distances = np.empty(len(X))
    squared_distances(X, X[farthest], distances)
    return np.argsort(distances, kind="stable")
