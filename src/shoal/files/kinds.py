"""Which type a column of text has, from all its values or some at a time: whole numbers, numbers, or text."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from shoal.files.dialect import Dialect
from shoal.files.spelling import doubtful, number_pattern, pointed

WHOLE = r"^-?[0-9]+$"
"""A regular expression for whole numbers."""


@dataclass
class TypeFacts:
    """What the values have shown so far; how they were divided makes no difference.

    Codes with leading zeros, or such as 1E5, whole numbers of more than 64 bits and numbers in doubt stay text.
    """

    code: bool = False  # leading zeros
    exponents: bool = False
    points: bool = False
    whole: bool = True
    wide: bool = False  # a whole number of more than 64 bits
    number: bool = True
    example: bool = False  # a number that can be read in two ways
    is_shown: bool = False  # and another one that can be read in one only

    def add(self, column: pa.ChunkedArray, decimal: str, thousands: str = "") -> None:
        """Look at some more values."""
        self.number = self.number and all_match(column, number_pattern(decimal, thousands))
        if not self.number:
            return
        self.code = self.code or matches_any(column, r"^[+-]?0[0-9]")
        self.exponents = self.exponents or matches_any(column, "[eE]")
        self.points = self.points or matches_any(column, f"[{decimal}]")
        if not thousands:
            example, is_shown = doubtful(column, decimal)
            self.example, self.is_shown = self.example or example is not None, self.is_shown or is_shown
        numbers = pointed(column, decimal, thousands)
        self.whole = self.whole and all_match(numbers, WHOLE)
        if self.whole and not self.wide:
            try:
                numbers.cast(pa.int64())
            except pa.ArrowInvalid:
                self.wide = True

    @property
    def type(self) -> str:
        """The name of the type."""
        if not self.number or self.code or (self.exponents and not self.points):
            return "string"
        if self.whole:
            return "string" if self.wide else "int64"
        return "string" if self.example and not self.is_shown else "double"


def typed(text: pa.Table, dialect: Dialect) -> pa.Table:
    """Columns of text with types: whole numbers, numbers, or text where any value is not one."""
    columns = [typed_column(column, *dialect.signs) for column in text.columns]
    return pa.table(columns, names=text.column_names)


def typed_column(column: pa.ChunkedArray, decimal: str, thousands: str = "") -> pa.ChunkedArray:
    """One column with a type; codes with leading zeros, or such as 1E5, and numbers in doubt stay text."""
    facts = TypeFacts()
    facts.add(column, decimal, thousands)
    return typed_as(column, facts.type, decimal, thousands)


def typed_as(column: pa.ChunkedArray, kind: str, decimal: str, thousands: str) -> pa.ChunkedArray:
    """Text as a type that all values of its column can have."""
    if kind == "string":
        return column
    return pointed(column, decimal, thousands).cast(pa.int64() if kind == "int64" else pa.float64())


def all_match(column: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every value matches a pattern."""
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def matches_any(column: pa.ChunkedArray, pattern: str) -> bool:
    """Whether some value matches a pattern."""
    return bool(pc.any(pc.match_substring_regex(column, pattern)).as_py())
