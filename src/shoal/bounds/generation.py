"""The linear program of set partitioning: prices that no group undercuts, by column generation, then cuts.

One column per group, each record covered once; the dual is a price per record with, for every group, prices of at
most its SSE. An interior-point method proposes prices for the groups known so far, a search finds the groups that
undercut them. The search can be cut down: prices lowered by a common factor are undercut by fewer groups and
proven faster. So a bound comes early and rises with time.
"""

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf, isfinite
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.bounds.master import Duals, cover_of, propose, violated
from shoal.bounds.points import Points
from shoal.bounds.search import Floor, Group, Search, quick_look

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MARGIN = 1e-10
"""For rounding, as a part of all prices."""

_RANGE = 0.15  # how far a price may go from the best so far, as a part of it
_WIDEST = 5.0
_NARROWER = 0.7
_WIDER = 1.5
_ROUNDS = 40  # of quick looks before the first search
_FACTORS = (0.7, 0.8, 0.86, 0.9, 0.93, 0.96, 0.98, 1.0)  # of the prices
_LEVELS = (1.0, 0.95, 0.9, 0.85, 0.8)  # of the SSE known, to begin with
_NODES = 200_000, 10**9  # steps of the search for the groups of one record, a second; of a patient one
_SHORT = 2.0  # seconds of a first search
_SAMPLE = 40  # anchors from which the time of a search is estimated
_PATIENCE = 20  # searches without gain before it ends
_MOST_CUTS = 2500
_CLOSE = 1e-3  # the part of the linear program's value that may be missing before cuts are added


