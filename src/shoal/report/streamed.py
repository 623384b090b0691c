"""The page of a release that was streamed: counts of all records, and pictures of a sample of whole groups."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.cards import counted
from shoal.measures import Figure, InformationLoss
from shoal.measures.pair import Pair
from shoal.report import Edition
from shoal.report.assessed import shown_column
from shoal.report.measured import beyond, figures_of_part
from shoal.report.page import page_of
from shoal.report.released import kinds_of, left_by, method_name, roles_of, settings_of
from shoal.report.subject import Made, Subject
from shoal.settings import Settings


def render(
    pair: Pair | None,
    sizes: NDArray[np.int64],
    settings: Settings,
    manifest: Mapping[str, Any],
    figures: Sequence[Figure],
    loss: InformationLoss,
    editions: Sequence[Edition],
) -> list[str]:
    """The pages of a release, one for each edition; `pair` is a sample of it, `sizes` are those of all groups."""
    records = int(sizes.sum())
    found, measured = ([], 0) if pair is None else figures_of_part(pair)
    drawn, sampled = said(records, 0 if pair is None else pair.n_after, measured)
    subject = Subject(
        quasi_identifiers=settings.roles.quasi_identifiers,
        confidential=settings.roles.confidential,
        k=settings.k,
        whom="records",
        asked=settings.k,
        records=records,
        sizes=sizes,
        groups=np.zeros(0, np.int64) if pair is None else pair.groups,
        columns=() if pair is None else tuple(map(shown_column, pair.columns)),
        losses=tuple((part.name, part.percent) for part in loss.attributes),
        figures=(*figures, *found),
        sampled=sampled,
        drawn=drawn,
        made=Made(
            version=manifest["shoal"],
            output=manifest["output"]["name"],
            method=method_name(manifest["method"]),
            promises=tuple(map(str, settings.models)),
            settings=(*settings_of(settings.lines(), manifest, tuple(figures)), *roles_of(settings.roles)),
            notes=() if pair is None else beyond(pair),
            left=left_by(tuple(figures)),
            kinds=kinds_of(manifest),
        ),
    )
    return [page_of(subject, edition) for edition in editions]


def said(records: int, drawn: int, measured: int) -> tuple[str, str]:
    """What was drawn from a sample, and what was measured on one."""
    if drawn == records:
        return "", "" if measured == records else f"Comparisons were made on {counted(measured)} records."
    of = f"of {counted(records)} records: whole groups, drawn at random"
    return (
        f"Distributions, statistics, correlations and the map are those of {counted(drawn)} {of}.",
        f"Figures that compare released with original values were computed on {counted(measured)} {of}. Group "
        "sizes, k and the information loss are those of all records. Attacks find more easily among fewer "
        "records, so their success is overstated, not understated.",
    )
