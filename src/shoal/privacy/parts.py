"""Privacy models on a table that comes in parts, because it is larger than memory.

The different values of a confidential column are gathered part by part. They are coded once, as those of a table
in memory are. Which of them a record has is a number in a file, in the order of the table. Groups are known by the
hashes of their quasi-identifiers, and judged some at a time.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from shutil import rmtree

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes import Wish, gaps_in
from shoal.errors import ShoalError
from shoal.files.arrays import taken
from shoal.files.sealing import numbers_in, put, sink, source, writing
from shoal.privacy.checking import Check, without_harm
from shoal.privacy.coding import Coding, GapValues, coding_for, column_of, numbers_of, settled
from shoal.privacy.counting import Buckets, Hashes, hashes_by_record
from shoal.privacy.information import Information, Telling
from shoal.privacy.k_anonymity import Anonymity, distinct, no_records
from shoal.privacy.models import Model
from shoal.privacy.rules import Rules, Values, by_ranks, ranks_of, values_counted
from shoal.privacy.wildcards import GapTexts
from shoal.row_order import order_of

Int = NDArray[np.int64]
Places = NDArray[np.int32]

MOST = 1_000_000
"""Different values that a column without numbers may have; each of them is held in memory."""

NO_TEXTS: GapTexts = {}

FEW = 100_000
"""Different values of which it is found what groups tell by chance: each is counted in every shuffled column."""


class Gathered:
    """The different values of a column that comes in parts, in the order in which they come."""

    def __init__(self, name: str, signs: tuple[str, str], gap_values: GapValues = None) -> None:
        self.name, self._signs = name, signs
        self._wish = Wish(gap_values=None if gap_values is None else tuple(gap_values))
        self._keys: pa.Array | None = None
        self._values: list[pa.ChunkedArray] = []
        self._counts = np.zeros(0, np.int64)
        self._looked_at = 0

    def add(self, column: pa.ChunkedArray) -> Places:
        """Which of them each of some more records has."""
        try:
            found = distinct(self.name, column)
        except ShoalError:
            raise ShoalError(
                f"column {self.name!r} of type {column.type} holds values that cannot be compared; no privacy "
                "model can be about it"
            ) from None
        known = found.values[:0] if self._keys is None else self._keys
        places = pc.index_in(found.values, value_set=known)
        new = places.is_null()
        first = np.unique(found.codes, return_index=True)[1]
        if self._keys is None or pc.any(new).as_py():
            self._values.append(taken(column, first[np.flatnonzero(new)]))
        self._keys = pa.concat_arrays([known, found.values.filter(new)])
        self._refuse_many()
        own = np.array(places.fill_null(-1).to_numpy(), np.int32)
        own[own < 0] = np.arange(len(known), len(self._keys))
        counts = np.zeros(len(self._keys), np.int64)
        counts[: len(self._counts)] = self._counts
        counts[own] += np.bincount(found.codes, minlength=len(own))
        self._counts = counts
        return own[found.codes]

    def _refuse_many(self) -> None:
        """Words are held in memory; numbers too, but a stream knows how much they take."""
        if self._keys is None or len(self._keys) <= MOST:
            return
        for piece in self._values[self._looked_at :]:
            column = column_of(self.name, piece, self._signs)
            there = column.where(~gaps_in(column, self._wish))
            if len(there) and numbers_of(there.values(), self._signs) is None:
                raise ShoalError(
                    f"column {self.name!r} has more than {MOST} different values that are no numbers, too many "
                    "for a privacy model on a table that is read in parts; put a coarser column in its place"
                )
        self._looked_at = len(self._values)

    def write(self, path: Path) -> None:
        """The different values, and how many records have each."""
        with sink(path) as raw:
            done = 0
            kind = pa.schema([("value", self._values[0].type), ("records", pa.int64())])
            with pa.ipc.new_stream(raw, kind) as writer:
                for piece in self._values:
                    counts = self._counts[done : done + len(piece)]
                    writer.write_table(pa.table([piece, pa.array(counts)], schema=kind))
                    done += len(piece)


def spread(
    tables: Iterable[pa.Table],
    models: Sequence[Model],
    folder: Path,
    signs: tuple[str, str] = (".", ""),
    gaps: GapTexts = NO_TEXTS,
) -> None:
    """Write the values of all columns that models name to a fresh folder, from tables in their order."""
    rmtree(folder, ignore_errors=True)  # of a run that was killed
    folder.mkdir(mode=0o700)
    gathered = [Gathered(name, signs, gaps.get(name)) for name in columns_of(models)]
    with ExitStack() as stack:
        files = [stack.enter_context(writing(places_in(folder, number))) for number in range(len(gathered))]
        for table in tables:
            for file, each in zip(files, gathered, strict=True):
                file.write(each.add(table[each.name]).tobytes())
    for number, each in enumerate(gathered):
        each.write(values_in(folder, number))


def columns_of(models: Sequence[Model]) -> list[str]:
    """The columns that models name, each once."""
    return list(dict.fromkeys(model.on for model in models))


def places_in(folder: Path, number: int) -> Path:
    """The file that says which value of a column each record has."""
    return folder / f"places-{number}"


def values_in(folder: Path, number: int) -> Path:
    """The file of the different values of a column."""
    return folder / f"values-{number}"


@dataclass(frozen=True, eq=False)
class Promises:
    """The privacy models of a table whose confidential values are on the disk.

    Attributes
    ----------
    models : with the distances that they are measured by
    codings : of the different values of each model's column, as they came
    counts : how many records have each of these values, by model and number of the value
    folder : where the values are
    records : how many there are
    """

    models: tuple[Model, ...]
    codings: tuple[Coding, ...]
    counts: tuple[Int, ...]
    folder: Path
    records: int

    @classmethod
    def of(
        cls, models: Sequence[Model], folder: Path, signs: tuple[str, str], gaps: GapTexts = NO_TEXTS
    ) -> "Promises":
        """From what `spread` has written; an error where a column is not what a model needs."""
        names, codings, counts, records = columns_of(models), [], [], 0
        for model in models:
            with source(values_in(folder, names.index(model.on))) as raw, pa.ipc.open_stream(raw) as file:
                table = file.read_all()
            coding = coding_for(model, column_of(model.on, table["value"], signs), gaps.get(model.on))
            own = table["records"].to_numpy()
            there = coding.codes >= 0
            summed = np.zeros(len(coding.values), np.int64)
            np.add.at(summed, coding.codes[there], own[there])
            codings.append(coding)
            counts.append(summed)
            records = int(own.sum())
        ready = [settled(model, coding) for model, coding in zip(models, codings, strict=True)]
        return cls(tuple(ready), tuple(codings), tuple(counts), folder, records)

    @property
    def n_values(self) -> int:
        """How many values all models are about; of ranks, every record is one."""
        pairs = zip(self.models, self.counts, strict=True)
        return sum(int(counts.sum()) if by_ranks(model) else len(counts) for model, counts in pairs)

    @cached_property
    def values(self) -> tuple[Values, ...]:
        """What each model is about, without the codes of records."""
        each = zip(self.models, self.codings, self.counts, strict=True)
        return tuple(values_counted(model, coding, counts) for model, coding, counts in each)

    def rank(self, key: str | None) -> None:
        """Write the ranks of records that a model asks for, ties in the order in which the rows leave by a key.

        Whoever reads the release ranks its rows in that order. Without a key they keep their own.
        """
        for place, model in enumerate(self.models):
            if by_ranks(model):
                codes = self._coded(place, slice(None))
                order = None if key is None else order_of(key, np.arange(self.records))
                put(self._ranks(place), ranks_of(codes, order).astype(np.int32).tobytes())

    def _ranks(self, place: int) -> Path:
        return self.folder / f"ranks-{place}"

    def _coded(self, place: int, rows: "Int | slice") -> Int:
        """The numbers of the values of some records."""
        number = columns_of(self.models).index(self.models[place].on)
        places = numbers_in(places_in(self.folder, number), np.int32)
        return np.asarray(self.codings[place].codes[places[rows]], np.int64)

    def rules(self, rows: Int) -> Rules:
        """For some of the records, in this order; the distribution is that of the table."""
        codes = []
        for place, model in enumerate(self.models):
            if by_ranks(model):
                ranks = numbers_in(self._ranks(place), np.int32)
                codes.append(ranks[rows].astype(np.int64))
            else:
                codes.append(self._coded(place, rows))
        return Rules.around(self.models, self.values, codes)

    def gaps(self, place: int) -> int:
        """How many records have no value in the column of a model."""
        return self.records - int(self.counts[place].sum())

    def told_about(self) -> dict[str, Int]:
        """How many records have each value, of the columns with so few that it can be said what groups tell."""
        counts = {coding.name: own for coding, own in zip(self.codings, self.counts, strict=True)}
        return {name: own for name, own in counts.items() if len(own) <= FEW}

    def by_column(self, rows: Int) -> dict[str, Int]:
        """The numbers of the values of some records, by column; as a table in memory has them for its figures."""
        return {self.models[place].on: self._coded(place, rows) for place in range(len(self.models))}


@dataclass(frozen=True, eq=False)
class Judged:
    """What was found in a file that was read in parts."""

    anonymity: Anonymity
    checks: list[Check] = field(default_factory=list)
    information: dict[str, Information] = field(default_factory=dict)


def judged(
    tables: Iterable[pa.Table],
    quasi_identifiers: Sequence[str],
    models: Sequence[Model],
    records: int,
    folder: Path,
    signs: tuple[str, str],
    told: bool = False,
    gaps: GapTexts = NO_TEXTS,
) -> Judged:
    """What models find in the groups of about so many records that come in parts, and their sizes.

    The folder is made for what is kept meanwhile, and removed. `told` asks for what groups tell on average, too.
    """
    names = list(dict.fromkeys(quasi_identifiers))
    with Buckets(folder.parent, records, f"{folder.name}-hashes", width=3) as buckets:
        spread(hashed(tables, names, buckets), models, folder, signs, gaps)
        promises = Promises.of(models, folder, signs, gaps)
        promises.rank(None)
        telling = {name: Telling(counts) for name, counts in promises.told_about().items()} if told else {}
        sizes, figures, excess = [], [], []
        for own, rows in map(grouped_rows, buckets.parts()):
            if len(rows):
                found = promises.rules(rows).judge(own)
                sizes.append(np.bincount(own))
                figures.append(found[0])
                excess.append(found[1])
                codes = promises.by_column(rows) if telling else {}
                for name, each in telling.items():
                    each.add(own, codes[name])
    rmtree(folder)
    anonymity = Anonymity(np.concatenate(sizes))
    values, over = np.hstack(figures), np.hstack(excess)
    without_harm(promises.models, values, over)
    checks = [
        Check(model, values[place], np.flatnonzero(over[place] > 0), anonymity.sizes, promises.gaps(place))
        for place, model in enumerate(promises.models)
    ]
    return Judged(anonymity, checks, {name: each.found() for name, each in telling.items()})


def hashed(tables: Iterable[pa.Table], names: Sequence[str], buckets: Buckets) -> Iterator[pa.Table]:
    """The same tables; the hash of every record goes to a bucket on the way, with the number of its row."""
    done = 0
    for table in tables:
        if not table.num_rows:
            continue
        rows = np.arange(done, done + table.num_rows, dtype=np.uint64)
        buckets.add(np.column_stack([hashes_by_record(table.select(names)), rows]))
        done += table.num_rows
        yield table
    if not done:
        raise no_records()


def grouped_rows(hashes: Hashes) -> tuple[Int, Int]:
    """The group of each record of a bucket, by number, and its row."""
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))
    ranked = hashes[order, :2]
    new = np.ones(len(ranked), bool)
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    groups = np.empty(len(ranked), np.int64)
    groups[order] = np.cumsum(new) - 1
    return groups, hashes[:, 2].astype(np.int64)
