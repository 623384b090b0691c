"""A column of numbers as an attribute: one coordinate, centred and divided by the spread of the scaling."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from shoal.attributes.base import Attribute, Digits, Float, Int, Profile, Squares
from shoal.attributes.common_values import CommonValues, IntervalValues, interval_text, refuse_aggregate
from shoal.attributes.digits import digits_asked, digits_used
from shoal.attributes.grouped import modes
from shoal.attributes.numbers import Numbers
from shoal.attributes.quantities import warning_of
from shoal.attributes.scaling import centre_and_spread
from shoal.attributes.weighing import Weights, counting
from shoal.parameters import Aggregate, Scaling


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
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None,
        weights: Weights | None = None,
    ) -> CommonValues:
        """The mean or median of the group; its most frequent number or an interval where that is asked for."""
        if aggregate in ("mean", "median"):
            order, starts, counts = counting(order, starts, weights)
            return self.numbers.common(order, starts, aggregate, exact, digits, counts)
        if aggregate == "mode":
            found = modal_records(self.numbers.raw(), *counting(order, starts, weights))
            return self._of(found, exact, digits)
        if aggregate != "interval":
            raise refuse_aggregate(self.name, "numeric", aggregate, ("mean", "median", "mode", "interval"))
        ends = extreme_records(self.numbers.raw(), order, starts)
        low, high = (self._of(records, exact, digits) for records in ends)
        texts = zip(low.text(), high.text(), strict=True)
        return IntervalValues([interval_text(a, b) for a, b in texts], (low.raw + high.raw) / 2)

    def _of(self, records: Int, exact: bool, digits: int | None) -> CommonValues:
        """The numbers of some records as common values."""
        return self.numbers.common(records, np.arange(len(records) + 1), "mean", exact, digits)

    def squared_errors(
        self, common: CommonValues, labels: Int, weights: Weights | None = None
    ) -> tuple[float, float]:
        """From the values as released, rounding included."""
        if self.is_constant:
            return 0.0, 0.0
        original = self._scaled(self.numbers.raw())
        error = original - self._scaled(common.raw)[labels]
        if weights is None:
            deviation = original - original.mean()
            return float(error @ error), float(deviation @ deviation)
        heavy = weights.astype(np.float64)
        deviation = original - np.average(original, weights=heavy)
        return float((heavy * error) @ error), float((heavy * deviation) @ deviation)

    def placed(self, common: CommonValues) -> Float:
        """The values as released, scaled."""
        return self._scaled(common.raw)[:, None]

    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """A histogram, in the units of the table."""
        return Profile(self.name, self.numbers.floats(), common.floats()[labels])

    def check_digits(self, asked: Digits) -> None:
        """Whether the column came with so many digits."""
        digits_asked(self.name, self.numbers, asked)

    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """From the coordinates to the common values before these are rounded, which numbers of members are not."""
        if aggregate not in ("mean", "median"):
            return 0.0, 0
        return self.numbers.squares(order, starts, aggregate)

    def digits_used(self, asked: Digits, squares: Fraction, records: int, k: int) -> dict[str, int | None]:
        """No more than the spread inside the groups justifies, or as many as were asked for."""
        return digits_used(self.name, self.numbers, squares, records, k, asked)

    def warning(self) -> str | None:
        """Numbers that are no quantities."""
        return warning_of(self.name, [self.numbers])

    def _scaled(self, raw: Float) -> Float:
        return (raw - self.centre) / self.spread


def modal_records(raw: Float, order: Int, starts: Int, counts: Weights | None = None) -> Int:
    """A record of each group that has its most frequent number, the lowest one of several."""
    values, codes = np.unique(raw, return_inverse=True)
    found = modes(codes, order, starts, len(values), counts)
    sizes = np.diff(starts)
    own = np.flatnonzero(codes[order] == np.repeat(found, sizes))
    group = np.repeat(np.arange(len(sizes)), sizes)[own]
    return order[own[np.searchsorted(group, np.arange(len(sizes)))]]


def extreme_records(raw: Float, order: Int, starts: Int) -> tuple[Int, Int]:
    """A record of each group that has its lowest number, and one that has its highest."""
    group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    ranked = order[np.lexsort((raw[order], group))]
    return ranked[starts[:-1]], ranked[starts[1:] - 1]
