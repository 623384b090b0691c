"""The comparison, from a table to its result: one setting after the other, each kept as soon as it is there."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Unpack

from shoal.comparison.caching import Cache
from shoal.comparison.grid import DEFAULT_K, DEFAULT_METHODS, Setting, checked_seconds, grid
from shoal.comparison.result import Comparison
from shoal.comparison.rows import Row
from shoal.comparison.work import Run, working
from shoal.errors import warn
from shoal.estimator import Microaggregator
from shoal.files import Source, read
from shoal.parameters import Names, Progress
from shoal.progress import check_progress, shown_progress
from shoal.settings import Options
from shoal.table import Table, gathered

_NUMBER = re.compile(r"\d+")


def compare(
    data: Any,
    k: int | Iterable[int] = DEFAULT_K,
    methods: str | Microaggregator | Iterable[str | Microaggregator] = DEFAULT_METHODS,
    quasi_identifiers: Names = None,
    confidential: Names = None,
    identifiers: Names = None,
    *,
    seconds: float | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Release a table in memory by several methods with several k, and set side by side what each loses.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or the path of a CSV, Parquet or Arrow file
        The table, as for `anonymize`. It is read once.
    k : int or list of int
        The values of k.
    methods : list of names or estimators
        The methods, such as ``["mdav", "auto", PCL(hierarchy=1000)]``; the k of an estimator is replaced.
    quasi_identifiers, confidential, identifiers : column names
        The roles of the columns, as for `anonymize`.
    seconds : float
        How long a setting may take. One that takes longer is ended, and its row says that it is unfinished. The
        settings then run in a process of their own. `Optimal`, which refuses large tables otherwise, is told the
        limit and gives the best that it has found by then.
    cache : path
        A folder where the figures of each setting are kept, so that the same call resumes where it stopped. It
        holds figures and nothing of the table.
    progress : bool or callable
        True shows a bar; a function is called with (settings done, settings in all).
    options
        Every other setting of `anonymize` by its name. Methods that draw random numbers get the seed 0 where no
        `random_state` is given, so that the same comparison gives the same figures.

    Returns
    -------
    Comparison
        A row for each setting, and a recommendation. After a Ctrl-C it has the rows that were there by then.
    """
    check_progress(progress)
    limit = checked_seconds(seconds)
    settings = grid(k, methods, quasi_identifiers, confidential, identifiers, dict(options), limit)
    held = (
        read(data) if isinstance(data, str | os.PathLike) else data if isinstance(data, Source) else gathered(data)
    )
    return compared(held, settings, limit, cache, progress)


def compared(
    data: Any,
    settings: Sequence[Setting],
    seconds: float | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | bool | None = None,
) -> Comparison:
    """The same for a table that was read, and settings that were checked."""
    table = Table.of(data, settings[0].settings.roles)  # what is wrong with a column is said before any work
    kept = None if cache is None else Cache.of(cache, table)
    rows: list[Row] = []
    interrupted = False
    with shown_progress(progress, "comparing") as report, working(data, seconds) as run:
        try:
            rows.extend(Rounds(settings, run, kept, seconds, report))
        except KeyboardInterrupt:
            if not rows:
                raise
            interrupted = True
    if interrupted:
        warn(resuming(len(rows), len(settings), kept))
        rows += [Row(each.method, each.k, "not run", "interrupted before") for each in settings[len(rows) :]]
    name = table.source.name if table.source is not None else ""
    return Comparison(tuple(rows), name, len(table), interrupted)


class Rounds:
    """The rows of settings, one after the other: those that were kept, and the others made and kept.

    What is warned of is said once, though every release says it again, with other numbers where k is another.
    """

    def __init__(
        self,
        settings: Sequence[Setting],
        run: Run,
        kept: Cache | None,
        seconds: float | None,
        progress: Progress | None,
    ) -> None:
        self._settings, self._run, self._kept, self._seconds = settings, run, kept, seconds
        self._progress = progress
        self._warned: set[str] = set()

    def __iter__(self) -> Iterator[Row]:
        total = len(self._settings)
        for done, setting in enumerate(self._settings):
            self._tell(done)
            row = None if self._kept is None else self._kept.row(setting, self._seconds)
            if row is None:
                row = self._made(setting, f"{setting} ({done + 1} of {total})")
            yield row
        self._tell(total)

    def _made(self, setting: Setting, called: str) -> Row:
        self._say(called)
        row, warned = self._run(setting, lambda share: self._say(f"{called}, {100 * share:.0f} % grouped"))
        if self._kept is not None:
            self._kept.keep(setting, row)
        for sentence in warned:
            if (like := _NUMBER.sub("", sentence)) not in self._warned:
                self._warned.add(like)
                warn(sentence)
        return row

    def _tell(self, done: int) -> None:
        if self._progress is not None:
            self._progress(done, len(self._settings))

    def _say(self, what: str) -> None:
        say = getattr(self._progress, "say", None)
        if say is not None:
            say(what)


def resuming(done: int, total: int, kept: Cache | None) -> str:
    """What a Ctrl-C has left, and how to go on from there."""
    how = (
        "give a folder for the cache (cache=, --cache) to be able to resume"
        if kept is None
        else f"the same call with this cache resumes there: {kept.folder}"
    )
    return f"interrupted: {done} of {total} settings are done; {how}"
