"""Optimal univariate microaggregation: sorted values, and the shortest path over groups of k to 2k - 1 of them.

On one attribute an optimal group is a run of consecutive values, and one of 2k or more can be cut in two without
loss. So the best groups are the shortest path through the cuts between the sorted values. Several attributes are
put on a line first, or, without k-anonymity, grouped one by one (individual ranking).

Guarantee: every group has k to 2k - 1 records, and the SSE on the line is optimal within 1e-9 of itself.
Differences below 1e-300 times the range count as none. Of equal costs the shorter last group wins, from the
largest values down; equal values are taken by rising record index.
Cost: a sort; then O(n k) time for small k and O(n) for large; O(n) memory.

References: S. L. Hansen and S. Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE
Transactions on Knowledge and Data Engineering 15 (2003) 1043-1044. A. Aggarwal, M. M. Klawe, S. Moran, P. Shor and
R. Wilber, Geometric applications of a matrix-searching algorithm, Algorithmica 2 (1987) 195-208.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError, ShoalWarning, nearest_name
from shoal.estimator import Microaggregator, Progress, known_records, replaced
from shoal.parameters import Flag, Rule, Whole
from shoal.partition import Partition
from shoal.steps.line import optimal_groups
from shoal.steps.projections import first_component, zscore_sum

if TYPE_CHECKING:
    from shoal.privacy.rules import Rules

Float = NDArray[np.float64]
Int = NDArray[np.int64]

PROJECTIONS = {"pca": first_component, "zscore-sum": zscore_sum}

APART = (
    "per_attribute=True groups each attribute on its own, so that records alike in one differ in the others: "
    "this is not k-anonymity"
)


@dataclass(frozen=True)
class OnALine:
    """None, the name of a projection, or the number of a column."""

    def check(self, name: str, value: object) -> object:
        """The value, if it is one of these."""
        if value is None or (isinstance(value, str) and value in PROJECTIONS):
            return value
        if isinstance(value, Integral) and not isinstance(value, bool):
            return Whole(0).check(name, value)
        hint = nearest_name(value, PROJECTIONS) if isinstance(value, str) else ""
        raise ShoalError(f"{name} must be {', '.join(PROJECTIONS)} or the number of a column, not {value!r}{hint}")


class UnivariateOptimal(Microaggregator):
    """Optimal groups of one attribute (Hansen and Mukherjee 2003).

    Parameters
    ----------
    k : int
        The least number of records in a group.
    projection : {None, "pca", "zscore-sum"} or int
        How several attributes become one: the first principal component of the points as given, the sum of the
        z-scores, or the column of this number, counted from 0. With None there must be one attribute only.
    per_attribute : bool
        Group each attribute on its own (individual ranking). The records of a group then share one value and not
        all of them: this does not give k-anonymity, `fit` warns of it and `shoal.anonymize` refuses it.

    Attributes
    ----------
    attribute_partitions_ : with `per_attribute`, a `Partition` for each attribute; `labels_` then has a column for
        each, `sse_` and `information_loss_` are over all of them, and there are no `partition_`, `centroids_`,
        `sizes_` and `n_groups_`

    Notes
    -----
    The values are sorted, equal ones by record index, and cut into runs of k to 2k - 1 at the least sum of squared
    errors. Groups are numbered from the smallest values up. Of equal costs, as computed, the shorter last group
    wins, from the largest values down. With a projection the groups are optimal for the projected values, not for
    the attributes; `sse_` and `information_loss_` are those of all attributes.
    """

    name = "univariate-optimal"
    family = "everyday"
    idea = "one attribute, or several on a line: the optimal groups"
    cost = "a sort, then O(n k) time for small k and O(n) for large; O(n) memory"
    reference = "Hansen and Mukherjee 2003"

    _parameters: ClassVar[dict[str, Rule]] = {"k": Whole(1), "projection": OnALine(), "per_attribute": Flag()}

    def __init__(self, k: int = 5, projection: str | int | None = None, per_attribute: bool = False) -> None:
        self.k = k
        self.projection = projection
        self.per_attribute = per_attribute

    @property
    def not_k_anonymous(self) -> str:
        """Why the groups give no k-anonymity and what to do about it; empty if they do."""
        return f"{APART}; leave it out or use another method, such as MDAV" if self.per_attribute is True else ""

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        rules: "Rules | None" = None,
        progress: Progress | None = None,
    ) -> Self:
        """Group the records of X, or with `per_attribute` the values of each column.

        Parameters
        ----------
        X : array of shape (n, m)
            One point per record, finite, not changed.
        y : ignored
            Here for scikit-learn's pipelines.
        sample_weight : array of shape (n,), optional
            Equal weights only: the method takes no others.
        rules : not taken
            The method knows of no privacy models.
        progress : callable, optional
            Called now and then with (records grouped so far, records in all).
        """
        if self.per_attribute is not True:
            super().fit(X, sample_weight=sample_weight, rules=rules, progress=progress)
            self._forget("attribute_partitions_", "_known_values")
            return self
        if self.projection is not None:
            raise ShoalError(
                f"projection={self.projection!r} and per_attribute=True contradict each other; give one of them"
            )
        if rules is not None:
            raise ShoalError("per_attribute=True gives no groups of records, so it can keep no privacy model")
        points = self._checked(X)
        self._checked_weights(sample_weight, points)
        if points.shape[1] > 1:
            warnings.warn(APART, ShoalWarning, stacklevel=2)
        self._fit_apart(points, progress)
        self._forget("partition_", "centroids_", "sizes_", "n_groups_", "_known")
        return self

    def _forget(self, *names: str) -> None:
        """What an earlier fit of the other kind left."""
        for name in names:
            self.__dict__.pop(name, None)

    def _fit_apart(self, points: Float, progress: Progress | None) -> None:
        """Individual ranking: a partition for each attribute."""
        m = points.shape[1]
        columns = [np.ascontiguousarray(points[:, [j]]) for j in range(m)]
        self.attribute_partitions_ = tuple(
            Partition(column, optimal_groups(column[:, 0], self.k, share_of(progress, j, m)), self.k)
            for j, column in enumerate(columns)
        )
        self.labels_ = np.column_stack([partition.labels for partition in self.attribute_partitions_])
        self.sse_ = sum(partition.sse for partition in self.attribute_partitions_)
        sst = sum(partition.sst for partition in self.attribute_partitions_)
        self.information_loss_ = 100.0 * self.sse_ / sst if sst > 0 else 0.0
        self._known_values = [known_records(*pair) for pair in zip(columns, self.labels_.T, strict=True)]

    def fit_transform(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Group the records of X and replace each by its centroid, or each value by its attribute's."""
        if self.per_attribute is not True:
            return super().fit_transform(X, sample_weight=sample_weight, progress=progress)
        self.fit(X, sample_weight=sample_weight, progress=progress)
        return np.column_stack([part.centroids[part.labels, 0] for part in self.attribute_partitions_])

    def transform(self, X: ArrayLike) -> Any:
        """Replace each record by a centroid: its own group's if it was fitted, else the nearest one.

        With `per_attribute` each value is replaced by a centroid of its attribute in the same way. Where equal
        records or values were put into different groups, the group of the first is used; `fit_transform` tells
        them apart.
        """
        if not hasattr(self, "attribute_partitions_"):
            return super().transform(X)
        points = self._checked_again(X)
        return np.column_stack(
            [
                replaced(np.ascontiguousarray(points[:, [j]]), known, partition.centroids)
                for j, (known, partition) in enumerate(
                    zip(self._known_values, self.attribute_partitions_, strict=True)
                )
            ]
        )

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return optimal_groups(on_a_line(X, self.projection), self.k, progress)


def on_a_line(X: Float, projection: str | int | None) -> Float:
    """One value per record."""
    m = X.shape[1]
    if projection is None and m > 1:
        raise ShoalError(
            f"UnivariateOptimal groups one attribute and there are {m}: put them on a line with projection='pca', "
            "projection='zscore-sum' or projection=the number of a column, or use another method, such as MDAV"
        )
    if projection is not None and not isinstance(projection, str) and projection >= m:
        raise ShoalError(f"there is no column {projection} to project on: there are {m}, counted from 0")
    if isinstance(projection, str) and m > 1:
        return PROJECTIONS[projection](X)
    return X[:, projection if isinstance(projection, Integral) else 0]


def share_of(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """The progress of one of several equal parts as that of all."""
    if progress is None:
        return None
    return lambda done, total: progress((part * total + done) // parts, total)
