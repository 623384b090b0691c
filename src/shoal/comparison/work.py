"""One setting after the other: in this process, or in one that is ended where a setting takes too long."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import Any, NamedTuple

from shoal.comparison.grid import Setting
from shoal.comparison.measuring import made_ready, row_of
from shoal.comparison.rows import Row
from shoal.engines.apart import Apart, EndedError, TimeUpError, clock_stopped, is_apart, told
from shoal.errors import ShoalWarning

Share = Callable[[float], None]
"""Called with the share of the records that are grouped."""

_OFTEN = 0.1  # seconds between two messages about progress


class Done(NamedTuple):
    """The row of a setting, and what was warned of."""

    row: Row
    warned: list[str]


Run = Callable[[Setting, Share], Done]


class Measuring:
    """Makes the rows of a table; a method is made ready before its first setting, which takes no time of it."""

    def __init__(self, data: Any) -> None:
        self._data = data
        self._ready: set[str] = set()

    def __call__(self, setting: Setting, share: Share | None = None) -> Done:
        """The row of a setting; in a process of its own, compiling and making ready do not count there either."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ShoalWarning)
            if setting.method not in self._ready:
                clock_stopped(True)
                made_ready(setting)
                clock_stopped(False)
                self._ready.add(setting.method)
                caught.clear()  # of a few points
            row = row_of(self._data, setting, Telling(share or told), clock_stopped if is_apart() else None)
        said = [str(each.message) for each in caught if issubclass(each.category, ShoalWarning)]
        return Done(row, list(dict.fromkeys(said)))


class Telling:
    """Hands progress on as a share, now and then."""

    def __init__(self, share: Share) -> None:
        self._share, self._next = share, 0.0

    def __call__(self, done: int, total: int) -> None:
        """So much is done."""
        if total and monotonic() >= self._next:
            self._next = monotonic() + _OFTEN
            self._share(done / total)


@contextmanager
def working(data: Any, seconds: float | None) -> Iterator[Run]:
    """What makes the rows of a table, with a limit of time for each setting where there is one."""
    if seconds is None:
        yield Measuring(data)
        return
    limit = seconds
    with Apart(Measuring(data)) as process:

        def run(setting: Setting, share: Share) -> Done:
            try:
                done = process.result(setting, limit, share)
                assert isinstance(done, Done)
                return done._replace(row=replace(done.row, limit=limit))
            except TimeUpError:
                return Done(Row(setting.method, setting.k, "unfinished", limit=limit), [])
            except EndedError as error:
                return Done(Row(setting.method, setting.k, "failed", str(error), limit=limit), [])

        yield run
