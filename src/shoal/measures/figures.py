"""The list of figures: everything that is said about a release in numbers goes through it.

A measure is a function from what is known of a release to its figures; `measure` puts it on the list. The
manifest, the terminal, the report, the cards of notebooks, `Release.utility` and `Release.risk` show that list.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from shoal.cards import counted, span
from shoal.errors import some
from shoal.measures.loss import InformationLoss
from shoal.privacy.information import Information

Topic = Literal["groups", "utility", "risk"]
Eyes = Literal["owner", "public"]


@dataclass(frozen=True)
class FigureTable:
    """The numbers behind a figure, line by line: what a page shows as a table or draws."""

    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def as_dict(self) -> dict[str, Any]:
        """As a manifest holds it."""
        return {"header": list(self.header), "rows": [list(row) for row in self.rows]}


@dataclass(frozen=True)
class Figure:
    """A named number about a release.

    Attributes
    ----------
    name : what programs call it
    value : the number, or None where it is not known
    unit : what it counts, such as "%" or "records"
    shown : the value as a short text with its unit, such as "4.39 %"
    label : what it is, to stand beside that
    sentence : what people read of it, one line
    topic : what it is about: the groups, what the release is still good for, or what it gives away
    eyes : who may see it: anybody ("public"), or the owner of the table alone
    details : more of the same, as JSON takes it
    definition : what exactly is counted or computed, in one or two sentences
    table : the numbers behind it
    """

    name: str
    value: int | float | None
    unit: str
    shown: str
    label: str
    sentence: str
    topic: Topic
    eyes: Eyes = "owner"
    details: Mapping[str, Any] = field(default_factory=dict)
    definition: str = ""
    table: FigureTable | None = None

    def as_dict(self) -> dict[str, Any]:
        """As a manifest holds it."""
        said: dict[str, Any] = {"value": self.value, "unit": self.unit, "says": self.sentence}
        said |= {"topic": self.topic, "for": self.eyes}
        said |= {"details": dict(self.details)} if self.details else {}
        said |= {"definition": self.definition} if self.definition else {}
        return said | ({"table": self.table.as_dict()} if self.table else {})


@dataclass(frozen=True)
class Known:
    """What is known of a release when its figures are made, in memory or in blocks.

    `sizes` are those of the smallest and of the largest group, in persons or households where k counts these;
    `made_by` is the method in words.
    """

    k: int
    records: int
    groups: int
    sizes: tuple[int, int]
    made_by: str
    loss: InformationLoss
    untouched: Mapping[str, Any]  # as `Untouched.as_dict` has it
    points_loss: float | None = 0.0  # 100 * SSE / SST of the points; None where groups are not what is released
    gaps: Mapping[str, Any] = field(default_factory=dict)  # as `GapFacts.as_dict` has them
    kinds: Mapping[str, Any] = field(default_factory=dict)  # what each quasi-identifier was taken for
    design: Mapping[str, Any] = field(default_factory=dict)  # whose the records are, as `Design.facts` has it
    weighted_loss: InformationLoss | None = None  # with sampling weights
    unruled_loss: float | None = None  # of the points, without privacy models
    information: Mapping[str, Information] = field(default_factory=dict)  # that groups tell about columns
    participation: tuple[float, float] | None = None  # how probable it is, and how certain k is to be


Measure = Callable[[Known], Iterable[Figure]]
MEASURES: dict[str, Measure] = {}
"""Every measure, in the order in which its figures are shown."""


def measure(function: Measure) -> Measure:
    """Put a measure on the list."""
    MEASURES[function.__name__] = function
    return function


def figures_of(known: Known) -> list[Figure]:
    """All figures of a release."""
    return [figure for each in MEASURES.values() for figure in each(known)]


@measure
def groups(known: Known) -> Iterable[Figure]:
    """How many records there are, in how many groups."""
    low, high = known.sizes
    of = f"{low}" if low == high else f"{low} to {high}"
    whom, there = known.design.get("whom", "records"), known.design.get("there", known.records)
    whose = "" if whom == "records" else f" of {there} {whom}"
    of += "" if whom == "records" else f" {whom if high > 1 else whom.removesuffix('s')}"
    yield Figure(
        "records", known.records, "records", counted(known.records), "records", "", "groups", "public"
    )  # said with the groups
    yield Figure(
        "groups", known.groups, "groups", counted(known.groups),
        f"groups of {span(low, high)}" + ("" if whom == "records" else f" {whom}"),
        f"{known.records} records{whose} in {known.groups} groups of {of} ({known.made_by})", "groups", "public",
        {"smallest": low, "largest": high},
    )  # fmt: skip


@measure
def information_loss(known: Known) -> Iterable[Figure]:
    """How far the released values are from the original ones, against how far those spread."""
    percent = known.loss.percent
    yield Figure(
        "information_loss", percent, "%", f"{percent:.2f} %", "information loss, 100 · SSE / SST",
        f"information loss: {percent:.2f} %", "utility", "public",
        details={"attributes": {part.name: part.percent for part in known.loss.attributes}},
    )  # fmt: skip


@measure
def points_loss(known: Known) -> Iterable[Figure]:
    """The same of the points that were grouped, whose groups have their mean: what certificates speak of."""
    if known.points_loss is not None:
        yield Figure(
            "points_loss", known.points_loss, "%", "",
            "loss of the points, 100 · SSE / SST, which certificates bound", "", "utility", "public",
        )  # fmt: skip


@measure
def kinds(known: Known) -> Iterable[Figure]:
    """What the quasi-identifiers were taken for, where that is not plain: others than numbers."""
    said = {name: facts["kind"] + order_said(facts.get("order")) for name, facts in known.kinds.items()}
    others = [f"{name!r} {kind}" for name, kind in said.items() if kind != "numeric"]
    if others:
        yield Figure(
            "kinds", len(others), "columns", "", "quasi-identifiers that are no plain numbers",
            f"taken for: {some(others, 30)} (--kind says otherwise)", "groups",
        )  # fmt: skip


def order_said(order: Sequence[Any] | None) -> str:
    """The order of an ordinal column, in short."""
    return f" ({' < '.join(map(str, order[:6]))}{' < ...' if len(order) > 6 else ''})" if order else ""


@measure
def gaps(known: Known) -> Iterable[Figure]:
    """How many values were missing, and what was done about them."""
    done = {
        "drop": "their records left out", "pattern": "grouped by their pattern", "value": "a value of its own",
        "blank": "grouped by their pattern, more cells blanked", "impute": "filled in",
    }  # fmt: skip
    for name, found in known.gaps.items():
        written = some((repr(text) for text in found["written"] if text), 5)
        also = f", written {written}" if written else ""
        filled = f" with {found['imputed']!r}" if "imputed" in found else ""
        count = found["count"]
        said = (
            f"{count} value{'s' if count > 1 else ''} missing in {name!r}{also}: {done[found['policy']]}{filled}"
        )
        yield Figure(
            f"gaps_{name}", count, "values", "", f"missing values of {name}", said, "utility", details=found
        )


@measure
def untouched(known: Known) -> Iterable[Figure]:
    """What the columns that were released as they are give away."""
    called = {"others": "columns without a role", "confidential": "confidential columns"}
    for name, given in known.untouched.items():
        yield Figure(
            f"untouched_{name}", given["records_below_k"], given["counts"], "",
            f"{called[name]}: {given['counts']} in groups of fewer than {known.k} on these columns alone",
            f"{called[name]} ({len(given['columns'])}): {'; '.join(given['says'])}", "risk", details=given,
        )  # fmt: skip


def verified(k: int, asked: int, where: str, whom: str = "records", by: str = "") -> Figure:
    """The k that was counted on what leaves; `where` says on what, `whom` what it counts, and `by` how it knew."""
    counted = "" if whom == "records" else f" {whom if k != 1 else whom.removesuffix('s')}"
    by = f", counted {by}" if by else ""
    return Figure(
        "verified_k", k, whom, f"k = {k}{counted}", f"verified on {where}; asked for {asked}",
        f"verified on {where}: k = {k}{counted} (asked for {asked}{by})", "groups", "public",
    )  # fmt: skip


def classes(different: int, groups: int) -> Figure:
    """How many combinations of values were released: groups with the same values are one class."""
    coincide = f": some of the {groups} groups have the same values" if different < groups else ""
    said = f"{different} different combinations of released values{coincide}"
    return Figure(
        "classes", different, "combinations", counted(different) if different != groups else "",
        "different combinations of released values", said if different != groups else "", "groups", "public",
    )  # fmt: skip


def wildcards(k: int) -> Figure:
    """The k that was counted with a gap as a wildcard."""
    return Figure(
        "wildcard_k", k, "records", "", "records that fit a person if a missing value fits everything",
        f"with a missing value as a wildcard: k = {k}", "groups", "public",
    )  # fmt: skip


class Figured:
    """Whatever has figures."""

    figures: tuple[Figure, ...]

    @property
    def utility(self) -> dict[str, Figure]:
        """What the release is still good for."""
        return {figure.name: figure for figure in self.figures if figure.topic == "utility"}

    @property
    def risk(self) -> dict[str, Figure]:
        """What the release gives away."""
        return {figure.name: figure for figure in self.figures if figure.topic == "risk"}


def replaced(figures: Iterable[Figure], new: Figure) -> tuple[Figure, ...]:
    """Figures with another one, in the place of the one of its name if there was one."""
    return (*(figure for figure in figures if figure.name != new.name), new)


def by_name(figures: Iterable[Figure]) -> dict[str, Any]:
    """Figures by their names, as a manifest holds them."""
    return {figure.name: figure.as_dict() for figure in figures}
