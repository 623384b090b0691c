"""The way data takes, top to bottom: table, space, partition, release."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import sqrt
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import GapFacts, Wishes, gaps_in
from shoal.attributes.digits import EXACT
from shoal.attributes.gaps import written_gaps
from shoal.attributes.patterns import Together
from shoal.combinations import Border, Counted, Released, with_larger_k
from shoal.design import Design, counted_as, read_design, same_rows
from shoal.errors import ShoalError, some, warn_of_all
from shoal.estimator import Microaggregator
from shoal.files import Dialect
from shoal.files.batches import batches
from shoal.grouping import Units, grouped
from shoal.manifest import input_of, manifest_of
from shoal.measures import Figure, Known, Untouched, figures_of, given_away, information_loss
from shoal.measures.promises import promises
from shoal.measures.survey import linkage
from shoal.measures.untouched import PersonTally, refusal_of, warning_of
from shoal.parameters import Names, Progress
from shoal.partition import Partition
from shoal.person_rows import few_differing, is_constant_for, levels_of
from shoal.privacy.checking import checked_models
from shoal.privacy.coding import coding_for
from shoal.privacy.feasibility import outlook
from shoal.privacy.information import information
from shoal.privacy.persons import sizes_of
from shoal.privacy.rules import Rules, by_ranks, check_feasible
from shoal.progress import check_progress, shown_progress
from shoal.pseudonyms import check_key_place, key_in
from shoal.release import Release, refuse_links
from shoal.released_columns import Placed, design_columns, pseudonym_column, with_weights
from shoal.row_order import KEPT, order_of
from shoal.settings import Options, Settings
from shoal.space import Cells, Space, aggregate_of, digits_of, digits_said
from shoal.table import Table

Int = NDArray[np.int64]

WEIGHTED = "MDAV, CBFS, V-MDAV, Auto and Refined"
"""The methods that group by weights."""


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
    check_key_place(settings.pseudonym_key, source=table.source.path if table.source else None)
    table, design = designed(table, settings)
    kept_apart = borders(design, settings)
    strata = kept_apart[-1].parts if kept_apart else None
    together = Together(design.units, design.counted, design.whom, design.least_units)
    space = Space.of(table, settings.scaling, settings.attribute_weights, wishes, model.k, together, strata)
    if space.strata is not None:
        kept_apart.append(Border(space.strata, "among the rows with the same gaps, which stay together"))
    for attribute in space.attributes:
        attribute.check_digits(settings.digits)
        attribute.check_aggregate(aggregate_of(attribute, aggregate))
    left = left_by(table, design, model.k)
    heed(left, settings.strict)
    warn_of(space.constant, model.k, exact, settings.keep_order)
    warn_of_weights(settings, design)
    warn_of_persons(space, design)
    gaps = (*dropped, *space.gaps)
    warn_of_all(said for attribute in space.attributes if (said := attribute.warning()) is not None)
    rules = rules_of(table, settings, design)
    if rules is not None:
        check_feasible(rules)
        warn_of_all(outlook(rules, model.k))
    with shown_progress(progress, "grouping records") as report:
        partition, cells = grouped_as_designed(model, space, design, rules, report)
    squares = {name: [part] for name, part in space.squares(cells, aggregate).items()}
    used = {} if exact else digits_of(space.attributes, squares, len(table), model.k, settings.digits)
    whole = None if design.weights is None else design.weights.whole
    values = partial(space.common_values, aggregate=aggregate, exact=exact, digits=used, weights=whole)
    leaving = None if design.strata is None else design.strata.leaving(table)
    made = Released(space, partition.labels, cells, values(cells), leaving)
    before = information_loss(space, made.common, cells).percent if settings.also else 0.0
    made, also = with_larger_k(made, settings.also, Counted(design.whom, design.counted, kept_apart), values)
    placed = design_columns(table, design, partition.labels, settings.released_weight)
    linked = links_of(made, placed, design, settings)
    counted_along = [name for name in settings.within if name in table.kept]
    larger = [each | {"strata": counted_along, "information_loss_before": before} for each in also]
    known = known_of(settings, made, partition, design, left, gaps, larger, rules)
    if rules is not None:
        quasi, released_weight = settings.roles.quasi_identifiers, settings.released_weight
        refuse_joined(rules, lambda: with_weights(made.codes(quasi), placed, released_weight), design)
    kept = [] if rules is None else checks_of(rules, settings, partition, design)
    figures = (*figures_of(known), *linked, *kept)
    rounded = digits_said(space.attributes, used)
    key: bytes | None = None
    if settings.pseudonym is not None and settings.pseudonym_key is not None:
        key = key_in(settings.pseudonym_key)  # last of all: a refusal leaves no new key behind
        placed[settings.pseudonym] = pseudonym_column(design, settings.pseudonym, key)
    manifest = manifest_of(settings, table.others, rounded, figures, input_of(table), known.kinds, key)
    return Release(
        table, space, partition, made.labels, made.common, placed, design, known.loss, settings, figures, manifest
    )


def borders(design: Design, settings: Settings) -> list[Border]:
    """What groups do not cross, the finest last: strata, and numbers of rows where a pseudonym links these."""
    found = []
    if design.strata is not None:
        found.append(Border(design.strata.codes, "in one of the strata, whose borders are kept"))
    linked = None if settings.accept_linkage else same_rows(design, settings.pseudonym, settings.k)
    if linked is not None:
        words = f"among the {design.whom} with as many rows, whose rows a pseudonym links"
        found.append(Border(linked, words))
    return found


def links_of(made: Released, placed: Mapping[str, Placed], design: Design, settings: Settings) -> list[Figure]:
    """How many have the same rows where a pseudonym links these; too few are refused unless that is accepted."""
    if settings.pseudonym is None:
        return []
    groups = with_weights(made.codes(settings.roles.quasi_identifiers), placed, settings.released_weight)
    links = design.links(settings.pseudonym, groups, settings.k)
    if not settings.accept_linkage:
        for crowd, found in links:
            refuse_links(found, crowd.whom, crowd.least)
    first, found = links[0]
    return [linkage(found, settings.k, first.whom, settings.pseudonym)]


def rules_of(table: Table, settings: Settings, design: Design) -> Rules | None:
    """The privacy models that every group must satisfy, with the confidential values of the records."""
    if not settings.models:
        return None
    gaps = settings.promised_gaps()
    codings = [coding_for(model, table.column(model.on), gaps[model.on]) for model in settings.models]
    return Rules.of(settings.models, codings, design.units, design.counted, leaving_order(settings, len(table)))


def leaving_order(settings: Settings, rows: int) -> Int | None:
    """The order of the rows as they leave, where models are about ranks; None where they keep their order."""
    if settings.key is None or not any(map(by_ranks, settings.models)):
        return None
    return order_of(settings.key, np.arange(rows))


def refuse_joined(rules: Rules, groups: Callable[[], Int], design: Design) -> None:
    """Groups with the same released values are one; it may break a model under which absent values are ignored."""
    places = [place for place, model in enumerate(rules.models) if getattr(model, "absent", None) == "ignore"]
    if not places:
        return
    models, codings = [rules.models[place] for place in places], [rules.codings[place] for place in places]
    for check in checked_models(models, codings, groups(), design.counted):
        if not check.holds:
            raise ShoalError(
                f"{check.model} does not hold where groups have the same values and so are one: "
                f"{len(check.broken)} groups break it; nothing was released; try another method or a larger k, or "
                "let absent values count"
            )


def checks_of(rules: Rules, settings: Settings, partition: Partition, design: Design) -> list[Figure]:
    """What every privacy model finds in the groups; on the bytes it is found again."""
    order = leaving_order(settings, len(partition.labels))
    checks = checked_models(rules.models, rules.codings, partition.labels, design.counted, order)
    return promises(checks, "the groups")


def known_of(
    settings: Settings,
    made: Released,
    partition: Partition,
    design: Design,
    left: Untouched,
    gaps: Sequence[GapFacts],
    larger: Sequence[Mapping[str, Any]],
    rules: Rules | None,
) -> Known:
    """What is known of a release when its figures are made; `larger` is what was found of every larger k."""
    space, cells, records = made.space, made.labels, len(partition.labels)
    sizes = sizes_of(partition.labels, design.counted)
    whole, model = None if design.weights is None else design.weights.whole, settings.method
    before = getattr(model, "unruled_sse_", None) if rules is not None else None
    return Known(
        model.k,
        records,
        partition.n_groups,
        (int(sizes.min()), int(sizes.max())),
        type(model).__name__,
        information_loss(space, made.common, cells),
        left.as_dict(),
        partition.information_loss if space.has_cells(cells, partition.labels) else None,
        {each.name: each.as_dict() for each in gaps},
        {each.name: {"kind": each.kind, **each.said()} for each in space.attributes},
        design.facts(records) | ({"also": list(larger)} if larger else {}),
        None if whole is None else information_loss(space, made.common, cells, whole),
        None if before is None or partition.sst == 0 else 100 * before / partition.sst,
        {} if rules is None else {each.name: information(partition.labels, each.codes) for each in rules.codings},
        None if settings.participation is None else (settings.participation, settings.confidence),
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
    model: Microaggregator, space: Space, design: Design, rules: Rules | None, progress: Progress | None
) -> tuple[Partition, Cells]:
    """The groups of a table, and the cells of each quasi-identifier: these differ where rows may be apart."""
    units = None if design.units is None else Units(design.units, design.unit_persons, design.least_units)
    weights = None if design.weights is None else design.weights.floats
    partition = grouped(
        model, space.points, strata=space.strata, units=units, record_weights=weights, rules=rules,
        parts=None if rules is None else parts_said(space, design), progress=progress,
    )  # fmt: skip
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


def parts_said(space: Space, design: Design) -> list[str] | None:
    """What errors call each part of the table that groups do not cross; None where there are no parts.

    Parts of one stratum differ in their gaps, or in the numbers of rows of their persons.
    """
    if space.strata is None:
        return None
    _, first, rows = np.unique(space.strata, return_index=True, return_counts=True)
    own = [""] * len(first)
    if design.strata is not None:
        own = [f"stratum {design.strata.names[code]!r}" for code in design.strata.codes[first].tolist()]
        if len(set(own)) == len(own):
            return own
    kept_apart = "kept apart by the gaps (--gaps value puts them among others) or by the numbers of linked rows"
    return [
        f"{count} {'row' if count == 1 else 'rows'}{f' of {name}' if name else ''}, {kept_apart},"
        for name, count in zip(own, rows.tolist(), strict=True)
    ]


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


def warn_of_persons(space: Space, design: Design) -> list[str]:
    """What the owner should know where rows may be apart: columns that vary, but for a few persons only."""
    if not design.apart or design.person is None:
        return []
    ids, said = design.person, []
    for attribute in space.attributes:
        few = few_differing(ids.codes, attribute.coordinates())
        if len(few):
            who = some((repr(ids.texts[person]) for person in few.tolist()), 5)
            said.append(
                f"quasi-identifier {attribute.name!r} is constant for nearly all persons and differs between the "
                f"rows of {counted_as(len(few), 'persons')} ({who}), so it is treated as varying, and rows of any "
                "person may get different values of it; if it should be constant, correct these rows"
            )
    return warn_of_all(said)


def warn_of_weights(settings: Settings, design: Design) -> list[str]:
    """What the owner should know of weights: they may identify, and not every method groups by them.

    The number of a person's rows is a weight of the person, too.
    """
    said, called = [], type(settings.method).__name__
    uneven = design.units is not None and bool(np.ptp(np.bincount(design.units)))
    if uneven and design.weights is None and not settings.method.takes_weights:
        who = "households" if design.household is not None else "persons"
        said.append(
            f"{called} groups {who} without regard to how many rows each has; common values and the loss count "
            f"every row; {WEIGHTED} group by these numbers too"
        )
    if design.weights is None:
        return warn_of_all(said)
    name = design.weights.name
    if settings.released_weight in ("keep", "round"):
        how = "as they are" if settings.released_weight == "keep" else "rounded"
        said.append(
            f"sampling weights leave {how} in column {name!r}, and a weight can itself identify: a rare one tells "
            "the members of a group apart; --released-weight common gives a group its mean weight, drop leaves "
            "the column out"
        )
    if not settings.method.takes_weights:
        said.append(
            f"{called} groups records without their sampling weights; common values and the weighted loss use "
            f"them; {WEIGHTED} group by weights too"
        )
    return warn_of_all(said)
