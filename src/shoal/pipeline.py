"""The way data takes, top to bottom: table, space, partition, release."""

from collections.abc import Iterator, Sequence
from functools import partial
from math import sqrt
from typing import Any, Unpack

import numpy as np

from shoal.attributes import GapFacts, Wishes, gaps_in
from shoal.attributes.digits import EXACT
from shoal.attributes.gaps import written_gaps
from shoal.combinations import Released, coarser
from shoal.design import Design, read_design, same_rows
from shoal.errors import ShoalError, some, warn_of_all
from shoal.estimator import Microaggregator
from shoal.files import Dialect
from shoal.files.batches import batches
from shoal.grouping import Units, grouped
from shoal.manifest import input_of, manifest_of
from shoal.measures import Known, Untouched, figures_of, given_away, information_loss
from shoal.measures.untouched import PersonTally, refusal_of, warning_of
from shoal.parameters import Names, Progress
from shoal.partition import Partition
from shoal.person_rows import is_constant_for, levels_of
from shoal.privacy.persons import sizes_of
from shoal.progress import check_progress, shown_progress
from shoal.release import Release
from shoal.released_columns import design_columns
from shoal.row_order import KEPT
from shoal.settings import Options, Settings
from shoal.space import Cells, Space, aggregate_of, digits_of, digits_said
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
    model, aggregate, exact, wishes = settings.method, settings.aggregate, settings.exact, settings.wishes()
    table, dropped = without_gaps(Table.of(data, settings.roles), wishes)
    table, design = designed(table, settings)
    strata = None if settings.accept_linkage else same_rows(design, settings.pseudonym, model.k)
    if strata is None and design.strata is not None:
        strata = design.strata.codes
    least = max(model.k, design.least_units)
    space = Space.of(table, settings.scaling, settings.attribute_weights, wishes, least, design.units, strata)
    for attribute in space.attributes:
        attribute.check_digits(settings.digits)
        attribute.check_aggregate(aggregate_of(attribute, aggregate))
    left = left_by(table, design, model.k)
    heed(left, settings.strict)
    warn_of(space.constant, model.k, exact, settings.keep_order)
    warn_of_weights(settings, design)
    gaps = (*dropped, *space.gaps)
    warn_of_all(said for attribute in space.attributes if (said := attribute.warning()) is not None)
    with shown_progress(progress, "grouping records") as report:
        partition, cells = grouped_as_designed(model, space, design, report)
    squares = {name: [part] for name, part in space.squares(cells, aggregate).items()}
    used = {} if exact else digits_of(space.attributes, squares, len(table), model.k, settings.digits)
    whole = None if design.weights is None else design.weights.whole
    values = partial(space.common_values, aggregate=aggregate, exact=exact, digits=used, weights=whole)
    common = values(cells)
    loss = information_loss(space, common, cells)
    also = []
    if settings.also:
        before = Released(space, partition.labels, cells, common)
        cells = coarser(before, settings.also, design.counted, space.strata)
        common = values(cells)
        finer, loss = loss, information_loss(space, common, cells)
        after = Released(space, partition.labels, cells, common)
        also = [
            {"k": k, "columns": list(names), "before": before.found_k(names, design.counted)}
            | {"found": after.found_k(names, design.counted), "information_loss_before": finer.percent}
            for k, names in settings.also
        ]
    placed = design_columns(
        table, design, partition.labels, settings.released_weight, settings.pseudonym, settings.pseudonym_key
    )
    kinds = {each.name: {"kind": each.kind, **each.said()} for each in space.attributes}
    sizes = sizes_of(partition.labels, design.counted)
    known = Known(
        model.k, len(table), partition.n_groups, (int(sizes.min()), int(sizes.max())), type(model).__name__, loss,
        left.as_dict(), partition.information_loss, {each.name: each.as_dict() for each in gaps}, kinds,
        design.facts(len(table)) | ({"also": also} if also else {}),
        None if whole is None else information_loss(space, common, cells, whole),
    )  # fmt: skip
    figures = figures_of(known)
    rounded = digits_said(space.attributes, used)
    manifest = manifest_of(settings, table.others, rounded, figures, input_of(table), kinds)
    return Release(
        table, space, partition, cells, common, placed, design, loss, settings, tuple(figures), manifest
    )


def designed(table: Table, settings: Settings) -> tuple[Table, Design]:
    """Whose the records are; the table without strata that are too small, where that was asked for."""
    return read_design(
        table,
        k=settings.k,
        person=settings.person,
        person_rows=settings.person_rows,
        household=settings.household,
        household_k=settings.household_k,
        within=settings.within,
        merge_strata=settings.merge_strata,
        small_strata=settings.small_strata,
        sampling_weight=settings.sampling_weight,
    )


def grouped_as_designed(
    model: Microaggregator, space: Space, design: Design, progress: Progress | None
) -> tuple[Partition, Cells]:
    """The groups of a table, and the cells of each quasi-identifier: these differ where rows may be apart."""
    units = None if design.units is None else Units(design.units, design.unit_persons, design.least_units)
    weights = None if design.weights is None else design.weights.floats
    partition = grouped(
        model, space.points, strata=space.strata, units=units, record_weights=weights, progress=progress
    )
    cells = space.cells(partition.labels)
    if not design.apart or design.person is None:
        return partition, cells
    persons = design.person.codes
    varying = [each for each in space.attributes if not is_constant_for(persons, each.coordinates())]
    if not varying:
        return partition, cells
    points = np.hstack([each.coordinates() * sqrt(each.weight) for each in varying])
    labels = levels_of(points, partition.labels, persons, model.k)
    return Partition(space.points, labels, model.k), cells | {each.name: labels for each in varying}


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


def left_by(table: Table, design: Design, k: int) -> Untouched:
    """What the columns that are released as they are still give away; several rows of a person count once."""
    persons = design.counted
    dialect = table.source.dialect if table.source else Dialect()
    roles = table.roles

    def parts(names: Sequence[str]) -> Iterator[Any]:
        return batches(table.shown(names))

    columns = roles.quasi_identifiers, table.others, roles.confidential
    if persons is None:
        return given_away(parts, *columns, len(table), k, dialect.signs)
    return given_away(
        parts, *columns, len(table), k, dialect.signs, lambda _: PersonTally(persons), whom=design.whom
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


def warn_of_weights(settings: Settings, design: Design) -> list[str]:
    """What the owner should know of sampling weights: they may identify, and not every method sees them."""
    if design.weights is None:
        return []
    said, name = [], design.weights.name
    if settings.released_weight in ("keep", "round"):
        how = "as they are" if settings.released_weight == "keep" else "rounded"
        said.append(
            f"sampling weights leave {how} in column {name!r}, and a weight can itself identify: a rare one tells "
            "the members of a group apart; --released-weight common gives a group its mean weight, drop leaves "
            "the column out"
        )
    if not settings.method.takes_weights:
        said.append(
            f"{type(settings.method).__name__} groups records without their sampling weights, because it has no "
            "weighted form; common values and the weighted loss use them"
        )
    return warn_of_all(said)
