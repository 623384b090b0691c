"""The role that a column may have in a release, from its name and from what it holds, and why."""

import shlex
from dataclasses import dataclass, field
from typing import Any, Literal

from shoal.attributes.quantities import Finding, head_of
from shoal.files.words import (
    CONFIDENTIAL,
    NAMES,
    NAMES_AT_THE_END,
    QUASI,
    matched,
    numbering_words,
    parts_of,
)

Role = Literal["identifier", "quasi-identifier", "confidential", "drop", "other"]
"""Columns to drop never leave either: people are recognised by them, and they cannot be made alike."""

Holds = Literal["numbers", "text", "dates", "other"]

FEW = 20
"""A column of so few different values names nobody, and may be what is to be predicted."""

MANY = 1000
"""A group hardly agrees on one of more different texts than these."""

LONG = 80
"""Letters beyond which a text is a sentence, and no category."""

_TOO_MANY = "a group would hardly agree on one; put something coarser in its place to keep it"
_FREE = "comment comments note notes description remark remarks memo annotation annotations freetext"
_ROWS = "unnamed index row rows rownames rowid rownum rownumber rn"
_TARGETS = "target outcome survived default defaulted churn churned"
_TARGETS_ALONE = "class y label response"


@dataclass(frozen=True)
class Held:
    """What a column holds, as far as a role depends on it."""

    name: str
    place: int  # among the columns, from 0
    holds: Holds
    records: int  # that have a value
    missing: int
    distinct: int
    more: bool  # than `distinct` different values
    all_different: bool
    whole: bool = False  # whole numbers
    dense: bool = False  # with none left out
    endless: bool = False  # infinity among them
    classes: bool = False  # text such as <=50K
    in_doubt: bool = False  # numbers such as 1.633 that can be read in two ways
    finding: Finding | None = None  # why the numbers are no quantities
    kind: str = "numeric"  # that it is taken for
    other: str = ""  # a kind that suits it better, or that reads it at all, where it is asked for
    words: tuple[str, ...] = ()  # texts beside numbers that mean a missing one
    lengths: tuple[int, ...] = ()  # of the beginnings of its codes that are groups of codes
    gaps: tuple[str, ...] = ()  # how missing values are written, but for empty cells
    layouts: tuple[str, ...] = ()  # kinds of dates that read it, where nothing tells which is right
    numerals: bool = False  # numbers that the table holds as text
    longest: int = 0  # letters of the longest text

    @property
    def is_few(self) -> bool:
        """Whether there are few different values, each of them in several records."""
        return not self.more and self.distinct <= FEW and 2 * self.distinct <= self.records

    @property
    def is_free(self) -> bool:
        """Whether a column holds text that somebody wrote freely, by its name or its length."""
        return self.holds == "text" and (self.longest > LONG or matched(self.name, _FREE) is not None)

    @property
    def is_many(self) -> bool:
        """Whether there are so many different texts that a group hardly agrees on one."""
        return self.more or self.distinct > MANY or (self.distinct > FEW and 2 * self.distinct > self.records)

    @property
    def shown(self) -> str:
        """How many different values there are."""
        return f"more than {self.distinct}" if self.more else str(self.distinct)


@dataclass(frozen=True)
class Suggestion:
    """A role, and why; and what `anonymize` must be told about the column then, by the names of the settings."""

    role: Role
    reason: str
    options: dict[str, Any] = field(default_factory=dict)


def suggestion(held: Held) -> Suggestion:
    """What a column may be to a release."""
    if held.distinct == 0 or (held.distinct == 1 and not held.missing):
        return Suggestion("other", "one value only: it tells nobody apart")
    if found := as_name(held) or as_confidential(held):
        return Suggestion(*found)
    return as_number(held) if held.holds == "numbers" else as_text(held)


def as_name(held: Held) -> tuple[Role, str] | None:
    """What names a record, by its name and its values."""
    if is_row_number(held):
        return "identifier", "the numbers of the rows: they name the records"
    if held.finding is not None and held.finding.kind == "counter":
        return "identifier", f"{held.finding.reason}: it names the records"
    may_name = held.holds == "text" or held.whole
    if may_name and not held.is_few and (word := naming_word(held.name)):
        return "identifier", f"called {word!r}: names a person directly"
    if held.holds == "text" and not held.words and not confidential_word(held.name):
        if held.more or (held.all_different and held.records > 1):
            how = f"{held.shown} different texts" if held.more else "a different text in every record"
            return "identifier", f"{how}: names a person directly"
        if held.records >= FEW and 10 * held.distinct >= 9 * held.records:
            return "identifier", "a different text in nearly every record: names a person directly"
    return None


def is_row_number(held: Held) -> bool:
    """Whether a column holds the numbers or the names of the rows, as other programs write them first."""
    if not held.whole or not held.all_different:
        return False
    parts = parts_of(held.name)
    if not parts:  # no name, or one such as ...1
        return True
    if held.place == 0 and parts == ["x"]:
        return held.dense
    return (held.place == 0 or parts == ["unnamed"]) and "".join(parts) in _ROWS.split()


def naming_word(name: str) -> str | None:
    """The word in a column's name by which it names a person; not so in `first_visit` or `account_balance`."""
    parts = parts_of(name)
    if word := matched(name, NAMES):
        return word
    if parts and parts[-1] in NAMES_AT_THE_END.split():
        return parts[-1]
    return numbering_words(parts)


