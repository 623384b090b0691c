"""What the command line shows, on a terminal or elsewhere: warnings, progress, results and tables."""

import ctypes
import os
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from shoal.entry import lost_output
from shoal.errors import ShoalError, ShoalWarning

if TYPE_CHECKING:
    from shoal.bounds import LowerBound
    from shoal.inspection.look import Inspection
    from shoal.parameters import Progress
    from shoal.release import Release
    from shoal.verification import Verification


@contextmanager
def collected_warnings(show: bool) -> Iterator[list[str]]:
    """What Shoal warns of, a line each, on standard error if it is to be shown."""
    noted: list[str] = []

    def note(message: Warning | str, category: type[Warning], *_: Any) -> None:
        if issubclass(category, ShoalWarning):
            noted.append(str(message))
            if show:
                print(f"shoal: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("always", ShoalWarning)
        warnings.showwarning = note  # type: ignore[assignment]
        yield noted


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
    from rich.progress import Progress

    # Of a long pass not much is heard for a while: the speed is that of the last ten minutes.
    with aside(alone), Progress(console=Console(stderr=True), transient=True, speed_estimate_period=600) as bar:
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
def shown_progress(asked: "Progress | bool | None", what: str) -> Iterator["Progress | None"]:
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


def prove(release: "Release", seconds: float, hidden: bool) -> None:
    """Certify the release for so many seconds while a bar says what is proven so far."""
    from shoal.certificate import Certificate

    with progress_bar(hidden, "proving") as bar:
        began = monotonic()

        def report(bound: "LowerBound") -> None:
            if bar is not None:
                bar(int(1e3 * min(monotonic() - began, seconds)), int(1e3 * seconds))
                bar.say(str(Certificate(release.partition.sse, bound)))

        release.certificate(seconds, n_jobs=os.cpu_count() or 1, progress=report)


def write_release(release: "Release", output: str, overwrite: bool, report: Path | None) -> "Verification":
    """Write to files, or verify in a temporary one and then copy to standard output."""
    if output != "-":
        return release.write(output, overwrite, report)
    from shoal.files import atomically

    source = release.original.source
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = Path(folder) / f"release{source.format.shown[0] if source else '.csv'}"
        verification = release.write(path, report=Path(folder) / "report.html" if report else None)
        if report is not None:
            page = stack.enter_context(atomically(report, overwrite))
            shutil.copyfile(path.with_name("report.html"), page)
        send(path)
    return verification


def send(path: Path) -> None:
    """Copy a file to standard output, which keeps its errors; whoever closes a pipe has seen enough."""
    with path.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()
    lost = lost_output()
    if lost is not None and not isinstance(lost, BrokenPipeError):
        raise ShoalError(f"cannot write the release to standard output: {lost.strerror}")


def checked_output(status: int) -> int:
    """The exit status, given what became of standard output; whoever closes a pipe has seen enough."""
    lost = lost_output()
    if status or lost is None or isinstance(lost, BrokenPipeError):
        return status
    return complain(f"cannot write to standard output: {lost.strerror}; what goes to files was written", 2)


def complain(message: str, status: int) -> int:
    """One line on standard error."""
    print(f"shoal: {' '.join(message.split())}", file=sys.stderr)
    return status


def print_summary(
    release: "Release", verification: "Verification", output: str, report: Path | None, say: Any
) -> None:
    """What was done, for people."""
    sizes = release.partition.sizes.min(), release.partition.sizes.max()
    print_result(release.manifest, sizes, verification.k, release.information_loss, output, report, say)


def print_result(
    manifest: dict[str, Any],
    sizes: tuple[int, int],
    verified_k: int,
    loss: float,
    output: str,
    report: Path | None = None,
    say: Any = None,
) -> None:
    """The same from its figures; `sizes` are those of the smallest and of the largest group."""
    span_of_sizes = f"{sizes[0]}" if sizes[0] == sizes[1] else f"{sizes[0]} to {sizes[1]}"
    blocks = f", {manifest['blocks']} blocks" if "blocks" in manifest else ""
    method, counted = manifest["method"], f"{manifest['records']} records in {manifest['groups']} groups"
    lines = [
        f"{counted} of {span_of_sizes} ({method['name']}{blocks})",
        *([f"chosen: {method['chosen']['name']}; {method['reason']}"] if "chosen" in method else []),
        f"verified on the bytes written: k = {verified_k} (asked for {manifest['k']})",
        f"information loss: {loss:.2f} %",
        *([f"certificate: {manifest['certificate']['says']}"] if "certificate" in manifest else []),
        *untouched_lines(manifest.get("untouched", {})),
    ]
    if output != "-":
        from shoal.files.sidecar import manifest_path

        lines += [
            f"release:  {output}",
            f"manifest: {manifest_path(Path(output))} (for you: it can confirm guesses)",
        ]
    if report is not None:
        lines += [f"report:   {report} (for you: it shows the original data)"]
    print("\n".join(lines), file=say)


def untouched_lines(figures: dict[str, Any]) -> list[str]:
    """What the columns that were released as they are give away, a line for each figure."""
    called = {"others": "columns without a role", "confidential": "confidential columns"}
    return [f"{called[name]} ({len(f['columns'])}): {'; '.join(f['says'])}" for name, f in figures.items()]


def span(low: Any, high: Any) -> str:
    """A range of values."""
    if low is None:
        return ""
    return f"{low:g} to {high:g}" if isinstance(low, float) else f"{low} to {high}"


def print_inspection(found: "Inspection", file: str, given: dict[str, Any], streamed: bool) -> None:
    """What a table holds, and the command to go on with, with what was `given` about the file."""
    rows = [
        (
            *(c.name, c.type, span(c.low, c.high), f"more than {c.distinct}" if c.more else str(c.distinct)),
            *(str(c.missing or ""), c.role, c.reason),
        )
        for c in found.columns
    ]
    print_table(("column", "type", "range", "distinct", "missing", "suggested role", "why"), rows)
    print(f"\n{found.records} records", end="")
    if found.unique is not None:
        share = 100 * found.unique / found.records
        print(f"; {found.unique} of them ({share:.0f} %) are unique on the suggested quasi-identifiers", end="")
    print("\nThe roles are suggestions: you decide what others may know.")
    if found.suggested("quasi-identifier"):
        command = suggested_command(file, found.roles(), given, min(5, found.records))
        print(f"\n  {command}{'' if streamed else ' --report safe.html'}")
    else:
        print("No column can be a quasi-identifier yet: put quantities in the place of what people are known by.")


def suggested_command(file: str, roles: dict[str, list[str]], given: dict[str, Any], k: int) -> str:
    """Every column that could tell people apart has a role in it."""
    from shoal.options import joined, options_of

    options = zip("qci", roles.values(), strict=True)
    parts = [f"-{option} {joined(names)}" for option, names in options if names]
    return f"shoal anonymize {shlex.quote(file)}{options_of(given)} -k {k} {' '.join(parts)} -o safe.csv"


def print_table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """A plain table, as wide as the terminal; column names are text, never markup."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for title in header:
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    width = None if sys.stdout.isatty() else 160
    Console(width=width, highlight=False).print(table)
