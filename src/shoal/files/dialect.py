"""How a CSV file is written: its encoding, delimiter, quotes, decimal sign and line ends.

Detected from the content wherever the caller has not said so.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from shoal.errors import ShoalError, some
from shoal.files.spelling import number_pattern
from shoal.files.words import GAPS

_DELIMITERS = (",", ";", "\t", "|")
_QUOTES = ('"', "'")
_OTHER = {".": ",", ",": "."}
_NUMBERS = {sign: re.compile(number_pattern(sign, other)) for sign, other in _OTHER.items()}
SAMPLE = 200_000
"""Characters by which a file is judged."""

LONG = 1_000_000
"""The same where it has long lines: fewer than _FEW_LINES in SAMPLE."""

_FEW_LINES = 20

_CLOCK = re.compile(r"([01]?\d|2[0-4])\.[0-5]\d|([0-2]\d|3[01])\.(0[1-9]|1[0-2])\.?")
"""The time of a day or a day of a month, such as 8.30 or 24.12."""


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    `thousands` is empty where nothing in the file tells whether 1.633 is 1633. `names` are those of the columns
    where they are not those of the header.
    """

    delimiter: str = ","
    quote: str = '"'
    encoding: str = "utf-8"
    decimal: str = "."
    newline: str = "\n"
    thousands: str = ""
    header: bool = True
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "decimal"):
            check_sign(name, getattr(self, name))
        if self.delimiter == self.quote:
            raise ShoalError(f"delimiter {self.delimiter!r} is also the quote")
        if self.decimal == self.thousands:
            raise ShoalError(f"decimal sign {self.decimal!r} is also the thousands separator")
        if self.names is not None:
            object.__setattr__(self, "names", tuple(self.names))

    @property
    def signs(self) -> tuple[str, str]:
        """The decimal sign and the thousands separator."""
        return self.decimal, self.thousands

    def said(self) -> dict[str, Any]:
        """All that a reader must be told to read the file in this way."""
        whole = asdict(self)
        del whole["newline"]
        return whole


@dataclass(frozen=True)
class Said:
    """What the caller says about a CSV file; None where Shoal is to find it out.

    delimiter, quote, encoding, decimal, thousands : str
        How the file is written.
    header : bool
        Whether the first line names the columns.
    names : list of str
        What to call the columns, in their order; without a header they are column1, column2 ...
    number_names : bool
        Give columns of the same name a number: zip, zip_2.
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    header: bool | None = None
    names: tuple[str, ...] | None = None
    number_names: bool | None = None

    def __post_init__(self) -> None:
        for name in ("delimiter", "quote", "decimal", "thousands"):
            if sign := getattr(self, name):
                check_sign(name, sign)
        for name in ("delimiter", "quote", "decimal"):
            if getattr(self, name) == "":
                check_sign(name, "")
        for name in ("header", "number_names"):
            if getattr(self, name) not in (None, True, False):
                raise ShoalError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.names is not None:
            object.__setattr__(self, "names", checked_names(self.names))

    @classmethod
    def names_of(cls) -> list[str]:
        """All that can be said."""
        return [each.name for each in fields(cls)]

    def given(self) -> dict[str, Any]:
        """What was said."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def checked_names(given: Iterable[str]) -> tuple[str, ...]:
    """Names for columns, each of them once."""
    names = (given,) if isinstance(given, str) else tuple(given)
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise ShoalError(f"columns are named by text, not by {odd[0]!r}")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ShoalError(f"names gives {some(map(repr, twice))} twice; give every column a name of its own")
    return names


def check_sign(name: str, sign: str) -> None:
    """A delimiter, quote or decimal sign is one plain character."""
    if len(sign) != 1 or not sign.isascii():
        raise ShoalError(f"{name} must be one character of ASCII, not {sign!r}")
    if sign.isalnum() or sign in "\r\n" or (name in ("decimal", "thousands") and sign in "+-"):
        raise ShoalError(f"{name} cannot be {sign!r}: numbers or lines are made of it; give another sign")


