"""The common values of groups where values are categories: one of them, or several as text."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shoal.attributes.common_values import CommonValues
from shoal.attributes.grouped import whole_percents
from shoal.attributes.levels import Level, spelled
from shoal.errors import ShoalError
from shoal.parameters import Aggregate

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CategoryValues(CommonValues):
    """One level for each group, by its number."""

    levels: tuple[Level, ...]
    codes: Int

    def keeps_type(self, asked: bool) -> bool:
        """A level is one of the column's own values."""
        return True

    @property
    def raw(self) -> Float:  # type: ignore[override]
        """The numbers of the levels."""
        return self.codes.astype(np.float64)

    def native(self) -> Sequence[Any]:
        """The levels themselves."""
        return [self.levels[code] for code in self.codes.tolist()]

    def floats(self) -> Float:
        """The numbers of the levels, to be drawn as bars."""
        return self.raw

    def text(self, decimal_sign: str = ".") -> list[str]:
        """The levels as they stood in the file."""
        short = [spelled(level) for level in self.levels]
        return [short[code] for code in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class SharedValues(CommonValues):
    """Several levels for each group, each with its share, shown as text.

    `group`, `level` and `share` list them, by groups and then by levels; a share is what is
    shown: that of a random member.
    """

    texts: list[str]
    group: Int
    level: Int
    share: Float
    levels: int

    def keeps_type(self, asked: bool) -> bool:
        """Several levels are text, whatever the column was."""
        return False

    @property
    def raw(self) -> Float:  # type: ignore[override]
        """The level with the largest share."""
        ranked = np.lexsort((self.level, -self.share, self.group))
        first = ranked[np.searchsorted(self.group[ranked], np.arange(len(self.texts)))]
        return self.level[first].astype(np.float64)

    def native(self) -> Sequence[Any]:
        """Text."""
        return self.texts

    def floats(self) -> Float:
        """The number of the level with the largest share."""
        return self.raw

    def text(self, decimal_sign: str = ".") -> list[str]:
        """Text."""
        return self.texts

    def shares_of(self, labels: Int, codes: Int) -> Float:
        """The share that each record's own level has among those of its group."""
        keys = self.group * self.levels + self.level
        wanted = labels * self.levels + codes
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, self.share[place], 0.0)


def shared_values(
    names: Sequence[str], group: Int, level: Int, count: NDArray[Any], groups: int, aggregate: Aggregate
) -> SharedValues:
    """A set ("A or B"), or shares ("A 60 %, B 40 %"), of the levels that the records of each group have.

    Shares are whole percents that add up to 100; a level whose share comes to 0 % is not listed.
    """
    starts = np.searchsorted(group, np.arange(groups + 1))
    if aggregate == "set":
        sizes = np.diff(starts)
        texts = [" or ".join(names[place] for place in level[a:b].tolist()) for a, b in pairwise(starts.tolist())]
        return SharedValues(texts, group, level, 1 / np.repeat(sizes, sizes), len(names))
    percents = whole_percents(count, starts)
    listed = percents > 0
    group, level, percents = group[listed], level[listed], percents[listed]
    shown = [names[place] for place in level.tolist()]
    with_shares = [f"{name} {percent} %" for name, percent in zip(shown, percents.tolist(), strict=True)]
    starts = np.searchsorted(group, np.arange(groups + 1))
    texts = [shown[a] if b - a == 1 else ", ".join(with_shares[a:b]) for a, b in pairwise(starts.tolist())]
    return SharedValues(texts, group, level, percents / 100, len(names))


def not_streamed(name: str) -> ShoalError:
    """Texts of several values cannot be kept between the passes of a stream."""
    return ShoalError(
        f"column {name!r}: intervals, sets and shares need the table in memory; give more --memory, "
        "or choose another common value"
    )
