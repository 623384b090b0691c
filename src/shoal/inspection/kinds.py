"""What `anonymize` takes a column for: the kinds themselves are asked, about the different values that it holds.

Of a file that is looked at some records at a time, the first different values of a column are held. Those that
come later only have to be like them. How the records were divided makes no difference.
"""

import re
from collections.abc import Sequence

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.attributes import Wish, gaps_in, holds_numbers, kind_called, kind_of
from shoal.attributes.base import read_in_one
from shoal.attributes.levels import is_numeric_text, numeric_among
from shoal.errors import ShoalError
from shoal.files.arrays import plain
from shoal.files.spelling import INFINITE, number_pattern
from shoal.files.words import GAPS
from shoal.table import Column, is_text

MIXED = "mixed"
"""Numbers beside text: `anonymize` refuses such a column until it is told what the text means."""
NONE = "none"
"""A column that `anonymize` refuses, or that holds nothing."""

MOST = 1000
"""So many different values of a column are held, and no more than fit into so many bytes."""
_BYTES = 1 << 16
_DATES = r"[0-9]{1,2}([./-])([0-9]{1,2}|[A-Za-z]{3})\1([0-9]{4}|[0-9]{2})"
_LAYOUTS = tuple(
    f"date:{first}{sign}{second}{sign}{year}"
    for sign in "/-."
    for first, second in (("%d", "%m"), ("%m", "%d"), ("%d", "%b"))
    for year in ("%Y", "%y")
)
_WORDS = 10  # different texts that mean a missing number


def kind_read(column: Column, wish: Wish | None = None) -> str:
    """The kind that reads a column without gaps, `MIXED` or `NONE`."""
    wish = wish or Wish()
    try:
        kind = kind_of(column, wish)
        read_in_one(kind.gathering(column.name, wish), column)
    except (ShoalError, OverflowError):  # what is wrong with it, or a date that Python does not have
        numeric = is_numeric_text(column)
        return MIXED if numeric is not None and numeric.any() and not numeric.all() else NONE
    return kind.name


class Whole:
    """A column of a table in memory."""

    complete = True

    def __init__(self, column: Column) -> None:
        self._column = column

    def without(self, wish: Wish) -> Column | None:
        """Its values but the gaps; None where there is none."""
        missing = gaps_in(self._column, wish)
        if missing.all():
            return None
        return self._column.where(~missing) if missing.any() else self._column

    def kind(self) -> str:
        """What it is taken for."""
        column = self.without(Wish())
        if column is None:
            return NONE
        name = kind_of(column).name
        return name if name == "numeric" and are_numbers(column) else kind_read(column)

    def looks(self) -> str:
        """What it is taken for before it is read."""
        column = self.without(Wish())
        return NONE if column is None else kind_of(column).name

    def reads(self, wish: Wish) -> bool:
        """Whether it can be read as is wished."""
        column = self.without(wish)
        return column is not None and kind_read(column, wish) not in (MIXED, NONE)

    def texts(self) -> list[str]:
        """Its different texts, without spaces around them; none of other values."""
        column = self.without(Wish())
        return [] if column is None else texts_of(column)


def are_numbers(column: Column) -> bool:
    """Whether a column is of a type of numbers, whatever they are."""
    try:
        return holds_numbers(column.values().type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):
        return False


def texts_of(column: Column) -> list[str]:
    """The different texts of a column, without spaces around them; none of other values."""
    if is_numeric_text(column) is None:
        return []
    return list(map(str, pc.unique(pc.utf8_trim_whitespace(column.values())).to_pylist()))


