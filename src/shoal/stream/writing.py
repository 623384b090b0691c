"""The last passes: the input read once more, every record with the common values of its group, then written."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pyarrow as pa

from shoal.attributes import Kept, Stored
from shoal.attributes.gaps import put_together
from shoal.errors import ShoalError, some
from shoal.files import Dialect, Format, Reader, Style, batches
from shoal.files.batches import even
from shoal.files.formats import text_schema
from shoal.files.kinds import typed_as
from shoal.files.stored import relisted, storable
from shoal.files.target import write_parts
from shoal.parameters import Progress
from shoal.release import Texts, column_text, formula_rows, warn_of_formula, warn_of_names
from shoal.stream.ordering import ordered
from shoal.stream.passes import Passes
from shoal.stream.sampling import Sample
from shoal.stream.scan import batch_table
from shoal.stream.spill import names_of, spilled
from shoal.table import Roles, Table


class Block:
    """The released numbers of a block, in the order of the file."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self._parts = spilled(path, names)
        self._held: list[Stored] | None = None

    def upto(self, row: int) -> list[list[Stored]]:
        """The records before a row that were not taken yet, in pieces."""
        pieces: list[list[Stored]] = []
        while True:
            held = self._held or next(self._parts, None)
            if held is None:
                return pieces
            end = int(np.searchsorted(held[0], row))
            pieces.append([values[:end] for values in held])
            self._held = [values[end:] for values in held] if end < len(held[0]) else None
            if self._held is not None:
                return pieces


class Released:
    """The released numbers of all blocks, put together in the order of the file."""

    def __init__(self, paths: Sequence[Path], columns: Sequence[Kept], first: int = 0) -> None:
        self._names = names_of(len(columns))
        self._blocks = [Block(path, self._names) for path in paths]
        self._done = first

    def take(self, records: int) -> list[Stored]:
        """The numbers of the next records."""
        self._done += records
        pieces = [piece for block in self._blocks for piece in block.upto(self._done)]
        rows, *codes = [put_together(parts) for parts in zip(*pieces, strict=True)] or [np.zeros(0)]
        if len(rows) != records:
            raise ShoalError("the input has more or fewer records than it had; it has changed")
        order = np.argsort(rows, kind="stable")
        return [values[order] for values in codes]


@dataclass
class Formulas:
    """The rows of a column that a spreadsheet would run."""

    first: list[int] = field(default_factory=list)
    count: int = 0

    def add(self, values: Texts, dialect: Dialect, before: int) -> None:
        """Look at some more records."""
        rows = formula_rows(values, dialect) + before
        self.first = (self.first + rows[:5].tolist())[:5]
        self.count += len(rows)

    def listed(self) -> str:
        """The first few rows, and how many more there are."""
        more = self.count - len(self.first)
        return some(self.first) + (f" and {more} more" if more else "")


