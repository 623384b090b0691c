"""Numbers: the kind of every column that can be averaged."""

from shoal.attributes.base import Gathering, Kind, Profile, Wish
from shoal.attributes.numbers import from_column
from shoal.attributes.numeric_attribute import NumericAttribute
from shoal.attributes.numeric_stream import NumericGathering, NumericKept
from shoal.errors import ShoalError
from shoal.parameters import Scaling
from shoal.table import Column


class Numeric(Kind):
    """Columns of numbers; whatever else a column holds is an error that says what to do about it."""

    name = "numeric"
    kept = NumericKept

    def takes(self, column: Column) -> bool:
        """Every column that no other kind wants: what is wrong with it is said when it is read."""
        return True

    def attribute(self, column: Column, scaling: Scaling, weight: float, wish: Wish) -> NumericAttribute:
        """A column in memory: its numbers may have any number of digits."""
        return NumericAttribute.of(column.name, from_column(column), scaling, weight)

    def gathering(self, name: str, wish: Wish) -> Gathering:
        """A column that comes in parts."""
        return NumericGathering(name)


def profile_of(column: Column) -> Profile | None:
    """What a report shows of a column that is released as it is; None where it holds no numbers."""
    try:
        values = from_column(column).floats()
    except ShoalError:  # text, or missing values
        return None
    return Profile(column.name, values, values)
