"""The different values of a column of categories: read part by part, and numbered from the most frequent on."""

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes.base import Stored
from shoal.errors import ShoalError
from shoal.files.spelling import INFINITE, number_pattern
from shoal.table import NO_TYPE, Column, arrow_type, is_text

Int = NDArray[np.int64]

_APART = "^[+-]?[0-9]{1,3}([ '’\u00a0\u202f][0-9]{3})+([.,][0-9]+)?$"
"""A number with spaces or apostrophes between its thousands."""

Level = str | int | float | bool


MOST = 1_000_000
"""Different values that a column of categories may have; each of them is held in memory."""


class Levels:
    """The different values of a column so far: how often each occurs, and in which row first."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._from_file, self._signs = False, (".", "")
        self._places: dict[Level, int] = {}
        self.counts: list[int] = []
        self.first: list[int] = []

    def add(self, column: Column, before: int) -> Stored:
        """The numbers of some more values, in the order in which they came up first."""
        self._from_file, self._signs = column.text is not None, column.signs
        try:
            held = pc.dictionary_encode(column.values()).combine_chunks()
        except NO_TYPE:
            raise no_categories(self.name, column) from None
        if isinstance(held, pa.ChunkedArray):
            held = held.chunk(0)
        values = held.dictionary.to_pylist()
        if not all(isinstance(value, str | int | float) for value in values):
            raise no_categories(self.name, column)
        self._refuse_many(values)
        codes = np.asarray(held.indices.to_numpy(zero_copy_only=False), np.int64)
        _, first, counts = np.unique(codes, return_index=True, return_counts=True)
        own = np.empty(len(values), np.int64)
        for place, (value, row, count) in enumerate(zip(values, first.tolist(), counts.tolist(), strict=True)):
            own[place] = self._place(value, before + row, count)
        return own[codes]

    def _refuse_many(self, values: Sequence[Level]) -> None:
        """Before any of them is numbered."""
        if len(self._places) + len(values) <= MOST:
            return
        if len(self._places) + sum(value not in self._places for value in values) > MOST:
            raise ShoalError(
                f"column {self.name!r} has more than {MOST} different values, too many for categories; "
                "drop it with -i, or put a coarser column in its place"
            )

    def _place(self, value: Level, row: int, count: int) -> int:
        place = self._places.setdefault(value, len(self._places))
        if place == len(self.counts):
            self.counts.append(0)
            self.first.append(row)
        self.counts[place] += count
        return place

    def joined(self, others: "Sequence[Levels]") -> "tuple[Levels, list[Int]] | None":
        """As if one had read these values and then those of the others; the new numbers of each one's values.

        None where there are too many, which is told by whoever reads all of them.
        """
        whole, numbers, before = Levels(self.name), [], 0
        whole._from_file, whole._signs = self._from_file, self._signs
        for each in (self, *others):
            listed = zip(each._places, each.first, each.counts, strict=True)
            found = [whole._place(value, before + row, count) for value, row, count in listed]
            numbers.append(np.array(found, np.int64))
            before += sum(each.counts)
        return None if len(whole._places) > MOST else (whole, numbers)

    @property
    def values(self) -> list[Level]:
        """The different values, in the order in which they came up first."""
        return list(self._places)

    def column(self) -> Column | None:
        """The different values as a column, where they are texts."""
        values = self.values
        if not all(isinstance(value, str) for value in values):
            return None
        texts = pa.chunked_array([pa.array(values, pa.string())])
        series = nw.from_native(texts, series_only=True).alias(self.name)
        return Column(self.name, series, texts if self._from_file else None, self._signs)

    def ranked(self) -> tuple[list[Level], list[int], Int]:
        """The values from the most frequent on, ties by their text; how often each occurs; the new numbers."""
        values = self.values
        order = sorted(range(len(values)), key=lambda place: (-self.counts[place], str(values[place])))
        return [values[place] for place in order], [self.counts[place] for place in order], numbers_of(order)


def numbers_of(order: Sequence[int]) -> Int:
    """The new number of each old one, where this is the order of the old ones."""
    numbers = np.empty(len(order), np.int64)
    numbers[np.asarray(order, np.int64)] = np.arange(len(order))
    return numbers


def no_categories(name: str, column: Column) -> ShoalError:
    """A column whose values cannot be told apart as categories."""
    called: Any = getattr(column.series.to_native(), "dtype", None) or arrow_type(column.series)
    return ShoalError(
        f"column {name!r} of type {called} holds neither text nor plain numbers, so it has no categories; "
        "turn it into text first"
    )


def spelled(level: Level) -> str:
    """A value as a text file shows it."""
    return level if isinstance(level, str) else str(level)


def text_like(column: Column) -> bool:
    """Whether a column holds text."""
    if column.text is not None:
        return True
    try:
        return bool(is_text(column.values().type))
    except NO_TYPE:
        return False


def is_numeric_text(column: Column) -> NDArray[np.bool_] | None:
    """Which of the different texts of a column are numbers, or could be with another decimal sign.

    None where the column holds no text.
    """
    if not text_like(column):
        return None
    texts = pc.utf8_trim_whitespace(pc.unique(column.values()))
    return numeric_among(texts, column.signs)


def numeric_among(texts: pa.Array, signs: tuple[str, str]) -> NDArray[np.bool_]:
    """Which texts are numbers, infinity, or could be numbers with other signs than the file has.

    Whoever reads them decides; they are no categories, unless that is said.
    """
    texts = pc.replace_substring_regex(texts, "^[−–]", "-")
    found = pc.match_substring_regex(texts, number_pattern(*signs))
    for pattern in (number_pattern(".", ","), number_pattern(",", "."), INFINITE, _APART):
        found = pc.or_(found, pc.match_substring_regex(pc.utf8_lower(texts), pattern))
    return np.asarray(found.to_numpy(zero_copy_only=False), bool)
