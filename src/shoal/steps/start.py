"""Where a method that improves groups begins: a method's name, an estimator, or labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import method_of, no_method
from shoal.errors import ShoalError
from shoal.estimator import METHODS, Microaggregator, Progress
from shoal.partition import Partition
from shoal.protocol import unfitted

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Start = str | Microaggregator | Sequence[int] | Int


@dataclass(frozen=True)
class StartRule:
    """The name of a method, an estimator, or the group of each record."""

    def check(self, name: str, value: object) -> object:
        """The value; whether labels fit the records is seen when the records are."""
        if isinstance(value, str) and value not in METHODS:
            raise ShoalError(f"{name} must be a method, an estimator or labels, not {value!r}{no_method(value)}")
        if value is None or isinstance(value, int | float | type):
            raise ShoalError(f"{name} must be a method, an estimator or labels, not {value!r}")
        return value


def groups_of(start: Start, X: Float, k: int, progress: Progress | None, weights: Float | None = None) -> Int:
    """The labels to begin with; every group has at least k records. Weights are for a method that takes them."""
    if isinstance(start, str):
        return fitted(method_of(start, k), X, weights, progress)
    if isinstance(start, Microaggregator):
        if start.k < k:
            raise ShoalError(f"start={start!r} forms groups of fewer than k={k} records; give it k={k}")
        return fitted(unfitted(start), X, weights, progress)
    try:
        return Partition(X, np.asarray(start), k).labels
    except ShoalError as error:
        raise ShoalError(f"start: {error}") from None


def fitted(model: Microaggregator, X: Float, weights: Float | None, progress: Progress | None) -> Int:
    """The labels of a method, with weights if it takes them."""
    return model.fit(X, sample_weight=weights if model.takes_weights else None, progress=progress).labels_
