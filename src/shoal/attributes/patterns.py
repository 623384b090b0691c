"""Patterns of gaps: records that lack the same values are grouped together, apart from all others.

Where fewer than k records (persons, households) have a pattern, it is an error that names it; or, where that was
asked for (`blank`), more cells are blanked. Then the rarest pattern is joined with another one again and again:
both get the gaps of both. Of all others the one is taken for which the fewest cells are blanked, the first one of
several.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.base import Attribute
from shoal.attributes.gap_attribute import GapAttribute
from shoal.errors import ShoalError, some

Int = NDArray[np.int64]
Mask = NDArray[np.bool_]


class Together(NamedTuple):
    """Whose the records are that share a pattern.

    Attributes
    ----------
    units : rows with the same number stay together, such as those of a household; None where each is alone
    counted : whom k counts: rows with the same number count once; None where k counts rows
    whom : what these are, in words
    least : the least number of units that share a pattern
    """

    units: Int | None = None
    counted: Int | None = None
    whom: str = "records"
    least: int = 1


def apart(
    attributes: Sequence[Attribute], k: int, together: Together | None = None, strata: Int | None = None
) -> tuple[tuple[Attribute, ...], Int | None]:
    """The attributes with the values that are blanked, and the pattern of each record; None where all are one.

    The records of a unit have one pattern, with the gaps of all of them. Patterns are joined within strata; the
    pattern of a record then tells its stratum too.
    """
    units, counted, whom, least = together or Together()
    places = [
        place
        for place, each in enumerate(attributes)
        if isinstance(each, GapAttribute) and each.kept.policy in ("pattern", "blank")
    ]
    if not places:
        return tuple(attributes), strata
    chosen = [each for each in attributes if isinstance(each, GapAttribute)]
    chosen = [each for each in chosen if each.kept.policy in ("pattern", "blank")]
    lacking = np.column_stack([each.lacking for each in chosen])
    free = np.array([each.kept.policy == "blank" for each in chosen])
    names = [each.name for each in chosen]
    if units is not None:
        lacking = of_units(lacking, units, free, names)
    joined = np.empty_like(lacking)
    parts = np.zeros(len(lacking), np.int64) if strata is None else strata
    for part in np.unique(parts):
        own = parts == part
        patterns, which, _ = numbered(lacking[own])
        counts, n_units = (different_in(which, None if each is None else each[own]) for each in (counted, units))
        enough = Enough(k, whom, n_units, least)
        joined[own] = joined_patterns(patterns, counts, free, names, enough)[which]
    made = list(attributes)
    for column, (place, each) in enumerate(zip(places, chosen, strict=True)):
        made[place] = each.hiding(joined[:, column])
    different, which, _ = numbered(joined)
    found = which if strata is None else np.unique(np.stack([strata, which]), axis=1, return_inverse=True)[1]
    return tuple(made), found if len(different) > 1 or strata is not None else None


def different_in(patterns: Int, numbers: Int | None) -> Int:
    """How many different numbers the rows of each pattern have; how many rows where there are no numbers."""
    if numbers is None:
        return np.bincount(patterns)
    return np.bincount(np.unique(np.stack([numbers, patterns]), axis=1)[1])


class Enough(NamedTuple):
    """How many must share a pattern."""

    k: int
    whom: str = "records"  # what k counts
    units: Int | None = None  # how many units have each pattern
    least: int = 1  # the least number of units


def of_units(lacking: Mask, units: Int, free: Mask, names: Sequence[str]) -> Mask:
    """For each record the gaps of all records of its unit; an error where these differ and must not be blanked."""
    counts = np.column_stack([np.bincount(units, column) for column in lacking.T])
    sizes = np.bincount(units)[:, None]
    mixed = (counts > 0) & (counts < sizes) & ~free
    if mixed.any():
        name = names[int(np.flatnonzero(mixed.any(axis=0))[0])]
        raise ShoalError(
            f"column {name!r} lacks a value in some rows of a person or household and has one in others, so these "
            "rows cannot be grouped by their gaps; use --gaps blank, value, impute or drop"
        )
    return np.asarray(counts[units] > 0)


def numbered(rows: Mask) -> tuple[Mask, Int, Int]:
    """The different patterns in their order, the number of each row's pattern, and how many rows have each."""
    packed = np.packbits(rows, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)  # bytes compare as the patterns do
    _, first, which, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return rows[first], which.reshape(-1), counts


def joined_patterns(patterns: Mask, counts: Int, free: Mask, names: Sequence[str], enough: Enough) -> Mask:
    """For each pattern the one that its records get, so that enough records have each; `free` cells may go."""
    different, which, _ = numbered(patterns)
    sizes = np.bincount(which, counts).astype(np.int64)
    units = np.bincount(which, counts if enough.units is None else enough.units).astype(np.int64)
    while (small := (sizes < enough.k) | (units < enough.least)).any():
        rare = int(np.where(small, sizes, np.iinfo(np.int64).max).argmin())
        both = different | different[rare]
        more = both & ~different
        fewer = both & ~different[rare]
        blanked = sizes * more.sum(axis=1) + sizes[rare] * fewer.sum(axis=1)
        allowed = ~((more | fewer) & ~free).any(axis=1)
        allowed[rare] = False
        if not allowed.any():
            raise too_rare(
                different[rare], int(sizes[rare]), int(units[rare]), names, enough, all_free=bool(free.all())
            )
        nearest = int(np.where(allowed, blanked, np.iinfo(np.int64).max).argmin())
        changed = different.copy()
        changed[[rare, nearest]] = both[nearest]
        different, merged, _ = numbered(changed)
        sizes, units = (np.bincount(merged, each).astype(np.int64) for each in (sizes, units))
        which = merged[which]
    return different[which]


def too_rare(
    pattern: Mask, size: int, units: int, names: Sequence[str], enough: Enough, all_free: bool
) -> ShoalError:
    """A pattern that fewer than k records have, or persons of too few households."""
    lacking = some((repr(name) for name, gap in zip(names, pattern, strict=True) if gap), 10)
    few = size < enough.k
    number, whom = (size, enough.whom) if few else (units, "households")
    least = f"k={enough.k}" if few else f"the {enough.least} that a group needs"
    records, lack = (f"{number} {whom}", "lack") if number > 1 else (f"1 {whom.removesuffix('s')}", "lacks")
    listed = some(map(repr, names), 10)
    what = f"{lack} {lacking} and nothing else" if pattern.any() else f"{lack} none of {listed}"
    cure = "" if all_free else "say --gaps blank to blank more cells, or "
    return ShoalError(
        f"only {records} {what}, fewer than {least}, so they cannot be grouped by their gaps; "
        f"{cure}use --gaps value, impute or drop"
    )
