"""The one clock of all searches, when they are to end, and how they end at the same place again.

The clock stands still while kernels are compiled or loaded from the disk: that is paid once on a machine.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shoal.engines.timing import Stopwatch

Stopped = list[int | None]
"""For each task of a stage the look at which its time was up; None if it came to its end."""


def now() -> float:
    """Seconds on a clock that all processes of this machine share, without those that this one has compiled."""
    return monotonic() - compiling().compiling


@cache
def compiling() -> "Stopwatch":
    """Notes from the first look at the clock on how long kernels are compiled."""
    from shoal.engines.timing import Stopwatch

    return Stopwatch().__enter__()


@dataclass(frozen=True)
class Deadline:
    """A moment on that clock, or infinity."""

    at: float

    def left(self) -> float:
        """The seconds until then, negative after it."""
        return self.at - now() if self.at < inf else inf

    def over(self) -> bool:
        """Whether time is up."""
        return self.left() <= 0.0


NEVER = Deadline(inf)


def within(seconds: float) -> Deadline:
    """So many seconds from now."""
    return Deadline(now() + seconds)


class Looks:
    """The looks of one task at the clock, counted: where time was up once, a later run stops again."""

    def __init__(self, deadline: Deadline, most: int | None = None) -> None:
        self._deadline, self._most, self._count = deadline, most, 0
        self.stopped: int | None = None

    def over(self, needed: float = 0.0) -> bool:
        """Whether there are fewer seconds left than are needed, by the clock or by the count; it stays so."""
        if self.stopped is None:
            self._count += 1
            if self._deadline.left() <= needed or self._count == self._most:
                self.stopped = self._count
        return self.stopped is not None


@dataclass(frozen=True)
class Stops:
    """When the tasks of a stage end: at a deadline, or where they did in an earlier run."""

    deadline: Deadline
    earlier: tuple[int | None, ...] = ()

    def looks(self, task: int) -> Looks:
        """Those of one task, by its number."""
        return Looks(self.deadline, self.earlier[task] if task < len(self.earlier) else None)


LooksOf = Callable[[int], Looks]
"""Called with the number of a task."""
