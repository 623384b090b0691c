"""What the command line shows, on a terminal or elsewhere: warnings, results and tables."""

import os
import shlex
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, TextIO

from shoal.errors import ShoalError, ShoalWarning
from shoal.progress import progress_bar
from shoal.settings import order_in_words
from shoal.signals import lost_output

if TYPE_CHECKING:
    from shoal.assessment import Assessment
    from shoal.bounds import LowerBound
    from shoal.comparison.result import Comparison
    from shoal.inspection.look import Inspection
    from shoal.release import Release
    from shoal.report import Pages
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
def preparing(hidden: bool) -> Iterator[None]:
    """A line on standard error where kernels have to be compiled first, which later runs need not do."""
    if hidden:
        yield
        return
    from shoal.kernels.first_use import waiting_told

    said = "shoal: preparing, at the first use only: inner loops are compiled for this machine, up to a minute"
    with waiting_told(lambda: print(said, file=sys.stderr, flush=True)):
        yield


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


def write_release(release: "Release", output: str, overwrite: bool, pages: "Pages") -> "Verification":
    """Write to files, or verify in a temporary one and then copy to standard output."""
    if output != "-":
        return release.write(output, overwrite, pages.get("owner"), pages.get("public"))
    from shoal.files import atomically

    source = release.original.source
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        path = Path(folder) / f"release{source.format.shown[0] if source else '.csv'}"
        drawn = {edition: Path(folder) / f"{edition}.html" for edition in pages}
        verification = release.write(path, report=drawn.get("owner"), public_report=drawn.get("public"))
        for edition, page in pages.items():
            shutil.copyfile(drawn[edition], stack.enter_context(atomically(page, overwrite)))
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


def print_result(
    manifest: dict[str, Any], output: str, pages: "Pages | None" = None, say: TextIO | None = None
) -> None:
    """What was done, for people: every figure that has a sentence."""
    figures, method = manifest["figures"].values(), manifest["method"]
    order = ("groups", "utility", "risk")
    ranked = sorted(figures, key=lambda figure: order.index(figure["topic"]))
    first, *others = [each["says"] for each in ranked if each["says"]]
    chosen = [f"chosen: {method['chosen']['name']}; {method['reason']}"] if "chosen" in method else []
    lines = [first, *chosen, *others, f"order of the rows: {order_in_words(manifest['keep_order'])}"]
    if output != "-":
        from shoal.files.sidecar import manifest_path

        beside = manifest_path(Path(output))
        lines += [
            f"release:  {output}",
            f"manifest: {beside} (keep it private: it could help somebody confirm a guess)",
        ]
    about = {"owner": "keep it private: it shows the original data", "public": "it may be published"}
    lines += [f"report:   {page} ({about[edition]})" for edition, page in (pages or {}).items()]
    print("\n".join(lines), file=say)


def print_times(times: Mapping[str, Any]) -> None:
    """Where the time of several workers went, for people: each step that took some."""
    wall = sum(time.wall for time in times.values()) or 1.0
    print(f"time:     {wall:.0f} s, of which")
    for step, time in times.items():
        if time.wall >= wall / 100:
            done = f"{time.tasks} tasks, {time.work:.1f} s of a processor, up to {time.peak:.0f} MB"
            print(f"  {step:<10}{time.wall:8.1f} s  {done}")


HEADINGS = {"groups": "The groups", "utility": "What was lost", "risk": "What is at risk"}


def print_assessment(found: "Assessment", name: str, report: Path | None, public_report: Path | None) -> None:
    """The figures that matter most, for people: what was lost, and what is at risk."""
    pair = found.pair
    how = f"{found.matched} rows matched by {found.matched_by}" if found.matched_by else "rows not matched"
    print(f"{name}: {pair.n_after} records released, of {pair.n_before}; the smallest group has {pair.k}; {how}")
    more = 0
    for topic, heading in HEADINGS.items():
        own = [figure for figure in found.figures if figure.topic == topic]
        said = [as_sentence(figure.sentence) for figure in own if figure.shown and figure.sentence]
        more += len(own) - len(said)
        if said:
            print(f"\n{heading}")
            print("\n".join(f"  {sentence}" for sentence in said))
    print(f"\n{more} more figures, and all definitions: --json, or --report FILE")
    for note in found.notes:
        print(as_sentence(note))
    if report is not None:
        print(f"report:        {report} (keep it private: it shows the original data)")
    if public_report is not None:
        print(f"public report: {public_report} (may stand beside the release)")


def as_sentence(text: str) -> str:
    """A text with a capital letter and a full stop."""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def print_comparison(found: "Comparison", place: Path | None) -> None:
    """What methods lose with several k, and what to take."""
    from shoal.comparison.rows import HEADER, cells_of

    rows = [cells_of(row) for row in found.rows]
    shown = [place for place in range(len(HEADER)) if any(row[place] for row in rows)]
    print_table(
        tuple(HEADER[place] for place in shown),
        [tuple(row[place].replace("\u2009", " ") for place in shown) for row in rows],
    )
    if found.cached:
        print(f"{found.cached} of {len(rows)} settings come from the cache.")
    print(found.recommendation.says)
    choices = found.recommendation.choices
    for choice in choices if len(choices) > 1 else ():
        print(f"  {choice.says}")
    if place is not None:
        print(f"Figures are kept in {place}, so that the same command resumes; nothing of the table is.")


def span(low: Any, high: Any) -> str:
    """A range of values."""
    if low is None:
        return ""
    return f"{low:g} to {high:g}" if isinstance(low, float) else f"{low} to {high}"


def print_inspection(found: "Inspection", file: str, given: dict[str, Any], streamed: bool) -> None:
    """What a table holds, and the command to type next, with what was `given` about the file."""
    from shoal.inspection.look import missing_shown

    rows = [
        (
            *(
                c.name,
                c.type,
                c.kind,
                span(c.low, c.high),
                f"more than {c.distinct}" if c.more else str(c.distinct),
            ),
            *(missing_shown(c), c.role, c.reason),
        )
        for c in found.columns
    ]
    print_table(("column", "type", "kind", "range", "distinct", "missing", "suggested role", "why"), rows)
    print(f"\n{found.records} records", end="")
    if found.unique is not None:
        share = 100 * found.unique / found.records
        print(f"; {found.unique} of them ({share:.0f} %) are unique on the suggested quasi-identifiers", end="")
    print("\nThe roles are suggestions: you decide what others may know.")
    if not found.suggested("quasi-identifier"):
        print("No column is suggested as a quasi-identifier. Name those that others may know with -q.")
        return
    if found.gaps is not None:
        blocks = "--gaps value: a gap is a value of its own, because a large file is grouped in several blocks."
        print(blocks if streamed else found.gaps.reason)
    options = found.options(blocks=streamed)
    command = suggested_command(file, found.roles(), given, min(5, found.records), options)
    print(f"\n  {command}{'' if streamed else ' --report safe.html'}")


def suggested_command(
    file: str, roles: dict[str, list[str]], given: dict[str, Any], k: int, options: dict[str, Any]
) -> str:
    """Every column that could tell people apart has a role in it."""
    from shoal.options import joined, options_of, settings_of

    said = zip("qci", roles.values(), strict=True)
    parts = " ".join(f"-{option} {joined(names)}" for option, names in said if names)
    about = f"{shlex.quote(file)}{options_of(given)}"
    return f"shoal anonymize {about} -k {k} {parts}{settings_of(options)} -o safe.csv"


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
