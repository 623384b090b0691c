"""Auto: the method that suits the table, chosen by its size, k and the time there is.

What is chosen follows from the number of records and attributes, k and the parameters alone, never from a clock,
so the same table gives the same groups. `chosen_` is the method, `reason_` says why in words. Where `seconds` are
given, what is chosen improves its groups until these are over, and `steps_` says how far it came.

Guarantee: that of the method chosen; every group has at least k records.
Cost: near-linear, or `seconds`, where given.
"""

from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.engines import jobs
from shoal.errors import ShoalError
from shoal.estimator import Microaggregator, Progress
from shoal.methods.blocked import LARGEST_BLOCK, Blocked
from shoal.methods.k_anonymity_first import KAnonymityFirst
from shoal.methods.mdav import MDAV
from shoal.methods.optimal import Optimal
from shoal.methods.p_sensitive import PSensitive
from shoal.methods.pcl import PCL
from shoal.methods.refined import Refined, Step, Steps
from shoal.methods.t_closeness_first import TClosenessFirst
from shoal.methods.univariate_optimal import UnivariateOptimal
from shoal.parameters import Maybe, Number, Rule, Seed, Whole
from shoal.partition import sse_of
from shoal.search.deadline import now
from shoal.search.promised import repaired
from shoal.search.weighted import alike, exchanged

if TYPE_CHECKING:
    from shoal.privacy.rules import Rules

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_PROVEN = 28  # records up to which the optimum is proven at any k in a second,
_AXES = 16  # with so many attributes: with more, all records are about as far from each other
_TIED = 0.5  # of the pairs may be as far apart as others; more ties, more partitions that are about as good
_LINE = 1e9  # n * k up to which one attribute is cut optimally
_LARGE = 300  # the largest k at which exchanges of single records are worth their time
_CELLS = 1.2e-6  # seconds for a record and a cell in PCL
_LARGE_SECONDS = 60.0  # for PCL where no time is given
_STARTS = 10  # with noise that PCL has by default up to _REFINED records
_NOISE_GROWTH = 1.6  # the power of the records with which the time of a start grows
_NOISY = 40_000  # records beyond which even one start with noise takes too long
_LEAST_CELLS = 40  # of a block; with fewer the borders cost more than PCL gains
_WHOLE = 3_000  # records up to which a whole round of annealing is the default,
_EFFORT = 5_400.0  # records for which a round of annealing takes as long as it may beyond,
_COARSE_EFFORT = 8_000.0  # and those from that k on, where no chains follow,
_COARSE = 20
_SHORTENED = 0.9  # of a round, at most, where it is shortened
_LEAST_EFFORT = 0.01  # of a round: less gains next to nothing
_REFINED = 5_000  # records up to which two searches are annealed, and one under privacy models,
_NUMBERS = 100_000  # if they have no more coordinates than these in all: each one costs in every distance
_ANNEALING = 1e-3  # seconds for a record in the first round of annealing; the next takes four times as long
_FEW = 20  # coordinates that do not show in that time
_STARTING = 0.25  # of the time, where it is given, is for the start
_LEAST_BLOCK = 500  # records of a block of it
_CELLED = 10  # the k from which rounds of PCL lower the loss of a table that is too large for annealing
_CELL_ROUNDS = 12  # of PCL, after which a round gains little
_SWEEPS = 3  # rounds of exchanges where no time is given,
_GAIN = 0.05  # and more, as long as the last one lowered the SSE by this part
_BROKEN = 0.2  # of the groups that break t-closeness: from there on groups are formed anew,
_AFFORDED = 1e11  # if that takes no more distances between coordinates than these
_TRIED = 2  # rounds of exchanges after which starts under privacy models are compared
_MOST_SWEEPS = 12  # beyond which a round gains next to nothing
_GROUPING = 0.25e-6  # seconds for a record and an attribute in MDAV on a block


class Choice(NamedTuple):
    """A method and why it was chosen."""

    method: Microaggregator
    reason: str


