"""PCL, the probability-constrained Lloyd algorithm: cells of given sizes with the least distortion.

In turn, records go to cells by the rule q(x) = argmin d(x, c_q) + cost_q, with the costs adjusted so that every
cell has its size, and the reconstruction points c_q move to the centroids of their cells. The adjustment is the
dual of a transport problem: solved exactly, the sizes hold to the record, for any k, and no other assignment with
these sizes and points has a lower distortion.

Guarantee: every cell has exactly its size, at least k. The same seed gives the same groups.
Cost: an assignment per round; O(n) memory.

Reference: D. Rebollo-Monedero, J. Forne and M. Soriano, An algorithm for k-anonymous microaggregation and
clustering inspired by the design of distortion-optimized quantizers, Data and Knowledge Engineering 70 (2011)
892-921; D. Rebollo-Monedero, J. Forne, E. Pallares and J. Parra-Arnau, A modification of the Lloyd algorithm for
k-anonymous quantization, Information Sciences 222 (2013) 185-202.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.engines import in_order, jobs, tell
from shoal.errors import ShoalError
from shoal.estimator import Microaggregator, Progress
from shoal.parameters import Maybe, Number, OneOf, Rule, Seed, Whole
from shoal.partition import means_of
from shoal.quantizing.distortions import Distortion, Squared, distortion_of
from shoal.quantizing.lloyd import (
    Cells,
    Solver,
    centroids_of,
    drawn_anew,
    first_cells,
    lloyd_rounds,
    noisy_rounds,
    numeric_solver,
    revived,
    shaken_solver,
    shared_out,
    solver_for,
    swap,
)
from shoal.quantizing.quantizer import Quantizer
from shoal.quantizing.record_weights import RecordWeights, RecordWeightsRule, record_weights_of
from shoal.quantizing.workloads import Measure
from shoal.steps.start import Start, StartRule, groups_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_SWAPPED = 200  # records in a cell beyond which swaps gain next to nothing and cost most
_VERY_FEW = 500  # records up to which there are more rounds with noise
_FEW = 5_000  # records up to which several starts and noise are the default
_ROUNDING = 1e-12  # share of the distortion below which a gain may be rounding


@dataclass(frozen=True)
class Sizes:
    """A whole number for each cell, or the word "start"."""

    def check(self, name: str, value: object) -> object:
        """The value; whether the sizes fit the records is seen when the records are."""
        if isinstance(value, str):
            return OneOf(("start",)).check(name, value)
        sizes = np.asarray(value)
        if sizes.ndim != 1 or not len(sizes) or sizes.dtype.kind not in "iu":
            raise ShoalError(f'{name} must be whole numbers, one for each cell, or "start", not {value!r}')
        return value


@dataclass(frozen=True)
class Probabilities:
    """A positive number for each cell, 1 in all."""

    def check(self, name: str, value: object) -> object:
        """The value, if it is that."""
        shares = np.asarray(value)
        if shares.ndim != 1 or not len(shares) or shares.dtype.kind not in "iuf" or not (shares > 0).all():
            raise ShoalError(f"{name} must be positive numbers, one for each cell, not {value!r}")
        if abs(shares.sum() - 1) > 1e-6:
            raise ShoalError(f"{name} must sum to 1, not {shares.sum():g}")
        return value


@dataclass(frozen=True)
class Hierarchy:
    """The records of a macrocell, or several such numbers, the largest first."""

    def check(self, name: str, value: object) -> object:
        """The value, if it is that."""
        levels = [Whole(2).check(name, level) for level in (value if isinstance(value, list | tuple) else [value])]
        if levels != sorted(levels, reverse=True):
            raise ShoalError(f"{name} must name the largest macrocells first, not {value!r}")
        return value


@dataclass(frozen=True)
class DistortionRule:
    """What `distortion_of` takes."""

    def check(self, name: str, value: object) -> object:
        """The value; errors name what there is."""
        distortion_of(value)
        return value


class PCL(Microaggregator):
    """Probability-constrained Lloyd algorithm (Rebollo-Monedero et al. 2011 and 2013).

    Parameters
    ----------
    k : int
        The least number of records in a cell. There are floor(n / k) cells, whose sizes differ by at most one,
        unless sizes or probabilities are given.
    sizes : sequence of int, or "start"
        The size of each cell, or those of the groups that `start` gives.
    probabilities : sequence of float
        The share of the records that each cell gets, in place of sizes.
    record_weights : array of n, or a dictionary with "distortion", "size" or both
        What each record counts for, all above 0; only proportions matter. An array is for the distortion, of which
        sum w d is then minimised and centroids are weighted means. Size weights measure the cells: `sizes` (which
        sum to theirs) and `probabilities` are shares of them, k still counts records. No cell is off by more than
        the largest size weight, unless k forces it: see `size_deviation_`. Without noise only.
    cost_solver : {"transport", "levenberg-marquardt"}
        How the costs are found: exactly, or by the papers' numeric method, which needs about a hundred records in
        a cell; its last records are then put right by the exact one.
    distortion : "squared", "euclidean", "manhattan", "great-circle", a table or a function
        What is minimised; see `Quantizer`. Noise and swaps are for squared distances alone.
    start : a method's name, an estimator or the group of each record
        The first start; by default MDAV. All further ones are records drawn at random.
    n_starts : int
        How many starts there are; the best result is kept. By default, up to 5000 records, 10 for cells of 20
        records or more and 4 for smaller ones; beyond that 1.
    noise : {"auto", "jitter", "samples", "none"}
        "jitter": the rounds begin with a copy of the data that is shaken anew each time and less and less, and end
        with swaps of records between cells of up to 200; it escapes local optima. "samples": the noisy variation
        of 2011, with many shaken copies of each record. "auto" is "jitter" up to 5000 records, then "none".
    noise_rounds : int
        The rounds with noise, whose standard deviation falls from 2 to 0.1 times that within the cells; by default
        200 for up to 500 records without macrocells, else 50.
    noise_samples : int
        The shaken copies of each record for "samples"; by default as many as give 1000 points in a cell.
    speed : float from 0.01 to 1
        How far reconstruction points move towards the new centroids in a round: 1 all the way, the papers use 0.5.
    rounds : int
        The most rounds without noise.
    tolerance : float
        The rounds end when one gains less than this share of the distortion.
    empty : {"split", "random"}
        Where a cell without records, which only the numeric solver leaves, begins anew: at a record of a large
        cell and at that cell's cost (2013), or at any record and at the lowest cost (2011).
    hierarchy : int, or several
        Macrocells of about so many records are formed by PCL first, then each is divided on its own; several
        numbers, the largest first, are as many levels.
    n_jobs : int
        Workers for starts and macrocells; by default one for each core. The groups do not depend on it.
    random_state : int
        The seed of starts and noise.

    Attributes
    ----------
    quantizer_ : the reconstruction points and costs that assigned the records, as a `Quantizer`
    costs_ : the cost of each cell
    history_ : the distortion after each round without noise, of the start that was kept; weights have the mean 1
    size_deviation_ : how much more than prescribed each cell has, in size weights; 0 without such weights
    """

    name = "pcl"
    family = "everyday"
    idea = "cells of given sizes by a cost-shifted nearest-neighbour rule, in turn with centroids"
    cost = "an exact assignment per round, O(n) memory"
    reference = "Rebollo-Monedero et al. 2011, 2013"

    _renamed: ClassVar[dict[str, str]] = {"weights": "record_weights"}
    _parameters: ClassVar[dict[str, Rule]] = {
        "k": Whole(1),
        "sizes": Maybe(Sizes()),
        "probabilities": Maybe(Probabilities()),
        "record_weights": Maybe(RecordWeightsRule()),
        "cost_solver": OneOf(("transport", "levenberg-marquardt")),
        "distortion": DistortionRule(),
        "start": Maybe(StartRule()),
        "n_starts": Maybe(Whole(1)),
        "noise": OneOf(("auto", "jitter", "samples", "none")),
        "noise_rounds": Maybe(Whole(2)),
        "noise_samples": Maybe(Whole(1)),
        "speed": Number(0.01, 1),
        "rounds": Whole(1),
        "tolerance": Number(0, 1),
        "empty": OneOf(("split", "random")),
        "hierarchy": Maybe(Hierarchy()),
        "n_jobs": Maybe(Whole(1)),
        "random_state": Seed(),
    }

    def __init__(
        self,
        k: int = 5,
        sizes: Sequence[int] | Int | str | None = None,
        probabilities: Sequence[float] | Float | None = None,
        record_weights: ArrayLike | Mapping[str, ArrayLike] | None = None,
        cost_solver: str = "transport",
        distortion: object = "squared",
        start: Start | None = None,
        n_starts: int | None = None,
        noise: str = "auto",
        noise_rounds: int | None = None,
        noise_samples: int | None = None,
        speed: float = 1.0,
        rounds: int = 100,
        tolerance: float = 1e-6,
        empty: str = "split",
        hierarchy: int | Sequence[int] | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
    ) -> None:
        self.k = k
        self.sizes = sizes
        self.probabilities = probabilities
        self.record_weights = record_weights
        self.cost_solver = cost_solver
        self.distortion = distortion
        self.start = start
        self.n_starts = n_starts
        self.noise = noise
        self.noise_rounds = noise_rounds
        self.noise_samples = noise_samples
        self.speed = speed
        self.rounds = rounds
        self.tolerance = tolerance
        self.empty = empty
        self.hierarchy = hierarchy
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _draws(self) -> bool:
        return True

    def update(self, X: ArrayLike, *, progress: Progress | None = None) -> Self:
        """Fit a table that has changed, from the reconstruction points and costs of the last fit."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        self._last = self.quantizer_
        try:
            return self.fit(X, progress=progress)
        finally:
            del self._last

    def _group(self, X: Float, progress: Progress | None) -> Int:
        distortion = distortion_of(self.distortion)
        X = distortion.check(X)
        first = groups_of("mdav" if self.start is None else self.start, X, self.k, None)
        weights = record_weights_of(self.record_weights, len(X))
        self._check_that_they_go_together(distortion, weights)
        sizes = self._sizes(len(X), first) if weights.size is None else self._wanted(weights.size, first)
        task = Task(X, sizes, np.full(len(sizes), self.k), distortion, weights)
        seeds = np.random.SeedSequence(self.random_state)
        if self.hierarchy is None:
            cells = self._best(task, first, seeds, progress, jobs(self.n_jobs))
            self.quantizer_ = Quantizer(cells.centres, cells.costs, distortion)
        else:
            levels = [self.hierarchy] if isinstance(self.hierarchy, int) else list(self.hierarchy)
            cells = self._by_levels(task, levels, seeds, progress, jobs(self.n_jobs))
        self.costs_ = cells.costs
        self.history_ = cells.history
        if weights.size is None:
            self.size_deviation_ = np.zeros(len(sizes))
        else:
            self.size_deviation_ = task.measure.off(cells.labels) * (self._size_total() / len(X))
        if progress is not None:
            progress(len(X), len(X))
        return cells.labels

    def _check_that_they_go_together(self, distortion: Distortion, weights: RecordWeights) -> None:
        plain = isinstance(distortion, Squared) and weights.equal
        whose = "squared distances" if weights.equal else "records of equal weights"
        if self.noise not in ("auto", "none") and not plain:
            raise ShoalError(f"noise={self.noise!r} is for {whose}; use noise='none'")
        if self.cost_solver != "transport" and not plain:
            raise ShoalError(f"cost_solver={self.cost_solver!r} is for {whose}; use 'transport'")

    def _sizes(self, n: int, start: Int) -> Int:
        """The sizes of the cells, in the order of the start's groups where these are meant."""
        if self.sizes is not None and self.probabilities is not None:
            raise ShoalError("give sizes or probabilities, not both")
        if self.probabilities is not None:
            sizes = shared_out(n, np.asarray(self.probabilities, np.float64))
        elif isinstance(self.sizes, str):
            sizes = np.bincount(start)
        elif self.sizes is not None:
            sizes = np.asarray(self.sizes, np.int64)
        else:
            sizes = shared_out(n, np.ones(n // self.k))
        if sizes.sum() != n:
            raise ShoalError(f"sizes sum to {sizes.sum()}, but there are {n} records")
        if sizes.min() < self.k:
            raise ShoalError(f"a cell of {sizes.min()} records is below k={self.k}; choose fewer or larger cells")
        return sizes

    def _size_total(self) -> float:
        assert isinstance(self.record_weights, Mapping)
        return float(np.sum(self.record_weights["size"]))

    def _wanted(self, weights: Float, start: Int) -> Float:
        """The measures of the cells, in weights of the mean 1."""
        n, total = len(weights), self._size_total()
        if self.sizes is not None and self.probabilities is not None:
            raise ShoalError("give sizes or probabilities, not both")
        if self.probabilities is not None:
            shares = np.asarray(self.probabilities, np.float64)
        elif isinstance(self.sizes, str):
            shares = np.bincount(start, weights).astype(np.float64)
        elif self.sizes is not None:
            shares = np.asarray(self.sizes, np.float64)
            if shares.min() <= 0 or abs(shares.sum() - total) > 1e-9 * total:
                raise ShoalError(
                    f"sizes must be above 0 and sum to {total:g} as the size weights do, not to {shares.sum():g}"
                )
        else:
            shares = np.ones(n // self.k)
        if len(shares) * self.k > n:
            raise ShoalError(f"{len(shares)} cells of k={self.k} records are more than {n}; choose fewer cells")
        return np.asarray(shares * (weights.sum() / shares.sum()))

    def _best(
        self, task: "Task", first: Int, seeds: np.random.SeedSequence, progress: Progress | None, n_jobs: int
    ) -> Cells:
        """The cells of the best start, the first of equals."""
        n = len(task.X)
        few = n <= _FEW and isinstance(task.distortion, Squared)
        noise = self.noise if self.noise != "auto" else "jitter" if few and task.weights.equal else "none"
        many = 4 if task.sizes.min() < 20 else 10
        starts = self.n_starts if self.n_starts is not None else many if few else 1
        shares = np.zeros(starts)

        def heard(message: tuple[int, float]) -> None:
            number, shares[number] = message
            if progress is not None:
                progress(int(n * shares.mean()), n)

        work = Starting(self, task, first, noise)
        found = in_order(work, list(enumerate(seeds.spawn(starts))), n_jobs, heard)
        return min(found, key=lambda cells: (task.missed(cells.labels), cells.history[-1]))

    def _started(
        self, task: "Task", first: Int | None, noise: str, seed: np.random.SeedSequence
    ) -> Iterator[Cells]:
        """The cells after each round from one start."""
        rng = np.random.default_rng(seed)
        return self._steps(task, self._begin(task, first, rng), noise, rng)

    def _noise_rounds(self, n: int) -> int:
        few = n <= _VERY_FEW and self.hierarchy is None
        return self.noise_rounds or (200 if few else 50)

    def _begin(self, task: "Task", first: Int | None, rng: np.random.Generator) -> Cells:
        """The cells of the last fit, those of the start, or records drawn at random."""
        X, count = task.X, len(task.sizes)
        if first is not None and hasattr(self, "_last"):
            return resized(self._last, X, count)
        if first is not None and first.max() + 1 == count:
            return first_cells(centroids_of(task.distortion, X, first, count, task.weights.distortion), len(X))
        return first_cells(X[rng.choice(len(X), count, replace=False)], len(X))

    def _steps(self, task: "Task", cells: Cells, noise: str, rng: np.random.Generator) -> Iterator[Cells]:
        """The cells after each round: with noise, without, and after swaps."""
        X, sizes, exact = task.X, task.sizes, task.solver()
        solver = numeric_solver if self.cost_solver == "levenberg-marquardt" else exact
        revive = revived if self.empty == "split" else partial(drawn_anew, rng=rng)
        plain = partial(
            lloyd_rounds, X, sizes, distortion=task.distortion, speed=self.speed, tolerance=self.tolerance,
            weights=task.weights.distortion, revive=revive,
        )  # fmt: skip
        latest = cells
        if noise != "none":
            copies = 1 if noise == "jitter" else self.noise_samples or max(2, -(-1000 // int(sizes.min())))
            noisy = shaken_solver if solver is exact else solver
            for latest in noisy_rounds(X, sizes, cells, noisy, self._noise_rounds(len(X)), copies, rng, revive):
                yield latest
        if solver is not exact:
            begun = latest
            for latest in plain(cells=begun, solver=solver, rounds=self.rounds):
                yield latest
            latest = replace(latest, history=[])
        rounds = self.rounds if solver is exact else 1  # the last records put right
        best = np.inf
        while True:
            begun = latest
            for latest in plain(cells=begun, solver=exact, rounds=rounds):
                yield latest
            # Swaps of records that differ in the last bit gain something, which the next round may take back.
            if not latest.history[-1] < best * (1 - _ROUNDING):
                return
            best = latest.history[-1]
            if noise != "jitter" or sizes.max() > _SWAPPED or not swap(X, latest.labels):
                return
            latest = replace(latest, centres=means_of(X, latest.labels))

    def _by_levels(
        self,
        task: "Task",
        levels: list[int],
        seeds: np.random.SeedSequence,
        progress: Progress | None,
        n_jobs: int,
    ) -> Cells:
        """Macrocells of about levels[0] records, each divided on its own."""
        X, sizes = task.X, task.sizes
        n, count = len(X), max(1, round(len(X) / levels[0])) if levels else 1
        if count == 1:
            return self._best(task, groups_of("mdav", X, self.k, None), seeds, progress, n_jobs)
        runs = np.array_split(np.arange(len(sizes)), min(count, len(sizes)))
        below = seeds.spawn(len(runs) + 1)
        whole = self._macrocells(task.coarse(runs), below.pop())
        parts = [
            Macrocell(np.flatnonzero(whole == cell), run, seed)
            for cell, (run, seed) in enumerate(zip(runs, below, strict=True))
        ]
        labels, costs, places, total, done = np.empty(n, np.int64), [], [], 0.0, 0
        work = Dividing(self, task, levels[1:])
        for part, cells in zip(parts, in_order(work, parts, n_jobs), strict=True):
            labels[part.records] = cells.labels + part.cells[0]
            costs.append(cells.costs)
            places.append(cells.centres)
            total += cells.history[-1]
            done += len(part.records)
            if progress is not None:
                progress(done, n)
        return Cells(np.concatenate(places), np.concatenate(costs), labels, [total])

    def _macrocells(self, task: "Task", seeds: np.random.SeedSequence) -> Int:
        k = int(task.sizes.min()) if task.weights.size is None else len(task.X) // len(task.sizes)
        coarse = PCL(k=k, noise="none", n_starts=1)
        return coarse._best(task, groups_of("mdav", task.X, k, None), seeds, None, 1).labels


@dataclass(frozen=True)
class Task:
    """Records and the cells that they are to form."""

    X: Float
    sizes: Int | Float  # numbers of records or, with size weights, measures
    low: Int  # the least number of records of each cell
    distortion: Distortion
    weights: RecordWeights

    @property
    def measure(self) -> Measure:
        """The cells, where weights measure their sizes."""
        return Measure(self.weights, np.asarray(self.sizes, np.float64), self.low)

    def solver(self) -> Solver:
        """The assignment of records to cells."""
        if self.weights.size is None:
            return solver_for(self.distortion, self.weights.distortion)
        return self.measure.solver(self.distortion)

    def missed(self, labels: Int) -> float:
        """How far the cells are off their sizes in all."""
        return 0.0 if self.weights.size is None else self.measure.missed(labels)

    def coarse(self, runs: list[Int]) -> "Task":
        """The same with runs of cells as one."""
        sizes, low = (np.array([each[run].sum() for run in runs]) for each in (self.sizes, self.low))
        return replace(self, sizes=sizes, low=low)

    def part(self, records: Int, cells: Int) -> "Task":
        """Some of the records and cells; the measures of the cells grow or shrink to what these records have."""
        weights, sizes = self.weights.of(records), self.sizes[cells]
        if weights.size is not None:
            sizes = sizes * (weights.size.sum() / sizes.sum())
        return Task(self.X[records], sizes, self.low[cells], self.distortion, weights)


@dataclass(frozen=True)
class Starting:
    """The work of one start, from the groups that are given or, but for the first, from records drawn."""

    model: PCL
    task: Task
    first: Int
    noise: str

    def __call__(self, start: tuple[int, np.random.SeedSequence]) -> Cells:
        """The cells in the end; tells the number of the start and how far it is."""
        number, seed = start
        usual = self.model._noise_rounds(len(self.task.X)) + 10
        first = self.first if number == 0 else None
        for step, latest in enumerate(self.model._started(self.task, first, self.noise, seed)):
            cells = latest
            tell((number, min(1.0, step / usual)))
        return cells


class Macrocell(NamedTuple):
    """The records and cells of one macrocell, and its seed."""

    records: Int
    cells: Int
    seed: np.random.SeedSequence


@dataclass(frozen=True)
class Dividing:
    """The work of dividing a macrocell."""

    model: PCL
    task: Task
    levels: list[int]

    def __call__(self, part: Macrocell) -> Cells:
        """Its cells."""
        task = self.task.part(part.records, part.cells)
        return self.model._by_levels(task, self.levels, part.seed, None, 1)


def resized(last: Quantizer, X: Float, count: int) -> Cells:
    """The reconstruction points and costs of a fitted table for another number of cells.

    Of too many, the one nearest to another goes, again and again; where there are too few, the record farthest
    from all of them is added at the cost of its cell.
    """
    centres, costs = np.array(last.centroids), np.array(last.costs)
    while len(centres) > count:
        apart = last.distortion.costs(centres, centres)
        np.fill_diagonal(apart, np.inf)
        gone = int(apart.min(axis=1).argmin())
        centres, costs = np.delete(centres, gone, axis=0), np.delete(costs, gone)
    while len(centres) < count:
        nearest = last.distortion.costs(X, centres)
        far = int(nearest.min(axis=1).argmax())
        centres, costs = np.vstack([centres, X[far]]), np.append(costs, costs[nearest[far].argmin()])
    return replace(first_cells(centres, len(X)), costs=costs)
