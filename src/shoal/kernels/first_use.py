"""Somebody who waits for the compiler is told so: once, and only if it takes more than a moment."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from numba.core import event

PATIENCE = 0.5  # seconds of compiling before anything is said
_COMPILING = "numba:compile"


class Waiting(event.Listener):
    """Adds up the time in which kernels are compiled; those taken from the disk do not count."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._depth, self._since, self._spent, self._told = 0, 0.0, 0.0, False

    def on_start(self, event: Any) -> None:
        """A kernel is compiled, or one within another."""
        now = monotonic()
        if self._depth == 0:
            self._since = now
        self._depth += 1
        if not self._told and self._spent + now - self._since > PATIENCE:
            self._told = True
            self._tell()

    def on_end(self, event: Any) -> None:
        """It has ended."""
        self._depth -= 1
        if self._depth == 0:
            self._spent += monotonic() - self._since


@contextmanager
def waiting_told(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` once if compiling takes more than a moment."""
    listener = Waiting(tell)
    event.register(_COMPILING, listener)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        event.unregister(_COMPILING, listener)  # type: ignore[no-untyped-call]
