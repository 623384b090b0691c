"""A column of numbers as an attribute: one coordinate, centred and divided by the spread of the scaling."""

from dataclasses import dataclass
from fractions import Fraction

from shoal.attributes.base import Attribute, Digits, Float, Int, Profile, Squares
from shoal.attributes.common_values import CommonValues
from shoal.attributes.digits import digits_asked, digits_used
from shoal.attributes.numbers import Numbers
from shoal.attributes.quantities import warning_of
from shoal.attributes.scaling import centre_and_spread
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
        """From the coordinates to the common values before these are rounded."""
        return self.numbers.squares(order, starts, aggregate)

    def digits_used(self, asked: Digits, squares: Fraction, records: int, k: int) -> dict[str, int | None]:
        """No more than the spread inside the groups justifies, or as many as were asked for."""
        return digits_used(self.name, self.numbers, squares, records, k, asked)

    def warning(self) -> str | None:
        """Numbers that are no quantities."""
        return warning_of(self.name, [self.numbers])

    def _scaled(self, raw: Float) -> Float:
        return (raw - self.centre) / self.spread
