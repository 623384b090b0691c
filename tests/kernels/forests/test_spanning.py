import numpy as np
import pytest
from checks import large_samples
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

import naive
from samples import points
from shoal.kernels.forests.spanning import remove_edges
from shoal.methods.mst_partition import spanning_tree


@settings(max_examples=200)
@given(points(widest=6))
def test_the_tree_is_kruskals(sample):
    X, _ = sample
    edges, lengths = spanning_tree(X)
    ours = [(d2, a, b) for d2, (a, b) in zip(lengths.tolist(), edges.tolist(), strict=True)]
    assert ours == naive.spanning_tree(X)


def test_larger_tables_too():
    for name, X in large_samples(300, np.random.default_rng(1)).items():
        edges, lengths = spanning_tree(X)
        ours = [(d2, a, b) for d2, (a, b) in zip(lengths.tolist(), edges.tolist(), strict=True)]
        assert ours == naive.spanning_tree(X), name


def test_the_length_is_that_of_another_library():
    X = np.exp(np.random.default_rng(2).normal(size=(1500, 5)))
    theirs = minimum_spanning_tree(squareform(pdist(X))).sum()
    assert np.sqrt(spanning_tree(X)[1]).sum() == pytest.approx(theirs)


@st.composite
def trees(draw):
    """The edges of a tree in some order, and a k."""
    n = draw(st.integers(1, 50))
    reach = draw(st.sampled_from([1, 2, 50]))
    edges = [(draw(st.integers(max(0, v - reach), v - 1)), v) for v in range(1, n)]
    return np.array(draw(st.permutations(edges)), np.int64).reshape(-1, 2), draw(st.integers(1, n))


@settings(max_examples=200)
@given(trees())
def test_edges_are_removed_where_both_sides_keep_k(tree):
    edges, k = tree
    pieces = np.empty(len(edges) + 1, np.int64)
    remove_edges(edges, k, pieces)
    found = sorted(tuple(np.flatnonzero(pieces == piece).tolist()) for piece in np.unique(pieces))
    assert found == naive.cut_longest(edges.tolist(), len(pieces), k)


@pytest.mark.parametrize("shape", ["path", "shuffled path", "star"])
def test_any_shape_of_a_large_tree_is_cut(shape):
    n = 100_000
    edges = np.column_stack([np.zeros(n - 1, np.int64) if shape == "star" else np.arange(n - 1), np.arange(1, n)])
    if shape == "shuffled path":
        edges = np.random.default_rng(0).permutation(edges)
    pieces = np.empty(n, np.int64)
    remove_edges(edges, 3, pieces)
    sizes = np.unique(pieces, return_counts=True)[1]
    assert sizes.min() >= 3
    if shape == "star":
        assert sizes.max() == n
