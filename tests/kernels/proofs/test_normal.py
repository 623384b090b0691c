import numpy as np
from scipy.sparse import csc_array

from shoal.kernels.proofs.normal import fill_normal


def test_it_is_the_product_of_the_matrices():
    rng = np.random.default_rng(0)
    table = rng.integers(-1, 3, (6, 15)).astype(float)
    sparse = csc_array(table)
    weights, out = rng.random(15), np.full((6, 6), np.nan)
    fill_normal(sparse.indptr.astype(np.int64), sparse.indices.astype(np.int64), sparse.data, weights, out)
    assert np.allclose(out, np.tril(table @ np.diag(weights) @ table.T))
