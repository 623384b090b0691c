"""The best partition of sorted numbers: its groups are segments, found by dynamic programming."""

import numpy as np

from shoal.kernels.compiled import Array, kernel


@kernel
def best_segments(values: Array, k: int, cost: Array, length: Array, start: int, stop: int) -> None:
    """cost[i] and length[i], for i from start to stop: the least SSE of the first i values in segments of k to
    2k - 1, and the last one's length; the shorter of equals. cost[0] is 0; the values before `start` are done.
    """
    for i in range(start, stop + 1):
        cost[i], length[i] = np.inf, 0
        mean, sse = 0.0, 0.0
        for s in range(1, min(2 * k - 1, i) + 1):
            value = values[i - s] - values[i - 1]  # near zero, so that little is lost
            difference = value - mean
            mean += difference / s
            sse += difference * (value - mean)
            if s >= k and cost[i - s] + sse < cost[i]:
                cost[i], length[i] = cost[i - s] + sse, s
