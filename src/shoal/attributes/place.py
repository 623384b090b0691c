"""Places: a latitude and a longitude, which are one attribute.

Of each record one integer is stored: both numbers, each rounded to 1e-7 degrees (a centimetre). The coordinates
are the unit vectors of the places, less their mean, all three divided by one number:

- zscore and robust: the square root of the summed variances (a place has no order, hence no quartiles);
- range: the diagonal of the box around the unit vectors, at most the diameter of the earth. No two places are
  farther apart;
- none: 1000 kilometres. A squared distance of 1 is that of a chord of 1000 km.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import fsum, gcd, radians, sqrt
from typing import Any

import numpy as np
import pyarrow.compute as pc

from shoal.attributes.base import Chunks, Float, Gathering, Int, Kept, Kind, Settle, Stored, Wish
from shoal.attributes.common_values import CommonValues
from shoal.attributes.numbers import Fixed, Numbers, RowsError, from_series, from_text, rows_error
from shoal.attributes.numeric_stream import as_it_is, in_units
from shoal.attributes.place_attribute import PlaceAttribute, warning_of
from shoal.attributes.place_values import Form, PlaceValues
from shoal.attributes.sphere import PLACES, RADIUS, UNIT, packed, towards, unit_vectors, unpacked
from shoal.errors import ShoalError
from shoal.files.spelling import pointed
from shoal.parameters import Scaling
from shoal.table import Column

_NORTH, _WEST, _EAST = 90, -180, 360
_DIAMETER = 2.0
_NONE = 1000 / RADIUS


@dataclass(frozen=True)
class PlaceKept(Kept):
    """Places: how the table writes them, and how they are scaled."""

    kind = "place"

    form: Form = field(default_factory=lambda: Form(("latitude", "longitude")))
    middle: tuple[float, ...] = (0.0, 0.0, 0.0)  # the mean of the unit vectors

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> "PlaceKept":
        """JSON has no tuples."""
        return cls(**{**given, "form": Form.from_dict(given["form"]), "middle": tuple(given["middle"])})

    @property
    def columns(self) -> tuple[str, ...]:
        """The latitude and the longitude."""
        return self.form.names

    @property
    def width(self) -> int:
        """Three coordinates."""
        return 3

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Two halves of one integer."""
        return np.dtype(np.int64)

    def typical(self, chunks: Chunks) -> Any:
        """There is none: the middle of a country may be a place where nobody lives."""
        raise ShoalError(
            f"a place that is missing in {self.name!r} cannot be imputed: none is typical; "
            "choose another policy for gaps, such as pattern or drop"
        )

    def overall(self, middle: Float) -> Float:
        """Of the mean direction."""
        centre = np.array(self.middle)
        return np.asarray((towards(middle * self.spread + centre) - centre) / self.spread)

    def scaled(self, scaling: Scaling, chunks: Chunks, alone: bool) -> "PlaceKept":
        """With the mean of the unit vectors and the number that they are divided by."""

        def vectors() -> Iterator[Float]:
            if alone:
                return iter([unit_vectors(np.concatenate(list(chunks())))])
            return (unit_vectors(places) for places in chunks())

        sums, lows, highs, n = [], [], [], 0
        for part in vectors():
            sums.append(part.sum(axis=0))
            lows.append(part.min(axis=0))
            highs.append(part.max(axis=0))
            n += len(part)
        box = np.max(highs, axis=0) - np.min(lows, axis=0)
        if not box.any():
            return replace(self, middle=tuple(lows[0].tolist()), is_constant=True)
        middle = np.array([fsum(axis) for axis in np.transpose(sums)]) / n
        match scaling:
            case "zscore" | "robust":
                spread = sqrt(fsum(float(np.square(part - middle).sum()) for part in vectors()) / n)
            case "range":
                spread = min(_DIAMETER, sqrt(float(np.square(box).sum())))
            case "none":
                spread = _NONE
        overall = towards(middle)
        sst = fsum(float(np.square((part - overall) / spread).sum()) for part in vectors())
        return replace(self, middle=tuple(middle.tolist()), spread=spread, sst=sst)

    def along(self, stored: Stored) -> Float:
        """The latitudes, in units: what is stored rises with them."""
        return unpacked(stored)[0].astype(np.float64)

    @property
    def stretch(self) -> float:
        """A unit of latitude is a part of a great circle."""
        return 0.0 if self.is_constant else self.weight * (radians(1 / UNIT) / self.spread) ** 2

    def attribute(self, stored: Stored) -> PlaceAttribute:
        """Some records on the scale of all."""
        middle = np.array(self.middle)
        return PlaceAttribute(self.name, self.weight, self.form, stored, middle, self.spread, self.is_constant)

    def codes(self, common: CommonValues) -> Stored:
        """Common places as they are stored."""
        assert isinstance(common, PlaceValues)
        return common.places

    def values(self, codes: Stored) -> PlaceValues:
        """Common places as they were; without digits they are those of plain centroids."""
        return PlaceValues(self.form, codes, self.digits)

    def warning(self, chunks: Chunks) -> str | None:
        """Places that may stand for missing ones."""
        return warning_of(self.name, sum(int((places == 0).sum()) for places in chunks()))


