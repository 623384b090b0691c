"""Refined: any partition made better, as long as there is time, never worse.

Rounds of local exchanges between neighbouring groups come first; they are near-linear and bring most. Then tables
are annealed: a few neighbouring groups are dissolved and formed anew, and what makes the SSE worse is kept with a
probability that falls. For large k the noisy rounds of PCL are another start. Integer programming combines the
partitions of several searches, and for small k the groups behind a lower bound. Large tables are improved by
regions.

Guarantee: the SSE is at most that of the start; groups have k to 2k - 1 records. Interrupted (Ctrl-C), it returns
the best partition so far.
Cost: an exchange round is near-linear; what follows is as long as asked for. O(n) memory.

Reference: ruin and recreate: G. Schrimpf, J. Schneider, H. Stamm-Wilbrandt and G. Dueck, Record breaking
optimization results using the ruin and recreate principle, Journal of Computational Physics 159 (2000) 139-171.
Regions: E. D. Taillard and S. Voss, POPMUSIC: partial optimization metaheuristic under special intensification
conditions, in Essays and Surveys in Metaheuristics (2002) 613-629.
"""

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from math import inf
from threading import Event, Lock
from time import monotonic
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalWarning
from shoal.estimator import Microaggregator, Progress, on_fewer_axes
from shoal.methods.dba import split
from shoal.methods.optimal import renumbered
from shoal.methods.pcl import PCL
from shoal.parameters import Maybe, Number, Rule, Seed, Whole
from shoal.partition import sse_of
from shoal.search.exchanges import Exchanges
from shoal.search.recombine import Pool, best_of
from shoal.steps.start import Start, StartRule, groups_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_SWEEPS = 4  # exchange rounds, at most
_PASSES = 20  # of chains and cycles at the end of a search, at most
_REGION = 5_000  # records that are annealed together
_ANNEALED = 200_000  # records beyond which the default is exchanges alone
_SEARCHES = 2  # of one region at a time
_RECENT = 8  # partitions that are combined: the last that searches ended with
_FEW = 100  # records up to which those on the way are combined too
_COMBINED = 0.1  # the part of what is left that this takes at most, or a second
_REBUILT = 8  # neighbouring groups that are rebuilt together, at most
_ROOM = 2_400  # records of those, at most, unless two groups have more
_LARGEST = 1_000  # the largest k whose groups are rebuilt: beyond, that would be seldom
_SNAPSHOTS = 40  # of a search: partitions on the way
_REBUILDS = 1500, 20  # of the first round, per record and divided by the square of k or this: a millisecond
_LEAST_REBUILDS = 1500  # of a round, divided by k from k = 8 on
_GROWTH = 4  # how many times longer than the one before a round is
_GROWING = 3  # rounds that are longer than the one before
_HOT = 0.3  # of what a group costs: the heat at first
_COLD = 0.02, 0.005, 0.0005  # of that: the heat in the end, up to k = 4, below 20 and beyond
_SECONDS = 1e-3  # of a round, per record, where time is limited
_SEARCHED = 0.97  # the part of what is left that the last round takes
_WORTH_PRICING = 20.0, 200.0  # seconds from which the prices of all records are worked out, up to k = 4 and to 6
_ANNEALED_FIRST = 0.35, 0.6  # the part of the time before that
_PRICED = 0.5  # the part of what is left then that prices take,
_CHOSEN = 0.9, 0.7  # and they with integer programming, of less than a minute and of more
_COOLER = 1 / 30  # of the heat, after that: there is little left to gain
_CHOSEN_AGAIN = 0.4  # the part of what is left then that integer programming takes after a round
_CHOSEN_FROM = 12  # groups for each record that it chooses from then
_JITTERED = 40  # the least k at which a search begins with what the noisy rounds of PCL give


