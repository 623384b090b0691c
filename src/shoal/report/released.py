"""The page of a release in memory: its figures, its columns, and what was done."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.attributes import Profile
from shoal.cards import counted, named
from shoal.errors import some
from shoal.measures import Figure
from shoal.privacy.k_anonymity import groups_in
from shoal.privacy.persons import sizes_of
from shoal.report import Edition
from shoal.report.assessed import shown_column
from shoal.report.measured import beyond, figures_of, pair_of
from shoal.report.page import page_of
from shoal.report.statistics import number
from shoal.report.subject import Made, Search, ShownColumn, Subject
from shoal.table import Roles, Table, arrow_of, framed

if TYPE_CHECKING:
    from shoal.release import Release

MOST_NAMES = 30


def render(release: "Release", editions: Sequence[Edition] = ("owner",)) -> list[str]:
    """The pages of a release, one for each edition; what is measured is measured once."""
    subject = subject_of(release)
    return [page_of(subject, edition) for edition in editions]


def subject_of(release: "Release") -> Subject:
    """What the page is about."""
    roles, design, table = release.original.roles, release.design, framed(release.table)
    names = roles.quasi_identifiers
    groups = groups_in(arrow_of(table.select(*names)), names)
    weights = None if design.weights is None else design.weights.floats
    released = Table(table, Roles(names, roles.confidential))
    pair = pair_of(release.original, released, groups, weights)
    found, sampled = figures_of(pair, design.whom)
    quasi = [
        each.profile(release.common[each.name], release.cells[each.name]) for each in release.space.attributes
    ]
    return Subject(
        quasi_identifiers=names,
        confidential=roles.confidential,
        k=release.partition.k,
        whom=design.whom,
        asked=release.partition.k,
        records=len(release.original),
        sizes=sizes_of(release.labels, design.counted),
        groups=groups,
        columns=(*map(profiled, quasi), *map(shown_column, pair.confidential)),
        losses=tuple((part.name, part.percent) for part in release.loss.attributes),
        figures=(*release.shown_figures, *found),
        weights=weights,
        sampled=sampled,
        made=facts_of(release, beyond(pair)),
    )


def profiled(column: Profile) -> ShownColumn:
    """A quasi-identifier as a page shows it."""
    return ShownColumn(
        column.name, "quasi-identifier", column.before, column.after, column.levels, column.unit, column.notes,
        column.start,
    )  # fmt: skip


def facts_of(release: "Release", also: Sequence[str] = ()) -> Made:
    """What is known of a release that Shoal made; `also` are more notes for the owner."""
    design, manifest = release.design, release.manifest
    method = manifest["method"]
    return Made(
        version=manifest["shoal"],
        output=(manifest["output"] or {}).get("name", ""),
        method=method_name(method),
        promises=tuple(map(str, release.settings.models)),
        settings=(
            *settings_of(release.settings.lines(), manifest, release.figures),
            *roles_of(release.original.roles),
        ),
        notes=(*notes_of(release), *also),
        left=left_by(release.figures),
        kinds=kinds_of(manifest),
        spectrum=tuple(method.get("spectrum", ())),
        axes_kept=method.get("axes_kept", 0),
        search=search_of(release),
        weighted_by=None if design.weights is None else design.weights.name,
    )


def left_by(figures: tuple[Figure, ...]) -> tuple[Figure, ...]:
    """The figures about columns that were released as they are."""
    return tuple(figure for figure in figures if figure.topic == "risk" and "columns" in figure.details)


def notes_of(release: "Release") -> list[str]:
    """What the owner should look at."""
    notes = [figure.sentence + "." for figure in release.figures if figure.name.startswith("gaps_")]
    if release.space.constant:
        constant = named(release.space.constant)
        notes.append(f"These columns have one value only and were not used for grouping: {constant}.")
    if others := release.manifest["roles"]["others"]:
        notes.append(
            f"Columns without a role were released as they are: {named(others)}. Any of them may identify."
        )
    return notes


def kinds_of(manifest: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """What each quasi-identifier was taken for."""
    near = " (distances between rare values are approximate)"
    return tuple(
        (name, facts["kind"] + (near if facts.get("distances") == "approximate" else ""))
        for name, facts in manifest["attributes"].items()
    )


def roles_of(roles: Roles) -> list[tuple[str, str]]:
    """What became of the other columns."""
    lines = [("identifiers, dropped", ", ".join(roles.identifiers) or "\u2013")]
    if roles.designed:
        lines.append(("strata, weights and pseudonyms, which leave too", ", ".join(roles.designed)))
    return lines


def search_of(release: "Release") -> Search | None:
    """How the loss of the groups fell, where the method or the one it chose says so."""
    model: Any = release.settings.method
    while (inner := getattr(model, "chosen_", None)) is not None and not hasattr(model, "history_"):
        model = inner
    history, sst = getattr(model, "history_", None), release.partition.sst
    if not history or not sst:
        return None
    timed = isinstance(history[0], tuple | list)
    steps = [(each[0], each[1]) if timed else (number, each) for number, each in enumerate(history)]
    found = tuple((float(when), 100 * float(sse) / sst) for when, sse in steps)
    return Search("seconds" if timed else "round", found) if np.isfinite(found).all() else None


def method_name(method: Mapping[str, Any]) -> str:
    """The name of a method, with the one that it chose."""
    return str(method["name"]) + (f", which chose {method['chosen']['name']}" if "chosen" in method else "")


def method_text(method: Mapping[str, Any]) -> str:
    """A method as one would write it, with the method inside if there is one."""
    parameters = (
        f"{key}={method_text(value) if isinstance(value, dict) else value}"
        for key, value in method["parameters"].items()
    )
    return f"{method['name']}({', '.join(parameters)})"


def settings_of(
    lines: list[tuple[str, str]], manifest: Mapping[str, Any], figures: tuple[Figure, ...]
) -> list[tuple[str, str]]:
    """What was done, a line each."""
    lines = [("method", method_text(manifest["method"])), *lines]
    if used := manifest["digits"]["used"]:
        listed = some((f"{name}: {shown_digits(digits)}" for name, digits in used.items()), MOST_NAMES)
        lines.append(("decimals", listed))
    if "chosen" in manifest["method"]:
        lines.append(("chosen", f"{manifest['method']['chosen']['name']}: {manifest['method']['reason']}"))
    lines += [(figure.label, figure.details["says"]) for figure in figures if figure.name == "certificate"]
    if "blocks" in manifest:
        lines.append(("blocks", counted(manifest["blocks"])))
    source = manifest["input"]
    lines.append(("input", f"{source.get('name') or source['kind']}, SHA-256 {source['sha256']}"))
    if manifest["output"]:
        lines.append(("output", f"{manifest['output']['name']}, SHA-256 {manifest['output']['sha256']}"))
    return lines


def shown_digits(digits: int | str | None) -> str:
    """The decimals that a column was rounded to, or the unit."""
    if digits is None:
        return "as they came"
    if isinstance(digits, str):
        return f"to {digits}"
    return str(digits) if digits >= 0 else f"0 (to the next {number(float(10**-digits))})"
