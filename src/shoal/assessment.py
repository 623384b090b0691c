"""An assessment: every figure about an original table and what was released of it, whichever tool released it.

Most figures need no more than the two tables. Some need to know which released record is that of which person:
rows are matched by the manifest of a release of Shoal, which undoes the random order of its rows, by a column that
tells the records apart, or by their position if that is asked for.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Wish
from shoal.cards import Card
from shoal.errors import ShoalError, no_columns, some
from shoal.files import atomically, read
from shoal.files.file import stamp
from shoal.files.formats import by_suffix
from shoal.files.sidecar import manifest_about, written_dialect, written_gap_values
from shoal.matching import Matched, by_key, by_manifest, by_position, by_release
from shoal.measures import Figure, Figured, by_name
from shoal.measures import risk as _risk  # noqa: F401 - its measures register themselves
from shoal.measures import utility as _utility  # noqa: F401
from shoal.measures.pair import (
    LARGEST,
    Pair,
    PairColumn,
    Role,
    figures_of_pair,
    measurable,
    numbers_in,
    pair_column,
)
from shoal.measures.risk.two_releases import intersection
from shoal.parameters import Names, Progress, Whole, names_of
from shoal.privacy.k_anonymity import groups_in
from shoal.progress import check_progress, shown_progress
from shoal.release import Release
from shoal.stream import FileRelease
from shoal.table import Roles, Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]

Edition = Literal["owner", "public"]
Data = Any  # a table of any dataframe library, or the path of a file

UNMATCHED = (
    "the rows of the two tables are not matched ({why}), so what needs to know whose record is whose is left out: "
    "{names}; name a column of both tables that tells records apart (--key), or say that their rows have the same "
    "order (--by-position)"
)
BY_RECORD = (
    "the release counts k in {whom}, and an assessment takes each record for a person of its own; its k and its "
    "figures of risk speak of records, so {whom} may be at a higher risk; the report of the release counts {whom}"
)
PARTLY = (
    "{matched} of {before} original and {after} released records are matched; what needs to know whose record is "
    "whose speaks of these"
)


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Figured):
    """What an assessment found.

    Attributes
    ----------
    pair : the two tables, column by column
    figures : all figures
    utility, risk : those that say what the release is still good for, and what it gives away, by their names
    matched_by : how rows were matched; empty where they were not
    why_unmatched : why they were not
    left_out : measures that need matched rows, where there are none
    seconds : how long it took, without reading
    whom : what k counts in the release, as its manifest says
    """

    pair: Pair
    figures: tuple[Figure, ...]
    matched_by: str
    why_unmatched: str
    left_out: tuple[str, ...]
    seconds: float
    whom: str = "records"

    def __repr__(self) -> str:
        return f"Assessment({self.pair.n_after} records, k={self.pair.k}, {len(self.figures)} figures)"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        shown = [(figure.shown, figure.label) for figure in self.figures if figure.shown]
        steps = [('assessment.report("report.html")', "writes all figures as a page; keep it private")]
        return Card("Assessment", shown[:12], notes=self.notes, steps=steps).html()

    @property
    def matched(self) -> int:
        """How many records are matched."""
        part = self.pair.by_record
        return 0 if part is None else part.n_after

    @property
    def notes(self) -> list[str]:
        """What has to be said beside the figures."""
        found = self.cautions
        if self.left_out:
            names = some((name.replace("_", " ") for name in self.left_out), 20)
            return [*found, UNMATCHED.format(why=self.why_unmatched, names=names)]
        if self.pair.linked is not None:
            counts = {"before": self.pair.n_before, "after": self.pair.n_after}
            return [*found, PARTLY.format(matched=self.matched, **counts)]
        return found

    @property
    def cautions(self) -> list[str]:
        """Those of them that every reader of the figures needs, also of a public page."""
        return [] if self.whom == "records" else [BY_RECORD.format(whom=self.whom)]

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return {
            "records": {"original": self.pair.n_before, "released": self.pair.n_after, "matched": self.matched},
            "k": self.pair.k,
            "matched_by": self.matched_by,
            "left_out": list(self.left_out),
            "notes": self.notes,
            "seconds": round(self.seconds, 3),
            "figures": by_name(self.figures),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def report(self, path: str | os.PathLike[str], edition: Edition = "owner", overwrite: bool = False) -> Path:
        """Write the report: one HTML file that needs nothing else.

        The owner's edition has everything, and describes the original data too. The public one has only what may
        stand beside the published file.
        """
        from shoal.report.assessed import render  # takes long to load, and few need it

        if edition not in ("owner", "public"):
            raise ShoalError(f"edition must be 'owner' or 'public', not {edition!r}")
        target = Path(path)
        with atomically(target, overwrite) as temporary:
            page = render(self.pair, self.figures, self.left_out, edition, self.cautions)
            temporary.write_text(page, encoding="utf-8")
        return target


def assess(
    original: Data,
    released: Data,
    quasi_identifiers: Names = None,
    confidential: Names = None,
    *,
    key: str | None = None,
    by_position: bool = False,
    weight: str | None = None,
    control: Data = None,
    population: Data = None,
    other: Data = None,
    seed: int = 0,
    progress: Progress | bool | None = None,
    **dialect: Any,
) -> Assessment:
    """Measure what a release lost and what it gives away, whichever tool made it.

    Parameters
    ----------
    original : pandas, polars or pyarrow table, or the path of a file
        The table that the release was made of.
    released : the same, or a `Release`
        A released file of Shoal is read, and its rows are matched, as the manifest beside it says. A `Release` is
        matched with its original too.
    quasi_identifiers : column names
        The columns by which somebody could recognise a person; by default those of the release, where it is one of
        Shoal.
    confidential : column names
        The columns that the release is about; by default likewise.
    key : column name
        A column of both tables that tells the records apart, to match the rows by.
    by_position : bool
        Row i of the release is that of row i of the original.
    weight : column name
        The sampling weight of the released records.
    control : table or path
        People like those in the table who are not in it: what an attack finds out about them is no disclosure.
    population : table or path
        Everybody whom an attacker may think of; at least the quasi-identifiers of them.
    other : table, path or `Release`
        Another release of the same original: what somebody learns who holds both. Its rows are matched likewise.
    seed : int
        Of what is drawn at random.
    progress : bool or callable
        As for `anonymize`.
    dialect
        How CSV files are written, as for `shoal.files.read`.
    """
    check_progress(progress)
    Whole(0).check("seed", seed)
    if key is not None and by_position:
        raise ShoalError("key and by_position both say how rows are matched; give one of them")
    manifest = manifest_of(released)
    roles = roles_of(quasi_identifiers, confidential, manifest)
    before = table_of(original, roles, "original", dialect)
    after = Released.of(released, manifest, roles, "release", dialect)
    further = {
        "control": None if control is None else table_of(control, roles, "control table", dialect),
        "population": None if population is None else table_of(
            population, Roles(roles.quasi_identifiers), "population table", dialect
        ),
    }  # fmt: skip
    rows = after.matched_with(before, key, by_position)
    held_too: tuple[Figure, ...] = ()
    if other is not None:
        second = Released.of(other, manifest_of(other, "other release"), roles, "other release", dialect)
        held_too = held_together(after, rows, second, second.matched_with(before, key, by_position))
    pair = pair_of(before, after, rows, weights_of(after.table, weight), further, seed)
    del before, after, further  # tables of a million records need not be held while these are measured
    return replace(assessed(pair, rows, held_too, progress), whom=counted_in(manifest))


def counted_in(manifest: Mapping[str, Any]) -> str:
    """What k counts in a release, as far as its manifest is there."""
    if manifest.get("household") is not None:
        return str(manifest.get("household_k", "households"))
    return "records" if manifest.get("person") is None else "persons"


def assessed(
    pair: Pair, rows: Matched, also: tuple[Figure, ...] = (), progress: Progress | bool | None = None
) -> Assessment:
    """All figures of a pair whose rows are matched as `rows` says, and some that were found before."""
    began = perf_counter()
    with shown_progress(progress, "assessing") as report:
        figures, left_out = figures_of_pair(pair, report)
    return Assessment(pair, (*figures, *also), rows.by, rows.why, tuple(left_out), perf_counter() - began)


@dataclass(frozen=True, eq=False)
class Released:
    """A release as it was handed in: its table, its manifest if there is one, and itself if it is one of Shoal."""

    table: Table
    manifest: Mapping[str, Any]
    release: Release | None = None

    @classmethod
    def of(
        cls, data: Data, manifest: Mapping[str, Any], roles: Roles, called: str, dialect: Mapping[str, Any]
    ) -> "Released":
        """A release, read as its manifest says."""
        said = written_dialect(dict(manifest)) or dialect
        if isinstance(data, Release):
            return cls(table_of(data.table, roles, called, said), manifest, data)
        path_or_table = data.path if isinstance(data, FileRelease) else data
        return cls(table_of(path_or_table, roles, called, said), manifest)

    def matched_with(self, before: Table, key: str | None, in_order: bool) -> Matched:
        """Which of its rows are those of which records of the original."""
        if key is not None:
            return by_key(before, self.table, key)
        if in_order:
            return by_position(before, self.table)
        if self.release is not None:
            return by_release(before, self.release)
        return by_manifest(before, self.table, self.manifest)


def manifest_of(released: Data, called: str = "release") -> Mapping[str, Any]:
    """What is known of how a release was made: the manifest beside its file, if it is about its bytes."""
    if isinstance(released, Release | FileRelease):
        return released.manifest
    if not isinstance(released, str | os.PathLike) or str(released) == "-":
        return {}
    try:
        stamp(Path(released))  # a file that is not there is said before roles that are then not known
    except ShoalError as error:
        raise ShoalError(f"the {called}: {error}") from None
    return manifest_about(Path(released))


def roles_of(quasi_identifiers: Names, confidential: Names, manifest: Mapping[str, Any]) -> Roles:
    """The roles of the columns: as they are given, else as the release was made."""
    known = manifest.get("roles", {})
    quasi, kept = names_of(quasi_identifiers), names_of(confidential)
    if not quasi:
        quasi = tuple(known.get("quasi_identifiers", ()))
        kept = kept or tuple(known.get("confidential", ()))
    return Roles(quasi, kept)


def table_of(data: Data, roles: Roles, called: str, dialect: Mapping[str, Any]) -> Table:
    """A table that has the columns of these roles; whatever is wrong says in which table."""
    is_path = isinstance(data, str | os.PathLike)
    kind = by_suffix(Path(data).name) if is_path else None
    said = {} if kind is not None and not kind.is_text else dialect
    try:
        return Table.of(read(data, **said) if is_path else data, roles, leaves=False)
    except ShoalError as error:
        raise ShoalError(f"the {called}: {error}") from None


def weights_of(table: Table, name: str | None) -> Float | None:
    """Sampling weights, which are numbers of at least 0."""
    if name is None:
        return None
    if name not in table.frame.columns:
        raise ShoalError(f"the release: {no_columns([name], table.frame.columns)}")
    weights = numbers_in(table.column(name), Wish())
    if weights is None or not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
        raise ShoalError(
            f"column {name!r} of the release does not hold sampling weights, which are numbers of at least 0 in "
            "every record; correct it, or name the column that does"
        )
    return weights


def pair_of(
    before: Table,
    after: Released,
    rows: Matched,
    weights: Float | None = None,
    further: Mapping[str, Table | None] | None = None,
    seed: int = 0,
) -> Pair:
    """The two tables side by side; rows are in the order in which they match, where all of them do."""
    roles, there = after.table.roles, {what: table for what, table in (further or {}).items() if table is not None}
    marks = written_gap_values(dict(after.manifest), (*roles.quasi_identifiers, *roles.confidential))
    coded: dict[str, dict[str, Float]] = {what: {} for what in there}
    columns: list[PairColumn] = []
    for role, names in kept_in(roles):
        for name in names:
            has = {what: table for what, table in there.items() if name in table.frame.columns}
            gaps = marks[name]
            column, others = pair_column(
                role, before.column(name), after.table.column(name),
                *(table.column(name) for table in has.values()),
                gap_values=None if gaps is None else tuple(gaps),
            )  # fmt: skip
            called = "original", "release", *(f"{what} table" for what in has)
            for table, values in zip(called, (column.before, column.after, *others), strict=True):
                refuse_beyond(name, table, values)
            columns.append(column)
            for what, values in zip(has, others, strict=True):
                coded[what][name] = values
    groups = groups_in(after.table.shown(roles.quasi_identifiers), roles.quasi_identifiers)
    pair = Pair(
        tuple(columns),
        groups,
        False,
        weights,
        coded.get("control", {}),
        coded.get("population", {}),
        seed,
        np.arange(len(before)),
    )
    if not rows.by:
        return pair
    side_by_side = replace(pair.rows(rows.before, rows.after), matched=True)
    return side_by_side if rows.is_whole(len(before), len(after.table)) else replace(pair, linked=side_by_side)


def refuse_beyond(name: str, called: str, values: Float) -> None:
    """Refuse infinity, and numbers whose squares cannot be summed."""
    rows = np.flatnonzero(~measurable(values))
    if not len(rows):
        return
    listed = some((str(row + 1) for row in rows), 5)
    if np.isinf(values[rows]).any():
        what, then = "infinity", "take those records out of both tables or cap the values"
    else:
        what, then = f"numbers beyond {LARGEST:g}", "divide the column by a power of ten in both tables"
    raise ShoalError(f"the {called}: column {name!r} holds {what} (record{'s'[: len(rows) > 1]} {listed}); {then}")


def kept_in(roles: Roles) -> tuple[tuple[Role, tuple[str, ...]], ...]:
    """The columns that are measured, by their roles."""
    return ("quasi-identifier", roles.quasi_identifiers), ("confidential", roles.confidential)


def held_together(first: Released, rows: Matched, second: Released, others: Matched) -> tuple[Figure, ...]:
    """What somebody learns who holds two releases, of the records that are in both."""
    for called, found in (("release", rows), ("other release", others)):
        if not found.by:
            raise ShoalError(
                f"two releases are compared record by record, and the rows of the {called} are not matched with "
                f"the original ({found.why}); name a key column, or say that all rows have the same order "
                "(by_position)"
            )
    _, here, there = np.intersect1d(rows.before, others.before, return_indices=True)
    if len(here) == 0:
        raise ShoalError("no record is in both releases; compare two releases of the same original")
    one, two = (
        groups_in(each.table.shown(each.table.roles.quasi_identifiers), each.table.roles.quasi_identifiers)
        for each in (first, second)
    )
    return tuple(intersection(one[rows.after[here]], two[others.after[there]]))
