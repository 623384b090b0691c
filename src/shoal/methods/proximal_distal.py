"""ProximalDistal: the dense and the sparse part of the data grouped apart, the dense one in fewer dimensions.

Macrocells, large groups by MDAV, are ranked by their mean squared error. The records of the worst ones are the
distal portion, the others the proximal one. Each portion is grouped on its own, the proximal one on its first
principal components. Two small problems cost less than a large one if the method inside is slow.

Guarantee: that of the method inside, and every group has at least k records; no group spans both portions.
Cost: that of the method inside on each portion, and MDAV with large groups.

Reference: Algorithm C of D. Rebollo-Monedero, A. M. Mezher, X. Casanova Colome, J. Forne and M. Soriano,
Efficient k-anonymous microaggregation of multivariate numerical data via principal component analysis,
Information Sciences 503 (2019) 417-443.
"""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator, Progress
from shoal.methods.mdav import MDAV
from shoal.methods.pca_reduced import (
    ENERGY,
    compressed,
    fits,
    number_kept,
    one_of_both,
    power_of_two,
    principal_axes,
)
from shoal.parameters import Flag, Maybe, Number, Rule, Whole
from shoal.partition import means_of
from shoal.wrapper import MethodRule, Wrapper, part_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Portion = tuple[Int, bool]
"""The numbers of some records, and whether they are proximal."""

_MACROCELL, _TIMES_K = 1000, 10
_CHUNK = 100_000  # records whose errors are held at a time


class ProximalDistal(Wrapper):
    """The dense and the sparse part of the data grouped apart (Rebollo-Monedero et al. 2019, Algorithm C).

    Parameters
    ----------
    method : estimator
        The method inside, for example ``MDAV(k=5)``, which is also the default.
    macrocell : int
        The records of a macrocell, more than k. By default 1000, or 10 k if that is more; a table too small
        for two of these is grouped by the method inside alone.
    distal : int
        The number of macrocells, those with the largest distortions, whose records are distal. With 0 all
        records are proximal, with the number of all macrocells none. By default two in five.
    threshold : float
        Instead of `distal`: macrocells with a distortion above this are distal. The distortion of a macrocell
        is its mean squared error as a share of that of the whole table, as in `macrocell_distortions_`.
    pca : bool
        Group the proximal records on their first principal components; otherwise on all attributes.
    energy : float
        Keep as few axes as hold this share of the variance of the proximal records.
    components : int
        Keep this many axes instead.
    recursive : bool
        Split each portion by the same rule again, until it has too few macrocells to be split.

    Attributes
    ----------
    n_macrocells_ : the number of macrocells
    macrocell_distortions_ : the mean squared error of each, in the order of formation, as a share of that of
        all records around their mean
    macrocell_sizes_ : the records of each
    n_distal_ : the number of distal macrocells
    distal_ : for each record, whether it is distal (in the first split)
    n_portions_ : how many portions were grouped, each on its own
    interrupted_ : whether the method inside was interrupted and gave the best groups found until then

    Notes
    -----
    Macrocells are formed by MDAV: by the method inside with a larger k where that is MDAV, whatever the method
    inside may be otherwise. Of macrocells with equal distortions the first formed is distal first. The groups of
    proximal records are numbered before those of distal ones. With `recursive` a macrocell's rank and the
    threshold refer to the portion that is split, `distal` stands for its share of all macrocells, and a portion
    that is not split further is compressed if it was the proximal one of its last split. Weights of records go to
    the method inside; portions and axes do not depend on them.
    """

    name = "proximal-distal"
    family = "around another method"
    idea = "dense and sparse records apart, the dense ones on their first principal components"
    cost = "that of the method inside on each portion"
    reference = "Rebollo-Monedero et al. 2019, Algorithm C"
    weighted = True

    _parameters: ClassVar[dict[str, Rule]] = {
        "method": MethodRule(),
        "macrocell": Maybe(Whole(2)),
        "distal": Maybe(Whole(0)),
        "threshold": Maybe(Number(0)),
        "pca": Flag(),
        "energy": Number(0, 1),
        "components": Maybe(Whole(1)),
        "recursive": Flag(),
    }

    def __init__(
        self,
        method: Microaggregator | None = None,
        macrocell: int | None = None,
        distal: int | None = None,
        threshold: float | None = None,
        pca: bool = True,
        energy: float = ENERGY,
        components: int | None = None,
        recursive: bool = False,
    ) -> None:
        self.method = method
        self.macrocell = macrocell
        self.distal = distal
        self.threshold = threshold
        self.pca = pca
        self.energy = energy
        self.components = components
        self.recursive = recursive

    def check_parameters(self) -> None:
        """Raise an error if a parameter has a value that it cannot take."""
        super().check_parameters()
        one_of_both(self.energy, self.components)
        if self.macrocell is not None and self.macrocell <= self.k:
            raise ShoalError(f"macrocell={self.macrocell} must be more than k={self.k}")
        if self.distal is not None and self.threshold is not None:
            raise ShoalError(
                f"distal={self.distal} and threshold={self.threshold} contradict each other; give one of them"
            )
        if not self.pca and (self.components is not None or self.energy != ENERGY):
            raise ShoalError("energy and components say how to compress, but pca=False; leave them out")

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return self._by_portion(X, None, progress)

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        return self._by_portion(X, weights, progress)

    def _by_portion(self, X: Float, weights: Float | None, progress: Progress | None) -> Int:
        """The groups of the method inside, each portion on its own."""
        fits(self.components, X)
        self.interrupted_ = False
        self._split_first(X, progress)
        labels, groups, done = np.empty(len(X), np.int64), 0, 0
        portions = self._portions(X, progress)
        for records, proximal in portions:
            points = self._compressed(X[records]) if proximal and self.pca else X[records]
            own = part_of(weights, records)
            labels[records] = groups + self._grouped(points, own, after(done, len(X), progress))
            groups = int(labels[records].max()) + 1
            done += len(records)
        self.n_portions_ = len(portions)
        return labels

    def _split_first(self, X: Float, progress: Progress | None) -> None:
        """Step 1: macrocells, and which records are distal."""
        n = len(X)
        if self._has_macrocells(n):
            cells = self._macrocells(X, after(0, n, progress, still=True))
            self.macrocell_distortions_, self.macrocell_sizes_ = distortions_of(X, cells), np.bincount(cells)
        else:
            self.macrocell_distortions_, self.macrocell_sizes_ = np.empty(0), np.empty(0, np.int64)
        self.n_macrocells_ = len(self.macrocell_sizes_)
        if self.distal is not None and self.distal > self.n_macrocells_:
            raise ShoalError(f"distal={self.distal} is more than there are macrocells ({self.n_macrocells_})")
        self.n_distal_ = self._number_distal(self.macrocell_distortions_)
        self.distal_ = np.ones(n, np.bool_)
        if self.n_macrocells_:
            self.distal_ = are_distal(cells, self.macrocell_distortions_, self.n_distal_)

    def _has_macrocells(self, n: int) -> bool:
        """Whether a table of n records is split; raise an error if it must be and cannot."""
        size = self._size()
        if self.macrocell is not None and size > n:
            raise ShoalError(f"macrocell={size} is more than there are records (n_samples={n}); choose less")
        enough = self.macrocell is not None or n >= 2 * size
        if not enough and (self.distal is not None or self.threshold is not None):
            raise ShoalError(f"{n} records make no two macrocells of {size}; set macrocell to a smaller size")
        return enough

    def _portions(self, X: Float, progress: Progress | None) -> list[Portion]:
        """The records that are grouped together, proximal ones first."""
        first = [(np.flatnonzero(~self.distal_), True), (np.flatnonzero(self.distal_), False)]
        portions = [(records, proximal) for records, proximal in first if len(records)]
        if not self.recursive or len(portions) == 1:
            return portions
        still = after(0, len(X), progress, still=True)
        return [part for portion in portions for part in self._split_again(X, portion, still)]

    def _split_again(self, X: Float, portion: Portion, progress: Progress | None) -> list[Portion]:
        """A portion split by the same rule, and each part again."""
        records, _ = portion
        if len(records) < 2 * self._size():
            return [portion]
        cells = self._macrocells(X[records], progress)
        distortions = distortions_of(X[records], cells)
        number = self._number_distal(distortions)
        if number in (0, len(distortions)):
            return [portion]
        distal = are_distal(cells, distortions, number)
        return [
            *self._split_again(X, (records[~distal], True), progress),
            *self._split_again(X, (records[distal], False), progress),
        ]

    def _size(self) -> int:
        """The records of a macrocell."""
        return max(_MACROCELL, _TIMES_K * self.k) if self.macrocell is None else self.macrocell

    def _macrocells(self, X: Float, progress: Progress | None) -> Int:
        """The macrocell of each record, by MDAV."""
        model = self._fresh() if isinstance(self._inside, MDAV) else MDAV()
        model.set_params(k=self._size())
        return model._group(X, progress)

    def _number_distal(self, distortions: Float) -> int:
        """How many of the macrocells are distal."""
        if self.threshold is not None:
            return int(np.count_nonzero(distortions > self.threshold))
        if self.distal is None:
            return 2 * len(distortions) // 5
        return self.distal * len(distortions) // self.n_macrocells_

    def _compressed(self, X: Float) -> Float:
        """Step 2: the points along their first principal axes."""
        axes = principal_axes(X)
        return compressed(X, axes, number_kept(axes.spectrum, self.energy, self.components))


