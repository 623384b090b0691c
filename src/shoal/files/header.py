"""Whether the first line of a CSV file names its columns, or is a record like those below it.

A record that is taken for a header leaves in plain sight as the names of the columns. So a first line is a
header only where that is certain: nothing in it looks like a value, and some names stand over columns of
numbers or dates. Whatever else it looks like, the owner of the file must say what it is.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from shoal.errors import ShoalError
from shoal.files.words import COLUMNS, GAPS, TRUTHS, parts_of

_MONTH = "(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|oct|okt|nov|dec|dez)[a-zä]*"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]\.?m\.?)?(?: ?(?:z|utc|[+-]\d{2}:?\d{2}))?"
_DATE = re.compile(
    rf"\d{{1,4}}([-/.])\d{{1,2}}\1\d{{1,4}}\.?(?:[t ]+{_CLOCK})?|{_CLOCK}|"
    r"\d{4}[-/]\d{1,2}|\d{4}-?[qw]\d{1,2}|"
    rf"\d{{1,2}}\.?[-/ ]?{_MONTH}\.?[-/, ]*\d{{2,4}}(?: +{_CLOCK})?|"
    rf"{_MONTH}\.?[-/ ]*\d{{1,2}}(?:st|nd|rd|th)?,?[-/ ]+\d{{4}}|{_MONTH}\.?[-/ ]*\d{{4}}",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"[+-]?inf(?:inity)?|[+-]?[$€£]? ?[+-]?(?=[0-9.,]*[0-9])[0-9.,]+"
    r"(?:['\u00a0 ][0-9]{3})*(?:[.,][0-9]+)?(?:e[+-]?[0-9]+)? ?[%€]?",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z]+(?:_[A-Za-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+")


def is_gap(value: str) -> bool:
    """Whether a value says that there is none."""
    return value.strip().lower() in GAPS


def is_truth(value: str) -> bool:
    """Whether a value says yes or no."""
    return value.strip().lower() in TRUTHS


def is_number_or_date(value: str) -> bool:
    """Whether a value is a number or a date in any usual spelling."""
    bare = value.strip()
    return bool(_NUMBER.fullmatch(bare) or _DATE.fullmatch(bare))


def shape(value: str) -> str:
    """How a value is written: Self-emp-inc is Aa-a-a, 12 Main St is 0 Aa Aa."""
    signs = ("A" if c.isupper() else "a" if c.isalpha() else "0" if c.isdigit() else c for c in value.strip())
    return re.sub(r"(.)\1+", r"\1", "".join(signs))


@dataclass(frozen=True)
class Column:
    """What stands in the first line, and the values below it."""

    name: str
    below: Sequence[str]

    @cached_property
    def values(self) -> list[str]:
        """The different values below that are not missing."""
        return [value for value in dict.fromkeys(self.below) if not is_gap(value)]

    @cached_property
    def is_typed(self) -> bool:
        """Whether all values below are numbers, dates, or words such as true and no."""
        return bool(self.values) and (all(map(is_truth, self.values)) or all(map(is_number_or_date, self.values)))

    @cached_property
    def is_word(self) -> bool:
        """Whether the name begins as a name does, and not with a digit or a sign."""
        bare = self.name.strip()
        return bare[:1].isalpha() or bare[:1] == "_"

    @cached_property
    def is_known(self) -> bool:
        """Whether columns are called so, and no value below is."""
        if COLUMNS.isdisjoint(parts_of(self.name)):
            return False
        return all(COLUMNS.isdisjoint(parts_of(value)) for value in self.values)

    @cached_property
    def is_identifier(self) -> bool:
        """Whether the name is written as programs write names, such as birth_year, and no value below is."""
        return bool(_IDENTIFIER.fullmatch(self.name.strip())) and not any(
            _IDENTIFIER.fullmatch(value.strip()) for value in self.values
        )

    @cached_property
    def is_telling(self) -> bool:
        """Whether the name is one by its words or by its spelling, and hardly a value of its column."""
        if not (self.is_known or self.is_identifier):
            return False
        return self.is_typed or not self.fits or COLUMNS.issuperset(parts_of(self.name))

    @cached_property
    def fits(self) -> bool:
        """Whether the name could be one of the values below, by the way in which it is written."""
        longest = max((len(value) for value in self.values), default=0)
        return len(self.name) <= 2 * longest and shape(self.name) in set(map(shape, self.values))

    @property
    def against(self) -> str | None:
        """Why the name looks like a value."""
        bare = self.name.strip()
        if not bare:
            return None  # a table of pandas does not name its index
        if is_gap(bare) or is_truth(bare):
            return f"{bare!r} is a value, not a name"
        if is_number_or_date(bare):
            return f"{bare!r} is a {'date' if _DATE.fullmatch(bare) else 'number'}"
        if any(value.strip() == bare for value in self.below):
            return f"{bare!r} occurs again below"
        return None


def check_header(file: str, first: Sequence[str], below: Sequence[Sequence[str]]) -> None:
    """An error that says why, unless the first line of a file certainly names its columns.

    `below` are records with as many fields as the first line has.
    """
    columns = [Column(name, values) for name, values in zip(first, zip(*below, strict=True), strict=True)]
    reason = next((column.against for column in columns if column.against), None)
    if reason:
        raise ShoalError(f"the first line of {file} looks like a record, not like a header ({reason}); {cure()}")
    if not is_header(columns):
        raise unclear(file, doubt(columns))


def unclear(file: str, why: str) -> ShoalError:
    """Nobody can tell."""
    return ShoalError(
        f"it is not clear whether the first line of {file} is a header or a record ({why}); {cure()}"
    )


def check_lone(file: str, line: Sequence[str]) -> None:
    """What to say of a file that has one line only."""
    reason = next((found for name in line if (found := Column(name, ()).against)), None)
    if reason:
        raise ShoalError(f"the only line of {file} looks like a record, not like a header ({reason}); {cure()}")


def is_header(columns: Sequence[Column]) -> bool:
    """Whether names without anything against them are certainly names."""
    over_numbers = [column for column in columns if column.is_typed and column.is_word]
    texts = [column for column in columns if column.values and not column.is_typed]
    telling = [column for column in columns if column.is_telling]
    if not over_numbers:
        worded = [column for column in texts if column.is_telling]
        certain = len(worded) >= 3 or not any(column.fits for column in worded)
        return len(worded) >= 2 and 2 * len(worded) >= len(columns) and certain
    plain = [column for column in over_numbers if column.is_telling or not any(map(str.isdigit, column.name))]
    if len(plain) >= 2:
        return True
    # A record may have a word such as "thirty", or a code such as E11, over the numbers of one column.
    enough = bool(plain) or len(over_numbers) >= 2
    return enough and (bool(telling) or in_a_row(columns) or not texts)


def in_a_row(columns: Sequence[Column]) -> bool:
    """Whether the names are letters that follow each other, such as x and y."""
    letters = "".join(column.name.strip().lower() for column in columns)
    return len(letters) == len(columns) > 1 and letters in "abcdefghijklmnopqrstuvwxyz"


def doubt(columns: Sequence[Column]) -> str:
    """Why it is not clear."""
    if any(column.is_typed for column in columns):
        return "it holds text as the records do"
    return "all columns hold text"


def cure() -> str:
    """What to do."""
    return (
        "say --no-header if it is a record, or --header if it names the columns "
        "(header=False or header=True in Python)"
    )
