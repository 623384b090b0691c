"""What every task of a job knows: the settings, the parts of the input and, later, columns, cells and places.

All of it stands in the job's folder. Tasks themselves are numbers and the folder's path, so a scheduler, its
dashboard and its logs never see a value of the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes import Kept, kept_from
from shoal.attributes.base import Settle
from shoal.estimator import Microaggregator
from shoal.files import Format, Said, format_of
from shoal.files.parts import Part
from shoal.privacy.parts import Promises
from shoal.settings import Settings
from shoal.stream.cluster.folder import Folder
from shoal.table import Roles
from shoal.wrapper import Wrapper

Int = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """What is known when a job begins.

    Attributes
    ----------
    settings : with the seed and the key that were drawn
    said : what was said about CSV files
    files : the parts of the input, in their order
    ending : of the names of the output's parts
    """

    settings: Settings
    said: Said
    files: tuple[str, ...]
    ending: str


@dataclass(frozen=True)
class Counts:
    """What is known when all parts were read.

    Attributes
    ----------
    records : of each part
    settles : how what was kept of each column is written anew
    blocks : how many cells there are
    outputs : how many parts the output has; 2 to the power of `bits` where rows leave in another order
    sampled : the share of records by which cells are drawn
    renumbered : whether parts have numbered values, such as categories, by themselves
    """

    records: tuple[int, ...]
    settles: tuple[Settle, ...]
    blocks: int
    outputs: int
    sampled: float
    renumbered: bool = False

    @property
    def starts(self) -> list[int]:
        """The row of each part's first record, and the number of all."""
        return [0, *np.cumsum(self.records).tolist()]

    @property
    def total(self) -> int:
        """All records."""
        return sum(self.records)

    @property
    def bits(self) -> int:
        """Of a hash, by which the parts of the output are told apart."""
        return (self.outputs - 1).bit_length()


@dataclass(frozen=True)
class Job:
    """A job as its tasks see it."""

    folder: Folder

    @classmethod
    def at(cls, path: str) -> "Job":
        """The job in a folder."""
        return cls(Folder(Path(path)))

    @cached_property
    def plan(self) -> Plan:
        """What is known from the start."""
        plan: Plan = self.folder.kept("plan")
        return plan

    @cached_property
    def counts(self) -> Counts:
        """What is known when all parts were read."""
        counts: Counts = self.folder.kept("counts")
        return counts

    def numbers(self, part: int) -> "list[Int | None] | None":
        """What each number of a part is in the whole table, by column; the last one is that of a gap."""
        return self.folder.kept(f"numbers-{part:06d}") if self.counts.renumbered else None

    @cached_property
    def tree(self) -> Any:
        """The cuts between cells."""
        return self.folder.kept("tree")

    @cached_property
    def borders(self) -> Any:
        """Which cells exchange records."""
        return self.folder.kept("borders")

    def columns(self, name: str) -> list[Kept]:
        """The quasi-identifiers: as they were read, with their scales, or with their digits."""
        return [kept_from(each) for each in self.folder.kept(name)]

    @property
    def settings(self) -> Settings:
        """What was asked for."""
        return self.plan.settings

    @property
    def roles(self) -> Roles:
        """The role of each column."""
        return self.settings.roles

    @property
    def format(self) -> Format:
        """That of the output."""
        return format_of(Path(f"part{self.plan.ending}"))

    def method(self) -> Microaggregator:
        """The method for a cell: a task has one processor."""
        model = self.settings.method
        return replace(self.settings, method=on_one(model)).method

    def part(self, number: int) -> Part:
        """A part of the input, once it was looked at."""
        found = self.folder.awaited("look", number)
        assert found is not None
        return Part(found["reader"])

    def promises(self) -> Promises | None:
        """The privacy models, with the values that they are about."""
        models = self.settings.models
        if not models:
            return None
        signs = Part.opened(self.part(0))
        with signs as reader:
            return Promises.of(
                models, self.folder.path / "values", reader.dialect.signs, self.settings.promised_gaps()
            )

    def output(self, number: int) -> Path:
        """A part of the output, before all of it has its name."""
        return self.folder.file("out", ending=f"{self.name(number)}")

    def output_of(self, part: int) -> int:
        """The part of the output for a part of the input with records, where these keep their order."""
        return sum(size > 0 for size in self.counts.records[:part])

    def name(self, number: int) -> str:
        """What a part of the output is called."""
        return f"part-{number:05d}{self.plan.ending}"


def on_one(model: Microaggregator) -> Microaggregator:
    """The same method with one worker; its groups do not depend on how many there are."""
    from sklearn.base import clone

    fresh: Microaggregator = clone(model)
    inside: Any = fresh
    while inside is not None:
        if "n_jobs" in inside.get_params(deep=False):
            inside.set_params(n_jobs=1)
        inside = inside.method if isinstance(inside, Wrapper) else None
    return fresh


def pieces(folder: Folder, step: str, number: int) -> Sequence[Path]:
    """The files of one number of a step, one from each task that had something for it, in their order."""
    return sorted((folder.path / step / f"{number:06d}").glob("[!.]*"))
