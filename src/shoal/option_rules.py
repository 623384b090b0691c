"""What options of a release are checked by, and how they are read from texts of the command line.

`Settings` lists the options. Here is what any of them is made of: a rule that checks its value, a reader that
makes the value from the texts after its flag, and `Option`, which keeps both with the words about it.
"""

import csv
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from numbers import Integral
from typing import Any

from shoal.errors import ShoalError
from shoal.parameters import EVERY, Number, Rule, Whole, names_of

HEAVIEST = 1e100
"""The largest weight of an attribute: beyond, squared distances overflow."""


@dataclass(frozen=True)
class Anything:
    """No rule of its own: what is wrong with the value is seen beside other settings or the table."""

    def check(self, name: str, value: object) -> object:
        """The value."""
        return value


@dataclass(frozen=True)
class AttributeWeights:
    """Numbers of at least 0 by the names of columns."""

    def check(self, name: str, value: object) -> dict[str, float]:
        """The value, copied; whether the columns are quasi-identifiers is seen beside the roles."""
        if not isinstance(value, Mapping):
            called = type(value).__name__
            raise ShoalError(f"{name} are given as a dictionary from column name to number, not as {called}")
        rule = Number(0, HEAVIEST)
        return {column: rule.check(f"the weight of {column!r}", weight) for column, weight in value.items()}


def labelled(name: str, column: str) -> str:
    """What an option of a column is called; that of all columns stands under no name."""
    return name if column == EVERY else f"{name} of {column!r}"


@dataclass(frozen=True)
class ByColumn:
    """A value for each of some columns, by their names; or one for all where that makes sense."""

    each: Rule
    example: str
    for_all: bool = False

    def check(self, name: str, value: object) -> object:
        """The value, copied; what stands for all columns stands under no name."""
        if isinstance(value, Mapping):
            return {column: self.each.check(labelled(name, column), part) for column, part in value.items()}
        if not self.for_all:
            raise ShoalError(f"{name} are given by the names of columns, such as {self.example}, not as {value!r}")
        return {EVERY: self.each.check(name, value)}


@dataclass(frozen=True)
class Either:
    """One value for all columns, or some by their names."""

    each: Rule

    def check(self, name: str, value: object) -> object:
        """The value, copied."""
        if isinstance(value, Mapping):
            found = {column: self.each.check(labelled(name, column), part) for column, part in value.items()}
            return found if set(found) != {EVERY} else found[EVERY]
        return self.each.check(name, value)


@dataclass(frozen=True)
class Texts:
    """Several texts; numbers are taken as such."""

    def check(self, name: str, value: object) -> tuple[str, ...]:
        """The value as a tuple."""
        plain = str | int | float | date | time | timedelta
        if isinstance(value, plain):
            value = (value,)
        if not isinstance(value, Sequence) or not all(isinstance(part, plain) for part in value):
            raise ShoalError(f"{name} must be a list of values, not {value!r}")
        return tuple(str(part) for part in value)


@dataclass(frozen=True)
class Order(Texts):
    """Several texts, each once."""

    def check(self, name: str, value: object) -> tuple[str, ...]:
        """The value as a tuple; spaces around a text do not matter."""
        texts = super().check(name, value)
        counts = Counter(text.strip() for text in texts)
        if twice := [text for text, count in counts.items() if count > 1]:
            raise ShoalError(f"{name} has {twice[0]!r} twice; a value has one place in an order, so name it once")
        return texts


@dataclass(frozen=True)
class Lengths:
    """Several whole numbers, each larger than the one before."""

    def check(self, name: str, value: object) -> tuple[int, ...]:
        """The value as a tuple."""
        if not isinstance(value, Sequence) or isinstance(value, str) or not value:
            raise ShoalError(f"{name} must be a list of lengths such as 1, 3, 5, not {value!r}")
        lengths = tuple(Whole(1).check(name, part) for part in value)
        if list(lengths) != sorted(set(lengths)):
            raise ShoalError(f"{name} must rise, such as 1, 3, 5, not {value!r}")
        return lengths


