"""What the columns that a release leaves alone still give away.

k-anonymity is about the quasi-identifiers. Columns that are released as they are may tell people apart all the
same, and may give back what was averaged. Two figures, one for the columns without a role and one for the
confidential ones, say of the original table:

- how many records are unique on these columns together, and how many are in groups of fewer than k;
- which column determines a quasi-identifier: each of its values goes with one value of the quasi-identifier, in
  all records or in nearly all (Goodman and Kruskal's lambda of at least 0.95). It counts where values repeat: at
  least half of the records share the column's value with another one, only these are counted, and the odds that so
  many of them agree by accident are below one in a million;
- which linear relations with a quasi-identifier hold: see `shoal.measures.relations`.

Records come some at a time, so a table that is not in memory has the same figures; they are counted by a 64-bit
hash. Dependencies and relations are looked for in about SAMPLE records, in short runs evenly spaced (a run may
hold a household), and those found there are checked in all records. What was beyond a bound is said.

References
----------
L. A. Goodman and W. H. Kruskal. Measures of association for cross classifications. Journal of the American
Statistical Association 49(268), 732-764, 1954.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.attributes import finite_numbers
from shoal.errors import some
from shoal.measures.relations import LEAST_SHARE, MOST_COLUMNS, Relation, in_records, relations
from shoal.privacy.persons import persons_below, persons_in

Hashes = NDArray[np.uint64]
Int = NDArray[np.int64]
Float = NDArray[np.float64]
Signs = tuple[str, str]
"""The decimal sign and the thousands separator of numbers in text."""
Parts = Callable[[Sequence[str]], Iterable[pa.Table]]
"""Some columns of all records, some records at a time: text, or the types of a dataframe."""

SAMPLE = 65_536  # records in which dependencies and relations are looked for
CELLS = 2_000_000  # values that the sample has at most
RUN = 32  # records of the sample that stand together
MOST_PAIRS = 2000  # of a column and a quasi-identifier that are looked at
MOST_CHECKED = 40  # of these that are checked in a table larger than the sample
AT_ONCE = 10  # of these in one reading
MOST_VALUES = 200_000  # different pairs of values that are counted there
LEAST_LAMBDA = 0.95
_LEAST_IN_SAMPLE = 0.9
_ACCIDENT = np.log(1e6)
_GAP = np.uint64(0x9E3779B97F4A7C15)  # the hash of a value that is missing
_BYTES = 1 << 20  # of text that are hashed at a time
_BASE = np.uint64(0xD1342543DE82EF95)
_INVERSE = np.uint64(pow(0xD1342543DE82EF95, -1, 2**64))
_BYTE_NUMBERS = np.random.default_rng(0).integers(0, 2**64, 256, np.uint64)


class Counter(Protocol):
    """Takes hashes."""

    def add(self, hashes: Hashes) -> None:
        """Take some more."""


class Tally(Counter, Protocol):
    """Counts how often each hash occurs."""

    def sizes(self) -> Iterator[Int]:
        """How often each occurs, in parts."""


class MemoryTally:
    """A tally in memory."""

    def __init__(self) -> None:
        self._parts: list[Hashes] = []

    def add(self, hashes: Hashes) -> None:
        """Take some more."""
        self._parts.append(hashes)

    def sizes(self) -> Iterator[Int]:
        """How often each occurs."""
        yield np.unique(np.concatenate(self._parts), return_counts=True)[1]


class PersonTally(MemoryTally):
    """A tally in memory that counts the rows of a person once, given the number of each record's person."""

    def __init__(self, persons: Int) -> None:
        super().__init__()
        self._persons = persons

    def sizes(self) -> Iterator[Int]:
        """How many different persons have each."""
        yield persons_in(self._codes, self._persons).sizes

    def below(self, k: int) -> int:
        """How many different persons have something that fewer than k have."""
        return persons_below(self._codes, self._persons, k)

    @cached_property
    def _codes(self) -> Int:
        return np.asarray(np.unique(np.concatenate(self._parts), return_inverse=True)[1], np.int64)


