"""Reading a column, whatever its kind is, with its gaps: part by part for a stream, or as one part."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.base import (
    AgainError,
    Attribute,
    Chunks,
    Gathering,
    Kept,
    Kind,
    Settle,
    Stored,
    Wish,
    attribute_from,
    kind_called,
    kind_of,
    read_in_one,
)
from shoal.attributes.gap_attribute import GapKept
from shoal.attributes.gaps import (
    GapFacts,
    gap_of,
    gaps_in,
    is_gap,
    missing_error,
    number,
    settled,
    written_gaps,
)
from shoal.attributes.numbers import RowsError
from shoal.errors import ShoalError
from shoal.parameters import Scaling
from shoal.table import Column


class ColumnGathering(Gathering):
    """A column that comes in parts, whatever its kind is, and some of whose values may be missing."""

    kind = "gaps"

    def __init__(
        self,
        name: str,
        wish: Wish,
        fresh: Callable[[], Gathering] | None = None,
        tried: frozenset[str] = frozenset(),
        floats: bool = False,
    ) -> None:
        self.name, self.wish, self._tried = name, wish, tried
        self._inner = fresh() if fresh else None
        self._floats = floats
        self.records = self.gaps = 0
        self._missing: list[tuple[int, NDArray[np.uint8]]] = []  # of each part: its records, and a bit for each
        self.written: Counter[str] = Counter()
        self._parts: tuple[str, ...] = (name,)
        self._imputed: str | None = None

    @property
    def facts(self) -> GapFacts:
        """What is known of the gaps."""
        return GapFacts(self.name, self.wish.gaps, self.gaps, dict(self.written), self._imputed)

    def add(self, column: Column, before: int) -> Stored:
        """What the kind of the values keeps of them, and gaps."""
        missing = gaps_in(column, self.wish)
        if missing.any() and self.wish.gaps == "error":
            raise missing_error(self.name, missing, before)
        self._parts = tuple(part.name for part in column.parts) or (self.name,)
        present = self.records - self.gaps
        self.records += len(column)
        self.gaps += int(missing.sum())
        self._missing.append((len(column), np.packbits(missing)))
        if missing.any():
            self.written += written_gaps(column, self.wish)
        kind = np.dtype(np.float64 if self._floats else np.int64)
        if missing.all():
            return np.full(len(column), gap_of(kind))
        stored = self._add(column.where(~missing) if missing.any() else column, present)
        if self.gaps and stored.dtype != kind and not self._floats:
            raise self._again(floats=True)
        whole = np.full(len(column), gap_of(stored.dtype), stored.dtype)
        whole[~missing] = stored
        return whole

    def _add(self, present: Column, before: int) -> Stored:
        """What is kept of the values, which so many came before.

        What the kind of the first ones does not take may be of another kind.
        """
        if self._inner is None:
            self._inner = kind_of(present, self.wish).gathering(self.name, self.wish)
        try:
            return self._inner.add(present, before)
        except AgainError as again:
            raise self._again(again.fresh) from None
        except ShoalError as error:
            kind = kind_of(present, self.wish)
            if self.wish.kind is not None or self._inner.kind in (kind.name, "nominal"):
                raise self._placed(error) from None
            raise self._as(kind_called("nominal") if kind.name in self._tried else kind) from None

    def _placed(self, error: ShoalError) -> ShoalError:
        """An error about rows, which were counted without gaps."""
        if not isinstance(error, RowsError) or not self.gaps:
            return error
        parts = [np.unpackbits(bits, count=records) for records, bits in self._missing]
        return error.among(np.flatnonzero(np.concatenate(parts) == 0))

    def _as(self, kind: Kind) -> AgainError:
        """The same from the first record on, as another kind."""
        assert self._inner is not None
        return self._again(partial(kind.gathering, self.name, self.wish), self._tried | {self._inner.kind})

    def _again(
        self,
        fresh: Callable[[], Gathering] | None = None,
        tried: frozenset[str] | None = None,
        floats: bool = False,
    ) -> AgainError:
        """The same from the first record on, by another reading of the values."""
        tried = self._tried if tried is None else tried
        return AgainError(partial(ColumnGathering, self.name, self.wish, fresh, tried, floats or self._floats))

    def finish(self) -> None:
        """All parts are there: together they may be of another kind than the first ones were."""
        if self._inner is None:
            return
        if self.wish.kind is None and (different := self._inner.different()) is not None:
            kind = kind_of(different, self.wish)
            if kind.name not in (self._inner.kind, *self._tried):
                raise self._as(kind)
        try:
            self._inner.finish()
        except AgainError as again:
            raise self._again(again.fresh) from None
        except ShoalError as error:
            raise self._placed(error) from None

    def read_apart(self, chunks: Chunks) -> None:
        """By the kind of the values."""
        if self._inner is not None and not self.gaps:
            self._inner.read_apart(chunks)

    def joined(self, others: Sequence[Gathering]) -> "ColumnGathering | None":
        """Parts of a kind that can be joined; with gaps where its values are numbered, and gaps left alone."""
        whole = [self, *(each for each in others if isinstance(each, ColumnGathering))]
        them = [each._inner for each in whole if each._inner is not None]
        inner = them[0].joined(them[1:]) if them else None
        if inner is None or (any(each.gaps for each in whole) and not inner.new_numbers):
            return None
        made, numbers = copy(self), iter(inner.new_numbers)
        made._inner, made._missing = inner, [part for each in whole for part in each._missing]
        made.records, made.gaps = sum(each.records for each in whole), sum(each.gaps for each in whole)
        made.written = sum((each.written for each in whole), Counter())
        if inner.new_numbers:
            none = np.zeros(0, np.int64)
            made.new_numbers = [none if each._inner is None else next(numbers) for each in whole]
        return made

    def kept(self, weight: float, chunks: Chunks) -> tuple[Kept, Settle]:
        """As the kind of the values has it; with gaps where there are some."""
        if self._inner is None:
            return GapKept(
                self.name, weight, is_constant=True, spelling=self._spelling(), parts=self._parts
            ), lambda stored, _: stored

        def present() -> Iterator[Stored]:
            return (part for stored in chunks() if len(part := stored[~is_gap(stored)]))

        if not self.gaps:
            return self._inner.kept(weight, chunks)
        inner, settle = self._inner.kept(weight, present)
        if self.wish.gaps == "impute":
            typical = inner.typical(lambda: settled(present(), settle))
            inner = inner.joined_by(typical, self.gaps)
            self._imputed = inner.values(np.array([typical], inner.dtype)).text()[0]
            return inner, Filled(settle, typical)
        kept = GapKept(self.name, weight, inner=inner, gaps=self.gaps, records=self.records)
        spelling = self._spelling()
        if could_be_a_mean(spelling, inner, settled(present(), settle)):
            spelling = ""
        said = replace(kept, spelling=spelling, policy=self.wish.gaps)
        return said, Filled(settle, gap_of(inner.dtype))

    def _spelling(self) -> str:
        """How the file writes most gaps."""
        return min(self.written, key=lambda text: (-self.written[text], text), default="")


def could_be_a_mean(spelling: str, inner: Kept, parts: Iterator[Stored]) -> bool:
    """Whether a mark for a gap, such as 99, lies among the numbers: a mean may then look like it."""
    mark = number(spelling)
    if mark is None or not inner.bare().kind.startswith(("numeric", "semi")):
        return False
    low, high = np.inf, -np.inf
    for part in parts:
        ends = inner.values(np.array([part.min(), part.max()], inner.dtype)).floats()
        low, high = min(low, float(ends.min())), max(high, float(ends.max()))
    return bool(low <= mark <= high)


class Filled:
    """Writes what is kept anew, and something in the place of gaps; parts come one after the other."""

    def __init__(self, settle: Settle, filled: Any) -> None:
        self._settle, self._filled = settle, filled
        self._done = 0

    def __call__(self, stored: Stored, start: int) -> Stored:
        """The records from `start` on."""
        if start == 0:
            self._done = 0
        there = ~is_gap(stored)
        values = self._settle(stored[there], self._done) if there.any() else stored[there]
        self._done += len(values)
        kind = np.asarray(self._filled).dtype if not len(values) else values.dtype
        out = np.full(len(stored), self._filled, kind)
        out[there] = values
        return out


def attribute_of(column: Column, wish: Wish, scaling: Scaling, weight: float) -> tuple[Attribute, GapFacts]:
    """A column in memory as an attribute, by its kind, with its gaps as the wish says."""
    missing = gaps_in(column, wish)
    if not missing.any():
        facts = GapFacts(column.name, wish.gaps)
        return kind_of(column, wish).attribute(column, scaling, weight, wish), facts
    gathering, stored = read_in_one(ColumnGathering(column.name, wish), column)
    assert isinstance(gathering, ColumnGathering)
    made = attribute_from(gathering, stored, scaling, weight)
    return made, gathering.facts
