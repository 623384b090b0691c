"""The best partition so far: what was offered, when, and when to stop."""

from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.typing import NDArray

from shoal.parameters import Progress
from shoal.partition import sse_of
from shoal.search.deadline import Deadline, now

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_AFTER = 3.0  # times what it takes to measure the SSE and SST here: what comes after the search


@dataclass
class Improvement:
    """The best partition of some points, which only gets better."""

    X: Float
    labels: Int
    seconds: float = inf
    progress: Progress | None = None
    counted: bool = False  # whether steps are counted, so that progress is theirs too where time is limited
    history: list[tuple[float, float, str]] = field(default_factory=list)
    bounds: list[tuple[float, float]] = field(default_factory=list)
    weights: Float | None = None  # of the records, where the SSE is weighted
    began: float = field(default_factory=now)

    def __post_init__(self) -> None:
        looked = now()
        self.sse = self._sse_of(self.labels)
        self.sst = self._sse_of(np.zeros(len(self.X), np.int64))
        # Whoever asked for the partition makes centroids of it and more.
        self.deadline = Deadline(self.began + self.seconds - _AFTER * (now() - looked))
        self.history.append((now() - self.began, self.sse, "start"))
        self._done = 0

    def _sse_of(self, labels: Int) -> float:
        return sse_of(self.X, labels, self.weights)

    def offer(self, labels: Int, stage: str) -> bool:
        """Keep a partition if it is the best so far; whether it is."""
        sse = self._sse_of(labels)
        if not sse < self.sse:
            return False
        self.labels, self.sse = labels, sse
        self.history.append((now() - self.began, sse, stage))
        return True

    def settle(self, labels: Int, before: float) -> None:
        """Keep what some steps came to if it is below the SSE before them, whoever offered an equal one first."""
        sse = self._sse_of(labels)
        if sse < before:
            self.labels, self.sse = labels, sse

    def prove(self, bound: float) -> None:
        """Note a lower bound if it is the highest so far."""
        if not self.bounds or bound > self.bounds[-1][1]:
            self.bounds.append((now() - self.began, bound))

    def report(self, share: float = 0.0) -> None:
        """Progress by the share of the work, or of the time where that is limited; it never goes back."""
        if self.progress is None:
            return
        n = len(self.X)
        if self.seconds < inf:
            share = max(share if self.counted else 0.0, (now() - self.began) / max(self.seconds, 1e-9))
        self._done = max(self._done, min(int(n * share), n - 1))
        self.progress(self._done, n)
        say = getattr(self.progress, "say", None)
        if say is not None:
            gap = 100 * (self.sse / self.bounds[-1][1] - 1) if self.bounds else inf
            say(f"loss {100 * self.sse / self.sst:.3f} %" + (f", gap {gap:.2f} %" if gap < inf else ""))
