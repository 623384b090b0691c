"""Weights of records: one measure for the distortion, another for the sizes of cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shoal.errors import ShoalError

Float = NDArray[np.float64]

_WIDEST = 1e9  # beyond this, rounding decides
_KINDS = "distortion", "size"


@dataclass(frozen=True)
class RecordWeights:
    """What each record counts for; None where all count alike. The mean is 1, for only proportions matter."""

    distortion: Float | None = None
    size: Float | None = None

    @property
    def equal(self) -> bool:
        """Whether all records count alike."""
        return self.distortion is None and self.size is None

    def of(self, records: NDArray[np.int64]) -> "RecordWeights":
        """The weights of some of the records, as they are."""
        return RecordWeights(*(None if each is None else each[records] for each in (self.distortion, self.size)))


def record_weights_of(given: object, n: int) -> RecordWeights:
    """The weights of n records: an array for the distortion, or a dictionary of arrays for either."""
    if given is None:
        return RecordWeights()
    named: Mapping[Any, Any] = given if isinstance(given, Mapping) else {"distortion": given}
    unknown = [name for name in named if name not in _KINDS]
    if unknown or not named:
        raise ShoalError(f"weights name {' and '.join(_KINDS)}, not {', '.join(map(repr, unknown)) or 'nothing'}")
    return RecordWeights(**{name: checked(name, each, n) for name, each in named.items() if each is not None})


@dataclass(frozen=True)
class RecordWeightsRule:
    """What `record_weights_of` takes."""

    def check(self, name: str, value: object) -> object:
        """The value; whether it fits the records is seen when the records are."""
        if isinstance(value, str | int | float):
            raise ShoalError(f"{name} must be a number for each record, or a dictionary of such, not {value!r}")
        return value


def checked(name: str, given: ArrayLike, n: int) -> Float | None:
    """Positive numbers, one for each record, with the mean 1; None if they are all alike."""
    try:
        weights = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ShoalError(f"weights of the {name} must be numbers: {error}") from error
    if weights.shape != (n,):
        raise ShoalError(
            f"weights of the {name} have the shape {weights.shape}, but there are {n} records; give one for each"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if len(wrong):
        raise ShoalError(
            f"weights of the {name} must be finite and above 0, and that of record {wrong[0]} is "
            f"{weights[wrong[0]]}; leave out records that do not count"
        )
    if (weights == weights[0]).all():
        return None
    if weights.max() / weights.min() > _WIDEST:
        raise ShoalError(f"weights of the {name} differ by more than a factor of {_WIDEST:g}; raise the lowest")
    weights /= weights.max()
    return np.asarray(weights / weights.mean())
