"""What a column holds, gathered from some records at a time; how they were divided makes no difference."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes import holds_numbers, numbers_in, whole_where_it_can
from shoal.attributes.quantities import Finding, Shown, Tally, finding_in
from shoal.files import Dialect
from shoal.files.arrays import shown
from shoal.files.kinds import TypeFacts, all_match
from shoal.files.spelling import MISSING, has_leading_zeros, number_pattern, pointed, widths
from shoal.inspection.suggestions import Held, Holds, Role, suggestion
from shoal.table import is_text

_CLASSES = r"^[<>]=? ?[$€£]? ?[0-9.,]+ ?[kKmM]\.?$"


@dataclass(frozen=True)
class ColumnProfile:
    """What a column holds, and a suggestion; it has more than `distinct` different values where `more` is true."""

    name: str
    type: str
    missing: int
    distinct: int
    more: bool
    low: Any
    high: Any
    role: Role
    reason: str


class Profiler:
    """What was seen of one column so far; a dialect is that of a CSV file."""

    def __init__(self, name: str, kind: pa.DataType, dialect: Dialect | None, most: int) -> None:
        self.name, self.records = name, 0
        self._kind, self._from_csv = kind, dialect is not None
        self._values = 0
        self._tally, self._texts = Tally(most), Seen(most)
        self._ends: tuple[Any, Any] | None = None
        self._endless = False
        self._facts = TextFacts(dialect or Dialect())

    def add(self, column: pa.ChunkedArray) -> None:
        """Some more records."""
        self.records += len(column)
        if not is_simple(column.type):
            column = shown(column)
        if is_text(column.type):
            self._add_text(column)
            return
        if pa.types.is_floating(column.type):
            column = column.filter(pc.invert(pc.is_nan(column)))
        column = column.drop_null()
        self._values += len(column)
        if not len(column):
            return
        if holds_numbers(column.type):
            values = numbers_in(column)
            self._endless = self._endless or bool(np.isinf(values).any())
            self._tally.add(whole_where_it_can(values[np.isfinite(values)]))
            self._widen(column)
        else:
            self._texts.add(list(map(repr, pc.unique(column).to_pylist())), len(column))
            if pa.types.is_temporal(column.type):
                self._widen(column)

    def _add_text(self, column: pa.ChunkedArray) -> None:
        """Some more texts; what can be told from the different ones is told from them."""
        written = pc.unique(column).drop_null()
        texts = pc.utf8_trim_whitespace(written)
        gaps = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(MISSING, texts.type))
        plain = column.null_count == 0 and not pc.any(gaps).as_py()
        if not plain:
            column = column.filter(pc.is_in(column, value_set=written.filter(pc.invert(gaps))))
        self._values += len(column)
        if not len(column):
            return
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
        kind = shown(pa.chunked_array([], self._kind)).type
        shown_type, ends = str(self._kind), self._ends or (None, None)
        counted: Tally | Seen = self._tally if holds_numbers(kind) else self._texts
        if self._from_csv and is_text(kind):  # a CSV file: its types are those of its values
            shown_type = self._facts.types.type if self._values else "string"
            if shown_type != "string":
                convert = int if shown_type == "int64" else float
                ends = convert(self._tally.values[0]), convert(self._tally.values[-1])
                counted = self._tally
        held = self._held(place, kind, counted)
        role, reason = suggestion(held)
        return ColumnProfile(
            self.name, shown_type, held.missing, held.distinct, held.more, ends[0], ends[1], role, reason
        )

    def _held(self, place: int, kind: pa.DataType, counted: "Tally | Seen") -> Held:
        tally, text = self._tally, is_text(kind)
        averaged = holds_numbers(kind) or (
            text and self._from_csv and self._values > 0 and self._facts.can_be_averaged
        )
        holds: Holds = "numbers" if averaged else "text" if text else "other"
        if pa.types.is_temporal(kind):
            holds = "dates"
        whole = averaged and tally.values.dtype.kind == "i" and len(tally.values) > 0
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
            self._finding() if averaged and len(tally.values) else None,
        )

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
    """What the texts of a column are: numbers, codes of digits, truth values, classes of amounts."""

    def __init__(self, dialect: Dialect) -> None:
        self._signs = dialect.decimal, dialect.thousands
        self.types = TypeFacts()
        self.number = self.classes = self._digits = self._truth = True
        self._zeros = False
        self._lengths: tuple[int, int] | None = None

    def add(self, texts: pa.Array) -> None:
        """Some more texts, without spaces around them."""
        self.types.add(texts, *self._signs)
        self.number = self.number and all_match(texts, number_pattern(*self._signs))
        self.classes = self.classes and not self.number and all_match(texts, _CLASSES)
        self._truth = self._truth and not self.number and all_match(texts, "^(?i)(true|false)$")
        self._digits = self._digits and self.number and all_match(texts, "^[0-9]+$")
        if self._digits:
            shortest, longest = widths(texts)
            low, high = self._lengths or (shortest, longest)
            self._lengths = min(low, shortest), max(high, longest)
            self._zeros = self._zeros or has_leading_zeros(texts)

    @property
    def width(self) -> int:
        """The common width of codes that are filled with zeros."""
        same = self._digits and self._zeros and self._lengths and self._lengths[0] == self._lengths[1]
        return self._lengths[1] if same and self._lengths else 0

    @property
    def can_be_averaged(self) -> bool:
        """Whether the texts are numbers in any way, in a CSV file."""
        return self.types.type != "string" or self._digits or self._truth

    @property
    def in_doubt(self) -> bool:
        """Whether the texts are numbers such as 1.633 that can be read in two ways."""
        return self.number and self.types.example and not self.types.is_shown

    def numbers(self, texts: pa.ChunkedArray) -> NDArray[Any]:
        """Texts that are all numbers."""
        plain = pointed(texts, *self._signs)
        try:
            return np.asarray(plain.cast(pa.int64()).to_numpy())
        except pa.ArrowInvalid:
            return np.asarray(plain.cast(pa.float64()).to_numpy())


def is_simple(kind: pa.DataType) -> bool:
    """Whether a column can be looked at as it is, which is quicker."""
    return bool(is_text(kind) or pa.types.is_integer(kind) or pa.types.is_float64(kind))
