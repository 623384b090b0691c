"""Which released record is that of which person: by what made the release, by a key, or by position.

A release of Shoal leaves in a random order. Its manifest holds the key of that order, and says which records were
left out, so whoever has the original and the manifest can put the rows side by side again.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from shoal.errors import ShoalError, no_columns, some
from shoal.manifest import hash_of_values
from shoal.pipeline import designed, without_gaps
from shoal.recipe import recipe_of
from shoal.release import Release
from shoal.row_order import order_of
from shoal.settings import Settings
from shoal.table import Column, Table

Int = NDArray[np.int64]

NO_WAY = "nothing says how"
OTHER_INPUT = "the release was made of another original, or of this one in another form"


class Matched(NamedTuple):
    """The rows of both tables that belong to the same records, side by side.

    Attributes
    ----------
    before, after : their places in the original and in the release; none where it is not known
    by : how it is known
    why : why it is not known
    """

    before: Int
    after: Int
    by: str = ""
    why: str = ""

    def is_whole(self, before: int, after: int) -> bool:
        """Whether all records of both tables are matched."""
        return bool(self.by) and len(self.before) == before and len(self.after) == after


def unmatched(why: str) -> Matched:
    """Nothing is known of whose record is whose."""
    return Matched(np.zeros(0, np.int64), np.zeros(0, np.int64), why=why)


def by_key(before: Table, after: Table, key: str) -> Matched:
    """The rows with the same value of a column that tells the records of both tables apart."""
    first, second = (key_texts(table, key, called) for table, called in ((before, "original"), (after, "release")))
    found = pc.index_in(second, value_set=first)
    rows = np.flatnonzero(np.asarray(pc.is_valid(found)))
    if len(rows) == 0:
        raise ShoalError(
            f"no record of the release has a value of {key!r} that the original has; name a column that was "
            "released as it was, or leave the key out"
        )
    return Matched(found.drop_null().to_numpy().astype(np.int64), rows, f"key {key}")


def key_texts(table: Table, key: str, called: str) -> pa.Array:
    """The values of a key as text; each is there once."""
    if key not in table.frame.columns:
        raise ShoalError(f"the {called}: {no_columns([key], table.frame.columns)}")
    values = texts_in(table.column(key), called)
    if values.null_count:
        raise ShoalError(
            f"column {key!r} of the {called} has no value in {values.null_count} records, so it cannot match "
            "rows; fill it in, take these records out, or name another key"
        )
    counts = pc.value_counts(values)
    several = counts.filter(pc.greater(counts.field("counts"), 1))
    if len(several):
        shown = some((repr(each) for each in several.field("values").to_pylist()), 3)
        raise ShoalError(
            f"column {key!r} does not tell the records of the {called} apart, because some values repeat "
            f"({shown}); name a column that is different in each record"
        )
    return values


def texts_in(column: Column, called: str) -> pa.Array:
    """The values of a column as text."""
    values = column.values()
    try:
        found = pc.utf8_trim_whitespace(pc.cast(values, pa.string()))
    except (pa.ArrowException, TypeError) as error:
        raise ShoalError(
            f"column {column.name!r} of the {called} is of type {values.type}, which cannot match rows; name "
            "another key"
        ) from error
    return pc.if_else(pc.equal(found, ""), pa.scalar(None, pa.string()), found).combine_chunks()


def by_position(before: Table, after: Table) -> Matched:
    """Row i of the release is that of row i of the original."""
    if len(before) != len(after):
        raise ShoalError(
            f"the original has {len(before)} records and the release {len(after)}, so their rows cannot be "
            "matched by position; name a key column, or leave out by_position"
        )
    return Matched(np.arange(len(before)), np.arange(len(after)), "position")


def by_release(before: Table, release: Release) -> Matched:
    """The rows of a release that is still in memory, which keeps the order of its original."""
    rows = release.original.rows
    places = np.arange(len(release.original)) if rows is None else rows
    if not is_input(before, places, release.manifest):
        return unmatched(OTHER_INPUT)
    return Matched(places, np.arange(len(places)), "release")


def by_manifest(before: Table, after: Table, manifest: Mapping[str, Any]) -> Matched:
    """The rows of a release as the manifest beside it tells them: it has the key of their order."""
    if not manifest:
        return unmatched(NO_WAY)
    places = np.arange(len(before))
    if len(before) != len(after):
        if before.source is not None and not is_same_file(before, manifest):
            return unmatched(OTHER_INPUT)
        places = places_left(before, recipe_of(dict(manifest)).settings)
    if len(places) != len(after) or not is_input(before, places, manifest):
        return unmatched(OTHER_INPUT)
    rows = np.arange(len(after))
    if not manifest.get("keep_order"):
        places = places[order_of(manifest["key"], rows)]
    return Matched(places, rows, "manifest")


def places_left(before: Table, settings: Settings) -> Int:
    """The records of an original that were not left out for their gaps or their strata."""
    table, _ = without_gaps(Table(before.frame, settings.roles, before.source), settings.wishes())
    table, _ = designed(table, settings)
    return np.arange(len(before)) if table.rows is None else table.rows


def is_same_file(before: Table, manifest: Mapping[str, Any]) -> bool:
    """Whether a table is the file that a release was made of."""
    return before.source is not None and before.source.sha256 == str(manifest["input"]["sha256"])


def is_input(before: Table, places: Int, manifest: Mapping[str, Any]) -> bool:
    """Whether a table is what a release was made of: the same file, or a dataframe whose records are the same."""
    if len(places) == 0 or places[-1] >= len(before):
        return False
    if before.source is not None:
        return is_same_file(before, manifest)
    chosen = np.zeros(len(before), bool)
    chosen[places] = True
    return hash_of_values(before if chosen.all() else before.where(chosen)) == str(manifest["input"]["sha256"])
