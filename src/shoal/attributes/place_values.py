"""The common places of groups: a value for each of the two columns, in the form in which it came."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shoal.attributes.common_values import CommonValues, FixedValues, Kind, RealValues
from shoal.attributes.sphere import PLACES, TURN, UNIT, unit_vectors, unpacked

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True)
class Form:
    """How a table writes places: the names and the kinds of the two columns, their decimals, their longitudes."""

    names: tuple[str, str]
    kinds: tuple[Kind, Kind] = ("float64", "float64")
    decimals: int = PLACES
    """The most that both columns can have."""
    eastward: bool = False
    """Longitudes go from 0 to 360 degrees, not from -180 to 180."""

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "Form":
        """JSON has no tuples."""
        return cls(**{**given, "names": tuple(given["names"]), "kinds": tuple(given["kinds"])})

    def degrees(self, places: Int) -> tuple[Int, Int]:
        """Latitudes and longitudes as the table writes them, in units."""
        latitude, longitude = unpacked(places)
        return latitude, longitude if self.eastward else np.where(
            longitude > TURN // 2, longitude - TURN, longitude
        )


@dataclass(frozen=True, eq=False)
class PlaceValues(CommonValues):
    """Common places, rounded to so many decimals; None where they are as exact as places are stored."""

    form: Form
    places: Int
    decimals: int | None

    @cached_property
    def raw(self) -> Float:  # type: ignore[override]
        """Unit vectors."""
        return unit_vectors(self.places)

    def of(self, column: str) -> CommonValues:
        """The latitudes or the longitudes."""
        which = self.form.names.index(column)
        units = self.form.degrees(self.places)[which]
        degrees = units / UNIT
        if self.decimals is None:
            return RealValues(degrees, degrees)
        kind, shown = self.form.kinds[which], max(0, self.decimals)
        short = units // 10 ** (PLACES - shown)
        values = (short / 10**shown).astype(kind) if kind.startswith("float") else None
        return FixedValues(kind, short, degrees, values, shown, short)

    def native(self) -> Sequence[Any]:
        """Pairs of a latitude and a longitude."""
        return list(zip(*(np.asarray(self.of(name).native()).tolist() for name in self.form.names), strict=True))

    def floats(self) -> Float:
        """The latitudes."""
        return self.of(self.form.names[0]).floats()

    def text(self, decimal_sign: str = ".") -> list[str]:
        """Both, to look at."""
        both = zip(*(self.of(name).text(decimal_sign) for name in self.form.names), strict=True)
        return [", ".join(pair) for pair in both]

    def column(self, like: "nw.Series[Any]", labels: Int, keep_type: bool) -> "nw.Series[Any]":
        """The latitudes or the longitudes, by the name of the column that they replace."""
        return self.of(like.name).column(like, labels, keep_type)