def after(done: int, total: int, progress: Progress | None, still: bool = False) -> Progress | None:
    """A callback for a part of the records, `done` of which came before; `still` stays there."""
    if progress is None:
        return None
    return lambda part, _: progress(done + (0 if still else part), total)


def distortions_of(X: Float, cells: Int) -> Float:
    """The mean squared error of each macrocell as a share of that of all records; 0 where all coincide."""
    scaled = X * power_of_two(X)  # so that no square overflows
    whole = squared_errors(scaled, np.zeros_like(cells))[0] / len(X)
    errors = squared_errors(scaled, cells) / np.bincount(cells)
    return np.asarray(errors / whole) if whole > 0 else np.zeros(len(errors))


def squared_errors(X: Float, labels: Int) -> Float:
    """The sum of squared distances to the centroid, for each group."""
    means = means_of(X, labels)
    errors = np.zeros(len(means))
    for start in range(0, len(X), _CHUNK):
        groups = labels[start : start + _CHUNK]
        difference = X[start : start + _CHUNK] - means[groups]
        errors += np.bincount(groups, np.einsum("ij,ij->i", difference, difference), len(means))
    return errors


def are_distal(cells: Int, distortions: Float, number: int) -> NDArray[np.bool_]:
    """Whether each record is in one of the macrocells with the largest distortions, the first of equals first."""
    worst = np.zeros(len(distortions), np.bool_)
    worst[np.argsort(-distortions, kind="stable")[:number]] = True
    return np.asarray(worst[cells])
