"""The page: the sections of a subject, put into the template; one HTML file that needs nothing else."""

from collections.abc import Sequence

from shoal.measures import Figure
from shoal.report import Edition
from shoal.report.editions import edition_of
from shoal.report.sections import MOST_ROWS, sections_of
from shoal.report.statistics import cell
from shoal.report.subject import Subject
from shoal.report.summary import sentence
from shoal.templates import template

HEADLINES = ("verified_k", "counted_k", "information_loss", "squared_error", "records", "groups")
"""The figures at the top of the page; of those that say the same, the first one."""
_SAME = {"counted_k": "verified_k", "squared_error": "information_loss"}


def page_of(subject: Subject, edition: Edition) -> str:
    """A page as HTML; everything that came with the table is text, never markup."""
    shown = edition_of(subject, edition)
    return template("report/page.html", cell=cell).render(
        subject=shown,
        owner=edition == "owner",
        title=title_of(shown),
        headlines=headlines(shown),
        sections=sections_of(shown),
        said_of=said_of,
        sentence=sentence,
        most_rows=MOST_ROWS,
    )


def title_of(subject: Subject) -> str:
    """The heading of the page."""
    if subject.made is None:
        return "Assessment of a released table"
    return "Release report" + (f": {subject.made.output}" if subject.made.output else "")


def headlines(subject: Subject) -> Sequence[Figure]:
    """The few figures that come first."""
    there = {figure.name: figure for figure in subject.figures if figure.shown}
    first = [there[name] for name in HEADLINES if name in there and _SAME.get(name) not in there]
    others = [figure for figure in there.values() if figure.name in ("weighted_information_loss", "certificate")]
    return [*first, *others]


def said_of(figure: Figure) -> str:
    """The value of a figure as a line of a table shows it."""
    if figure.shown or figure.value is None:
        return figure.shown
    unit = {"standard deviations": "sd"}.get(figure.unit, figure.unit)
    return f"{figure.value:.3g} {unit}".strip() if isinstance(figure.value, float) else f"{figure.value} {unit}"
