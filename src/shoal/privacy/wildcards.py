"""The other reading of gaps: a missing value fits every value.

k is promised with a gap as a value that somebody can see. Whoever takes a gap for "could be anything" finds more
records that fit a person: those that agree wherever neither has a gap. This counts them, for the record that the
fewest fit.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from shoal.files.spelling import MISSING
from shoal.privacy.k_anonymity import distinct, grouped

Int = NDArray[np.int64]

MOST_PATTERNS = 256
"""With more patterns of gaps there are too many pairs of them to compare."""


GapTexts = Mapping[str, Sequence[str] | None]
"""The texts that mean a gap in a column, beside an empty one; None, or no entry, for those that usually do."""


class Wildcards(NamedTuple):
    """The least number of records that fit a record; None where there are no gaps, or where `why_not` says why."""

    k: int | None
    why_not: str | None = None


def wildcard_k(table: pa.Table, quasi_identifiers: Sequence[str], gaps: GapTexts | None = None) -> Wildcards:
    """The least number of records that fit a record, where a gap fits everything."""
    texts = gaps or {}
    columns = [numbered(name, table[name], texts.get(name)) for name in dict.fromkeys(quasi_identifiers)]
    codes = np.column_stack(columns)
    if not (codes < 0).any():
        return Wildcards(None)
    groups = grouped([column + 1 for column in columns])
    _, first, sizes = np.unique(groups, return_index=True, return_counts=True)
    return fewest(codes[first], sizes)


def numbered(name: str, column: pa.ChunkedArray, gaps: Sequence[str] | None) -> Int:
    """The number of each record's value, -1 for a gap."""
    found = distinct(name, column)
    missing = np.array(found.values.is_null().to_pylist(), dtype=bool)
    if pa.types.is_string(found.values.type) or pa.types.is_large_string(found.values.type):
        texts = [(text or "").strip() for text in found.values.to_pylist()]
        missing |= np.array([is_gap(text, gaps) for text in texts], dtype=bool)
    return np.where(missing[found.codes], -1, found.codes)


def is_gap(text: str, gaps: Sequence[str] | None) -> bool:
    """Whether a text means a gap; a number does however it is written, such as -9.0 for -9."""
    if gaps is None:
        return text.lower() in MISSING
    if not text or text in gaps:
        return True
    value = number(text)
    return value is not None and value in [number(gap) for gap in gaps]


def number(text: str) -> float | None:
    """The number that a text is, if it is one."""
    try:
        return float(text)
    except ValueError:
        return None


def fewest(codes: Int, sizes: Int) -> Wildcards:
    """The same of different combinations of values, each of which so many records have."""
    patterns, which = np.unique(codes < 0, axis=0, return_inverse=True)
    if len(patterns) > MOST_PATTERNS:
        return Wildcards(None, f"there are {len(patterns)} patterns of gaps, more than {MOST_PATTERNS}")
    members = [np.flatnonzero(which.reshape(-1) == number) for number in range(len(patterns))]
    fits = np.zeros(len(codes), np.int64)
    for mine, ours in enumerate(members):
        for other, theirs in enumerate(members):
            both = np.flatnonzero(~patterns[mine] & ~patterns[other])
            if not len(both):
                fits[ours] += sizes[theirs].sum()
                continue
            rows = np.concatenate([ours, theirs])
            keys = grouped([codes[rows, column] for column in both])
            counts = np.bincount(keys[len(ours) :], sizes[theirs], minlength=int(keys.max()) + 1)
            fits[ours] += counts[keys[: len(ours)]].astype(np.int64)
    return Wildcards(int(fits.min()))