class Different:
    """The first different values of a column without gaps, and whether those that came later are like them."""

    def __init__(self, name: str, signs: tuple[str, str] | None, most: int = MOST) -> None:
        self._name, self.signs, self._most = name, signs, most  # the signs of numbers in a CSV file
        self._held: pa.Array | None = None
        self._kind: str | None = None  # of the values that are held, where there are more
        self._alike, self._numeric = True, False  # the others: of the same kind; some are numbers

    def add(self, values: pa.ChunkedArray) -> None:
        """Some more values, without gaps."""
        values = plain(values)
        try:
            new = pc.unique(values)
        except pa.ArrowNotImplementedError:  # lists and the like: one is as good as many
            self._held = self._held or values.slice(0, 1).combine_chunks()
            return
        if self._kind is not None:
            self._compare(new)
            return
        held = new if self._held is None else pc.unique(pa.concat_arrays([self._held, new]))
        count = fitting(held, self._most)
        self._held = held.slice(0, count)
        if count < len(held):
            self._kind = kind_of(self._column(self._held)).name
            self._compare(held.slice(count))

    def _compare(self, values: pa.Array) -> None:
        """Values that are not held."""
        column = self._column(values)
        if is_text(values.type) and len(values):
            numeric = numeric_among(pc.utf8_trim_whitespace(values), self.signs or (".", ""))
            self._numeric = self._numeric or bool(numeric.any())
            alike = numeric.all() if self._kind == "numeric" else kind_called(str(self._kind)).takes(column)
            self._alike = self._alike and bool(alike)

    @property
    def complete(self) -> bool:
        """Whether all values are held."""
        return self._kind is None

    def _column(self, values: pa.Array) -> Column:
        held = pa.chunked_array([values])
        text = held if self.signs is not None and is_text(held.type) else None
        return Column(self._name, nw.from_native(held, series_only=True), text, self.signs or (".", ""))

    def without(self, wish: Wish) -> Column | None:
        """What is held but the gaps; None where there is none."""
        return None if self._held is None else Whole(self._column(self._held)).without(wish)

    def kind(self) -> str:
        """What the column is taken for."""
        column = self.without(Wish())
        if column is None:
            return NONE
        if self._kind == "numeric" and is_text(column.values().type):
            return "numeric" if self._alike else MIXED
        name = Whole(column).kind()
        if self._kind is None or name in (MIXED, NONE):
            return name
        if self._numeric:
            return MIXED
        return name if self._alike else "nominal"

    def looks(self) -> str:
        """What the values that are held are taken for before they are read."""
        return NONE if self._held is None else Whole(self._column(self._held)).looks()

    def reads(self, wish: Wish) -> bool:
        """Whether it can be read as is wished."""
        return self._held is not None and Whole(self._column(self._held)).reads(wish)

    def texts(self) -> list[str]:
        """The different texts that are held."""
        column = self.without(Wish())
        return [] if column is None else texts_of(column)


def layouts_reading(asked: "Whole | Different") -> tuple[str, ...]:
    """The kinds of dates that read a column that none reads by itself: days or months first, short years."""
    first = next(iter(asked.texts()), "")
    if not asked.complete or not re.fullmatch(_DATES, first):
        return ()
    return tuple(kind for kind in _LAYOUTS if asked.reads(Wish(kind=kind)))


def fitting(values: pa.Array, most: int) -> int:
    """How many of the values are held."""
    count = min(len(values), most)
    if is_text(values.type) and most == MOST:
        room = np.cumsum(pc.binary_length(values.slice(0, count)).to_numpy(zero_copy_only=False))
        return max(1, int(np.searchsorted(room, _BYTES, side="right")))
    return count


def words_for_gaps(texts: Sequence[str], signs: tuple[str, str]) -> tuple[str, ...]:
    """The texts beside numbers, if all of them say that a number is missing; none if some mean something else."""
    number = re.compile(number_pattern(*signs))
    odd = [text for text in texts if not number.match(text)]
    if len(odd) > _WORDS or len(odd) == len(texts):
        return ()
    missing = all(text.lower() in GAPS or re.match(INFINITE, text.lower()) for text in odd)
    return tuple(sorted(odd)) if missing else ()