@dataclass(frozen=True)
class Dependency:
    """A column whose values go with one value of a quasi-identifier, in a share of the records that repeat one."""

    column: str
    quasi_identifier: str
    share: float

    def __str__(self) -> str:
        among = "" if self.share == 1 else " that share its value with another"
        return f"{self.column!r} determines {self.quasi_identifier!r} {in_records(self.share)}{among}"


@dataclass(frozen=True)
class GivenAway:
    """What some columns give away together."""

    columns: tuple[str, ...]
    k: int
    records: int
    groups: int
    unique: int
    groups_below: int
    records_below: int
    dependencies: tuple[Dependency, ...] = ()
    relations: tuple[Relation, ...] = ()
    unseen: tuple[str, ...] = ()  # what was not looked at, in words
    whom: str = "records"  # what is counted; several rows of a person or household count once

    @property
    def gives_away(self) -> bool:
        """Whether the members of a group can be told apart or their values be got back, as far as is known."""
        return self.groups > 1 or bool(self.records_below or self.unseen)

    def says(self) -> list[str]:
        """The same in sentences, without a full stop."""
        where = "this column alone" if len(self.columns) == 1 else "these columns alone"
        below = (
            f"{self.records_below} {'is' if self.records_below == 1 else 'are'} in groups of fewer than {self.k}"
        )
        lines = [f"{self.unique} of {self.records} records are unique on {where} and {below}"]
        if self.whom != "records":
            one = self.whom.removesuffix("s")
            lines = [
                f"on {where}, {self.unique} of {self.groups} combinations are of a single {one} and "
                f"{self.groups_below} of fewer than {self.k} {self.whom}"
            ]
        lines += [str(found) for found in (*self.dependencies, *self.relations)]
        return lines + [f"not looked at: {what}" for what in self.unseen]

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "columns": list(self.columns),
            "counts": self.whom,
            "groups": self.groups,
            "unique": self.unique,
            "groups_below_k": self.groups_below,
            "records_below_k": self.records_below,
            "determines": [
                {"column": d.column, "quasi_identifier": d.quasi_identifier, "share": d.share}
                for d in self.dependencies
            ],
            "relations": [
                {"columns": list(r.columns), "coefficients": list(r.coefficients), "constant": r.constant}
                | {"tolerance": r.tolerance, "share": r.share}
                for r in self.relations
            ],
            "not_looked_at": list(self.unseen),
            "says": self.says(),
        }


def warning_of(figure: GivenAway) -> str:
    """What the owner should know of columns without a role."""
    said = f"{listed(figure)}; {said_of(figure)}; {cure_of(figure)}"
    return f"columns without a role are released as they are: {said}"


def refusal_of(figure: GivenAway) -> str:
    """The same for an owner who is strict."""
    return (
        f"nothing is released, because columns without a role reveal too much: {listed(figure)}; "
        f"{said_of(figure)}; {cure_of(figure)}, or leave out strict"
    )


def listed(figure: GivenAway) -> str:
    """The first few columns."""
    return some(map(repr, figure.columns), 10)


def said_of(figure: GivenAway) -> str:
    """What columns without a role give away, alone and beside the quasi-identifiers."""
    beside = "somebody who knows them and the quasi-identifiers can tell the members of a group apart"
    if len(figure.columns) == 1:
        beside = "somebody who knows it and the quasi-identifiers can tell the members of a group apart"
    return "; ".join([*figure.says(), *([beside] if figure.groups > 1 else [])])


def cure_of(figure: GivenAway) -> str:
    """What can be done about columns without a role."""
    if len(figure.columns) == 1:
        return "make it a quasi-identifier (-q), drop it as an identifier (-i), or say it is confidential (-c)"
    return "make them quasi-identifiers (-q), drop them as identifiers (-i), or say they are confidential (-c)"


@dataclass(frozen=True)
class Untouched:
    """What the columns without a role give away, and what the confidential ones do; None where there are none."""

    others: GivenAway | None = None
    confidential: GivenAway | None = None

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        both = {"others": self.others, "confidential": self.confidential}
        return {name: figure.as_dict() for name, figure in both.items() if figure is not None}


