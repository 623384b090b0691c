import numpy as np
from hypothesis import given

import naive
from samples import points
from shoal.kernels.single.dissolve import fill_labels, fill_sse
from shoal.kernels.sums.exact import new_sums
from shoal.methods.tfrp import chains


@given(points())
def test_chains_hold_the_groups_and_their_sse(sample):
    X, k = sample
    labels = np.random.default_rng(k).integers(0, 3, len(X))
    labels = np.unique(labels, return_inverse=True)[1]
    first, following, centroids = chains(X, labels)
    groups = [np.flatnonzero(labels == g).tolist() for g in range(len(first))]
    sse = np.empty(len(first))
    fill_sse(X, first, following, new_sums(X), sse)
    assert sse.tolist() == [naive.group_sse(X.tolist(), group) for group in groups]
    assert centroids.tolist() == [naive.mean([X[i].tolist() for i in group]) for group in groups]
    out = np.empty(len(X), np.int64)
    fill_labels(first, following, out)
    assert np.array_equal(out, labels)
    first[0] = -1
    fill_labels(first, following, out)
    assert np.array_equal(out[labels > 0], labels[labels > 0] - 1)
