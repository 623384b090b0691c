"""The first passes: every number read and checked once, spilled to the disk, and measured exactly."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import fsum, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes.numbers import RowsError, refuse_doubtful
from shoal.errors import for_each
from shoal.files import Format, Reader, Source
from shoal.files.kinds import TypeFacts
from shoal.parameters import Progress
from shoal.space import NumericAttribute, Scaling, centre_and_spread
from shoal.stream.columns import Column, Facts, MixedError, Part, Stored, decimals_of, part_of
from shoal.stream.ranks import key_at, value_of
from shoal.stream.spill import Spilled, SpillWriter, names_of, opened, spilled, whole
from shoal.table import Roles, Table, framed

Float = NDArray[np.float64]


@dataclass
class Scan:
    """What a first reading of all records has shown."""

    records: int
    facts: list[Facts]
    types: dict[str, str] = field(default_factory=dict)  # of the columns of a CSV file, where they are needed
    returns: bool = False  # a value that is released holds a carriage return


def batch_table(source: Reader, roles: Roles, table: pa.Table, typed: pa.Table | None = None) -> Table:
    """Some records of a file, as the table of a whole file would be."""
    frame = table if typed is None else typed
    text = table if source.format.is_text else None
    return Table(framed(frame), roles, Source.of(source, frame, text))


def scan(source: Reader, roles: Roles, target: Format, path: Path, progress: Progress) -> Scan:
    """Read all records, check the quasi-identifiers and write their numbers to the disk."""
    as_floats: frozenset[str] = frozenset()
    while True:
        try:
            return scan_once(source, roles, target, path, as_floats, progress)
        except MixedError as error:
            as_floats |= {str(error)}


def scan_once(
    source: Reader, roles: Roles, target: Format, path: Path, as_floats: frozenset[str], progress: Progress
) -> Scan:
    """One reading; columns of text that hold exponents or many digits must be known beforehand."""
    names = roles.quasi_identifiers
    kept = [name for name in source.columns if name not in roles.identifiers]
    types = {name: TypeFacts() for name in kept} if source.format.is_text and not target.is_text else {}
    facts = [Facts(name) for name in names]
    done, writer, returns = 0, None, "\r" in "".join(kept)
    look_for_returns = target.is_text and source.returns
    wanted = kept if types or look_for_returns else names
    try:
        for table in source.batches(wanted, progress):
            batch = batch_table(source, roles, table)
            parts = for_each(names, facts, partial(added, batch=batch, as_floats=as_floats, before=done))
            if writer is None:
                writer = SpillWriter(path, [np.dtype(np.int64), *(part.values.dtype for part in parts)])
            rows = np.arange(done, done + table.num_rows)
            writer.write([rows, *(part.values for part in parts)])
            for name, found in types.items():
                found.add(table[name], source.dialect.decimal, source.dialect.thousands)
            if look_for_returns and not returns:
                returns = any(pc.any(pc.match_substring(table[name], "\r")).as_py() for name in kept)
            done += table.num_rows
        for fact in facts:
            refuse_doubtful(fact.name, fact.example, fact.is_shown, source.dialect.decimal)
    finally:
        if writer is not None:
            writer.__exit__()
    for fact in facts:
        fact.check()
    return Scan(done, facts, {name: found.type for name, found in types.items()}, bool(returns))


def added(fact: Facts, batch: Table, as_floats: frozenset[str], before: int) -> Part:
    """The numbers of a column in some records, put to those of the records before them."""
    try:
        part = part_of(batch, fact.name, fact.name in as_floats)
    except RowsError as error:
        raise error.after(before) from None
    fact.add(part, before)
    return part


def settle(found: Scan, weights: Mapping[str, float], old: Path, new: Path, progress: Progress) -> list[Column]:
    """Write the numbers anew, every column in one unit above its lowest number; returns the columns."""
    names = names_of(len(found.facts))
    columns = []
    with opened(old) as file:
        for name, fact in zip(names[1:], found.facts, strict=True):
            column = fact.column(weights[fact.name])
            if fact.floats:
                column = with_decimals(column, partial(only, file, name))
            columns.append(column)
    shifts = [Shifts(fact, column) for fact, column in zip(found.facts, columns, strict=True)]
    steps = [0] * len(columns)
    kinds = [np.dtype(np.int64), *(np.dtype(np.int64 if column.units else np.float64) for column in columns)]
    done = 0
    with SpillWriter(new, kinds) as writer:
        for rows, *stored in spilled(old, names):
            settled = [shift.apply(values, done) for shift, values in zip(shifts, stored, strict=True)]
            writer.write([rows, *settled])
            for number, values in enumerate(settled):
                if columns[number].units:
                    steps[number] = int(np.gcd(steps[number], np.gcd.reduce(values)))
            done += len(rows)
            progress(done, found.records)
    return [replace(column, step=step or 1) for column, step in zip(columns, steps, strict=True)]


def only(path: Spilled, name: str) -> Iterator[Stored]:
    """One column of a spilled table."""
    for (values,) in spilled(path, [name]):
        yield values


def with_decimals(column: Column, chunks: Callable[[], Iterator[Float]]) -> Column:
    """A column of floats in units of its last decimal, where it has one."""
    decimals = decimals_of(column, chunks)
    if decimals is None:
        return column
    low, high = (int(np.rint(end * 10.0**decimals)) for end in column.ends or (0.0, 0.0))
    return replace(column, units=True, decimals=decimals, origin=low, highest=high - low, ends=None)


class Shifts:
    """Turns the numbers of a column as they were read into those of the whole column."""

    def __init__(self, fact: Facts, column: Column) -> None:
        self._column, self._floats = column, bool(fact.floats)
        self._parts = [] if fact.floats else fact.shifts(column)
        self._ends = np.cumsum([records for records, *_ in self._parts])

    def apply(self, values: Stored, start: int) -> Stored:
        """The records from `start` on."""
        if self._floats and not self._column.units:
            return values
        if self._floats:
            return np.rint(values * 10.0**self._column.decimals).astype(np.int64) - self._column.origin
        out = np.empty_like(values)
        place, number = 0, int(np.searchsorted(self._ends, start, side="right"))
        while place < len(values):
            upto = min(len(values), int(self._ends[number]) - start)
            _, factor, more = self._parts[number]
            out[place:upto] = values[place:upto] * factor + more
            place, number = upto, number + 1
        return out


def scaled(column: Column, scaling: Scaling, path: Spilled, name: str, alone: bool) -> Column:
    """A column with its centre and its spread; from all numbers at once where the table is one block."""
    if alone:
        (stored,) = whole(path, [name])
        made = NumericAttribute.of(column.name, column.numbers(stored), scaling, column.weight)
        return replace(column, centre=made.centre, spread=made.spread, is_constant=made.is_constant)

    def raws() -> Iterator[Float]:
        return (column.numbers(stored).raw() for stored in only(path, name))

    sums, ends, n = [], [], 0
    for raw in raws():
        sums.append(float(raw.sum()))
        ends += [raw.min(), raw.max()]
        n += len(raw)
    low, high = min(ends), max(ends)
    if low == high:
        return replace(column, centre=float(low), is_constant=True)
    mean = fsum(sums) / n
    squares = fsum(float(np.square(raw - mean).sum()) for raw in raws())
    unit = column.numbers(np.zeros(1, np.int64 if column.units else np.float64)).unit
    if scaling == "zscore":
        centre, spread = mean, sqrt(squares / n)
    elif scaling == "robust":
        quarters = quartiles(column, partial(only, path, name), n)
        # Five numbers that have these quartiles and ends, for the one place that knows what to do with them.
        shown = np.array([low, *quarters, high])
        centre, spread = centre_and_spread(column.name, shown, scaling, unit)
    else:
        centre, spread = centre_and_spread(column.name, np.array([low, high]), scaling, unit)
    return replace(column, centre=centre, spread=spread, sst=squares / spread**2)


def quartiles(column: Column, chunks: Callable[[], Iterator[Stored]], n: int) -> Float:
    """The three quartiles, as numpy.quantile has them."""

    def at(rank: int) -> Any:
        kind = np.dtype(np.int64 if column.units else np.float64)
        return column.numbers(np.array([value_of(key_at(chunks, rank)[0], kind)])).raw()[0]

    found = []
    for share in (0.25, 0.5, 0.75):
        place = (n - 1) * share
        below, above = at(int(place)), at(min(int(place) + 1, n - 1))
        rest, gap = place - int(place), above - below
        found.append(below + gap * rest if rest < 0.5 else above - gap * (1 - rest))
    return np.array(found)
