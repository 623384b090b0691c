"""What every meta-method shares: the method inside, whose k is the k of all."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.estimator import METHODS, Microaggregator, Progress
from shoal.protocol import unfitted

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True)
class MethodRule:
    """An estimator of Shoal, or None for MDAV."""

    def check(self, name: str, value: object) -> object:
        """The value, its own parameters checked as well; its groups must give k-anonymity."""
        if value is None:
            return value
        if not isinstance(value, Microaggregator):
            raise ShoalError(f"{name} must be an estimator such as MDAV(k=5), not {value!r}")
        value.check_parameters()
        if value.not_k_anonymous:
            raise ShoalError(value.not_k_anonymous)
        return value


def part_of(weights: Float | None, records: Int) -> Float | None:
    """The weights of some of the records; None where these are equal, for a method inside then takes none."""
    if weights is None:
        return None
    own = weights[records]
    return None if (own == own[0]).all() else own


class Wrapper(Microaggregator):
    """The base of all meta-methods. A subclass has a parameter `method`, a `MethodRule`."""

    method: Microaggregator | None
    interrupted_: bool

    @property
    def k(self) -> int:  # type: ignore[override]
        """The least number of records in a group: that of the method inside."""
        return self._inside.k

    @property
    def _inside(self) -> Microaggregator:
        return METHODS["mdav"]() if self.method is None else self.method

    @property
    def _draws(self) -> bool:
        return self._inside._draws

    @property
    def takes_weights(self) -> bool:
        """Whether `fit` takes records of different weights: where the method inside does too."""
        return self.weighted and self._inside.takes_weights

    @property
    def _in_words(self) -> str:
        return f"{type(self).__name__} around {self._inside._in_words}"

    def _fresh(self) -> Microaggregator:
        """An unfitted copy of the method inside."""
        model: Microaggregator = unfitted(self._inside)
        return model

    def _grouped(self, X: Float, weights: Float | None, progress: Progress | None) -> Int:
        """The labels that the method inside gives to these points; notes an interruption in `interrupted_`."""
        model = self._fresh()
        labels = model._group_either(X, weights, progress)
        self.interrupted_ |= getattr(model, "interrupted_", False)
        return labels