@dataclass(frozen=True)
class TaxonomyRule:
    """A taxonomy: a file, or a tree as a dictionary."""

    def check(self, name: str, value: object) -> object:
        """The taxonomy, read."""
        from shoal.attributes import Taxonomy, read_taxonomy

        if isinstance(value, Taxonomy):
            return value
        if isinstance(value, Mapping) and set(value) == {"nodes", "parents", "lengths"}:
            return Taxonomy.from_dict(dict(value))
        return read_taxonomy(value)


@dataclass(frozen=True)
class Places:
    """Pairs of columns: a latitude and a longitude."""

    def check(self, name: str, value: object) -> tuple[tuple[str, str], ...]:
        """The value as a tuple of pairs."""
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise ShoalError(f"{name} are given as pairs of columns, latitude and longitude, not as {value!r}")
        if len(value) == 2 and all(isinstance(part, str) for part in value):
            value = [value]
        for pair in value:
            if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
                raise ShoalError(f"a place is given as two columns, latitude and longitude, not as {pair!r}")
        return tuple((str(pair[0]), str(pair[1])) for pair in value)


@dataclass(frozen=True)
class Text:
    """A text that is not empty."""

    def check(self, name: str, value: object) -> str:
        """The value."""
        if not isinstance(value, str) or not value:
            raise ShoalError(f"{name} must be a text, not {value!r}")
        return value


@dataclass(frozen=True)
class Merging:
    """Names of strata by names of strata; numbers are taken as their texts."""

    def check(self, name: str, value: object) -> dict[str, str]:
        """The value, copied; spaces around a name do not matter."""
        if not isinstance(value, Mapping):
            example = f"{name}={{'Isle': 'Coast'}}"
            raise ShoalError(f"{name} are given by the names of strata, such as {example}, not as {value!r}")
        found: dict[str, str] = {}
        for stratum, into in value.items():
            (first,), (second,) = (Texts().check(f"a stratum of {name}", (each,)) for each in (stratum, into))
            if not first.strip() or not second.strip():
                raise ShoalError(f"{name} has a stratum without a name ({stratum!r}: {into!r}); name it")
            if found.setdefault(first.strip(), second.strip()) != second.strip():
                raise ShoalError(f"{name} says twice what becomes of {first.strip()!r}; say it once")
        return found


@dataclass(frozen=True)
class ColumnNames:
    """Names of columns, or a single one."""

    def check(self, name: str, value: object) -> tuple[str, ...]:
        """The value as a tuple, each name once."""
        if value is not None and (isinstance(value, Mapping) or not isinstance(value, str | Iterable)):
            raise ShoalError(f"{name} must be the name of a column or a list of names, not {value!r}")
        names = names_of(value)
        if twice := [column for column, count in Counter(names).items() if count > 1]:
            raise ShoalError(f"{name} lists {twice[0]!r} twice; list it once")
        return names


@dataclass(frozen=True)
class FilePath:
    """Where a file stands, or None."""

    def check(self, name: str, value: object) -> str | None:
        """The path as a text."""
        if value is None:
            return None
        if not isinstance(value, str | os.PathLike) or not str(value):
            raise ShoalError(f"{name} must be the path of a file, not {value!r}")
        return str(value)


Combination = tuple[int, tuple[str, ...]]
"""A larger k, and the columns that it is asked for."""


