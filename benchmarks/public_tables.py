"""Public tables through the command line, exactly as `shoal inspect` suggests; writes docs/tables/public.md.

    python benchmarks/public_tables.py [FOLDER] [NAME ...]

FOLDER (or SHOAL_PUBLIC) holds CSV files and their `catalogue.json`, as public_export.py writes them. With names,
only those tables are tried, all that Shoal says about them is printed, and nothing is written.

Each table is looked at, the suggested command is run in an empty folder, and the release is checked by a reader
that shares no code with Shoal: Python's csv module. It counts records and k, compares the columns that were to
stay with the original, and looks for values that no record had. Seconds are those of the whole command, with the
start of Python.
"""

import csv
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

K = 5
PAGE = Path(__file__).parents[1] / "docs" / "tables" / "public.md"
HEAD = [
    "| table | package | records | columns | quasi-identifiers | gaps | loss | seconds |",
    "|---|---|--:|--:|---|---|--:|--:|",
]
NAMED = 6  # of the quasi-identifiers of a kind, on the page
SHOAL = [sys.executable, "-m", "shoal"]
ROLES = {
    "-q": "quasi", "--quasi-identifiers": "quasi",
    "-c": "confidential", "--confidential": "confidential",
    "-i": "identifiers", "--identifiers": "identifiers",
}  # fmt: skip


class TableError(Exception):
    """What is wrong with a table, in one line."""


def shoal(*arguments, folder):
    environment = os.environ | {"COLUMNS": "100000", "NO_COLOR": "1"}
    done = subprocess.run([*SHOAL, *arguments], capture_output=True, text=True, cwd=folder, env=environment)
    if done.returncode:
        raise TableError(
            f"shoal {arguments[0]}: {' '.join(done.stderr.split()) or f'ended with {done.returncode}'}"
        )
    return done.stdout


def suggested(path, folder):
    """What inspect says about the columns, and the command that it suggests, as a list of words.

    All files have a header. Where Shoal is in doubt about it, it asks, and the answer is --header.
    """
    said = []
    try:
        shoal("inspect", "--json", str(path), folder=folder)
    except TableError as wrong:
        if "--header" not in str(wrong):
            raise
        said = ["--header"]
    look = json.loads(shoal("inspect", "--json", str(path), *said, folder=folder))
    command = look.get("command")
    if command is None:
        lines = shoal("inspect", str(path), *said, folder=folder).splitlines()
        command = next((line for line in lines if line.strip().startswith("shoal anonymize ")), None)
    if command is None:
        raise TableError("shoal inspect suggests no command")
    words = shlex.split(command) if isinstance(command, str) else list(command)
    return look, words[1:]


def roles_of(words):
    """The columns of each role, as the command says."""
    roles = {role: [] for role in ROLES.values()}
    for option, value in pairwise(words):
        if option in ROLES:
            roles[ROLES[option]] += next(csv.reader([value]))
    return roles


def option(words, *names):
    return [value for name, value in pairwise(words) if name in names]


def read(path):
    with path.open(newline="", encoding="utf-8-sig") as file:
        head, *rows = csv.reader(file)
    return head, rows


def columns(head, rows, names):
    places = [head.index(name) for name in names]
    return [tuple(row[place] for place in places) for row in rows]


def check(original, release, roles, may_drop):
    """What must hold for a release; answers what is worth a look."""
    (old_head, old), (new_head, new) = read(original), read(release)
    stay = [name for name in old_head if name not in roles["identifiers"]]
    if new_head != stay:
        raise TableError(f"columns are {new_head}, not {stay}")
    if len(new) > len(old) or (len(new) < len(old) and not may_drop):
        raise TableError(f"{len(new)} records are released, not {len(old)}")
    sizes = Counter(columns(new_head, new, roles["quasi"]))
    if min(sizes.values()) < K:
        raise TableError(f"the smallest group has {min(sizes.values())} records: {min(sizes, key=sizes.get)}")
    kept = [name for name in stay if name not in roles["quasi"]]
    if not Counter(columns(new_head, new, kept)) <= Counter(columns(old_head, old, kept)):
        raise TableError(f"columns that were to stay have changed: {', '.join(kept)}")
    return [
        note
        for name in roles["quasi"]
        for note in odd(name, values(old_head, old, name), values(new_head, new, name))
    ]


