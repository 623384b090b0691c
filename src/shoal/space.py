"""Quasi-identifiers to points, and back: the common value of a group.

A method sees points only. What a column holds is the concern of its kind in `shoal.attributes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Attribute, CommonValues, Digits, GapFacts, Squares, Wish, Wishes, apart, attribute_of
from shoal.attributes.numbers import RowsError
from shoal.attributes.patterns import Together
from shoal.attributes.weighing import Weights, never_all_zero
from shoal.errors import ShoalError, for_each, nearest_name, warn
from shoal.parameters import EVERY, Aggregate, Aggregates, Scaling
from shoal.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Cells = Mapping[str, Int]
"""For each quasi-identifier the cell of every record: records of a cell get one common value there."""


@dataclass(frozen=True, eq=False)
class Space:
    """The quasi-identifiers of a table as points."""

    attributes: tuple[Attribute, ...]
    points: Float
    strata: Int | None = None  # the stratum of each record; records with other patterns of gaps may be kept apart
    gaps: tuple[GapFacts, ...] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        scaling: Scaling = "zscore",
        attribute_weights: Mapping[str, float] | None = None,
        wishes: Wishes | None = None,
        k: int = 1,
        together: Together | None = None,
        strata: Int | None = None,
    ) -> "Space":
        """Scale and weight the quasi-identifiers; constant ones take no part in the distance.

        `wishes` says which columns are an attribute together, and what was asked for each; k is needed where
        records with the same gaps are grouped together, and so are whose the records are and the strata.
        """
        names = table.roles.quasi_identifiers
        weights = checked_weights(attribute_weights or {}, names)
        wishes = wishes or {(name,): Wish() for name in names}

        def attribute(columns: tuple[str, ...]) -> tuple[Attribute, GapFacts]:
            wish, weight = wishes[columns], weight_of(columns, weights, attribute_weights or {})
            try:
                return attribute_of(table.column(*columns), wish, scaling, weight)
            except RowsError as error:
                raise error if table.rows is None else error.among(table.rows) from None

        made = for_each([", ".join(columns) for columns in wishes], wishes, attribute)
        facts = tuple(found for _, found in made if found.count)
        return replace(cls.around(tuple(each for each, _ in made), len(table), k, together, strata), gaps=facts)

    @classmethod
    def around(
        cls,
        attributes: tuple[Attribute, ...],
        n: int,
        k: int = 1,
        together: Together | None = None,
        strata: Int | None = None,
    ) -> "Space":
        """The weighted coordinates of n records side by side; a column of zeros where nothing varies."""
        attributes, strata = apart(attributes, k, together, strata)
        columns = [
            attribute.coordinates() * sqrt(attribute.weight)
            for attribute in attributes
            if not attribute.is_constant and attribute.weight > 0
        ]
        points = np.ascontiguousarray(np.hstack(columns)) if columns else np.zeros((n, 1))
        return cls(attributes, points, strata)

    @property
    def constant(self) -> tuple[str, ...]:
        """The quasi-identifiers that have one value only."""
        return tuple(attribute.name for attribute in self.attributes if attribute.is_constant)

    def cells(self, labels: Int) -> dict[str, Int]:
        """The groups of records as the cells of every quasi-identifier."""
        return {attribute.name: labels for attribute in self.attributes}

    def has_cells(self, cells: Cells, labels: Int) -> bool:
        """Whether the groups themselves are the cells of every quasi-identifier."""
        return all(np.array_equal(cells[attribute.name], labels) for attribute in self.attributes)

    def squares(self, cells: Cells, aggregate: Aggregates = "mean") -> dict[str, Squares]:
        """For each quasi-identifier the squared distances inside its cells before anything is rounded.

        Every record counts alike, also where the common values are weighted: see `shoal.attributes.digits`.
        """
        places = ordered(cells)
        return {a.name: a.squares(*places[a.name], aggregate_of(a, aggregate)) for a in self.attributes}

    def common_values(
        self,
        cells: Cells,
        aggregate: Aggregates = "mean",
        exact: bool = False,
        digits: Mapping[str, int | None] | None = None,
        weights: Weights | None = None,
    ) -> dict[str, CommonValues]:
        """For each quasi-identifier, the value that each cell gets; rounded to its digits where there are any.

        `weights` are whole numbers, one for each record, that say how often it counts. Where all records of a
        cell have the weight 0, each of them counts once.
        """
        places = ordered(cells)
        return {
            attribute.name: attribute.common_values(
                *places[attribute.name],
                aggregate_of(attribute, aggregate),
                exact,
                (digits or {}).get(attribute.name),
                None if weights is None else never_all_zero(weights, *places[attribute.name]),
            )
            for attribute in self.attributes
        }


def aggregate_of(attribute: Attribute, asked: Aggregates) -> Aggregate:
    """The common value that was asked for an attribute."""
    if isinstance(asked, str):
        return asked
    return next((asked[name] for name in attribute.columns if name in asked), asked.get(EVERY, "mean"))


def weight_of(columns: tuple[str, ...], weights: Mapping[str, float], given: Mapping[str, float]) -> float:
    """The weight of an attribute: the one that was given for any of its columns."""
    return next((weights[name] for name in columns if name in given), weights[columns[0]])


def ordered(cells: Cells) -> dict[str, tuple[Int, Int]]:
    """For each quasi-identifier the records cell by cell, and where each cell starts among them."""
    found: dict[int, tuple[Int, Int]] = {}
    for labels in cells.values():
        if id(labels) not in found:  # most quasi-identifiers have the same cells, the groups
            starts = np.concatenate([[0], np.cumsum(np.bincount(labels))])
            found[id(labels)] = np.argsort(labels, kind="stable"), starts
    return {name: found[id(labels)] for name, labels in cells.items()}


def digits_of(
    attributes: tuple[Attribute, ...],
    squares: Mapping[str, list[Squares]],
    records: int,
    k: int,
    asked: Digits,
) -> dict[str, int | None]:
    """The digits of each quasi-identifier that has some to round; `squares` come from one block or more."""
    used: dict[str, int | None] = {}
    for attribute in attributes:
        used |= attribute.digits_used(asked, total_of(squares[attribute.name]), records, k)
    said = digits_said(attributes, used).values()
    if isinstance(asked, int) and not any(isinstance(each, int) for each in said):
        warn(f"digits={asked} changes nothing: no quasi-identifier holds numbers that have digits; leave it out")
    return used


def digits_said(attributes: tuple[Attribute, ...], used: Mapping[str, int | None]) -> dict[str, int | str | None]:
    """The same as a manifest says it: some kinds have other units than powers of ten."""
    return {each.name: each.digits_said(used[each.name]) for each in attributes if each.name in used}


def total_of(squares: list[Squares]) -> Fraction:
    """The squares of all blocks together, exactly."""
    return sum((Fraction(part) * Fraction(4) ** exponent for part, exponent in squares), Fraction(0))


def checked_weights(weights: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """A weight for each quasi-identifier, 1 where none is given."""
    for name in weights:
        if name not in names:
            raise ShoalError(f"weight for {name!r}, which is no quasi-identifier{nearest_name(str(name), names)}")
    full = {name: weights.get(name, 1.0) for name in names}
    if not any(full.values()):
        raise ShoalError("all weights are 0; give at least one quasi-identifier a positive weight")
    return full