class Auto(Microaggregator):
    """The method that suits the table.

    Parameters
    ----------
    k : int
        The least number of records in a group.
    seconds : float
        How long the fit is to take on the clock, compiling not counted; more time, less loss. It cannot take less
        than its start, MDAV or PCL in blocks. The groups then depend on the machine. By default no clock is
        looked at: exchanges and a round of annealing that is shorter the larger the table is, or, on the largest
        tables, exchanges alone.
    steps : list
        The `steps_` of an earlier fit, together with the `seconds` of that: the same is done again, without a
        look at the clock.
    n_jobs : int, optional
        Workers, where the method can use them; by default one for each core. The groups do not depend on it.
    random_state : int
        The seed, where the method draws random numbers.

    Attributes
    ----------
    chosen_ : the method, with its parameters
    reason_ : why it was chosen
    steps_ : what was done within `seconds`, if these were given

    Notes
    -----
    Where records have weights, it is MDAV with these, in blocks if the table is large, then rounds of weighted
    exchanges.
    """

    name = "auto"
    family = "everyday"
    idea = "chooses by the size of the table, k and the time there is"
    cost = "near-linear time, O(n) memory"
    reference = "measured in docs/scale.md"
    weighted = True
    ruled = True

    _parameters: ClassVar[dict[str, Rule]] = {
        "k": Whole(1),
        "seconds": Maybe(Number(0)),
        "steps": Maybe(Steps()),
        "n_jobs": Maybe(Whole(1)),
        "random_state": Seed(),
    }

    def __init__(
        self,
        k: int = 5,
        seconds: float | None = None,
        steps: Sequence[Step] | None = None,
        n_jobs: int | None = None,
        random_state: int | None = 0,
    ) -> None:
        self.k = k
        self.seconds = seconds
        self.steps = steps
        self.n_jobs = n_jobs
        self.random_state = random_state

    def check_parameters(self) -> None:
        """Raise an error if a parameter has a value that it cannot take, or two contradict each other."""
        super().check_parameters()
        if self.steps is not None and self.seconds is None:
            raise ShoalError("steps say how far a fit came in its seconds; give the seconds of that fit, too")

    @property
    def _draws(self) -> bool:
        return True

    def _group(self, X: Float, progress: Progress | None) -> Int:
        varying = np.flatnonzero(X.min(axis=0) < X.max(axis=0)).tolist()
        self.chosen_, self.reason_ = choose(
            len(X), varying, self.k, self.seconds, jobs(self.n_jobs), self.random_state, is_tied(X), self.steps
        )
        return self._by_chosen(X, None, progress)

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        m = int(np.count_nonzero(X.min(axis=0) < X.max(axis=0)))
        self.chosen_, self.reason_ = choose_weighted(
            len(X), m, self.k, self.seconds, jobs(self.n_jobs), self.random_state, self.steps
        )
        return self._by_chosen(X, weights, progress)

    def _group_ruled(self, X: Float, weights: Float | None, rules: "Rules", progress: Progress | None) -> Int:
        began, n, m = now(), len(X), int(np.count_nonzero(X.min(axis=0) < X.max(axis=0)))
        if self.k > _LARGE or not annealing_for(n, m, self.seconds):
            blocked = Blocked(
                MDAV(k=self.k), max_size=max(LARGEST_BLOCK, 2 * self.k), sweeps=_SWEEPS, n_jobs=jobs(self.n_jobs)
            )
            far = stratified(X, m, self.k, rules)
            labels = blocked._group_ruled(X, weights, rules, progress, far)
            self.unruled_labels_ = blocked.unruled_labels_
            self.reason_ = (
                f"privacy models: MDAV in {cut(n, self.k, LARGEST_BLOCK)}, {times(_SWEEPS, 'round')} of "
                "exchanges, broken groups put right, then as many rounds that break no model"
            )
            self.chosen_, self.interrupted_ = blocked, blocked.interrupted_
            return labels
        plain = Auto(self.k, None, None, self.n_jobs, self.random_state)
        free = plain._group_either(X, weights, None)
        self.unruled_labels_ = free
        if plain.interrupted_:
            self.chosen_, self.interrupted_, self.reason_ = plain.chosen_, True, "interrupted, and put right"
            return repaired(X, free, weights, alike(n, self.k, rules))
        name, labels = best_start(X, self.k, weights, rules, free)
        rounds = 1 if self.seconds is None else None
        refined = Refined(self.k, "mdav", self.seconds, rounds, self.steps, self.n_jobs, self.random_state)
        labels = refined._improved(X, labels, weights, alike(n, self.k, rules), progress, began)
        self._take_over(refined)
        self.reason_ = (
            f"privacy models: {name}, broken groups put right, then exchanges and "
            f"{'one round' if self.seconds is None else 'rounds'} of annealing that break no model"
            + allowed(self.seconds)
        )
        return labels

    def _by_chosen(self, X: Float, weights: Float | None, progress: Progress | None) -> Int:
        """The groups of the method that was chosen."""
        labels = self.chosen_._group_either(X, weights, progress)
        self._take_over(self.chosen_)
        return labels

    def _take_over(self, chosen: Microaggregator) -> None:
        """What is known of the fit of the method that was chosen."""
        self.chosen_, self.interrupted_ = chosen, getattr(chosen, "interrupted_", False)
        if self.seconds is not None:
            self.steps_ = getattr(chosen, "steps_", [])


def is_tied(X: Float) -> bool:
    """Whether few records are mostly as far from each other as other ones, as categories are."""
    if len(X) > _PROVEN:
        return False
    pairs = np.concatenate([np.square(X[i] - X[:i]).sum(axis=1) for i in range(len(X))])
    return len(np.unique(np.round(pairs / (pairs.max(initial=0.0) or 1.0), 9))) < (1 - _TIED) * len(pairs)


