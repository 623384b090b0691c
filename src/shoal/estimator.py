"""What every method shares: parameters checked once, scikit-learn's protocol, and a valid partition.

A method is a subclass with `_parameters` and `_group(X, progress) -> labels`. It works on the points as
given; scaling belongs to `shoal.space` and to the user. To scikit-learn it is a transformer and not a
clusterer: groups of k do not look for clusters, and a cluster of a thousand records is cut into many.

A method that takes weights of records says `weighted = True` and has `_group_weighted` beside `_group`. One that
meets privacy models itself says `ruled = True` and has `_group_ruled`; the groups of all others are repaired.

A method registers itself: a subclass with a `name` stands in `METHODS` as soon as its module is loaded, and
`shoal.methods` loads its own. Whatever lists methods goes through `METHODS`.
"""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError
from shoal.parameters import Progress as Progress
from shoal.parameters import Rule
from shoal.partition import LARGEST, Partition, checked_weights, sse_of
from shoal.protocol import base, validated

if TYPE_CHECKING:
    from shoal.privacy.rules import Rules

    _Base = Any
else:
    _Base = base()

Float = NDArray[np.float64]
Int = NDArray[np.int64]


Family = Literal["everyday", "literature", "around another method"]
FAMILIES: tuple[Family, ...] = ("everyday", "literature", "around another method")

METHODS: dict[str, type["Microaggregator"]] = {}
"""Every method that is loaded, under the name that `method=` and the command line take."""


