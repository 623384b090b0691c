"""The role that a column may have in a release, from its name and from what it holds, and why."""

from dataclasses import dataclass
from typing import Literal

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
"""Columns to drop never leave either: people are recognised by them, and they cannot be averaged."""

Holds = Literal["numbers", "text", "dates", "other"]

FEW = 20
"""A column of so few different values names nobody, and may be what is to be predicted."""

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

    @property
    def is_few(self) -> bool:
        """Whether there are few different values, each of them in several records."""
        return not self.more and self.distinct <= FEW and 2 * self.distinct <= self.records

    @property
    def shown(self) -> str:
        """How many different values there are."""
        return f"more than {self.distinct}" if self.more else str(self.distinct)


def suggestion(held: Held) -> tuple[Role, str]:
    """A role, and why."""
    if held.distinct == 0 or (held.distinct == 1 and not held.missing):
        return "other", "one value only: it tells nobody apart"
    return as_name(held) or as_confidential(held) or as_number(held) or as_text(held)


def as_name(held: Held) -> tuple[Role, str] | None:
    """What names a record, by its name and its values."""
    if is_row_number(held):
        return "identifier", "the numbers of the rows: they name the records"
    if held.finding is not None and held.finding.kind == "counter":
        return "identifier", f"{held.finding.reason}: it names the records"
    may_name = held.holds == "text" or held.whole
    if may_name and not held.is_few and (word := naming_word(held.name)):
        return "identifier", f"called {word!r}: names a person directly"
    if held.holds == "text" and not confidential_word(held.name):
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


def as_number(held: Held) -> tuple[Role, str] | None:
    """A quasi-identifier, if it is a number that can be averaged."""
    if held.holds != "numbers":
        return None
    called, finding = called_after(held.name), held.finding
    if held.missing:
        gaps = f"{held.missing} gaps" if held.missing > 1 else "a gap"
        return "drop", f"{called}{gaps}, which a quasi-identifier must not have; fill them in to keep it"
    if held.endless:
        return "drop", f"{called}infinity among the numbers; take those records out to keep it"
    if finding is not None and finding.kind in ("date", "code"):
        better = "a year or an age" if finding.kind == "date" else "a quantity"
        return "drop", f"{finding.reason}; put {better} in its place to keep it"
    if finding is not None:
        cure = "" if finding.kind == "place" else f"; {finding.cure}"
        return "quasi-identifier", f"{called}others may know it; it {finding.reason}{cure}"
    return "quasi-identifier", f"{called}{held.shown} different numbers may be known to others"


def as_text(held: Held) -> tuple[Role, str]:
    """What cannot be averaged yet."""
    called = called_after(held.name)
    if held.in_doubt:
        return "drop", f"{called}numbers that can be read in two ways; say --decimal to keep it"
    if held.holds == "dates":
        return "drop", f"{called}people are recognised by it, but it is a date; put a year in its place to keep it"
    if called:
        known = f"{called}people are recognised by it"
        return "drop", f"{known}, but it is text; put a quantity in its place to keep it"
    return "drop", f"{held.shown} different values that are no numbers; keep it with -c if nobody can know them"


def called_after(name: str) -> str:
    """Which word in a column's name says that people are recognised by it."""
    word = matched(name, QUASI)
    return f"called {word!r}: " if word else ""
