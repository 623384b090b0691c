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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, inf, sqrt
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.engines import in_order, jobs
from shoal.errors import ShoalError, warn
from shoal.estimator import Microaggregator, Progress
from shoal.methods.blocked import moved_as_a_whole
from shoal.methods.pcl import PCL
from shoal.parameters import Maybe, Number, Rule, Seed, Whole
from shoal.partition import compact, renumbered, sse_of
from shoal.search.annealing import Annealing, Effort, Found, Search, swept_through
from shoal.search.axes import on_fewer_axes
from shoal.search.deadline import NEVER, Deadline, Looks, Stopped, Stops, now, within
from shoal.search.exchanges import Exchanges
from shoal.search.improvement import Improvement
from shoal.search.promised import STAGES, Cooled, Cooling, repaired
from shoal.search.recombine import NODES, Pool, Recombination, best_of
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
_NEAR = 1e9  # distances along an attribute between the groups of a region, at most, where time is limited
_LEAST_LEFT = 0.02  # of the time: with less left, no other round begins
_TRIAL = 0.1  # of the time: a first round that shows how long one takes
_COMBINING = 1e-4  # seconds for a record, without which groups are not combined
_SLOW = 0.2  # seconds by which integer programming may be late

_KNOWN = {"exchanges": int}, {"annealing": int, "factor": float, "combined": bool}
Step = dict[str, Any]
"""A round and how far it came: what it was, with its number, and where the tasks were whose time was up."""


@dataclass(frozen=True)
class Steps:
    """Steps of an earlier run."""

    def check(self, name: str, value: object) -> object:
        """The value, if it is a list of such steps."""
        steps = list(value) if isinstance(value, list | tuple) else None
        if steps is None or not all(map(is_step, steps)):
            raise ShoalError(f"{name} must be the steps_ of a fitted method, not {value!r}")
        return value


def is_step(step: object) -> bool:
    """Whether it is what a fit remembers of a round."""
    if not isinstance(step, dict):
        return False
    said = {name: value for name, value in step.items() if name not in ("stopped", "part")}
    if {name: type(value) for name, value in said.items()} not in _KNOWN:
        return False
    stopped = step.get("stopped", [])
    places = [next(iter(said.values())), step.get("part", 0)]
    places += [each for each in stopped if each is not None] if isinstance(stopped, list | tuple) else [-1]
    return all(type(each) is int and each >= 0 for each in places)


