"""Pictures of a page: each one with a text that says what it is, and with the table of the numbers behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.errors import some
from shoal.measures import Figure
from shoal.measures.figures import FigureTable
from shoal.report import plots
from shoal.report.group_map import GroupMap
from shoal.report.statistics import correlations, known, varying
from shoal.report.subject import Made, ShownColumn, Subject

Float = NDArray[np.float64]

MOST_COLUMNS = 30  # that are drawn one by one: a page with hundreds helps nobody
MOST_LEVELS = 24  # categories that are drawn; the rest are one bar


@dataclass(frozen=True)
class Picture:
    """One or more drawings that share a title and the table behind them."""

    name: str
    title: str
    drawings: tuple[str, ...]
    table: FigureTable
    caption: str = ""


def sizes_picture(subject: Subject) -> Picture:
    """How many groups have which size."""
    bins = plots.size_bins(subject.sizes)
    alt = f"Bars: {len(subject.sizes)} groups by their size, from {subject.sizes.min()} to {subject.sizes.max()}."
    drawn = plots.group_sizes(bins, subject.k, subject.whom, "sizes", alt)
    table = FigureTable((f"{subject.whom} in a group, from", "to", "groups"), tuple(bins))
    return Picture("sizes", "Group sizes", (drawn,), table)


def losses_picture(subject: Subject) -> Picture | None:
    """The loss of each column, the largest where there are too many."""
    if not subject.losses:
        return None
    largest = list(subject.losses)
    if len(largest) > MOST_COLUMNS:
        largest = sorted(largest, key=lambda part: -part[1])[:MOST_COLUMNS]
    names, percents = zip(*largest, strict=True)
    label = "information loss, 100 · SSE / SST"
    alt = f"Bars: the information loss of {some(names, 5)}, in percent."
    drawn = plots.losses(names, percents, label, "losses", alt)
    few = len(largest) < len(subject.losses)
    caption = f"The {len(largest)} largest of {len(subject.losses)}." if few else ""
    table = FigureTable(("column", label + ", %"), tuple(largest))
    return Picture("losses", "Loss of each column", (drawn,), table, caption)


def distribution_picture(column: ShownColumn, place: int) -> Picture:
    """One column, before and after where both may be shown."""
    name, title = f"column-{place}", column.name
    sides = {side: known(values) for side, values in column.sides.items()}
    whether = "before and after" if len(sides) > 1 else "as released"
    alt = f"Distribution of {column.name} {whether}."
    if column.levels:
        labels, counts = counted_levels(column)
        drawn = plots.bars_of_sides(labels, counts, None, column.counts, name, alt)
        rows = tuple(zip(labels, *counts.values(), strict=True))
        return Picture(name, title, (drawn,), FigureTable(("category", *(f"records {s}" for s in sides)), rows))
    if not all(map(plots.is_drawable, sides.values())):
        empty = not all(len(values) for values in sides.values())
        why = "It has no values to draw." if empty else "Its numbers are too far apart to be drawn."
        return Picture(name, title, (), FigureTable((), ()), why)
    both = np.concatenate(list(sides.values()))
    distinct = np.unique(next(iter(sides.values())))
    edges = plots.bin_edges(float(both.min()), float(both.max()), distinct)
    binned = {side: np.histogram(values, edges)[0].tolist() for side, values in sides.items()}
    drawn = plots.bars_of_sides([""] * (len(edges) - 1), binned, edges, column.counts, name, alt)
    header = ("from", "below", *(f"records {side}" for side in sides))
    rows = tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), *binned.values(), strict=True))
    return Picture(name, title, (drawn,), FigureTable(header, rows))


def counted_levels(column: ShownColumn) -> tuple[list[str], dict[str, list[float]]]:
    """The categories with how many records have each; rare ones together, where there are too many."""
    n = len(column.levels)
    counts = {
        side: np.bincount(known(values).astype(np.int64), minlength=n) for side, values in column.sides.items()
    }
    if n <= MOST_LEVELS:
        return list(column.levels), {side: found.tolist() for side, found in counts.items()}
    total = np.sum(list(counts.values()), axis=0)
    shown = np.sort(np.argsort(-total, kind="stable")[: MOST_LEVELS - 1])
    labels = [*(column.levels[level] for level in shown.tolist()), f"{n - len(shown)} others"]
    return labels, {
        side: [*found[shown].tolist(), int(found.sum() - found[shown].sum())] for side, found in counts.items()
    }


def correlations_picture(subject: Subject) -> Picture | None:
    """The correlations of all numbers, and how they changed where both sides may be shown."""
    columns = varying(subject.columns)[:MOST_COLUMNS]
    if len(columns) < 2:
        return None
    names = [column.name for column in columns]
    matrices = correlations(columns, subject.weights)
    if len(matrices) > 1:
        matrices["change"] = matrices["after"] - matrices["before"]
    drawn = tuple(
        plots.correlations(names, matrix, side, f"correlations-{side}", f"Map of correlations, {side}.")
        for side, matrix in matrices.items()
    )
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    rows = tuple((names[j], names[i], *(float(each[i, j]) for each in matrices.values())) for i, j in pairs)
    table = FigureTable(("column", "other column", *matrices), rows)
    return Picture("correlations", "Correlations", drawn, table, largest_change(table, subject.made))


def largest_change(table: FigureTable, made: Made | None) -> str:
    """The pair of columns whose correlation changed most, in words."""
    weighted = made is not None and made.weighted_by is not None
    by = f"Records count by their sampling weight {made.weighted_by}. " if made is not None and weighted else ""
    if table.header[-1] != "change":
        return by
    one, other, before, after, _ = max(table.rows, key=lambda row: abs(row[-1]))
    return f"{by}The largest change: {one} and {other}, from {before:.2f} to {after:.2f}."


def map_picture(found: GroupMap) -> Picture:
    """The groups in two dimensions, by released values alone."""
    drawn, there = len(found.places), found.groups
    alt = f"Points: the centroids of {drawn} groups on the first two principal axes, larger with more members."
    picture = plots.scatter(found.places, found.members, found.shares, "map", alt)
    held = " and ".join(
        f"the {which} axis is mostly {made_of(axis, found.names)}"
        for which, axis in zip(("first", "second"), found.axes, strict=True)
    )
    few = f" {drawn} of {there} groups are drawn, chosen at random." if drawn < there else ""
    caption = (
        "Each point is a group, where its released values are; large points have more members. Near points are "
        f"alike: {held}. The map is drawn from released values alone.{few}"
    )
    rows = tuple(
        (*place, members) for place, members in zip(found.places.tolist(), found.members.tolist(), strict=True)
    )
    table = FigureTable(("first axis", "second axis", "members"), rows)
    return Picture("map", "Map of the groups", (picture,), table, caption)


def made_of(axis: Float, names: Sequence[str]) -> str:
    """The columns that count most along an axis."""
    order = np.argsort(-np.abs(axis), kind="stable")[:2]
    return " and ".join(("" if axis[i] > 0 else "(reversed) ") + names[i] for i in order.tolist())


def spectrum_picture(made: Made) -> Picture | None:
    """The variance along the principal axes, if the method looked at them."""
    variances = np.array(made.spectrum)
    if not variances.any():
        return None
    shares = (100 * variances / variances.sum()).tolist()
    alt = f"Bars: the variance along {len(shares)} principal axes, of which {made.axes_kept} were used."
    drawn = plots.spectrum(shares, made.axes_kept, "spectrum", alt)
    caption = (
        f"The records were grouped along {made.axes_kept} of {len(shares)} axes; the loss counts all columns."
    )
    rows = tuple((place + 1, share, place < made.axes_kept) for place, share in enumerate(shares))
    return Picture(
        "spectrum", "Principal axes", (drawn,), FigureTable(("axis", "variance, %", "used"), rows), caption
    )


def search_picture(made: Made) -> Picture | None:
    """How the loss of the groups fell while the method searched."""
    if made.search is None or len(made.search.steps) < 2:
        return None
    steps = made.search.steps
    alt = (
        f"Line: the loss of the groups fell from {steps[0][1]:.3f} to {steps[-1][1]:.3f} % in {len(steps)} steps."
    )
    drawn = plots.search(steps, made.search.counts, "search", alt)
    table = FigureTable((made.search.counts, "loss of the points, %"), steps)
    return Picture("search", "Progress of the search", (drawn,), table)


def attacks_picture(figures: Sequence[Figure]) -> Picture | None:
    """Attacks with intervals, beside guessing or, where there is one, a control set."""
    rows: list[tuple[Any, ...]] = []
    for figure in figures:
        if figure.name in ATTACKS and figure.table is not None:
            for line in figure.table.rows:
                said = dict(zip(figure.table.header, line, strict=True))
                parts = (
                    said.get(part) for part in ("success, %", "guessing, %", "control, %", "low, %", "high, %")
                )
                if said["attempts"]:  # what could not be tried has no success
                    rows.append((f"{ATTACKS[figure.name]}: {said['attack']}", *parts))
    if not rows:
        return None
    alt = "Bars: the success of each attack beside what guessing or a control set achieves, in percent."
    drawn = plots.attacks(rows, None, "attacks", alt)
    header = ("attack", "success, %", "guessing, %", "control, %", "low, %", "high, %")
    caption = (
        "Each attack was really run. The thin line is the interval of 95 %; the grey bar is what guessing "
        "achieves, or the same attack on people who are not in the table, where these are known."
    )
    return Picture(
        "attacks", "Attacks beside their baselines", (drawn,), FigureTable(header, tuple(rows)), caption
    )


ATTACKS = {"singling_out_success": "singling out", "linkability_success": "linkability",
           "inference_success": "inference"}  # fmt: skip
"""The figures of attacks whose tables have a line for each, by what a picture calls them."""

LINKAGES = {"linkage_all": "nearest record, all known", "linkage_subsets": "best 1 to 3 columns",
            "linkage_one_to_one": "everybody at once", "linkage_probabilistic": "probabilistic",
            "linkage_confidential": "confidential values known too"}  # fmt: skip


def linkage_picture(figures: Sequence[Figure]) -> Picture | None:
    """How many records an attacker links to their persons, beside blind guessing and what k allows."""
    found = [figure for figure in figures if figure.name in LINKAGES and figure.value is not None]
    if not found:
        return None
    rows = [(LINKAGES[f.name], f.value, f.details.get("blind"), None, None, None) for f in found]
    limits = [f.details["at_most"] for f in found if "at_most" in f.details]
    alt = "Bars: the share of records that are linked to their person, beside blind guessing and 1/k, in percent."
    drawn = plots.attacks(rows, limits[0] if limits else None, "linkage", alt)
    table = FigureTable(
        ("what the attacker does", "found, %", "blind guessing, %", "1/k, %"),
        tuple((*row[:3], limits[0] if limits else None) for row in rows),
    )
    caption = (
        "Somebody who knows a person's values takes the record that fits best. The dashed line is 1/k: knowing "
        "quasi-identifiers alone never finds more."
    )
    return Picture("linkage", "Linking records to persons", (drawn,), table, caption)


def score_picture(subject: Subject) -> Picture | None:
    """Loss and risk together: the parts of the published score."""
    figure = subject.figure("overall_score")
    if figure is None or figure.table is None:
        return None
    names, points = [str(row[0]) for row in figure.table.rows], [float(row[-1]) for row in figure.table.rows]
    alt = "Bars: how many points each part adds to the published score of loss and risk."
    drawn = plots.losses(names, points, "points of the score, the lower the better", "score", alt)
    caption = f"{figure.sentence} It helps to compare releases of one table; by itself it says little."
    return Picture("score", "Loss and risk together", (drawn,), figure.table, caption)