@dataclass
class Degrees:
    """What is known of one of the two columns after some of its parts."""

    kinds: set[Any] = field(default_factory=set)
    decimals: int = -PLACES
    by_value: bool = False  # the decimals are those of the values: the column was read as floats
    step: int = 0  # the greatest common divisor of the units

    def add(self, column: Column) -> Float:
        """The degrees of another part."""
        numbers, by_value = numbers_of(column)
        kind = getattr(numbers, "kind", "float64")
        if kind == "boolean":
            raise ShoalError(
                f"column {column.name!r} holds true and false, which are no degrees; leave it out of a place"
            )
        self.kinds.add(kind)
        self.by_value = self.by_value or by_value
        if isinstance(numbers, Fixed):
            self.decimals = max(self.decimals, numbers.decimals)
        return numbers.floats()

    def in_units(self, degrees: Float) -> Int:
        """Degrees that are on the globe, as they are stored."""
        units: Int = np.rint(degrees * UNIT).astype(np.int64)
        self.step = gcd(self.step, int(np.gcd.reduce(units)))
        return units

    @property
    def kind(self) -> Any:
        """Whole numbers in some parts of a text file and decimals in others are decimals."""
        return next((kind for kind in self.kinds if kind != "integer"), "integer")

    @property
    def places(self) -> int:
        """The decimals that the column came with, as far as they are stored."""
        if not self.by_value:
            return min(PLACES, self.decimals)
        return next(places for places in range(PLACES + 1) if self.step % 10 ** (PLACES - places) == 0)


class PlaceGathering(Gathering):
    """Two columns that come in parts, the latitude first."""

    kind = "place"

    def __init__(self, name: str) -> None:
        self.name = name
        self.names = ("", "")
        self.eastward = False
        self.columns = Degrees(), Degrees()

    def add(self, column: Column, before: int) -> Stored:
        """Both numbers in one."""
        if len(column.parts) != 2:
            raise ShoalError(
                f"column {self.name!r} is no place: a place has two columns, a latitude and a longitude; name both"
            )
        first, second = column.parts
        self.names = first.name, second.name
        try:
            latitude, longitude = (each.add(part) for each, part in zip(self.columns, column.parts, strict=True))
            refuse_outside(self.names, latitude, longitude)
        except RowsError as error:
            raise error.after(before) from None
        self.eastward = self.eastward or bool(longitude.max() > -_WEST)
        north, east = self.columns
        return packed(north.in_units(latitude), east.in_units(longitude))

    def finish(self) -> None:
        """Every part was checked by itself."""

    def kept(self, weight: float, chunks: Chunks) -> tuple[PlaceKept, Settle]:
        """How both columns are written."""
        kinds = self.columns[0].kind, self.columns[1].kind
        places = [each.places for each in self.columns]
        floats = all(kind.startswith("float") for kind in kinds)
        form = Form(self.names, kinds, max(places) if floats else min(places), self.eastward)
        return PlaceKept(self.name, weight, form=form), as_it_is


def numbers_of(column: Column) -> tuple[Numbers, bool]:
    """The numbers of a column, and whether they were read as floats.

    What may be 1.633 or 1633 elsewhere is 1.633 here: no degree is above 360.
    """
    if column.text is None:
        numbers = from_series(column.name, column.series)
        return numbers, not isinstance(numbers, Fixed) or numbers.kind.startswith("float")
    numbers = from_text(column.name, column.text, *column.signs)
    return numbers, not in_units(numbers, pointed(pc.utf8_trim_whitespace(column.text), *column.signs))


def refuse_outside(names: tuple[str, str], latitude: Float, longitude: Float) -> None:
    """Degrees that are on no globe."""
    north = np.abs(latitude) <= _NORTH
    east = (longitude >= _WEST) & (longitude <= _EAST)
    if not north.all():
        swapped = (np.abs(longitude) <= _NORTH).all() and ((latitude >= _WEST) & (latitude <= _EAST)).all()
        raise outside(names[0], "latitude", latitude, ~north, "-90 and 90", names if swapped else None)
    if not east.all():
        raise outside(names[1], "longitude", longitude, ~east, "-180 and 180, or 0 and 360", None)


def outside(
    name: str,
    called: str,
    degrees: Float,
    wrong: "np.typing.NDArray[np.bool_]",
    ends: str,
    swapped: tuple[str, str] | None,
) -> RowsError:
    """The error that says so, and what may have happened."""
    found = degrees[wrong]
    shown = str(float(found[0])).removesuffix(".0")
    what = f"a {called} of {shown}" if len(found) == 1 else f"{called}s such as {shown}"
    if swapped is not None:
        cure = f"the columns seem to be swapped, as {swapped[1]!r} fits a latitude; name {swapped[1]!r} first"
    elif np.abs(found).max() > _EAST:
        cure = f"a {called} is between {ends}; if these are metres of a map, turn them into degrees"
    else:
        cure = f"a {called} is between {ends}; correct it or take those records out"
    return rows_error(name, what, wrong, cure)


class Place(Kind):
    """Two columns that are a latitude and a longitude."""

    name = "place"
    kept = PlaceKept

    def takes(self, column: Column) -> bool:
        """Two columns that were named as one."""
        return len(column.parts) == 2

    def gathering(self, name: str, wish: Wish) -> Gathering:
        """Places that come in parts."""
        return PlaceGathering(name)
