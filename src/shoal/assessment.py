"""An assessment: every figure about an original table and what was released of it, whichever tool released it.

Most figures need no more than the two tables. Some need to know which released record is that of which person:
rows are matched by the manifest of a release of Shoal, which undoes the random order of its rows, by a column that
tells the records apart, or by their position if that is asked for.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.cards import Card, counted
from shoal.errors import ShoalError, no_columns, some
from shoal.files import Source, read
from shoal.files.atomic import atomically
from shoal.files.sidecar import manifest_about, written_dialect
from shoal.measures import Figure, Figured, by_name
from shoal.measures.pair import Pair, PairColumn, Role, figures_of_pair, pair_column
from shoal.parameters import Names, Progress, Whole, names_of
from shoal.privacy.k_anonymity import distinct, grouped
from shoal.progress import shown_progress
from shoal.row_order import order_of
from shoal.table import Column, Roles, Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]

Edition = Literal["owner", "public"]
Data = Any  # a table of any dataframe library, or the path of a file

UNMATCHED = (
    "the rows of the two tables are not matched, so figures that need to know whose record is whose are left out: "
    "{names}; name a key column (--key), or say that the rows have the same order (--by-position)"
)


@dataclass(frozen=True, eq=False)
class Assessment(Figured):
    """What an assessment found.

    Attributes
    ----------
    pair : the two tables, column by column
    figures : all figures
    utility, risk : those that say what the release is still good for, and what it gives away, by their names
    matched_by : how rows were matched; empty where they were not
    left_out : measures that need matched rows, where there are none
    seconds : how long it took
    """

    pair: Pair
    figures: tuple[Figure, ...]
    matched_by: str
    left_out: tuple[str, ...]
    seconds: float

    def __repr__(self) -> str:
        return f"Assessment({self.pair.n_after} records, k={self.pair.k}, {len(self.figures)} figures)"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        shown = [(figure.shown, figure.label) for figure in self.figures if figure.shown]
        steps = [('assessment.report("report.html")', "writes all figures as a page")]
        return Card("Assessment", shown[:12], [], notes=self.notes, steps=steps).html()

    @property
    def notes(self) -> list[str]:
        """What has to be said beside the figures."""
        return [UNMATCHED.format(names=some(self.left_out, 20))] if self.left_out else []

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON takes it."""
        return {
            "records": {"original": self.pair.n_before, "released": self.pair.n_after},
            "k": self.pair.k,
            "matched_by": self.matched_by,
            "left_out": list(self.left_out),
            "seconds": round(self.seconds, 3),
            "figures": by_name(self.figures),
        }

    def to_json(self) -> str:
        """The same as text."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False)

    def report(
        self, path: str | os.PathLike[str], edition: Edition = "owner", overwrite: bool = False
    ) -> Path:
        """Write the report: one HTML file that needs nothing else.

        The owner's edition has everything, and describes the original data too. The public one has only what may
        stand beside the published file.
        """
        from shoal.report.assessed import render  # takes long to load, and few need it

        target = Path(path)
        with atomically(target, overwrite) as temporary:
            page = render(self.pair, self.figures, self.left_out, edition)
            temporary.write_text(page, encoding="utf-8")
        return target


def assess(
    original: Data,
    released: Data,
    quasi_identifiers: Names,
    confidential: Names = None,
    *,
    key: str | None = None,
    by_position: bool = False,
    weight: str | None = None,
    control: Data = None,
    population: Data = None,
    seed: int = 0,
    progress: Progress | bool | None = None,
    **dialect: Any,
) -> Assessment:
    """Measure what a release lost and what it gives away.

    Parameters
    ----------
    original, released : pandas, polars or pyarrow tables, or the paths of files
        A released file of Shoal is read, and its rows are matched, as the manifest beside it says.
    quasi_identifiers : column names
        The columns by which somebody could recognise a person.
    confidential : column names
        The columns that the release is about.
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
    seed : int
        Of what is drawn at random.
    progress : bool or callable
        As for `anonymize`.
    dialect
        How CSV files are written, as for `shoal.files.read`.
    """
    roles = Roles.of(quasi_identifiers, confidential)
    Whole(0).check("seed", seed)
    if key is not None and by_position:
        raise ShoalError("key and by_position both say how rows are matched; give one of them")
    manifest = manifest_of(released)
    before = table_of(original, roles, dialect)
    after = table_of(released, roles, written_dialect(manifest) or dialect)
    rows = matched_rows(before, after, manifest, key, by_position)
    further = {
        "control": None if control is None else table_of(control, roles, dialect),
        "population": None if population is None else table_of(population, Roles(roles.quasi_identifiers), dialect),
    }
    if weight is not None and weight not in after.frame.columns:
        raise no_columns([weight], after.frame.columns)
    weights = None if weight is None else weights_in(after.column(weight))
    return assessed(before, after, rows, weights, further, seed, progress)


def assessed(
    before: Table,
    after: Table,
    rows: "Matched",
    weights: Float | None = None,
    further: Mapping[str, Table | None] | None = None,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> Assessment:
    """All figures of two tables whose rows are matched as `rows` says."""
    began = perf_counter()
    with shown_progress(progress, "assessing") as report:
        pair = pair_of(before, after, rows, weights, further or {}, seed)
        figures, left_out = figures_of_pair(pair, report)
    return Assessment(pair, tuple(figures), rows.by, tuple(left_out), perf_counter() - began)


class Matched(NamedTuple):
    """The rows of both tables that belong to the same records; all rows, where that is not known."""

    before: Int
    after: Int
    by: str = ""


def manifest_of(released: Data) -> dict[str, Any]:
    """The manifest beside a released file, if it is about its bytes."""
    return manifest_about(Path(released)) if isinstance(released, str | os.PathLike) else {}


def table_of(data: Data, roles: Roles, dialect: Mapping[str, Any]) -> Table:
    """A table that has the columns of these roles."""
    if isinstance(data, str | os.PathLike) and str(data) != "-":
        return Table.of(read(data, **dialect), roles)
    return Table.of(read(data, **dialect) if isinstance(data, str) else data, roles)


def matched_rows(
    before: Table, after: Table, manifest: Mapping[str, Any], key: str | None, by_position: bool
) -> Matched:
    """Which rows of both tables are those of the same records."""
    everyone = Matched(np.arange(len(before)), np.arange(len(after)))
    if key is not None:
        return rows_by_key(before, after, key)
    if by_position:
        if len(before) != len(after):
            raise ShoalError(
                f"the original has {len(before)} records and the release {len(after)}, so their rows cannot be "
                "matched by position; name a key column, or leave out by_position"
            )
        return everyone._replace(by="position")
    if not manifest or len(before) != len(after) or not is_input(before.source, manifest):
        return everyone
    if manifest.get("keep_order"):
        return everyone._replace(by="manifest")
    order = order_of(manifest["key"], np.arange(len(before)))
    return Matched(order, everyone.after, "manifest")


def is_input(source: Source | None, manifest: Mapping[str, Any]) -> bool:
    """Whether a table is the file that a release was made of."""
    return source is not None and source.sha256 == manifest["input"]["sha256"]


def rows_by_key(before: Table, after: Table, key: str) -> Matched:
    """The rows with the same value of a column that tells the records of both tables apart."""
    for table in (before, after):
        if key not in table.frame.columns:
            raise no_columns([key], table.frame.columns)
    first, second = (texts_in(table.column(key)) for table in (before, after))
    for called, texts in (("original", first), ("release", second)):
        if len(set(texts)) < len(texts):
            raise ShoalError(f"column {key!r} does not tell the records of the {called} apart: some values repeat")
    places = {text: place for place, text in enumerate(first)}
    after_rows = [place for place, text in enumerate(second) if text in places]
    if not after_rows:
        raise ShoalError(f"no record of the release has a value of {key!r} that the original has")
    return Matched(np.array([places[second[place]] for place in after_rows]), np.array(after_rows), f"key {key}")


def texts_in(column: Column) -> list[str]:
    """The values of a column as text."""
    return [str(value).strip() for value in column.values().to_pylist()]


def weights_in(column: Column) -> Float:
    """Sampling weights, which are finite and above 0 somewhere."""
    weights = np.array([np.nan if value is None else float(value) for value in column.values().to_pylist()])
    if not np.isfinite(weights).all() or weights.min() < 0 or not weights.any():
        raise ShoalError(f"column {column.name!r} holds no sampling weights: these are numbers of at least 0")
    return weights


def pair_of(
    before: Table,
    after: Table,
    rows: Matched,
    weights: Float | None,
    further: Mapping[str, Table | None],
    seed: int,
) -> Pair:
    """The two tables side by side."""
    roles = after.roles
    others = {what: table for what, table in further.items() if table is not None}
    coded: dict[str, dict[str, Float]] = {what: {} for what in others}
    columns: list[PairColumn] = []
    kept: Sequence[tuple[Role, tuple[str, ...]]] = (
        ("quasi-identifier", roles.quasi_identifiers),
        ("confidential", roles.confidential),
    )
    for role, names in kept:
        for name in names:
            there = {what: table for what, table in others.items() if name in table.roles_names}
            column, also = pair_column(
                role, before.column(name), after.column(name), *(table.column(name) for table in there.values())
            )
            columns.append(column.rows(rows.before, rows.after))
            for what, values in zip(there, also, strict=True):
                coded[what][name] = values
    groups = grouped(
        distinct(name, column).codes
        for name, column in zip(
            roles.quasi_identifiers, after.shown(roles.quasi_identifiers).columns, strict=True
        )
    )
    return Pair(
        tuple(columns),
        groups[rows.after],
        bool(rows.by),
        None if weights is None else weights[rows.after],
        coded.get("control", {}),
        coded.get("population", {}),
        seed,
    )
