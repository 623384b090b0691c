"""The matrix of an interior-point step, from the columns of a linear program."""

from shoal.kernels.compiled import Array, kernel


@kernel
def fill_normal(starts: Array, rows: Array, values: Array, weights: Array, out: Array) -> None:
    """The lower triangle of A diag(weights) A'.

    Column j of A has its rows, rising, from starts[j] to starts[j + 1].
    """
    out[:] = 0.0
    for j in range(starts.size - 1):
        for p in range(starts[j], starts[j + 1]):
            scaled = weights[j] * values[p]
            for q in range(starts[j], p + 1):
                out[rows[p], rows[q]] += scaled * values[q]
