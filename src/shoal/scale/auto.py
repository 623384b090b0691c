"""Auto: the method that suits the table, chosen by its size, k and the time there is.

What is chosen follows from the number of records and attributes, k and the parameters alone, never from a clock,
so the same table gives the same groups. `chosen_` is the method, `reason_` says why in words.

Guarantee: that of the method chosen; every group has at least k records.
Cost: within a small factor of `seconds`, where given, on a machine of two cores.
"""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.methods.base import Microaggregator, Progress
from shoal.methods.mdav import MDAV
from shoal.methods.optimal import Optimal
from shoal.methods.refined import Refined
from shoal.methods.univariate_optimal import UnivariateOptimal
from shoal.parameters import Maybe, Number, Rule, Whole
from shoal.scale.blocked import LARGEST_BLOCK, Blocked

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_PROVEN = 28  # records up to which the optimum is proven at any k in a second
_LINE = 1e9  # n * k up to which one attribute is cut optimally
_REFINED = 5_000  # records up to which a round of annealing is the default
_ANNEALING = 1.2e-3  # seconds for a record in the first round of annealing; the next takes four times as long
_MOST_ROUNDS = 4  # of annealing
_SWEEPS = 3  # rounds of exchanges where no time is given
_MOST_SWEEPS = 12  # beyond which a round gains next to nothing
_GROUPING = 0.5e-6  # seconds for a record and an attribute in MDAV on a block
_SWEEPING = 1e-6  # and in a round of exchanges


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
        About how long it may take; more time, less loss. By default a round of annealing up to 5000 records, and
        three rounds of exchanges beyond.
    n_jobs : int
        Threads, where the method can use them; the groups do not depend on it.

    Attributes
    ----------
    chosen_ : the method, with its parameters
    reason_ : why it was chosen
    """

    idea = "chooses by the size of the table, k and the time there is"
    cost = "near-linear time, O(n) memory"
    reference = "measured in docs/scale.md"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "seconds": Maybe(Number(0)), "n_jobs": Whole(1)}

    def __init__(self, k: int = 5, seconds: float | None = None, n_jobs: int = 1) -> None:
        self.k = k
        self.seconds = seconds
        self.n_jobs = n_jobs

    def _group(self, X: Float, progress: Progress | None) -> Int:
        varying = np.flatnonzero(X.min(axis=0) < X.max(axis=0)).tolist()
        self.chosen_, self.reason_ = choose(len(X), varying, self.k, self.seconds, self.n_jobs)
        labels = self.chosen_._group(X, progress)
        self.interrupted_ = getattr(self.chosen_, "interrupted_", False)
        return labels


def choose(n: int, varying: list[int], k: int, seconds: float | None, n_jobs: int) -> Choice:
    """The method for n records, of which these attributes vary."""
    m = len(varying)
    if n < 2 * k or m == 0:
        return Choice(MDAV(k=k), "there is only one way to group them" if n < 2 * k else "all records are equal")
    if m == 1 and n * k <= _LINE:
        line = UnivariateOptimal(k=k, projection=varying[0])
        return Choice(line, "one attribute varies, so the optimum is found directly")
    if n <= _PROVEN:
        return Choice(Optimal(k=k), f"up to {_PROVEN} records the optimum is proven in a second")
    if rounds := annealing_for(n, seconds, n_jobs):
        start: Microaggregator = MDAV(k=k) if n <= LARGEST_BLOCK else Blocked(MDAV(k=k), sweeps=0, n_jobs=n_jobs)
        return Choice(
            Refined(k=k, start=start, rounds=rounds, n_jobs=n_jobs),
            f"MDAV, then exchanges between neighbouring groups and {times(rounds, 'round')} of annealing"
            + allowed(seconds),
        )
    sweeps = sweeps_for(n, m, seconds, n_jobs)
    size = max(LARGEST_BLOCK, 2 * k)
    blocks = max(1, min(n // (2 * k), -(-n // size)))
    cut = f"{blocks} blocks of {-(-n // blocks)} records" if blocks > 1 else "one block"
    return Choice(
        Blocked(MDAV(k=k), max_size=size, sweeps=sweeps, n_jobs=n_jobs),
        f"MDAV in {cut}, then {times(sweeps, 'round')} of exchanges between neighbouring groups"
        + allowed(seconds),
    )


def times(count: int, what: str) -> str:
    """So many of something, in words."""
    return f"{count} {what}{'s' * (count != 1)}"


def allowed(seconds: float | None) -> str:
    """Why it is so many rounds."""
    return "" if seconds is None else f", as many as {seconds:g} s allow"


def annealing_for(n: int, seconds: float | None, n_jobs: int) -> int:
    """How many rounds of annealing fit into the time."""
    if seconds is None:
        return int(n <= _REFINED)
    first = n * _ANNEALING / min(n_jobs, 2)
    return int(np.clip(np.log(3 * seconds / first + 1) / np.log(4), 0, _MOST_ROUNDS))


def sweeps_for(n: int, m: int, seconds: float | None, n_jobs: int) -> int:
    """How many rounds of exchanges fit into the time after MDAV."""
    if seconds is None:
        return _SWEEPS
    left = seconds - n * m * _GROUPING / n_jobs
    return int(np.clip(left / (n * m * _SWEEPING / n_jobs), 0, _MOST_SWEEPS))
