"""Quasi-identifiers to points, and back: the common value of a group.

A method sees points only. What a column holds is the concern of its kind in `shoal.attributes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Attribute, CommonValues, Digits, Squares, kind_of
from shoal.errors import ShoalError, for_each, nearest_name
from shoal.parameters import Aggregate, Scaling
from shoal.partition import Partition
from shoal.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Space:
    """The quasi-identifiers of a table as points."""

    attributes: tuple[Attribute, ...]
    points: Float

    @classmethod
    def of(
        cls, table: Table, scaling: Scaling = "zscore", attribute_weights: Mapping[str, float] | None = None
    ) -> "Space":
        """Scale and weight the quasi-identifiers; constant ones take no part in the distance."""
        names = table.roles.quasi_identifiers
        weights = checked_weights(attribute_weights or {}, names)

        def attribute(name: str) -> Attribute:
            column = table.column(name)
            return kind_of(column).attribute(column, scaling, weights[name])

        return cls.around(tuple(for_each(names, names, attribute)), len(table))

    @classmethod
    def around(cls, attributes: tuple[Attribute, ...], n: int) -> "Space":
        """The weighted coordinates of n records side by side; a column of zeros where nothing varies."""
        columns = [
            attribute.coordinates() * sqrt(attribute.weight)
            for attribute in attributes
            if not attribute.is_constant and attribute.weight > 0
        ]
        return cls(attributes, np.ascontiguousarray(np.hstack(columns)) if columns else np.zeros((n, 1)))

    @property
    def constant(self) -> tuple[str, ...]:
        """The quasi-identifiers that have one value only."""
        return tuple(attribute.name for attribute in self.attributes if attribute.is_constant)

    def squares(self, partition: Partition, aggregate: Aggregate = "mean") -> dict[str, Squares]:
        """For each quasi-identifier the squared distances inside the groups before anything is rounded."""
        order, starts = ordered(partition)
        return {a.name: a.squares(order, starts, aggregate) for a in self.attributes}

    def common_values(
        self,
        partition: Partition,
        aggregate: Aggregate = "mean",
        exact: bool = False,
        digits: Mapping[str, int | None] | None = None,
    ) -> dict[str, CommonValues]:
        """For each quasi-identifier, the value that each group gets; rounded to its digits where there are any."""
        order, starts = ordered(partition)
        return {
            attribute.name: attribute.common_values(
                order, starts, aggregate, exact, (digits or {}).get(attribute.name)
            )
            for attribute in self.attributes
        }


def ordered(partition: Partition) -> tuple[Int, Int]:
    """The records group by group, and where each group starts among them."""
    return np.argsort(partition.labels, kind="stable"), np.concatenate([[0], np.cumsum(partition.sizes)])


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
    return used


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