@dataclass
class Generation:
    """Column generation, a step at a time; `bound` is what is proven, `stage` by what."""

    points: Points
    shares: Float  # a price for each point that no group undercuts
    upper: float
    n_jobs: int = 1
    patient: bool = False  # whether every search is complete, so that nothing depends on time
    bound: float = 0.0
    size: float = 0.0  # the sum of all prices and fines behind it, which its rounding depends on
    stage: str = "prices"
    members: list[Int] = field(default_factory=list)
    costs: list[float] = field(default_factory=list)
    known: set[bytes] = field(default_factory=set)
    value: float = inf  # of the linear program
    until: float = inf  # when time is up, as far as that is known
    cuts: Int = field(default_factory=lambda: np.empty((0, 3), np.int64))

    def __post_init__(self) -> None:
        self.scale = self.upper / self.points.n
        total = float(self.points.weights @ self.shares)
        self.proven = Duals(self.shares, self.cuts, np.empty(0))  # the best that no group is known to undercut
        self.duals = self.proven._replace(prices=self.shares * (self.upper / max(total, 1e-9 * self.upper)))
        self.centre, self.range = self.duals.prices, _RANGE
        self.began = monotonic()

    def add(self, groups: Iterable[Group]) -> int:
        """More groups; how many of them are new."""
        before = len(self.members)
        for points, cost in groups:
            key = points.tobytes()
            if key not in self.known:
                self.known.add(key)
                self.members.append(points)
                self.costs.append(cost)
        return len(self.members) - before

    def known_groups(self) -> Any:
        """How many records of each point each known group holds, as a sparse table."""
        rows = np.concatenate(self.members) if self.members else np.empty(0, np.int64)
        return cover_of(rows, np.array([len(group) for group in self.members], np.int64), self.points)

    def reduced(self) -> Float:
        """What each known group costs more than its prices and fines."""
        return self.duals.reduced(self.known_groups(), np.array(self.costs))

    def propose(self, tolerance: float) -> float:
        """New prices, fines and toll from the linear program; how much its ranges hold it back."""
        self.drop_far_ones()
        width = self.range * (np.abs(self.centre) + 0.3 * self.scale)
        low = np.minimum(self.centre - width, self.shares - 1e-6 * self.scale)
        self.cover, costs = self.known_groups(), np.array(self.costs)
        ranges = low, self.centre + width
        proposal = propose(self.points, self.cover, costs, self.cuts, *ranges, self.scale, tolerance)
        self.duals, self.used, self.value, held = proposal
        return held

    def drop_far_ones(self) -> None:
        """Forget the groups that are far from use."""
        most = max(12 * len(self.points.rows), 5000)
        if len(self.members) > most:
            reduced = self.reduced()
            stays = reduced <= np.partition(reduced, most // 2)[most // 2]
            self.members = [group for group, stay in zip(self.members, stays, strict=True) if stay]
            self.costs = [cost for cost, stay in zip(self.costs, stays, strict=True) if stay]
            self.known = {group.tobytes() for group in self.members}

    def steps(self) -> Iterator[None]:
        """All of it; may be left at any step."""
        yield from self.look()
        yield from self.prove()

    def look(self) -> Iterator[None]:
        """Prices from quick looks alone, until these find little."""
        best, good = -np.inf, self.duals
        for level in _LEVELS:
            self.duals = good.scaled(level)
            found = self.quick()
            self.add(found)
            merit = self.merit(found)
            if merit < best:
                break
            best, self.centre = merit, self.duals.prices
            yield
        good = Duals(self.centre, self.cuts, np.empty(0))
        failed = 0
        for _ in range(_ROUNDS):
            self.propose(1e-3)
            yield
            found = self.quick()
            yield
            new = self.add(found)
            merit = self.merit(found)
            if merit > best:
                best, good, self.centre, failed = merit, self.duals, self.duals.prices, 0
            else:
                failed += 1
                self.range *= _NARROWER
            if new == 0 or self.value - best < 3e-3 * self.upper or failed == 4:
                break
        self.duals, self.range = good, max(self.range, 0.05)

    def quick(self) -> list[Group]:
        """Groups that undercut the prices, as far as a quick look finds them."""
        best = np.argsort(self.reduced(), kind="stable")[: 2 * len(self.points.rows)]
        some = [self.members[i] for i in best.tolist()]
        return quick_look(self.points, self.duals, -1e-7 * self.scale, some)

    def merit(self, found: list[Group]) -> float:
        """What the prices would prove if the groups found were all there are."""
        prices, points = self.duals.prices, self.points
        lowest = np.zeros(len(points.rows))
        for group, cost in found:
            reduced = cost - prices[group].sum() - self.duals.toll
            dearest = group[np.argmax(prices[group])]
            lowest[dearest] = min(lowest[dearest], reduced)
        undercut = np.sort(np.repeat(lowest, points.weights))[: points.most_groups]
        return self.duals.value(points) + float(undercut.sum())

    def prove(self) -> Iterator[None]:
        """Complete searches, as close to the proposed prices as time seems to allow; in between, better prices."""
        step, held, idle = -1, 0.0, 0
        pure = Floor(self.shares, np.zeros(len(self.shares)))
        floor = pure
        while True:
            step = yield from self.closest(step)
            search = self.search(_FACTORS[step])
            before = self.bound
            for _ in search.run():
                if not self.patient:
                    self.record(search, floor)
                yield
            self.record(search, floor)
            gain = self.bound - before
            new = self.add(search.groups)
            if _FACTORS[step] < 1.0:
                floor = search.as_floor()
                if new > 0.1 * len(self.points.rows):
                    held, floor = self.propose(1e-3), pure
                    step -= 1
                continue
            floor = pure
            idle = 0 if gain > 1e-7 * self.bound else idle + 1
            if idle == _PATIENCE:
                return
            held_back = held > 1e-3 and self.range < _WIDEST
            if held_back and gain > 0:
                self.range *= _WIDER
            if self.value - self.bound < _CLOSE * self.value or (new == 0 and gain <= 0):
                if not self.cut() and not held_back:
                    return
            elif gain <= 0:
                self.range *= _NARROWER
                if self.range < 1e-5:
                    return
            gap = max(self.value - self.bound, 0.0) / self.value
            held = self.propose(min(max(0.1 * gap, 1e-6), 1e-3))
            step = len(_FACTORS) - 2
            yield

    def search(self, factor: float) -> Search:
        """A complete search with the prices lowered by a factor."""
        duals, dearest = self.duals.scaled(factor), self.upper * (1 + 1e-9)
        return Search(self.points, duals, 1e-9 * self.scale, self.n_jobs, dearest, _NODES[self.patient])

    def record(self, search: Search, floor: Floor) -> None:
        """Take what a search has proven so far."""
        bound = search.bound(floor)
        if bound > self.bound:
            self.bound, self.centre = bound, self.duals.prices
            self.stage = "cuts" if len(self.cuts) else "prices"
            paid, fines = self.points.weights @ np.abs(search.duals.prices), search.duals.fines.sum()
            self.size = float(paid + 2 * fines) - self.points.most_groups * search.duals.toll
        if search.finished == len(search.lowest):
            proven = search.proven()
            if proven.value(self.points) > self.proven.value(self.points):
                self.proven = proven

    def closest(self, before: int) -> Generator[None, None, int]:
        """The number of the greatest factor, above `before`, whose search seems to take no longer than it should.

        That is, no longer than all so far, or than somewhat less than half the time left.
        """
        if self.patient or before == len(_FACTORS) - 2:
            return len(_FACTORS) - 1
        now = monotonic()
        budget = max(_SHORT, now - self.began)
        if self.bound > 0 and isfinite(self.until):
            budget = max(budget, 0.45 * (self.until - now))
        anchors = len(self.points.rows)
        chosen = np.unique(np.linspace(0, anchors - 1, _SAMPLE).astype(np.int64))
        for step in range(before + 1, len(_FACTORS)):
            search = self.search(_FACTORS[step])
            start = monotonic()
            for _ in search.run(chosen):
                yield
            self.add(search.groups)
            if (monotonic() - start) * anchors / len(chosen) > budget:
                return max(step - 1, before + 1)
        return len(_FACTORS) - 1

    def cut(self) -> bool:
        """More cuts where the linear program's solution breaks them; whether there are any."""
        new = violated(self.cover, self.used, self.points.weights, self.cuts)
        if len(new) == 0 or len(self.cuts) >= _MOST_CUTS:
            return False
        self.cuts = np.concatenate([self.cuts, new])
        return True
