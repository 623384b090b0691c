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

from math import inf
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.engines import in_order, jobs
from shoal.errors import warn
from shoal.estimator import Microaggregator, Progress
from shoal.methods.pcl import PCL
from shoal.parameters import Maybe, Number, Rule, Seed, Whole
from shoal.partition import compact, renumbered, sse_of
from shoal.search.annealing import Annealing, Effort, Found, Search, swept_through
from shoal.search.axes import on_fewer_axes
from shoal.search.deadline import Deadline, within
from shoal.search.exchanges import Exchanges
from shoal.search.improvement import Improvement
from shoal.search.promised import Cooling, repaired
from shoal.search.recombine import Pool, Recombination, best_of
from shoal.search.tuning import Tuning
from shoal.search.weighted import Demands, alike, exchanges_for
from shoal.steps.splitting import split
from shoal.steps.start import Start, StartRule, groups_of

if TYPE_CHECKING:
    from shoal.privacy.rules import Rules

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_MOST_DEMANDING = 20  # rounds of exchanges under demands, beyond which a round gains next to nothing
_CHANGES = (
    400  # random changes for each record in the first round of annealing under demands; then four times that
)
_HEATS = (5.0, 0.5)  # at which searches begin, in turns: parts of the mean error of a record
_SECONDS = 4e-6  # that one of them takes, about


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
        Workers; by default one for each core. With `rounds`, the groups do not depend on it.
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

    Where records have weights, the start takes them too if its method does, and is the plain one otherwise. Then
    exchanges lower the weighted SSE until nothing improves, for 20 rounds at most or until `seconds` are over, and
    rounds of annealing by random moves, swaps and divisions follow. The same is done under privacy models, from
    the start with its broken groups put right; no change is made that breaks a model. Recombination and prices
    are left out there. Groups may then have 2k records or more.
    """

    name = "refined"
    family = "everyday"
    idea = "any partition improved by exchanges, annealing and recombination"
    cost = "near-linear rounds of exchanges, then as long as asked for"
    reference = "Schrimpf et al. 2000; Taillard and Voss 2002"
    weighted = True
    ruled = True

    _parameters: ClassVar[dict[str, Rule]] = {
        "k": Whole(1),
        "start": StartRule(),
        "seconds": Maybe(Number(0)),
        "rounds": Maybe(Whole(0)),
        "n_jobs": Maybe(Whole(1)),
        "random_state": Seed(),
    }

    _tuning = Tuning()

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
        return self._improved(X, self._start(X, None), None, None, progress)

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        return self._improved(X, self._start(X, weights), weights, alike(len(X), self.k), progress)

    def _group_ruled(self, X: Float, weights: Float | None, rules: "Rules", progress: Progress | None) -> Int:
        demands = alike(len(X), self.k, rules)
        given = self._start(X, weights)
        # What is best without the models is mostly near to what is best under them.
        free = given if self.seconds is not None else self._group_either(X, weights, None)
        self.unruled_labels_ = free
        starts = [repaired(X, labels, weights, demands) for labels in (given, free)]
        labels = min(starts, key=lambda each: sse_of(X, each, weights))
        if self.seconds is None and self.interrupted_:
            return renumbered(labels)
        return self._improved(X, labels, weights, demands, progress)

    def _start(self, X: Float, weights: Float | None) -> Int:
        """The partition to improve, with groups of 2k records or more split."""
        return split(X, groups_of(self.start, X, self.k, None, weights), self.k, None)

    def _improved(
        self, X: Float, labels: Int, weights: Float | None, demands: Demands | None, progress: Progress | None
    ) -> Int:
        """All that makes groups better; demands are those beside k, or where records have weights."""
        beyond = max(0, int(np.frexp(np.abs(X).max())[1]) - 464)  # 2^464 is about 1e140
        rounds = self.rounds
        if rounds is None and self.seconds is None:
            rounds = 1 if len(X) <= self._tuning.annealed else 0
        points = on_fewer_axes(np.ldexp(X, -beyond) if beyond else X)
        seconds = inf if self.seconds is None else self.seconds
        improvement = Improvement(points, labels, seconds, progress, rounds is not None, weights=weights)
        self.interrupted_ = False
        try:
            refining = Refining(
                improvement, self.k, rounds, jobs(self.n_jobs), self.random_state, self._tuning, demands
            )
            if demands is None:
                refining.run()
            else:
                refining.run_demanding(demands)
        except KeyboardInterrupt:
            self.interrupted_ = True
            warn("interrupted: these are the best groups found so far")
        scale = 2.0 ** (2 * beyond)
        self.history_ = [(seconds, sse * scale, stage) for seconds, sse, stage in improvement.history]
        self.bounds_ = [(seconds, bound * scale) for seconds, bound in improvement.bounds]
        if progress is not None:
            progress(len(X), len(X))
        return renumbered(improvement.labels)


class Refining:
    """The steps of `Refined`, each of which offers what it finds."""

    def __init__(
        self,
        improvement: Improvement,
        k: int,
        rounds: int | None,
        n_jobs: int,
        seed: int | None,
        tuning: Tuning,
        demands: Demands | None = None,
    ) -> None:
        self.improvement, self.X, self.k = improvement, improvement.X, k
        self.rounds, self.n_jobs, self.seed, self.tuning = rounds, n_jobs, seed, tuning
        self.demands = demands
        self.hot = tuning.hot
        self.recombination = Recombination(self.X, tuning.recent)

    def run(self) -> None:
        """All steps, until time or rounds are over."""
        best = self.improvement
        if not (len(self.X) >= 2 * self.k > 2 and best.sse > 0.0):
            return
        self.exchange(self.tuning.sweeps, 0.3 if self.rounds != 0 else 1.0)
        if self.is_priced():
            first = self.tuning.annealed_first[self.k > 4]
            self.anneal(Deadline(best.began + first * best.seconds))
            self.price()
        self.anneal(best.deadline)

    def run_demanding(self, demands: Demands) -> None:
        """The steps that know of weights and of other demands: exchanges, then annealing by random changes."""
        best = self.improvement
        if not (len(self.X) >= 2 * self.k and best.sse > 0.0):
            return
        self.exchange(_MOST_DEMANDING, 0.3 if self.rounds != 0 else 1.0)
        number = 0
        while number != self.rounds and not best.deadline.over():
            self.cool(number, demands)
            number += 1

    def cool(self, number: int, demands: Demands) -> None:
        """All regions annealed once under demands, each round four times as long as the one before."""
        best, tuning = self.improvement, self.tuning
        weights = np.ones(len(self.X)) if best.weights is None else best.weights
        regions = Exchanges(self.k, region=tuning.region).regions(self.X, best.labels, number)
        searches = tuning.searches if len(regions) == 1 else 1
        steps = _CHANGES * tuning.growth ** min(number, tuning.growing)
        left, seconds = best.deadline.left(), inf
        if self.rounds is None:
            turns = -(-len(regions) * searches // self.n_jobs)
            wanted = steps * _SECONDS * len(self.X) / len(regions)
            seconds = min(wanted, left / turns) if left > tuning.growth * wanted * turns else left / turns
        tasks = []
        for place in range(len(regions) * searches):
            r, s = divmod(place, searches)
            seed = int(np.random.SeedSequence(self.seed, spawn_key=(number, r, s)).generate_state(1)[0])
            # Great heat finds other ways for large groups, little heat keeps what a good start has.
            tasks.append((regions[r], seed, _HEATS[(number + s) % 2]))
        work = Cooling(self.X, best.labels, weights, demands, steps, seconds, best.deadline)
        total = self.rounds if self.rounds is not None else number + 1
        for place, own in enumerate(in_order(work, tasks, self.n_jobs, lambda _: best.report())):
            best.report(0.3 + 0.7 * (number + (place + 1) / len(tasks)) / total)
            best.offer(with_region(best.labels, tasks[place][0], own), "annealing")

    def exchange(self, sweeps: int, part: float) -> None:
        """Rounds of exchanges, while they bring something; they are this part of the work."""
        best = self.improvement
        steps = exchanges_for(self.k, self.n_jobs, best.weights, self.demands)
        for number in range(sweeps):

            def report(done: int, total: int, begun: int = number) -> None:
                best.report(part * (begun + done / total) / sweeps)

            labels = steps.round(self.X, best.labels, best.sse, number, report)
            if not best.offer(labels, "exchanges") or best.deadline.over():
                break

    def anneal(self, deadline: Deadline) -> None:
        """Rounds of annealing, each longer than the one before up to a limit."""
        number = 0
        while self.k <= self.tuning.largest_k and number != self.rounds and not deadline.over():
            self.round(number, deadline)
            number += 1

    def round(self, number: int, deadline: Deadline) -> None:
        """All regions searched through once."""
        best, tuning = self.improvement, self.tuning
        labels, before = best.labels, best.sse
        regions = Exchanges(self.k, region=tuning.region).regions(self.X, labels, number)
        searches = tuning.searches if len(regions) == 1 else 1
        effort = self.effort(number, -(-len(regions) * searches // self.n_jobs), deadline)
        tasks = []
        for place in range(len(regions) * searches):
            r, s = divmod(place, searches)
            seed = int(np.random.SeedSequence(self.seed, spawn_key=(number, r, s)).generate_state(1)[0])
            noisy = len(regions) == 1 and (number, s) == (1, 1) and self.k >= tuning.noisy_k
            tasks.append(Search(regions[r], seed, effort, noisy_groups if noisy else None))
        work = Annealing(self.X, self.k, labels, self.hot, deadline, tuning)
        total = self.rounds if self.rounds is not None else number + 1
        found: list[Found] = []
        for each in in_order(work, tasks, self.n_jobs, self.hear):
            found.append(each)
            done, left = divmod(len(found), searches)
            if not left:
                best.report(0.3 + 0.7 * (number + done / len(regions)) / total)
                labels = self.taken(regions[done - 1], labels, found[-searches:], deadline)
        best.settle(labels, before)

    def hear(self, labels: Int | None) -> None:
        """A search has come a step further, and perhaps to a better partition."""
        if labels is not None:
            self.improvement.offer(labels, "annealing")
        self.improvement.report()

    def effort(self, number: int, turns: int, deadline: Deadline) -> Effort:
        """What a search may take: by steps, or by time where that is limited, and all of it if little is left."""
        tuning = self.tuning
        factor = tuning.growth ** min(number, tuning.growing)
        if self.rounds is not None:
            return Effort(factor, inf)
        left = deadline.left()
        wanted = tuning.seconds * len(self.X) * factor
        last = left < tuning.growth * wanted
        return Effort(factor, (tuning.last * left if last else wanted) / turns)

    def taken(self, region: Int, labels: Int, found: list[Found], deadline: Deadline) -> Int:
        """The labels with the best that the searches of a region found."""
        X = np.ascontiguousarray(self.X[region])
        tried = [compact(labels[region]), *(each.labels for each in found)]
        errors = [sse_of(X, each) for each in tried]
        own, stage = tried[int(np.argmin(errors))], "annealing"
        if len(X) == len(self.X) and not deadline.over():
            combined = self.combined(own, found, max(deadline.left(), 0.0))
            if sse_of(X, combined) < min(errors):
                own, stage = combined, "recombination"
        new = with_region(labels, region, own)
        self.improvement.offer(new, stage)
        return new

    def combined(self, labels: Int, found: list[Found], left: float) -> Int:
        """What the groups of the last partitions give, of few records those on the way too."""
        part = self.tuning.chosen_again if self.recombination.known else self.tuning.combined
        ended = [each.labels for each in found]
        passed = [snapshot for each in found for snapshot in each.snapshots]
        seconds = left if left == inf else max(part * left, min(left, 1.0))
        return self.recombination.best(labels, ended, passed, seconds)

    def is_priced(self) -> bool:
        """Whether there is time for the prices of all records."""
        regions = -(-len(self.X) // self.tuning.region)
        needed = regions * self.tuning.priced_from[self.k > 4]
        return self.rounds is None and self.k <= 6 and needed <= self.improvement.seconds < inf

    def price(self) -> None:
        """Region by region the bound, and what integer programming makes of the groups that it rests on."""
        best, tuning = self.improvement, self.tuning
        self.hot = tuning.hot * tuning.cooler
        left = best.deadline.left()
        end = within(tuning.chosen[left > 60.0] * left)
        regions = Exchanges(self.k, region=tuning.region).regions(self.X, best.labels, 0)
        for place, region in enumerate(regions):
            left = end.left() / (len(regions) - place)
            if best.deadline.over() or left <= 0.0:
                break
            own = self.behind_prices(region, compact(best.labels[region]), left)
            best.offer(with_region(best.labels, region, own), "prices")

    def behind_prices(self, region: Int, labels: Int, seconds: float) -> Int:
        """The best partition of a region into groups behind its bound, which counts if the region is the table."""
        from shoal.bounds import Bounding, LowerBound

        whole, end = len(region) == len(self.X), within(seconds)

        def raised(bound: LowerBound) -> None:
            if whole:
                self.improvement.prove(float(bound))
            self.improvement.report()

        X = np.ascontiguousarray(self.X[region])
        bounding = Bounding(X, self.k, n_jobs=self.n_jobs)
        bounding.learn(labels)
        bounding.run(self.tuning.priced * seconds, raised)
        if bounding.interrupted:
            raise KeyboardInterrupt
        gap = sse_of(X, labels) - bounding.bound
        pool = Pool(X)
        most = self.tuning.chosen_from * len(X)
        pool.add(group for group, _, reduced in bounding.groups()[:most] if reduced <= gap)
        if whole:
            self.recombination.known = [tuple(region[list(group)].tolist()) for group in pool.groups]
        return best_of(pool, labels, max(end.left(), 0.0))


def noisy_groups(work: Annealing, seed: int) -> Int:
    """The groups of PCL's noisy rounds after exchanges; those of the work if time is up before."""

    def look(done: int, total: int) -> None:
        if work.deadline.over():
            raise TimeoutError

    try:
        found = PCL(k=work.k, n_starts=1, random_state=seed)._group(work.X, look)
    except TimeoutError:
        return work.labels
    return swept_through(work.X, work.k, split(work.X, found, work.k, None), work.tuning.sweeps)


def with_region(labels: Int, region: Int, own: Int) -> Int:
    """The labels with those of a region in the place of what was there."""
    new = labels.copy()
    new[region] = own + labels.max() + 1
    return compact(new)