def values(head, rows, name):
    return [row[head.index(name)] for row in rows]


def odd(name, old, new):
    """Numbers outside the range of their column, text that no record had, and gaps that came or went."""
    known, found = set(old) - {""}, set(new) - {""}
    before, after = old.count(""), new.count("")
    if before != after:
        yield f"{name}: gaps {before} -> {after}"
    try:
        numbers, released = [float(v) for v in known], [float(v) for v in found]
    except ValueError:
        if found - known:
            yield f"{name}: {len(found - known)} new values such as {min(found - known)!r}"
        return
    if released and not min(numbers) <= min(released) <= max(released) <= max(numbers):
        yield f"{name}: numbers outside {min(numbers)} to {max(numbers)}"


def tried(path, source, talk):
    """One row of the page."""
    with tempfile.TemporaryDirectory() as folder:
        look, words = suggested(path, folder)
        roles = roles_of(words)
        if talk:
            described(look, words)
        if not roles["quasi"]:
            raise TableError("no quasi-identifier is suggested")
        start = time.perf_counter()
        said = json.loads(shoal(*words, "--json", folder=folder))
        seconds = time.perf_counter() - start
        policies = option(words, "--gaps")
        may_drop = any(policy.rpartition("=")[2] == "drop" for policy in policies)
        notes = check(path, Path(folder) / option(words, "-o", "--output")[0], roles, may_drop)
    for line in [*said["warnings"], *notes] if talk else []:
        print(f"    {line}")
    gaps = ", ".join(policies) or "error"
    loss = said["manifest"]["figures"]["information_loss"]["value"]
    return (
        f"| {path.stem} | {source['package']} {source['version']}, {source['table']} | {source['records']} "
        f"| {source['columns']} | {by_kind(look, roles['quasi'])} | {gaps} | {loss:.1f} % | {seconds:.1f} |"
    )


def by_kind(look, names):
    """The quasi-identifiers of each kind, the first few by name."""
    kinds = {c["name"]: c.get("kind") or c["type"] for c in look["columns"]}
    found = {}
    for name in names:
        found.setdefault(kinds[name], []).append(name)
    return "; ".join(f"{kind}: {', '.join(some[:NAMED])}{more(some)}" for kind, some in found.items())


def more(some):
    return f" and {len(some) - NAMED} more" if len(some) > NAMED else ""


def refused(path, source, wrong):
    return (
        f"| {path.stem} | {source['package']} {source['version']}, {source['table']} | {source['records']} "
        f"| {source['columns']} | {str(wrong).replace('|', '/')} | | | |"
    )


def described(look, words):
    for c in look["columns"]:
        print(f"    {c['name']} [{c.get('kind') or c['type']}] {c['role']}: {c['reason']}")
    print(f"    {shlex.join(['shoal', *words])}")


def main(arguments):
    folder = os.environ.get("SHOAL_PUBLIC")
    if arguments and Path(arguments[0]).is_dir():
        folder = arguments.pop(0)
    if not folder or not (Path(folder) / "catalogue.json").is_file():
        sys.exit("Give the folder that public_export.py has written, or set SHOAL_PUBLIC to it.")
    catalogue = json.loads((Path(folder) / "catalogue.json").read_text())
    rows, failed = [], 0
    for name in arguments or sorted(catalogue):
        path = (Path(folder) / f"{name}.csv").resolve()
        try:
            rows.append(tried(path, catalogue[name], bool(arguments)))
        except TableError as wrong:
            failed += 1
            rows.append(refused(path, catalogue[name], wrong))
        print(rows[-1], flush=True)
    if not arguments:
        PAGE.write_text("\n".join([*HEAD, *rows]) + "\n")
        print(PAGE)
    sys.exit(f"{failed} of {len(rows)} tables did not go through" if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
