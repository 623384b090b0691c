"""The first passes: every value read and checked once, spilled to the disk, and measured exactly."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.attributes import AgainError, ColumnGathering, Gathering, Kept, Stored, Wishes
from shoal.errors import for_each
from shoal.files import Format, Reader, Source
from shoal.files.kinds import TypeFacts
from shoal.parameters import Progress
from shoal.stream.spill import SpillWriter, names_of, only, opened, spilled
from shoal.table import Column, Roles, Table, framed


@dataclass
class Scan:
    """What a first reading of all records has shown."""

    records: int
    gatherings: list[ColumnGathering]
    types: dict[str, str] = field(default_factory=dict)  # of the columns of a CSV file, where they are needed
    returns: bool = False  # a value that is released holds a carriage return


def batch_table(source: Reader, roles: Roles, table: pa.Table, typed: pa.Table | None = None) -> Table:
    """Some records of a file, as the table of a whole file would be."""
    frame = table if typed is None else typed
    text = table if source.format.is_text else None
    return Table(framed(frame), roles, Source.of(source, frame, text))


def scan(source: Reader, roles: Roles, wishes: Wishes, target: Format, path: Path, progress: Progress) -> Scan:
    """Read all records, check the quasi-identifiers and write what is kept of them to the disk."""
    fresh = gatherings_for(wishes)
    while True:
        try:
            found = scan_once(source, roles, list(wishes), target, path, fresh, progress)
            for_each(list(fresh), found.gatherings, lambda gathering: gathering.finish())
            return found
        except AgainError as error:
            fresh[error.fresh().name] = error.fresh


def scan_apart(
    source: Reader, roles: Roles, wishes: Wishes, target: Format, path: Path, progress: Progress
) -> Scan:
    """Read one of several parts of a table, to be joined with the others."""
    fresh = gatherings_for(wishes)
    while True:
        try:
            found = scan_once(source, roles, list(wishes), target, path, fresh, progress)
            break
        except AgainError as error:
            fresh[error.fresh().name] = error.fresh
    if found.records:
        with opened(path) as file:
            for name, gathering in zip(names_of(len(fresh))[1:], found.gatherings, strict=True):
                gathering.read_apart(partial(only, file, name))
    return found


def joined(parts: Sequence[Scan]) -> Scan | None:
    """What was found in parts that were read apart, as if one had read them all; None where that cannot be."""
    first, *others = [part for part in parts if part.records] or parts[:1]
    made: list[ColumnGathering] = []
    for number, gathering in enumerate(first.gatherings):
        whole = gathering.joined([part.gatherings[number] for part in others])
        if whole is None:
            return None
        try:
            whole.finish()
        except AgainError:
            return None
        made.append(whole)
    return Scan(sum(part.records for part in parts), made, {}, any(part.returns for part in parts))


def gatherings_for(wishes: Wishes) -> "dict[str, Callable[[], Gathering]]":
    """How each attribute is read at first."""
    return {
        ", ".join(columns): partial(ColumnGathering, ", ".join(columns), wish) for columns, wish in wishes.items()
    }


def scan_once(
    source: Reader,
    roles: Roles,
    attributes: Sequence[tuple[str, ...]],
    target: Format,
    path: Path,
    fresh: Mapping[str, Callable[[], Gathering]],
    progress: Progress,
) -> Scan:
    """One reading; columns that must be read in another way than they seem to are known beforehand."""
    names = list(fresh)
    kept = [name for name in source.columns if name not in roles.identifiers]
    types = {name: TypeFacts() for name in kept} if source.format.is_text and not target.is_text else {}
    gatherings = [made() for made in fresh.values()]
    done, writer, returns = 0, None, "\r" in "".join(kept)
    look_for_returns = target.is_text and source.returns
    wanted = kept if types or look_for_returns else roles.quasi_identifiers
    try:
        for table in source.batches(wanted, progress):
            batch = batch_table(source, roles, table)
            columns = [batch.column(*each) for each in attributes]
            pairs = zip(gatherings, columns, strict=True)
            parts = for_each(names, pairs, partial(added, before=done))
            if writer is None:
                writer = SpillWriter(path, [np.dtype(np.int64), *(values.dtype for values in parts)])
            rows = np.arange(done, done + table.num_rows)
            writer.write([rows, *parts])
            for name, found in types.items():
                found.add(table[name], source.dialect.decimal, source.dialect.thousands)
            if look_for_returns and not returns:
                returns = any(pc.any(pc.match_substring(table[name], "\r")).as_py() for name in kept)
            done += table.num_rows
    finally:
        if writer is not None:
            writer.__exit__()
    read = [each for each in gatherings if isinstance(each, ColumnGathering)]
    return Scan(done, read, {name: found.type for name, found in types.items()}, bool(returns))


def added(pair: tuple[Gathering, Column], before: int) -> Stored:
    """What is kept of a column in some records, put to what is known of the records before them."""
    gathering, column = pair
    return gathering.add(column, before)


def settle(found: Scan, weights: Sequence[float], old: Path, new: Path, progress: Progress) -> list[Kept]:
    """Write what is kept anew, as every column has it in all; returns the columns."""
    names = names_of(len(found.gatherings))
    with opened(old) as file:
        settled = [
            gathering.kept(weight, partial(only, file, name))
            for name, gathering, weight in zip(names[1:], found.gatherings, weights, strict=True)
        ]
    columns = [kept for kept, _ in settled]
    done = 0
    with SpillWriter(new, [np.dtype(np.int64), *(column.dtype for column in columns)]) as writer:
        for rows, *stored in spilled(old, names):
            values = [settle(part, done) for (_, settle), part in zip(settled, stored, strict=True)]
            writer.write([rows, *values])
            columns = [column.seen(part) for column, part in zip(columns, values, strict=True)]
            done += len(rows)
            progress(done, found.records)
    return columns