def choose(
    n: int,
    varying: list[int],
    k: int,
    seconds: float | None = None,
    n_jobs: int = 1,
    seed: int | None = 0,
    tied: bool = False,
    steps: Sequence[Step] | None = None,
) -> Choice:
    """The method for n records, of which these attributes vary; `tied` where `is_tied` says so."""
    m = len(varying)
    if n < 2 * k or m == 0:
        return Choice(MDAV(k=k), "there is only one way to group them" if n < 2 * k else "all records are equal")
    if m == 1 and n * k <= _LINE:
        line = UnivariateOptimal(k=k, projection=varying[0])
        return Choice(line, "one attribute varies, so the optimum is found directly")
    if n <= _PROVEN and m <= _AXES and not tied:
        return Choice(Optimal(k=k), f"up to {_PROVEN} records the optimum is proven in a second")
    if seconds is not None:
        return in_time(n, m, k, seconds, steps, n_jobs, seed)
    if k > _LARGE:
        return large_groups(n, k, _LARGE_SECONDS, n_jobs, seed, noisy_starts(n))
    work = n * max(1.0, m / _FEW)
    cells = _CELL_ROUNDS if k >= _CELLED and work > _WHOLE else 0
    if (effort := effort_for(n, work, k)) >= _LEAST_EFFORT:
        return annealed(n, k, effort, cells, n_jobs, seed)
    moved = f", {times(cells, 'round')} of PCL that keep the sizes of the groups, and a round of exchanges"
    return Choice(
        Blocked(MDAV(k=k), max_size=LARGEST_BLOCK, sweeps=_SWEEPS, gain=_GAIN, cell_rounds=cells, n_jobs=n_jobs),
        f"MDAV in {cut(n, k, LARGEST_BLOCK)}, then {times(_SWEEPS, 'round')} of exchanges between neighbouring "
        f"groups, more while one gains {_GAIN:.0%}{moved if cells else ''}",
    )


def effort_for(n: int, work: float, k: int) -> float:
    """The length of a round of annealing that makes it take about as long on all tables that are not small."""
    if work <= _WHOLE:
        return 1.0
    return min(_SHORTENED, (_EFFORT if k < _COARSE else _COARSE_EFFORT) / (work * (2 if n <= _REFINED else 1)))


def annealed(n: int, k: int, effort: float, cells: int, n_jobs: int, seed: int | None) -> Choice:
    """MDAV, in blocks if the table is large, improved by all that Refined has."""
    mdav = MDAV(k=k)
    start = Blocked(mdav, max_size=LARGEST_BLOCK, sweeps=0, n_jobs=n_jobs) if n > LARGEST_BLOCK else mdav
    where = f" in {cut(n, k, LARGEST_BLOCK)}" if n > LARGEST_BLOCK else ""
    length = "1 round" if effort == 1.0 else f"{effort:.2g} of a round"
    moved = f", {times(cells, 'round')} of PCL that keep the sizes of the groups" if cells else ""
    return Choice(
        Refined(k, start, rounds=1, n_jobs=n_jobs, random_state=seed, effort=effort, cell_rounds=cells),
        f"MDAV{where}, then exchanges between neighbouring groups{moved} and {length} of annealing",
    )


def in_time(
    n: int, m: int, k: int, seconds: float, steps: Sequence[Step] | None, n_jobs: int, seed: int | None
) -> Choice:
    """A start that takes a small part of the time, improved as long as there is any."""
    if k > _LARGE:
        start, words = large_groups(n, k, seconds * _STARTING, n_jobs, seed)
    else:
        size = int(seconds * _STARTING / (n * m * _GROUPING) * LARGEST_BLOCK)
        size = max(min(size, LARGEST_BLOCK), _LEAST_BLOCK, 2 * k)
        start = Blocked(MDAV(k=k), max_size=size, sweeps=0, n_jobs=n_jobs)
        words = f"MDAV in {cut(n, k, size)}"
    return Choice(
        Refined(k, start, seconds, None, steps, n_jobs, seed),
        f"{words}, then exchanges between neighbouring groups and annealing{allowed(seconds)}",
    )


