"""PCAReduced: any method on the first principal components of the data.

The method inside sees the records along a few axes, those of greatest variance, and so measures shorter
vectors. Its groups are then applied to the original records, which give the centroids and the loss.

Guarantee: that of the method inside, and every group has at least k records.
Cost: one pass for the covariance, then the method inside in fewer dimensions.

Reference: Algorithm B of D. Rebollo-Monedero, A. M. Mezher, X. Casanova Colome, J. Forne and M. Soriano,
Efficient k-anonymous microaggregation of multivariate numerical data via principal component analysis,
Information Sciences 503 (2019) 417-443.
"""

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.estimator import Microaggregator, Progress
from shoal.parameters import Maybe, Number, Rule, Whole
from shoal.partition import means_of
from shoal.wrapper import MethodRule, Wrapper

Float = NDArray[np.float64]
Int = NDArray[np.int64]

ENERGY = 0.9
"""The share of the variance that is kept unless told otherwise, as in most of the paper's figures."""

_ALONE = 50  # up to so many attributes linear algebra runs on one thread anyway, and asking for it takes longer
_CLOSE = 1 - 1e-9  # coordinates of an axis that are equal but for rounding


class PCAReduced(Wrapper):
    """Any method on the first principal components (Rebollo-Monedero et al. 2019, Algorithm B).

    Parameters
    ----------
    method : estimator
        The method inside, for example ``MDAV(k=5)``, which is also the default.
    energy : float
        Keep as few axes as hold this share of the variance, from 0 to 1, and at least one.
    components : int
        Keep this many axes instead, at most one for each attribute.

    Attributes
    ----------
    components_ : the axes that were kept, one in a row, by falling variance
    energy_ : the share of the variance that they hold
    spectrum_ : the variance along every axis, kept or not: the eigenvalues of the covariance matrix
    interrupted_ : whether the method inside was interrupted and gave the best groups found until then

    Notes
    -----
    The axes are those of the points as given: scale the attributes first. Each is turned so that its largest
    coordinate is positive. Sums are taken on one thread in the order of the records, so the groups depend on
    the input alone, and equal records stay equal. Where every axis is kept nothing is compressed, and the method
    inside gets the points as they are. Weights of records go to the method inside; the axes do not depend on them.
    """

    name = "pca-reduced"
    family = "around another method"
    idea = "the method inside on the first principal components"
    cost = "that of the method inside in fewer dimensions"
    reference = "Rebollo-Monedero et al. 2019, Algorithm B"
    weighted = True

    _parameters: ClassVar[dict[str, Rule]] = {
        "method": MethodRule(),
        "energy": Number(0, 1),
        "components": Maybe(Whole(1)),
    }

    def __init__(
        self, method: Microaggregator | None = None, energy: float = ENERGY, components: int | None = None
    ) -> None:
        self.method = method
        self.energy = energy
        self.components = components

    def check_parameters(self) -> None:
        """Raise an error if a parameter has a value that it cannot take."""
        super().check_parameters()
        one_of_both(self.energy, self.components)

    def _group(self, X: Float, progress: Progress | None) -> Int:
        return self._on_axes(X, None, progress)

    def _group_weighted(self, X: Float, weights: Float, progress: Progress | None) -> Int:
        return self._on_axes(X, weights, progress)

    def _on_axes(self, X: Float, weights: Float | None, progress: Progress | None) -> Int:
        """The groups of the method inside along the first axes."""
        fits(self.components, X)
        self.interrupted_ = False
        axes = principal_axes(X)
        kept = number_kept(axes.spectrum, self.energy, self.components)
        self.components_ = axes.directions[:kept]
        self.energy_ = share_held(axes.spectrum, kept)
        self.spectrum_ = axes.spectrum
        return self._grouped(compressed(X, axes, kept), weights, progress)


class Axes(NamedTuple):
    """The principal axes of some points."""

    centre: Float
    directions: Float  # one in a row, by falling variance
    spectrum: Float  # the variance along each


def one_of_both(energy: float, components: int | None) -> None:
    """Raise an error if the number of axes is said twice."""
    if components is not None and energy != ENERGY:
        raise ShoalError(f"energy={energy} and components={components} contradict each other; give one of them")


def fits(components: int | None, X: Float) -> None:
    """Raise an error if more axes are wanted than there are."""
    m = X.shape[1]
    if components is not None and components > m:
        raise ShoalError(f"components={components} is more than there are attributes (m={m}); choose at most {m}")


def principal_axes(X: Float) -> Axes:
    """The axes of the points; each turned so that its first largest coordinate is positive."""
    from shoal.kernels.sums.axes import add_covariance

    n, m = X.shape
    centre = means_of(X, np.zeros(n, np.int64))[0]
    scale = power_of_two(X)
    covariance = np.zeros((m, m))
    add_covariance(X, centre, scale, covariance)
    values, vectors = eigenvalues(covariance / n)
    spectrum = values[::-1]
    spectrum = np.where(spectrum > spectrum[0] * m * np.finfo(float).eps, spectrum, 0.0)
    return Axes(centre, turned(vectors.T[::-1]), spectrum / scale / scale)


def eigenvalues(matrix: Float) -> tuple[Float, Float]:
    """Of a symmetric matrix, rising, with their vectors as columns; on one thread: several sum in other orders."""
    if len(matrix) <= _ALONE:
        return np.linalg.eigh(matrix)
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

    with threadpool_limits(1, "blas"):
        return np.linalg.eigh(matrix)


def power_of_two(X: Float) -> float:
    """What brings the points to a magnitude whose squares neither overflow nor vanish, without rounding."""
    _, exponent = np.frexp(np.abs(X).max())
    return float(2.0 ** -np.clip(float(exponent), -1000, 1000))


def turned(directions: Float) -> Float:
    """Directions with their first largest coordinate positive."""
    size = np.abs(directions)
    first = np.argmax(size >= _CLOSE * size.max(axis=1, keepdims=True), axis=1)
    sign = np.sign(directions[np.arange(len(directions)), first])
    return np.ascontiguousarray(directions * sign[:, None])


def number_kept(spectrum: Float, energy: float, components: int | None) -> int:
    """How many axes are asked for; the fewest that hold the energy."""
    if components is not None:
        return components
    held = np.cumsum(spectrum)
    return int(np.argmax(held >= energy * held[-1])) + 1


def share_held(spectrum: Float, kept: int) -> float:
    """The share of the variance along the first axes; all of it where there is none."""
    held = np.cumsum(spectrum)
    return float(held[kept - 1] / held[-1]) if held[-1] > 0 else 1.0


def compressed(X: Float, axes: Axes, kept: int) -> Float:
    """The points along the first axes; as they are if all axes are kept."""
    from shoal.kernels.sums.axes import fill_coordinates

    if kept == X.shape[1]:
        return X
    coordinates = np.empty((len(X), kept))
    fill_coordinates(X, axes.centre, axes.directions[:kept], coordinates)
    return coordinates
