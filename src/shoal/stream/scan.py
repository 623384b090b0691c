"""The first passes: every value read and checked once, spilled to the disk, and measured exactly."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.attributes import AgainError, Gathering, Kept, Stored, kind_of
from shoal.errors import ShoalError, for_each
from shoal.files import Format, Reader, Source
from shoal.files.kinds import TypeFacts
from shoal.parameters import Progress
from shoal.stream.spill import SpillWriter, names_of, only, opened, spilled
from shoal.table import Roles, Table, framed


@dataclass
class Scan:
    """What a first reading of all records has shown."""

    records: int
    gatherings: list[Gathering]
    types: dict[str, str] = field(default_factory=dict)  # of the columns of a CSV file, where they are needed
    returns: bool = False  # a value that is released holds a carriage return


def batch_table(source: Reader, roles: Roles, table: pa.Table, typed: pa.Table | None = None) -> Table:
    """Some records of a file, as the table of a whole file would be."""
    frame = table if typed is None else typed
    text = table if source.format.is_text else None
    return Table(framed(frame), roles, Source.of(source, frame, text))


def scan(source: Reader, roles: Roles, target: Format, path: Path, progress: Progress) -> Scan:
    """Read all records, check the quasi-identifiers and write what is kept of them to the disk."""
    fresh: dict[str, Callable[[], Gathering]] = {}
    while True:
        try:
            return scan_once(source, roles, target, path, fresh, progress)
        except AgainError as error:
            fresh[error.fresh().name] = error.fresh


def scan_once(
    source: Reader,
    roles: Roles,
    target: Format,
    path: Path,
    fresh: Mapping[str, Callable[[], Gathering]],
    progress: Progress,
) -> Scan:
    """One reading; columns that must be read in another way than they seem to are known beforehand."""
    names = roles.quasi_identifiers
    kept = [name for name in source.columns if name not in roles.identifiers]
    types = {name: TypeFacts() for name in kept} if source.format.is_text and not target.is_text else {}
    gatherings: list[Gathering] = []
    done, writer, returns = 0, None, "\r" in "".join(kept)
    look_for_returns = target.is_text and source.returns
    wanted = kept if types or look_for_returns else names
    try:
        for table in source.batches(wanted, progress):
            batch = batch_table(source, roles, table)
            if writer is None:
                gatherings = [fresh[name]() if name in fresh else begun(batch, name) for name in names]
            parts = for_each(names, gatherings, partial(added, batch=batch, before=done))
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
    for gathering in gatherings:
        gathering.finish()
    return Scan(done, gatherings, {name: found.type for name, found in types.items()}, bool(returns))


def begun(batch: Table, name: str) -> Gathering:
    """The reading of a column, by the kind that these records show."""
    return kind_of(batch.column(name)).gathering(name)


def added(gathering: Gathering, batch: Table, before: int) -> Stored:
    """What is kept of a column in some records, put to what is known of the records before them.

    What the kind of the first records does not take may show that the column is of another kind.
    """
    column = batch.column(gathering.name)
    try:
        return gathering.add(column, before)
    except ShoalError:
        kind = kind_of(column)
        if kind.name == gathering.kind:
            raise
        raise AgainError(partial(kind.gathering, gathering.name)) from None


def settle(found: Scan, weights: Mapping[str, float], old: Path, new: Path, progress: Progress) -> list[Kept]:
    """Write what is kept anew, as every column has it in all; returns the columns."""
    names = names_of(len(found.gatherings))
    with opened(old) as file:
        settled = [
            gathering.kept(weights[gathering.name], partial(only, file, name))
            for name, gathering in zip(names[1:], found.gatherings, strict=True)
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
