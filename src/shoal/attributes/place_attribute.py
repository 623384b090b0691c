"""A latitude and a longitude as one attribute: three coordinates, with distances in the true order."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from shoal.attributes.base import Attribute, Digits, Float, Int, Profile, Squares
from shoal.attributes.common_values import CommonValues, refuse_aggregate
from shoal.attributes.digits import decimals_above, warn_of_more
from shoal.attributes.grouped import modes
from shoal.attributes.place_values import Form, PlaceValues
from shoal.attributes.rounding import sum_of_squares
from shoal.attributes.sphere import (
    PLACES,
    POLE,
    RADIUS,
    UNIT,
    degrees_between,
    mean_directions,
    medoids,
    nearest_place,
    packed,
    rounded,
    towards,
    unit_vectors,
    unpacked,
)
from shoal.attributes.weighing import Weights, counting, weighted_squares
from shoal.errors import ShoalError
from shoal.parameters import Aggregate

COARSEST = -1
"""Places are rounded to tens of degrees at most: hundreds do not divide the circle."""


@dataclass(frozen=True, eq=False)
class PlaceAttribute(Attribute):
    """Places: unit vectors around the mean of all, divided by the spread that the scaling asks for.

    The common value of a group is its mean direction: the place below the sum of the unit vectors. Where they
    cancel out, as those of antipodes do, it is the medoid: the member whose squared chords to the others have the
    least sum.
    """

    name: str
    weight: float
    form: Form
    places: Int
    middle: Float
    spread: float
    is_constant: bool

    @property
    def kind(self) -> str:
        """What its kind is called."""
        return "place"

    @property
    def columns(self) -> tuple[str, ...]:
        """The latitude and the longitude."""
        return self.form.names

    @cached_property
    def vectors(self) -> Float:
        """The records on a sphere of radius 1."""
        return unit_vectors(self.places)

    def coordinates(self) -> Float:
        """Three columns."""
        return self._scaled(self.vectors)

    def common_values(
        self,
        order: Int,
        starts: Int,
        aggregate: Aggregate,
        exact: bool,
        digits: int | None,
        weights: Weights | None = None,
    ) -> PlaceValues:
        """The mean direction; as a median the medoid; as a mode the most frequent place."""
        decimals = PLACES if exact else self.form.decimals if digits is None else digits
        order, starts, counts = counting(order, starts, weights)
        found = rounded(self._common(order, starts, aggregate, counts), decimals)
        places = self._with_poles(found, order, starts, decimals)
        return PlaceValues(self.form, places, None if exact else decimals)

    def _common(self, order: Int, starts: Int, aggregate: Aggregate, counts: Weights | None = None) -> Int:
        """The common places before they are rounded, but for how places are stored."""
        match aggregate:
            case "mean":
                directions, somewhere = mean_directions(self.vectors, order, starts, counts)
                places = nearest_place(directions)
                if somewhere.all():
                    return places
                return np.where(somewhere, places, self._medoids(order, starts, counts))
            case "median":
                return self._medoids(order, starts, counts)
            case "mode":
                different, codes = np.unique(self.places, return_inverse=True)
                return np.asarray(different[modes(codes, order, starts, len(different), counts)])
        raise refuse_aggregate(self.name, "a place", aggregate, ("mean", "median", "mode"))

    def _medoids(self, order: Int, starts: Int, counts: Weights | None) -> Int:
        return np.asarray(self.places[medoids(self.vectors, order, starts, counts)])

    def _with_poles(self, places: Int, order: Int, starts: Int, decimals: int) -> Int:
        """A pole has every longitude: it gets the one that all records of its group have, else 0."""
        latitude, longitude = unpacked(places)
        polar = np.abs(latitude) == POLE
        if not polar.any():
            return places
        meridians = unpacked(self.places)[1][order]
        low, high = (each.reduceat(meridians, starts[:-1]) for each in (np.minimum, np.maximum))
        shared = unpacked(rounded(np.where(low == high, low, 0), decimals))[1]
        return packed(latitude, np.where(polar, shared, longitude))

    def squared_errors(
        self, common: CommonValues, labels: Int, weights: Weights | None = None
    ) -> tuple[float, float]:
        """By chords, from the places as released, rounding included."""
        if self.is_constant:
            return 0.0, 0.0
        heavy = None if weights is None else weights.astype(np.float64)
        overall = towards(np.average(self.vectors, axis=0, weights=heavy))
        errors = (self.vectors - common.raw[labels]) / self.spread
        deviations = (self.vectors - overall) / self.spread
        return weighted_squares(errors, weights), weighted_squares(deviations, weights)

    def placed(self, common: CommonValues) -> Float:
        """The places as released, scaled."""
        return self._scaled(common.raw)

    def kilometres(self, common: CommonValues, labels: Int) -> tuple[float, float, float]:
        """How far the released places are from the original ones on the earth: mean, median and largest."""
        between = np.deg2rad(degrees_between(self.vectors, common.raw[labels])) * RADIUS
        return float(between.mean()), float(np.median(between)), float(between.max())

    def profile(self, common: CommonValues, labels: Int) -> Profile:
        """A histogram of the latitudes, and how far places have moved."""
        before, after = unpacked(self.places)[0] / UNIT, common.floats()[labels]
        return Profile(self.form.names[0], before, after, notes=self.notes(common, labels))

    def notes(self, common: CommonValues, labels: Int) -> tuple[tuple[str, str], ...]:
        """How far places have moved."""
        moved = zip(("mean", "median", "largest"), self.kilometres(common, labels), strict=True)
        return tuple((f"{which} distance from original to released place", as_text(far)) for which, far in moved)

    def check_digits(self, asked: Digits) -> None:
        """Whether the columns came with so many decimals of a degree."""
        self._asked(asked)

    def _asked(self, asked: Digits) -> int | None:
        """The digits that were asked for the place or for its columns, if it can have them."""
        wanted, most = asked, self.form.decimals
        if isinstance(asked, Mapping):
            named = {asked[name] for name in (self.name, *self.columns) if name in asked}
            if len(named) > 1:
                raise ShoalError(f"columns {self.name!r} are one place and have the same digits; give one number")
            wanted = next(iter(named), None)
            if wanted is not None and wanted > most:
                raise ShoalError(
                    f"place {self.name!r} came with {most} decimals and cannot be released with {wanted}; "
                    f"give it {most} digits or fewer"
                )
        if not isinstance(wanted, int):
            return None
        if wanted < COARSEST:
            raise ShoalError(
                f"place {self.name!r} cannot be rounded to {wanted} digits, that is hundreds of degrees or more; "
                f"give it {COARSEST} or more"
            )
        return min(wanted, most)

    def squares(self, order: Int, starts: Int, aggregate: Aggregate) -> Squares:
        """In degrees of a great circle, to the common places before these are rounded."""
        common = np.repeat(unit_vectors(self._common(order, starts, aggregate)), np.diff(starts), axis=0)
        return sum_of_squares(degrees_between(self.vectors[order], common), starts)

    def digits_used(self, asked: Digits, squares: Fraction, records: int, k: int) -> dict[str, int | None]:
        """Of both columns: no more than the spread inside the groups justifies, or as many as were asked for."""
        wanted, found = self._asked(asked), decimals_above(squares / (records * k))
        allowed = self.form.decimals if found is None else min(self.form.decimals, max(0, found))
        warn_of_more(self.name, wanted, allowed)
        return {self.name: allowed if wanted is None else wanted}

    def warning(self) -> str | None:
        """Places that may stand for missing ones."""
        return warning_of(self.name, int((self.places == 0).sum()))

    def said(self) -> dict[str, Any]:
        """The two columns."""
        return {"columns": list(self.columns)}

    def _scaled(self, vectors: Float) -> Float:
        return (vectors - self.middle) / self.spread


def warning_of(name: str, records: int) -> str | None:
    """What the owner should know of places where both columns are 0."""
    if not records:
        return None
    often = "a record" if records == 1 else f"{records} records"
    return (
        f"place {name!r} is 0, 0 in {often}: this is in the sea, and often stands for a place that is not known; "
        "if it does, leave the cells empty"
    )


def as_text(kilometres: float) -> str:
    """A distance to read."""
    if kilometres < 1:
        return f"{1000 * kilometres:.0f} m"
    return f"{kilometres:.{2 if kilometres < 10 else 1 if kilometres < 100 else 0}f} km"
