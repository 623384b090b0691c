"""Which of the suggested quasi-identifiers records lack, and what can be done about it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.attributes import Wish, gaps_in
from shoal.attributes.patterns import Enough, joined_patterns
from shoal.inspection.places import attributes_of
from shoal.inspection.profiles import ColumnProfile
from shoal.parameters import GapPolicy
from shoal.table import Column, is_text

_MOST = 500
"""Of no more patterns than these it is tried which cells would be blanked."""


@dataclass(frozen=True)
class GapPatterns:
    """How many patterns of gaps there are, how many of them fewer than k records have, and what suits them.

    `blanked` cells would be blanked beside the gaps; None where there are too many patterns to try it.
    """

    gaps: int
    patterns: int
    rare: int
    blanked: int | None
    k: int

    @property
    def policy(self) -> GapPolicy:
        """Gaps stay gaps, unless more values than there are gaps would be blanked for that."""
        if not self.rare:
            return "pattern"
        return "value" if self.blanked is None or self.blanked > self.gaps else "blank"

    @property
    def reason(self) -> str:
        """Why this is to be done about the gaps, in one line."""
        if self.policy == "pattern":
            return (
                f"--gaps pattern: records with the same gaps are grouped together; each of the {self.patterns} "
                f"patterns of gaps has at least {self.k} records."
            )
        rare = f"fewer than {self.k} records have some patterns of gaps ({self.rare} of {self.patterns})"
        if self.policy == "blank":
            return f"--gaps blank: {rare}, so {self.blanked} more values are blanked."
        cost = "" if self.blanked is None else f", and --gaps blank would blank {self.blanked} values"
        return f"--gaps value: {rare}{cost}, so a gap is a value of its own."


def may_lack(column: ColumnProfile) -> bool:
    """Whether some records have no value of a column."""
    return column.missing > 0 or "gap_values" in column.options


class Patterns:
    """How many records have which pattern of gaps; signs are those of numbers in a CSV file."""

    def __init__(self, columns: Sequence[ColumnProfile], signs: tuple[str, str] | None) -> None:
        self._attributes = [each for each in attributes_of(columns) if any(map(may_lack, each))]
        self._signs = signs
        self._counts: Counter[bytes] = Counter()

    def watching(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        """Tables that are passed on."""
        for table in tables:
            if self._attributes and table.num_rows:
                self._add(table)
            yield table

    def _add(self, table: pa.Table) -> None:
        missing = np.column_stack([self._lacking(each, table) for each in self._attributes])
        rows, counts = np.unique(np.packbits(missing, axis=1), axis=0, return_counts=True)
        self._counts.update(dict(zip(map(bytes, rows), counts.tolist(), strict=True)))

    def _lacking(self, attribute: Sequence[ColumnProfile], table: pa.Table) -> NDArray[np.bool_]:
        """The records that lack any column of an attribute."""
        missing = [self._missing(each, table[each.name]) for each in attribute]
        return np.asarray(np.logical_or.reduce(missing), bool)

    def _missing(self, profile: ColumnProfile, values: pa.ChunkedArray) -> NDArray[np.bool_]:
        text = values if self._signs is not None and is_text(values.type) else None
        signs = self._signs or (".", "")
        column = Column(profile.name, nw.from_native(values, series_only=True), text, signs)
        return gaps_in(column, Wish(gap_values=profile.options.get("gap_values")))

    def found(self, k: int) -> GapPatterns | None:
        """What can be done about the gaps; None where there are none."""
        if not self._counts:
            return None
        packed = np.array([list(row) for row in self._counts], np.uint8)
        seen = np.unpackbits(packed, axis=1, count=len(self._attributes)).astype(bool)
        patterns, place = np.unique(seen, axis=0, return_index=True)  # in the order in which they are joined
        counts = np.array(list(self._counts.values()), np.int64)[place]
        gaps, rare = int((counts @ patterns).sum()), int((counts < k).sum())
        blanked = 0 if not rare else None
        if rare and len(counts) <= _MOST:
            names, free = [each[0].name for each in self._attributes], np.ones(len(self._attributes), bool)
            joined = joined_patterns(patterns, counts, free, names, Enough(k))
            blanked = int((counts * (joined & ~patterns).sum(axis=1)).sum())
        return GapPatterns(gaps, len(counts), rare, blanked, k)
