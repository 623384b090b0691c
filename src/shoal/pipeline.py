"""The way data takes, top to bottom: table, space, partition, release."""

from collections.abc import Iterator, Sequence
from typing import Any, Unpack

import numpy as np

from shoal.attributes import GapFacts, Wishes, gaps_in
from shoal.attributes.digits import EXACT
from shoal.attributes.gaps import written_gaps
from shoal.errors import ShoalError, some, warn_of_all
from shoal.files import Dialect
from shoal.files.batches import batches
from shoal.grouping import grouped
from shoal.manifest import input_of, manifest_of
from shoal.measures import Known, Untouched, figures_of, given_away, information_loss
from shoal.measures.untouched import refusal_of, warning_of
from shoal.parameters import Names, Progress
from shoal.progress import check_progress, shown_progress
from shoal.release import Release
from shoal.row_order import KEPT
from shoal.settings import Options, Settings, check_k
from shoal.space import Space, aggregate_of, digits_of, digits_said
from shoal.table import Table


def anonymize(
    data: Any,
    k: int | None = None,
    quasi_identifiers: Names = None,
    confidential: Names = None,
    identifiers: Names = None,
    *,
    progress: Progress | bool | None = None,
    **options: Unpack[Options],
) -> Release:
    """Hide every record of a table in a group of at least k.

    Parameters
    ----------
    data : pandas, polars or pyarrow table, or the path of a CSV, Parquet or Arrow file
        The table; it is not changed. A lazy table of polars is collected. What hands its records on by Arrow, such
        as a relation of DuckDB or a reader of record batches, comes back as a pyarrow table.
    k : int
        The least number of records that share their quasi-identifiers in the release.
    quasi_identifiers : column names
        The columns by which somebody could recognise a person; each gets the common value of its group.
    confidential : column names
        The columns that the release is about; kept as they are.
    identifiers : column names
        The columns that name a person; they never leave.
    progress : bool or callable
        True shows a bar in a terminal or a notebook; a function is called now and then with (records grouped so
        far, records in all).
    options
        Every other setting by its name, such as ``method="mdav"`` or ``scaling="range"``; see `Settings`. The
        method is a name, or an estimator such as ``MDAV(k=5)``; by default the one that suits the table, and the
        manifest says which that was and why.
    """
    check_progress(progress)
    settings = Settings.of(k, quasi_identifiers, confidential, identifiers, **options)
    return released(data, settings, progress)


def released(data: Any, settings: Settings, progress: Progress | bool | None = None) -> Release:
    """The same for settings that were checked."""
    settings = settings.seeded()
    model, roles, aggregate, exact = settings.method, settings.roles, settings.aggregate, settings.exact
    wishes = settings.wishes()
    table, dropped = without_gaps(Table.of(data, roles), wishes)
    check_k(model.k, len(table))
    space = Space.of(table, settings.scaling, settings.attribute_weights, wishes, model.k)
    for attribute in space.attributes:
        attribute.check_digits(settings.digits)
        attribute.check_aggregate(aggregate_of(attribute, aggregate))
    left = left_by(table, model.k)
    heed(left, settings.strict)
    warn_of(space.constant, model.k, exact, settings.keep_order)
    gaps = (*dropped, *space.gaps)
    warn_of_all(said for attribute in space.attributes if (said := attribute.warning()) is not None)
    with shown_progress(progress, "grouping records") as report:
        partition = grouped(model, space.points, strata=space.strata, progress=report)
    squares = {name: [part] for name, part in space.squares(partition, aggregate).items()}
    used = {} if exact else digits_of(space.attributes, squares, len(table), model.k, settings.digits)
    common = space.common_values(partition, aggregate, exact, used)
    loss = information_loss(space, common, partition.labels)
    sizes = int(partition.sizes.min()), int(partition.sizes.max())
    by = type(model).__name__
    kinds = {each.name: {"kind": each.kind, **each.said()} for each in space.attributes}
    known = Known(
        model.k, len(table), partition.n_groups, sizes, by, loss, left.as_dict(), partition.information_loss,
        {each.name: each.as_dict() for each in gaps}, kinds,
    )  # fmt: skip
    figures = figures_of(known)
    rounded = digits_said(space.attributes, used)
    manifest = manifest_of(settings, table.others, rounded, figures, input_of(table), kinds)
    return Release(table, space, partition, common, loss, settings, tuple(figures), manifest)


def without_gaps(table: Table, wishes: Wishes) -> tuple[Table, list[GapFacts]]:
    """The table without the records that lack a value in a column where that was asked for; and what was found."""
    chosen = {columns: wish for columns, wish in wishes.items() if wish.gaps == "drop"}
    if not chosen:
        return table, []
    facts, missing = [], np.zeros(len(table), bool)
    for columns, wish in chosen.items():
        column = table.column(*columns)
        lacking = gaps_in(column, wish)
        missing |= lacking
        if lacking.any():
            facts.append(GapFacts(column.name, "drop", int(lacking.sum()), dict(written_gaps(column, wish))))
    if missing.all():
        raise ShoalError(
            f"every record lacks a value in {some(repr(each.name) for each in facts)}, so none is left; "
            "choose another policy for gaps"
        )
    return table.where(~missing) if missing.any() else table, facts


def left_by(table: Table, k: int) -> Untouched:
    """What the columns that are released as they are still give away."""
    dialect = table.source.dialect if table.source else Dialect()
    roles = table.roles

    def parts(names: Sequence[str]) -> Iterator[Any]:
        return batches(table.shown(names))

    return given_away(
        parts, roles.quasi_identifiers, table.others, roles.confidential, len(table), k, dialect.signs
    )


def heed(left: Untouched, strict: bool) -> list[str]:
    """Warn of what columns without a role give away; where the user is strict, refuse. Returns what was said."""
    if left.others is None or not left.others.gives_away:
        return []
    if strict:
        raise ShoalError(refusal_of(left.others))
    return warn_of_all([warning_of(left.others)])


def warn_of(constant: Sequence[str], k: int, exact: bool, keep_order: bool) -> list[str]:
    """What the owner of the table should know about its quasi-identifiers, k, plain centroids and kept orders."""
    said = []
    if constant:
        listed = some(map(repr, constant), 10)
        said.append(f"constant quasi-identifiers take no part in the distance: {listed}")
    if k == 1:
        said.append("k=1 hides nobody: every record may stand alone")
    return warn_of_all(said + ([EXACT] if exact else []) + ([KEPT] if keep_order else []))