def choose_weighted(
    n: int,
    m: int,
    k: int,
    seconds: float | None = None,
    n_jobs: int = 1,
    seed: int | None = 0,
    steps: Sequence[Step] | None = None,
) -> Choice:
    """The method for n records of different weights, of which m attributes vary."""
    if n < 2 * k or m == 0:
        return Choice(MDAV(k=k), "there is only one way to group them" if n < 2 * k else "all records are equal")
    if k > _LARGE:
        return Choice(
            MDAV(k=k), f"records count differently, and groups have more than {_LARGE}: MDAV with weights"
        )
    if seconds is not None:
        method, reason = in_time(n, m, k, seconds, steps, n_jobs, seed)
        return Choice(method, f"records count differently, by weights or rows: weighted {reason}")
    sweeps = _MOST_SWEEPS if n <= _REFINED else _SWEEPS
    return Choice(
        Blocked(MDAV(k=k), max_size=LARGEST_BLOCK, sweeps=sweeps, n_jobs=n_jobs),
        f"records count differently, by weights or rows: weighted MDAV in {cut(n, k, LARGEST_BLOCK)}, then up to "
        f"{times(sweeps, 'round')} of weighted exchanges between neighbouring groups",
    )


def stratified(X: Float, m: int, k: int, rules: "Rules") -> Callable[[Int], Int]:
    """What becomes of the groups of a large table before they are put right.

    If t-closeness breaks a part of them, exchanges with near groups do not mend that: values are alike there. Then
    groups are formed anew with a record of each stratum of the column that breaks most.
    """

    def chosen(labels: Int) -> Int:
        broken = (rules.judge(labels)[1] > 0).sum(axis=1)
        close = [place for place, model in enumerate(rules.models) if model.name == "t-closeness"]
        worst = max(close, key=lambda place: broken[place], default=-1)
        if worst < 0 or broken[worst] < _BROKEN * (labels.max() + 1) or len(X) ** 2 / k * m > _AFFORDED:
            return labels
        return TClosenessFirst(k=k)._group_ruled(X, None, rules.first(worst), None)

    return chosen


def best_start(X: Float, k: int, weights: Float | None, rules: "Rules", free: Int) -> tuple[str, Int]:
    """The groups that lose least after a few exchanges under the models, and how they were made.

    `free` are the best groups without the models; others are those of methods that may suit these.
    """
    demands, own = alike(len(X), k, rules), np.ones(len(X)) if weights is None else weights
    made = [
        (type(method).__name__, method._group_ruled(X, weights, rules, None)) for method in starts_for(k, rules)
    ]
    if not made or 2 * len(rules.broken(free)) <= free.max() + 1:  # else hardly one of its groups would stay
        made.append(("the groups without models", free))
    found = []
    for name, labels in made:
        tried = exchanged(X, repaired(X, labels, weights, demands), own, demands, _TRIED)
        found.append((sse_of(X, tried, weights), name, tried))
    _, name, labels = min(found, key=lambda each: each[0])
    return name, labels


def starts_for(k: int, rules: "Rules") -> list[Microaggregator]:
    """The methods that may suit these models."""
    found: list[Microaggregator] = []
    if any(model.name == "t-closeness" for model in rules.models):
        found += [TClosenessFirst(k=k), KAnonymityFirst(k=k)]
    if any(model.numbers().kind == "distinct" for model in rules.models):
        found += [PSensitive(k=k)]
    return found


def noisy_starts(n: int) -> int | None:
    """How many starts with noise take PCL about as long as its ten for as many records as it has ten for."""
    return ceil(_STARTS * (_REFINED / n) ** _NOISE_GROWTH) if _REFINED < n <= _NOISY else None


def large_groups(
    n: int, k: int, seconds: float, n_jobs: int, seed: int | None, starts: int | None = None
) -> Choice:
    """PCL, in blocks if all cells together would take too long, or MDAV if blocks would have few cells."""
    cells = int(seconds / (_CELLS * n))
    if cells < min(_LEAST_CELLS, n // k):
        return Choice(MDAV(k=k), f"groups of more than {_LARGE} records, and no time for PCL: MDAV")
    size = min(n, cells * k)
    pcl, words = PCL(k=k, random_state=seed), ""
    if starts is not None and size == n:
        pcl.set_params(n_starts=starts, noise="jitter")
        words = f", the best of {times(starts, 'start')} with noise"
    return Choice(
        Blocked(pcl, max_size=size, sweeps=0, n_jobs=n_jobs),
        f"groups of more than {_LARGE} records: PCL in {cut(n, k, size)}{words}",
    )


def cut(n: int, k: int, size: int) -> str:
    """How many blocks of at most so many records there are, in words."""
    blocks = max(1, min(n // (2 * k), -(-n // size)))
    return f"{blocks} blocks of {-(-n // blocks)} records" if blocks > 1 else "one block"


def times(count: int, what: str) -> str:
    """So many of something, in words."""
    return f"{count} {what}{'s' * (count != 1)}"


def allowed(seconds: float | None) -> str:
    """How long it may take."""
    return "" if seconds is None else f", for {seconds:g} s"


def annealing_for(n: int, m: int, seconds: float | None) -> bool:
    """Whether there is time for a round of annealing."""
    if seconds is None:
        return n <= _REFINED and n * m <= _NUMBERS
    return n * _ANNEALING * max(1.0, m / _FEW) <= seconds
