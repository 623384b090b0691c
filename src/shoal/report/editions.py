"""The two editions: the owner's page shows everything, the public one only what stands on the lists below.

The public page is drawn from a subject that holds nothing else, so no picture and no sentence can show more. What
may leave is named here; what is new is private until somebody puts it on a list.
"""

from dataclasses import replace
from typing import Any, get_args

import numpy as np

from shoal.errors import ShoalError
from shoal.measures import Figure
from shoal.measures.figures import FigureTable
from shoal.report import Edition
from shoal.report.subject import Made, ShownColumn, Subject

EDITIONS = get_args(Edition)
DECIMALS = 3  # of public figures

PUBLIC_FIGURES = {
    "verified_k", "wildcard_k", "counted_k", "records", "groups", "classes",
    "information_loss", "weighted_information_loss", "squared_error", "euclidean_error", "il1s_mean",
    "mean_change", "variance_change", "pmse_logistic", "pmse_tree", "downstream_kept",
    "prosecutor_risk", "marketer_risk", "journalist_risk", "homogeneous_records", "known_method",
    "singling_out_success", "linkability_success", "inference_success",
}  # fmt: skip
"""The figures that may stand beside the published file: numbers about all records, for anybody's eyes."""

PUBLIC_TABLES = {
    "counted_k", "squared_error", "mean_change", "variance_change", "homogeneous_records",
    "singling_out_success", "linkability_success", "inference_success",
}  # fmt: skip
"""Those of them whose tables may stand there too: lines about columns, sizes of groups or attacks, not values."""


def edition_of(subject: Subject, edition: str) -> Subject:
    """What a page of this edition may show."""
    if edition not in EDITIONS:
        raise ShoalError(f"edition must be 'owner' or 'public', not {edition!r}")
    return subject if edition == "owner" else public(subject)


def public(subject: Subject) -> Subject:
    """What may stand beside the published file, named one by one."""
    return Subject(
        quasi_identifiers=subject.quasi_identifiers,
        confidential=subject.confidential,
        k=subject.k,
        whom=subject.whom,
        asked=subject.asked,
        records=subject.records,
        sizes=subject.sizes,
        groups=subject.groups,
        columns=tuple(map(released_only, subject.columns)),
        losses=tuple((name, rounded(percent)) for name, percent in subject.losses),
        figures=tuple(public_figure(figure) for figure in subject.figures if is_public(figure)),
        sampled=subject.sampled,
        drawn=subject.drawn,
        left_out=(),
        notes=subject.notes,
        made=None if subject.made is None else public_facts(subject.made),
    )


def is_public(figure: Figure) -> bool:
    """Whether a figure may stand beside the published file."""
    return figure.eyes == "public" and figure.name in PUBLIC_FIGURES


def public_figure(figure: Figure) -> Figure:
    """The figure without its details, and without its table where this is not on the list."""
    table = figure.table if figure.name in PUBLIC_TABLES else None
    if table is not None:
        table = FigureTable(table.header, tuple(tuple(map(rounded, row)) for row in table.rows))
    return replace(figure, value=rounded(figure.value), details={}, table=table)


def rounded(value: Any) -> Any:
    """A number with as many decimals as anybody needs, and too few to compute a record of the original from."""
    return round(value, DECIMALS) if isinstance(value, float) else value


def public_facts(made: Made) -> Made:
    """How the release was made, without anything that helps to repeat it on a guessed table."""
    return Made(version=made.version, method=made.method, promises=made.promises)


def released_only(column: ShownColumn) -> ShownColumn:
    """The column with its released values alone, and the names of those categories that were released.

    Numbers that count from the first value of the original count from the first released one instead.
    """
    after, levels = column.after, column.levels
    if levels:
        known = ~np.isnan(after)
        there, codes = np.unique(after[known], return_inverse=True)
        after = np.full(len(after), np.nan)
        after[known] = codes.reshape(-1)
        levels = tuple(levels[int(code)] for code in there)
    unit = column.unit
    if column.start:  # the first value of the original
        after, unit = after - np.nanmin(after), f"{unit} after the first released value"
    return ShownColumn(column.name, column.role, None, after, levels, unit)
