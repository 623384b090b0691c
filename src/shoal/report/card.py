"""Cards: what a notebook shows of a result.

A notebook may be published: the card of a release has figures and the names of columns on it, and no value of the
table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.report.templates import template

if TYPE_CHECKING:
    from shoal.inspection.look import Inspection
    from shoal.measures import InformationLoss
    from shoal.partition import Partition
    from shoal.release import Release
    from shoal.stream import FileRelease
    from shoal.verification import Verification

MOST_BARS = 12  # quasi-identifiers whose loss is drawn
MOST_NAMES = 10


@dataclass(frozen=True)
class Card:
    """What stands on a card."""

    title: str
    figures: Sequence[tuple[str, str]]  # a value, and what it is
    bars: Sequence[tuple[str, float]] = ()  # a name and a percentage
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    notes: Sequence[str] = ()
    steps: Sequence[tuple[str, str]] = ()  # what to type next, and what that does

    def html(self) -> str:
        """The card as HTML that needs nothing else."""
        return template("card.html").render(card=self)


def release_card(release: "Release") -> str:
    """A release in memory."""
    output = release.manifest["output"]
    k = output["verified_k"] if output else release.verified_k
    sizes = release.partition.sizes
    return Card(
        f"Release{': ' + output['name'] if output else ''}",
        figures_of(
            release.manifest,
            (k, "on the bytes of the file" if output else "on the released table"),
            (int(sizes.min()), int(sizes.max())),
            release.information_loss,
        ),
        bars_of(release.loss),
        notes=notes_of(release.manifest, release.space.constant),
        steps=[
            ("release.table", "is the table to hand on"),
            ('release.write("safe.csv")', "writes it and verifies the bytes"),
            ('release.report("report.html")', "is for you: it shows the original data"),
        ],
    ).html()


def file_card(release: "FileRelease") -> str:
    """A release in a file."""
    return Card(
        f"Release: {release.path.name}",
        figures_of(
            release.manifest,
            (release.verified_k, "on the bytes of the file"),
            release.sizes,
            release.information_loss,
        ),
        bars_of(release.loss),
        notes=notes_of(release.manifest),
        steps=[
            ("release.path", "is where it stands"),
            ("release.manifest", "is for you: it can confirm guesses"),
        ],
    ).html()


def partition_card(partition: "Partition") -> str:
    """Groups of records."""
    sizes = span(int(partition.sizes.min()), int(partition.sizes.max()))
    figures = [
        (f"k = {partition.k}", "at least so many in a group"),
        (counted(len(partition.labels)), "records"),
        (counted(partition.n_groups), f"groups of {sizes}"),
        (f"{partition.information_loss:.2f} %", "information loss, not rounded"),
    ]
    steps = [("partition.labels", "is the group of each record"), ("partition.centroids", "are their means")]
    return Card("Partition", figures, steps=steps).html()


def verification_card(found: "Verification") -> str:
    """What was counted in a file."""
    figures = [
        (f"k = {found.k}", "the smallest group"),
        (counted(found.n_records), "records"),
        (counted(found.n_groups), "groups"),
    ]
    return Card(f"Verification: {found.name}", figures).html()


def inspection_card(found: "Inspection") -> str:
    """A first look at a table: its columns, and which role each may have."""
    figures = [(counted(found.records), "records"), (counted(len(found.columns)), "columns")]
    if found.unique is not None:
        figures.append((counted(found.unique), "unique on the suggested quasi-identifiers"))
    rows = [
        (
            column.name,
            column.type,
            "" if column.low is None else f"{column.low} to {column.high}",
            f"{'more than ' if column.more else ''}{counted(column.distinct)}",
            counted(column.missing) if column.missing else "",
            column.role,
            column.reason,
        )
        for column in found.columns
    ]
    return Card(
        "Inspection",
        figures,
        header=("column", "type", "range", "distinct", "missing", "suggested role", "why"),
        rows=rows,
        notes=["For the owner of the table: the ranges are original values. You decide on the roles."],
    ).html()


def figures_of(
    manifest: dict[str, Any], verified: tuple[int, str], sizes: tuple[int, int], loss: float
) -> list[tuple[str, str]]:
    """The figures of a release."""
    k, where = verified
    method = manifest["method"]
    chosen = f" ({method['chosen']['name']})" if "chosen" in method else ""
    return [
        (f"k = {k}", f"verified {where}; asked for {manifest['k']}"),
        (counted(manifest["records"]), "records"),
        (counted(manifest["groups"]), f"groups of {span(*sizes)}"),
        (f"{loss:.2f} %", "information loss"),
        (f"{method['name']}{chosen}", "method"),
    ]


def bars_of(loss: "InformationLoss") -> list[tuple[str, float]]:
    """The loss of each quasi-identifier; of many, the largest."""
    parts = [(part.name, part.percent) for part in loss.attributes]
    return parts if len(parts) <= MOST_BARS else sorted(parts, key=lambda part: -part[1])[:MOST_BARS]


def notes_of(manifest: dict[str, Any], constant: Sequence[str] = ()) -> list[str]:
    """What the owner should know before handing the release on."""
    notes = []
    if others := manifest["roles"]["others"]:
        notes.append(
            f"Columns without a role are released as they are: {named(others)}. "
            "Any of them may help to recognise a person."
        )
    if constant:
        notes.append(f"Constant, so without a part in the distance: {named(constant)}.")
    if manifest["method"].get("interrupted"):
        notes.append("The method was interrupted: this is the best that it had found by then.")
    return notes


def named(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def span(low: int, high: int) -> str:
    """The sizes of the smallest and of the largest group."""
    return counted(low) if low == high else f"{counted(low)} to {counted(high)}"


def counted(number: int) -> str:
    """A count with its thousands apart."""
    return f"{number:,}".replace(",", "\u2009")