def as_confidential(held: Held) -> tuple[Role, str] | None:
    """What a release is about."""
    about = "what a release is about, not how people are recognised"
    if held.classes:
        return "confidential", f"classes of an amount: {about}"
    target = matched(held.name, _TARGETS) or ("".join(parts_of(held.name)) in _TARGETS_ALONE.split() and held.name)
    if target and not held.more and held.distinct <= FEW:
        return "confidential", f"called {target!r}, {held.distinct} different values: {about}"
    if word := confidential_word(held.name):
        return "confidential", f"called {word!r}: {about}"
    return None


def confidential_word(name: str) -> str | None:
    """The word in a column's name that says what a release is about; not so in `age_at_diagnosis`."""
    return matched("_".join(head_of(name)), CONFIDENTIAL)


def as_number(held: Held) -> Suggestion:
    """A quasi-identifier, if there is a way to read the numbers."""
    called, finding = called_after(held.name), held.finding
    if held.endless:
        return Suggestion("drop", f"{called}infinity among the numbers; take those records out to keep it")
    if finding is None:
        what = "numbers" if held.more or held.distinct > 2 else "values"
        said = f"{called}{held.shown} different {what} may be known to others"
        return as_mass(held, said) if held.other else quasi(said)
    if finding.kind == "time":
        return quasi(f"{called}others may know it; it {finding.reason}")
    if finding.kind == "mark":
        return as_marked(held, finding)
    if finding.kind == "place":
        return as_postcode(held, f"{called}others may know it; it {finding.reason}")
    if finding.kind == "code" and held.is_many:
        return Suggestion("drop", f"{finding.reason}; {_TOO_MANY}")
    if not held.other:
        better = "a year" if finding.kind == "date" else "a quantity"
        return Suggestion("drop", f"{finding.reason}; put {better} in its place to keep it")
    cure = f"{called}{finding.reason}; --kind takes them for {'dates' if finding.kind == 'date' else 'categories'}"
    if finding.marks:
        said = f"{cure}, --gap-values {' and '.join(finding.marks)} for gaps"
        return quasi(said, kinds=held.other, gap_values=(*finding.marks, *held.gaps))
    return quasi(cure, kinds=held.other)


def as_mass(held: Held, known: str) -> Suggestion:
    """Numbers many of which are one value."""
    return quasi(f"{known}; many are one value: --kind takes that for a case of its own", kinds=held.other)


def as_marked(held: Held, finding: Finding) -> Suggestion:
    """Numbers some of which mean something else: a gap, unless they may mean "more" of an amount."""
    known = f"{called_after(held.name)}others may know it; it {finding.reason}"
    if held.other:
        return as_mass(held, known)
    return quasi(f"{known}; --gap-values takes it for a gap", gap_values=(*finding.marks, *held.gaps))


def as_postcode(held: Held, known: str) -> Suggestion:
    """Codes of places: by their beginnings, as categories, or as the numbers that they are."""
    if held.lengths:
        return quasi(f"{known}; --prefix takes codes that begin alike for near ones", prefixes=held.lengths)
    if held.other and not held.is_many:
        return quasi(f"{known}; --kind takes them for categories", kinds=held.other)
    return quasi(known)


def as_text(held: Held) -> Suggestion:
    """A quasi-identifier, if there is a way to read it and people may be alike in it."""
    called = called_after(held.name)
    known = "people are recognised by it" if called else f"{held.shown} different values may be known to others"
    if held.in_doubt:
        return Suggestion("drop", f"{called}numbers that can be read in two ways; say --decimal to keep it")
    if held.layouts:
        ways = " or ".join(f"--kind {shlex.quote(f'{held.name}={each}')}" for each in held.layouts)
        return Suggestion("drop", f"{called}dates that can be read in two ways; say {ways} to keep it")
    if held.words:
        words = " and ".join(map(repr, held.words))
        said = f"{called}others may know it; {words} among the numbers: --gap-values takes that for a gap"
        return quasi(said, gap_values=(*held.words, *held.gaps))
    if held.holds == "dates" and held.kind == "none" and not held.other.startswith("date:"):
        return Suggestion("drop", f"{called}dates or times some of which cannot be read; correct them to keep it")
    if held.kind in ("mixed", "none") and not held.other:
        return Suggestion("drop", f"{called}values that cannot be read; turn them into text or numbers to keep it")
    if held.other.startswith("date:"):
        return quasi(f"{called}{known}; --kind says how the dates are written", kinds=held.other)
    if held.holds == "dates":
        return quasi(f"{called}{known}")
    if held.lengths:
        return as_postcode(held, f"{called}people are recognised by it; codes of places")
    if held.numerals and held.distinct > FEW:
        return Suggestion(
            "drop", f"{called}{held.shown} different numbers as text; turn them into numbers to keep it"
        )
    if held.is_free:
        return Suggestion("drop", f"{called}free text, in which people may be named; read it before you keep it")
    if held.is_many:
        return Suggestion("drop", f"{called}{held.shown} different values; {_TOO_MANY}")
    if held.kind in ("mixed", "none"):
        what = "text beside numbers" if held.kind == "mixed" else "values that cannot be read as they are"
        return quasi(f"{called}{known}; {what}: --kind takes them for categories", kinds=held.other)
    return quasi(f"{called}{known}")


def quasi(reason: str, **options: Any) -> Suggestion:
    """A quasi-identifier."""
    return Suggestion("quasi-identifier", reason, options)


def called_after(name: str) -> str:
    """Which word in a column's name says that people are recognised by it."""
    word = matched(name, QUASI)
    return f"called {word!r}: " if word else ""
