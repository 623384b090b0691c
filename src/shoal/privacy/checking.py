"""Privacy models checked on any table, whoever made it: what every group keeps, and which groups do not."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.parameters import Names, Whole, names_of
from shoal.privacy.coding import Coding, coding_for, column_of
from shoal.privacy.k_anonymity import groups_in
from shoal.privacy.models import Model
from shoal.privacy.persons import sizes_of
from shoal.privacy.rules import Rules
from shoal.table import Column, arrow_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Check:
    """What a model finds in the groups of a table.

    Attributes
    ----------
    model : with the distance that it was measured by
    values : the figure of each group
    broken : the groups that do not keep the promise, by number
    records : the number of records of each group
    gaps : how many records have no value in the column
    """

    model: Model
    values: Float
    broken: Int
    records: Int
    gaps: int

    def __repr__(self) -> str:
        verdict = "holds" if self.holds else f"broken by {len(self.broken)} of {len(self.values)} groups"
        return f"Check({self.model}: {self.model.said(self.value)}, {verdict})"

    @property
    def value(self) -> float:
        """The figure of the group that is worst off."""
        lowest = self.model.at_least and self.model.numbers().kind != "recursive"
        return float(self.values.min() if lowest else self.values.max())

    @property
    def holds(self) -> bool:
        """Whether every group keeps the promise."""
        return not len(self.broken)

    @property
    def records_broken(self) -> int:
        """How many records are in groups that do not."""
        return int(self.records[self.broken].sum())

    def as_dict(self) -> dict[str, Any]:
        """As a manifest holds it."""
        value = None if np.isinf(self.value) else self.value
        return {
            **self.model.as_dict(), "found": value, "holds": self.holds, "groups_broken": len(self.broken),
            "records_broken": self.records_broken, "gaps": self.gaps,
        }  # fmt: skip


def checked_models(
    models: Sequence[Model],
    codings: Sequence[Coding],
    groups: Int,
    people: Int | None = None,
    order: Int | None = None,
) -> list[Check]:
    """What each model finds in groups, given by the number of each record's group; `people` are whom it counts.

    `order` is that of the rows as they leave, which decides ties of ranks.
    """
    if not models:
        return []
    if people is None:
        rules, labels = Rules.of(models, codings, order=order), groups
    else:  # those rows of a person that are in one group
        pairs, units = np.unique(np.stack([groups, people]), axis=1, return_inverse=True)
        rules, labels = Rules.of(models, codings, units.reshape(-1), people, order), pairs[0]
    values, excess = rules.judge(labels)
    records = np.bincount(groups)
    without_harm(rules.models, values, excess)
    return [
        Check(model, values[place], np.flatnonzero(excess[place] > 0), records, codings[place].gaps)
        for place, model in enumerate(rules.models)
    ]


def without_harm(models: Sequence[Model], values: Float, excess: Float) -> None:
    """A group without any sensitive value is no harm, whatever it has: its figure is infinite."""
    for place, model in enumerate(models):
        if model.at_least and model.sensitive_values:
            values[place][(excess[place] == 0) & (values[place] < model.asked)] = np.inf


def check(
    data: Any,
    quasi_identifiers: Names,
    models: "Model | Sequence[Model]",
    *,
    person: str | None = None,
    gap_values: Sequence[str] | None = None,
) -> list[Check]:
    """What privacy models find in the groups of a table that share their quasi-identifiers, whoever made it.

    Parameters
    ----------
    data : pandas, polars or pyarrow table
    quasi_identifiers : column names
        The records that share these are a group.
    models : a model or several, such as ``LDiversity(3, on="diagnosis")``
    person : the name of the column that tells whose row it is; models then count persons
    gap_values : texts that mean a missing value, in the place of NA, NaN, null, ?, a dot and the like
    """
    if isinstance(gap_values, str):
        raise ShoalError(f"gap_values is a list of texts, not the text {gap_values!r}")
    marks = None if gap_values is None else [str(each) for each in gap_values]
    asked = [models] if isinstance(models, Model) else list(models)
    table = arrow_of(data)
    groups = groups_in(table, names_of(quasi_identifiers))
    people = None if person is None else groups_in(table, [person])
    codings = [coding_for(model, plain_column(table, model.on), marks) for model in asked]
    return checked_models(asked, codings, groups, people)


def plain_column(table: pa.Table, name: str) -> Column:
    """A column of an Arrow table; an error where there is none."""
    if name not in table.column_names:
        raise ShoalError(f"there is no column {name!r} for a privacy model")
    return column_of(name, table[name])


@dataclass(frozen=True)
class KAnonymity:
    """k-anonymity: at least k records, or persons, share their quasi-identifiers."""

    k: int

    def __post_init__(self) -> None:
        Whole(1).check("k", self.k)

    def check(self, data: Any, quasi_identifiers: Names, *, person: str | None = None) -> int:
        """The smallest group of a table, in records or in persons; it holds where this is k or more."""
        table = arrow_of(data)
        groups = groups_in(table, names_of(quasi_identifiers))
        return int(sizes_of(groups, None if person is None else groups_in(table, [person])).min())