def given_away(
    parts: Parts,
    quasi_identifiers: Sequence[str],
    others: Sequence[str],
    confidential: Sequence[str],
    records: int,
    k: int,
    signs: Signs = (".", ""),
    tally: Callable[[str], Tally] = lambda _: MemoryTally(),
    whom: str = "records",
) -> Untouched:
    """Measure what columns give away that are released as they are; `parts` is read once, and again if need be.

    `whom` says what the tally counts.
    """
    asked = Asked(tuple(quasi_identifiers), tuple(others), tuple(confidential), records, signs)
    counters = {name: tally(name) for name in asked.groups}
    if not counters:
        return Untouched()
    sample = asked.seen(parts(asked.names), 0, counters)
    figures = {name: counted(counters[name], listed, k) for name, listed in asked.groups.items()}
    return asked.told(sample, {name: replace(each, whom=whom) for name, each in figures.items()}, parts)


@dataclass(frozen=True)
class Asked:
    """Of which columns it is asked what they give away, in how many records."""

    quasi_identifiers: tuple[str, ...]
    others: tuple[str, ...]
    confidential: tuple[str, ...]
    records: int
    signs: Signs

    @property
    def names(self) -> list[str]:
        """All columns that are read."""
        return [*self.quasi_identifiers, *self.others, *self.confidential]

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The figures that there are to be, and their columns."""
        both = {"others": self.others, "confidential": self.confidential}
        return {name: listed for name, listed in both.items() if listed}

    @property
    def step(self) -> int:
        """One of so many runs of records is in the sample."""
        return -(-self.records // min(SAMPLE, max(1000, CELLS // len(self.names))))

    def seen(self, tables: Iterable[pa.Table], before: int, counters: "Mapping[str, Counter]") -> list[pa.Table]:
        """Hand hashes of records, which so many came before, to the counter of each figure; their sample."""
        sample = []
        for table in tables:
            for name, listed in self.groups.items():
                counters[name].add(together(hashes_of(table[each]) for each in listed))
            rows = np.arange(before, before + table.num_rows)
            sample.append(chosen(table, rows // RUN % self.step == 0))
            before += table.num_rows
        return sample

    def told(self, sample: Sequence[pa.Table], figures: "Mapping[str, GivenAway]", parts: Parts) -> Untouched:
        """The figures that were counted, with what else the columns tell; all is read once more if need be."""
        look = Look(pa.concat_tables(sample), list(self.quasi_identifiers), self.signs, self.step == 1)
        extra = {"confidential": self.others}
        made = {name: look.figure(figure, extra.get(name, ())) for name, figure in figures.items()}
        if not look.is_whole:
            made = checked(parts, made, self.signs)
        return Untouched(made.get("others"), made.get("confidential"))


def chosen(table: pa.Table, wanted: NDArray[np.bool_]) -> pa.Table:
    """Some records of a table; in slices where Arrow cannot filter a type."""
    try:
        return table if wanted.all() else table.filter(pa.array(wanted))
    except pa.ArrowException:
        turns = np.flatnonzero(np.diff(wanted, prepend=False, append=False)).tolist()
        slices = [table.slice(first, end - first) for first, end in zip(turns[::2], turns[1::2], strict=True)]
        return pa.concat_tables(slices or [table.slice(0, 0)])


def counted(counter: Tally, columns: Sequence[str], k: int) -> GivenAway:
    """The figure of some columns as far as counting goes."""
    found = np.zeros(5, np.int64)
    for sizes in counter.sizes():
        found += among(sizes, k)
    records, groups, unique, groups_below, records_below = found.tolist()
    if isinstance(counter, PersonTally):  # one who is in several small groups counts once
        records_below = counter.below(k)
    return GivenAway(tuple(columns), k, records, groups, unique, groups_below, records_below)


def among(sizes: Int, k: int) -> list[int]:
    """Of groups of these sizes: records, groups, those of one record, those below k, and the records in these."""
    small = sizes[sizes < k]
    return [int(sizes.sum()), len(sizes), int((sizes == 1).sum()), len(small), int(small.sum())]


# Hashes of values.


def hashes_of(column: pa.ChunkedArray) -> Hashes:
    """A 64-bit number for each value: the same for the same value, bit for bit; a gap has one of its own."""
    gaps = column.is_null().to_numpy(zero_copy_only=False)
    parts = [part_hashes(chunk) for chunk in column.chunks if len(chunk)]
    return np.where(gaps, _GAP, np.concatenate([np.zeros(0, np.uint64), *parts]))


def part_hashes(values: pa.Array) -> Hashes:
    """The same for one array; whatever where there is a gap."""
    try:
        kind = values.type
        if pa.types.is_dictionary(kind):
            values, kind = values.dictionary_decode(), kind.value_type
        if pa.types.is_temporal(kind):
            kind = pa.int32() if kind.bit_width == 32 else pa.int64()
            values = values.cast(kind)
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            plain = np.ascontiguousarray(values.fill_null(0).to_numpy(zero_copy_only=False))
            return scrambled(plain.view(f"u{plain.dtype.itemsize}").astype(np.uint64))
        texts = values if pa.types.is_binary(kind) else values.cast(pa.large_string())
        return text_hashes(texts.cast(pa.large_binary()))
    except pa.ArrowException:  # lists, structures and other types that Arrow cannot write as text
        return text_hashes(pa.array([repr(value).encode() for value in values.to_pylist()], pa.large_binary()))


def text_hashes(texts: pa.Array) -> Hashes:
    """The hash of each text: the sum of its bytes, each as a random number, times the powers of another one."""
    ends = np.frombuffer(texts.buffers()[1], np.int64)[texts.offset : texts.offset + len(texts) + 1]
    content = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    out, first = np.empty(len(texts), np.uint64), 0
    while first < len(texts):
        # So many texts at a time as have _BYTES bytes, or one.
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + _BYTES, side="right")) - 1)
        own = ends[first : last + 1] - ends[first]
        with np.errstate(over="ignore"):
            powers = np.multiply.accumulate(np.full(int(own[-1]) + 1, _BASE))
            terms = _BYTE_NUMBERS[content[ends[first] : ends[last]]] * powers[:-1]
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)])
            # A text that begins later has higher powers: those are taken back, the base being odd.
            back = np.multiply.accumulate(np.full(int(own[-1]) + 1, _INVERSE))[own[:-1]]
            out[first:last] = scrambled((sums[own[1:]] - sums[own[:-1]]) * back + np.diff(own).astype(np.uint64))
        first = last
    return out


def scrambled(bits: Hashes) -> Hashes:
    """One number for each number, in no order (the finalizer of splitmix64)."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def together(columns: Iterable[Hashes]) -> Hashes:
    """The hash of each record on several columns; one after the other, so that no two need be held."""
    each = iter(columns)
    whole = next(each)
    with np.errstate(over="ignore"):
        for column in each:
            whole = scrambled(whole * _GAP + column)
    return whole


