"""Columns that are a place together: `anonymize` takes a latitude and a longitude for one attribute."""

from collections.abc import Sequence
from dataclasses import replace

from shoal.attributes import places_in
from shoal.inspection.profiles import ColumnProfile

_ENDS = (-90, 90), (-180, 360)  # of a latitude and of a longitude


def with_places(columns: Sequence[ColumnProfile]) -> tuple[ColumnProfile, ...]:
    """The same where two quasi-identifiers that are suggested are a place, or are none despite their names."""
    made = {column.name: column for column in columns}
    for pair in pairs_of(columns):
        both = [made[name] for name in pair]
        fits = all(is_within(column, *ends) for column, ends in zip(both, _ENDS, strict=True))
        for column, other in zip(both, reversed(pair), strict=True):
            reason = f"with {other!r} a place, which may be known to others"
            made[column.name] = (
                replace(column, kind="place", reason=reason, options={})
                if fits
                else replace(column, options={"kinds": "numeric"} | column.options)
            )
    return tuple(made.values())


def pairs_of(columns: Sequence[ColumnProfile]) -> list[tuple[str, str]]:
    """The suggested quasi-identifiers that `anonymize` takes for a latitude and a longitude, by their names."""
    free = [each for each in columns if each.role == "quasi-identifier" and "kinds" not in each.options]
    return places_in([column.name for column in free])


def is_within(column: ColumnProfile, low: float, high: float) -> bool:
    """Whether a column holds numbers within these ends."""
    return column.kind == "numeric" and column.low is not None and low <= column.low and column.high <= high


def attributes_of(columns: Sequence[ColumnProfile]) -> list[tuple[ColumnProfile, ...]]:
    """The suggested quasi-identifiers, those together that are one attribute."""
    pairs = {name: pair for pair in pairs_of(columns) for name in pair}
    by_name = {column.name: column for column in columns}
    found: dict[tuple[str, ...], None] = {}
    for column in columns:
        found[pairs.get(column.name, (column.name,))] = None
    return [tuple(by_name[name] for name in names) for names in found]
