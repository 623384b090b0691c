"""Confidential columns as numbers: which value each record has, what comes before what, and how far apart.

A missing value is no value: it has the number -1 and is left out of every distribution.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.attributes import Wish, gaps_in
from shoal.attributes.base import kind_of
from shoal.attributes.ladder import DAY, HOUR
from shoal.attributes.looking import finite_numbers, holds_numbers, numbers_in
from shoal.attributes.moment_attribute import MomentAttribute
from shoal.attributes.orders import known_order
from shoal.attributes.ordinal import ordered_categories
from shoal.attributes.taxonomy import Taxonomy
from shoal.errors import ShoalError, some
from shoal.privacy.k_anonymity import distinct
from shoal.privacy.models import ON_LINES, Model, TCloseness
from shoal.table import NO_TYPE, Column, is_text

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_DATES = ("date", "timestamp", "duration")

GapValues = Sequence[str] | None
"""Texts that mean a gap, in the place of those that usually do; None where nothing was said."""


@dataclass(frozen=True, eq=False)
class Coding:
    """The values of a confidential column by number.

    Attributes
    ----------
    name : of the column
    codes : the number of each record's value, -1 for a gap
    values : the values as text, by number
    places : where each value lies on a line, rising; None where the values have no order
    measured : whether these places are numbers, and not only an order
    """

    name: str
    codes: Int
    values: tuple[str, ...]
    places: Float | None
    measured: bool

    @property
    def gaps(self) -> int:
        """How many records have no value."""
        return int((self.codes < 0).sum())

    def of(self, records: Any) -> "Coding":
        """The same of some of the records."""
        return replace(self, codes=self.codes[records])


def column_of(name: str, values: pa.ChunkedArray, signs: tuple[str, str] = (".", "")) -> Column:
    """A column of an Arrow table or of a text file."""
    series = nw.from_native(values, series_only=True)
    return Column(name, series, values if is_text(values.type) else None, signs)


def coded(column: Column, order: Sequence[str] = (), gap_values: GapValues = None) -> Coding:
    """A column as numbers: in the order of its numbers or dates, in one that is given or known, or in any."""
    try:
        column.values()
    except NO_TYPE:
        raise ShoalError(
            f"column {column.name!r} holds values of several types, so they cannot be compared; make them one type"
        ) from None
    missing = gaps_in(column, Wish(gap_values=None if gap_values is None else tuple(gap_values)))
    if missing.all():
        raise ShoalError(f"column {column.name!r} has no value in any record, so nothing can be promised about it")
    whole = np.full(len(column), -1, np.int64)
    there = column.where(~missing) if missing.any() else column
    codes, values, places, measured = ranked(there, tuple(order))
    whole[~missing] = codes
    return Coding(column.name, whole, values, places, measured)


def ranked(column: Column, order: tuple[str, ...]) -> tuple[Int, tuple[str, ...], Float | None, bool]:
    """The same of a column without gaps: numbers, texts, places, and whether these are measured."""
    shown = column.values()
    texts = pc.utf8_trim_whitespace(shown) if is_text(shown.type) else shown
    if order:
        return by_order(column.name, as_texts(texts), order)
    numbers = measured_in(column, texts)
    if numbers is not None:
        places, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
        named = as_texts(texts.take(pa.array(first)))
        return codes.reshape(-1), tuple(named), places.astype(np.float64), True
    try:
        found = distinct(column.name, texts)
    except ShoalError:
        raise ShoalError(
            f"column {column.name!r} of type {texts.type} holds values that cannot be compared; no privacy model "
            "can be about it"
        ) from None
    values = as_texts(found.values)
    known = tuple(map(str, ordered_categories(column) or ())) or known_order(values) or two_in_order(values)
    if known is not None:
        return by_order(column.name, [values[code] for code in found.codes.tolist()], known)
    rank = np.argsort(np.argsort(np.array(values, dtype=object), kind="stable"), kind="stable")
    return rank[found.codes], tuple(sorted(values)), None, False


def measured_in(column: Column, texts: pa.ChunkedArray) -> NDArray[Any] | None:
    """The numbers of a column without gaps, if all of it are numbers, or if it holds dates."""
    numbers = numbers_of(texts, column.signs)
    if numbers is not None:
        return numbers
    dates = dates_in(column)
    return None if dates is None else dates.above


class Dates(NamedTuple):
    """Dates, points in time or durations as numbers above the first of them."""

    above: NDArray[np.float64]
    first: float
    unit: str  # what the numbers count, and from when on the first one


def dates_in(column: Column) -> Dates | None:
    """The dates of a column without gaps, if it holds dates."""
    kind = kind_of(column)
    if kind.name not in _DATES:
        return None
    attribute = kind.attribute(column, "none", 1.0, Wish())
    assert isinstance(attribute, MomentAttribute)
    moments = attribute.numbers
    long, unit = (HOUR, "hours") if moments.form.family == "duration" else (DAY, "days after 1970-01-01")
    return Dates(attribute.coordinates()[:, 0], moments.origin * (moments.tick / long), unit)


def two_in_order(values: Sequence[str]) -> tuple[str, ...] | None:
    """Two values are in an order, whichever it is: every distance is the same."""
    return tuple(sorted(values)) if len(values) <= 2 else None


def numbers_of(values: pa.ChunkedArray, signs: tuple[str, str]) -> NDArray[Any] | None:
    """The numbers of a column, if all of it are numbers."""
    if holds_numbers(values.type):
        return numbers_in(values)
    if not is_text(values.type):
        return None
    numbers = finite_numbers(values, signs)
    return None if np.isnan(numbers).any() else numbers


def as_texts(values: Any) -> list[str]:
    """Values as text."""
    return [str(value) for value in values.to_pylist()]


def by_order(name: str, texts: list[str], order: Sequence[str]) -> tuple[Int, tuple[str, ...], Float | None, bool]:
    """Values in an order that is known; each must be in it."""
    place = {value.strip(): number for number, value in enumerate(order)}
    if odd := sorted({text for text in texts if text not in place}):
        raise ShoalError(
            f"column {name!r} has values that its order does not name: {some(map(repr, odd), 5)}; add them to it"
        )
    numbers = np.array([place[text] for text in texts])
    there, codes = np.unique(numbers, return_inverse=True)
    places = np.arange(len(there), dtype=np.float64)
    return codes.reshape(-1).astype(np.int64), tuple(order[number] for number in there), places, False


def coding_for(model: Model, column: Column, gap_values: GapValues = None) -> Coding:
    """A column as a model needs it; an error where it cannot have it. `gap_values` are texts that mean a gap."""
    order = model.order if isinstance(model, TCloseness) else ()
    coding = coded(column, order, gap_values)
    if isinstance(model, TCloseness):
        check_distance(model, coding)
    known = harmful_values(coding, model.sensitive_values)
    if odd := [value for value, place in zip(model.sensitive_values, known, strict=True) if place is None]:
        raise ShoalError(
            f"no record has the sensitive value {odd[0]!r} in {model.on!r}; there are "
            f"{some(map(repr, coding.values), 10)}"
        )
    return coding


def check_distance(model: TCloseness, coding: Coding) -> None:
    """Whether the values have what a distance of t-closeness needs."""
    wanted = f"t-closeness by {model.distance!r} needs"
    if model.distance in ON_LINES and coding.places is None:
        raise ShoalError(
            f"{wanted} an order, and the values of {model.on!r} have none that is known; give it (order=[...]), "
            "or choose the distance equal"
        )
    if model.distance == "wasserstein" and not coding.measured:
        raise ShoalError(
            f"{wanted} numbers or dates, and {model.on!r} has an order only; choose the distance ordered"
        )
    if model.distance == "wasserstein" and not np.isfinite(np.asarray(coding.places)).all():
        raise ShoalError(
            f"{wanted} finite numbers, and {model.on!r} has infinite ones; choose the distance ordered"
        )


def harmful_values(coding: Coding, wanted: Sequence[str]) -> list[int | None]:
    """The numbers of values that are given as text; a number is the same however it is written."""
    place = {value: number for number, value in enumerate(coding.values)}
    found = []
    for text in wanted:
        number = place.get(text.strip())
        if number is None and coding.measured and coding.places is not None:
            with suppress(ValueError):
                same = np.flatnonzero(coding.places == float(text))
                number = int(same[0]) if len(same) else None
        found.append(number)
    return found


def settled(model: Model, coding: Coding) -> Model:
    """The model with the distance that it is measured by, and the order of words, which a file does not keep."""
    if not isinstance(model, TCloseness):
        return model
    distance = model.distance or ("equal" if coding.places is None else "ordered")
    words = coding.places is not None and not coding.measured and distance in ON_LINES
    return replace(model, distance=distance, order=model.order or (coding.values if words else ()))


def tree_of(taxonomy: Taxonomy, coding: Coding) -> tuple[Int, Int, Float]:
    """The node of each value, the parent of each node (-1 for the root), and how high each is above its leaves.

    A value that is an inner node of the taxonomy gets a leaf of its own below it.
    """
    number = {name: place for place, name in enumerate(taxonomy.nodes)}
    if odd := [value for value in coding.values if value not in number]:
        raise ShoalError(
            f"the taxonomy does not name {some(map(repr, odd), 5)} of column {coding.name!r}; add them to it"
        )
    parents, inner = list(taxonomy.parents), {parent for parent in taxonomy.parents if parent >= 0}
    leaves = []
    for value in coding.values:
        node = number[value]
        if node in inner:
            parents.append(node)
            node = len(parents) - 1
        leaves.append(node)
    heights = [0.0] * len(parents)
    # Nodes of a taxonomy come after their parents, and leaves that were added come last.
    for node in range(len(parents) - 1, 0, -1):
        heights[parents[node]] = max(heights[parents[node]], heights[node] + 1.0)
    return np.array(leaves), np.array(parents), np.array(heights)
