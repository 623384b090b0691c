"""What a column holds, gathered from some records at a time; how they were divided makes no difference."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes import Wish, holds_numbers, looks_semicontinuous, numbers_in, whole_where_it_can
from shoal.attributes.quantities import Finding, Shown, Tally, finding_in, head_of, is_place
from shoal.files import Dialect
from shoal.files.arrays import shown
from shoal.files.kinds import TypeFacts, all_match
from shoal.files.spelling import MISSING, has_leading_zeros, number_pattern, pointed, widths
from shoal.inspection.kinds import MIXED, NONE, Different, Whole, layouts_reading, words_for_gaps
from shoal.inspection.suggestions import Held, Holds, Role, suggestion
from shoal.table import Column, is_text

_CLASSES = r"^[<>]=? ?[$€£]? ?[0-9.,]+ ?[kKmM]\.?$"
_PLAIN = ("numeric", "nominal", "boolean", "ordinal", MIXED, NONE)  # kinds that are no moments
_ENOUGH = 1_000_000  # records that tell whether many numbers are one value
_BEGINNINGS = (1, 2, 3)  # of a postcode: lengths that are groups of places


@dataclass(frozen=True)
class ColumnProfile:
    """What a column holds, and a suggestion; it has more than `distinct` different values where `more` is true.

    Attributes
    ----------
    kind : what `anonymize` takes it for if nothing is said: a kind; "mixed" for numbers beside text, or "none"
        for what it refuses
    gaps : how missing values are written, and how often; "" for an empty cell
    options : what the suggestion needs beside the role, by the names of the settings
    """

    name: str
    type: str
    kind: str
    missing: int
    gaps: dict[str, int]
    distinct: int
    more: bool
    low: Any
    high: Any
    role: Role
    reason: str
    options: dict[str, Any] = field(default_factory=dict)


class Profiler:
    """What was seen of one column so far; a dialect is that of a CSV file, a column that of a table in memory."""

    def __init__(
        self, name: str, kind: pa.DataType, dialect: Dialect | None, most: int, column: Column | None = None
    ) -> None:
        self.name, self.records = name, 0
        self._type, self._from_csv = kind, dialect is not None
        self._values = 0
        self._gaps: Counter[str] = Counter()
        self._tally, self._texts = Tally(most), Seen(most)
        self._ends: tuple[Any, Any] | None = None
        self._endless = False
        self._facts = TextFacts(dialect or Dialect())
        self._different = None if column else Different(name, dialect.signs if dialect else None)
        self._asked: Different | Whole = self._different or Whole(column)  # type: ignore[arg-type]

    def add(self, column: pa.ChunkedArray) -> None:
        """Some more records."""
        self.records += len(column)
        raw = column
        if not is_simple(column.type):
            column = shown(column)
        if is_text(column.type):
            self._add_text(column, raw)
            return
        if pa.types.is_floating(column.type):
            column = column.filter(pc.invert(pc.is_nan(column)))
        column = column.drop_null()
        self._values += len(column)
        if not len(column):
            return
        if self._different is not None:
            self._different.add(column)
        if holds_numbers(column.type):
            values = numbers_in(column)
            self._endless = self._endless or bool(np.isinf(values).any())
            self._tally.add(whole_where_it_can(values[np.isfinite(values)]))
            self._widen(column)
        else:
            self._texts.add(list(map(repr, pc.unique(column).to_pylist())), len(column))
            if pa.types.is_temporal(column.type):
                self._widen(column)

    def _add_text(self, column: pa.ChunkedArray, raw: pa.ChunkedArray) -> None:
        """Some more texts; what can be told from the different ones is told from them."""
        written = pc.unique(column).drop_null()
        texts = pc.utf8_trim_whitespace(written)
        gaps = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(MISSING, texts.type))
        if pc.any(gaps).as_py():
            lacking = column.filter(pc.is_in(column, value_set=written.filter(gaps)))
            found = pc.value_counts(pc.utf8_trim_whitespace(lacking)).to_pylist()
            self._gaps.update({pair["values"]: pair["counts"] for pair in found})
        if column.null_count or pc.any(gaps).as_py():
            column = column.filter(pc.is_in(column, value_set=written.filter(pc.invert(gaps))))
        self._values += len(column)
        if not len(column):
            return
        if self._different is not None:
            self._different.add(column if is_written(raw.type) else raw.drop_null())
        found = texts.filter(pc.invert(gaps))
        self._facts.add(found)
        self._texts.add(found.to_pylist() if self._texts.complete else [], len(column))
        if self._facts.number:
            trimmed = column if written.equals(texts) else pc.utf8_trim_whitespace(column)
            self._tally.add(whole_where_it_can(self._facts.numbers(trimmed)))

    def _widen(self, column: pa.ChunkedArray) -> None:
        """The lowest and the highest value so far."""
        found = pc.min_max(column).as_py()
        low, high = self._ends or (found["min"], found["max"])
        self._ends = min(low, found["min"]), max(high, found["max"])

    def profile(self, place: int) -> ColumnProfile:
        """What the column holds, and the role that it may have."""
        kind = shown(pa.chunked_array([], self._type)).type
        shown_type, ends = str(self._type), self._ends or (None, None)
        counted: Tally | Seen = self._tally if holds_numbers(kind) else self._texts
        if self._from_csv and is_text(kind):  # a CSV file: its types are those of its values
            shown_type = self._facts.types.type if self._values else "string"
            if shown_type != "string":
                convert = int if shown_type == "int64" else float
                ends = convert(self._tally.values[0]), convert(self._tally.values[-1])
                counted = self._tally
        held = self._held(place, kind, counted)
        found = suggestion(held)
        return ColumnProfile(
            self.name, shown_type, held.kind, held.missing, self._written(held.missing), held.distinct, held.more,
            ends[0], ends[1], found.role, found.reason, found.options,
        )  # fmt: skip

    def _written(self, missing: int) -> dict[str, int]:
        """How gaps are written, the most frequent ones first."""
        others = Counter({"": missing - self._gaps.total()}) + self._gaps
        return dict(sorted(others.items(), key=lambda pair: (-pair[1], pair[0])))

    def _held(self, place: int, kind: pa.DataType, counted: "Tally | Seen") -> Held:
        tally, text = self._tally, is_text(kind)
        name = self._kind(text)
        layouts = layouts_reading(self._asked) if text and name in ("nominal", NONE) else ()
        averaged = holds_numbers(kind) or (text and name == "numeric")
        holds: Holds = "numbers" if averaged else "text" if text else "other"
        if pa.types.is_temporal(kind) or layouts or self._asked.looks() not in _PLAIN:
            holds = "dates"
        whole = averaged and tally.values.dtype.kind == "i" and len(tally.values) > 0
        finding = self._finding() if averaged and len(tally.values) else None
        return Held(
            self.name,
            place,
            holds,
            self._values,
            self.records - self._values,
            counted.distinct,
            not counted.complete,
            counted.all_different,
            whole,
            whole and int(tally.values[-1]) - int(tally.values[0]) + 1 == self._values,
            self._endless,
            text and self._values > 0 and self._facts.classes,
            text and self._from_csv and self._facts.in_doubt,
            finding,
            name,
            self._other(name, finding, layouts),
            self._words(name),
            self._lengths(name, finding),
            tuple(spelling for spelling in self._gaps if spelling),
            layouts if len(layouts) > 1 else (),
            text and not self._from_csv and self._values > 0 and self._facts.number and not self._facts.width,
            self._facts.lengths[1] if text and self._facts.lengths else 0,
        )

    def _kind(self, text: bool) -> str:
        """What the column is taken for if nothing is said."""
        if text and self._from_csv and self._values and self._facts.in_doubt:
            return NONE
        return self._asked.kind() if self._values else NONE

    def _other(self, kind: str, finding: Finding | None, layouts: tuple[str, ...]) -> str:
        """A kind that suits the column better, or that reads it at all, where it is asked for."""
        if len(layouts) == 1:
            return layouts[0]
        if kind == "numeric" and (finding is None or finding.kind == "mark") and self._has_mass(finding):
            return "semi-continuous"
        if finding is not None and finding.asks and self._all_read(finding):
            return finding.asks
        return "nominal" if kind in (MIXED, NONE) and self._asked.reads(Wish(kind="nominal")) else ""

    def _has_mass(self, finding: Finding | None) -> bool:
        """Whether many of the numbers are one value; not so where that is a mark for a missing one."""
        tally = self._tally
        if not tally.complete or not len(tally.values):
            return False
        few = np.maximum(1, tally.counts * min(1, _ENOUGH / tally.records)).astype(np.int64)
        mass = looks_semicontinuous(np.repeat(tally.values.astype(np.float64), few))
        marks = () if finding is None else finding.marks
        fits = mass is not None and not any(mark.startswith("-") or float(mark) == mass for mark in marks)
        return fits and self._asked.reads(Wish(kind="semi-continuous"))

    def _all_read(self, finding: Finding) -> bool:
        """Whether the kind that a finding asks for reads the column: of dates, every one that is known."""
        gaps = (*finding.marks, *(spelling for spelling in self._gaps if spelling)) if finding.marks else None
        wish, tally = Wish(kind=finding.asks, gap_values=gaps), self._tally
        if finding.kind != "date" or not tally.complete or self._different is None:
            return self._asked.reads(wish)
        everything = Different(self.name, self._different.signs, most=len(tally.values))
        values = pa.array(tally.values)
        if self._from_csv:
            values = pa.array([f"{value:0{self._facts.width}d}" for value in tally.values.tolist()])
        everything.add(pa.chunked_array([values]))
        return everything.reads(wish)

    def _words(self, kind: str) -> tuple[str, ...]:
        """Texts beside numbers that mean a missing value, where nothing else stands in the way."""
        if kind not in (MIXED, NONE):
            return ()
        found = words_for_gaps(self._asked.texts(), self._facts.signs)
        return found if found and self._asked.reads(Wish(gap_values=found)) else ()

    def _lengths(self, kind: str, finding: Finding | None) -> tuple[int, ...]:
        """The lengths of the beginnings of postcodes that are groups of places, where all have the same length."""
        text = kind in ("nominal", NONE) and is_place(head_of(self.name))
        if not text and (finding is None or finding.kind != "place"):
            return ()
        low, high = self._facts.lengths or (0, 0)
        found = tuple(length for length in _BEGINNINGS if length < low)
        reads = found and (text or low == high) and self._asked.reads(Wish(kind="code", prefix=found))
        return found if reads else ()

    def _finding(self) -> Finding | None:
        """Why the numbers are no quantities."""
        values = self._tally.values
        whole = values.dtype.kind == "i"
        return finding_in(self.name, Shown(self._tally, values, whole, whole, self._facts.width))


class Seen:
    """How many different values a column has, by their hashes, up to some number of them."""

    def __init__(self, most: int) -> None:
        self._most, self._records = most, 0
        self._hashes: set[int] = set()
        self.complete = self.all_different = True

    @property
    def distinct(self) -> int:
        """How many there are, or as many as are counted."""
        return len(self._hashes) if self.complete else self._most

    def add(self, values: list[Any], records: int) -> None:
        """The different values of some more records."""
        if not self.complete:
            return
        self._records += records
        self._hashes.update(map(hash, values))
        self.all_different = self.all_different and len(self._hashes) == self._records
        if len(self._hashes) > self._most:
            self.complete, self._hashes = False, set()


class TextFacts:
    """What the texts of a column are: numbers, codes of digits, classes of amounts."""

    def __init__(self, dialect: Dialect) -> None:
        self.signs = dialect.decimal, dialect.thousands
        self.types = TypeFacts()
        self.number = self.classes = self._digits = True
        self._zeros = False
        self.lengths: tuple[int, int] | None = None  # of the shortest and of the longest text

    def add(self, texts: pa.Array) -> None:
        """Some more texts, without spaces around them."""
        self.types.add(texts, *self.signs)
        self.number = self.number and all_match(texts, number_pattern(*self.signs))
        self.classes = self.classes and not self.number and all_match(texts, _CLASSES)
        self._digits = self._digits and self.number and all_match(texts, "^[0-9]+$")
        shortest, longest = widths(texts)
        low, high = self.lengths or (shortest, longest)
        self.lengths = min(low, shortest), max(high, longest)
        self._zeros = self._zeros or (self._digits and has_leading_zeros(texts))

    @property
    def width(self) -> int:
        """The common width of codes that are filled with zeros."""
        same = self._digits and self._zeros and self.lengths and self.lengths[0] == self.lengths[1]
        return self.lengths[1] if same and self.lengths else 0

    @property
    def in_doubt(self) -> bool:
        """Whether the texts are numbers such as 1.633 that can be read in two ways."""
        return self.number and self.types.example and not self.types.is_shown

    def numbers(self, texts: pa.ChunkedArray) -> NDArray[Any]:
        """Texts that are all numbers."""
        plain = pointed(texts, *self.signs)
        try:
            return np.asarray(plain.cast(pa.int64()).to_numpy())
        except pa.ArrowInvalid:
            return np.asarray(plain.cast(pa.float64()).to_numpy())


def is_simple(kind: pa.DataType) -> bool:
    """Whether a column can be looked at as it is, which is quicker."""
    return bool(is_text(kind) or pa.types.is_integer(kind) or pa.types.is_float64(kind))


def is_written(kind: pa.DataType) -> bool:
    """Whether a column holds text, also where each different one stands once."""
    return is_text(kind.value_type if pa.types.is_dictionary(kind) else kind) or pa.types.is_string_view(kind)
