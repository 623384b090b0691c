"""Where a method that improves groups begins: a method's name, an estimator, or labels."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError, nearest_name
from shoal.methods.base import Microaggregator, Progress
from shoal.partition import Partition

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Start = str | Microaggregator | Sequence[int] | Int


@dataclass(frozen=True)
class StartRule:
    """The name of a method, an estimator, or the group of each record."""

    def check(self, name: str, value: object) -> object:
        """The value; whether labels fit the records is seen when the records are."""
        from shoal.catalogue import METHODS

        if isinstance(value, str) and value not in METHODS:
            hint = nearest_name(value, METHODS) or f"; there are {', '.join(METHODS)}"
            raise ShoalError(f"{name} must be a method, an estimator or labels, not {value!r}{hint}")
        if value is None or isinstance(value, int | float | type):
            raise ShoalError(f"{name} must be a method, an estimator or labels, not {value!r}")
        return value


def groups_of(start: Start, X: Float, k: int, progress: Progress | None) -> Int:
    """The labels to begin with; every group has at least k records."""
    from sklearn.base import clone

    from shoal.catalogue import method_of

    if isinstance(start, str):
        return method_of(start, k).fit(X, progress=progress).labels_
    if isinstance(start, Microaggregator):
        if start.k < k:
            raise ShoalError(f"start={start!r} forms groups of fewer than k={k} records; give it k={k}")
        model: Microaggregator = clone(start)
        return model.fit(X, progress=progress).labels_
    try:
        return Partition(X, np.asarray(start), k).labels
    except ShoalError as error:
        raise ShoalError(f"start: {error}") from None
