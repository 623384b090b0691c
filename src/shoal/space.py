"""Quasi-identifiers to points, and back: the common value of a group.

Each kind of attribute is one small class behind one seam, `Attribute`: to coordinates, the common value
of a group, its share of the loss. A method sees points only, so a new kind of attribute touches no method.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite, sqrt
from numbers import Real as RealNumber
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.common import CommonValues
from shoal.attributes.numbers import Aggregate, Numbers, Squares
from shoal.errors import ShoalError, for_each, nearest_name
from shoal.partition import LARGEST, Partition
from shoal.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Scaling = Literal["zscore", "range", "robust", "none"]

SCALINGS: tuple[Scaling, ...] = ("zscore", "range", "robust", "none")
AGGREGATES: tuple[Aggregate, ...] = ("mean", "median")


class Attribute(ABC):
    """One quasi-identifier."""

    name: str
    weight: float
    is_constant: bool

    @abstractmethod
    def coordinates(self) -> Float:
        """The scaled coordinates of the records: n rows, one column or more."""

    @abstractmethod
    def common_values(
        self, order: Int, starts: Int, aggregate: Aggregate, exact: bool, digits: int | None
    ) -> CommonValues:
        """The value that all records of a group get; group g holds order[starts[g]:starts[g + 1]]."""

    @abstractmethod
    def squared_errors(self, common: CommonValues, labels: Int) -> tuple[float, float]:
        """(SSE of the released values, SST of the original ones), scaled but not weighted."""


@dataclass(frozen=True, eq=False)
class NumericAttribute(Attribute):
    """A number: one coordinate, centred and divided by the spread that the scaling asks for."""

    name: str
    weight: float
    numbers: Numbers
    centre: float
    spread: float
    is_constant: bool

    @classmethod
    def of(cls, name: str, numbers: Numbers, scaling: Scaling, weight: float) -> "NumericAttribute":
        """Measure the centre and the spread of a column."""
        raw = numbers.raw()
        if raw.min() == raw.max():
            return cls(name, weight, numbers, float(raw[0]), 1.0, True)
        centre, spread = centre_and_spread(name, raw, scaling, numbers.unit)
        return cls(name, weight, numbers, centre, spread, False)

    def coordinates(self) -> Float:
        """One column."""
        return self._scaled(self.numbers.raw())[:, None]

    def common_values(
        self, order: Int, starts: Int, aggregate: Aggregate, exact: bool, digits: int | None
    ) -> CommonValues:
        """The mean or median of the group."""
        return self.numbers.common(order, starts, aggregate, exact, digits)

    def squared_errors(self, common: CommonValues, labels: Int) -> tuple[float, float]:
        """From the values as released, rounding included."""
        if self.is_constant:
            return 0.0, 0.0
        original = self._scaled(self.numbers.raw())
        error = original - self._scaled(common.raw)[labels]
        deviation = original - original.mean()
        return float(error @ error), float(deviation @ deviation)

    def _scaled(self, raw: Float) -> Float:
        return (raw - self.centre) / self.spread


@dataclass(frozen=True, eq=False)
class Space:
    """The quasi-identifiers of a table as points."""

    attributes: tuple[Attribute, ...]
    points: Float

    @classmethod
    def of(cls, table: Table, scaling: Scaling = "zscore", weights: Mapping[str, float] | None = None) -> "Space":
        """Scale and weight the quasi-identifiers; constant ones take no part in the distance."""
        checked_scaling(scaling)
        names = table.roles.quasi_identifiers
        weighted = checked_weights(weights or {}, names)

        def attribute(name: str) -> Attribute:
            return NumericAttribute.of(name, table.numbers(name), scaling, weighted[name])

        attributes = tuple(for_each(names, names, attribute))
        return cls(attributes, points_of(attributes, len(table)))

    @property
    def constant(self) -> tuple[str, ...]:
        """The quasi-identifiers that have one value only."""
        return tuple(attribute.name for attribute in self.attributes if attribute.is_constant)

    def numbers(self) -> list[tuple[str, Numbers]]:
        """The quasi-identifiers that are numbers, by name."""
        return [(a.name, a.numbers) for a in self.attributes if isinstance(a, NumericAttribute)]

    def squares(self, partition: Partition, aggregate: Aggregate = "mean") -> dict[str, Squares]:
        """For each of these, the squared distances inside the groups before anything is rounded."""
        order, starts = ordered(partition)
        return {name: numbers.squares(order, starts, aggregate) for name, numbers in self.numbers()}

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


def checked_scaling(scaling: Scaling) -> Scaling:
    """The scaling, if there is such a one."""
    if scaling not in SCALINGS:
        hint = nearest_name(str(scaling), SCALINGS)
        raise ShoalError(f"scaling must be one of {', '.join(SCALINGS)}, not {scaling!r}{hint}")
    return scaling


def centre_and_spread(name: str, raw: Float, scaling: Scaling, unit: float) -> tuple[float, float]:
    """What to subtract from a column that varies, and what to divide it by."""
    match scaling:
        case "zscore":
            return float(raw.mean()), float(raw.std())
        case "range":
            return float(raw.min()), float(raw.max() - raw.min())
        case "robust":
            low, middle, high = np.quantile(raw, [0.25, 0.5, 0.75])
            if low == high:
                raise ShoalError(
                    f"column {name!r} has one value in its middle half, so its interquartile range is 0; "
                    "use scaling 'zscore' or 'range'"
                )
            if max(middle - raw.min(), raw.max() - middle) / LARGEST >= high - low:
                raise ShoalError(
                    f"column {name!r} holds numbers too far from its middle half to square; "
                    "use scaling 'zscore' or 'range'"
                )
            return float(middle), float(high - low)
        case "none":
            if not 1 / LARGEST < np.abs(raw).max() * unit < LARGEST:
                raise ShoalError(
                    f"column {name!r} holds numbers too large or too small to square; use scaling 'zscore'"
                )
            return 0.0, 1.0 / unit


def checked_weights(weights: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """A weight for each quasi-identifier, 1 where none is given."""
    if not isinstance(weights, Mapping):
        raise ShoalError(f"weights are given as a dictionary from column name to number, not {weights!r}")
    for name, weight in weights.items():
        if name not in names:
            hint = nearest_name(str(name), names)
            raise ShoalError(f"weight for {name!r}, which is no quasi-identifier{hint}")
        if not isinstance(weight, RealNumber) or not isfinite(weight) or weight < 0:
            raise ShoalError(f"the weight of {name!r} must be a number of at least 0, not {weight!r}")
    full = {name: float(weights.get(name, 1.0)) for name in names}
    if not any(full.values()):
        raise ShoalError("all weights are 0; give at least one quasi-identifier a positive weight")
    return full


def points_of(attributes: tuple[Attribute, ...], n: int) -> Float:
    """The weighted coordinates side by side; a column of zeros where nothing varies."""
    columns = [
        attribute.coordinates() * sqrt(attribute.weight)
        for attribute in attributes
        if not attribute.is_constant and attribute.weight > 0
    ]
    return np.ascontiguousarray(np.hstack(columns)) if columns else np.zeros((n, 1))
