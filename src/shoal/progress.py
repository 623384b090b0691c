"""How far the work is: a bar on a terminal or in a notebook, lines in a log, or a function of the caller's."""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from time import monotonic
from typing import Any

from shoal.errors import ShoalError
from shoal.parameters import Progress


def quietly(done: int, total: int) -> None:
    """Nobody is told how far it is."""


@contextmanager
def aside(wanted: bool) -> Iterator[None]:
    """What libraries print to standard output goes to standard error, so that a release may stand there alone."""
    if not wanted or os.name == "nt":
        yield
        return
    flush = ctypes.CDLL(None).fflush  # a library in C keeps its lines for a while
    sys.stdout.flush()
    flush(None)
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        flush(None)
        os.dup2(kept, 1)
        os.close(kept)


FIRST_LINE, SECOND_LINE, LATER_LINES = 10.0, 30.0, 60.0
"""Seconds until the first line, then until the second, and between all others, where there is no terminal."""


class Bar:
    """A bar that work reports to, and that says what the work says of itself."""

    def __init__(self, bar: Any, what: str) -> None:
        self._bar, self._what = bar, what
        self._task = bar.add_task(what, total=None)

    def __call__(self, done: int, total: int) -> None:
        """So much is done."""
        self._bar.update(self._task, completed=done, total=total)

    def say(self, how: str) -> None:
        """Show how it stands."""
        self._bar.update(self._task, description=f"{self._what}: {how}")


class LogLines:
    """The same where there is no terminal: a line now and then, the first one after ten seconds."""

    def __init__(self, what: str, clock: Callable[[], float] = monotonic) -> None:
        self._what, self._clock = what, clock
        self._began = clock()
        self._next = self._began + FIRST_LINE
        self._share: float | None = None
        self._how = ""

    def __call__(self, done: int, total: int) -> None:
        """So much is done."""
        self._share = done / total if total else None
        self._tell()

    def say(self, how: str) -> None:
        """Keep how it stands for the next line."""
        self._how = how
        self._tell()

    def _tell(self) -> None:
        now = self._clock()
        if now < self._next:
            return
        first = self._next == self._began + FIRST_LINE
        self._next = now + (SECOND_LINE if first else LATER_LINES)
        share = "" if self._share is None else f"{100 * self._share:.0f} %"
        state = ", ".join(part for part in (self._how, share) if part)
        print(f"shoal: {self._what}: {state} after {duration(now - self._began)}", file=sys.stderr)


def duration(seconds: float) -> str:
    """A time in words, in no more than two units."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


@contextmanager
def progress_bar(
    hidden: bool, what: str = "grouping records", alone: bool = False
) -> Iterator[Bar | LogLines | None]:
    """A bar with the time left on a terminal, lines elsewhere; `alone` keeps standard output for the release."""
    if hidden or not sys.stderr.isatty():
        with aside(alone):
            yield None if hidden else LogLines(what)
        return
    from rich.console import Console
    from rich.progress import Progress as RichProgress

    # Of a long pass not much is heard for a while: the speed is that of the last ten minutes.
    console = Console(stderr=True)
    with aside(alone), RichProgress(console=console, transient=True, speed_estimate_period=600) as bar:
        yield Bar(bar, what)


class Line:
    """One line of text that says how far the work is, where there are no bars."""

    def __init__(self, what: str) -> None:
        self._what, self._how, self._shown = what, "", ""
        self._next = monotonic()

    def __call__(self, done: int, total: int) -> None:
        """So much is done; said every now and then."""
        if monotonic() >= self._next:
            self._next = monotonic() + 0.5
            self._print(f"{self._what}{self._how}: {100 * done / max(1, total):.0f} %")

    def say(self, how: str) -> None:
        """Show how it stands, the next time."""
        self._how = f" ({how})"

    def clear(self) -> None:
        """Leave nothing behind."""
        if self._shown:
            self._print("")
            print(end="\r", flush=True)

    def _print(self, text: str) -> None:
        print(f"\r{text.ljust(len(self._shown))}", end="", flush=True)
        self._shown = text


def check_progress(progress: object) -> None:
    """What was asked for can be shown or called."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise ShoalError(
            f"progress must be True, False or a function of (work done, work in all), not {progress!r}"
        )


@contextmanager
def shown_progress(asked: Progress | bool | None, what: str) -> Iterator[Progress | None]:
    """What work reports to: a function as it is; for True a bar in a terminal or a notebook, nothing elsewhere."""
    check_progress(asked)
    if not isinstance(asked, bool) or not asked:
        yield asked or None
    elif not in_notebook():
        with progress_bar(sys.stderr is None or not sys.stderr.isatty(), what) as bar:
            yield bar
    elif has_widgets():
        from rich.console import Console
        from rich.progress import Progress as RichProgress

        with RichProgress(console=Console(force_jupyter=True), transient=True) as rich_bar:
            yield Bar(rich_bar, what)
    else:
        line = Line(what)
        try:
            yield line
        finally:
            line.clear()


def in_notebook() -> bool:
    """Whether the code runs in a notebook."""
    if "IPython" not in sys.modules:
        return False
    from rich.console import Console

    return Console().is_jupyter


def has_widgets() -> bool:
    """Whether a notebook can show bars; without it they would be a warning and nothing else."""
    return find_spec("IPython") is not None and find_spec("ipywidgets") is not None