# Dependencies and relations, in a sample.


@dataclass(frozen=True, eq=False)
class Look:
    """A sample of the records, and what it shows."""

    sample: pa.Table
    quasi_identifiers: list[str]
    signs: Signs
    is_whole: bool  # the sample is all records
    codes: dict[str, Int] = field(default_factory=dict)

    def figure(self, figure: GivenAway, extra: Sequence[str]) -> GivenAway:
        """The figure with the dependencies and the relations of the sample; `extra` columns may help in these."""
        pairs, unseen = self._pairs(figure.columns)
        told = {(u, q): strength(self._codes(u), self._codes(q)) for u, q in pairs}
        linear, too_many = self._relations(figure.columns, extra)
        return replace(
            figure,
            dependencies=tuple(Dependency(*pair, s.share) for pair, s in told.items() if self._depends(s)),
            relations=tuple(linear),
            unseen=(*unseen, *too_many),
        )

    def _pairs(self, columns: Sequence[str]) -> tuple[list[tuple[str, str]], list[str]]:
        """The columns whose values repeat, each with every quasi-identifier; and which were too many."""
        least = 0.5 if self.is_whole else 0.0
        repeating = [u for u in columns if repeated_share(self._codes(u)) >= least]
        pairs = [(u, q) for u in repeating for q in self.quasi_identifiers]
        left = list(dict.fromkeys(u for u, _ in pairs[MOST_PAIRS:]))
        said = f"whether every quasi-identifier is determined by {some(map(repr, left))}"
        return pairs[:MOST_PAIRS], [said] if left else []

    def _codes(self, name: str) -> Int:
        if name not in self.codes:
            self.codes[name] = np.unique(hashes_of(self.sample[name]), return_inverse=True)[1]
        return self.codes[name]

    def _depends(self, found: "Strength") -> bool:
        # A value that repeats may stand in a sample once; and a sample may be worse than the whole.
        return found.counts if self.is_whole else found.gain >= _LEAST_IN_SAMPLE and found.odds >= _ACCIDENT

    @cached_property
    def _numbers(self) -> dict[str, Float]:
        read = {name: finite_numbers(self.sample[name], self.signs) for name in self.sample.column_names}
        return {name: values for name, values in read.items() if 2 * np.isfinite(values).sum() > len(values)}

    def _relations(self, columns: Sequence[str], extra: Sequence[str]) -> tuple[list[Relation], list[str]]:
        """Those between quasi-identifiers and these columns, at least one of each."""
        wanted = [n for n in (*columns, *extra) if n in self._numbers]
        hidden = [n for n in self.quasi_identifiers if n in self._numbers]
        if not hidden or not any(name in self._numbers for name in columns):
            return [], []
        room = max(MOST_COLUMNS // 2, MOST_COLUMNS - len(hidden))
        names = wanted[:room]
        names += hidden[: MOST_COLUMNS - len(names)]
        unseen = [n for n in (*wanted, *hidden) if n not in names]
        is_needed = np.array([name in columns for name in names])
        is_hidden = np.array([name in hidden for name in names])
        values = np.column_stack([self._numbers[name] for name in names])
        said = [f"sums with {some(map(repr, unseen))}"] if unseen else []
        return relations(names, values, is_needed, is_hidden), said


@dataclass(frozen=True)
class Strength:
    """How well a column tells a quasi-identifier, in the records that share its value with another one."""

    repeated: float  # their share of all records
    share: float  # of them, those that have the most frequent value that goes with theirs
    gain: float  # lambda: how much fewer are told wrong than by the most frequent value of all
    odds: float  # the logarithm of the odds against an accident

    @property
    def counts(self) -> bool:
        """Whether this is a dependency."""
        return self.repeated >= 0.5 and self.gain >= LEAST_LAMBDA and self.odds >= _ACCIDENT


def repeated_share(codes: Int) -> float:
    """The share of the records that have the value of another one too."""
    sizes = np.bincount(codes)
    return float(sizes[sizes >= 2].sum() / len(codes))


def strength(column: Int, quasi: Int, counts: Int | None = None) -> Strength:
    """From the code of each record in both columns, or of each pair of codes and how often it occurs."""
    height, width = int(column.max()) + 1, int(quasi.max()) + 1
    pairs = column * width + quasi
    if height * width <= 8 * len(pairs):
        table = np.bincount(pairs, weights=counts, minlength=height * width)
        keys = np.flatnonzero(table)
        often = table[keys].astype(np.int64)
    elif counts is None:
        keys, often = np.unique(pairs, return_counts=True)
    else:
        keys, back = np.unique(pairs, return_inverse=True)
        often = np.bincount(back, weights=counts).astype(np.int64)
    return strength_of(keys // width, keys % width, often)


def strength_of(column: Int, quasi: Int, often: Int) -> Strength:
    """From the pairs that occur, sorted by the column, and how often each does."""
    starts = np.flatnonzero(np.diff(column, prepend=-1))
    sizes, best = np.add.reduceat(often, starts), np.maximum.reduceat(often, starts)
    shared = sizes >= 2
    n = int(sizes[shared].sum())
    if n == 0:
        return Strength(0.0, 0.0, 0.0, 0.0)
    kept = np.repeat(shared, np.diff(starts, append=len(column)))
    totals = np.bincount(quasi[kept], weights=often[kept])
    most, agree = int(totals.max()), float(np.square(totals / n).sum())
    right = int(best[shared].sum())
    if most == n:
        return Strength(n / int(sizes.sum()), 1.0, 0.0, 0.0)
    more = n - int(shared.sum())  # records beyond the first of each value: each could have disagreed
    return Strength(n / int(sizes.sum()), right / n, (right - most) / (n - most), -more * float(np.log(agree)))


# All records, where the sample is not all of them.


def checked(parts: Parts, figures: dict[str, GivenAway], signs: Signs) -> dict[str, GivenAway]:
    """The figures with those dependencies and relations of the sample that hold in all records."""
    pairs = [(d.column, d.quasi_identifier) for figure in figures.values() for d in figure.dependencies]
    told: dict[tuple[str, str], Strength | None] = {}
    truths = {r: [0, 0] for figure in figures.values() for r in figure.relations}
    for start in range(0, max(1, min(len(pairs), MOST_CHECKED)), AT_ONCE):
        tables = {pair: PairTable() for pair in pairs[start : start + AT_ONCE]}
        check(parts, tables, {} if start else truths, signs)
        told |= {pair: table.strength() for pair, table in tables.items()}
    return {name: settled(figure, told, truths) for name, figure in figures.items()}


def check(
    parts: Parts,
    tables: "dict[tuple[str, str], PairTable]",
    truths: dict[Relation, list[int]],
    signs: Signs,
) -> None:
    """Read all records: fill the tables of pairs, and count where each relation holds and out of how many."""
    names = list(dict.fromkeys([n for pair in tables for n in pair] + [n for r in truths for n in r.columns]))
    for part in parts(names) if names else ():
        for (column, quasi), table in tables.items():
            table.add(hashes_of(part[column]), hashes_of(part[quasi]))
        for relation, truth in truths.items():
            values = np.column_stack([finite_numbers(part[name], signs) for name in relation.columns])
            values = values[np.isfinite(values).all(axis=1)]
            truth[0] += int(relation.holds(values).sum())
            truth[1] += len(values)


def settled(
    figure: GivenAway, told: dict[tuple[str, str], "Strength | None"], truths: dict[Relation, list[int]]
) -> GivenAway:
    """A figure with what is true of all records."""
    dependencies, unseen = [], list(figure.unseen)
    for found in figure.dependencies:
        known = told.get((found.column, found.quasi_identifier))
        if known is None:
            unseen.append(f"whether {found.column!r} determines {found.quasi_identifier!r}")
        elif known.counts:
            dependencies.append(replace(found, share=known.share))
    shares = {r: right / max(1, n) for r, (right, n) in truths.items()}
    held = [replace(r, share=shares[r]) for r in figure.relations if shares[r] >= LEAST_SHARE]
    return replace(figure, dependencies=tuple(dependencies), relations=tuple(held), unseen=tuple(unseen))


class PairTable:
    """How often each pair of values of two columns occurs, for MOST_VALUES pairs at most."""

    def __init__(self) -> None:
        self._left = self._right = np.zeros(0, np.uint64)
        self._often = np.zeros(0, np.int64)
        self._held: list[tuple[Hashes, Hashes]] = []
        self._waiting = 0
        self._is_full = False

    def add(self, left: Hashes, right: Hashes) -> None:
        """Some more records."""
        if self._is_full:
            return
        self._held.append((left, right))
        self._waiting += len(left)
        if self._waiting >= MOST_VALUES:
            self._merge()

    def _merge(self) -> None:
        left = np.concatenate([self._left, *(held for held, _ in self._held)])
        right = np.concatenate([self._right, *(held for _, held in self._held)])
        often = np.concatenate([self._often, np.ones(self._waiting, np.int64)])
        _, first, back = np.unique(together([left, right]), return_index=True, return_inverse=True)
        self._often = np.bincount(back, weights=often).astype(np.int64)
        self._left, self._right = left[first], right[first]
        self._held, self._waiting = [], 0
        self._is_full = len(first) > MOST_VALUES

    def strength(self) -> Strength | None:
        """How well the left column tells the right one; None where there were too many pairs."""
        if self._waiting:
            self._merge()
        if self._is_full:
            return None
        left = np.unique(self._left, return_inverse=True)[1]
        return strength(left, np.unique(self._right, return_inverse=True)[1], self._often)
