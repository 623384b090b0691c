"""Dates, points in time and durations: the kinds.

`moments.py` reads and writes their types, `layouts.py` and `lengths.py` their text; `moment_texts.py` finds out
how a column of text is written. `moment_attribute.py` says what their distances and common values are,
`moment_stream.py` what a stream keeps.
"""

from typing import ClassVar

from shoal.attributes.base import Gathering, Kind, Wish
from shoal.attributes.moment_stream import (
    DateGathering,
    DurationGathering,
    MomentGathering,
    MomentKept,
    TimestampGathering,
)
from shoal.attributes.moment_texts import looks_like
from shoal.attributes.moments import Family, family_of, texts_in
from shoal.table import Column


class OnLine(Kind):
    """Moments on a line."""

    kept = MomentKept
    family: ClassVar[Family]
    made: ClassVar[type[MomentGathering]]

    def takes(self, column: Column) -> bool:
        """Its type, or text that looks so."""
        texts = texts_in(column)
        return looks_like(texts, self.family) if texts is not None else family_of(column) == self.family

    def gathering(self, name: str, wish: Wish) -> Gathering:
        """A column that comes in parts."""
        return self.made(name, wish)


class Date(OnLine):
    """Columns of dates."""

    name = family = "date"
    made = DateGathering
    layouts = True


class Timestamp(OnLine):
    """Columns of points in time, with or without a zone; dates may be among them."""

    name = family = "timestamp"
    made = TimestampGathering
    layouts = True


class Duration(OnLine):
    """Columns of durations."""

    name = family = "duration"
    made = DurationGathering