class Microaggregator(_Base):
    """The base of all methods: points and k in, a partition into groups of at least k out.

    Attributes
    ----------
    partition_ : the groups, as a `Partition`
    labels_ : the group of each record, numbered from 0 in the order of formation
    centroids_ : the mean of each group, the weighted one where records have weights
    sizes_ : the number of records of each group
    n_groups_ : the number of groups
    sse_ : the sum of squared distances from the records to their centroids, times the weights where there are any
    information_loss_ : 100 * SSE / SST
    unruled_labels_ : the groups without privacy models, where the method sees to these itself and knows them
    unruled_sse_ : their SSE
    """

    unruled_labels_: Int
    unruled_sse_: float

    _parameters: ClassVar[dict[str, Rule]]
    _renamed: ClassVar[dict[str, str]] = {}
    """What parameters are called now that manifests of older versions call something else."""

    # What the list of methods shows; every method says it of itself.
    name: ClassVar[str]
    family: ClassVar[Family] = "literature"
    idea: ClassVar[str]
    cost: ClassVar[str]
    reference: ClassVar[str]
    weighted: ClassVar[bool] = False
    """Whether the method takes weights of records; one around another method, where that one does."""
    ruled: ClassVar[bool] = False
    """Whether the method itself sees to privacy models."""

    k: int

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Register a method under its name; what has no name of its own is a base of others."""
        super().__init_subclass__(**kwargs)
        name = cls.__dict__.get("name")
        if name is None:
            return
        other = METHODS.get(name, cls)
        if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise TypeError(f"{cls.__qualname__} is called {name!r}, and so is {other.__qualname__}")
        METHODS[name] = cls

    @property
    def _draws(self) -> bool:
        """Whether two fits without a seed may differ."""
        return False

    @property
    def not_k_anonymous(self) -> str:
        """Why the groups give no k-anonymity and what to do about it; empty if they do, as almost all do."""
        return ""

    @property
    def takes_weights(self) -> bool:
        """Whether `fit` takes records of different weights."""
        return self.weighted

    @property
    def _in_words(self) -> str:
        """What an error calls the method."""
        return type(self).__name__

    @abstractmethod
    def _group(self, X: Float, progress: Progress | None) -> Int:
        """The label of each record; X is finite, C-contiguous and has at least k rows."""

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        """The same for records of weights that differ; these are finite, not negative and not all 0."""
        raise NotImplementedError(f"{type(self).__name__} takes weights and has no _group_weighted")

    def _group_either(self, X: Float, weights: Float | None, progress: Progress | None) -> Int:
        """The label of each record, with weights where there are any."""
        return self._group(X, progress) if weights is None else self._group_weighted(X, weights, progress)

    def _group_ruled(self, X: Float, weights: Float | None, rules: "Rules", progress: Progress | None) -> Int:
        """The same for groups that must keep the promises of privacy models; the rows of X are their units."""
        raise NotImplementedError(f"{type(self).__name__} sees to privacy models and has no _group_ruled")

    def check_parameters(self) -> None:
        """Raise an error if a parameter has a value that it cannot take."""
        for name, rule in self._parameters.items():
            rule.check(name, getattr(self, name))

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        rules: "Rules | None" = None,
        progress: Progress | None = None,
    ) -> Self:
        """Group the records of X.

        Parameters
        ----------
        X : array of shape (n, m)
            One point per record, finite, not changed.
        y : ignored
            Here for scikit-learn's pipelines.
        sample_weight : array of shape (n,), optional
            How many people or rows each record stands for: finite, not negative, not all 0. The aim is then the
            sum of squared errors times the weights, around weighted means. Every group still has at least k
            records, whatever they weigh. Equal weights are the same as none.
        rules : optional
            The privacy models that every group must satisfy, with the confidential values of the records; only
            for methods that see to these themselves.
        progress : callable, optional
            Called now and then with (records grouped so far, records in all).
        """
        points = self._checked(X)
        weights = self._checked_weights(sample_weight, points)
        if rules is None:
            labels = self._group_either(points, weights, progress)
        elif self.ruled:
            labels = self._group_ruled(points, weights, rules, progress)
            if hasattr(self, "unruled_labels_"):
                self.unruled_sse_ = sse_of(points, self.unruled_labels_, weights)
        else:
            raise ShoalError(
                f"{self._in_words} knows of no privacy models; leave rules out, or use shoal.anonymize"
            )
        self.partition_ = Partition(points, labels, self.k, weights)
        self.labels_ = self.partition_.labels
        self.centroids_ = self.partition_.centroids
        self.sizes_ = self.partition_.sizes
        self.n_groups_ = self.partition_.n_groups
        self.sse_ = self.partition_.sse
        self.information_loss_ = self.partition_.information_loss
        self._known = known_records(points, self.labels_)
        return self

    def _checked(self, X: ArrayLike) -> Float:
        """The points to fit, if they and the parameters are as they must be."""
        self.check_parameters()
        points: Float = validated(self, X)
        if self.k > len(points):
            raise ShoalError(
                f"k={self.k} is more than there are records (n_samples={len(points)}); choose a smaller k"
            )
        if np.abs(points).max() > LARGEST:
            column = int(np.abs(points).max(axis=0).argmax())
            raise ShoalError(
                f"column {column} of X holds values above {LARGEST:g}, whose squares overflow; scale it first"
            )
        return points

    def _checked_weights(self, sample_weight: ArrayLike | None, points: Float) -> Float | None:
        """The weights to fit with; None where all are equal."""
        if sample_weight is None:
            return None
        weights = checked_weights(sample_weight, points)
        if not weights.any():
            raise ShoalError("weights of records are all zero, so no record counts; leave the weights out")
        if (weights == weights[0]).all():
            return None
        if not self.takes_weights:
            able = ", ".join(sorted(name for name, kind in METHODS.items() if kind.weighted))
            raise ShoalError(f"{self._in_words} takes no weights of records; methods that do: {able}")
        return weights

    def fit_predict(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Int:
        """Group the records of X and return the label of each."""
        return self.fit(X, sample_weight=sample_weight, progress=progress).labels_

    def fit_transform(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        sample_weight: ArrayLike | None = None,
        progress: Progress | None = None,
    ) -> Any:
        """Group the records of X and replace each by its centroid."""
        self.fit(X, sample_weight=sample_weight, progress=progress)
        return self.centroids_[self.labels_]

    def transform(self, X: ArrayLike) -> Any:
        """Replace each record by a centroid: its own group's if it was fitted, else the nearest one.

        A fitted model recognises its records by a 64-bit fingerprint of each. Where equal records were
        put into different groups, the group of the first is used; `fit_transform` tells them apart.
        """
        return replaced(self._checked_again(X), self._known, self.centroids_)

    def _checked_again(self, X: ArrayLike) -> Float:
        """Points for a fitted model."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        points: Float = validated(self, X, reset=False)
        return points


def replaced(points: Float, known: tuple[NDArray[np.uint64], Int], centroids: Float) -> Float:
    """Each point's centroid: that of its group if its fingerprint is known, else the nearest."""
    keys, groups = known
    wanted = fingerprints(points)
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    found = keys[place] == wanted
    chosen = groups[place]
    if not found.all():
        from sklearn.metrics import pairwise_distances_argmin

        chosen[~found] = pairwise_distances_argmin(points[~found], centroids)
    return np.asarray(centroids[chosen])


def known_records(X: Float, labels: Int) -> tuple[NDArray[np.uint64], Int]:
    """The sorted fingerprints of the records, each once, and the group of the first such record."""
    keys, first = np.unique(fingerprints(X), return_index=True)
    return keys, labels[first]


def fingerprints(X: Float) -> NDArray[np.uint64]:
    """A 64-bit hash of each record, equal for equal points."""
    bits = (X + 0.0).view(np.uint64)  # adding zero turns -0.0 into 0.0
    mixed = np.full(len(X), 0x9E3779B97F4A7C15, np.uint64)
    for column in bits.T:
        mixed = (mixed ^ column) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
        mixed = mixed * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(32)
    return mixed
