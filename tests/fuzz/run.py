"""Fuzzed files through Shoal: in this process and as processes, in memory and streamed; the checker says whether all is right.

    python tests/fuzz/run.py             5000 files of seed 0; FUZZ and SEED say otherwise
    python tests/fuzz/run.py 7:123       one case again, with all that is known about it

What is wrong is printed with its label, kept in a folder, and makes the status 1.
"""

import csv
import inspect
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any, Literal, get_args

from case import Case
from checker import WrongError, check_left, check_refusal, check_release, check_success, demand
from generate import generate

import shoal
from shoal import cli
from shoal.stream import ordering

How = Literal["call", "process", "pipe"]

ordering.HELD = 2000  # so that tables of some hundred records are spread over buckets

LONGEST = 120
"""Seconds that a case may take."""


class HangError(BaseException):
    """A case takes too long; not an Exception, so that nothing catches it."""


@dataclass(frozen=True)
class Outcome:
    """What a command left on its streams."""

    status: int
    out: str
    err: str


def arguments(case: Case) -> list[str]:
    """The options of a case, as a command line takes them."""
    made = ["-k", str(case.k)]
    for option, role in (("-q", "quasi"), ("-c", "confidential"), ("-i", "identifier")):
        if names := case.called(role):  # type: ignore[arg-type]
            made += [option, listed(names)]
    flags = {"method": "--method", "scaling": "--scaling", "aggregate": "--aggregate", "digits": "--digits"}
    flags |= {"random_state": "--seed", "key": "--key"}
    for setting, flag in flags.items():
        if setting in case.settings:
            made += [flag, str(case.settings[setting])]
    for name, weight in case.settings.get("attribute_weights", {}).items():
        made += ["--attribute-weight", f"{name}={weight}"]
    made += ["--exact"] if case.settings.get("exact") else []
    made += ["--keep-order"] if case.settings.get("keep_order") else []
    return made + dialect_arguments(case) + case.extras


def dialect_arguments(case: Case) -> list[str]:
    """What is said about a CSV file."""
    made = []
    for name, value in case.dialect.items():
        if isinstance(value, bool):
            made.append(f"--{'' if value else 'no-'}{name.replace('_', '-')}")
        else:
            made += [f"--{name}", listed(value) if name == "names" else "\\t" if value == "\t" else value]
    return made


def listed(names: list[str]) -> str:
    """Names of columns between commas, in quotes."""
    line = io.StringIO()
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="").writerow(names)
    return line.getvalue()


# Ways to call.


def called(words: list[str]) -> Outcome:
    """A command line in this process."""
    kept = sys.argv, sys.stdout, sys.stderr
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    sys.argv, sys.stdout, sys.stderr = ["shoal", *words], out, err
    status: Any = 0
    try:
        cli.main()
    except SystemExit as ended:
        status = ended.code
    finally:
        sys.argv, sys.stdout, sys.stderr = kept
    for stream in (out, err):
        stream.flush()
    return Outcome(status, *(stream.buffer.getvalue().decode() for stream in (out, err)))  # type: ignore[attr-defined]


def started(words: list[str], stdin: bytes = b"") -> tuple[Outcome, bytes]:
    """A command line as a process, and the bytes of its standard output."""
    command = [sys.executable, "-m", "shoal", *words]
    done = subprocess.run(command, input=stdin, capture_output=True, timeout=LONGEST, check=False)
    return Outcome(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode()), done.stdout


