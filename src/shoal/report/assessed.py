"""The page of an assessment: two tables, whichever tool made the second one."""

from collections.abc import Sequence

from shoal.measures import Figure
from shoal.measures.pair import Pair, PairColumn
from shoal.report import Edition
from shoal.report.page import page_of
from shoal.report.subject import ShownColumn, Subject
from shoal.report.summary import sentence


def render(
    pair: Pair, figures: Sequence[Figure], left_out: Sequence[str], edition: Edition, notes: Sequence[str] = ()
) -> str:
    """The page of two tables and of what was found about them."""
    return page_of(subject_of(pair, figures, left_out, notes), edition)


def subject_of(
    pair: Pair, figures: Sequence[Figure], left_out: Sequence[str], notes: Sequence[str] = ()
) -> Subject:
    """What the page is about."""
    return Subject(
        quasi_identifiers=tuple(column.name for column in pair.quasi_identifiers),
        confidential=tuple(column.name for column in pair.confidential),
        k=pair.k,
        whom="records",
        asked=None,
        records=pair.n_after,
        sizes=pair.sizes,
        groups=pair.groups,
        columns=tuple(map(shown_column, pair.columns)),
        losses=losses_of(figures),
        figures=tuple(figures),
        left_out=tuple(left_out),
        notes=tuple(map(sentence, notes)),
    )


def shown_column(column: PairColumn) -> ShownColumn:
    """A column of both tables as a page shows it."""
    return ShownColumn(column.name, column.role, column.before, column.after, column.levels, column.unit)


def losses_of(figures: Sequence[Figure]) -> tuple[tuple[str, float], ...]:
    """The loss of each quasi-identifier, where it is known."""
    table = next((figure.table for figure in figures if figure.name == "squared_error"), None)
    if table is None:
        return ()
    lines = [dict(zip(table.header, row, strict=True)) for row in table.rows]
    return tuple(
        (line["column"], line["100 · SSE / SST"])
        for line in lines
        if line["role"] == "quasi-identifier" and line["100 · SSE / SST"] is not None
    )
