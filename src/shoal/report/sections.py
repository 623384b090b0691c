"""The sections of a page, in their order: what is said, drawn and listed in each."""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.measures import Figure
from shoal.measures.figures import FigureTable
from shoal.report import pictures
from shoal.report.group_map import group_map
from shoal.report.pictures import MOST_COLUMNS, Picture
from shoal.report.statistics import shares, statistics
from shoal.report.subject import ShownColumn, Subject
from shoal.report.summary import sentence, summary

MOST_ROWS = 300  # of one table: whoever needs more has the data


@dataclass(frozen=True)
class Section:
    """A part of the page under one heading.

    Attributes
    ----------
    name, title : for links, and for readers
    said : paragraphs
    notes : what the reader should act on
    points : a list of sentences
    pictures : with their tables
    figures : a line each
    tables : more tables, by their titles
    terms : what stands as a list of terms with what they mean
    """

    name: str
    title: str
    said: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    points: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    figures: tuple[Figure, ...] = ()
    tables: tuple[tuple[str, FigureTable], ...] = ()
    terms: tuple[tuple[str, str], ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        parts = self.said, self.notes, self.points, self.pictures, self.figures, self.tables, self.terms
        return not any(parts)


def sections_of(subject: Subject) -> list[Section]:
    """All sections that have something to show."""
    made = [
        first(subject), risk(subject), left(subject), utility(subject), columns(subject), relations(subject),
        groups(subject), done(subject), method(subject),
    ]  # fmt: skip
    return [section for section in made if not section.is_empty]


def first(subject: Subject) -> Section:
    """The summary."""
    notes = [*(subject.made.notes if subject.made else ()), *subject.notes, *unmatched(subject)]
    return Section("summary", "Summary", points=tuple(summary(subject)), notes=tuple(notes))


def unmatched(subject: Subject) -> list[str]:
    """What could not be measured."""
    if not subject.left_out:
        return []
    return [
        "It is not known which released row is that of which original record, so these measures are left out: "
        f"{', '.join(subject.left_out)}. Name a key column, or say that the rows have the same order."
    ]


def risk(subject: Subject) -> Section:
    """Can somebody be found?"""
    figures = shown(subject, "risk")
    drawn = pictures.linkage_picture(figures), pictures.attacks_picture(figures)
    return Section(
        "risk", "Can somebody be found?",
        pictures=tuple(each for each in drawn if each is not None),
        figures=figures,
        tables=tables_of(figures),
    )  # fmt: skip


def left(subject: Subject) -> Section:
    """What the columns give away that were released as they are."""
    said, notes = [], []
    for figure in subject.made.left if subject.made else ():
        others = figure.name == "untouched_others"
        whose = "Columns without a role were" if others else "Confidential columns were"
        said += [f"{whose} released as they are: {', '.join(figure.details['columns'])}."]
        said += [f"{line}." for line in figure.details["says"]]
        if others:
            notes += [
                "Any of the columns without a role may help to recognise a person. Name them as "
                "quasi-identifiers, drop them as identifiers, or say that they are confidential."
            ]
    return Section("left", "What the other columns give away", points=tuple(said), notes=tuple(notes))


def utility(subject: Subject) -> Section:
    """Can analysts still use it?"""
    figures = shown(subject, "utility")
    drawn = pictures.losses_picture(subject), pictures.score_picture(subject)
    said = (
        "The information loss says how far the released values are from the original ones, as a share of how far "
        "those spread: 0 % is no change, 100 % is every value replaced by one common value of all."
    )
    there = tuple(each for each in drawn if each is not None)
    return Section(
        "utility", "Can analysts still use it?", said=(said,) if there or figures else (),
        pictures=there, figures=figures, tables=tables_of(figures),
    )  # fmt: skip


def columns(subject: Subject) -> Section:
    """The distribution of every column."""
    drawn = subject.columns[:MOST_COLUMNS]
    both = any(column.before is not None for column in subject.columns)
    said = "Every column before (grey) and after (line)." if both else "Every column as it was released."
    if both and subject.made:  # another tool may do anything
        said += " Means stay almost the same; the spread becomes smaller, mostly at the ends."
    few = (
        f" The first {len(drawn)} of {len(subject.columns)} are drawn."
        if len(drawn) < len(subject.columns)
        else ""
    )
    weighted = subject.made.weighted_by if subject.made else None
    by = f", in which records count by their sampling weight {weighted}" if weighted else ""
    tables = (
        (f"Statistics of every column{by}", statistics_table(subject)),
        ("More about columns", notes_table(drawn)),
    )
    return Section(
        "columns", "Distributions", said=(said + few, *([subject.drawn] if subject.drawn else [])),
        pictures=tuple(pictures.distribution_picture(column, i) for i, column in enumerate(drawn)),
        tables=tuple((title, table) for title, table in tables if table.rows),
    )  # fmt: skip


def statistics_table(subject: Subject) -> FigureTable:
    """Means, deviations and ends of numbers, shares of categories."""
    sides = list(subject.columns[0].sides) if subject.columns else []
    rows = []
    for column in subject.columns:
        name = column.name + (f" ({column.counts})" if column.counts else "")
        if not column.levels:
            rows += [(name, *row) for row in statistics(column, subject.weights)]
        elif len(column.levels) <= MOST_ROWS:
            found = shares(column, subject.weights)
            rows += [(name, level, *(f"{part:.2f} %" for part in parts)) for level, *parts in found]
    return FigureTable(("column", "statistic", *sides), tuple(rows))


def notes_table(drawn: Sequence[ShownColumn]) -> FigureTable:
    """What else is to be said of columns."""
    rows = tuple((column.name, label, text) for column in drawn for label, text in column.notes)
    return FigureTable(("column", "what", "value"), rows)


def relations(subject: Subject) -> Section:
    """How columns go together."""
    drawn = pictures.correlations_picture(subject)
    said = (
        "Between all columns of numbers. Red is a positive correlation, blue a negative one; the stronger the "
        "colour, the stronger the correlation."
    )
    return Section("relations", "Correlations", said=(said,) if drawn else (), pictures=(drawn,) if drawn else ())


def groups(subject: Subject) -> Section:
    """The groups: sizes, and where they are."""
    found = group_map(subject)
    drawn = [pictures.sizes_picture(subject)]
    drawn += [pictures.map_picture(found)] if found is not None else []
    if subject.made:
        further = pictures.spectrum_picture(subject.made), pictures.search_picture(subject.made)
        drawn += [each for each in further if each is not None]
    figures = shown(subject, "groups")
    return Section("groups", "Groups", pictures=tuple(drawn), figures=figures, tables=tables_of(figures))


def done(subject: Subject) -> Section:
    """What was done, and with which settings."""
    whom = "" if subject.whom == "records" else f" {subject.whom}"
    said = (
        f"Records with similar quasi-identifiers were put into groups of at least {subject.k}{whom}; all records "
        "of a group got the same values there."
    )
    terms = [("quasi-identifiers", ", ".join(subject.quasi_identifiers))]
    kept = "confidential" + (", kept as they are" if subject.made else "")
    terms += [(kept, ", ".join(subject.confidential) or "\u2013")]
    if subject.made is None:
        return Section("settings", "Columns", terms=tuple(terms))
    made = subject.made
    settings = made.settings or (("method", made.method),)
    tables = (("What each quasi-identifier was taken for", FigureTable(("column", "kind"), made.kinds)),)
    return Section(
        "settings", "What was done", said=(said,), terms=(*settings, *terms), tables=tables if made.kinds else ()
    )


def method(subject: Subject) -> Section:
    """What every figure means, exactly."""
    terms = {figure.label: sentence(figure.definition) for figure in subject.figures if figure.definition}
    said = (subject.sampled,) if subject.sampled else ()
    return Section("method", "Method and definitions", said=said, terms=tuple(terms.items()))


def shown(subject: Subject, topic: str) -> tuple[Figure, ...]:
    """The figures of a topic that say something; what other columns give away has its own section."""
    left_over = subject.made.left if subject.made else ()
    return tuple(
        figure for figure in subject.figures
        if figure.topic == topic and figure not in left_over and (figure.shown or figure.sentence)
    )  # fmt: skip


def tables_of(figures: Sequence[Figure]) -> tuple[tuple[str, FigureTable], ...]:
    """The tables of figures; one that several figures share stands there once."""
    found: dict[FigureTable, str] = {}
    for figure in figures:
        if figure.table is not None and figure.table.rows:
            found.setdefault(figure.table, figure.label)
    return tuple((title, table) for table, title in found.items())