def streamed(case: Case, source: Path, target: Path, blocks: int, key: str | None) -> Outcome:
    """The same through `anonymize_file`, cut into blocks, with the key that was drawn."""
    roles = {"quasi_identifiers": "quasi", "confidential": "confidential", "identifiers": "identifier"}
    given: dict[str, Any] = {name: case.called(role) for name, role in roles.items()}  # type: ignore[arg-type]
    given |= {"strict": "--strict" in case.extras, **case.settings, "key": key or case.settings.get("key")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", shoal.ShoalWarning)
        try:
            shoal.anonymize_file(source, target, case.k, **given, **case.dialect, blocks=blocks)
        except shoal.ShoalError as error:
            demand("\n" not in str(error), f"an error of several lines: {error}")
            return Outcome(2, "", f"shoal: {error}\n")
    return Outcome(0, "", "")


KNOWN = set(inspect.signature(shoal.anonymize_file).parameters)


# One case.


def judge(
    case: Case, outcome: Outcome, folder: Path, output: str, also: set[str] | None = None
) -> dict[str, Any] | None:
    """Whether a run was right: a right release, or a refusal where there may be one; returns the manifest."""
    if outcome.status != 0:
        check_refusal(outcome.status, outcome.out, outcome.err)
        check_left(folder, set())
        demand(case.verdict != "release", f"refused, but it is plain: {outcome.err.splitlines()[-1]}")
        return None
    check_left(folder, {output, f"{output}.manifest.json", *(also or set())})
    demand(case.verdict != "refuse", f"released, and there is no right release: {', '.join(case.notes)}")
    check_success(outcome.err)
    return check_release(case, folder / output)


def try_case(case: Case, folder: Path, how: How) -> str:
    """Raise unless everything about a case is right; returns what came of it."""
    if how == "pipe":
        return try_pipe(case, folder)
    source, safe = folder / case.name, folder / "safe"
    source.write_bytes(case.content)
    safe.mkdir()
    words = ["anonymize", str(source), *arguments(case), "-o", str(safe / case.output)]
    also = set()
    if "report" in case.ways:
        words += ["--report", str(safe / "report.html")]
        also = {"report.html"}
    outcome = started(words)[0] if how == "process" else called(words)
    manifest = judge(case, outcome, safe, case.output, also)
    if outcome.status == 0:
        check_output(case, outcome)
    demand(source.read_bytes() == case.content, "the input was changed")
    for way in case.ways:
        if way.startswith("blocks"):
            try_stream(case, folder, outcome, int(way[-1]), manifest and manifest["key"])
        elif manifest is not None and way in ("recipe", "verify"):
            {"recipe": try_recipe, "verify": try_verify}[way](case, folder, manifest)
        elif way == "inspect":
            try_inspect(case, source)
    return "released" if outcome.status == 0 else "refused"


def check_output(case: Case, outcome: Outcome) -> None:
    """What a release prints."""
    if "--json" in case.extras:
        demand(json.loads(outcome.out)["verified_k"] >= case.k, "another k in JSON")
    elif "--quiet" in case.extras:
        demand(not outcome.out, "something printed where quiet was asked for")
    else:
        demand("verified" in outcome.out, "no summary")


def try_stream(case: Case, folder: Path, outcome: Outcome, blocks: int, key: str | None) -> None:
    """In one block the same bytes as in memory; in several a right release."""
    if not set(case.dialect) <= KNOWN:
        return
    target = folder / f"blocks-{blocks}"
    target.mkdir()
    found = streamed(case, folder / case.name, target / case.output, blocks, key)
    if found.status == 2 and outcome.status == 0 and cannot_stream(case):
        check_left(target, set())
        return
    judge(case, found, target, case.output)
    demand(found.status == outcome.status, f"status {found.status} in {blocks} blocks: {found.err}")
    if blocks == 1 and found.status == 0:
        same = (target / case.output).read_bytes() == (folder / "safe" / case.output).read_bytes()
        demand(same, "one block gives other bytes than memory")


def cannot_stream(case: Case) -> bool:
    """Whole numbers of more digits than a stream holds, and categories on their way to an Arrow file."""
    wide = any(column.long and column.kind == "integer" for column in case.columns)
    return wide or (case.output.endswith(".arrow") and any("dictionary" in note for note in case.notes))


def try_recipe(case: Case, folder: Path, manifest: dict[str, Any]) -> None:
    """The manifest repeats the release."""
    target = folder / "again"
    target.mkdir()
    recipe = folder / "safe" / f"{case.output}.manifest.json"
    words = ["anonymize", str(folder / case.name), "--recipe", str(recipe), "-o", str(target / case.output)]
    found = called(words)
    demand(found.status == 0, f"the recipe fails: {found.err}")
    same = (target / case.output).read_bytes() == (folder / "safe" / case.output).read_bytes()
    demand(same, "the recipe gives other bytes")


def try_verify(case: Case, folder: Path, manifest: dict[str, Any]) -> None:
    """`shoal verify` agrees, told how the file is written."""
    dialect = manifest["output"].get("dialect", {})
    words = ["verify", str(folder / "safe" / case.output), "-q", listed(case.called("quasi")), "-k", str(case.k)]
    words += ["--header"] if dialect else []
    for name in ("delimiter", "quote", "encoding", "decimal"):
        if name in dialect:
            words += [f"--{name}", "\\t" if dialect[name] == "\t" else dialect[name]]
    found = called(words)
    demand(found.status == 0, f"verify says {found.status}: {found.err}")


def try_inspect(case: Case, source: Path) -> None:
    """`shoal inspect` shows a table or says in one line why not."""
    found = called(["inspect", str(source), *dialect_arguments(case)])
    if found.status != 0:
        check_refusal(found.status, found.out, found.err)
    else:
        check_success(found.err)


def try_pipe(case: Case, folder: Path) -> str:
    """A process from standard input to standard output."""
    kept = [option for option in case.extras if option == "--strict"]
    plain = Case(**{**vars(case), "extras": ["--json", *kept]})
    found, content = started(["anonymize", "-", *arguments(plain), "-o", "-"], case.content)
    check_left(folder, set())
    if found.status != 0:
        check_refusal(found.status, found.out, found.err)
        demand(case.verdict != "release", f"refused in a pipe, but it is plain: {found.err.splitlines()[-1]}")
        return "refused"
    demand(case.verdict != "refuse", f"released in a pipe, and there is no right release: {', '.join(case.notes)}")
    manifest = json.loads(found.err)["manifest"]
    release = folder / f"safe.{manifest['output']['format']}"
    release.write_bytes(content)
    release.with_name(f"{release.name}.manifest.json").write_text(json.dumps(manifest))
    check_release(case, release)
    return "released"


# Many cases.


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """An end to what takes too long, where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def tried(label: str, how: How = "call", keep: Path | None = None) -> tuple[str, str]:
    """What came of a case: released, refused, or wrong with the reason; what is wrong is kept."""
    case = generate(label)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        try:
            with within(LONGEST + 10):
                return try_case(case, folder, how), ""
        except WrongError as error:
            reason = str(error)
        except HangError:
            reason = f"not done after {LONGEST} seconds"
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        if keep is not None:
            target = keep / label.replace(":", "-")
            shutil.copytree(folder, target)
            (target / "case.txt").write_text(described(case, reason), encoding="utf-8")
    return "wrong", reason


def described(case: Case, reason: str) -> str:
    """All that is known about a case."""
    shown = [
        f"{c.role}: {c.name!r} {[str(v) for v in (c.texts or c.array.to_pylist())[:20]]}" for c in case.columns
    ]
    told = f"verdict: {case.verdict}; {'; '.join(case.notes)}\nways: {case.ways}"
    words = ["shoal", "anonymize", case.name, *arguments(case), "-o", case.output]
    return "\n".join([case.label, reason, told, str(words), f"n={case.n}", *shown, ""])


def fuzz(seed: str, count: int, every: int = 100) -> int:
    """Many cases, one in `every` as a process, with files and with pipes in turn; returns how many were wrong."""
    keep = Path(tempfile.mkdtemp(prefix="shoal-fuzz-"))
    began, results = time.monotonic(), Counter[str]()
    for number in range(count):
        label = f"{seed}:{number}"
        how: How = "call" if number % every else "pipe" if number // every % 2 else "process"
        result, reason = tried(label, how, keep)
        results[result] += 1
        if result == "wrong":
            print(f"wrong {label}: {reason[:500]}", flush=True)
        if (number + 1) % 250 == 0:
            speed = (number + 1) / (time.monotonic() - began)
            print(f"{number + 1} of {count} files, {speed:.0f} a second: {dict(results)}", flush=True)
    if results["wrong"]:
        print(f"what was wrong is in {keep}: a folder for each label, with the file and the command")
    else:
        keep.rmdir()
    shown = f"{results['released']} released and right, {results['refused']} refused, {results['wrong']} wrong"
    print(f"{count} files of seed {seed}: {shown}")
    return results["wrong"]


def main() -> int:
    """From the command line."""
    if labels := sys.argv[1:]:
        for label in labels:
            told = [f"{how}: {' '.join(tried(label, how))}" for how in get_args(How)]
            print(described(generate(label), "\n".join(told)))
        return 0
    return min(1, fuzz(os.environ.get("SEED", "0"), int(os.environ.get("FUZZ", "5000"))))


if __name__ == "__main__":
    sys.exit(main())
