"""Patterns of gaps: records that lack the same values are grouped together, apart from all others.

Where fewer than k records have a pattern, it is an error that names it; or, where that was asked for (`blank`),
more cells are blanked. Then the rarest pattern is joined with another one again and again: both get the gaps of
both. Of all others the one is taken for which the fewest cells are blanked, the first one of several.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.base import Attribute
from shoal.attributes.gap_attribute import GapAttribute
from shoal.errors import ShoalError, some

Int = NDArray[np.int64]
Mask = NDArray[np.bool_]


def apart(attributes: Sequence[Attribute], k: int) -> tuple[tuple[Attribute, ...], Int | None]:
    """The attributes with the values that are blanked, and the pattern of each record; None where all are one."""
    places = [
        place
        for place, each in enumerate(attributes)
        if isinstance(each, GapAttribute) and each.kept.policy in ("pattern", "blank")
    ]
    if not places:
        return tuple(attributes), None
    chosen = [each for each in attributes if isinstance(each, GapAttribute)]
    chosen = [each for each in chosen if each.kept.policy in ("pattern", "blank")]
    lacking = np.column_stack([each.lacking for each in chosen])
    patterns, which, counts = numbered(lacking)
    free = np.array([each.kept.policy == "blank" for each in chosen])
    joined = joined_patterns(patterns, counts, free, [each.name for each in chosen], k)
    different, strata, _ = numbered(joined)
    made = list(attributes)
    for column, (place, each) in enumerate(zip(places, chosen, strict=True)):
        made[place] = each.hiding(joined[which, column])
    return tuple(made), strata[which] if len(different) > 1 else None


def numbered(rows: Mask) -> tuple[Mask, Int, Int]:
    """The different patterns in their order, the number of each row's pattern, and how many rows have each."""
    packed = np.packbits(rows, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).reshape(-1)  # bytes compare as the patterns do
    _, first, which, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    return rows[first], which.reshape(-1), counts


def joined_patterns(patterns: Mask, counts: Int, free: Mask, names: Sequence[str], k: int) -> Mask:
    """For each pattern the one that its records get, so that at least k records have each; `free` cells may go."""
    different, which, _ = numbered(patterns)
    sizes = np.bincount(which, counts).astype(np.int64)
    while sizes[rare := int(sizes.argmin())] < k:
        both = different | different[rare]
        more = both & ~different
        fewer = both & ~different[rare]
        blanked = sizes * more.sum(axis=1) + sizes[rare] * fewer.sum(axis=1)
        allowed = ~((more | fewer) & ~free).any(axis=1)
        allowed[rare] = False
        if not allowed.any():
            raise too_rare(different[rare], int(sizes[rare]), names, k, bool(free.all()))
        nearest = int(np.where(allowed, blanked, np.iinfo(np.int64).max).argmin())
        changed = different.copy()
        changed[[rare, nearest]] = both[nearest]
        different, merged, _ = numbered(changed)
        sizes, which = np.bincount(merged, sizes).astype(np.int64), merged[which]
    return different[which]


def too_rare(pattern: Mask, size: int, names: Sequence[str], k: int, all_free: bool) -> ShoalError:
    """A pattern that fewer than k records have."""
    lacking = some((repr(name) for name, gap in zip(names, pattern, strict=True) if gap), 10)
    records, lack = (f"{size} records", "lack") if size > 1 else ("1 record", "lacks")
    listed = some(map(repr, names), 10)
    what = f"{lack} {lacking} and nothing else" if pattern.any() else f"{lack} none of {listed}"
    cure = "" if all_free else "say --gaps blank to blank more cells, or "
    return ShoalError(
        f"only {records} {what}, fewer than k={k}, so they cannot be grouped by their gaps; "
        f"{cure}use --gaps value, impute or drop"
    )
