"""How long a setting takes, without the time in which kernels are compiled: that is paid once on a machine."""

from collections.abc import Callable
from threading import Lock
from time import perf_counter
from typing import Any, Self

from numba.core import event

_COMPILING = "numba:compiler_lock"


class Stopwatch(event.Listener):
    """The seconds inside of a `with` block, without those in which kernels are compiled or loaded from the disk.

    Threads that compile at the same time count once.

    Parameters
    ----------
    heard : callable, optional
        Called with True when compiling begins, and with False when it ends.

    Attributes
    ----------
    compiling : the seconds that were left out
    seconds : the others
    """

    def __init__(self, heard: Callable[[bool], None] | None = None) -> None:
        self.compiling = self.seconds = 0.0
        self._heard, self._lock = heard, Lock()
        self._depth, self._began, self._since = 0, 0.0, 0.0

    def __enter__(self) -> Self:
        event.register(_COMPILING, self)  # type: ignore[no-untyped-call]
        self._began = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = perf_counter() - self._began - self.compiling
        event.unregister(_COMPILING, self)  # type: ignore[no-untyped-call]

    def on_start(self, event: Any) -> None:
        """A thread compiles, or waits for another one that does."""
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return
            self._since = perf_counter()
        if self._heard is not None:
            self._heard(True)

    def on_end(self, event: Any) -> None:
        """It has ended."""
        with self._lock:
            self._depth -= 1
            if self._depth > 0:
                return
            self.compiling += perf_counter() - self._since
        if self._heard is not None:
            self._heard(False)
