"""Groups that are large enough for two, split."""

import numpy as np
from numpy.typing import NDArray

from shoal.catalogue import method_of
from shoal.parameters import Progress

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def split(X: Float, labels: Int, k: int, progress: Progress | None) -> Int:
    """Groups of 2k records or more split by MDAV; the parts take the place of the whole."""
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    parts, mdav = np.zeros(len(X), np.int64), method_of("mdav", k)
    for group, end in enumerate(np.cumsum(sizes)):
        if sizes[group] >= 2 * k:
            members = order[end - sizes[group] : end]
            parts[members] = mdav._group(np.ascontiguousarray(X[members]), None)
            if progress is not None:
                progress(len(X), len(X))
    counts = np.zeros(len(sizes), np.int64)
    np.maximum.at(counts, labels, parts + 1)
    starts = np.concatenate([[0], np.cumsum(counts)])
    return starts[labels] + parts
