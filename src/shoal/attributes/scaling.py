"""What makes attributes comparable: the centre of a column and what its distances are divided by."""

import numpy as np
from numpy.typing import NDArray

from shoal.errors import ShoalError
from shoal.parameters import Scaling
from shoal.partition import LARGEST

Float = NDArray[np.float64]


def centre_and_spread(name: str, raw: Float, scaling: Scaling, unit: float) -> tuple[float, float]:
    """What to subtract from a column that varies, and what to divide it by."""
    match scaling:
        case "zscore":
            return float(raw.mean()), float(raw.std())
        case "range":
            return float(raw.min()), float(raw.max() - raw.min())
        case "robust":
            low, middle, high = np.quantile(raw, [0.25, 0.5, 0.75])
            if low == high:
                raise ShoalError(
                    f"column {name!r} has one value in its middle half, so its interquartile range is 0; "
                    "use scaling 'zscore' or 'range'"
                )
            if max(middle - raw.min(), raw.max() - middle) / LARGEST >= high - low:
                raise ShoalError(
                    f"column {name!r} holds numbers too far from its middle half to square; "
                    "use scaling 'zscore' or 'range'"
                )
            return float(middle), float(high - low)
        case "none":
            if not 1 / LARGEST < np.abs(raw).max() * unit < LARGEST:
                raise ShoalError(
                    f"column {name!r} holds numbers too large or too small to square; use scaling 'zscore'"
                )
            return 0.0, 1.0 / unit