@dataclass(frozen=True)
class Combinations:
    """Pairs of a whole number and column names."""

    def check(self, name: str, value: object) -> tuple[Combination, ...]:
        """The value as a tuple of pairs."""
        example = f"{name}=[(10, ['age', 'sex'])]"
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise ShoalError(f"{name} is given as pairs of k and columns, such as {example}, not as {value!r}")
        if len(value) == 2 and isinstance(value[0], Integral):
            value = [value]
        found = []
        for pair in value:
            if not isinstance(pair, Sequence) or isinstance(pair, str) or len(pair) != 2:
                raise ShoalError(f"{name} is given as pairs of k and columns, such as {example}, not as {pair!r}")
            columns = ColumnNames().check(f"the columns of {name}", pair[1])
            if not columns:
                raise ShoalError(f"{name} names no columns for k={pair[0]!r}; give some, such as {example}")
            found.append((Whole(2).check(f"k in {name}", pair[0]), columns))
        return tuple(found)


@dataclass(frozen=True)
class Option:
    """What is to be known of a setting wherever it appears."""

    rule: Rule
    help: str
    """For the command line."""
    flag: str
    metavar: str = ""
    """Empty for a flag that stands alone."""
    read: Callable[[Sequence[Any]], Any] = lambda texts: only(texts)
    """The value from the texts after the flag, as often as it was given."""
    label: str = ""
    """What a report calls it; empty where it does not show it."""
    show: Callable[[Any], str] = str
    packed: Callable[[Any], Any] = lambda value: value
    """As a manifest holds it,"""
    unpacked: Callable[[Any], Any] = lambda value: value
    """and back."""
    before: str = ""
    """What older versions call it."""
    required: bool = False
    """Whether a manifest without it is none; those of older versions lack what came later."""
    older: Any = None
    """What those that lack it were made with, where that is not the default."""
    secret: bool = False
    """Whether it is to be shown nowhere."""
    flags: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Several flags for one setting, with what stands after each and its help; `read` then gets pairs of these
    flags and texts."""

    def read_from(self, texts: Sequence[str]) -> Any:
        """The value from the command line; what takes one text is given once."""
        try:
            return self.read(texts)
        except RepeatedError:
            shown = "" if self.secret else f" ({', '.join(map(repr, texts))})"
            raise ShoalError(f"{self.flag} is given {len(texts)} times{shown}; give it once") from None


class RepeatedError(ShoalError):
    """Several texts where one is wanted."""


def only(texts: Sequence[str]) -> str:
    """The one text that was given."""
    if len(texts) > 1:
        raise RepeatedError(f"one value is wanted, not {len(texts)}")
    return texts[0]


def option_field(default: Any, rule: Rule, help: str, flag: str, **more: Any) -> Any:  # noqa: A002
    """A field of `Settings` that users can set."""
    made = Option(rule, help, flag, **more)
    if isinstance(default, dict):
        return field(default_factory=dict, metadata={"option": made})
    return field(default=default, metadata={"option": made}, repr=not made.secret)


def pairs(given: Sequence[str], what: str, example: str) -> dict[str, str]:
    """Names and values from options such as age=2, each name once."""
    found: dict[str, str] = {}
    for item in given:
        name, sign, value = item.rpartition("=")
        if not sign or not name:
            article = "an" if what[:1] in "aeiou" else "a"
            raise ShoalError(f"{article} {what} is given as {example}, not {item!r}")
        if name in found:
            raise ShoalError(f"two {plural(what)} for {name!r}; give one")
        found[name] = value
    return found


def plural(what: str) -> str:
    """Several of them: weights, prefixes, taxonomies, strata."""
    for end, ends in (("um", "a"), ("x", "xes"), ("y", "ies")):
        if what.endswith(end):
            return what.removesuffix(end) + ends
    return f"{what}s"


def weights_read(given: Sequence[str]) -> dict[str, float]:
    """Attribute weights from options such as age=2."""
    weights = {}
    for name, value in pairs(given, "weight", "column=number, such as age=2").items():
        try:
            weights[name] = float(value)
        except ValueError:
            raise ShoalError(f"the weight of {name!r} must be a number, not {value!r}") from None
    return weights


def digits_read(given: Sequence[str]) -> dict[str, int] | int | None:
    """Digits from options such as 2, for all columns, or age=0, for one."""
    example = "a number for all columns or column=number for one, such as income=-2"
    found: dict[str, int] = {}
    for item in given:
        name, _, value = item.rpartition("=")
        if name in found or (found and "" in (name, *found)):
            raise ShoalError(f"two digits for the same column ({item!r}); give {example}, each column once")
        try:
            found[name] = int(value)
        except ValueError:
            raise ShoalError(f"digits are given as {example}, not {item!r}") from None
    return found.get("", found or None)


def one_or_several(given: Sequence[str], what: str, example: str, at_first: bool = False) -> dict[str, str]:
    """Values from options such as value, for all columns, or age=value, for one; those of all under no name.

    The name ends at the last "=", or at the first one where values may hold it.
    """
    found: dict[str, str] = {}
    for item in given:
        name, sign, value = item.partition("=") if at_first else item.rpartition("=")
        name, value = (name, value) if sign else (EVERY, item)
        if name in found:
            raise ShoalError(f"two {what} for {name or 'all columns'}; give one, such as {example}")
        found[name] = value
    return found


def gap_values_read(given: Sequence[str]) -> dict[str, list[str]]:
    """What means a missing value, from options such as -9,unknown and age=-9."""
    return {name: listed(text) for name, text in one_or_several(given, "lists", "age=-9", at_first=True).items()}


def listed(text: str) -> list[str]:
    """Values with commas between them; one that holds a comma stands in double quotes."""
    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True), [])]


def lengths_read(given: Sequence[str]) -> dict[str, list[int]]:
    """Lengths from options such as diagnosis=1,3,5."""
    found = {}
    for name, value in pairs(given, "prefix", "column=lengths, such as diagnosis=1,3,5").items():
        try:
            found[name] = [int(part) for part in listed(value)]
        except ValueError:
            raise ShoalError(f"the prefix lengths of {name!r} must be whole numbers, not {value!r}") from None
    return found


def combinations_read(given: Sequence[str]) -> list[tuple[int, list[str]]]:
    """Larger k for some columns, from options such as k=10:age,sex."""
    found = []
    for item in given:
        number, sign, columns = item.removeprefix("k=").partition(":")
        if not sign or not number.strip().isdigit():
            raise ShoalError(f"a larger k for some columns is given as k=10:age,sex, not {item!r}")
        found.append((int(number), listed(columns)))
    return found


@dataclass(frozen=True)
class Models:
    """Privacy models, or a single one."""

    def check(self, name: str, value: object) -> object:
        """The models as a tuple."""
        from shoal.privacy.models import Model

        found = (value,) if isinstance(value, Model) else value
        if not isinstance(found, Sequence) or not all(isinstance(each, Model) for each in found):
            raise ShoalError(
                f"{name} are given as a list of models, such as [LDiversity(3, on='diagnosis')], not as {value!r}"
            )
        if twice := [str(each) for each, count in Counter(map(str, found)).items() if count > 1]:
            raise ShoalError(f"{name} list {twice[0]} twice; list it once")
        return tuple(found)


def names_read(given: Sequence[str]) -> list[str]:
    """Names of columns with commas between them, from one option or more."""
    found = []
    for item in given:
        names = listed(item)
        if not names or "" in names:
            raise ShoalError(f"{item!r} lacks the name of a column; give names with commas between them")
        found += names
    return found


def shown_by_column(value: Mapping[str, Any]) -> str:
    """Values by column, in one line."""
    return ", ".join(f"{name}: {part}" if name else str(part) for name, part in value.items())


def number_read(given: Sequence[str]) -> int:
    """A whole number from its text."""
    text = only(given)
    try:
        return int(text)
    except ValueError:
        raise ShoalError(f"a whole number is wanted, not {text!r}") from None


def seed_read(given: Sequence[str]) -> int:
    """A seed from its text."""
    text = only(given)
    try:
        return int(text)
    except ValueError:
        raise ShoalError(f"the seed must be a whole number of at least 0, not {text!r}") from None
