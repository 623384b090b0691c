"""A certificate: how far the groups can be from the best that there are.

No partition into groups of at least k has an SSE below the bound, so what the groups lose above it is all that
anybody could still save. It speaks of the groups and their means; rounding the released values comes on top.
Groups that keep more promises than k are among those that the bound speaks of, so it holds for them too.
"""

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from shoal.bounds import LowerBound, lower_bound
from shoal.bounds.lower import Report
from shoal.partition import Partition

Float = NDArray[np.float64]

_ROUNDING = 1e-9  # of the SSE, which is a rounded sum itself
_CLOSE = 1e-3  # a gap up to which what could still be gained is not worth a figure


@dataclass(frozen=True)
class Certificate:
    """What is proven about a partition.

    Attributes
    ----------
    sse : the SSE of the groups
    bound : the SSE that no partition into groups of at least k is below
    gap : how much the SSE is above the bound, as a part of the bound; no more than that is above the optimum
    """

    sse: float
    bound: LowerBound

    @property
    def gap(self) -> float:
        """The SSE over the bound, less one; infinite while nothing is proven."""
        if self.sse == 0.0:
            return 0.0
        return max(0.0, self.sse * (1 + _ROUNDING) / self.bound - 1) if self.bound > 0 else inf

    @property
    def is_optimal(self) -> bool:
        """Whether bound and SSE agree within the margin of rounding; a gap of 0.01 % does not make it so."""
        return self.gap <= 4 * _ROUNDING

    def __str__(self) -> str:
        if self.is_optimal:
            return "optimal: no other groups lose less"
        if self.gap == inf:
            return "nothing is proven yet; give it more time"
        if self.gap <= _CLOSE:
            return "within 0.1 % of the optimum"
        return f"at most {percent(self.gap)} above the optimum"


def percent(gap: float) -> str:
    """A gap rounded up, so that what is said holds."""
    digits = 0 if gap > 0.1 else 2
    unit = 10.0 ** -(digits + 2)
    return f"{100 * unit * np.ceil(gap / unit * (1 - 1e-12)):.{digits}f} %"


def certify(
    points: Float,
    partition: Partition,
    seconds: float = 10.0,
    *,
    n_jobs: int = 1,
    progress: Report | None = None,
) -> Certificate:
    """Bound the optimum from below for so many seconds and say how far the groups can be from it."""
    bound = lower_bound(points, partition.k, seconds, partition=partition.labels, n_jobs=n_jobs, progress=progress)
    return Certificate(partition.sse, bound)
