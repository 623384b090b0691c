"""Columns that leave by rules of their own: merged strata, sampling weights and pseudonyms.

Quasi-identifiers get the common values of their cells. A stratum that was made a part of another one gets the
value of that one; a sampling weight gets the mean of its group, or is rounded; an identifier becomes a pseudonym.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from shoal.attributes import CommonValues
from shoal.design import Design
from shoal.parameters import ReleasedWeight
from shoal.privacy.k_anonymity import grouped
from shoal.pseudonyms import Pseudonyms
from shoal.table import Table, texts, without_unused_categories

Float = NDArray[np.float64]
Int = NDArray[np.int64]

MEAN_DIGITS = 6  # significant ones of the mean weight of a group
ROUND_DIGITS = 2  # significant ones of a weight that is rounded


class Placed(NamedTuple):
    """The values of a column that leaves, and which of them each record has."""

    values: CommonValues
    labels: Int


@dataclass(frozen=True, eq=False)
class WeightValues(CommonValues):
    """Weights as they leave: plain numbers of a few digits, whatever the type of the column was."""

    raw: Float

    def keeps_type(self, asked: bool) -> bool:
        """The mean of whole numbers is not whole."""
        return False

    def native(self) -> NDArray[Any]:
        """Whole numbers where all are."""
        whole = np.array_equal(self.raw, np.rint(self.raw)) and (np.abs(self.raw) < 2**53).all()
        return self.raw.astype(np.int64) if whole else self.raw

    def text(self, decimal_sign: str = ".") -> list[str]:
        """Without exponents."""
        return [f"{Decimal(repr(each)).normalize():f}".replace(".", decimal_sign) for each in self.raw.tolist()]


@dataclass(frozen=True, eq=False)
class RowValues(CommonValues):
    """The values of some rows of a column, as they came."""

    series: "nw.Series[Any]"
    shown: list[str]

    def native(self) -> Sequence[Any]:
        """As the dataframe holds them."""
        return self.series.to_list()

    def text(self, decimal_sign: str = ".") -> list[str]:
        """As the file has them, or as text shows them."""
        return self.shown

    def column(self, like: "nw.Series[Any]", labels: Int, keep_type: bool) -> "nw.Series[Any]":
        """The value of each record; of the type of the column, whatever that is.

        Categories that no record has any more, such as those of merged strata, do not leave.
        """
        made: nw.Series[Any] = without_unused_categories(self.series[labels.tolist()])
        if like.implementation.is_pandas_like():
            native = made.to_native()
            native.index = like.to_native().index
            made = nw.from_native(native, series_only=True)
        return made.alias(like.name)


def design_columns(
    table: Table, design: Design, labels: Int, released_weight: ReleasedWeight
) -> dict[str, Placed]:
    """Strata and weights that leave otherwise than they came; `labels` are the groups."""
    leaving: dict[str, Placed] = {}
    strata, weights = design.strata, design.weights
    if strata is not None and (strata.changed or design.n_dropped):
        leaving |= {
            name: Placed(rows_of(table, name, strata.rows), strata.codes)
            for name in strata.columns
            if name in table.kept
        }
    if weights is not None and released_weight == "common":
        means = np.bincount(labels, weights.floats) / np.bincount(labels)
        leaving[weights.name] = Placed(WeightValues(significant(means, MEAN_DIGITS)), labels)
    elif weights is not None and released_weight == "round":
        values, places = np.unique(significant(weights.floats, ROUND_DIGITS), return_inverse=True)
        leaving[weights.name] = Placed(WeightValues(values), places)
    return leaving


def pseudonym_column(design: Design, pseudonym: str, key: bytes) -> Placed:
    """The person or household column as pseudonyms."""
    ids = next(each for each in (design.person, design.household) if each and each.name == pseudonym)
    return Placed(Pseudonyms.made_of(ids.texts, key), ids.codes)


def with_weights(groups: Int, placed: Mapping[str, Placed], released_weight: ReleasedWeight) -> Int:
    """The number of each record's group together with the weight that leaves, where k is counted on it too."""
    common = [each for each in placed.values() if isinstance(each.values, WeightValues)]
    if not common or released_weight != "common":
        return groups
    return grouped([groups, *(distinct_texts(values)[labels] for values, labels in common)])


def distinct_texts(values: CommonValues, decimal_sign: str = ".") -> Int:
    """Values of a column by number, the same for those that are written alike."""
    return np.asarray(np.unique(values.text(decimal_sign), return_inverse=True)[1], np.int64)


def rows_of(table: Table, name: str, rows: Int) -> RowValues:
    """Some rows of a column."""
    series = table.frame[name][rows.tolist()]
    if table.source and table.source.text is not None:
        return RowValues(series, table.source.text[name].take(rows).to_pylist())
    return RowValues(series, texts(series))


def significant(values: Float, digits: int) -> Float:
    """Numbers rounded to so many significant digits."""
    return np.array([float(f"{each:.{digits - 1}e}") for each in values.tolist()])
