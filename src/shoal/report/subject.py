"""What a page is about: columns before and after, groups and figures, of any pair of tables or of a release."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.measures import Figure

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ShownColumn:
    """A column as a page shows it.

    Attributes
    ----------
    name, role : of the column
    before, after : a number for each record, NaN for a gap; no `before` where only released values may be shown
    levels : the words for these numbers, where they only count categories
    unit : what the numbers count, where that is not said by the table
    start : the first value of the original, where they count from it
    notes : what else is to be said of the column: a label and a text each
    """

    name: str
    role: str
    before: Float | None
    after: Float
    levels: tuple[str, ...] = ()
    unit: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    start: str = ""

    @property
    def counts(self) -> str:
        """What the numbers count, in words."""
        return f"{self.unit} after {self.start}" if self.start else self.unit

    @property
    def sides(self) -> dict[str, Float]:
        """What there is to show, by what it is called."""
        return {"after": self.after} if self.before is None else {"before": self.before, "after": self.after}


@dataclass(frozen=True)
class Search:
    """How the loss of the groups fell while a method searched."""

    counts: str  # what the first number of a step is: "seconds" or "round"
    steps: tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Made:
    """What is known of a release that Shoal made.

    Attributes
    ----------
    version : of Shoal
    output : the name of the file, where one was written
    method : the name of the method
    promises : the privacy models that groups keep, in words
    settings : all settings, a label and a text each
    notes : what the owner should look at
    left : figures about columns that were released as they are
    kinds : what each quasi-identifier was taken for
    spectrum, axes_kept : the variances along the principal axes, and how many of these were used
    search : its progress, where the method improved its groups step by step
    weighted_by : the column of sampling weights
    """

    version: str
    output: str = ""
    method: str = ""
    promises: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    left: tuple[Figure, ...] = ()
    kinds: tuple[tuple[str, str], ...] = ()
    spectrum: tuple[float, ...] = ()
    axes_kept: int = 0
    search: Search | None = None
    weighted_by: str | None = None


@dataclass(frozen=True, eq=False)
class Subject:
    """All that a page may show.

    Attributes
    ----------
    quasi_identifiers, confidential : the names of the columns
    k, whom : at least how many share their quasi-identifiers, and whom that counts
    asked : the k that was asked for, where that is known
    records : how many there are in the release
    sizes : of all groups
    groups : the group of each record of the columns
    columns : those that are drawn
    losses : the loss of each column in percent
    figures : everything that was computed
    weights : the sampling weight of each record of the columns
    sampled, drawn : what was computed on a sample, and what was drawn from one, in sentences
    left_out : measures that need matched rows, where there are none
    notes : what every reader has to know beside the figures, in sentences
    made : what is known of a release of Shoal
    """

    quasi_identifiers: tuple[str, ...]
    confidential: tuple[str, ...]
    k: int
    whom: str
    asked: int | None
    records: int
    sizes: Int
    groups: Int
    columns: tuple[ShownColumn, ...]
    losses: tuple[tuple[str, float], ...]
    figures: tuple[Figure, ...]
    weights: Float | None = None
    sampled: str = ""
    drawn: str = ""
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    made: Made | None = None

    def figure(self, name: str) -> Figure | None:
        """A figure by its name, if there is one."""
        return next((figure for figure in self.figures if figure.name == name), None)
