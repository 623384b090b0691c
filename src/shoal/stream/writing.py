"""The last passes: the input read once more, every record with the common values of its group, then written."""

from collections.abc import Iterable, Iterator, Sequence
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

    def __init__(self, paths: Sequence[Path], columns: Sequence[Kept]) -> None:
        self._names = names_of(len(columns))
        self._blocks = [Block(path, self._names) for path in paths]
        self._done = 0

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

    @property
    def kept(self) -> list[str]:
        """The columns that leave."""
        return [name for name in self.source.columns if name not in self.roles.identifiers]

    def write(self, path: Path, kind: Format, style: Style | None, passes: Passes) -> None:
        """Write the release, in a style where the format is text."""
        if style is None:
            self._write_tables(path, kind, passes)
        else:
            self._write_texts(path, kind, replace(style, returns=self.returns), passes)

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

    def _write_tables(self, path: Path, kind: Format, passes: Passes) -> None:
        coming = self._slices(passes)
        if self.key is not None:
            coming = (storable(table, kind.stored_type) for table in coming)
        first = next(coming)
        kind.check_parts(first.schema)
        leaving = self._ordered(chain([first], coming), passes)
        slices = even(leaving, batches.GROUP)  # as those of a table in memory
        try:
            parts = slices if self.key is None else map(relisted, slices)
            write_parts(parts, first.schema, path, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
            raise ShoalError(
                f"cannot write this table in parts ({str(error).splitlines()[0]}); write CSV"
            ) from None

    def _write_texts(self, path: Path, kind: Format, style: Style, passes: Passes) -> None:
        formulas = {name: Formulas() for name in self.kept if name not in self.roles.quasi_identifiers}
        tables = self._ordered(self._texts(formulas, style.dialect, passes), passes)
        parts = ([column.to_pylist() for column in table.columns] for table in tables)
        write_parts(parts, text_schema(self.kept), path, kind, style)
        for name, found in formulas.items():
            if found.count:
                warn_of_formula(name, found.listed(), found.count)
        warn_of_names(self.kept)

    def _texts(self, formulas: dict[str, Formulas], dialect: Dialect, passes: Passes) -> Iterator[pa.Table]:
        done = 0
        for table, codes in self._batches(passes):
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

    def _slices(self, passes: Passes) -> Iterator[pa.Table]:
        for table, codes in self._batches(passes):
            rows = np.arange(len(table))
            if self.sample is not None:
                self.sample.add(table, codes, None)
            yield table.replaced(
                column.values(values).of(name).column(table.frame[name], rows, not self.exact)
                for column, values in zip(self.columns, codes, strict=True)
                for name in column.columns
            )

    def _batches(self, passes: Passes) -> Iterator[tuple[Table, list[Stored]]]:
        released = Released(self.blocks, self.columns)
        for table in self.source.batches(self.kept, passes.begin("write" if self.key is None else "spread")):
            typed = self._typed(table) if self.types else None
            yield batch_table(self.source, self.roles, table, typed), released.take(table.num_rows)

    def _typed(self, table: pa.Table) -> pa.Table:
        """The text of a CSV file with types."""
        signs, names = self.source.dialect.signs, table.column_names
        return pa.table([typed_as(table[name], self.types[name], *signs) for name in names], names=names)


def texts_of(column: Kept, name: str, codes: Stored, decimal: str) -> pa.Array:
    """Released numbers as a file shows them; each different one is spelled once."""
    different, which = np.unique(codes, return_inverse=True)
    return pa.array(column.values(different).of(name).text(decimal), pa.string()).take(pa.array(which))


def as_text(table: Table, name: str) -> pa.Array | pa.ChunkedArray:
    """A column that is released as it is, as a file shows it."""
    if table.source and table.source.text is not None:
        return table.source.text[name]
    return pa.array(column_text(table, name), pa.string())
