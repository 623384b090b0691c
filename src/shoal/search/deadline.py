"""The one clock of all searches, and when they are to end."""

from dataclasses import dataclass
from time import monotonic


def now() -> float:
    """Seconds on a clock that all processes of this machine share."""
    return monotonic()


@dataclass(frozen=True)
class Deadline:
    """A moment on that clock, or infinity."""

    at: float

    def left(self) -> float:
        """The seconds until then, negative after it."""
        return self.at - now()

    def over(self) -> bool:
        """Whether time is up."""
        return self.left() <= 0.0


def within(seconds: float) -> Deadline:
    """So many seconds from now."""
    return Deadline(now() + seconds)