class Refined(Microaggregator):
    """Exchanges, annealing and recombination from any start.

    Parameters
    ----------
    k : int
        The least number of records in a group.
    start : a method's name, an estimator or the group of each record
        The partition to improve.
    seconds : float, optional
        How long to improve it, the start not counted. The result then depends on the machine and its load.
    rounds : int, optional
        How many rounds of annealing follow the exchanges, 0 for none; without `seconds` the groups then depend on
        nothing else but the seed. The first round is two searches (one for each region of a table above 5000
        records) of 1500 / k^2 rebuilds per record, 1500 / 400 from k = 20 on, and every round is four times as
        long as the one before, up to 64 times the first. Without `seconds` the default is 1, and 0 above 200 000
        records.
    n_jobs : int, optional
        Threads; by default one for each core. With `rounds`, the groups do not depend on it.
    random_state : int
        The seed of the searches.

    Attributes
    ----------
    history_ : list of (seconds, SSE, stage), one for each improvement; the first is the start's
    bounds_ : list of (seconds, lower bound of the SSE of any partition), where there was time for it
    interrupted_ : whether Ctrl-C ended the work

    Notes
    -----
    Groups of 2k records or more in the start are split by MDAV first, which never costs. Groups are numbered in
    the order of their first records.
    """

    name = "refined"
    family = "everyday"
    idea = "any partition improved by exchanges, annealing and recombination"
    cost = "near-linear rounds of exchanges, then as long as asked for"
    reference = "Schrimpf et al. 2000; Taillard and Voss 2002"

    _parameters: ClassVar[dict[str, Rule]] = {
        "k": Whole(1),
        "start": StartRule(),
        "seconds": Maybe(Number(0)),
        "rounds": Maybe(Whole(0)),
        "n_jobs": Maybe(Whole(1)),
        "random_state": Seed(),
    }

    def __init__(
        self,
        k: int = 5,
        start: Start = "mdav",
        seconds: float | None = None,
        rounds: int | None = None,
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.k = k
        self.start = start
        self.seconds = seconds
        self.rounds = rounds
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def _draws(self) -> bool:
        return True

    def _group(self, X: Float, progress: Progress | None) -> Int:
        beyond = max(0, int(np.frexp(np.abs(X).max())[1]) - 464)  # 2^464 is about 1e140
        labels = split(X, groups_of(self.start, X, self.k, None), self.k, None)
        rounds = self.rounds
        if rounds is None and self.seconds is None:
            rounds = 1 if len(X) <= _ANNEALED else 0
        improvement = Improvement(
            on_fewer_axes(np.ldexp(X, -beyond) if beyond else X),
            self.k,
            labels,
            inf if self.seconds is None else self.seconds,
            rounds,
            self.n_jobs or os.cpu_count() or 1,
            self.random_state,
            progress,
        )
        improvement.run()
        self.interrupted_ = improvement.interrupted
        if self.interrupted_:
            warnings.warn("interrupted: these are the best groups found so far", ShoalWarning, stacklevel=4)
        scale = 2.0 ** (2 * beyond)
        self.history_ = [(seconds, sse * scale, stage) for seconds, sse, stage in improvement.history]
        self.bounds_ = [(seconds, bound * scale) for seconds, bound in improvement.bounds]
        if progress is not None:
            progress(len(X), len(X))
        return renumbered(improvement.labels)


@dataclass(frozen=True)
class Effort:
    """How long a search takes: so many times the usual steps, or so many seconds if these are not infinite."""

    factor: float
    seconds: float


class Schedule:
    """How far a search is, how hot that makes it, how many steps are next."""

    def __init__(self, n: int, k: int, effort: Effort, hot: float) -> None:
        self._hot = hot
        self._cold = _COLD[(k > 4) + (k >= 20)]
        least = _LEAST_REBUILDS if k < 8 else _LEAST_REBUILDS / k
        self._steps = int(effort.factor * max(_REBUILDS[0] * n / min(k, _REBUILDS[1]) ** 2, least))
        self._chunk = max(20, 40_000 // k**2)
        if effort.seconds < inf:
            self._chunk = max(2, self._chunk // 8)
        else:
            self._chunk = max(1, min(self._chunk, self._steps // (2 * _SNAPSHOTS)))
        self._effort = effort
        self._began, self._done = monotonic(), 0
        self.share = 0.0

    @property
    def heat(self) -> float:
        """The temperature now, as a part of what a group costs."""
        return float(self._hot * self._cold ** min(self.share, 1.0))

    def next_steps(self) -> int:
        """The steps to do next; `share` is how much will then be done, by time as it looks now."""
        spent = monotonic() - self._began
        if self._effort.seconds == inf:
            self._done += self._chunk
            self.share = self._done / self._steps
        elif self._done == 0:
            self._done = self._chunk
            self.share = 1e-3
        else:
            speed = self._done / max(spent, 1e-6)
            ahead = int(np.clip(speed * min(0.1, self._effort.seconds / 100), 1, 1_000_000))
            self._chunk = ahead
            self._done += ahead
            self.share = max(self.share, (spent + ahead / speed) / max(self._effort.seconds, 1e-6))
        return self._chunk


@dataclass
class Found:
    """What a search of a region ends with, in the region's own labels."""

    labels: Int
    snapshots: list[Int]


@dataclass
class Improvement:
    """The best partition so far and the way to better ones."""

    X: Float
    k: int
    labels: Int
    seconds: float
    rounds: int | None
    n_jobs: int
    seed: int | None
    progress: Progress | None
    history: list[tuple[float, float, str]] = field(default_factory=list)
    bounds: list[tuple[float, float]] = field(default_factory=list)
    interrupted: bool = False

    def __post_init__(self) -> None:
        self.began = monotonic()
        self.deadline = self.began + self.seconds
        self.stop, self.lock = Event(), Lock()
        self.done = 0
        self.hot = _HOT
        self.behind: list[tuple[int, ...]] = []
        self.recent: deque[Int] = deque(maxlen=_RECENT)
        self.sse = sse_of(self.X, self.labels)
        self.sst = sse_of(self.X, np.zeros(len(self.X), np.int64))
        self.history.append((0.0, self.sse, "start"))

    def over(self) -> bool:
        """Whether time is up."""
        return self.stop.is_set() or monotonic() >= self.deadline

    def offer(self, labels: Int, stage: str) -> bool:
        """Keep a partition if it is the best so far."""
        sse = sse_of(self.X, labels)
        with self.lock:
            if not sse < self.sse:
                return False
            self.labels, self.sse = labels, sse
            self.history.append((monotonic() - self.began, sse, stage))
        return True

    def report(self, share: float) -> None:
        """Progress by the share of the time, or of the work where that is limited."""
        if self.progress is None:
            return
        if self.seconds < inf:
            share = max(
                share if self.rounds is not None else 0.0, (monotonic() - self.began) / max(self.seconds, 1e-9)
            )
        self.done = max(self.done, min(int(len(self.X) * share), len(self.X) - 1))
        self.progress(self.done, len(self.X))
        say = getattr(self.progress, "say", None)
        if say is not None:
            gap = 100 * (self.sse / self.bounds[-1][1] - 1) if self.bounds else inf
            say(f"loss {100 * self.sse / self.sst:.3f} %" + (f", gap {gap:.2f} %" if gap < inf else ""))

    def run(self) -> None:
        """All stages, until time or rounds are over or somebody interrupts."""
        try:
            if len(self.X) >= 2 * self.k > 2 and self.sse > 0.0:
                self.exchange()
                if self.priced():
                    end, self.deadline = self.deadline, self.began + _ANNEALED_FIRST[self.k > 4] * self.seconds
                    self.anneal()
                    self.deadline = end
                    self.price()
                self.anneal()
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self.stop.set()

    def exchange(self) -> None:
        """Rounds of exchanges, while they bring something."""
        steps = Exchanges(self.k, self.n_jobs)
        part = 0.3 if self.rounds != 0 else 1.0
        for number in range(_SWEEPS):

            def report(done: int, total: int, begun: int = number) -> None:
                self.report(part * (begun + done / total) / _SWEEPS)

            labels = steps.round(self.X, self.labels, self.sse, number, report)
            if not self.offer(labels, "exchanges") or self.over():
                break

    def anneal(self) -> None:
        """Rounds of annealing, each longer than the one before up to a limit."""
        for number in range(10**9 if self.rounds is None else self.rounds):
            if self.over() or self.k > _LARGEST:
                break
            self.round(number)

    def priced(self) -> bool:
        """Whether there is time for the prices of all records."""
        regions = -(-len(self.X) // _REGION)
        return self.rounds is None and self.k <= 6 and regions * _WORTH_PRICING[self.k > 4] <= self.seconds < inf

    def price(self) -> None:
        """Region by region the bound, and what integer programming makes of the groups that it rests on."""
        self.hot = _HOT * _COOLER
        left = self.deadline - monotonic()
        end = monotonic() + _CHOSEN[left > 60.0] * left
        regions = Exchanges(self.k, region=_REGION).regions(self.X, self.labels, 0)
        for place, region in enumerate(regions):
            left = (end - monotonic()) / (len(regions) - place)
            if self.over() or left <= 0.0:
                break
            labels = self.labels.copy()
            labels[region] = self.behind_prices(region, labels[region], left) + labels.max() + 1
            self.offer(compact(labels), "prices")

    def behind_prices(self, region: Int, labels: Int, seconds: float) -> Int:
        """The best partition of a region into groups behind its bound, which counts if the region is the table."""
        from shoal.bounds import Bounding, LowerBound

        def raised(bound: LowerBound) -> None:
            if len(region) == len(self.X) and (not self.bounds or bound > self.bounds[-1][1]):
                self.bounds.append((monotonic() - self.began, float(bound)))
            self.report(0.0)

        X, end = np.ascontiguousarray(self.X[region]), monotonic() + seconds
        own = compact(labels)
        bounding = Bounding(X, self.k, n_jobs=self.n_jobs)
        bounding.learn(own)
        bounding.run(_PRICED * seconds, raised)
        if bounding.interrupted:
            raise KeyboardInterrupt
        gap = sse_of(X, own) - bounding.bound
        pool = Pool(X)
        pool.add(group for group, _, reduced in bounding.groups()[: _CHOSEN_FROM * len(X)] if reduced <= gap)
        if len(region) == len(self.X):
            self.behind = [tuple(region[list(group)].tolist()) for group in pool.groups]
        return best_of(pool, own, max(end - monotonic(), 0.0))

    def effort(self, number: int, regions: int) -> Effort:
        """What a round may take: by steps, or by time where that is limited, and all of it if little is left."""
        factor = _GROWTH ** min(number, _GROWING)
        if self.rounds is not None:
            return Effort(factor, inf)
        left = self.deadline - monotonic()
        wanted = _SECONDS * len(self.X) * factor
        last = left < _GROWTH * wanted
        return Effort(factor, (_SEARCHED * left if last else wanted) / regions)

    def round(self, number: int) -> None:
        """All regions searched through once."""
        labels, sse = self.labels, self.sse
        regions = Exchanges(self.k, region=_REGION).regions(self.X, labels, number)
        searches = _SEARCHES if len(regions) == 1 else 1
        tasks = [(r, s) for r in range(len(regions)) for s in range(searches)]
        effort = self.effort(number, -(-len(tasks) // self.n_jobs))

        def search(r: int, s: int) -> Found:
            seed = int(np.random.SeedSequence(self.seed, spawn_key=(number, r, s)).generate_state(1)[0])
            noisy = len(regions) == 1 and (number, s) == (1, 1) and self.k >= _JITTERED
            return self.search(regions[r], self.jittered(labels, seed) if noisy else labels, seed, effort)

        total = self.rounds if self.rounds is not None else number + 1
        for place, (r, found) in enumerate(self.in_order(search, tasks)):
            self.report(0.3 + 0.7 * (number + (place + 1) / len(tasks)) / total)
            labels = self.taken(regions[r], labels, found)
        error = sse_of(self.X, labels)
        if error < sse:
            with self.lock:
                self.labels, self.sse = labels, error

    def jittered(self, labels: Int, seed: int) -> Int:
        """The groups of PCL's noisy rounds after exchanges; those given if time is up before."""

        def look(done: int, total: int) -> None:
            if self.over():
                raise TimeoutError

        try:
            found = PCL(k=self.k, n_starts=1, random_state=seed)._group(self.X, look)
        except TimeoutError:
            return labels
        return swept(self.X, self.k, split(self.X, found, self.k, None))

    def taken(self, region: Int, labels: Int, found: list[Found]) -> Int:
        """The labels with the best that the searches of a region found."""
        X = np.ascontiguousarray(self.X[region])
        tried = [compact(labels[region]), *(each.labels for each in found)]
        errors = [sse_of(X, each) for each in tried]
        own, stage = tried[int(np.argmin(errors))], "annealing"
        if len(X) == len(self.X) and not self.over():
            combined = self.combined(own, found)
            if sse_of(X, combined) < min(errors):
                own, stage = combined, "recombination"
        new = labels.copy()
        new[region] = own + labels.max() + 1
        new = compact(new)
        self.offer(new, stage)
        return new

    def combined(self, labels: Int, found: list[Found]) -> Int:
        """What the groups of the last partitions give, of few records those on the way too."""
        self.recent.extend(each.labels for each in found)
        pool = Pool(self.X)
        for partition in [*self.recent, *(snapshot for each in found for snapshot in each.snapshots)]:
            pool.add_labels(partition)
        pool.add(self.behind)
        left = max(self.deadline - monotonic(), 0.0)
        part = _CHOSEN_AGAIN if self.behind else _COMBINED
        return best_of(pool, labels, left if left == inf else max(part * left, min(left, 1.0)))

    def search(self, region: Int, labels: Int, seed: int, effort: Effort) -> Found:
        """Anneal the groups of a region."""
        from shoal.kernels.exchanges.local import new_local
        from shoal.kernels.exchanges.recreate import anneal, new_state

        X, own = np.ascontiguousarray(self.X[region]), compact(labels[region])
        n, k = len(X), self.k
        state = new_state(X, own, k, seed)
        error = float(state.value[0])
        if error == 0.0:
            return Found(own, [])
        schedule = Schedule(n, k, effort, self.hot)
        most = max(2, min(_REBUILT, _ROOM // (2 * k - 1)))
        local = new_local(X.shape[1], k, most)
        snapshots: list[Int] = []
        best = error
        while schedule.share < 1.0 and not self.over():
            heat = schedule.heat
            steps = schedule.next_steps()
            anneal(state, local, k, most, steps, heat, schedule.heat, 1e-12 * error)
            if n <= _FEW and schedule.share >= (1 + len(snapshots) / _SNAPSHOTS) / 2:
                snapshots.append(compact(state.label))
            if n == len(self.X) and state.value[1] < best:
                best = float(state.value[1])
                self.offer(compact(state.best), "annealing")
        return Found(self.chained(X, swept(X, k, compact(state.best))), snapshots)

    def chained(self, X: Float, labels: Int) -> Int:
        """The groups after chains and cycles of up to six records."""
        from shoal.kernels.exchanges.cycles import close_cycles, new_found, new_graph

        graph, found = new_graph(X, compact(labels)), new_found(len(X))
        least = 1e-12 * sse_of(X, labels)
        for _ in range(_PASSES):
            if self.over() or close_cycles(graph, found, self.k, least) == 0:
                break
        return graph.label

    def in_order(
        self, work: Callable[[int, int], Found], tasks: list[tuple[int, int]]
    ) -> Iterator[tuple[int, list[Found]]]:
        """Region after region with what its searches found, on all threads."""
        results: dict[int, list[Found]] = {}
        with ThreadPoolExecutor(self.n_jobs) as threads:
            waiting: list[Future[Found]] = [threads.submit(work, *task) for task in tasks]
            try:
                for (r, _), future in zip(tasks, waiting, strict=True):
                    while not future.done():
                        wait([future], 0.05, FIRST_COMPLETED)
                        self.report(0.0)
                    results.setdefault(r, []).append(future.result())
                    if len(results[r]) == sum(task[0] == r for task in tasks):
                        yield r, results.pop(r)
            except BaseException:
                self.stop.set()
                threads.shutdown(cancel_futures=True)
                raise


def swept(X: Float, k: int, labels: Int) -> Int:
    """The groups after exchanges."""
    for better, _ in Exchanges(k).rounds(X, labels, _SWEEPS):
        labels = better
    return labels


def compact(labels: Int) -> Int:
    """The same groups, numbered without gaps."""
    return np.unique(labels, return_inverse=True)[1]
