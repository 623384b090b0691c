"""What is said of a release whose records were grouped in blocks: its loss, its figures, the release itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np

from shoal.attributes import GapFacts, Kept, Wishes, kept_from
from shoal.attributes.category_values import not_streamed
from shoal.errors import ShoalError, some
from shoal.manifest import Manifest
from shoal.measures import AttributeLoss, Figure, Figured, InformationLoss, Known, classes, figures_of, verified
from shoal.measures.promises import promises
from shoal.parameters import EVERY, Aggregates
from shoal.privacy.checking import Check
from shoal.privacy.information import Information
from shoal.privacy.models import Model
from shoal.release import WRITTEN, card_of
from shoal.settings import Settings
from shoal.stream.groups import Done, Lost


@dataclass(frozen=True)
class Time:
    """What a step took: its tasks, their seconds of a processor, the seconds until all were done, and megabytes.

    These are the most that a worker had held by then.
    """

    tasks: int
    work: float
    wall: float
    peak: float


@dataclass(frozen=True, eq=False, repr=False)
class FileRelease(Figured):
    """A release that was written to a file, and what is known about it.

    Attributes
    ----------
    path : the released file
    manifest : what was done, as a dictionary; it stands beside the file too
    loss : the information loss in all and for each quasi-identifier
    figures : everything that is said about the release in numbers
    n_records, n_groups : how many there are
    sizes : the sizes of the smallest and of the largest group
    verified_k : the smallest number of records that share their quasi-identifiers, counted on the bytes
    blocks : how many blocks the table was grouped in; 1 for a table that fits into memory
    times : where the time went, of a release that workers have made: for each step, in order, its `Time`
    """

    path: Path
    manifest: Manifest
    loss: InformationLoss
    figures: tuple[Figure, ...]
    n_records: int
    n_groups: int
    sizes: tuple[int, int]
    verified_k: int
    blocks: int
    times: Mapping[str, Time] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"FileRelease({str(self.path)!r}, k={self.manifest['k']}, records={self.n_records}, "
            f"groups={self.n_groups}, information_loss={self.information_loss:.2f} %)"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        steps = [
            ("release.path", "is where it stands"),
            ("release.manifest", "is for the owner of the table: it could help somebody confirm a guess"),
        ]
        return card_of(f"Release: {self.path.name}", self.figures, self.manifest, self.loss, steps)

    @property
    def information_loss(self) -> float:
        """100 * SSE / SST of the values as released, on the scaled quasi-identifiers."""
        return self.loss.percent


def block_figures(
    settings: Settings,
    state: Mapping[str, Any],
    done: Sequence[Done],
    loss: InformationLoss,
    counted: tuple[int, int],
    checks: Sequence[Check],
    told: Mapping[str, Sequence[float]],
) -> list[Figure]:
    """The figures of all blocks together; `counted` are the smallest class of what was written, and how many."""
    k, different = counted
    sizes = min(block.smallest for block in done), max(block.largest for block in done)
    by = type(settings.method).__name__ + (f", {len(done)} blocks" if len(done) > 1 else "")
    groups = sum(block.groups for block in done)
    kinds = kinds_of([kept_from(column) for column in state["columns"]])
    participation, confidence = settings.participation, settings.confidence
    known = Known(
        settings.k, state["records"], groups, sizes, by, loss, state["untouched"], points_loss(done),
        state["gaps"], kinds, unruled_loss=unruled_loss(done),
        information={name: Information(*found) for name, found in told.items()},
        participation=None if participation is None else (participation, confidence),
    )  # fmt: skip
    kept = promises(checks, WRITTEN)
    return [verified(k, settings.k, WRITTEN), *figures_of(known), classes(different, groups), *kept]


def release_of(
    target: Path,
    manifest: Manifest,
    blocks: int,
    loss: InformationLoss,
    figures: Sequence[Figure],
    times: Mapping[str, Time] | None = None,
) -> FileRelease:
    """The release that was written."""
    known = {figure.name: figure for figure in figures}
    groups = known["groups"]
    sizes = groups.details["smallest"], groups.details["largest"]
    records, number = int(known["records"].value or 0), int(groups.value or 0)
    made = target, manifest, loss, tuple(figures), records, number, sizes, manifest["output"]["verified_k"], blocks
    return FileRelease(*made, times or {})


def check_wishes(wishes: Wishes, asked: Aggregates) -> None:
    """What a stream cannot do is said before anything is read."""
    if dropped := [", ".join(columns) for columns, wish in wishes.items() if wish.gaps == "drop"]:
        raise ShoalError(
            f"records with gaps in {some(map(repr, dropped))} cannot be dropped from a streamed table; "
            "take them out of the file first, or choose another policy for gaps, or give more --memory"
        )
    for name, each in ({EVERY: asked} if isinstance(asked, str) else asked).items():
        if each in ("interval", "set", "share"):
            raise not_streamed(name or "all columns")


def refuse_patterns(gaps: Sequence[GapFacts], blocks: int) -> None:
    """Records with the same gaps may be cut into several blocks, where they are too few."""
    apart = [each.name for each in gaps if each.policy in ("pattern", "blank")]
    if apart and blocks > 1:
        raise ShoalError(
            f"records cannot be grouped by the gaps in {some(map(repr, apart))} in a table that is streamed in "
            f"{blocks} blocks; choose --gaps value or impute, or give more --memory"
        )


def packed(check: Check) -> dict[str, Any]:
    """What a model found, and that it holds, as JSON takes it."""
    return {"model": check.model.as_dict(), "value": check.value, "gaps": check.gaps}


def checks_from(given: Sequence[Mapping[str, Any]]) -> list[Check]:
    """The other way round; the groups that keep a promise are one."""
    none = np.zeros(0, np.int64)
    return [
        Check(Model.from_dict(each["model"]), np.array([each["value"]]), none, none, each["gaps"])
        for each in given
    ]


def loss_of(columns: Sequence[Kept], lost: Sequence[Lost]) -> InformationLoss:
    """The loss of all blocks together."""
    parts = []
    for number, column in enumerate(columns):
        sse = fsum(block.sse[number] for block in lost)
        sst = lost[0].sst[number] if len(lost) == 1 else column.sst
        parts.append(AttributeLoss(column.name, column.weight, sse, sst))
    return InformationLoss(tuple(parts))


def kinds_of(columns: Sequence[Kept]) -> dict[str, Any]:
    """What each quasi-identifier was taken for."""
    return {column.name: {"kind": (bare := column.bare()).kind, **bare.said()} for column in columns}


def points_loss(done: Sequence[Done]) -> float:
    """100 * SSE / SST of the points of all blocks together."""
    sst = points_sst(done)
    return 100 * fsum(block.sse for block in done) / sst if sst > 0 else 0.0


def unruled_loss(done: Sequence[Done]) -> float | None:
    """The same without privacy models, where every block says it."""
    unruled, sst = [block.unruled for block in done if block.unruled is not None], points_sst(done)
    return 100 * fsum(unruled) / sst if len(unruled) == len(done) and sst > 0 else None


def points_sst(done: Sequence[Done]) -> float:
    """How far the points of all blocks spread."""
    records = np.array([block.records for block in done], dtype=np.float64)
    means = np.array([block.mean for block in done])
    centre = records @ means / records.sum()
    between = float(records @ np.square(means - centre).sum(axis=1)) if len(done) > 1 else 0.0
    return fsum(block.sst for block in done) + between


def said_of(done: Sequence[Done]) -> Manifest:
    """What the method said of all blocks: of several, what it chose for the first one and any interruption."""
    first = done[0].said
    if len(done) == 1:
        return first
    said = {key: first[key] for key in ("chosen", "reason") if key in first}
    return said | ({"interrupted": True} if any("interrupted" in block.said for block in done) else {})
