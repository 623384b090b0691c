"""What values a parameter may take: declared once per method, checked in one place.

A method lists its parameters as `_parameters = {"k": Whole(1)}`; the estimator base checks them all
before any work starts.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import inf, nan
from numbers import Integral, Real
from typing import Literal, Protocol

from shoal.errors import ShoalError, nearest_name

Aggregate = Literal["mean", "median", "mode", "interval", "set", "share", "ancestor"]
"""The common value of a group; "mean" is what each kind of attribute has for a mean."""
Aggregates = Aggregate | Mapping[str, Aggregate]
"""One for all columns, or some by their names; that of the others stands under `EVERY`."""
EVERY = ""
Scaling = Literal["zscore", "range", "robust", "none"]
GapPolicy = Literal["error", "drop", "pattern", "blank", "value", "impute"]
"""What is done about missing values."""
AGGREGATES: tuple[Aggregate, ...] = ("mean", "median", "mode", "interval", "set", "share", "ancestor")
PersonRows = Literal["together", "apart"]
"""Whether all rows of a person are in one group, or only what is constant for a person is the same in them."""
HouseholdK = Literal["households", "persons"]
"""What k counts where households are kept together."""
SmallStrata = Literal["error", "drop"]
"""What is done about strata of fewer than k."""
ReleasedWeight = Literal["common", "keep", "round", "drop"]
"""What becomes of the sampling weights in the release."""
GAP_POLICIES: tuple[GapPolicy, ...] = ("error", "drop", "pattern", "blank", "value", "impute")
SCALINGS: tuple[Scaling, ...] = ("zscore", "range", "robust", "none")
PERSON_ROWS: tuple[PersonRows, ...] = ("together", "apart")
HOUSEHOLD_K: tuple[HouseholdK, ...] = ("households", "persons")
SMALL_STRATA: tuple[SmallStrata, ...] = ("error", "drop")
RELEASED_WEIGHTS: tuple[ReleasedWeight, ...] = ("common", "keep", "round", "drop")

Progress = Callable[[int, int], None]
"""Called now and then with (records grouped so far, records in all)."""


Names = Iterable[str] | str | None
"""Names of columns, or a single one."""


class Rule(Protocol):
    """One parameter's rule: returns the checked value or raises an error that says what is allowed."""

    def check(self, name: str, value: object) -> object:
        """The value, if it is allowed."""
        ...


@dataclass(frozen=True)
class Whole:
    """A whole number of at least `minimum`, and at most `maximum` where there is one."""

    minimum: int
    maximum: int | None = None

    def check(self, name: str, value: object) -> int:
        """The value as an int; True and 2.0 are not whole numbers here, they are mistakes."""
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise ShoalError(f"{name} must be a whole number of at least {self.minimum}, not {value!r}")
        whole = int(value)
        if whole < self.minimum:
            raise ShoalError(f"{name} must be at least {self.minimum}, not {whole}")
        if self.maximum is not None and whole > self.maximum:
            raise ShoalError(f"{name} must be at most {self.maximum}, not {whole}")
        return whole


@dataclass(frozen=True)
class Number:
    """A finite number of at least `minimum`, and at most `maximum` where there is one."""

    minimum: float
    maximum: float | None = None

    def check(self, name: str, value: object) -> float:
        """The value as a float."""
        number = nan
        if isinstance(value, Real) and not isinstance(value, bool):
            with suppress(OverflowError):
                number = float(value)
        if self.maximum is not None and not self.minimum <= number <= self.maximum:
            raise ShoalError(f"{name} must be a number from {self.minimum:g} to {self.maximum:g}, not {value!r}")
        if not self.minimum <= number < inf:
            raise ShoalError(f"{name} must be a number of at least {self.minimum:g}, not {value!r}")
        return number


@dataclass(frozen=True)
class Maybe:
    """What another rule allows, or None."""

    rule: Rule

    def check(self, name: str, value: object) -> object:
        """None, or the value as the other rule has it."""
        return None if value is None else self.rule.check(name, value)


@dataclass(frozen=True)
class Seed:
    """A whole number of at least 0, or None."""

    def check(self, name: str, value: object) -> int | None:
        """The value as an int or None; a generator cannot be written down, so it is none."""
        return None if value is None else Whole(0).check(name, value)


@dataclass(frozen=True)
class Key:
    """32 hexadecimal digits, or None."""

    def check(self, name: str, value: object) -> str | None:
        """The digits in small letters; an error does not repeat a key that is nearly right."""
        if value is None:
            return None
        if not isinstance(value, str):
            raise ShoalError(f"{name} must be a text of 32 hexadecimal digits, not {type(value).__name__}")
        if not re.fullmatch("[0-9a-fA-F]{32}", value):
            raise ShoalError(
                f"{name} must have 32 hexadecimal digits (0 to 9, a to f) and nothing else; "
                f"these are {len(value)} characters"
            )
        return value.lower()


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def check(self, name: str, value: object) -> bool:
        """The value; the text "no" would be true."""
        if not isinstance(value, bool):
            raise ShoalError(f"{name} must be True or False, not {value!r}")
        return value


@dataclass(frozen=True)
class OneOf:
    """One of a few names."""

    names: tuple[str, ...]

    def check(self, name: str, value: object) -> str:
        """The value, if it is one of the names."""
        if isinstance(value, str) and value in self.names:
            return value
        hint = nearest_name(value, self.names) if isinstance(value, str) else ""
        raise ShoalError(f"{name} must be one of {', '.join(self.names)}, not {value!r}{hint}")


def names_of(names: Names) -> tuple[str, ...]:
    """A tuple of column names; a single one may be given as it is."""
    if names is None:
        return ()
    listed = (names,) if isinstance(names, str) else tuple(names) if isinstance(names, Iterable) else (names,)
    odd = [name for name in listed if not isinstance(name, str)]
    if odd:
        raise ShoalError(
            f"columns are named by text, not by {odd[0]!r}; rename the columns first, for example by "
            "table.columns = table.columns.map(str)"
        )
    return listed