class Refined(Microaggregator):
    """Exchanges, annealing and recombination from any start.

    Parameters
    ----------
    k : int
        The least number of records in a group.
    start : a method's name, an estimator or the group of each record
        The partition to improve.
    seconds : float, optional
        How long the fit is to take on the clock, with its start, without compiling; it cannot take less than
        the start. The result then depends on the machine and its load.
    rounds : int, optional
        How many rounds of annealing follow the exchanges, 0 for none; without `seconds` the groups then depend on
        nothing else but the seed. The first round is two searches (one for each region of a table above 5000
        records) of 1500 / k^2 rebuilds per record, 1500 / 400 from k = 20 on, and every round is four times as
        long as the one before, up to 64 times the first. Without `seconds` the default is 1, and 0 above 200 000
        records.
    effort : float from 0 to 1
        Without `seconds`, the length of rounds of annealing as a part of the usual length. Below 1 fewer chains
        end them, or none.
    cell_rounds : int
        Without `seconds`, so many rounds of PCL between the exchanges and the annealing, region by region: groups
        move as a whole and keep their sizes. Then comes one more round of exchanges. None where records have
        weights or under privacy models.
    steps : list, optional
        The `steps_` of an earlier fit with `seconds`: the same is done again, without a look at the clock.
    n_jobs : int, optional
        Workers; by default one for each core. With `rounds` or `steps`, the groups do not depend on it.
    random_state : int
        The seed of the searches.

    Attributes
    ----------
    history_ : list of (seconds, SSE, stage), one for each improvement; the first is the start's
    steps_ : list of the rounds that were done within `seconds` and how far each came, by which the same groups can
        be had again; None without `seconds`, after Ctrl-C, and where there was time for prices
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
        "effort": Number(0, 1),
        "cell_rounds": Whole(0),
        "steps": Maybe(Steps()),
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
        steps: Sequence[Step] | None = None,
        n_jobs: int | None = None,
        random_state: int | None = 0,
        effort: float = 1.0,
        cell_rounds: int = 0,
    ) -> None:
        self.k = k
        self.start = start
        self.seconds = seconds
        self.rounds = rounds
        self.effort = effort
        self.cell_rounds = cell_rounds
        self.steps = steps
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise an error if a parameter has a value that it cannot take, or two contradict each other."""
        super().check_parameters()
        if (self.seconds is not None or self.steps is not None) and (self.effort != 1.0 or self.cell_rounds):
            other = "effort" if self.effort != 1.0 else "cell_rounds"
            raise ShoalError(
                f"{other} says how much is done without a limit of time; leave it out, or seconds and steps"
            )

    @property
    def _draws(self) -> bool:
        return True

    def _group(self, X: Float, progress: Progress | None) -> Int:
        began = now()
        return self._improved(X, self._start(X, None), None, None, progress, began)

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        began = now()
        return self._improved(X, self._start(X, weights), weights, alike(len(X), self.k), progress, began)

    def _group_ruled(self, X: Float, weights: Float | None, rules: "Rules", progress: Progress | None) -> Int:
        began, demands = now(), alike(len(X), self.k, rules)
        given = self._start(X, weights)
        # What is best without the models is mostly near to what is best under them.
        timed = self.seconds is not None or self.steps is not None
        free = given if timed else self._group_either(X, weights, None)
        self.unruled_labels_ = free
        starts = [repaired(X, labels, weights, demands) for labels in (given, free)]
        labels = min(starts, key=lambda each: sse_of(X, each, weights))
        if not timed and self.interrupted_:
            return renumbered(labels)
        return self._improved(X, labels, weights, demands, progress, began)

    def _start(self, X: Float, weights: Float | None) -> Int:
        """The partition to improve, with groups of 2k records or more split."""
        return split(X, groups_of(self.start, X, self.k, None, weights), self.k, None)

    def _improved(
        self,
        X: Float,
        labels: Int,
        weights: Float | None,
        demands: Demands | None,
        progress: Progress | None,
        began: float | None = None,
    ) -> Int:
        """All that makes groups better; demands are those beside k, or where records have weights.

        `began` is when the work did, if that was before.
        """
        beyond = max(0, int(np.frexp(np.abs(X).max())[1]) - 464)  # 2^464 is about 1e140
        rounds = self.rounds
        if rounds is None and self.seconds is None:
            rounds = 1 if len(X) <= self._tuning.annealed else 0
        points = on_fewer_axes(np.ldexp(X, -beyond) if beyond else X)
        seconds = inf if self.seconds is None or self.steps is not None else self.seconds
        since = now() if began is None else began
        improvement = Improvement(
            points, labels, seconds, progress, rounds is not None, weights=weights, began=since
        )
        self.interrupted_ = False
        refining = Refining(
            improvement, self.k, rounds, jobs(self.n_jobs), self.random_state, self._tuning, demands, self.steps
        )
        refining.effort, refining.cell_rounds = self.effort, self.cell_rounds
        try:
            refining.run()
        except KeyboardInterrupt:
            self.interrupted_ = True
            warn("interrupted: these are the best groups found so far")
        scale = 2.0 ** (2 * beyond)
        self.history_ = [(seconds, sse * scale, stage) for seconds, sse, stage in improvement.history]
        self.bounds_ = [(seconds, bound * scale) for seconds, bound in improvement.bounds]
        timed = self.seconds is not None and not self.interrupted_
        self.steps_ = refining.steps if timed else None
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
        earlier: Sequence[Step] | None = None,
    ) -> None:
        self.improvement, self.X, self.k = improvement, improvement.X, k
        self.rounds, self.n_jobs, self.seed, self.tuning = rounds, n_jobs, seed, tuning
        self.demands, self.earlier = demands, earlier
        self.effort, self.cell_rounds = 1.0, 0
        self.hot = tuning.hot
        self.recombination = Recombination(self.X, tuning.recent)
        self.timed = improvement.deadline.at < inf or earlier is not None
        self.usual = len(self.X) * tuning.seconds  # seconds of a round of the usual length, as far as is known
        self.steps: list[Step] | None = []

    def run(self) -> None:
        """All steps, until time or rounds are over, or those of an earlier run."""
        best = self.improvement
        if not (len(self.X) >= 2 * self.k and best.sse > 0.0 and (self.k > 1 or self.demands is not None)):
            return
        for step in self.earlier or ():
            self.repeat(step)
        if self.earlier is not None:
            return
        self.exchange(
            self.tuning.sweeps if self.demands is None else _MOST_DEMANDING, 0.3 if self.rounds != 0 else 1.0
        )
        if self.cell_rounds and self.demands is None:
            self.move()
        if self.is_priced():
            first = self.tuning.annealed_first[self.k > 4]
            self.anneal(Deadline(best.began + first * best.seconds))
            self.price()
            self.steps = None  # what is proven in a time depends on the machine
        self.anneal(best.deadline)

    def repeat(self, step: Step) -> None:
        """A step of an earlier run, as far as it came there."""
        stops = Stops(NEVER, tuple(step.get("stopped", ())))
        if "exchanges" in step:
            self.sweep(step["exchanges"], stops)
        else:
            self.round(step["annealing"], step["factor"], stops, step["combined"])

    def exchange(self, sweeps: int, part: float) -> None:
        """Rounds of exchanges, while they bring something; they are this part of the work."""
        best = self.improvement
        for number in range(sweeps):

            def report(done: int, total: int, begun: int = number) -> None:
                best.report(part * (begun + done / total) / sweeps)

            if best.deadline.over() or not self.sweep(number, Stops(best.deadline), report):
                break

    def sweep(self, number: int, stops: Stops, report: Progress | None = None) -> bool:
        """A round of exchanges; whether it brought something."""
        best, stopped = self.improvement, list[int | None]()
        exchanges = exchanges_for(self.k, self.n_jobs, best.weights, self.demands)
        if self.timed:
            wide = int(self.k * sqrt(_NEAR / self.X.shape[1]))  # whose near groups are found in a moment
            exchanges = replace(exchanges, looks=stops.looks, region=min(exchanges.region, wide))
        labels = exchanges.round(self.X, best.labels, best.sse, number, report, stopped)
        if not best.offer(labels, "exchanges"):
            return False
        self.note({"exchanges": number}, stopped)
        return True

    def move(self) -> None:
        """Groups moved as a whole by PCL, then one more round of exchanges."""
        best = self.improvement
        moved = moved_as_a_whole(
            self.X, best.labels, self.k, self.cell_rounds, self.n_jobs, lambda *_: best.report()
        )
        best.offer(moved, "cells")
        self.sweep(self.tuning.sweeps, Stops(best.deadline))

    def note(self, step: Step, stopped: Stopped) -> None:
        """Remember a step, and where its tasks were stopped."""
        if self.steps is not None:
            self.steps.append(step | ({"stopped": stopped} if any(look is not None for look in stopped) else {}))

    def anneal(self, deadline: Deadline) -> None:
        """Rounds of annealing, each longer than the one before up to a limit."""
        number = 0
        while (self.demands is not None or self.k <= self.tuning.largest_k) and number != self.rounds:
            if deadline.over() or (factor := self.factor(number, deadline)) == 0.0:
                break
            began = now()
            self.round(number, factor, Stops(deadline))
            self.usual = (now() - began) / factor
            number += 1

    def factor(self, number: int, deadline: Deadline) -> float:
        """How many times the usual length a round is: all of the time that is left if that is little."""
        tuning = self.tuning
        factor = float(tuning.growth ** min(number, tuning.growing))
        left = deadline.left()
        if self.rounds is not None or left == inf:
            return factor * self.effort
        if left < _LEAST_LEFT * self.improvement.seconds:
            return 0.0
        fitting = tuning.last * left / self.usual
        if number == 0:
            return min(factor, _TRIAL * fitting)  # short, to learn how long one takes
        return fitting if fitting < tuning.growth * factor else factor

    def round(self, number: int, factor: float, stops: Stops, combined: bool | None = None) -> None:
        """All regions searched through once; `combined` is whether groups were combined in an earlier run."""
        if self.demands is not None:
            self.cool(number, factor, stops, self.demands)
            return
        best, tuning = self.improvement, self.tuning
        labels, before = best.labels, best.sse
        regions, searches = self.regions(number)
        effort = Effort(factor, self.timed, *tuning.ending(self.k, self.effort))
        hot = self.hot * (tuning.brief_hot if self.effort < tuning.brief else 1.0)
        tasks = []
        for place in range(len(regions) * searches):
            r, s = divmod(place, searches)
            noisy = len(regions) == 1 and (number, s) == (1, 1) and self.k >= tuning.noisy_k
            tasks.append(
                Search(place, regions[r], self.seed_of(number, r, s), effort, noisy_groups if noisy else None)
            )
        work = Annealing(self.X, self.k, labels, hot, stops, tuning)
        found: list[Found] = []
        for each in in_order(work, tasks, self.n_jobs, self.hear):
            found.append(each)
            done, left = divmod(len(found), searches)
            if not left:
                self.report_round(number, done / len(regions))
                labels, combined = self.taken(regions[done - 1], labels, found[-searches:], number, combined)
        best.settle(labels, before)
        self.note(
            {"annealing": number, "factor": factor, "combined": bool(combined)}, [each.stopped for each in found]
        )

    def regions(self, number: int) -> tuple[list[Int], int]:
        """The records of each region, and how many searches there are of each."""
        regions = Exchanges(self.k, region=self.tuning.region).regions(self.X, self.improvement.labels, number)
        return regions, self.tuning.searches if len(regions) == 1 else 1

    def seed_of(self, number: int, region: int, search: int) -> int:
        """The seed of a search."""
        return int(np.random.SeedSequence(self.seed, spawn_key=(number, region, search)).generate_state(1)[0])

    def report_round(self, number: int, share: float) -> None:
        """Progress of annealing: so much of this round is done."""
        total = self.rounds if self.rounds is not None else number + 1
        self.improvement.report(0.3 + 0.7 * (number + share) / total)

    def cool(self, number: int, factor: float, stops: Stops, demands: Demands) -> None:
        """All regions annealed once under demands."""
        best = self.improvement
        weights = np.ones(len(self.X)) if best.weights is None else best.weights
        regions, searches = self.regions(number)
        tasks = []
        for place in range(len(regions) * searches):
            r, s = divmod(place, searches)
            # Great heat finds other ways for large groups, little heat keeps what a good start has.
            tasks.append(Cooled(place, regions[r], self.seed_of(number, r, s), _HEATS[(number + s) % 2]))
        stages = (
            max(1, ceil(STAGES * factor)) if self.timed else STAGES
        )  # as many looks at the clock as that takes
        work = Cooling(self.X, best.labels, weights, demands, _CHANGES * factor, stages, stops)
        stopped: Stopped = []
        for own, look in in_order(work, tasks, self.n_jobs, lambda _: best.report()):
            task = tasks[len(stopped)]
            stopped.append(look)
            self.report_round(number, len(stopped) / len(tasks))
            best.offer(with_region(best.labels, task.records, own), "annealing")
        self.note({"annealing": number, "factor": factor, "combined": False}, stopped)

    def hear(self, labels: Int | None) -> None:
        """A search has come a step further, and perhaps to a better partition."""
        if labels is not None:
            self.improvement.offer(labels, "annealing")
        self.improvement.report()

    def taken(
        self, region: Int, labels: Int, found: list[Found], number: int, combined: bool | None
    ) -> tuple[Int, bool]:
        """The labels with the best that the searches of a region found, and whether groups were combined."""
        X = np.ascontiguousarray(self.X[region])
        tried = [compact(labels[region]), *(each.labels for each in found)]
        errors = [sse_of(X, each) for each in tried]
        own, stage = tried[int(np.argmin(errors))], "annealing"
        if own is tried[0] and all(each.stopped is not None for each in found):
            return labels, False
        if combined is None:
            combined = self.improvement.deadline.left() > len(self.X) * _COMBINING
        if len(X) != len(self.X):
            combined = False
        if combined:
            better = self.combined(own, found, number)
            combined = better is not None
            if better is not None and sse_of(X, better) < min(errors):
                own, stage = better, "recombination"
        new = with_region(labels, region, own)
        self.improvement.offer(new, stage)
        return new, combined

    def combined(self, labels: Int, found: list[Found], number: int) -> Int | None:
        """What groups of the last partitions give, of few records those on the way too; None if time is up."""
        left = self.improvement.deadline.left()
        part = self.tuning.chosen_again if self.recombination.known else self.tuning.combined
        ended = [each.labels for each in found]
        passed = [snapshot for each in found for snapshot in each.snapshots]
        nodes: int | None = NODES
        if self.timed:
            nodes = None if self.steps is None else NODES * self.tuning.growth ** min(number, self.tuning.growing)
        end = within(left if left == inf else min(max(part * left, 1.0), max(left - _SLOW, 0.0)))
        better = self.recombination.best(labels, ended, passed, max(end.left(), 0.0), nodes)
        return better if nodes is None or not end.over() else None

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
        return best_of(pool, labels, max(end.left(), 0.0), None)


def noisy_groups(work: Annealing, seed: int, looks: Looks) -> Int:
    """The groups of PCL's noisy rounds after exchanges; those of the work if time is up before."""

    def look(done: int, total: int) -> None:
        if looks.over():
            raise TimeoutError

    try:
        found = PCL(k=work.k, n_starts=1, random_state=seed)._group(work.X, look)
    except TimeoutError:
        return work.labels
    return swept_through(work.X, work.k, split(work.X, found, work.k, None), work.tuning.sweeps, looks)


def with_region(labels: Int, region: Int, own: Int) -> Int:
    """The labels with those of a region in the place of what was there."""
    new = labels.copy()
    new[region] = own + labels.max() + 1
    return compact(new)