@dataclass(frozen=True)
class ReleaseWriter:
    """All that is needed to write a release."""

    source: Reader
    roles: Roles
    columns: Sequence[Kept]
    exact: bool
    types: dict[str, str]
    returns: bool
    blocks: Sequence[Path]
    records: int
    key: str | None  # that the order of the rows follows from; None where they keep their order
    folder: Path  # for what is to be put in order
    sample: Sample | None = None  # what a report is drawn from
    first: int = 0  # the row of the first record, where others are written elsewhere

    @property
    def kept(self) -> list[str]:
        """The columns that leave."""
        return [name for name in self.source.columns if name not in self.roles.identifiers]

    def write(self, path: Path, kind: Format, style: Style | None, passes: Passes) -> None:
        """Write the release, in a style where the format is text."""
        formulas = self.formulas()
        step = passes.begin("write" if self.key is None else "spread")
        coming = self.tables(kind, style, formulas, step)
        if style is not None:
            style = replace(style, returns=self.returns)
            put_texts(self._ordered(coming, passes), self.kept, path, kind, style)
            warn_of_formulas(formulas, self.kept)
            return
        first = next(coming)
        kind.check_parts(first.schema)
        leaving = self._ordered(chain([first], coming), passes)
        put_tables(leaving, first.schema, path, kind, self.key is not None)

    def formulas(self) -> dict[str, Formulas]:
        """What is counted of the columns that leave as they are."""
        return {name: Formulas() for name in self.kept if name not in self.roles.quasi_identifiers}

    def tables(
        self, kind: Format, style: Style | None, formulas: dict[str, Formulas], progress: Progress
    ) -> Iterator[pa.Table]:
        """The records as they leave, in the order of the input: text in a style, else in types of the format."""
        if style is not None:
            yield from self._texts(formulas, style.dialect, progress)
        elif self.key is None:
            yield from self._slices(progress)
        else:
            yield from (storable(table, kind.stored_type) for table in self._slices(progress))

    def _ordered(self, tables: Iterable[pa.Table], passes: Passes) -> Iterator[pa.Table]:
        """The records in the order in which they leave."""
        if self.key is None:
            yield from tables
            return
        step, done = None, 0
        for table in ordered(tables, self.key, self.folder):
            step = step or passes.begin("write")  # all have been read
            yield table
            done += table.num_rows
            step(done, self.records)

    def _texts(self, formulas: dict[str, Formulas], dialect: Dialect, progress: Progress) -> Iterator[pa.Table]:
        done = self.first
        for table, codes in self._batches(progress):
            released = {
                name: texts_of(column, name, values, dialect.decimal)
                for column, values in zip(self.columns, codes, strict=True)
                for name in column.columns
            }
            if self.sample is not None:
                self.sample.add(table, codes, released)
            texts = [released[name] if name in released else as_text(table, name) for name in self.kept]
            for name, values in zip(self.kept, texts, strict=True):
                if name in formulas:
                    formulas[name].add(values, dialect, done)
            done += len(table)
            yield pa.table(texts, schema=text_schema(self.kept))

    def _slices(self, progress: Progress) -> Iterator[pa.Table]:
        for table, codes in self._batches(progress):
            rows = np.arange(len(table))
            if self.sample is not None:
                self.sample.add(table, codes, None)
            yield table.replaced(
                column.values(values).of(name).column(table.frame[name], rows, not self.exact)
                for column, values in zip(self.columns, codes, strict=True)
                for name in column.columns
            )

    def _batches(self, progress: Progress) -> Iterator[tuple[Table, list[Stored]]]:
        released = Released(self.blocks, self.columns, self.first)
        for table in self.source.batches(self.kept, progress):
            typed = self._typed(table) if self.types else None
            yield batch_table(self.source, self.roles, table, typed), released.take(table.num_rows)

    def _typed(self, table: pa.Table) -> pa.Table:
        """The text of a CSV file with types."""
        signs, names = self.source.dialect.signs, table.column_names
        return pa.table([typed_as(table[name], self.types[name], *signs) for name in names], names=names)


def put_tables(
    tables: Iterable[pa.Table], schema: pa.Schema, path: Path, kind: Format, in_other_order: bool
) -> None:
    """Write records in types of the format."""
    slices = even(tables, batches.GROUP)  # as those of a table in memory
    try:
        write_parts(map(relisted, slices) if in_other_order else slices, schema, path, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
        raise ShoalError(f"cannot write this table in parts ({str(error).splitlines()[0]}); write CSV") from None


def put_texts(tables: Iterable[pa.Table], names: Sequence[str], path: Path, kind: Format, style: Style) -> None:
    """Write records as text."""
    parts = ([column.to_pylist() for column in table.columns] for table in tables)
    write_parts(parts, text_schema(names), path, kind, style)


def warn_of_formulas(formulas: Mapping[str, Formulas], names: Sequence[str]) -> None:
    """What a spreadsheet would do with a text file."""
    for name, found in formulas.items():
        if found.count:
            warn_of_formula(name, found.listed(), found.count)
    warn_of_names(names)


def texts_of(column: Kept, name: str, codes: Stored, decimal: str) -> pa.Array:
    """Released numbers as a file shows them; each different one is spelled once."""
    different, which = np.unique(codes, return_inverse=True)
    return pa.array(column.values(different).of(name).text(decimal), pa.string()).take(pa.array(which))


def as_text(table: Table, name: str) -> pa.Array | pa.ChunkedArray:
    """A column that is released as it is, as a file shows it."""
    if table.source and table.source.text is not None:
        return table.source.text[name]
    return pa.array(column_text(table, name), pa.string())