def detect(text: str, encoding: str, said: Said) -> Dialect:
    """The dialect of a text, with what was said about it."""
    delimiter, quote = said.delimiter, said.quote
    sample, cut = sample_of(text)
    fits = {
        separator: mark
        for separator in ([delimiter] if delimiter else _DELIMITERS)
        if (mark := quote_that_fits(sample, separator, quote, cut))
    }
    columns = {sign: len(parsed(sample, sign, mark, cut)[0]) for sign, mark in fits.items()}
    several = [sign for sign, count in columns.items() if count > 1]
    if len(several) > 1:
        raise ShoalError(
            f"the fields may be divided by {' or by '.join(map(repr, several))}: with each of them all lines have "
            "as many fields; say which it is with --delimiter (delimiter= in Python)"
        )
    first = re.split("[\r\n]", sample.lstrip(), maxsplit=1)[0]
    likely = delimiter or max(_DELIMITERS, key=first.count)
    if several or (fits and (delimiter or likely not in first)):
        separator = max(fits, key=columns.__getitem__)
        mark = fits[separator]
    else:  # not rectangular: the reader will say where
        separator, mark = likely, quote or '"'
    decimal, thousands = signs_of(parsed(sample, separator, mark, cut), said)
    return Dialect(separator, mark, encoding, decimal, line_end(sample, mark), thousands)


def sample_of(text: str) -> tuple[str, bool]:
    """The start of a text, and whether it ends within a line."""
    start = text[:SAMPLE]
    most = LONG if max(map(start.count, "\r\n")) < _FEW_LINES else SAMPLE
    return text[:most], len(text) > most


def quote_that_fits(sample: str, delimiter: str, quote: str | None, cut: bool) -> str | None:
    """The quotes with which all rows have as many fields; those that hold delimiters together where both do."""
    fits = {
        mark: len(rows[0])
        for mark in ([quote] if quote else _QUOTES)
        if (rows := parsed(sample, delimiter, mark, cut)) and is_rectangular(rows) and not still_quoted(rows)
    }
    return min(fits, key=fits.__getitem__) if fits else None


def parsed(sample: str, delimiter: str, quote: str, cut: bool) -> list[list[str]]:
    """The rows of a sample that are not blank, without the last one where the sample was cut."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter, quotechar=quote, strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(row for row in reader if row)
    except csv.Error:  # where the sample ends within quotes, or these are not the quotes
        return rows if cut else []
    return rows[:-1] if cut else rows


def is_rectangular(rows: list[list[str]]) -> bool:
    """Whether all rows have as many fields."""
    return len({len(row) for row in rows}) == 1


def still_quoted(rows: list[list[str]]) -> bool:
    """Whether some column still wears quotes in every record, so that the other quote is the right one."""
    return any(
        len(rows) > 1 and all(len(value) > 1 and value[0] == value[-1] and value[0] in _QUOTES for value in column)
        for column in zip(*rows[1:], strict=True)
    )


def line_end(sample: str, quote: str) -> str:
    """What ends the lines; within quotes there may be anything."""
    quoted = re.escape(quote)
    bare = re.sub(f"{quoted}[^{quoted}]*(?:{quoted}|$)", "", sample)
    seen = bare if "\n" in bare or "\r" in bare else sample
    if "\r\n" in seen:
        return "\r\n"
    return "\r" if "\r" in seen and "\n" not in seen else "\n"


def signs_of(rows: list[list[str]], said: Said) -> tuple[str, str]:
    """The decimal sign and the thousands separator; the latter is empty where neither was said nor is shown.

    The columns decide: a number such as 0.5, 1.50 or 1,234,567 can be read in one way only. Where columns
    contradict each other, or none of them tells, numbers such as 1.633 are in doubt.
    """
    decimal, thousands = said.decimal, said.thousands
    if decimal is None and thousands in _OTHER:
        decimal = _OTHER[thousands]
    if decimal is None:
        shown = {sign for column in zip(*rows[1:], strict=False) if (sign := shown_sign(column))}
        decimal = "," if shown == {","} else "."
        if len(shown) != 1:
            return decimal, thousands or ""
    return decimal, _OTHER.get(decimal, "") if thousands is None else thousands


def shown_sign(column: Sequence[str]) -> str | None:
    """The decimal sign of a column, if some of its numbers can be read with that one only.

    None for text, and for times and days such as 8.30 and 24.12: their point is no decimal sign.
    """
    values = [bare for value in column if (bare := value.strip()).lower() not in GAPS]
    if values and all(map(_CLOCK.fullmatch, values)):
        return None
    fits = {sign: [bool(pattern.match(value)) for value in values] for sign, pattern in _NUMBERS.items()}
    only = [
        sign
        for sign, other in _OTHER.items()
        if any(a and not b for a, b in zip(fits[sign], fits[other], strict=True))
    ]
    return only[0] if len(only) == 1 and 2 * sum(fits[only[0]]) >= len(values) else None
